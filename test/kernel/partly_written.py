# Tiles of which something writes a part: later nests read both.
# verify: :partly
# verify: :partly N=16 W=8 step=5
# verify: :partly N=13 W=3 dtype=int16
# verify: :first_row
# verify: :first_row rows=5 whole=True
# verify: :first_row dtype=float16 whole=True
import tilelang
import tilelang.language as T


# A nest writes some elements of what took a copy.
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


# A copy into the first row of a fragment, which is all that its nest has.
@tilelang.jit
def first_row(rows=7, cols=4, dtype="float32", whole=False):
    @T.prim_func
    def main(A: T.Tensor((13, 7), "float32"), R: T.Tensor((rows,), "float32"), F: T.Tensor((rows, cols), dtype)):
        with T.Kernel(1, threads=128):
            s = T.alloc_shared((13, 7), "float32")
            f = T.alloc_fragment((rows, cols), dtype)
            r = T.alloc_shared((rows,), "float32")
            T.copy(A, s)
            for i, j in T.Parallel(rows, cols):
                f[i, j] = s[(j * 6 + 4) % 13, (i + 3) % 7]
            if whole:
                T.copy(A[6:7, 0:cols], f[0:1, 0:cols])
            else:
                T.copy(s[6:7, 0:cols], f[0:1, 0:cols])
            T.reduce_sum(f, r, dim=-1)
            T.copy(r, R)
            T.copy(f, F)

    return main
