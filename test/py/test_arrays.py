"""Arrays of all makers as arguments."""

import sys
import types

import numpy as np

import tilelang
import tilelang.language as T
from check import raises


def copying(dtype="float32", n=8, out_idx=None):
    @T.prim_func
    def main(A: T.Tensor((n,), dtype), B: T.Tensor((n,), dtype)):
        with T.Kernel(1, threads=32):
            T.copy(A, B)

    return tilelang.compile(main, out_idx=out_idx, target="c")


class Array:
    """Speaks DLPack only."""

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def __dlpack__(self, **keys):
        return self.array.__dlpack__(**keys)


class Old(Array):
    def __dlpack__(self):
        return self.array.__dlpack__()


class Negated(Array):
    def is_neg(self):
        return True


class Refuses(Array):
    def __dlpack__(self, **keys):
        raise BufferError("not today")


def test_capsules():
    kernel = copying(out_idx=[1])
    x = np.arange(8, dtype="float32")
    for given in (x.__dlpack__(), Array(x), Old(x)):
        assert (kernel(given) == x).all()
    capsule = x.__dlpack__()
    assert (kernel(capsule) == kernel(capsule)).all()  # it is only looked into
    with raises(BufferError, "not today"):
        kernel(Refuses(x))


def test_read_only():
    kernel = copying()
    x = np.arange(8, dtype="float32")
    fixed = x.copy()
    fixed.flags.writeable = False
    kernel(fixed, x)
    with raises(ValueError, "'B'", "read-only"):
        kernel(x, fixed)
    if tuple(map(int, np.__version__.split(".")[:2])) >= (2, 1):
        with raises(ValueError, "'B'", "read-only"):
            kernel(x, Array(fixed))

    class Cuda:
        __cuda_array_interface__ = {"shape": (8,), "typestr": "<f4", "data": (4096, True),
                                    "version": 3, "strides": None}

    with raises(ValueError, "'B'", "read-only"):
        kernel(x, Cuda())


def test_jax():
    """Its arrays never change: they are not written, and come back as outputs."""
    Jax = type("ArrayImpl", (Array,), {"__module__": "jaxlib.xla_extension"})
    before = sys.modules.get("jax")
    sys.modules["jax"] = types.SimpleNamespace(
        numpy=types.SimpleNamespace(asarray=lambda x: Jax(x)))
    try:
        x = np.arange(8, dtype="float32")
        got = copying(out_idx=[1])(Jax(x))
        assert type(got) is Jax and (got.array == x).all()
        with raises(ValueError, "'B'", "out_idx"):
            copying()(x, Jax(x.copy()))
    finally:
        if before is None:
            del sys.modules["jax"]
        else:
            sys.modules["jax"] = before


def test_dtypes_that_are_not_taken():
    kernel = copying(out_idx=[1])
    x = np.arange(8)
    for kind in (">f4", "complex64", "longdouble"):
        with raises(TypeError, "'A'", "float32", str(np.dtype(kind))):
            kernel(x.astype(kind))


def test_packed():
    x = np.arange(4, dtype="uint8") * 17
    assert (copying("int4", out_idx=[1])(x.view("int8")).view("uint8") == x).all()
    try:
        import ml_dtypes
    except ImportError:
        return
    with raises(TypeError, "a byte for each"):
        copying("int4", out_idx=[1])(np.ones(8, ml_dtypes.int4))
    y = np.arange(8).astype(ml_dtypes.float8_e5m2)
    assert (copying("float8_e5m2", out_idx=[1])(y).view("u1") == y.view("u1")).all()


def test_sizes_of_none():
    M = T.dynamic("M")

    @T.prim_func
    def main(A: T.Tensor((M, 4), "float32"), B: T.Tensor((M, 4), "float32")):
        with T.Kernel(T.ceildiv(M, 8), threads=32) as b:
            for i, j in T.Parallel(8, 4):
                B[b * 8 + i, j] = A[b * 8 + i, j] + 1

    for target in ("c", "sim -arch=sm_80"):
        kernel = tilelang.compile(main, out_idx=[1], target=target)
        assert kernel(np.zeros((0, 4), "float32")).shape == (0, 4)
        assert (kernel(np.zeros((3, 4), "float32")) == 1).all()


def test_shapes_are_told_in_names():
    M = T.dynamic("M")

    @T.prim_func
    def main(A: T.Tensor((M, 4), "float32"), B: T.Tensor((M * 2, T.ceildiv(M, 3)), "float32")):
        with T.Kernel(1):
            B[0, 0] = A[0, 0]

    assert main.params[0].shape == ["M", 4]
    assert [eval(n, {"M": 7}) for n in main.params[1].shape] == [14, 3]


