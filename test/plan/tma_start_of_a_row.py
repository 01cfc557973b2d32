# A TMA tile whose rows start at no multiple of 16 bytes is an illegal instruction: no bulk copy there.
# run: --target="cuda -arch=sm_90a"
# refuse: copy B, b: tma
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 128), "float16"), B: T.Tensor((64, 128), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        a = T.alloc_shared((64, 64), "float16")
        b = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.clear(c)
        for k in T.Pipelined(2, num_stages=2):
            T.copy(A[0, k * 64], a)
            T.copy(B[0, k * 60], b)
            T.gemm(a, b, c)
        T.copy(c, C)
