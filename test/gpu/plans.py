"""plans.py -- how each operator of each example is done on sm_80 and on sm_90a.

    python3 plans.py TL

Kernels of this folder are simulated after every pass as well.  A line of the table is EXAMPLE KNOBS, then a line for each architecture: operators, and the words that their plan
must begin with.  An operator that falls back to a lesser mechanism fails here.  "N passed, M failed" comes last."""

import re
import subprocess
import sys

TABLE = """
copy.py
    sm_80   copy A, tile = plain | copy tile, B = plain
    sm_90a  copy A, tile = tma | copy tile, B = tma
transpose.py
    sm_80   transpose rows, cols = plain
    sm_90a  copy A, rows = tma | transpose rows, cols = plain | copy cols, B = tma
softmax.py
    sm_80   reduce x, row_max = shuffle | reduce x, row_sum = shuffle
    sm_90a  reduce x, row_max = shuffle | reduce x, row_sum = shuffle
rms_norm.py
    sm_80   reduce square, total = shuffle
    sm_90a  reduce square, total = shuffle
layer_norm.py
    sm_80   reduce x, mean = shuffle | reduce square, var = shuffle
    sm_90a  reduce x, mean = shuffle | reduce square, var = shuffle
reduce.py:row_reduce
    sm_80   reduce x, y = shuffle
    sm_90a  reduce x, y = shuffle
reduce.py:column_sum
    sm_80   copy X, x = cp.async | reduce x, y = shuffle
    sm_90a  copy X, x = tma | reduce x, y = shuffle
cumsum.py
    sm_80   scan x, x = scan
    sm_90a  scan x, x = scan
cumsum.py N=256 block_M=16
    sm_80   scan x, x = scan
    sm_90a  scan x, x = scan
gemm.py:gemm dtype=float16
    sm_80   copy A, A_s = cp.async | copy B, B_s = cp.async | gemm A_s, B_s, C_l = mma.sync by mma.m16n8k16.f32.f16.f16
    sm_90a  copy A, A_s = tma | copy B, B_s = tma | gemm A_s, B_s, C_l = wgmma by wgmma, m64n
gemm.py:gemm dtype=bfloat16
    sm_80   copy A, A_s = cp.async | gemm A_s, B_s, C_l = mma.sync by mma.m16n8k16.f32.bf16.bf16
    sm_90a  copy A, A_s = tma | gemm A_s, B_s, C_l = wgmma
gemm.py:gemm dtype=float32
    sm_80   gemm A_s, B_s, C_l = mma.sync by mma.m16n8k8.f32.tf32.tf32, 2 x 2 warps
    sm_90a  gemm A_s, B_s, C_l = mma.sync by mma.m16n8k8.f32.tf32.tf32, 2 x 2 warps
gemm_eager.py M=512 N=512 K=512
    sm_80   gemm A_s, B_s, C_l = mma.sync by mma.m16n8k8.f32.tf32.tf32, high and low parts
    sm_90a  gemm A_s, B_s, C_l = mma.sync by mma.m16n8k8.f32.tf32.tf32, high and low parts
gemm.py:gemm_nt dtype=float16
    sm_80   copy A, A_s = cp.async | copy B, B_s = cp.async | gemm A_s, B_s, C_l = mma.sync
    sm_90a  copy A, A_s = tma | copy B, B_s = tma | gemm A_s, B_s, C_l = wgmma
gemm.py:gemm_nt M=3 N=37 K=165 dtype=bfloat16
    sm_90a  reduce P, S = shuffle
gemm.py:gemm M=37 N=3 K=165 dtype=bfloat16
    sm_90a  reduce P, S = shuffle
gemm.py:gemm_relu dtype=float16
    sm_80   copy A, A_s = cp.async | copy B, B_s = cp.async | gemm A_s, B_s, C_l = mma.sync
    sm_90a  copy A, A_s = tma | copy B, B_s = tma | gemm A_s, B_s, C_l = wgmma
gemm_dynamic.py dtype=float16 block_N=128 block_K=64
    sm_80   copy A, A_s = cp.async, up to 16 bytes | copy B, B_s = cp.async, up to 16 bytes | gemm A_s, B_s, C_l = mma.sync by mma.m16n8k16.f32.f16.f16
    sm_90a  copy A, A_s = tma | copy B, B_s = tma | gemm A_s, B_s, C_l = wgmma
gemm_splitk.py dtype=float16
    sm_80   copy B, B_s = cp.async | gemm A_s, B_s, C_l = mma.sync
    sm_90a  copy B, B_s = tma | gemm A_s, B_s, C_l = wgmma
gemv.py
    sm_80   copy A, A_s = cp.async | copy x, x_s = cp.async | reduce part, row = shuffle
    sm_90a  copy A, A_s = tma | copy x, x_s = bulk | reduce part, row = shuffle
dequant_gemm.py
    sm_80   copy W, W_s = cp.async | gemm A_s, B_s, C_l = mma.sync
    sm_90a  gemm A_s, B_s, C_l = wgmma
convolution.py
    sm_80   gemm data_s, kernel_s, out_l = mma.sync
    sm_90a  gemm data_s, kernel_s, out_l = mma.sync
convolution.py dtype=float16
    sm_80   gemm data_s, kernel_s, out_l = mma.sync
    sm_90a  gemm data_s, kernel_s, out_l = wgmma
convolution.py:convolution_im2col
    sm_80   copy kernel, kernel_s = cp.async | gemm data_s, kernel_s, out_l = mma.sync
    sm_90a  im2col data, data_s = tma, im2col boxes of the image | copy kernel, kernel_s = tma | gemm data_s, kernel_s, out_l = wgmma
flash_attention.py dtype=float16
    sm_80   copy K, K_s = cp.async | copy V, V_s = cp.async | gemm Q_s, K_s, scores = mma.sync | gemm P, V_s, acc = mma.sync by mma.m16n8k16.f32.f16.f16, A in registers | reduce scores, row_max = shuffle | reduce scores, row_sum = shuffle
    sm_90a  copy Q, Q_s = tma | copy K, K_s = tma | copy V, V_s = tma | gemm Q_s, K_s, scores = wgmma by wgmma, m64n128k16 ss | gemm P, V_s, acc = wgmma by wgmma, m64n64k16 rs | reduce scores, row_max = shuffle
flash_decoding.py
    sm_80   copy K, k_s = cp.async | copy V, v_s = cp.async | reduce product, score = shuffle | reduce product, acc = shuffle | reduce peaks, top = shuffle
    sm_90a  copy K, k_s = tma | copy V, v_s = tma | reduce product, score = shuffle | reduce product, acc = shuffle
linear_attention.py dtype=float16
    sm_80   gemm q, state_s, out = mma.sync | gemm q, k, scores = mma.sync | gemm weights, v, out = mma.sync | gemm k, v, state = mma.sync
    sm_90a  copy Q, q = tma | copy K, k = tma | copy V, v = tma | gemm q, state_s, out = wgmma | gemm k, v, state = wgmma | copy state, state_s = stmatrix
mamba_chunk_scan.py dtype=float16
    sm_80   gemm C_s, S_s, acc = mma.sync | gemm C_s, B_s, cb = mma.sync | gemm weights, X_s, acc = mma.sync by mma.m16n8k16.f32.f16.f16, A in registers
    sm_90a  gemm C_s, S_s, acc = wgmma | gemm C_s, B_s, cb = wgmma | gemm weights, X_s, acc = wgmma by wgmma, m64n64k16 rs
flash_attention_backward.py S=512 D=128 dtype=bfloat16
    sm_80   gemm K_s, Q_s, p = mma.sync | gemm P, dO_s, dv = mma.sync by mma.m16n8k16.f32.bf16.bf16, A in registers
    sm_90a  copy Q, Q_s = tma | copy LSE, LSE_s = bulk | copy dO, dO_s = tma | gemm K_s, Q_s, p = wgmma | gemm P, dO_s, dv = wgmma by wgmma, m64n128k16 rs | gemm dS, Q_s, dk = wgmma by wgmma, m64n128k16 rs | gemm dS_s, K_s, dq = wgmma | copy dS, dS_s = stmatrix
mla_decode.py dtype=bfloat16
    sm_90a  copy KV, KV_s = tma | copy K_rope, Kr_s = tma | gemm Q_s, KV_s, scores = wgmma | gemm P_s, KV_s, acc = wgmma by wgmma, m64n256k16
paged_attention.py:paged_decode
    sm_90a  copy K, K_s = tma | copy V, V_s = tma | gemm Q_s, K_s, scores = wgmma | gemm P, V_s, acc = wgmma by wgmma, m64n128k16 rs
paged_attention.py:varlen_prefill D=128
    sm_90a  copy Q, Q_s = tma | copy K, K_s = tma | copy V, V_s = tma | gemm Q_s, K_s, scores = wgmma | gemm P, V_s, acc = wgmma
grouped_gemm.py
    sm_90a  copy A, A_s = tma | copy B, B_s = tma | gemm A_s, B_s, C_l = wgmma
cumsum.py:cumsum_long N=4096
    sm_80   reduce x, total = shuffle | scan total, before = scan, 32 lanes | scan x, x = scan, 32 lanes
    sm_90a  reduce x, total = shuffle | scan total, before = scan, 32 lanes | scan x, x = scan, 32 lanes
cross_entropy.py
    sm_90a  reduce x, each = shuffle | reduce top, row_max = shuffle
norm_quant.py
    sm_90a  reduce square, part = shuffle | reduce x, peak = shuffle
moe_routing.py:gate experts=256 k=8
    sm_90a  reduce part, top = shuffle | reduce part_at, best = shuffle
gated_linear_attention.py:forward
    sm_90a  copy Q, a_s = tma | copy V, c_s = tma | copy g, g_s = bulk | scan steps, steps = scan | gemm a_s, state_s, acc = wgmma | gemm weights, c_s, acc = wgmma by wgmma, m64n64k16 rs | gemm b_s, decayed, state = wgmma
gated_delta.py:gdn
    sm_80   copy W, W_s = cp.async | gemm K_s, K_s, scores = mma.sync | gemm W_s, state_s, u = mma.sync
    sm_90a  gemm K_s, K_s, scores = wgmma | gemm inverse, keys_s, w = wgmma | copy W, W_s = tma | copy G, G_s = bulk | gemm W_s, state_s, u = wgmma | gemm weights, u_s, out = wgmma by wgmma, m64n64k16 rs | gemm K_s, left_s, state = wgmma
gated_delta.py:kda D=128 DV=128
    sm_90a  scan sums_s, sums_s = scan | gemm keys_s, rows_s, scores = wgmma | gemm inverse, keys_s, w = wgmma | copy near, near_s = tma | copy whole, decay_s = bulk | gemm near_s, u_s, out = wgmma | gemm K_s, u_s, state = wgmma
sparse_mla.py:sparse_mla
    sm_90a  gemm Q_s, KV_s, scores = wgmma | gemm P_s, KV_s, acc = wgmma by wgmma, m64n256k16
sparse_mla.py:backward
    sm_90a  copy Q, Q_s = tma | copy dO, dO_s = tma | gemm Q_s, KV_s, p = wgmma | copy ds, dS_s = stmatrix | gemm dS_s, KV_s, dq = wgmma by wgmma, m64n256k16 ss | gemm dS_s, Kr_s, dqr = wgmma | gemm P_s, dO_s, dkv = wgmma by wgmma, m64n64k16 ss | gemm dS_s, Qr_s, dkr = wgmma
sparse_mla.py:indexer
    sm_90a  copy K, K_s = tma | gemm K_s, Q_s, scores = wgmma | reduce apart, total = shuffle
w4a16_gemm.py:w4a16_gemm
    sm_80   gemm B_l, A_s, C_l = mma.sync by mma.m16n8k16.f32.f16.f16, A in registers
    sm_90a  copy W, W_s = bulk | copy S, S_s = bulk | copy A, A_s = tma | gemm B_l, A_s, C_l = wgmma by wgmma, m64n16k16 rs
w4a16_gemm.py:few_rows
    sm_80   copy A, A_s = cp.async | gemm B_l, A_s, part = mma.sync by mma.m16n8k16.f32.f16.f16, A in registers
    sm_90a  copy W, W_s = bulk | copy S, S_s = bulk | copy A, A_s = tma | gemm B_l, A_s, part = wgmma by wgmma, m64n16k16 rs
w4a8_gemm.py
    sm_80   copy A, A_s = cp.async | gemm B_l, A_s, C_l = mma.sync by mma.m16n8k32.s32.s8.s8, A in registers
    sm_90a  copy W, W_s = bulk | copy A, A_s = tma | gemm B_l, A_s, C_l = wgmma by wgmma, m64n16k32 rs | copy C_s, C = tma
test/kernel/gemm_operands.py:bytes_a
    sm_80   gemm a, b, c = mma.sync by mma.m16n8k32.s32.s8.s8, A in registers
    sm_90a  gemm a, b, c = wgmma by wgmma, m64n48k32 rs
test/kernel/gemm_operands.py:bytes_a dtype=float8_e4m3fn acc=float32
    sm_90a  gemm a, b, c = wgmma by wgmma, m64n48k32 rs
fused_moe.py
    sm_80   copy X, A_s = cp.async | copy gate, G_s = cp.async | gemm A_s, G_s, G_l = mma.sync
    sm_90a  copy X, A_s = tma | copy up, U_s = tma | gemm A_s, G_s, G_l = wgmma | gemm A_s, U_s, U_l = wgmma | gemm A_s, B_s, C_l = wgmma by wgmma, m64n256k16 ss
gemm_fp8_scaled.py ahead=True
    sm_90a  copy A, A_s = tma | copy B, B_s = tma | gemm A_s, B_s, even = wgmma by wgmma, m64n128k32 ss | gemm A_s, B_s, odd = wgmma by wgmma, m64n128k32 ss | copy C_out_0, C = tma
gemm_fp8_scaled.py
    sm_90a  copy A, A_s = tma | gemm A_s, B_s, even = wgmma by wgmma, m64n128k32 ss
nsa.py:selected
    sm_80   copy K, K_s = cp.async | gemm Q_s, K_s, scores = mma.sync | gemm P, V_s, acc = mma.sync by mma.m16n8k16.f32.f16.f16, A in registers
    sm_90a  copy K, K_s = tma | copy V, V_s = tma | gemm Q_s, K_s, scores = wgmma | reduce scores, peak = shuffle | gemm P, V_s, acc = wgmma by wgmma, m64n64k16 rs
nsa.py:decode
    sm_90a  copy K, K_s = tma | copy V, V_s = tma | gemm Q_s, K_s, scores = wgmma | gemm P, V_s, acc = wgmma by wgmma, m64n64k16 rs
test/gpu/annotated.py:product M=100 N=104 bm=96 bn=96 bk=48
    sm_80   copy A, a = cp.async | gemm a, b, c = mma.sync by mma.m16n8k16.f32.f16.f16, 2 x 2 warps of 48 x 48
    sm_90a  copy A, a = tma | gemm a, b, c = mma.sync
test/gpu/annotated.py:product M=40 N=56 bm=24 bn=40 bk=16
    sm_80   copy A, a = cp.async | gemm a, b, c = mma.sync
    sm_90a  copy A, a = tma | gemm a, b, c = mma.sync
test/gpu/annotated.py:product M=161 N=190 bm=160 bn=192 bk=32
    sm_80   copy A, a = cp.async | gemm a, b, c = mma.sync by mma.m16n8k16.f32.f16.f16, 2 x 2 warps of 80 x 96
    sm_90a  gemm a, b, c = mma.sync
test/gpu/annotated.py:product M=64 N=96 bm=64 bn=48 threads=96
    sm_80   copy A, a = cp.async | gemm a, b, c = mma.sync by mma.m16n8k16.f32.f16.f16, 1 x 3 warps of 64 x 16
    sm_90a  copy A, a = cp.async | gemm a, b, c = mma.sync
test/gpu/annotated.py:product M=128 N=160 K=80 bm=128 bn=160 bk=40 threads=160
    sm_80   gemm a, b, c = mma.sync by mma.m16n8k8.f32.f16.f16, 1 x 5 warps of 128 x 32
    sm_90a  gemm a, b, c = mma.sync by mma.m16n8k8.f32.f16.f16, 1 x 5 warps of 128 x 32
test/gpu/annotated.py:product M=70 N=64 bm=64 bn=64 safe=1
    sm_80   copy A, a = plain | copy B, b = cp.async | gemm a, b, c = mma.sync
    sm_90a  copy A, a = plain | gemm a, b, c = wgmma
test/gpu/annotated.py:product M=64 N=64 bm=64 bn=64 bk=32 blocks=2
    sm_80   copy A, a = cp.async | gemm a, b, c = mma.sync
    sm_90a  copy A, a = tma | gemm a, b, c = wgmma
test/gpu/annotated.py:swizzled
    sm_80   copy A, s = plain | s = shared float16[64, 64], layout[64, 64] (i, j) -> (i, i % 8 ^ j // 8, j % 8) "swizzle 128B"
    sm_90a  copy A, s = tma | s = shared float16[64, 64], layout[64, 64] (i, j) -> (i, i % 8 ^ j // 8, j % 8) "swizzle 128B"
test/kernel/boxes_alone.py:tile
    sm_80   copy A, a = plain | copy a, B = plain
    sm_90a  copy A, a = tma, a bulk copy that one thread issues | copy a, B = tma
test/kernel/boxes_alone.py:rounds
    sm_80   copy A, a = plain
    sm_90a  copy A, a = tma, a bulk copy that one thread issues
test/kernel/boxes_alone.py:flat
    sm_80   copy rows, a = plain
    sm_90a  copy rows, a = tma | copy a, out = tma
test/kernel/boxes_alone.py:sometimes
    sm_80   copy A, a = plain
    sm_90a  copy A, a = tma, a bulk copy that one thread issues: it stands alone under a condition
test/kernel/boxes_alone.py:staged
    sm_80   copy A, a = plain | copy C, c = plain
    sm_90a  copy A, a = tma, a bulk copy that one thread issues: one stage | copy C, c = tma
test/kernel/boxes_alone.py:products
    sm_80   copy A, a = plain | gemm a, b, c = mma.sync
    sm_90a  copy A, a = tma | copy B, b = tma | gemm a, b, c = mma.sync | copy c, s = stmatrix | copy s, C = tma
test/kernel/boxes_alone.py:stacked
    sm_80   copy A, a = plain | copy a, B = plain
    sm_90a  copy A, a = tma | copy a, B = tma
test/kernel/boxes_alone.py:in_place
    sm_80   copy A, a = plain
    sm_90a  copy A, a = tma | copy a, B = plain, the kernel reads the tensor as well | copy B, b = plain, the kernel writes the tensor as well
test/kernel/boxes_alone.py:turned dtype=float16
    sm_80   copy A, s = plain
    sm_90a  copy A, s = plain, padded rows are read with fewer bank conflicts
test/kernel/boxes_alone.py:declined
    sm_80   copy A, a = plain | copy a, B = plain
    sm_90a  copy A, a = plain, the kernel asks for no bulk copy | copy a, B = plain, the kernel asks for no bulk copy
test/kernel/boxes_alone.py:declined how=sync
    sm_80   copy A, a = plain | copy a, B = plain
    sm_90a  copy A, a = plain, the kernel asks for no bulk copy | copy a, B = plain, the kernel asks for no bulk copy
test/kernel/boxes_alone.py:declined how=tma
    sm_80   copy A, a = plain | copy a, B = plain
    sm_90a  copy A, a = tma | copy a, B = tma
test/kernel/runs.py:vector
    sm_80   copy A, s = plain | copy s, B = plain
    sm_90a  copy A, s = bulk | copy s, B = bulk
test/kernel/runs.py:vector n=1000
    sm_80   copy A, s = plain | copy s, B = plain
    sm_90a  copy A, s = tma | copy s, B = tma
test/kernel/runs.py:rows
    sm_80   copy A, s = plain
    sm_90a  copy A, s = bulk | copy s, B = bulk
test/kernel/runs.py:rows M=70
    sm_80   copy A, s = plain
    sm_90a  copy A, s = plain, a stride of the tensor is not known to be a multiple of 16 bytes
test/kernel/runs.py:ring
    sm_80   copy A, s = cp.async
    sm_90a  copy A, s = bulk, one run of memory, by the producer into pipeline 1
test/kernel/runs.py:deep
    sm_80   copy A, s = plain
    sm_90a  copy A, s = bulk | copy s, B = tma
"""


