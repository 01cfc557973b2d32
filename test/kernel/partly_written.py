# A tile that takes a copy, of which a nest then writes some elements only: later nests read both.
# verify:
# verify: N=16 W=8 step=5
# verify: N=13 W=3 dtype=int16
import tilelang
import tilelang.language as T


@tilelang.jit
def partly(N=13, W=1, step=3, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((N, W), dtype), B: T.Tensor((16, 16), "float32"), R: T.Tensor((N, W), dtype), S: T.Tensor((16, 16), "float32")):
        with T.Kernel(1, threads=128):
            t = T.alloc_fragment((N, W), dtype)
            s = T.alloc_shared((16, 16), "float32")
            c = T.alloc_fragment((16, 16), "float32")
            T.copy(A, t)
            for i, j in T.Parallel(N, W):
                if i % step == 0:
                    t[i, j] = 6 - t[i, j]
            for i, j in T.Parallel(N, W):
                t[i, j] = j - t[i, j]
            T.copy(B, s)
            for i, j in T.Parallel(16, 16):
                c[i, j] = s[i, j] * 2.0
            T.copy(c, S)
            T.copy(t, R)

    return main
