"""T.im2col: the patches of an NHWC image, with zeros around it."""
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((2, 5, 6, 4), "float32"), Y: T.Tensor((64, 36), "float32")):
    with T.Kernel(4, 3, threads=64) as (bx, by):
        col = T.alloc_shared((16, 12), "float32")
        T.im2col(X, col, bx, by, 3, 1, 1, 1)
        T.copy(col, Y[bx * 16, by * 12])


@T.prim_func
def reference(X: T.Tensor((2, 5, 6, 4), "float32"), Y: T.Tensor((64, 36), "float32")):
    with T.Kernel(1, threads=64) as bx:
        for r, q in T.grid(64, 36):
            Y[r, q] = 0
            n = r // 30
            h = r // 6 % 5 + q // 12 - 1
            w = r % 6 + q // 4 % 3 - 1
            if n < 2 and h >= 0 and h < 5 and w >= 0 and w < 6:
                Y[r, q] = X[n, h, w, q % 4]
