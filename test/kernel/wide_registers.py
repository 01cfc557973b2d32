# verify: :padded
# verify: :above
# verify: :scaled
# verify: :pairs dtype=bfloat16
# verify: :pairs dtype=float16
# verify: :pairs_in_registers dtype=bfloat16
# verify: :in_place dtype=bfloat16
# verify: :in_place dtype=float16
import tilelang
import tilelang.language as T


@tilelang.jit
def padded(H=6, W=10, C=64):
    """Rows and columns past the edge count as zero; indices divide."""

    @T.prim_func
    def main(X: T.Tensor((H, W, C), "float16"), K: T.Tensor((3, 3, C), "float16"), Y: T.Tensor((H, W, C), "float16")):
        with T.Kernel(H, threads=32) as h:
            acc = T.alloc_fragment((W, C), "float32")
            T.clear(acc)
            for r, s in T.grid(3, 3):
                for i, c in T.Parallel(W, C):
                    y = h + r - 1
                    x = i + s - 1
                    acc[i, c] += T.if_then_else((y >= 0) & (y < H) & (x >= 0) & (x < W),
                                                X[y, x, c].astype("float32") * K[r, s, c].astype("float32"), 0.0)
            T.copy(acc, Y[h, 0, 0])

    return main


@tilelang.jit
def above(M=4, N=512):
    """A choice by elements of registers."""

    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), least: T.Tensor((M,), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(M, threads=64) as b:
            x = T.alloc_fragment((N,), "float32")
            bound = T.alloc_var("float32", 0.0)
            T.copy(X[b, 0:N], x)
            bound = least[b]
            for j in T.Parallel(N):
                Y[b, j] = T.if_then_else(x[j] >= bound, x[j], 0.0)

    return main


@tilelang.jit
def scaled(M=64, N=64):
    """A number for each row does not keep the rows from going by 16 bytes."""

    @T.prim_func
    def main(B: T.Tensor((M, N), "int8"), S: T.Tensor((M,), "float16"), C: T.Tensor((M, N), "float16")):
        with T.Kernel(1, threads=128):
            s = T.alloc_shared((M, N), "int8")
            f = T.alloc_fragment((M, N), "int8")
            g = T.alloc_fragment((M, N), "float16")
            T.copy(B, s)
            T.copy(s, f)
            for i, j in T.Parallel(M, N):
                g[i, j] = f[i, j].astype("float16") * S[i]
            T.copy(g, C)

    return main


@tilelang.jit
def pairs(M=32, N=64, dtype="bfloat16"):
    """Sums and products of 16-bit floats, two at a time where there are such instructions."""

    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M, N), dtype), Z: T.Tensor((M, N), dtype)):
        with T.Kernel(1, threads=64):
            for i, j in T.Parallel(M, N):
                x = X[i, j]
                y = Y[i, j]
                Z[i, j] = x * y + x - T.cast(T.cast(y, "float32") * 3.0, dtype) * T.cast(0.5, dtype)

    return main


@tilelang.jit
def pairs_in_registers(M=32, N=64, dtype="bfloat16"):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), S: T.Tensor((M,), dtype), Z: T.Tensor((M, N), dtype)):
        with T.Kernel(1, threads=64):
            x = T.alloc_fragment((M, N), dtype)
            y = T.alloc_fragment((M, N), dtype)
            T.copy(X, x)
            for i, j in T.Parallel(M, N):
                y[i, j] = x[i, j] * S[i] - x[i, j]
            T.copy(y, Z)

    return main


@tilelang.jit
def in_place(N=1024, dtype="bfloat16"):
    """Elements that change where they lie, each by itself; and one that reads its neighbour."""

    @T.prim_func
    def main(X: T.Tensor((N,), dtype), S: T.Tensor((N // 8,), dtype), Z: T.Tensor((N,), dtype), P: T.Tensor((N,), dtype)):
        with T.Kernel(1, threads=32) as b:
            tx = T.get_thread_binding()
            x = T.alloc_local((8,), dtype)
            p = T.alloc_local((9,), dtype)
            for i in T.serial(N // 256):
                at = i * 32 + tx
                for v in T.vectorized(8):
                    x[v] = X[at * 8 + v]
                for v in T.vectorized(8):
                    x[v] = x[v] * S[at]
                for v in T.vectorized(8):
                    Z[at * 8 + v] = x[v]
                p[0] = S[at]
                for v in T.serial(8):
                    p[v + 1] = p[v] * x[v]
                for v in T.vectorized(8):
                    P[at * 8 + v] = p[v + 1]

    return main
