#!/bin/sh
# Usage: docs.sh TL [--check]  -- make doc/passes.md and doc/walk.md; --check: say if they are stale.
set -e
cd "$(dirname "$0")/.."
tl=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

passes() {
    cat <<'X'
# Passes

Made by `tools/docs.sh` from `src/pass/pass.def` and the head of each pass. The order is the order. A row
with a feature runs only for targets that have it.

| # | pass | when | gives | what it does | why it stands there |
|---|---|---|---|---|---|
X
    awk '/^PASS\(/ {row = $0; getline; print row $0}' src/pass/pass.def |
        sed 's/^PASS(\([a-z_]*\), \(.*\), "\([^"]*\)", *"\([^"]*\)")$/\1\t\2\t\3\t\4/' | awk -F'\t' '{
        split($2, f, ", ")
        when = f[1] == "0" ? "" : f[1]; gives = f[3] == "0" ? "" : f[3]; gsub(/FORM_/, "", gives)
        printf "| %d | `%s` | %s | %s | %s | %s |\n", NR, $1, when, gives, $3, $4 }'
    sed -n 's/^PASS(\([a-z_]*\),.*/\1/p' src/pass/pass.def | while read -r p; do
        [ -f "src/pass/$p.c" ] || continue
        printf '\n## %s\n\n' "$p"
        awk 'NR == 1 {sub(/^\/\* [a-z_]*\.c -- /, "")} {done = sub(/ *\*\/$/, ""); sub(/^ \* ?/, ""); print}
             done {exit}' "src/pass/$p.c" | awk 'NR == 1 {print toupper(substr($0, 1, 1)) substr($0, 2); next} {print "    " $0}' |
            sed 's/ *$//'
    done
}

walk() {
    cat <<'X'
# A small product, pass by pass

Made by `tools/docs.sh` from `doc/walk.py`. Each section shows the kernel after a pass that changed it;
the plans that the `plan_` passes filled stand at the end.

```python
X
    cat doc/walk.py
    printf '```\n\nBefore the first pass:\n\n```\n'
    "$tl" dump doc/walk.py | sed 's/ @[0-9:-]*$//'
    echo '```'
    "$tl" build doc/walk.py --dump=all 2>/dev/null | sed 's/ @[0-9:-]*$//' | awk '
        /^# after / {if (open) print "```"; open = 0; show = 1
                     if (/\(unchanged\)/) {printf "\n`%s` changes no statement here.\n", $3; show = 0}
                     else printf "\n## %s\n", $3; next}
        show {if (!open) {print "\n```"; open = 1} print}
        END {if (open) print "```"}'
    printf '\n## The plans\n\n```\n'
    "$tl" build doc/walk.py --plans 2>/dev/null
    echo '```'
    printf '\n## The C that comes out\n\n```c\n'
    "$tl" dump doc/walk.py --source 2>/dev/null | sed -n '/^static void main_kernel(/,/^}/p'
    echo '```'
}

passes >"$dir/passes.md"
walk >"$dir/walk.md"
if [ "$2" = --check ]; then
    cmp -s "$dir/passes.md" doc/passes.md && cmp -s "$dir/walk.md" doc/walk.md && exit 0
    echo "doc/passes.md or doc/walk.md is stale: run 'make docs'"
    exit 1
fi
cp "$dir/passes.md" "$dir/walk.md" doc/
