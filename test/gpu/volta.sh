#!/bin/sh
# Usage: volta.sh TL [all]  -- sm_70: texts compiled by an NVRTC 12, and test/kernel (a sample, or all of it) lowered for
#                              it, simulated after every pass, and its text run on the host.
tl=$1 all=${2:-}
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
pass() { passed=$((passed + 1)); }
fail() { failed=$((failed + 1)); echo "FAIL $*"; }
gemm="M=70 N=50 K=90 block_M=64 block_N=64 block_K=32"

# Without an NVRTC 12 the message says how to get one.
text=$(env -u TILELANG_NVRTC12 -u TILELANG_NVRTC -u CUDA_HOME -u CUDA_PATH PATH="$work" HOME="$work" LD_LIBRARY_PATH= \
    TILELANG_CACHE_DIR="$work/cache" "$tl" build examples/vector_add.py --target "cuda -arch=sm_70" --no-cache 2>&1)
case $text in
*nvidia-cuda-nvrtc-cu12*TILELANG_NVRTC12*"[no-nvrtc]"*) pass ;;
*) [ $? = 0 ] && ls /usr/local/cuda*/lib64/libnvrtc.so.12* >/dev/null 2>&1 || fail "no NVRTC 12: $text" ;;
esac
# What it does not have.
for row in "test/kernel/tensor_memory.py:product unsupported-here" "test/kernel/barriers.py:pair unsupported-here"; do
    text=$("$tl" build ${row% *} --target "cuda -arch=sm_70" --source 2>&1 >/dev/null)
    case $text in *"[${row#* }]"*) pass ;; *) fail "$row: $text" ;; esac
done

# takes FILE KNOBS…: NVRTC takes it, without a warning
takes() {
    text=$(timeout "${TEST_SECONDS:-120}" "$tl" build "$@" -q --target "cuda -arch=sm_70" --no-cache 2>&1 >/dev/null)
    if [ $? = 0 ] && [ -z "$(echo "$text" | grep '\[compiler-warning\]')" ]; then pass; else fail "$*: $text"; fi
}
if lib=$(sh tools/nvrtc.sh --twelve 2>/dev/null); then
    # it looks for its other half beside itself, a sanitized program elsewhere
    [ -n "$lib" ] && export TILELANG_NVRTC12="$lib" LD_LIBRARY_PATH="$(dirname "$lib")"
    takes examples/gemm.py:gemm $gemm dtype=float16
    takes examples/gemm.py:gemm_nt $gemm dtype=float16
    takes examples/gemm.py:gemm $gemm dtype=bfloat16
    takes examples/flash_attention.py S=70 H=1 D=32 block_M=32 block_N=32 causal=True dtype=float16
    takes examples/softmax.py M=9 N=65
    takes examples/reduce.py:row_reduce M=17 N=40 op=absmax
    takes examples/gemm_splitk.py M=40 N=30 K=200 block_M=32 block_N=32 block_K=32
    takes test/kernel/async_copy.py:two_groups
    takes test/kernel/half_calls.py
    takes test/kernel/atomics.py:element
    if [ -n "$all" ]; then
        for file in test/emit/cuda/*.py; do
            takes "$file"
        done
    fi
    # nvdisasm 13 does not read its machine code: the assembly, and that there is code.
    "$tl" build examples/gemm.py:gemm $gemm dtype=float16 -q --target "cuda -arch=sm_70" -o "$work/out" >/dev/null 2>&1
    if grep -q 'mma\.sync\.aligned\.m8n8k4\.row\.col\.f32' "$work/out/gemm.ptx" && [ -s "$work/out/gemm.cubin" ] &&
        ! grep -q 'cp\.async\|ldmatrix' "$work/out/gemm.ptx"; then
        pass
    else
        fail "no m8n8k4 in the bundle of a GEMM"
    fi
fi
files=
[ -n "$all" ] || files="test/kernel/gemm_operands.py test/kernel/halves.py test/kernel/found.py test/kernel/stores_two_ways.py"
text=$(sh test/gpu/kernels.sh "$tl" sm_70 $files)
echo "$text" | grep -v '^[0-9]* passed'
last=$(echo "$text" | tail -n 1)
passed=$((passed + ${last%% passed*})) last=${last#*, }
failed=$((failed + ${last%% failed*}))
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
