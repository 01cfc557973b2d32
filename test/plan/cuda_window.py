# Windows of a fragment written from accumulators: every window lies as they do, nothing is converted or replicated.
# run: --target="cuda -arch=sm_90a"
# expect: whole: fragment float32[64, 64], fragment[64, 64] threads 256 (i, j) -> thread i % 8 * 4 + j // 8 * 32 + j // 2 % 4, slot
# refuse: layout conversion
# refuse: replicated
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 16), "float16"), B: T.Tensor((16, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=256) as bx:
        a = T.alloc_shared((16, 16), "float16")
        b = T.alloc_shared((16, 64), "float16")
        whole = T.alloc_fragment((64, 64), "float32")
        part = T.alloc_fragment((16, 64), "float32")
        T.copy(B, b)
        for s in T.serial(4):
            T.copy(A[s * 16, 0], a)
            T.gemm(a, b, part, clear_accum=True, policy=T.GemmWarpPolicy.FullRow)
            for i, k in T.Parallel(16, 64):
                whole[s * 16 + i, k] = part[i, k] * 2
        for i, k in T.Parallel(64, 64):
            C[i, k] = whole[i, k] + i
