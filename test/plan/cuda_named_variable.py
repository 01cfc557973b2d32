# A variable that gets one value is a name for it: a store starts inside of its tensor, and goes in bulk.
# run: --target="cuda -arch=sm_90a"
# expect: copy s, C (line 21): tma
# expect: copy s, D (line 22): tma, a box of the tensor, by threads where it starts before that
import tilelang
import tilelang.language as T


@tilelang.jit
def rows(M=256, N=256):
    @T.prim_func
    def main(A: T.Tensor((M, N), "bfloat16"), S: T.Tensor((4,), "int32"), C: T.Tensor((4, M, N), "bfloat16"),
             D: T.Tensor((4, M, N), "bfloat16")):
        with T.Kernel(4, threads=128) as bx:
            s = T.alloc_shared((64, N), "bfloat16")
            start = T.alloc_var("int32")
            start = bx * 32
            other = T.alloc_var("int32")
            other = S[bx]
            T.copy(A[start, 0], s)
            T.copy(s, C[bx, start, 0])
            T.copy(s, D[bx, other, 0])

    return main
