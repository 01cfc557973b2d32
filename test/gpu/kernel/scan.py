# Scans of tiles in registers and in shared memory, for test/gpu/reduce.sh.
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def scan(M=16, N=64, threads=128, dim=1, reverse=False, most=False, shared=False, twice=False,
         dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((M, N), dtype)):
        with T.Kernel(1, threads=threads) as bx:
            if shared:
                x = T.alloc_shared((M, N), dtype)
            else:
                x = T.alloc_fragment((M, N), dtype)
            y = T.alloc_fragment((M, N), dtype)
            T.copy(A, x)
            if most:
                T.cummax(x, y, dim=dim, reverse=reverse)
            else:
                T.cumsum(x, y, dim=dim, reverse=reverse)
            if twice:
                T.cumsum(y, dim=1 - dim)
            T.copy(y, B)

    return main