def pair():
    @T.prim_func
    def main(A: T.Tensor((4,), "float32"), s: T.float32, B: T.Tensor((4,), "float32"),
             C: T.Tensor((4,), "int32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(4):
                B[i] = A[i] * s
                C[i] = 7

    return main


def test_outputs_come_as_they_were_named():
    x = np.arange(4, dtype="float32")
    for out_idx, first in (([2, 3], 0), ([3, 2], 7), ([-1, -2], 7), ((-2, -1), 0)):
        got = tilelang.compile(pair(), out_idx=out_idx, target="c")(x, 2.0)
        assert got[0][0] == first and got[0].dtype == ("int32" if first else "float32"), out_idx


def test_arguments_of_eager_kernels():
    @tilelang.jit(target="c")
    def turned(A):
        N, M = T.const("N, M")
        A: T.Tensor((N, M), "float32")
        B = T.empty((M, N), "float32")
        C = T.empty((N,), "int32")
        with T.Kernel(1, threads=32):
            for i, j in T.Parallel(N, M):
                B[j, i] = A[i, j]
            T.fill(C, 7)
        return C, B

    x = np.arange(6, dtype="float32").reshape(2, 3)
    for _ in range(2):  # before there is a kernel, and after
        with raises(ValueError, "'A' is (3,)", "argument-rank"):
            turned(x[0])
        with raises(TypeError, "'A'", "list"):
            turned([[1.0]])
        c, b = turned(x)
        assert list(c) == [7, 7] and (b == x.T).all()


def test_views_that_turn_signs_are_refused():
    a, b = np.ones(8, "float32"), np.zeros(8, "float32")
    k = copying()
    for args in (Negated(a), b), (a, Negated(b)):
        with raises(ValueError, "argument-sign"):
            k(*args)
    assert not b.any()


def test_masks_are_refused():
    class Measured(np.ma.MaskedArray):
        pass

    class OnGpu:
        __cuda_array_interface__ = {"shape": (8,), "typestr": "<f4", "data": (4096, False), "version": 3, "mask": b"12345678"}

    a, b = np.ones(8, "float32"), np.zeros(8, "float32")
    k = copying()
    masked = np.ma.array(a, mask=[1, 0] * 4)
    for args in (masked, b), (a, masked), (masked.view(Measured), b), (OnGpu(), b):
        with raises(TypeError, "mask", "argument-layout"):
            k(*args)
    assert not b.any()
    k(masked.filled(3), b)
    assert list(b[:2]) == [3, 1]


def test_numbers_of_numpy():
    @T.prim_func
    def main(A: T.Tensor((2,), "int32"), n: T.int32, b: T.bool):
        with T.Kernel(1, threads=32):
            A[0] = n
            A[1] = T.if_then_else(b, 1, 0)

    kernel = tilelang.compile(main, target="c")
    a = np.zeros(2, "int32")
    for n, b in (np.int32(3), np.bool_(True)), (np.array(4), np.array(True)), (np.bool_(True), 0):
        kernel(a, n, b)
        assert list(a) == [n, b]
    for b in np.float32(1), np.array([True, False]), "True":
        with raises(TypeError, "'b'", "bool"):
            kernel(a, 1, b)


def test_bools_of_any_byte():
    """A bool is whether its byte is not 0, whoever wrote it."""
    for target in "cpu", "sim -arch=sm_80":
        @tilelang.jit(out_idx=[-1], target=target)
        def f(N=4):
            @T.prim_func
            def main(X: T.Tensor((N,), "bool"), Y: T.Tensor((N,), "int32")):
                with T.Kernel(1, threads=32):
                    s = T.alloc_shared((N,), "bool")
                    T.copy(X, s)
                    for i in T.Parallel(N):
                        x = s[i]
                        Y[i] = (T.cast(X[i], "int32") + T.if_then_else(X[i] == True, 10, 0) + T.cast(x, "int32") * 100
                                + T.if_then_else(X[i] != s[1], 1000, 0) + T.cast(X[i] & s[1], "int32") * 10000
                                + T.cast(T.cast(s[i] | X[i], "float32") * 100000, "int32"))

            return main

        got = f()(np.array([0, 1, 2, 255], np.uint8))
        assert got.tolist() == [1000, 110111, 110111, 110111], (target, got)


def test_layout_of_a_tensor():
    """T.annotate_layout of a tensor: callers find its elements where the layout puts them."""
    def by_lanes(x):
        return T.Layout(x.shape, lambda b, l, h, d: [b, l // 8, h, d // 8, d % 2, 4 * (l % 8) + d % 8 // 2])

    def heads_first(x):
        return T.Layout(x.shape, lambda b, l, h, d: [b, h, l, d])

    shape = B, L, H, D = 2, 24, 3, 16
    a = np.arange(B * L * H * D, dtype=np.float32).reshape(shape)
    lanes = a.reshape(B, L // 8, 8, H, D // 8, 4, 2).transpose(0, 1, 3, 4, 6, 2, 5)
    for layout, laid in (by_lanes, lanes), (heads_first, a.transpose(0, 2, 1, 3)):
        for how in "copy", "elements", "atomic", "tile atomic", "read":
            @T.prim_func
            def main(A: T.Tensor(shape, "float32"), C: T.Tensor(shape, "float32")):
                with T.Kernel(T.ceildiv(L, 16), H, B, threads=32) as (bx, by, bz):
                    T.annotate_layout({A if how == "read" else C: layout(A)})
                    if how == "copy" or how == "read":
                        T.copy(A[bz, bx * 16:(bx + 1) * 16, by, :], C[bz, bx * 16:(bx + 1) * 16, by, :])
                    elif how == "tile atomic":
                        f = T.alloc_fragment((16, D), "float32")
                        T.copy(A[bz, bx * 16:(bx + 1) * 16, by, :], f)
                        T.atomic_add(C[bz, bx * 16:(bx + 1) * 16, by, :], f)
                    else:
                        for i, j in T.Parallel(16, D):
                            if how == "atomic":
                                T.atomic_add(C[bz, bx * 16 + i, by, j], A[bz, bx * 16 + i, by, j])
                            else:
                                C[bz, bx * 16 + i, by, j] = A[bz, bx * 16 + i, by, j]

            kernel = tilelang.compile(main, target="c")
            stored, got = np.ascontiguousarray(laid).reshape(shape), np.zeros(shape, np.float32)
            kernel(stored if how == "read" else a, got)
            assert np.array_equal(got, a if how == "read" else stored), (layout.__name__, how)
