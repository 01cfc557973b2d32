"""Nothing outside of a tensor is read or written: each tensor ends where a page that nobody may touch
begins."""

import ctypes
import mmap
import os
import subprocess
import sys

import numpy as np
import tilelang
import tilelang.language as T

PAGE = mmap.PAGESIZE
libc = ctypes.CDLL(None, use_errno=True)
M, N = T.dynamic("M"), T.dynamic("N")


def fenced(shape, dtype="float32", value=None):
    """An array between two pages without access, its last byte before the second one."""
    nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = (nbytes + PAGE - 1) // PAGE * PAGE
    m = mmap.mmap(-1, room + 2 * PAGE)
    base = ctypes.addressof(ctypes.c_char.from_buffer(m))
    for at in (base, base + PAGE + room):
        assert libc.mprotect(ctypes.c_void_p(at), ctypes.c_size_t(PAGE), 0) == 0
    a = np.frombuffer(m, dtype, int(np.prod(shape)), PAGE + room - nbytes).reshape(shape)
    if value is not None:
        a[...] = value
    return a


def copied(A, B, form, bm=64, bk=128, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor(A, dtype), Y: T.Tensor(B, dtype), n: T.int32):
        with T.Kernel(T.ceildiv(B[0], bm), threads=128) as bx:
            if form == "slices":
                T.copy(X[bx * bm : bx * bm + bm, 0:bk], Y[bx * bm : bx * bm + bm, 0:bk])
            elif form == "starts":
                T.copy(X[bx * bm, 0], Y[bx * bm : bx * bm + bm, 0:bk])
            elif form == "count":
                T.copy(X[bx * bm : bx * bm + n, 0:bk], Y[bx * bm : bx * bm + n, 0:bk])
            elif form == "shifted":
                T.copy(X[bx * bm + 3 : bx * bm + bm + 3, 0:bk], Y[bx * bm : bx * bm + bm, 0:bk])
            elif form == "nest":
                for i, j in T.Parallel(bm, bk):
                    Y[bx * bm + i, j] = X[bx * bm + i, j]
            elif form == "named":
                for i, j in T.Parallel(bm, bk):
                    v = X[bx * bm + i, j]
                    Y[bx * bm + i, j] = v * 2 - v
            elif form == "under":
                for i, j in T.Parallel(bm, bk):
                    if bx * bm + i < n:
                        Y[bx * bm + i, j] = X[bx * bm + i, j]
            elif form == "chosen":
                for i, j in T.Parallel(bm, bk):
                    Y[bx * bm + i, j] = T.if_then_else(bx * bm + i < n, X[bx * bm + i, j], 0)
            elif form == "shared":
                s = T.alloc_shared((bm, bk), dtype)
                T.copy(X[bx * bm, 0], s)
                T.copy(s, Y[bx * bm, 0])
            elif form == "fragment":
                s = T.alloc_fragment((bm, bk), dtype)
                T.copy(X[bx * bm, 0], s)
                T.copy(s, Y[bx * bm, 0])
            elif form == "vectors":
                for i in T.serial(bm):
                    for j in T.vectorized(bk):
                        Y[bx * bm + i, j] = X[bx * bm + i, j]

    return main


FORMS = "slices starts count shifted nest named under chosen shared fragment vectors".split()


def wanted(form, x, rows, n, bm=64):
    out = np.full((rows, x.shape[1]), -7, x.dtype)
    for r in range(rows):
        from_row = r + 3 if form == "shifted" else r
        if form == "count" and r % bm >= n or form == "under" and r >= n:
            continue
        inside = from_row < len(x) and not (form == "chosen" and r >= n)
        out[r] = x[from_row] if inside else 0
    return out


def check_copies(target):
    for dtype in ("float32", "float16"):
        for form in FORMS:
            for shapes in (((M, 128), (M, 128)), ((N, 128), (M, 128))):
                k = tilelang.compile(copied(*shapes, form, dtype=dtype), target=target)
                for rows in (1, 63, 65, 130):
                    same = shapes[0][0] is shapes[1][0]
                    have = rows if same else max(rows - 2, 1)
                    x = fenced((have, 128), dtype)
                    x[...] = np.arange(have * 128).reshape(have, 128) % 100
                    y = fenced((rows, 128), dtype, -7)
                    n = min(have, 40)
                    k(x, y, n)
                    if not (y == wanted(form, x, rows, n)).all():
                        print("wrong:", target, dtype, form, rows, have)
                        return 1
    return 0


def check_products(target):
    @T.prim_func
    def main(A: T.Tensor((M, 60), "float16"), B: T.Tensor((60, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 64), threads=128) as (bx, by):
            a = T.alloc_shared((64, 32), "float16")
            b = T.alloc_shared((32, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            for k in T.Pipelined(3, num_stages=2):
                T.copy(A[by * 64, k * 32], a)
                T.copy(B[k * 32, bx * 64], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * 64, bx * 64])

    k = tilelang.compile(main, target=target)
    for m, n in ((1, 1), (65, 33), (64, 100), (37, 64)):
        a, b = fenced((m, 60), "float16"), fenced((60, n), "float16")
        a[...] = np.random.default_rng(0).integers(-4, 5, a.shape)
        b[...] = np.random.default_rng(1).integers(-4, 5, b.shape)
        c = fenced((m, n), "float32", -1)
        k(a, b, c)
        if not (c == a.astype("float32") @ b.astype("float32")).all():
            print("wrong product:", target, m, n)
            return 1
    return 0


def in_another_process(what, target):
    """What a kernel touches beyond its tensors ends the process."""
    words = [sys.executable, os.path.abspath(__file__), what, target]
    got = subprocess.run(words, capture_output=True, text=True, env=dict(os.environ))
    assert got.returncode == 0, (what, target, got.returncode, got.stdout[-500:], got.stderr[-800:])


def test_copies_keep_to_their_tensors():
    in_another_process("copies", "cpu")


def test_copies_keep_to_their_tensors_with_narrower_vectors():
    in_another_process("copies", "cpu -mcpu=x86-64-v2")


def test_products_keep_to_their_tensors():
    for target in ("cpu", "cpu -mcpu=x86-64-v2"):
        in_another_process("products", target)


def test_a_fence_stops_a_read():
    got = subprocess.run([sys.executable, os.path.abspath(__file__), "past"], capture_output=True)
    assert got.returncode < 0 or b"AddressSanitizer: SEGV" in got.stderr


if __name__ == "__main__":
    if sys.argv[1] == "past":
        ctypes.string_at(fenced((8,)).ctypes.data + 32, 1)
    sys.exit({"copies": check_copies, "products": check_products}[sys.argv[1]](sys.argv[2]))
