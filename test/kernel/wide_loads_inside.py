# A tile in shared memory is renewed by the threads that hold a replicated fragment; one of them writes, and what all
# of them read at once before stays within the tile.
# verify:
# verify: R=16 C=64
# verify: R=40 C=256 threads=256
import tilelang
import tilelang.language as T


@tilelang.jit
def renewed(R=21, C=192, threads=128):
    @T.prim_func
    def main(X: T.Tensor((R, C), "float16"), Y: T.Tensor((C,), "float16"), Z: T.Tensor((C,), "float32")):
        with T.Kernel(1, threads=threads):
            x = T.alloc_fragment((R, C), "float16")
            total = T.alloc_fragment((C,), "float32")
            s = T.alloc_shared((C,), "float16")
            T.copy(X, x)
            T.reduce_abssum(x, total, dim=0)
            T.reduce_abssum(x, s, dim=0)
            for i in T.Parallel(C):
                s[i] = T.min(s[i] * T.cast(total[i], "float16"), s[i])
            T.copy(total, Z)
            T.copy(s, Y)

    return main
