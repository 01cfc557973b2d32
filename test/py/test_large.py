"""Tensors of more than 2^31 elements: every index is exact.  Only the pages that are touched exist."""

import numpy as np
import tilelang
import tilelang.language as T
from check import raises

R, C = 70000, 40000  # 2.8e9 elements
ROW = 60000  # ROW * C is beyond 2^31
LONG = 3_000_000_000
TARGETS = ("cpu", "sim -arch=sm_80", "sim -arch=sm_90a")


def large(shape=(R, C), dtype="uint8"):
    return np.zeros(shape, dtype)


def each(func, make, want, targets=TARGETS):
    """make() -> arguments, the last one is compared with want."""
    for target in targets:
        args = make()
        tilelang.compile(func, target=target)(*args)
        assert (np.asarray(args[-1]) == want).all(), (target, args[-1])


def filled(shape=(R, C)):
    a = large(shape)
    a.reshape(R, C)[ROW : ROW + 4, 64:96] = np.arange(1, 129).reshape(4, 32)
    return a


TILE = np.arange(1, 129).reshape(4, 32)


def test_constant_indices():
    @T.prim_func
    def main(A: T.Tensor((R, C), "uint8"), S: T.Tensor((3,), "int32")):
        with T.Kernel(1, threads=32):
            S[0] = T.cast(A[ROW, 64], "int32")
            S[1] = T.cast(A[ROW - R, 65 - C], "int32")
            for i in T.serial(ROW, ROW + 1):
                S[2] = T.cast(A[i, 66], "int32")

    each(main, lambda: (filled(), np.zeros(3, "int32")), [1, 2, 3])


