#!/bin/sh
# Usage: opencl.sh TL      -- kernels as OpenCL C through libOpenCL, on whatever device there is (PoCL's CPU will do): its compiler
#                             takes their text, and they give what the simulator gives, which runs their lowered form too, as
#                             does their text on the host.  Examples, and a sample of the runs of test/kernel;
#        opencl.sh TL all  -- all of them
# What OpenCL C has no words for is refused with a reason: of all at most 15 in 100 may be.
# Where libOpenCL or a device is missing, tools/install.sh has said so: then nothing is counted but what needs none.
tl=$1 every=64
[ "${2:-}" = all ] && every=1
cd "$(dirname "$0")/../.." || exit 2
log=$(mktemp -d) || exit 2
trap 'rm -rf "$log"' EXIT
export POCL_CACHE_DIR="$log/pocl"
mkdir "$log/pocl" "$log/none"

run() { timeout "${TEST_SECONDS:-120}" "$tl" verify "$@" 2>&1; }

# check WORDS…: as a line of X below
check() {
    tag=
    case $1 in --*) tag=${1#--}; shift ;; esac
    text=$(run "$@" -q --target opencl)
    code=$?
    case $tag:$code:$text in
    :0:*PASS* | ?*:1:*"[$tag]"*) echo ok ;;
    *) echo "FAIL $*: $text" ;;
    esac
}

# says TEXT COMMAND…: ends with that message
says() {
    want=$1
    shift
    text=$("$@" 2>&1)
    case $text in
    *"$want"*) echo ok ;;
    *) echo "FAIL $*: $text" ;;
    esac
}

# lanes WORDS…: by subgroups and halves of the device, on the device where it has them, else as text on the host
lanes() {
    target="opencl -subgroup=16 -fp16"
    text=$(run "$@" -q --target "$target")
    case $text in
    *PASS* | *"the device has no cl_"*) ;;
    *) echo "FAIL $* on $target: $text" ;;
    esac
    text=$(run "$@" -q --sim --text --target "$target -arch=local32k") && echo ok || echo "FAIL $* on $target, on the host: $text"
}

# try FILE[:FUNCTION] KNOBS…: right on the device, simulated, and as text on the host; or refused
try() {
    text=$(run "$@" -q --target opencl)
    code=$?
    case $code:$text in
    0:*PASS*) ;;
    1:*"error: "*"[unsupported-here]"* | 1:*"error: "*"[on-chip-bytes]"* | 1:*"error: "*"[local-bytes]"* | 1:*"error: "*"[tile-threads]"*) echo refused; return ;;
    *"nvalid build option"*) echo refused; return ;; # compile_flags of another compiler
    *) echo "FAIL $*: $text"; return ;;
    esac
    text=$(run "$@" -q --sim --text --target opencl) && echo ok || echo "FAIL $* on the host: $text"
}

# bundle: a C program calls a kernel of a bundle, in a queue of its own
bundle() {
    "$tl" build examples/gemm.py:gemm M=64 N=48 K=32 dtype=float32 --target "opencl -arch=local32k" -o "$log/out" >"$log/say" 2>&1 &&
        ${CC:-cc} -std=c11 -Wall -Wextra -Werror -O1 -fPIC -shared -o "$log/by_hand.so" "$log/out/gemm.c" -ldl -lpthread >>"$log/say" 2>&1 &&
        ${CC:-cc} -I"$log/out" -o "$log/use" test/gpu/use_opencl.c -L"$log/out" -lgemm "-Wl,-rpath,$log/out" -ldl -lm >>"$log/say" 2>&1 &&
        "$log/use" >>"$log/say" 2>&1
    case $(cat "$log/say") in
    *"without a queue: 1 the stream is a command queue"*"with one: 0 , 0 wrong"*"with one: 0 , 0 wrong"*) echo ok ;;
    *) echo "FAIL a bundle: $(cat "$log/say")" ;;
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

