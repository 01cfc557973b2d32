"""fuzz_calls.py -- calls that work, and ways to break them: see fuzz.py."""

import ctypes
import gc

import numpy as np

import tilelang
import tilelang.language as T


# ---- kernels, each with what it computes --------------------------------------------------------------------


def kernels(target):
    n = T.dynamic("n")

    @T.prim_func
    def rows(A: T.Tensor((n, 8), "float32"), B: T.Tensor((n, 8), "float32"), s: T.int32):
        with T.Kernel(T.ceildiv(n, 4), threads=32) as bx:
            for i, j in T.Parallel(4, 8):
                B[bx * 4 + i, j] = A[bx * 4 + i, j] + T.cast(s, "float32")

    @T.prim_func
    def fixed(X: T.Tensor((16, 16), "float16"), Y: T.Tensor((16,), "int8"), Z: T.Tensor((16, 16), "float32"),
              f: T.float32):
        with T.Kernel(1, threads=32):
            for i, j in T.Parallel(16, 16):
                Z[i, j] = T.cast(X[i, j], "float32") * f + T.cast(Y[i], "float32")

    @T.prim_func
    def made(A: T.Tensor((n,), "int32"), u: T.uint8, B: T.Tensor((n,), "int32")):
        with T.Kernel(T.ceildiv(n, 64), threads=64) as bx:
            for i in T.Parallel(64):
                B[bx * 64 + i] = A[bx * 64 + i] * 2 + T.cast(u, "int32")

    @T.prim_func
    def strided(P: T.StridedTensor((8, 8), (T.dynamic("p"), 1), "float64"), Q: T.Tensor((8, 8), "float64")):
        with T.Kernel(1, threads=64):
            for i, j in T.Parallel(8, 8):
                Q[i, j] = P[i, j] + 1.0

    def build(f, **keys):
        return tilelang.compile(f, target=target, **keys)

    return [
        (build(rows), lambda m: [grid(m, 8), np.zeros((m, 8), "float32"), 2],
         lambda a: a[0] + np.float32(a[2]), 1),
        (build(fixed), lambda m: [grid(16, 16).astype("float16"), np.arange(16, dtype="int8"),
                                  np.zeros((16, 16), "float32"), 1.5],
         lambda a: a[0].astype("float32") * np.float32(a[3]) + a[1].astype("float32")[:, None], 2),
        (build(made, out_idx=-1), lambda m: [np.arange(m, dtype="int32"), 3], lambda a: a[0] * 2 + int(a[1]), None),
        (build(strided), lambda m: [np.arange(128.0).reshape(8, 16)[:, :8], np.zeros((8, 8))],
         lambda a: a[0] + 1.0, 1),
    ]


def grid(m, n):
    return (np.arange(m * n) % 251).astype("float32").reshape(m, n)


# ---- hostile objects ----------------------------------------------------------------------------------------


class Raises:
    def __getattribute__(self, name):
        raise ZeroDivisionError(name)


class Index:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value

    def __float__(self):
        return float(self.__index__())


def with_attribute(name, value):
    return type("Hostile", (), {name: value})()


def interface(x, **change):
    """x through __cuda_array_interface__, changed."""
    d = {"shape": x.shape, "typestr": x.dtype.str, "data": (x.ctypes.data, False), "version": 3, "strides": None}
    d.update(change)
    for k in [k for k, v in d.items() if v is KeyError]:
        del d[k]
    return with_attribute("__cuda_array_interface__", d)


class Frees:
    """Gives a true capsule, and lets go of the memory behind it."""

    def __init__(self, x):
        self.x = x

    @property
    def __array_struct__(self):
        x, self.x = self.x, None
        return x.__array_struct__ if x is not None else None


class Dlpack:
    def __init__(self, x, what):
        self.x, self.what = x, what

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, *args, **keys):
        if isinstance(self.what, Exception):
            raise self.what
        return self.x.__dlpack__() if self.what == "self" else self.what


class Array(np.ndarray):
    pass


