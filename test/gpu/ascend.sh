#!/bin/sh
# Usage: ascend.sh TL      -- kernels as Ascend C: right in the simulator, and their text right on the host by device/twin/ascend.h, which
#                             keeps the clocks of the pipes; a flag, a barrier or a call of a queue left out is found.  Some of test/kernel.
#        ascend.sh TL all  -- all of test/kernel, and every flag of a GEMM, of softmax and of attention
#
# Nothing here is the vendor's: neither its compiler nor its simulator.
tl=$1 all=${2:-}
cd "$(dirname "$0")/../.." || exit 2
log=$(mktemp -d) || exit 2
trap 'rm -rf "$log"' EXIT

run() { timeout "${TEST_SECONDS:-240}" "$tl" verify "$@" -q --sim --text --target ascend 2>&1; }

# try FILE[:FUNCTION] KNOBS…: right, or refused
try() {
    text=$(run "$@")
    case $?:$text in
    0:*PASS*) echo ok ;;
    1:*"error: "*"[unsupported-here]"* | 1:*"error: "*"[on-chip-bytes]"*) echo "refused $*: $(echo "$text" | grep -m1 'error: ')" ;;
    *) echo "FAIL $*: $text" ;;
    esac
}

# runs: FILE[:FUNCTION] KNOBS, a line each
runs() {
    for file in test/kernel/*.py; do
        grep -qE '^# (fails|refused):' "$file" && continue
        sed -n 's/^# verify: *//p' "$file" | while read -r line; do
            func= knobs=
            for word in $line; do
                case $word in
                :*) func=$word ;;
                -*) ;;
                *) knobs="$knobs $word" ;;
                esac
            done
            echo "$file$func$knobs"
        done
    done
}

tell() { what=$1; shift; "$@" >"$log/said" 2>&1 && echo ok || echo "FAIL $what: $(cat "$log/said")"; }

# edited SCRIPT WANT FILE… -- the text with a change is found out
edited() {
    script=$1 want=$2
    shift 2
    "$tl" build "$@" -q --target ascend --source >"$log/own.cpp" && sed -e "$script" "$log/own.cpp" >"$log/edited.cpp" || return 1
    ! cmp -s "$log/own.cpp" "$log/edited.cpp" && ! run "$@" --no-cache --source "$log/edited.cpp" >"$log/text" && grep -q "$want" "$log/text"
}

# dropped STEP LEFT FILE… -- every STEP-th flag, barrier and call of a queue left out is found, but LEFT of them: a barrier where nothing
# was added to an accumulator, and those between rows of one tile that are apart
dropped() {
    step=$1 left=$2 missed=0
    shift 2
    "$tl" build "$@" -q --target ascend --source >"$log/own.cpp" || return 1
    first=$(grep -n -e '---- kernels' "$log/own.cpp" | cut -d: -f1)
    for line in $(awk -v s="$first" -v n="$step" 'NR > s && /tl_sync<|PipeBarrier|CrossCore|EnQue|FreeTensor|DeQue/ && i++ % n == 0 {print NR}' "$log/own.cpp"); do
        sed "${line}d" "$log/own.cpp" >"$log/edited.cpp"
        run "$@" --no-cache --source "$log/edited.cpp" >"$log/text" && missed=$((missed + 1)) && sed -n "${line}p" "$log/own.cpp" && continue
        grep -q -e '\[twin-pipe\]' -e '\[twin-deadlock\]' -e 'VERIFY: FAIL' "$log/text" || { cat "$log/text"; return 1; }
    done
    [ $missed -le "$left" ]
}

every() { [ -n "$all" ] && echo 1 || echo "$1"; }
sentence() { "$tl" "$1" examples/vector_add.py N=64 block_N=64 -q --target ascend 2>&1 | grep -q 'no CANN runtime.*\[no-ascend\]'; }
# bundle WANT WORDS FILE… -- its program compiles by headers of our own with CANN's names (fake_ascend), and launches
bundle() {
    want=$1 words=$2
    shift 2
    rm -rf "$log/out"
    "$tl" build "$@" -q --target ascend -o "$log/out" || return 1
    grep -q 'ascendc_library(kernels SHARED kernel.cpp)' "$log/out/CMakeLists.txt" && [ -s "$log/out/kernel.cpp" ] &&
        [ -s "$log/out/manifest.json" ] || return 1
    ${CXX:-c++} -std=c++17 -Wall -Wextra -Werror -isystem test/gpu/fake_ascend "$log/out/run.cpp" -o "$log/out/run" || return 1
    "$log/out/run" $words >"$log/out/said" || return 1
    grep -q "$want" "$log/out/said" || { cat "$log/out/said"; return 1; }
}
grid() { "$tl" build test/kernel/exact_values.py:blocks -q --target ascend --source 2>&1 | grep -q 'more than 65535 blocks.*\[unsupported-here\]'; }
refused() { "$tl" build examples/vector_add.py -q --target "$1" 2>&1 | grep -q "$2"; }

