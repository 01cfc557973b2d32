#!/bin/sh
# Usage: pipeline.sh TL  -- pipelined loops and asynchronous copies lowered to threads, simulated
# after every pass: the kernels of test/kernel that have them, for an architecture with cp.async and
# for one without.
tl=$1
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0
for file in test/kernel/pipeline.py test/kernel/pipeline_more.py test/kernel/async_copy.py; do
    while read -r func knobs; do
        for arch in sm_80 sm_75; do
            if text=$(timeout "${TEST_SECONDS:-60}" "$tl" build "$file$func" $knobs --target "cuda -arch=$arch" \
                          --check-each --stop-after opt_vectorize 2>&1 >/dev/null); then
                passed=$((passed + 1))
            else
                failed=$((failed + 1))
                echo "FAIL $file$func $knobs on $arch: $text"
            fi
        done
    done <<X
$(sed -n 's/^# verify: //p' "$file")
X
done
# A copy that is read in flight is found, and only then.
for left in 0 1; do
    text=$("$tl" build test/gpu/kernel/not_waited.py left=$left --target "cuda -arch=sm_80" \
               --check-each --stop-after lower_sync 2>&1 >/dev/null)
    said=$(echo "$text" | grep -c '\[missing-wait\]')
    if [ "$said" = $left ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL not_waited.py left=$left: $text"
    fi
done
# One barrier a round, wherever the copies stand.
for knobs in "K=96 S=2" "K=96 S=3" "K=512 bm=128 bn=64 bk=64 S=3"; do
    n=$("$tl" build test/kernel/pipeline_more.py:product $knobs --target "cuda -arch=sm_80" --source |
            grep -c '__syncthreads();')
    if [ "$n" = 1 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL product $knobs: $n barriers"
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