# What needs no device: bad words, a library that is not there.
{
    says "is no device of OpenCL" "$tl" build examples/vector_add.py --target "opencl -arch=sm_80"
    says "is no size of a subgroup" "$tl" build examples/vector_add.py --target "opencl -subgroup=3"
    says "unknown option '-subgroups=8' of target opencl" "$tl" build examples/vector_add.py --target "opencl -subgroups=8"
    says "[no-opencl]" env TILELANG_OPENCL=/nowhere/libOpenCL.so "$tl" run examples/vector_add.py N=64 --target opencl
} >"$log/a"
text=$(run examples/vector_add.py N=1000 block_N=512 --target opencl)
case $text in
*"[no-opencl]"* | *"[no-opencl-device]"*) every=0 ;;
*PASS*) echo ok >>"$log/a" ;;
*) echo "FAIL examples/vector_add.py: $text" >>"$log/a" ;;
esac
: >"$log/b"
[ "$every" -eq 0 ] || {
    while read -r line; do
        [ -z "$line" ] || check $line
    done <<'X'
examples/transpose.py M=40 N=33 block_M=32 block_N=32
examples/gemm.py:gemm M=100 N=70 K=50 dtype=float32
examples/gemm.py:gemm_nt M=33 N=20 K=40 block_M=32 block_N=24 block_K=16 dtype=int8
examples/gemm_dynamic.py M=40 N=33 K=50 dtype=float16 block_M=32 block_N=32 block_K=32
examples/flash_attention.py S=33 H=2 D=16 block_M=16 block_N=32 groups=2 window=8 causal=True
test/kernel/attention.py:attention S=64 D=128 block_N=128 threads=128 stages=1
test/kernel/nonfinite.py:arithmetic
test/kernel/math_float.py:checks N=200
test/kernel/types.py:arithmetic dtype=int64
test/kernel/types.py:arithmetic dtype=float64
test/kernel/narrow_atomics.py:all_kinds
test/kernel/half_steps.py:nans
test/kernel/random_numbers.py:words
test/kernel/copy_types.py src=float32 dst=float4_e2m1fn
test/kernel/warps.py:shuffles
test/kernel/warps.py:votes N=40
test/kernel/warps.py:reductions N=50
test/kernel/warps.py:matches N=70
test/kernel/threads.py:counts N=96
test/kernel/names_threads.py:cluster
test/kernel/tensor_memory.py:cluster_of_one
--unsupported-here test/kernel/uniform_bounds.py:drawn
test/kernel/teams.py:roles
test/kernel/half_bytes.py:quantise N=40 dtype=int4
X
    lanes examples/softmax.py M=9 N=65 dtype=float16
    lanes test/kernel/warps.py:votes
    lanes test/kernel/warps.py:reductions N=50
    lanes test/kernel/warps.py:matches
    lanes test/kernel/threads.py:counts N=96
    says "assertion failed: the tenth block" "$tl" verify test/kernel/assert_fails.py N=40 -q --target opencl
    says "[no-opencl-device]" env OCL_ICD_VENDORS="$log/none" "$tl" run examples/vector_add.py N=64 --target opencl
    bundle
    says "[bundle-target]" "$tl" build test/kernel/assert_fails.py N=40 -q --target opencl -o "$log/no"
    says "time_ms" "$tl" bench examples/vector_add.py N=1000 --reps 2 --warmup 1 --events --no-roof --target opencl
} >>"$log/a"
[ "$every" -eq 0 ] || runs | awk "NR % $every == 19 % $every" | while read -r line; do
    set -f
    try $line
done >"$log/b"
grep -hv -e '^ok$' -e '^refused$' "$log/a" "$log/b"
passed=$(cat "$log/a" "$log/b" | grep -c '^ok$')
failed=$(cat "$log/a" "$log/b" | grep -c '^FAIL')
refused=$(grep -c '^refused$' "$log/b")
if [ "$every" -eq 1 ] && [ $((refused * 100)) -gt $(($(grep -c . "$log/b") * 15)) ]; then
    echo "FAIL $refused runs were refused, more than 15 of 100"
    failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
