#!/bin/sh
# gpu_verify.sh -- every example on this machine's GPU against the simulator, at ragged sizes.
#
# Usage: gpu_verify.sh TL [TARGET]   one line each, then `N passed, M failed`; side by side.
tl=$1
target=${2:-cuda}
cd "$(dirname "$0")/.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
list="
vector_add.py:N=1000
copy.py:M=100:N=33
transpose.py:M=100:N=33
softmax.py:M=9:N=65
rms_norm.py:M=9:N=65
layer_norm.py:M=9:N=65
swiglu.py:M=9:N=65
reduce.py:M=9:N=65
cumsum.py:M=9:N=65
gemm.py@gemm:M=130:N=70:K=90:dtype=float16:block_M=64:block_N=64:block_K=32
gemm.py@gemm_nt:M=130:N=72:K=96:dtype=bfloat16:block_M=128:block_N=128:block_K=64
gemm.py@gemm_relu:M=130:N=72:K=96:dtype=bfloat16:block_M=64:block_N=64:block_K=32
gemm.py@gemm:M=70:N=50:K=33:dtype=float32:block_M=64:block_N=64:block_K=32
gemm_splitk.py:M=64:N=64:K=256
gemm_dynamic.py:M=100:N=70:K=50:block_M=64:block_N=64:block_K=32:dtype=float16
gemm_eager.py:M=64:N=64:K=64
gemv.py:N=100:K=200
dequant_gemm.py:M=64:N=64:K=128
convolution.py:N=1:C=8:H=9:W=9:F=16
flash_attention.py:S=100:D=64:dtype=float16:block_M=64:block_N=64
flash_attention.py:S=100:D=64:H=4:groups=2:causal=True:dtype=bfloat16:block_M=64:block_N=64
flash_decoding.py:S=100
linear_attention.py:S=100
mamba_chunk_scan.py
"
for item in $list; do
    (
        words=$(echo "$item" | tr ':' ' ' | tr '@' ':')
        set -- $words
        file=$1
        shift
        if timeout 60 "$tl" verify "examples/$file" "$@" --target "$target" -q >"$work/$item" 2>&1; then
            echo "ok   $file $*"
        else
            echo "FAIL $file $*: $(grep -v '^ ' "$work/$item" | tail -n 1 | cut -c1-200)"
        fi >"$work/$item.line"
    ) &
done
wait
cat "$work"/*.line
echo "$(grep -l '^ok' "$work"/*.line | wc -l) passed, $(grep -l '^FAIL' "$work"/*.line | wc -l) failed"
