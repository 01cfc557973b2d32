# Running sums and maxima: dims, directions, in place, types.
# verify: :scan op=cumsum dim=0
# verify: :scan op=cumsum dim=1
# verify: :scan op=cumsum dim=0 reverse=True
# verify: :scan op=cumsum dim=1 reverse=True
# verify: :scan op=cummax dim=0
# verify: :scan op=cummax dim=1 reverse=True
# verify: :scan op=cumsum dim=1 scope=shared
# verify: :scan op=cumsum dim=0 scope=shared inplace=True
# verify: :scan op=cummax dim=1 inplace=True
# verify: :scan op=cumsum dim=1 dtype=float16
# verify: :scan op=cumsum dim=0 dtype=int32
# verify: :scan op=cummax dim=0 dtype=int8
# verify: :scan op=cumsum dim=1 M=1 N=1
# verify: :scan op=cumsum dim=1 M=24 N=97
# verify: :line N=1
# verify: :line N=100
# verify: :line N=257 reverse=True
import tilelang
import tilelang.language as T


@tilelang.jit
def scan(M=17, N=33, op="cumsum", dim=0, reverse=False, inplace=False, scope="fragment", dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_shared((M, N), dtype) if scope == "shared" else T.alloc_fragment((M, N), dtype)
            y = T.alloc_shared((M, N), dtype) if scope == "shared" else T.alloc_fragment((M, N), dtype)
            T.copy(X, x)
            if inplace:
                getattr(T, op)(x, dim=dim, reverse=reverse)
                T.copy(x, Y)
            else:
                getattr(T, op)(x, y, dim=dim, reverse=reverse)
                T.copy(y, Y)

    return main


@tilelang.jit
def line(N=100, reverse=False):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_shared((N,), "float32")
            T.copy(X, x)
            T.cumsum(x, reverse=reverse)
            T.copy(x, Y)

    return main
