#!/bin/sh
# Usage: metal.sh TL      -- kernels as Metal: right in the simulator, and their text right on the host by device/twin/metal.h; pointers of
#                            the text into the right memories, by clang; a misspelt name and a wrong lane map found; bundles whose program
#                            clang takes by headers of our own (fake_metal).  Some of test/kernel.
#        metal.sh TL all  -- all of test/kernel
#
# Nothing here is Apple's: neither its compiler nor its system.  Without clang its checks are left out.
tl=$1 all=${2:-}
cd "$(dirname "$0")/../.." || exit 2
log=$(mktemp -d) || exit 2
trap 'rm -rf "$log"' EXIT

run() { timeout "${TEST_SECONDS:-240}" "$tl" verify "$@" -q --sim --text --target metal 2>&1; }

# spaces FILE: pointers into device, threadgroup and thread memory are different types
spaces() {
    command -v clang >/dev/null || return 0
    { echo '#define TL_SPACES 1'
      cat device/twin/abi.h device/twin/text.h device/twin/metal.h
      sed -e '/^#include <metal_stdlib>/d' -e 's/\[\[[^]]*\]\]//g' "$1"; } >"$1.cpp"
    clang -x c++ -std=c++17 -fsyntax-only -w "$1.cpp" 2>&1 && ! grep -nE 'long long|[0-9](LL|ll|ULL|ull)|[^a-z_]double [a-z]|[^a-z_]printf\(' "$1"
}

# try FILE[:FUNCTION] KNOBS…: right, or refused
try() {
    text=$(run "$@")
    code=$?
    case $code:$text in
    0:*PASS*) ;;
    1:*"error: "*"[unsupported-here]"* | 1:*"error: "*"[on-chip-bytes]"* | 1:*"error: "*"[barrier-numbers]"* | 1:*"error: "*"[local-bytes]"* | 1:*"error: "*"[tile-threads]"*)
        echo "refused $*: $(echo "$text" | grep -m1 'error: ')"; return ;;
    *) echo "FAIL $*: $text"; return ;;
    esac
    "$tl" build "$@" -q --target metal --source >"$log/$which.metal" 2>/dev/null && text=$(spaces "$log/$which.metal") || { echo "FAIL $* memories: $text"; return; }
    echo ok
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

# tell WHAT RESULT…: ok, or FAIL and what it was
tell() { what=$1; shift; "$@" >"$log/said" 2>&1 && echo ok || echo "FAIL $what: $(cat "$log/said")"; }

# edited SCRIPT WANT FILE… -- the text with a change is found out
edited() {
    script=$1 want=$2
    shift 2
    "$tl" build "$@" -q --target metal --source >"$log/own.metal" && sed -e "$script" "$log/own.metal" >"$log/edited.metal" || return 1
    ! cmp -s "$log/own.metal" "$log/edited.metal" && ! run "$@" --source "$log/edited.metal" >"$log/text" && grep -q "$want" "$log/text"
}

# bundle FILE… -- kernel.metal, a program that clang takes, a manifest
bundle() {
    rm -rf "$log/out"
    "$tl" build "$@" -q --target metal -o "$log/out" && [ -s "$log/out/kernel.metal" ] && grep -q '"target": *"metal"' "$log/out/manifest.json" || return 1
    command -v clang >/dev/null || return 0
    clang -x objective-c -fsyntax-only -fobjc-arc -fobjc-runtime=macosx-13.0 -Wall -Wextra -Werror -Wno-unused-function \
        -isystem test/gpu/fake_metal "$log/out/run.m"
}

# asks: the kernel that run.m asks a GPU with for its lanes
asks() { sed -n 's/^ *"\(.*\)\\n";*$/\1/p' device/metal/run.m >"$log/lanes.metal" && grep -q simdgroup_load "$log/lanes.metal" && spaces "$log/lanes.metal"; }

