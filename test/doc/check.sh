#!/bin/sh
# Usage: check.sh TL FILE.md...  -- every ```python block is a kernel file that verifies.
tl=$1
shift
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
awk -v dir="$dir" '/^```python/ {n++; out = sprintf("%s/block%02d.py", dir, n); next}
                   /^```/ {out = ""} out {print > out}' "$@"
passed=0 failed=0
for f in "$dir"/block*.py; do
    knobs=$(sed -n 's/^# with: //p' "$f")
    if text=$("$tl" verify "$f" $knobs 2>&1); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $(sed -n 's/^def \([a-z_]*\).*/\1/p' "$f" | head -n 1): $text"
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
