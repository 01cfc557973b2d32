# Reductions of tiles in registers and in shared memory, for test/gpu/reduce.sh.
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def rows(M=16, N=64, threads=128, op="sum", dtype="float32", out="float32", clear=True, dim=1):
    K = N if dim == 0 else M

    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((K,), out)):
        with T.Kernel(1, threads=threads) as bx:
            x = T.alloc_fragment((M, N), dtype)
            y = T.alloc_fragment((K,), out)
            T.copy(A, x)
            T.fill(y, 3)
            if op == "sum":
                T.reduce_sum(x, y, dim=dim, clear=clear)
            elif op == "max":
                T.reduce_max(x, y, dim=dim, clear=clear)
            elif op == "absmax":
                T.reduce_absmax(x, y, dim=dim, clear=clear)
            elif op == "min":
                T.reduce_min(x, y, dim=dim, clear=clear)
            T.copy(y, B)

    return main


@tilelang.jit(out_idx=[-1])
def flat(N=64, threads=128, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((1,), dtype)):
        with T.Kernel(1, threads=threads) as bx:
            x = T.alloc_fragment((N,), dtype)
            y = T.alloc_fragment((1,), dtype)
            T.copy(A, x)
            T.reduce_sum(x, y, dim=0)
            T.copy(y, B)

    return main


@tilelang.jit(out_idx=[-1])
def shared(M=16, N=64, threads=128, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((M,), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            x = T.alloc_shared((M, N), dtype)
            y = T.alloc_shared((M,), "float32")
            T.copy(A, x)
            T.reduce_sum(x, y, dim=1)
            T.copy(y, B)

    return main
