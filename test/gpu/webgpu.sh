#!/bin/sh
# Usage: webgpu.sh TL      -- kernels as WGSL through wgpu, on whatever adapter there is (a software one will do): naga takes their
#                             text and they give what the simulator gives, which runs their lowered form too.  Examples, and a
#                             sample of the runs of test/kernel;
#        webgpu.sh TL all  -- all of them
# What WGSL has no words or room for is refused with a reason: at most a quarter of the runs may be.
# Where wgpu-native or an adapter is missing, tools/install.sh has said so: then nothing is counted.
tl=$1 every=24
[ "${2:-}" = all ] && every=1
cd "$(dirname "$0")/../.." || exit 2
lib=$(sh tools/wgpu.sh "$tl") || { echo "0 passed, 0 failed"; exit 0; }
export NODEVICE_SELECT=1 # a layer of Mesa talks about displays
[ -z "$lib" ] || export TILELANG_WGPU="$lib"
large="webgpu -max_num_threads=1024 -max_shared_memory_per_block=32768" # what lavapipe has
log=$(mktemp -d) || exit 2
trap 'rm -rf "$log"' EXIT

run() { timeout "${TEST_SECONDS:-120}" "$tl" verify "$@" 2>&1; }

# check WORDS…: as a line of X below
check() {
    tag=
    case $1 in --*) tag=${1#--}; shift ;; esac
    text=$(run "$@" -q --target webgpu)
    code=$?
    case $tag:$code:$text in
    :0:*PASS* | ?*:1:*"[$tag]"*) echo ok ;;
    *) echo "FAIL $*: $text" ;;
    esac
}

# half OPTION WORD WORDS…: float16 by what the adapter has of it, which the text says by WORD
half() {
    option=$1 word=$2
    shift 2
    own=$("$tl" build "$@" -q --source --target "webgpu $option" 2>&1 | grep -c "$word")
    text=$(run "$@" -q --target "webgpu $option")
    case $own:$text in
    [1-9]*PASS*) echo ok ;;
    *) echo "FAIL $* with $option: $text" ;;
    esac
}

# says TEXT WORDS…: ends with that message
says() {
    want=$1
    shift
    text=$(run "$@" -q --target webgpu)
    case $text in
    *"$want"*"[webgpu-failed]"*) echo ok ;;
    *) echo "FAIL $*: $text" ;;
    esac
}

# try FILE[:FUNCTION] KNOBS…: right, or refused
try() {
    text=$(run "$@" -q --target "$large")
    code=$?
    case $code:$text in
    0:*PASS*) ;;
    1:*"error: "*"[unsupported-here]"* | 1:*"error: "*"[on-chip-bytes]"* | 1:*"error: "*"[local-bytes]"* | 1:*"error: "*"[tile-threads]"*) echo refused; return ;;
    *) echo "FAIL $*: $text"; return ;;
    esac
    text=$(run "$@" -q --sim --target "sim $large") && echo ok || echo "FAIL $* simulated: $text"
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

while read -r line; do
    [ -z "$line" ] || check $line
done >"$log/a" <<'X'
examples/vector_add.py N=1000 block_N=512
examples/vector_add.py N=70001 block_N=1
test/kernel/scalars.py:kinds e=1 b=200 c=-100 d=60000 f=-30000 g=-2000000000 h=4000000000 i=-9876543210 x=0.3 y=-2.5 z=1.1
test/kernel/scalars.py:narrow b=250 c=-120
test/kernel/assert_holds.py:main N=40
examples/transpose.py M=40 N=33 block_M=32 block_N=32
examples/softmax.py M=9 N=65
examples/softmax.py M=2 N=17000
examples/reduce.py:row_reduce M=17 N=40 op=absmax
examples/cumsum.py M=20 N=33 block_M=16 reverse=True
examples/gemm.py:gemm M=100 N=70 K=50 dtype=float32
examples/gemm.py:gemm M=40 N=50 K=33 block_M=32 block_N=32 block_K=32 dtype=bfloat16
examples/gemm.py:gemm_nt M=33 N=20 K=40 block_M=32 block_N=24 block_K=16 dtype=int8
examples/gemm_dynamic.py M=40 N=33 K=50 dtype=float16 block_M=32 block_N=32 block_K=32
examples/gemm_splitk.py M=40 N=30 K=200 block_M=32 block_N=32 block_K=32
examples/flash_attention.py S=64 H=1 D=32
examples/flash_attention.py S=33 H=2 D=16 block_M=16 block_N=32 groups=2 window=8 causal=True
test/kernel/async_copy.py:two_groups
test/kernel/divided.py:exchanged
test/kernel/uneven_barriers.py:bitonic dtype=float16
test/kernel/uneven_barriers.py:nested
test/kernel/half_steps.py:nans
test/kernel/math_float.py:checks N=200
test/kernel/newer.py:clamped
test/kernel/nonfinite.py:arithmetic
test/kernel/nonfinite.py:sums
test/kernel/nonfinite.py:bits dtype=uint32
test/kernel/math_int.py:unsigned dtype=uint32
test/kernel/half_steps.py:adds dtype=bfloat16
test/kernel/text_edges.py:adds dtype=float16
test/kernel/narrow_atomics.py:all_kinds
test/kernel/narrow_atomics.py:earlier dtype=uint16
test/kernel/random_numbers.py:words
test/kernel/random.py:floats N=64
test/kernel/copy_types.py src=float32 dst=float4_e2m1fn
test/kernel/ldmatrix.py:words
test/kernel/types.py:arithmetic dtype=int64
test/kernel/int_edges.py:pairs dtype=uint32
test/kernel/int_edges.py:pairs dtype=int64
test/kernel/wide_values.py:gather
test/kernel/wide_values.py:floats
test/kernel/wide_values.py:scalar n=9876543210
test/kernel/view_layouts.py:wider
test/kernel/wide_words.py:words dtype=int8 bits=64
test/kernel/tensor_layouts.py:tile_sums
test/kernel/warps.py:matches
test/kernel/warps.py:reductions N=50
test/kernel/warps.py:lanes N=96
--unsupported-here test/kernel/types.py:arithmetic dtype=float64
X
half -own-halves pack2x16float test/kernel/half_steps.py:adds >>"$log/a"
half -own-halves pack2x16float examples/flash_attention.py S=64 H=1 D=32 dtype=float16 >>"$log/a"
half -f16 'array<f16' test/kernel/half_steps.py:adds >>"$log/a"
half -f16 'array<f16' test/kernel/half_steps.py:nans >>"$log/a"
half -f16 'array<f16' examples/gemm_dynamic.py M=40 N=33 K=50 dtype=float16 block_M=32 block_N=32 block_K=32 >>"$log/a"
half -f16 'array<u32' test/kernel/wide_words.py:words dtype=float16 >>"$log/a" # read as words
half "-f16 -own-halves" 'array<f16' examples/flash_attention.py S=64 H=1 D=32 dtype=float16 >>"$log/a"
# Subgroups: lavapipe's have as many threads as its vectors, 4 or 8; the other number is found out.
lanes() {
    for n in 4 8; do
        run "$@" -q --target "webgpu -subgroup=$n"
    done | tr '\n' ' '
}
for line in "test/kernel/subgroups.py:parts" "test/kernel/warps.py:matches" "test/kernel/subgroups.py:rows" "examples/softmax.py M=9 N=65"; do
    text=$(lanes $line)
    case $text in
    *PASS*"[webgpu-failed]"* | *"are not 4 that follow each other"*"[webgpu-failed]"*PASS*) echo ok ;;
    *) echo "FAIL $line with subgroups: $text" ;;
    esac