{
    add="examples/vector_add.py N=1000 block_N=256"
    gemm="examples/gemm.py:gemm M=40 N=24 K=100 block_M=32 block_N=32 block_K=32 dtype=float16"
    rows="examples/softmax.py M=9 N=64"
    attention="examples/flash_attention.py B=1 H=1 S=64 D=32 dtype=float16 block_M=32 block_N=32"
    tell "flags of an addition" dropped 1 0 $add
    tell "flags of a GEMM" dropped "$(every 3)" 1 $gemm
    tell "flags of softmax" dropped "$(every 4)" 1 $rows
    tell "flags of attention" dropped "$(every 9)" 6 $attention
    tell "a misspelt name" edited 's/CAST_RINT/CAST_RIND/' 'twin-compiler' $attention
    tell "an operand that is not aligned" edited 's/Muls(x\[/Muls(x[1 + /' 'twin-pipe' $rows
    tell "a fractal of the wrong kind" edited 's/tl_load_b<half, false>/tl_load_b<half, true>/' 'FAIL' $gemm
    tell "bundle of a dynamic GEMM" bundle 'launch main_kernel of 4 blocks: tensor tensor tensor 200 33 130' "M=200 N=130 K=33 C=$log/c.bin" \
        examples/gemm_dynamic.py dtype=float16
    tell "what it writes" test "$(stat -c %s "$log/c.bin")" = $((200 * 130 * 4))
    tell "bundle of attention" bundle 'launch main_kernel of 2 blocks: tensor tensor tensor tensor tensor tensor tensor' "" $attention
    for verb in run bench; do tell "tl $verb" sentence $verb; done
    tell "an architecture that is none" refused "ascend -arch=310p" 'is no architecture.*\[target-unknown\]'
    tell "more blocks than there may be" grid
} >"$log/c"

list() {
    printf '%s\n' 'examples/softmax.py M=9 N=65' 'examples/rms_norm.py M=9 N=256' 'examples/layer_norm.py M=5 N=100' \
        'examples/gemm.py:gemm M=40 N=50 K=33 block_M=32 block_N=32 block_K=32 dtype=bfloat16' \
        'examples/gemm.py:gemm_tn M=33 N=20 K=40 block_M=32 block_N=24 block_K=16 dtype=float16' \
        'examples/gemm.py:gemm_nt M=33 N=20 K=40 block_M=32 block_N=24 block_K=16 dtype=float32' \
        'examples/gemm_dynamic.py M=40 N=33 K=50 dtype=float16 block_M=32 block_N=32 block_K=32' \
        'test/kernel/text_edges.py:to_integers' 'test/kernel/gemm_shared_result.py:adds' 'test/kernel/gemm_shared_result.py:begins' 'test/kernel/gemm_past_k.py:clears' 'test/kernel/math_float.py:checks N=200' 'test/kernel/math_float.py:of_one' 'test/kernel/block_atomics.py:histogram' 'test/kernel/block_atomics.py:tickets' 'test/kernel/short_rows.py:larger N=612 K=25' \
        test/kernel/left_loops.py:stores_behind test/kernel/left_loops.py:multiplies_next 'test/kernel/sums_unless_left.py:nested n=0' \
        'examples/flash_attention.py S=33 H=2 D=16 block_M=16 block_N=32 groups=2 window=8 causal=True dtype=float16'
    runs | if [ -n "$all" ]; then cat; else awk 'NR % 80 == 7'; fi
}
list | while read -r line; do try $line; done >"$log/a"
grep -hv -e '^ok$' -e '^refused' "$log/a" "$log/c"
[ -z "$all" ] || grep -h '^refused' "$log/a"
passed=$(cat "$log/a" "$log/c" | grep -c '^ok$')
failed=$(cat "$log/a" "$log/c" | grep -c '^FAIL')
[ -z "$all" ] || echo "$(grep -c '^refused' "$log/a") refused"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
