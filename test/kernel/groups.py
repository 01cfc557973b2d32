# Loops over several groups of elements, with one scale each.
# verify: :scales
# verify: :scales N=5 K=192 group=48
# verify: :scales N=3 K=96 group=40
# verify: :scales N=3 K=64 group=8
# verify: :turned
# verify: :turned K=256 group=32 shift=32
# verify: :turned K=256 group=32 shift=5
# verify: :two_groups
import tilelang
import tilelang.language as T


@tilelang.jit
def scales(N=7, K=256, group=64):
    @T.prim_func
    def main(
        W: T.Tensor((N, K), "int8"),
        S: T.Tensor((N, T.ceildiv(K, group)), "float32"),
        C: T.Tensor((N, K), "float32"),
    ):
        with T.Kernel(1, threads=64) as _:
            w = T.alloc_shared((N, K), "int8")
            s = T.alloc_shared((N, T.ceildiv(K, group)), "float32")
            c = T.alloc_fragment((N, K), "float32")
            T.copy(W, w)
            T.copy(S, s)
            for i, j in T.Parallel(N, K):
                c[i, j] = T.cast(w[i, j], "float32") * s[i, j // group]
            T.copy(c, C)

    return main


@tilelang.jit
def turned(K=128, group=64, shift=0):
    """Places in a group, and a start that is not the first of one."""
    @T.prim_func
    def main(X: T.Tensor((K + shift,), "float32"), G: T.Tensor((group,), "float32"), C: T.Tensor((K,), "float32")):
        with T.Kernel(1, threads=64) as _:
            g = T.alloc_shared((group,), "float32")
            T.copy(G, g)
            for j in T.Parallel(K):
                C[j] = X[j + shift] * g[(j + shift) % group] + T.cast((j + shift) // group, "float32")

    return main


@tilelang.jit
def two_groups(K=256):
    @T.prim_func
    def main(X: T.Tensor((K,), "float32"), S: T.Tensor((4,), "float32"), Z: T.Tensor((8,), "float32"), C: T.Tensor((K,), "float32")):
        with T.Kernel(1, threads=64) as _:
            s = T.alloc_shared((4,), "float32")
            z = T.alloc_shared((8,), "float32")
            T.copy(S, s)
            T.copy(Z, z)
            for j in T.Parallel(K):
                C[j] = X[j] * s[j // 64] + z[j // 32]

    return main