def test_unrolled_and_named():
    @T.prim_func
    def main(A: T.Tensor((R * C,), "uint8"), n: T.int32, S: T.Tensor((8,), "int32")):
        with T.Kernel(1, threads=32):
            row = n * 2
            off = row * C
            for j in T.unroll(4):
                S[j] = T.cast(A[(ROW + j) * C + 64], "int32")
                S[4 + j] = T.cast(A[off + j * C + 64], "int32")

    want = [1, 33, 65, 97] * 2
    each(main, lambda: (filled((R * C,)), ROW // 2, np.zeros(8, "int32")), want)


def test_stores_and_atomics():
    @T.prim_func
    def main(V: T.Tensor((4, 32), "int32"), A: T.Tensor((R, C), "int32")):
        with T.Kernel(1, threads=32):
            t = T.alloc_fragment((4, 32), "int32")
            T.copy(V, t)
            T.atomic_add(A[ROW, 64], t)
            T.copy(t, A[ROW, 128])
            A[ROW + 9, 5] = 3

    for target in ("cpu",):
        a = large(dtype="int32")
        tilelang.compile(main, target=target)(TILE.astype("int32"), a)
        assert (a[ROW : ROW + 4, 64:96] == TILE).all() and (a[ROW : ROW + 4, 128:160] == TILE).all()
        assert a[ROW + 9, 5] == 3


def test_copies():
    for rows in (R, T.dynamic("M")):

        @T.prim_func
        def main(A: T.Tensor((rows, C), "uint8"), S: T.Tensor((8, 32), "uint8")):
            with T.Kernel(1, threads=32):
                t = T.alloc_shared((4, 32), "uint8")
                T.copy(A[ROW, 64], t)
                T.copy(t, S[0:4, 0:32])
                T.copy(A[ROW : ROW + 4, 64:96], S[4:8, 0:32])

        each(main, lambda: (filled(), np.zeros((8, 32), "uint8")), np.concatenate([TILE, TILE]))


def test_products():
    @T.prim_func
    def main(A: T.Tensor((R, C), "int8"), B: T.Tensor((32, 32), "int8"), S: T.Tensor((32, 32), "int32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((32, 32), "int8")
            b = T.alloc_shared((32, 32), "int8")
            c = T.alloc_fragment((32, 32), "int32")
            T.copy(A[ROW, 64], a)
            T.copy(B, b)
            T.clear(c)
            T.gemm(a, b, c)
            T.copy(c, S)

    rng = np.random.default_rng(0)
    x, y = (rng.integers(-9, 9, (32, 32)).astype("int8") for _ in range(2))

    def make():
        a = large(dtype="int8")
        a[ROW : ROW + 32, 64:96] = x
        return a, y, np.zeros((32, 32), "int32")

    each(main, make, x.astype(int) @ y.astype(int))


def test_views_and_gathers():
    @T.prim_func
    def main(A: T.Tensor((R, C), "uint8"), I: T.Tensor((4,), "int32"), S: T.Tensor((8,), "int32")):
        with T.Kernel(1, threads=32):
            V = T.reshape(A, (R * C,))
            for i in T.Parallel(4):
                S[i] = T.cast(V[ROW * C + 64 + i], "int32")
                S[4 + i] = T.cast(V[I[i] * C + 64], "int32")

    rows = np.arange(ROW, ROW + 4, dtype="int32")
    each(main, lambda: (filled(), rows, np.zeros(8, "int32")), [1, 2, 3, 4, 1, 33, 65, 97])


def test_one_long_dimension():
    last = (LONG - 4) // (1 << 20)

    @T.prim_func
    def main(A: T.Tensor((LONG,), "uint8"), S: T.Tensor((8,), "int32")):
        with T.Kernel(T.ceildiv(LONG, 1 << 20), threads=128) as bx:
            if bx == last:
                for i in T.Parallel(4):
                    S[i] = T.cast(A[bx * (1 << 20) + (LONG - 4) % (1 << 20) + i], "int32")
                for i in T.serial((LONG - 4) % (1 << 20), (LONG - 4) % (1 << 20) + 8):
                    if bx * (1 << 20) + i < LONG:
                        S[4 + (bx * (1 << 20) + i) % 4] = T.cast(A[bx * (1 << 20) + i], "int32")

    def make():
        a = large((LONG,))
        a[-4:] = 1, 2, 3, 4
        return a, np.zeros(8, "int32")

    each(main, make, [1, 2, 3, 4, 1, 2, 3, 4], ("cpu",))


def test_strides_and_dimensions_of_the_call():
    M, N, st = T.dynamic("M"), T.dynamic("N"), T.dynamic("st")
    L = T.dynamic("L", "int64")

    @T.prim_func
    def rows(A: T.StridedTensor((M, N), (st, 1), "uint8"), S: T.Tensor((32,), "int32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(32):
                S[i] = T.cast(A[ROW, 64 + i], "int32")

    @T.prim_func
    def short(A: T.Tensor((N,), "uint8"), S: T.Tensor((4,), "int32")):
        with T.Kernel(T.ceildiv(N, 1 << 20), threads=32) as bx:
            for i in T.Parallel(4):
                S[i] = T.cast(A[bx * (1 << 20) + i], "int32")

    @T.prim_func
    def long(A: T.Tensor((L,), "uint8"), S: T.Tensor((4,), "int32")):
        with T.Kernel(T.ceildiv(L, 1 << 20), threads=32) as bx:
            if bx == T.ceildiv(L, 1 << 20) - 1:
                for i in T.Parallel(4):
                    S[i] = T.cast(A[bx * (1 << 20) + i], "int32")

    each(rows, lambda: (filled()[:, :100], np.zeros(32, "int32")), TILE[0])
    a = large((LONG,))
    start = (LONG - 1) // (1 << 20) * (1 << 20)
    a[start : start + 4] = 1, 2, 3, 4
    with raises(Exception, "3000000000 (= N) is more than an int32 holds", "[dim-too-large]"):
        tilelang.compile(short, target="cpu")(a, np.zeros(4, "int32"))
    each(long, lambda: (a, np.zeros(4, "int32")), [1, 2, 3, 4], ("cpu",))


def test_workspaces():
    @T.prim_func
    def main(S: T.Tensor((4,), "int32")):
        W = T.alloc_global((3, 720_000_000), "uint8")
        with T.Kernel(3, threads=32) as bx:
            for i in T.Parallel(4):
                W[bx, 719_999_990 + i] = T.cast(bx + i, "uint8")
        with T.Kernel(1, threads=32):
            for i in T.Parallel(4):
                S[i] = T.cast(W[2, 719_999_990 + i], "int32")

    each(main, lambda: (np.zeros(4, "int32"),), [2, 3, 4, 5], ("cpu",))


def test_the_text_for_a_gpu():
    @T.prim_func
    def main(A: T.Tensor((R, C), "uint8"), S: T.Tensor((4,), "int32")):
        with T.Kernel(R // 4, threads=32) as bx:
            for i in T.Parallel(4):
                S[i] = T.cast(A[bx * 4 + i, 5], "int32") + T.cast(A[ROW, i], "int32")

    for arch in ("sm_80", "sm_90a"):
        text = tilelang.compile(main, target="cuda -arch=" + arch).get_kernel_source()
        assert "2400000000LL" in text and "-1894967296" not in text
        assert "(int64_t)bx * 160000" in text, text[-900:]


def test_coordinates_of_boxes_are_int32():
    @T.prim_func
    def main(A: T.Tensor((LONG, 64), "uint8"), S: T.Tensor((LONG, 64), "uint8")):
        with T.Kernel(T.ceildiv(LONG, 64), threads=128) as bx:
            t = T.alloc_shared((64, 64), "uint8")
            T.copy(A[bx * 64, 0], t)
            T.copy(t, S[bx * 64, 0])

    text = tilelang.compile(main, target="cuda -arch=sm_90a").get_kernel_source()
    assert "tl_tma" not in text.split("---- kernels ----")[1]


def test_forms_of_an_index():
    """Sums that leave 32 bits, inside of what an index may be made of."""
    forms = (
        lambda A, r, j: A[T.max(r * C + j, 7)],
        lambda A, r, j: A[T.min(r * C + j, R * C - 1)],
        lambda A, r, j: A[T.clamp(r * C + j, 0, R * C - 1)],
        lambda A, r, j: A[T.if_then_else(j >= 0, r * C + j, 0)],
        lambda A, r, j: A[T.Select(r % 2 == 0, r * C + j, (r - 1) * C + C + j)],
        lambda A, r, j: A[(r * C * 2 + j * 2) // 2],
        lambda A, r, j: A[(r * C + j) % (R * C)],
        lambda A, r, j: A[(r * C * 4 + j * 4) >> 2],
        lambda A, r, j: A[T.truncdiv(r * C * 3 + j * 3, 3)],
        lambda A, r, j: A[-(-r * C) + j],
        lambda A, r, j: A[((r * C + j) ^ 1) ^ 1],
        lambda A, r, j: A[T.abs(r * C + j)],
        lambda A, r, j: A[(r * (C // 64) << 6) + j],
    )

    def kernel(form):
        @T.prim_func
        def main(A: T.Tensor((R * C,), "uint8"), S: T.Tensor((4, 32), "uint8")):
            with T.Kernel(R, threads=32) as r:
                if r >= ROW and r < ROW + 4:
                    for j in T.Parallel(32):
                        S[r - ROW, j] = form(A, r, j + 64)

        return main

    a = filled((R * C,))
    for form in forms:
        got = np.zeros((4, 32), "uint8")
        tilelang.compile(kernel(form), target="cpu")(a, got)
        assert (got == TILE).all(), got


def test_flat_over_open_extents():
    """As many blocks as a product of two extents says that leaves 32 bits."""
    M, N = T.dynamic("M, N")
    part = 65536

    @T.prim_func
    def main(X: T.Tensor((M, N), "int8"), S: T.Tensor((3,), "int64")):
        with T.Kernel(T.ceildiv(M * N, part), threads=128) as b:
            if b * part >= M * N - part:
                for i in T.Parallel(part):
                    at = b * part + i
                    if at < M * N:
                        X[at // N, at % N] = 1
                S[0] = b
                S[1] = b * part
            if b == 0:
                S[2] = M * N

    for m, n in ((300, 500), (46342, 46342), (3, 1000000007)):
        x, s = large((m, n), "int8"), np.zeros(3, "int64")
        tilelang.compile(main, target="cpu")(x, s)
        last = (m * n - 1) // part
        assert s.tolist() == [last, last * part, m * n], s
        assert x.reshape(-1)[last * part :].all() and not x.reshape(-1)[last * part - 1]


def test_numbers_of_open_extents():
    N = T.dynamic("N")

    @T.prim_func
    def main(A: T.Tensor((N,), "int64"), B: T.Tensor((N,), "float64"), C: T.Tensor((N,), "int32")):
        with T.Kernel(N, threads=32) as b:
            A[b] = T.max(b * N, 5) + N * N
            B[b] = T.cast(b * N, "float64")
            C[b] = b * N // 100000

    n = 70000
    i = np.arange(n)
    a, b, c = np.zeros(n, "int64"), np.zeros(n), np.zeros(n, "int32")
    tilelang.compile(main, target="cpu")(a, b, c)
    assert (a == np.maximum(i * n, 5) + n * n).all() and (b == i * n).all() and (c == i * n // 100000).all()
