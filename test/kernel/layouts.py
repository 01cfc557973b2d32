# Annotated layouts change where elements lie, not what they are.
# verify: :swizzled M=64 N=64
# verify: :swizzled M=40 N=70
# verify: :own M=32 N=32
# verify: :padded M=24 N=40
# verify: :fragments M=32 N=32
# verify: :rows_by_turn
# verify: :rows_by_turn parts=2 D=40
# verify: :halves
# verify: :halves M=24 N=80
# verify: :repeated
import tilelang
import tilelang.language as T


from tilelang.layout import make_swizzled_layout


@tilelang.jit
def swizzled(M=64, N=64, b=32):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float16"), Y: T.Tensor((N, M), "float16")):
        with T.Kernel(T.ceildiv(N, b), T.ceildiv(M, b), threads=64) as (bx, by):
            s = T.alloc_shared((b, b), "float16")
            T.annotate_layout({s: make_swizzled_layout(s)})
            T.copy(X[by * b, bx * b], s)
            for i, j in T.Parallel(b, b):
                if bx * b + i < N and by * b + j < M:
                    Y[bx * b + i, by * b + j] = s[j, i]

    return main


@tilelang.jit
def own(M=32, N=32):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((M, N), "float32")
            T.annotate_layout({s: T.Layout((M, N), lambda i, j: i * N + (j + i) % N)})
            T.copy(X, s)
            for i, j in T.Parallel(M, N):
                Y[i, j] = s[j, i]

    return main


@tilelang.jit
def padded(M=24, N=40):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((M, N), "float32")
            T.annotate_layout({s: T.Layout((M, N), lambda i, j: i * (N + 3) + j)})
            T.copy(X, s)
            T.copy(s, Y)

    return main


@tilelang.jit
def fragments(M=32, N=32):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            f = T.alloc_fragment((M, N), "float32")
            y = T.alloc_fragment((M,), "float32")
            T.annotate_layout({f: T.Fragment((M, N), forward_thread_fn=lambda i, j: i, forward_index_fn=lambda i, j: j)})
            T.copy(X, f)
            T.reduce_sum(f, y, dim=1)
            T.copy(y, Y)

    return main


# The loop's variable chooses rows of a fragment: each turn runs where its rows are.
@tilelang.jit
def rows_by_turn(BS=32, D=48, parts=4):
    @T.prim_func
    def main(X: T.Tensor((BS, D), "float32"), Y: T.Tensor((BS, D), "float32")):
        with T.Kernel(1, threads=128) as b:
            f = T.alloc_fragment((BS, D), "float32")
            h = T.alloc_shared((BS // parts, D), "float32")
            T.copy(X, f)
            for s in T.serial(parts):
                n = s * 2 + 1
                for i, j in T.Parallel(BS, D):
                    if i < BS // parts:
                        h[i, j] = f[i + s * (BS // parts), j] * n
                for i, j in T.Parallel(BS // parts, D):
                    Y[s * (BS // parts) + i, j] = h[BS // parts - 1 - i, j] + s
            for s in T.serial(2):
                for i, j in T.Parallel(BS // 2, D):
                    f[i + s * (BS // 2), j] = f[i + s * (BS // 2), j] + s
            for i, j in T.Parallel(BS, D):
                Y[i, j] = Y[i, j] + f[i, j]

    return main


# Two numbers of each byte, made by the thread that holds the byte.
@tilelang.jit
def halves(M=32, N=128):
    @T.prim_func
    def main(X: T.Tensor((M, N // 2), "uint8"), S: T.Tensor((M, N // 16), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as b:
            s = T.alloc_shared((M, N // 2), "uint8")
            f = T.alloc_fragment((M, N // 2), "uint8")
            g = T.alloc_fragment((M, N), "float32")
            T.copy(X, s)
            T.copy(s, f)
            for i, j in T.Parallel(M, N):
                g[i, j] = T.cast((f[i, j // 2] >> (j % 2 * 4)) & 15, "float32") * S[i, j // 16]
            T.copy(g, Y)

    return main


# The columns of a tile again and again, beside each other.
@tilelang.jit
def repeated(M=16, N=32, times=4):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N * times), "float32")):
        with T.Kernel(1, threads=128) as b:
            f = T.alloc_fragment((M, N), "float32")
            g = T.alloc_fragment((M, N * times), "float32")
            T.copy(X, f)
            for i, j in T.Parallel(M, N * times):
                g[i, j] = f[i, j % N] + j // N
            T.copy(g, Y)

    return main
