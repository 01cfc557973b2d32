#!/bin/sh
# Usage: limits.sh TL  -- what an architecture does not have is refused, or warned of, with numbers.
#
# A line: ARCH FUNC KNOBS… | words that the message has; "fine" where there must be none.
tl=$1
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0
while IFS='|' read -r call words; do
    set -- $call
    arch=$1 func=$2
    shift 2
    words=$(echo $words)
    text=$("$tl" build "test/gpu/kernel/limits.py:$func" "$@" --target "cuda -arch=$arch" --source 2>&1 >/dev/null)
    case $words in fine) [ -z "$text" ] ;; *) case $text in *"$words"*) true ;; *) false ;; esac ;; esac
    if [ $? = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $call: wanted '$words', got: $text"
    fi
done <<'X'
sm_75 shared N=96 | take 98304 bytes, those that are never in use together in one place; target cuda -arch=sm_75 has 65536 [on-chip-bytes]
sm_75 shared N=64 | fine
sm_80 shared N=160 | fine
sm_80 shared N=256 | take 262144 bytes, those that are never in use together in one place; target cuda -arch=sm_80 has 166912 [on-chip-bytes]
sm_89 shared N=128 | take 131072 bytes, those that are never in use together in one place; target cuda -arch=sm_89 has 101376 [on-chip-bytes]
sm_90a shared N=192 | fine
sm_90a shared N=256 | bytes, those that are never in use together in one place; target cuda -arch=sm_90a has 232448 [on-chip-bytes]
sm_80 registers N=128 | fine
sm_80 registers N=512 | take 512 registers at once; with 128 threads it has at most 255
sm_80 registers N=1024 threads=1024 | take 128 registers at once; with 1024 threads it has at most 64
sm_80 array | take 800000 bytes at once; a thread has 524288 [local-bytes]
sm_80 array N=100000 | [register-spill]
sm_90a moves | fine
sm_90a moves less=40 | hold 40 + 240 + 240 = 520 registers a thread; a block of 384 threads has 3 times 168 = 504, so one would wait for ever [register-pool]
sm_90a moves more=250 | a multiple of 8 registers a thread from 24 to 256, not 250 [register-count]
sm_90 moves less=40 | fine
sm_80 side_by_side | fine
sm_86 side_by_side | 4 blocks of 512 threads cannot share a multiprocessor: on sm_86 it has 1536 [min-blocks]
sm_80 side_by_side blocks=2 rows=192 | 2 blocks with 98304 bytes of shared memory each cannot share a multiprocessor: on sm_80 it has 167936
sm_90 side_by_side blocks=2 rows=192 | fine
sm_80 large | fine
X

# What producers come to hold and what consumers, by what a kernel asks for: KNOBS… | how many each.
while IFS='|' read -r knobs words; do
    words=$(echo $words)
    text=$("$tl" build test/kernel/registers.py:moved $knobs --target "cuda -arch=sm_90a" --source 2>&1 |
        sed -n 's/^ *tl_\(lower\|raise\)_registers<\([0-9]*\)>.*/\1 \2/p' | tr '\n' ' ')
    if [ "$text" = "${words:+$words }" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL registers $knobs: wanted '$words', got: $text"
    fi
done <<'X'
M=128 | lower 24 raise 240
give=40 | lower 40 raise 232
take=232 | lower 24 raise 232
give=32 take=216 | lower 32 raise 216
give=40 threads=384 | lower 40 raise 152
give=24 take=216 threads=128 |
give=40 keep=1 |
X
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
