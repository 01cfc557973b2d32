# Tensors over addresses: of elements of a tensor, found while the kernel runs.
# verify: :window
# verify: :chosen
import tilelang
import tilelang.language as T


@tilelang.jit
def window(n=16, m=4):
    @T.prim_func
    def main(A: T.Tensor((m * n,), "float32"), B: T.Tensor((m, n), "float32")):
        with T.Kernel(m, threads=32) as bx:
            row = T.make_tensor(T.address_of(A[bx * n]), (n,), "float32")
            s = T.alloc_shared((n,), "float32")
            T.copy(row, s)
            T.copy(s, B[bx, 0])

    return main


@tilelang.jit
def chosen(n=16):
    @T.prim_func
    def main(A: T.Tensor((2, n), "float32"), B: T.Tensor((4, n), "float32")):
        with T.Kernel(4, threads=32) as bx:
            which = T.alloc_var("int32")
            which = bx % 2
            row = T.make_tensor(T.address_of(A[which, 0]), (n,), "float32")
            for i in T.Parallel(n):
                B[bx, i] = row[i] * 2

    return main
