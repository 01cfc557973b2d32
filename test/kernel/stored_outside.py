# What lies outside of the tensor is not stored, so what a tile never got is not read for it.
# verify: :by_copy
# verify: :by_store
# verify: :by_atomic
import tilelang
import tilelang.language as T


@tilelang.jit
def by_copy(N=13):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, 4), threads=32) as bx:
            s = T.alloc_shared((4,), "float32")
            for i in T.serial(4):
                if bx * 4 + i < N:
                    s[i] = X[bx * 4 + i]
            T.copy(s, Y[bx * 4])

    return main


@tilelang.jit
def by_store(N=13):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, 4), threads=32) as bx:
            s = T.alloc_shared((4,), "float32")
            for i in T.serial(4):
                if bx * 4 + i < N:
                    s[i] = X[bx * 4 + i]
            for i in T.Parallel(4):
                Y[bx * 4 + i] = s[i] * 2

    return main


@tilelang.jit
def by_atomic(N=13):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, 4), threads=32) as bx:
            f = T.alloc_fragment((4,), "float32")
            for i in T.Parallel(4):
                if bx * 4 + i < N:
                    f[i] = X[bx * 4 + i]
            T.atomic_add(Y[bx * 4], f)

    return main
