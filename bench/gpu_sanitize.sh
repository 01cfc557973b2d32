#!/bin/sh
# gpu_sanitize.sh -- every example under NVIDIA's compute-sanitizer, at ragged sizes.
#
# Usage: gpu_sanitize.sh TL [TOOL…]   tools: memcheck racecheck synccheck initcheck; one line for each
#                                     that is not clean, then `N passed, M failed`
tl=$1
shift
tools=${*:-memcheck racecheck synccheck initcheck}
cd "$(dirname "$0")/.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
n=0
for tool in $tools; do
    while read -r file knobs; do
        n=$((n + 1))
        (
            name="$tool $file $knobs"
            timeout 60 compute-sanitizer --tool "$tool" --error-exitcode 9 "$tl" run "examples/$file" $knobs \
                --target cuda -q >"$work/$n.log" 2>&1
            code=$?
            if [ $code = 0 ]; then
                echo "ok   $name"
            else
                echo "FAIL $name ($code): $(grep -E 'Error|ERROR|error|Race|Barrier|Uninit' "$work/$n.log" |
                    head -n 2 | tr '\n' ' ' | cut -c1-260)"
            fi >"$work/$(printf %03d $n).line"
        ) &
        [ $((n % 12)) = 0 ] && wait
    done <bench/gpu_examples.txt
done
wait
grep -h '^FAIL' "$work"/*.line
echo "$(grep -l '^ok' "$work"/*.line | wc -l) passed, $(grep -l '^FAIL' "$work"/*.line | wc -l) failed"
