#!/bin/sh
# Usage: nvrtc.sh TL  -- what we emit for GPUs, compiled by NVRTC: no error, no warning.
# Kernels: examples at sizes that are quick, and the kernels of test/emit/cuda.
tl=$1
cd "$(dirname "$0")/../.." || exit 2
lib=$(sh tools/nvrtc.sh "$tl") || { echo "0 passed, 0 failed"; exit 0; }
[ -n "$lib" ] && export TILELANG_NVRTC="$lib"
passed=0 failed=0

# check ARCH FILE KNOBS…
check() {
    arch=$1
    shift
    text=$(timeout "${TEST_SECONDS:-120}" "$tl" build "$@" --target "cuda -arch=$arch" --no-cache 2>&1 >/dev/null)
    if [ $? = 0 ] && [ -z "$(echo "$text" | grep '\[compiler-warning\]')" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $* on $arch: $text"
    fi
}

for file in test/emit/cuda/*.py; do
    older="sm_80 sm_89"
    grep -q cluster_dims "$file" && older= # which came with sm_90
    for arch in $older sm_90a; do
        check $arch "$file"
    done
done
while read -r file knobs; do
    [ -n "$file" ] || continue
    for arch in sm_80 sm_90a; do
        check $arch "examples/$file" $knobs
    done
done <<'X'
vector_add.py N=1000 block_N=512
copy.py M=70 N=33
transpose.py M=40 N=33 block_M=32 block_N=32
softmax.py M=9 N=65
rms_norm.py M=9 N=65
swiglu.py M=9 N=65
layer_norm.py M=9 N=65
reduce.py:row_reduce M=17 N=40 op=absmax
reduce.py:column_sum M=70 N=33 block_M=32 block_N=32
cumsum.py M=20 N=33 block_M=16 reverse=True
gemm.py:gemm M=70 N=50 K=90 block_M=64 block_N=64 block_K=32 dtype=float16
gemm.py:gemm M=33 N=20 K=40 block_M=32 block_N=24 block_K=16
gemm.py:gemm_nt M=70 N=50 K=90 block_M=64 block_N=64 block_K=32 dtype=bfloat16
gemm.py:gemm_relu M=33 N=40 K=40 block_M=32 block_N=32 block_K=32 dtype=float16
gemm_dynamic.py dtype=float16 block_M=32 block_N=32 block_K=32
gemm_splitk.py M=40 N=30 K=200 block_M=32 block_N=32 block_K=32
gemv.py N=33 K=65 block_K=64
dequant_gemm.py M=40 N=50 K=128 block_M=32 block_N=32 block_K=64
convolution.py N=1 C=4 H=8 W=8 F=16 block_M=32 block_N=16 block_K=16
flash_attention.py S=70 H=1 D=32 block_M=32 block_N=32 causal=True dtype=float16
flash_decoding.py S=100 B=1 H=2 D=32 block_N=32
linear_attention.py S=50 D=16 DV=16 chunk=16 dtype=float16
mamba_chunk_scan.py L=32 heads=2 D=32 N=16 chunks=2 dtype=float16
X
# The assembler sees flags that a pass config asks for.
text=$("$tl" build examples/vector_add.py -q --target "cuda -arch=sm_80" -c tl.device_compile_flags=--ptxas-options=--bogus 2>&1)
case $text in
*Unknown*bogus*) passed=$((passed + 1)) ;;
*) failed=$((failed + 1)) && echo "FAIL a flag for the assembler: $text" ;;
esac
check sm_75 test/kernel/gathers.py:gather # copies that are waited for where they are ordinary stores
# What the assembler is known to get wrong: forms our text avoids, and one that only the machine code shows.
for form in 0 1 2 3; do
    text=$("$tl" build test/kernel/clamps.py form=$form --target "cuda -arch=sm_90a" --no-cache 2>&1 >/dev/null)
    case $form$text in
    3*'[compiler-fault]'* | [012]) passed=$((passed + 1)) ;;
    *) failed=$((failed + 1)); echo "FAIL clamps.py form=$form: $text" ;;
    esac
done
# Loads that are enough in flight already are not written out: their registers would cost the second block.
case $("$tl" build examples/softmax.py M=4096 N=32768 block_M=1 threads=512 dtype=bfloat16 --target "cuda -arch=sm_90a" --no-cache 2>&1) in
*", 2 blocks a multiprocessor"*) passed=$((passed + 1)) ;;
*) failed=$((failed + 1)); echo "FAIL softmax.py: a block a multiprocessor" ;;
esac
# Rows of any length have their tiles in registers.
for call in "softmax.py N=9000" "rms_norm.py N=32768" "layer_norm.py N=16384"; do
    case $("$tl" build examples/$call M=64 --target "cuda -arch=sm_90a" --no-cache 2>&1) in
    *", 0 bytes spilled"*) passed=$((passed + 1)) ;;
    *) failed=$((failed + 1)); echo "FAIL $call: spills" ;;
    esac
done
# What NVRTC 13.0 crashes on: built all the same, and the kernel after it too.
if "$tl" build test/gpu/kernel/crash.py N2=36 N11=256 N13=450 --target "cuda -arch=sm_90a" -q --no-cache >/dev/null 2>&1; then
    passed=$((passed + 1))
else
    failed=$((failed + 1)); echo "FAIL crash.py"
fi
# The cache is asked with the flags of the compiler that built the kernel.
TILELANG_CACHE_DIR=$(mktemp -d) && export TILELANG_CACHE_DIR
"$tl" build examples/vector_add.py N=64 block_N=64 --target "cuda -arch=sm_80" -q >/dev/null 2>&1
text=$("$tl" cache why examples/vector_add.py N=64 block_N=64 --target "cuda -arch=sm_80" 2>&1)
rm -rf "$TILELANG_CACHE_DIR"
case $text in
*'in the cache'*) passed=$((passed + 1)) ;;
*) failed=$((failed + 1)); echo "FAIL cache why: $text" ;;
esac
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