# fails: the text says which assertion does not hold
fails() { ! run test/kernel/assert_fails.py N=40 >"$log/text" && grep -q 'assertion failed: the tenth block' "$log/text"; }

# sentence VERB: what is missing
sentence() { "$tl" "$1" examples/vector_add.py N=64 block_N=64 -q --target metal 2>&1 | grep -q 'no Metal runtime.*\[no-metal\]'; }

{
    gemm="examples/gemm.py:gemm M=40 N=24 K=32 block_M=32 block_N=24 block_K=16 dtype=float16"
    tell "a misspelt function" edited 's/simdgroup_multiply_accumulate(/simdgroup_multiply_acumulate(/' 'twin-compiler' $gemm
    tell "a misspelt attribute" edited 's/threadgroup_position_in_grid/threadgroup_position_in_gird/' 'twin-compiler' $gemm
    tell "a barrier left out" edited 's/threadgroup_barrier(.*;/;/' 'FAIL' $gemm
    tell "operands exchanged" edited 's/&a_reg\[0\], &b_reg/\&b_reg[0], \&b_reg/' 'FAIL' $gemm
    tell "bundle of a GEMM" bundle $gemm
    tell "bundle of a dynamic GEMM" bundle examples/gemm_dynamic.py M=40 N=33 K=50 dtype=bfloat16 block_M=32 block_N=32 block_K=32
    tell "bundle of two launches" bundle examples/gemm_splitk.py M=40 N=30 K=200 block_M=32 block_N=32 block_K=32
    tell "bundle of a kernel with an assertion" bundle test/kernel/assert_fails.py N=40
    tell "its flag" grep -q 'setBuffer:tl_flag offset:0 atIndex:2' "$log/out/run.m"
    tell "an assertion that fails" fails
    tell "the kernel that asks for lanes" asks
    for verb in run bench; do tell "tl $verb" sentence $verb; done
} >"$log/c"

list() {
    printf '%s\n' 'examples/vector_add.py N=1000 block_N=512' 'examples/softmax.py M=9 N=65' \
        'examples/gemm.py:gemm M=40 N=50 K=33 block_M=32 block_N=32 block_K=32 dtype=bfloat16' \
        'examples/gemm.py:gemm_nt M=33 N=20 K=40 block_M=32 block_N=24 block_K=16 dtype=float32' \
        'examples/gemm_dynamic.py M=40 N=33 K=50 dtype=float16 block_M=32 block_N=32 block_K=32' \
        'test/kernel/gemm_shared_result.py:adds' 'test/kernel/gemm_shared_result.py:begins' 'test/kernel/warps.py:reductions N=50' 'test/kernel/threads.py:counts N=96' 'test/kernel/warps.py:matches' \
        'test/kernel/assert_holds.py:main N=40' 'test/kernel/names_threads.py:cluster' 'test/kernel/tensor_memory.py:cluster_of_one' \
        'examples/flash_attention.py S=33 H=2 D=16 block_M=16 block_N=32 groups=2 window=8 causal=True'
    runs | if [ -n "$all" ]; then cat; else awk 'NR % 25 == 7'; fi
}
list >"$log/list"
half=$(($(wc -l <"$log/list") / 2))
which=a
head -n $half "$log/list" | while read -r line; do try $line; done >"$log/a" &
which=b
tail -n +$((half + 1)) "$log/list" | while read -r line; do try $line; done >"$log/b"
wait
grep -hv -e '^ok$' -e '^refused' "$log/a" "$log/b" "$log/c"
[ -z "$all" ] || grep -h '^refused' "$log/a" "$log/b"
passed=$(cat "$log/a" "$log/b" "$log/c" | grep -c '^ok$')
refused=$(cat "$log/a" "$log/b" | grep -c '^refused')
failed=$(cat "$log/a" "$log/b" "$log/c" | grep -c '^FAIL')
[ -z "$all" ] || echo "$refused refused"
echo "$passed passed, $failed failed"