done >>"$log/a"
# Of numbers that no software adapter has: subgroups_of.c makes them of workgroup memory, in front of the real library.
# wide N WORDS…
wide() {
    n=$1
    shift
    text=$(TILELANG_WGPU=$log/subgroups_of run "$@" -q --target "webgpu -max_num_threads=1024 -subgroup=$n")
    case $text in
    *PASS*) echo ok ;;
    *) echo "FAIL $* with subgroups of $n: $text" ;;
    esac
}
real=$(ls "${lib:-${WGPU_DIR:-$PWD/deps/wgpu}/wgpu/resources}"/libwgpu_native*.so 2>/dev/null | head -n 1)
# front NAME: a library in front of the real one, made of NAME.c, in a folder of that name
front() {
    mkdir "$log/$1"
    [ -n "$real" ] && ${CC:-cc} -Wall -Wextra -fPIC -shared -o "$log/$1/libwgpu_native.so" "test/gpu/$1.c" -Wl,--no-as-needed "$real"
}
if front subgroups_of; then
    while read -r line; do
        wide $line
    done
fi >>"$log/a" <<'X'
32 test/kernel/subgroups.py:parts
32 test/kernel/subgroups.py:rows
32 test/kernel/names_threads.py:sums
32 test/kernel/warps.py:matches
32 test/kernel/warps.py:lanes N=96
32 examples/softmax.py M=9 N=65
32 examples/flash_attention.py S=33 H=2 D=16 block_M=16 block_N=32 groups=2 window=8 causal=True
16 test/kernel/names_threads.py:sums
16 test/kernel/warps.py:matches
16 examples/softmax.py M=9 N=65
64 test/kernel/subgroups.py:parts
64 test/kernel/names_threads.py:sums
64 examples/softmax.py M=9 N=65
X
# What threads print: the same lines as on a CPU.
lines() { run_kernel=$("$tl" run test/kernel/print.py -q --target "$1" 2>&1) && echo "$run_kernel"; }
[ -n "$(lines cpu)" ] && [ "$(lines cpu)" = "$(lines webgpu)" ] && echo ok >>"$log/a" || echo "FAIL prints: $(lines webgpu)" >>"$log/a"
says "assertion failed: the tenth block" test/kernel/assert_fails.py N=40 >>"$log/a"
runs | awk "NR % $every == 7 % $every" | while read -r line; do
    set -f
    try $line
done >"$log/b"
# naga reads what adapters with more than this one would be given, and was not run.
texts() {
    mkdir "$log/texts"
    n=0
    while read -r line; do
        set -f
        for more in -f16 -own-halves -subgroup=32; do
            n=$((n + 1))
            "$tl" build $line -q --source --target "$large $more" >"$log/texts/$n.wgsl" 2>/dev/null || rm "$log/texts/$n.wgsl"
        done
    done
    text=$(WGSL_TEXTS=$log/texts TILELANG_WGPU=$log/naga_takes run examples/vector_add.py N=64 block_N=64 -q --target webgpu)
    case $text in
    *[1-9]*" texts read"*PASS*) echo ok ;;
    *) echo "FAIL texts that were not run: $text" ;;
    esac
}
if front naga_takes; then
    runs | awk "NR % $every == 7 % $every" | texts >>"$log/a"
fi
grep -hv -e '^ok$' -e '^refused$' "$log/a" "$log/b"
passed=$(cat "$log/a" "$log/b" | grep -c '^ok$')
failed=$(cat "$log/a" "$log/b" | grep -c '^FAIL')
refused=$(grep -c '^refused$' "$log/b")
if [ $((refused * 4)) -gt "$(grep -c . "$log/b")" ]; then
    echo "FAIL $refused runs were refused, more than a quarter"
    failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
