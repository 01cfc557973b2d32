# Two warpgroups share 64 columns: the part of each is half a panel of B.
# target: cuda -arch=sm_90a
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((128, 64), "float16"), B: T.Tensor((128, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=256):
        a = T.alloc_shared((128, 64), "float16")
        b = T.alloc_shared((128, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.copy(A, a)
        T.copy(B, b)
        T.wgmma_gemm(a, b, c, transpose_A=True, clear_accum=True)  # warning: ignored
        T.wait_wgmma(0)
        T.copy(c, C)