def unaligned(x):
    room = np.zeros(x.nbytes + 1, "uint8")
    y = room[1:].view(x.dtype).reshape(x.shape)
    y[...] = x
    return y


def read_only(x):
    y = x.copy()
    y.flags.writeable = False
    return y


WRONG_ARRAYS = [
    lambda x: x.astype("float64"), lambda x: x.astype("int32"), lambda x: x[:, :7], lambda x: x[::2], lambda x: x[::-1],
    lambda x: x.T, lambda x: x.reshape(-1), lambda x: x[None], lambda x: np.asfortranarray(x), lambda x: x.tolist(),
    lambda x: None, lambda x: "x", lambda x: 3, lambda x: object(), lambda x: x.astype(x.dtype.newbyteorder()),
    lambda x: x.astype("complex64"), lambda x: np.zeros((1,) * 9, x.dtype), lambda x: x[:0], lambda x: np.array(None),
    lambda x: x.view("V%d" % x.dtype.itemsize), lambda x: x.copy(), lambda x: x[..., :1], lambda x: x[..., 0],
    lambda x: np.broadcast_to(x.reshape(-1)[:1], x.shape), lambda x: np.broadcast_to(x[:1], x.shape),
    lambda x: np.repeat(x, 2, 0)[::2], lambda x: np.repeat(x, 2, -1)[..., ::2], lambda x: x.astype("bool"),
    lambda x: x.astype("U4"), lambda x: x.astype("M8[s]") if x.dtype.kind == "i" else x.astype("float16"),
    lambda x: np.ma.masked_array(x), lambda x: np.asmatrix(x) if x.ndim == 2 else x.copy(), lambda x: x.view(Array),
    lambda x: memoryview(x), lambda x: x.tobytes(), lambda x: bytearray(x.tobytes()), lambda x: (x,), lambda x: [x],
    lambda x: x.ctypes, lambda x: x.dtype, lambda x: type(x), lambda x: x.flat, lambda x: iter(x), lambda x: x[0],
    lambda x: np.float32(1), lambda x: np.array(1.0, x.dtype), lambda x: np.zeros((0, 8), x.dtype), lambda x: T.Tensor,
    lambda x: Raises(), lambda x: Raises, lambda x: Index(3), lambda x: unaligned(x), lambda x: read_only(x),
    lambda x: np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f4")]), lambda x: np.empty(x.shape, object),
    lambda x: with_attribute("__array_struct__", 3), lambda x: with_attribute("__array_struct__", None),
    lambda x: with_attribute("__array_struct__", property(lambda s: 1 // 0)),
    lambda x: with_attribute("__array_interface__", x.__array_interface__),
    lambda x: with_attribute("__dlpack_c_exchange_api__", 3), lambda x: with_attribute("__module__", "torch"),
    lambda x: with_attribute("shape", (2, 2)), lambda x: with_attribute("__cuda_array_interface__", 3),
    lambda x: with_attribute("__cuda_array_interface__", {}),
    lambda x: interface(x), lambda x: interface(x, shape=None), lambda x: interface(x, shape=[8]),
    lambda x: interface(x, shape=("8", "8")), lambda x: interface(x, shape=(-8, 8)),
    lambda x: interface(x, shape=(1 << 70, 8)), lambda x: interface(x, typestr="<f3"),
    lambda x: interface(x, typestr=">f4"), lambda x: interface(x, typestr=""), lambda x: interface(x, typestr=None),
    lambda x: interface(x, typestr="<f99999999999"), lambda x: interface(x, data=(0, False)),
    lambda x: interface(x, data=None), lambda x: interface(x, data=()), lambda x: interface(x, data=("x", 1)),
    lambda x: interface(x, data=KeyError), lambda x: interface(x, strides=(1,)), lambda x: interface(x, strides=("a", 1)),
    lambda x: interface(x, strides=3), lambda x: interface(x, shape=(1,) * 20), lambda x: interface(x, data=(1 << 80, 0)),
    lambda x: Dlpack(x, "self"), lambda x: Dlpack(x, 3), lambda x: Dlpack(x, None), lambda x: Dlpack(x, OSError("no")),
    lambda x: Dlpack(x, x), lambda x: Frees(x.copy()), lambda x: Dlpack(x[::2], "self"), lambda x: Dlpack(x.astype("c8"), "self"),
    lambda x: (ctypes.c_float * 8)(), lambda x: np.lib.stride_tricks.as_strided(x, x.shape, (1,) * x.ndim),
    lambda x: np.moveaxis(x[None], 0, -1), lambda x: x.byteswap(), lambda x: np.rec.array(x),
]
WRONG_NUMBERS = [1.5, "1", None, 1 << 33, -1 << 40, [1], True, np.int8(2), np.float32(2), np.array(2), np.array([2]),
                 -1, 255, 256, 1 << 31, (1 << 31) - 1, 1 << 80, -(1 << 80), float("nan"), float("inf"), 1j, b"1", Index(4),
                 Index(1 << 90), Index(ValueError("no")), Index("x"), Raises(), object(), (), {}, np.uint8(7), 1e300,
                 np.bool_(True), type, lambda: 1, Index(KeyboardInterrupt()), Index(SystemExit())]
NAMES = ["A", "B", "X", "Z", "s", "f", "u", "nobody", "stream", "self", "args", "", "a b"]


def plain(x):
    """What numpy makes of it, None: nothing."""
    if type(x) is Dlpack:
        x = x.x
    if not issubclass(type(x), np.ndarray):
        return None
    return np.asarray(x)


class Round:
    def __init__(self, targets, show=False):
        self.show = show
        self.kernels = [k for t in targets for k in kernels(t)]

    def wrong(self, rng, args):
        """args with one to two slips, and names."""
        keys = {}
        for _ in range(rng.choice([1, 1, 1, 2])):
            what = rng.randrange(10)
            at = rng.randrange(len(args)) if args else 0
            if what == 0 and args:
                del args[at]
            elif what == 1:
                args.insert(at, rng.choice([0, None, np.zeros(8, "float32"), "x", Raises()]))
            elif what == 2:
                keys[rng.choice(NAMES)] = args.pop() if args and rng.random() < 0.7 else rng.choice([1, None])
            elif what == 3 and len(args) > 1:
                i, j = rng.sample(range(len(args)), 2)
                args[i], args[j] = args[j], args[i]
            elif args and issubclass(type(args[at]), np.ndarray):
                try:
                    args[at] = rng.choice(WRONG_ARRAYS)(args[at])
                except (IndexError, TypeError, ValueError):  # it has no such dimension
                    pass
            elif args:
                args[at] = rng.choice(WRONG_NUMBERS)
        return args, keys

    def run(self, rng, number):
        kernel, make, oracle, out = rng.choice(self.kernels)
        args, keys = self.wrong(rng, make(rng.randrange(1, 40)))
        if self.show:
            print(kernel, args, keys)
        if number % 100 == 0:
            gc.collect()
        was = [plain(x).copy() if plain(x) is not None else x for x in args]
        try:
            got = kernel(*args, **keys)
        except (Exception, KeyboardInterrupt, SystemExit) as e:
            if self.show:
                print("refused: %s: %s" % (type(e).__name__, e))
            bad = type(e) is SystemError or getattr(e, "tag", "") == "internal" or "internal error" in str(e)
            return "refused", "%s: %s" % (type(e).__name__, e) if bad else None
        if keys:  # the right name for the right argument
            return "taken", None
        return self.right(was, args, got, oracle, out)

    def right(self, was, args, got, oracle, out):
        if out is not None:
            got = plain(args[out])
        if got is None or any(w is None or type(w) is Frees for w in was):
            return "unread", None
        try:
            want = oracle(was)
        except Exception as e:
            return "wrong", "it was taken, and has no right result: %s" % e
        if got.shape != want.shape or not np.allclose(got, want, rtol=1e-3, atol=1e-3, equal_nan=True):
            return "wrong", "it was taken, and gives a wrong result: %s" % [getattr(w, "shape", w) for w in was]
        return "right", None
