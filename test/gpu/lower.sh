#!/bin/sh
# Usage: lower.sh TL  -- the examples lowered to threads for a GPU, simulated after every pass: same
# answers as the tile form, no race, no deadlock, no read of what was not written.
tl=$1
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0
while read -r file knobs; do
    [ -n "$file" ] || continue
    archs="sm_80 sm_90a"
    case $knobs in *splits=[24]*block_N=64*) archs=sm_90a ;; esac # clusters of blocks
    for arch in $archs; do
        if text=$(timeout "${TEST_SECONDS:-60}" "$tl" build "examples/$file" $knobs --target "cuda -arch=$arch" --check-each --check-text --source 2>&1 >/dev/null); then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAIL $file $knobs on $arch: $text"
        fi
    done
done <<'X'
vector_add.py N=1000 block_N=512
copy.py M=70 N=33
transpose.py M=40 N=33 block_M=32 block_N=32
softmax.py M=9 N=65
softmax.py M=3 N=4096 block_M=1 threads=128 dtype=bfloat16
rms_norm.py M=9 N=65
swiglu.py M=9 N=65
layer_norm.py M=9 N=65
reduce.py:row_reduce M=17 N=40 op=absmax
reduce.py:column_sum M=70 N=33 block_M=32 block_N=32
cumsum.py M=20 N=33 block_M=16 reverse=True
gemm.py:gemm M=70 N=50 K=90 block_M=64 block_N=64 block_K=32 dtype=float16
gemm.py:gemm M=70 N=50 K=90 block_M=64 block_N=64 block_K=32 dtype=float16 widen=False
gemm.py:gemm M=40 N=50 K=33 block_M=32 block_N=32 block_K=32 dtype=bfloat16
gemm.py:gemm M=33 N=20 K=40 block_M=32 block_N=24 block_K=16
gemm.py:gemm_nt M=70 N=50 K=90 block_M=64 block_N=64 block_K=32 dtype=float16
gemm.py:gemm_nt M=33 N=20 K=40 block_M=32 block_N=24 block_K=16 dtype=int8
gemm.py:gemm_relu M=33 N=40 K=40 block_M=32 block_N=32 block_K=32 dtype=float16
gemm_dynamic.py dtype=float16 block_M=32 block_N=32 block_K=32
gemm_splitk.py M=40 N=30 K=200 block_M=32 block_N=32 block_K=32
gemv.py N=33 K=65 block_K=64
dequant_gemm.py M=40 N=50 K=128 block_M=32 block_N=32 block_K=64
convolution.py N=1 C=4 H=8 W=8 F=16 block_M=32 block_N=16 block_K=16
flash_attention.py S=70 H=1 D=32 block_M=32 block_N=32 causal=True dtype=float16
flash_attention.py S=33 H=2 D=16 block_M=16 block_N=32 groups=2 window=8 causal=True
flash_decoding.py S=100 B=1 H=2 D=32 block_N=32
linear_attention.py S=50 D=16 DV=16 chunk=16 dtype=float16
mamba_chunk_scan.py L=32 heads=2 D=32 N=16 chunks=2 dtype=float16
flash_attention_backward.py S=70 H=1 D=32 causal=True block_M=32 block_N=32 threads=128 dtype=float16
mla_decode.py B=1 pages=3 D=64 R=32 splits=2 page=32
paged_attention.py:paged_decode B=1 H=4 D=32 pages=3 page=32
paged_attention.py:varlen_prefill H=2 D=32 total=90 longest=64 block_M=64 block_N=32 threads=128
grouped_gemm.py rows=70 N=50 K=48 G=3 block_M=64 block_N=64 block_K=32 num_stages=2 threads=128
w4a16_gemm.py:w4a16_gemm M=20 N=64 K=256 num_stages=2
w4a16_gemm.py:few_rows M=3 N=70 K=512 num_stages=3
cumsum.py:cumsum_long M=2 N=512 each=64 threads=64
cross_entropy.py M=3 N=1100 threads=32
rotary.py tokens=3 H=2 D=32 threads=64
norm_quant.py M=3 N=256
moe_routing.py:gate tokens=5
moe_routing.py:permute tokens=20 experts=32 k=2 width=64 block=32 threads=64
moe_routing.py:unpermute tokens=5 k=2 width=64
sort.py M=2 N=64
gated_linear_attention.py:forward S=50 H=1 D=32 DV=32 chunk=32
gated_linear_attention.py:backward S=50 H=1 D=32 DV=32 chunk=32
gated_delta.py:gdn S=100 H=1 D=32 DV=32
gated_delta.py:kda S=70 H=1 D=32 DV=32
sparse_mla.py:sparse_mla tokens=2 N=64 D=64 R=32 topk=64 block_N=32
sparse_mla.py:backward tokens=2 N=80 D=128 R=64 topk=64
sparse_mla.py:indexer M=5 N=70 H=32 block_N=64 threads=128
histogram.py N=1000 bins=50 threads=64 blocks=3 each=4
w4a16_gemm.py:w4a16_gemm M=20 N=64 K=256 num_stages=2 kind=mxfp4
w4a16_gemm.py:few_rows M=3 N=70 K=512 num_stages=3 kind=mxfp4
fused_moe.py tokens=40 experts=3 width=104 hidden=72 block_M=64 block_N=64 block_K=32 num_stages=2 threads=128
w4a8_gemm.py M=20 N=70 K=256 num_stages=2
w4a16_gemm.py:few_rows M=9 N=70 K=512 splits=2 block_N=64
w4a8_gemm.py M=9 N=70 K=512 splits=4 block_N=64
gemm_fp8_scaled.py M=40 N=50 K=384 block_M=64 block_N=64 num_stages=2 threads=128
nsa.py:selected S=40 H=8 groups=4 D=32 count=2 size=16
nsa.py:decode B=1 N=64 H=8 groups=4 D=32 count=3 size=16
X
# Sparse instructions know ascending places alone: the simulator says where E has others.
if text=$("$tl" verify test/kernel/gemm_sparse.py:groups any_word=True --sim --target 'cuda -arch=sm_90a' 2>&1); then
    failed=$((failed + 1))
    echo "FAIL any word as metadata passes"
elif echo "$text" | grep -qF '[sparse-places]'; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "FAIL any word as metadata: $text"
fi
# A stage that threads have read is given back behind a fence: bulk copies overtook loads that were under way (H200).
if "$tl" build examples/gated_linear_attention.py:forward --target 'cuda -arch=sm_90a' --source 2>&1 | tr -d '\n ' |
    grep -qF 'tl_fence_proxy();__syncwarp();if(tx%32==0){tl_mbar_arrive(&empty_1'; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "FAIL no fence before a stage of gated_linear_attention.py is given back"
fi
# A block that waits for later ones: on every machine of ours they run together.
for target in "cuda -arch=sm_80" "cuda -arch=sm_90a" "hip -mcpu=gfx942" metal "cpu --threads 1"; do
    for knobs in "" "P=3 order=seq_cst"; do
        words="--sim --text"
        case $target in cpu*) words="--threads 1" ;; esac
        if text=$(timeout "${TEST_SECONDS:-60}" "$tl" verify test/gpu/kernel/flags.py $knobs $words --target "${target% --*}" -q 2>&1); then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAIL flags.py $knobs for $target: $text"
        fi
    done
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
