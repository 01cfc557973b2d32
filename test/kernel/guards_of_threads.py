# Guards of tensors whose index is a sum with the thread: known for copies of the loop's body.  Conditions and lengths
# of loops read nothing outside either.
# verify: :main
# verify: :main N=1000
# verify: :main N=96 step=32
# verify: :lengths
import tilelang
import tilelang.language as T


@tilelang.jit
def main(M=3, N=128, step=64, threads=64):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(M, threads=threads) as bx:
            tx = T.get_thread_binding()
            for k in T.serial(8):
                i = k * step + tx
                if A[bx, i] > 0:
                    B[bx, i] = A[bx, i] * 2
                else:
                    B[bx, i] = 1

    return main


@tilelang.jit
def lengths(N=5, M=8):
    @T.prim_func
    def main(L: T.Tensor((N,), "int32"), B: T.Tensor((M,), "int32")):
        with T.Kernel(M, threads=32) as bx:
            n = T.alloc_var("int32", init=0)
            for i in T.serial(L[bx] & 7):
                n += 1
            while n < L[bx + 2] % 8:
                n += 2
            B[bx] = n

    return main
