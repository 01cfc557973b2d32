#!/bin/sh
# device.sh -- what `make test-gpu` runs, part by part; then their sum.
#
# Usage: device.sh BUILD
build=$1
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0

# part NAME COMMAND…: a part that prints no count is one test
part() {
    name=$1
    shift
    out=$("$@" 2>&1)
    code=$?
    count=$(echo "$out" | sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' | tail -n 1)
    [ -n "$count" ] || count="$((code == 0)) $((code != 0))"
    [ $code = 0 ] || echo "$out"
    echo "$name: ${count% *} passed, ${count#* } failed"
    passed=$((passed + ${count% *})) failed=$((failed + ${count#* }))
}

part "faults of compilers" python3 test/gpu/faults.py "$build/tl"
part "examples on the GPU" sh bench/gpu_verify.sh "$build/tl"
part "bundles, graphs, timeline" sh test/gpu/on_device.sh "$build/tl"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
