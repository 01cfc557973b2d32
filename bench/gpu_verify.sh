#!/bin/sh
# gpu_verify.sh -- every example on this machine's GPU against the simulator, at ragged sizes.
#
# Usage: gpu_verify.sh TL [TARGET]   one line each, then `N passed, M failed`; side by side.
tl=$1
target=${2:-cuda}
cd "$(dirname "$0")/.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
n=0
while read -r file knobs; do
    case "$target $knobs" in *sm_[78]*split=*) continue ;; esac # parts meet in a cluster: sm_90
    n=$((n + 1))
    (
        if timeout 60 "$tl" verify "examples/$file" $knobs --target "$target" -q >"$work/$n.log" 2>&1; then
            echo "ok   $file $knobs"
        else
            echo "FAIL $file $knobs: $(grep -v '^ ' "$work/$n.log" | tail -n 1 | cut -c1-200)"
        fi >"$work/$(printf %03d $n).line"
    ) &
done <bench/gpu_examples.txt
wait
cat "$work"/*.line
failed=$(grep -l '^FAIL' "$work"/*.line | wc -l)
echo "$(grep -l '^ok' "$work"/*.line | wc -l) passed, $failed failed"
[ "$failed" = 0 ]
