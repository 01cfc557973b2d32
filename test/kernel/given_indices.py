# Rows that a pipelined loop gathers by indices and masks which it works out first, in fragments.
# verify: :gather
# verify: :gather stages=3 D=48
# verify: :gather n=3 dtype=float32
# verify: :chained
# verify: :stays
# verify: :twice
# verify: :brought
# verify: :brought n=3 shared=True
import tilelang.language as T


def gather(n=4, stages=2, D=64, dtype="float16"):
    """A mask and a clamped index; both are used again by other nests."""

    @T.prim_func
    def main(I: T.Tensor((2, n * 16), "int32"), A: T.Tensor((50, D), dtype), B: T.Tensor((2, 16, D), "float32"),
             C: T.Tensor((2, 16), "int32")):
        with T.Kernel(2, threads=128) as bx:
            s = T.alloc_shared((16, D), dtype)
            mask, at = T.alloc_fragment((16,), "bool"), T.alloc_fragment((16,), "int32")
            acc, seen = T.alloc_fragment((16, D), "float32"), T.alloc_fragment((16,), "int32")
            T.clear(acc)
            T.clear(seen)
            for k in T.Pipelined(n, num_stages=stages):
                for i in T.Parallel(16):
                    mask[i] = I[bx, k * 16 + i] > 0
                for i in T.Parallel(16):
                    at[i] = T.max(T.min(I[bx, k * 16 + i], 49), 0)
                for i, j in T.Parallel(16, D):
                    s[i, j] = T.if_then_else(mask[i], A[at[i], j], 0)
                for i, j in T.Parallel(16, D):
                    acc[i, j] += T.if_then_else(mask[i], T.cast(s[i, j], "float32"), -1.0)
                for i in T.Parallel(16):
                    seen[i] += at[i]
            T.copy(acc, B[bx, 0, 0])
            T.copy(seen, C[bx, 0])

    return main


def chained(n=4, D=64):
    """An index of an index; one is rewritten after it was used."""

    @T.prim_func
    def main(I: T.Tensor((n * 16,), "int32"), J: T.Tensor((64,), "int32"), A: T.Tensor((50, D), "float16"),
             B: T.Tensor((16, D), "float32")):
        with T.Kernel(1, threads=64) as bx:
            s, t = T.alloc_shared((16, D), "float16"), T.alloc_shared((16, D), "float16")
            page, at = T.alloc_fragment((16,), "int32"), T.alloc_fragment((16,), "int32")
            acc = T.alloc_fragment((16, D), "float32")
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=2):
                first = k * 16
                for i in T.Parallel(16):
                    page[i] = T.max(T.min(I[first + i], 63), 0)
                for i in T.Parallel(16):
                    at[i] = T.max(T.min(J[page[i]], 49), 0)
                for i, j in T.Parallel(16, D):
                    s[i, j] = A[at[i], j]
                for i in T.Parallel(16):
                    at[i] = T.min(page[i], 49 - k)
                for i, j in T.Parallel(16, D):
                    t[i, j] = A[at[i], j]
                for i, j in T.Parallel(16, D):
                    acc[i, j] += T.cast(s[i, j], "float32") - T.cast(t[i, j], "float32") * 3
            T.copy(acc, B)

    return main


def stays(n=4, D=64):
    """Indices that the loop itself changes, or carries: the copy is one of its iteration."""

    @T.prim_func
    def main(I: T.Tensor((16,), "int32"), A: T.Tensor((64, D), "float16"), B: T.Tensor((16, D), "float32"),
             O: T.Tensor((16,), "int32")):
        with T.Kernel(1, threads=64) as bx:
            s, t = T.alloc_shared((16, D), "float16"), T.alloc_shared((16, D), "float16")
            at, next = T.alloc_fragment((16,), "int32"), T.alloc_fragment((16,), "int32")
            acc = T.alloc_fragment((16, D), "float32")
            T.clear(acc)
            for i in T.Parallel(16):
                at[i] = T.max(T.min(I[i], 31), 0)
                O[i] = 1
            for k in T.Pipelined(n, num_stages=2):
                for i, j in T.Parallel(16, D):
                    s[i, j] = A[at[i], j]
                for i in T.Parallel(16):
                    at[i] = at[i] + 1
                for i in T.Parallel(16):
                    next[i] = O[i] + k
                for i, j in T.Parallel(16, D):
                    t[i, j] = A[next[i], j]
                for i in T.Parallel(16):
                    O[i] = next[i]
                for i, j in T.Parallel(16, D):
                    acc[i, j] += T.cast(s[i, j], "float32") + T.cast(t[i, j], "float32") * 2
            T.copy(acc, B)

    return main


def twice(n=4, D=64):
    """The tile is filled again later in the iteration, and a part of the fragment is rewritten."""

    @T.prim_func
    def main(I: T.Tensor((n * 16,), "int32"), A: T.Tensor((50, D), "float16"), B: T.Tensor((16, D), "float32")):
        with T.Kernel(1, threads=64) as bx:
            s, t = T.alloc_shared((16, D), "float16"), T.alloc_shared((16, D), "float16")
            at = T.alloc_fragment((16,), "int32")
            acc = T.alloc_fragment((16, D), "float32")
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=2):
                for i in T.Parallel(16):
                    at[i] = T.max(T.min(I[k * 16 + i], 49), 0)
                for i, j in T.Parallel(16, D):
                    s[i, j] = A[at[i], j]
                for i, j in T.Parallel(16, D):
                    acc[i, j] += T.cast(s[i, j], "float32")
                for i in T.Parallel(16):
                    if i < 5:
                        at[i] = k
                for i, j in T.Parallel(16, D):
                    s[i, j] = A[at[i], j]
                for i, j in T.Parallel(16, D):
                    t[i, j] = A[at[15 - i], j]
                for i, j in T.Parallel(16, D):
                    acc[i, j] += T.cast(s[i, j], "float32") * 2 - T.cast(t[i, j], "float32")
            T.copy(acc, B)

    return main


def brought(n=4, D=64, shared=False):
    """Indices that T.copy brings, of the last iteration some past the end of their tensor."""

    @T.prim_func
    def main(I: T.Tensor((2, n * 16 - 3), "int32"), A: T.Tensor((50, D), "float16"), B: T.Tensor((2, 16, D), "float32")):
        with T.Kernel(2, threads=64) as bx:
            s = T.alloc_shared((16, D), "float16")
            at = T.alloc_shared((16,), "int32") if shared else T.alloc_fragment((16,), "int32")
            acc = T.alloc_fragment((16, D), "float32")
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=2):
                T.copy(I[bx, k * 16], at)
                for i, j in T.Parallel(16, D):
                    s[i, j] = T.if_then_else(at[i] >= 0, A[T.min(T.max(at[i], 0), 49), j], 0)
                for i, j in T.Parallel(16, D):
                    acc[i, j] += T.cast(s[i, j], "float32")
            T.copy(acc, B[bx, 0, 0])

    return main