def plans(tl, kernel, knobs, arch):
    words = [kernel, *knobs, "-q", "--target", "cuda -arch=" + arch]
    p = subprocess.run([tl, "dump", *words, "--plans"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    found, said = {}, p.stderr
    for line in p.stdout.splitlines():
        m = re.match(r"  (\w[\w, ]*?)(?: \(line \d+\))?: (.*)", line)
        if m:
            found.setdefault(m.group(1), m.group(2))
    if kernel.startswith("test/"):
        p = subprocess.run([tl, "build", *words, "--check-each", "--check-text", "--source"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True, timeout=120)
        if p.returncode:
            return {}, p.stderr
    return found, said


def main():
    tl, kernel, knobs, passed, failed = sys.argv[1], None, [], 0, 0
    for line in TABLE.strip("\n").splitlines():
        if not line.startswith(" "):
            kernel, *knobs = line.split()
            kernel = kernel if "/" in kernel else "examples/" + kernel
            continue
        arch, rest = line.split(None, 1)
        found, said = plans(tl, kernel, knobs, arch)
        bad = ["%s is '%s', not %s" % (op, found.get(op, "not there"), how)
               for op, how in (x.strip().split(" = ") for x in rest.split("|")) if not found.get(op, "").startswith(how)]
        passed += not bad
        failed += bool(bad)
        for b in bad:
            print("FAIL %s %s on %s: %s %s" % (kernel, " ".join(knobs), arch, b, said[:200]))
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
