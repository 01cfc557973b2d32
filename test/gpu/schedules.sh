#!/bin/sh
# Usage: schedules.sh TL [N]  -- the examples of lower.sh, lowered, in the simulator: N schedules (8)
# of threads and copies each, all clean and all with the answers of the tile form.
tl=$1 n=${2:-8}
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0
sed -n "/<<'X'/,/^X$/p" test/gpu/lower.sh | grep '\.py' >"${TMPDIR:-/tmp}/schedules.$$"
while read -r file knobs; do
    case $file in gemm_dynamic.py) knobs="$knobs M=70 N=50 K=90" ;; esac
    for arch in sm_80 sm_90a; do
        if text=$(timeout "${TEST_SECONDS:-120}" "$tl" verify "examples/$file" $knobs --sim --schedules "$n" --target "cuda -arch=$arch" 2>&1); then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAIL $file $knobs on $arch: $text"
        fi
    done
done <"${TMPDIR:-/tmp}/schedules.$$"
rm -f "${TMPDIR:-/tmp}/schedules.$$"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
