"""Functions of Python into kernels: names, helpers, macros, expressions."""

import tilelang
import tilelang.language as T
from check import near, raises, randn

SCALE = 2.0


def build(f, **keys):
    return tilelang.compile(f, target="cpu", **keys)


def elementwise(expr, n=100):
    """A kernel that maps `expr` over a vector."""

    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 64), threads=64) as bx:
            for i in T.Parallel(64):
                B[bx * 64 + i] = expr(A[bx * 64 + i])

    return build(main, out_idx=[1])


def test_closure_and_helper():
    x = randn(100)
    near(elementwise(lambda v: v * 2 + 1)(x), x * 2 + 1)
    near(elementwise(lambda v: T.max(v, T.float32(0)))(x), x.clip(0))
    near(elementwise(lambda v: T.if_then_else(v > 0, v, -v))(x), abs(x))
    near(elementwise(lambda v: abs(v) - (-v))(x), abs(x) + x)
    near(elementwise(lambda v: 1.0 / (1.0 + T.exp(-v)))(x), 1 / (1 + 2.718281828**-x))


def test_closure_is_frozen_and_globals_are_live():
    global SCALE
    k = 3

    @T.macro
    def times(v):
        return v * k * SCALE

    k = 5

    def make():
        @T.prim_func
        def main(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
            with T.Kernel(1, threads=32):
                for i in T.Parallel(8):
                    B[i] = times(A[i])

        return build(main, out_idx=[1])

    x = randn(8)
    near(make()(x), x * 6)
    SCALE = 4.0
    near(make()(x), x * 12)
    SCALE = 2.0


def copy_tile(src, dst, at):
    T.copy(src[at], dst)


def test_helper_that_emits_statements():
    @T.prim_func
    def main(A: T.Tensor((128,), "float32"), B: T.Tensor((128,), "float32")):
        with T.Kernel(2, threads=64) as bx:
            s = T.alloc_shared((64,), "float32")
            copy_tile(A, s, bx * 64)
            for i in T.Parallel(64):
                s[i] = s[i] + 1
            T.copy(s, B[bx * 64])

    x = randn(128)
    near(build(main, out_idx=[1])(x), x + 1)


def test_helper_that_stores():
    def put(buf, i, v):
        buf[i] = v
        assert buf.shape[0] == 16 and buf.dtype == "float32"

    @T.prim_func
    def main(A: T.Tensor((16,), "float32")):
        with T.Kernel(1, threads=16):
            for i in T.Parallel(16):
                put(A, i, T.cast(i, "float32"))

    import numpy as np

    a = np.zeros(16, "float32")
    build(main)(a)
    near(a, range(16))


def test_macro_and_ref():
    @T.macro
    def bump(x: T.Ref, by=1):
        x = x + by

    @T.prim_func
    def main(A: T.Tensor((4,), "int32")):
        with T.Kernel(1, threads=1):
            n = T.alloc_var("int32", init=0)
            bump(n)
            bump(n, 10)
            bump(A[1], 5)
            A[0] = n

    import numpy as np

    a = np.zeros(4, "int32")
    build(main)(a)
    assert list(a) == [11, 5, 0, 0]


def test_macro_methods_and_state():
    class Adder:
        def __init__(self, by):
            self.by = by
            self.calls = 0

        @T.macro
        def add(self, buf, i):
            self.calls = self.calls + 1
            buf[i] = buf[i] + self.by

    adder = Adder(2.5)

    @T.prim_func
    def main(A: T.Tensor((8,), "float32")):
        with T.Kernel(1, threads=8):
            for i in T.Parallel(8):
                adder.add(A, i)
            for i in T.Parallel(8):
                adder.add(A, i)

    x = randn(8)
    y = x.copy()
    build(main)(y)
    near(y, x + 5)
    assert adder.calls == 2


def test_macro_of_a_function_that_calls_itself():
    def adding(by):
        @T.macro
        def add(buf, times):
            buf[0] = buf[0] + by
            if times > 1:
                add(buf, times - 1)

        return add

    adders = [adding(1), adding(10)]

    @T.prim_func
    def main(A: T.Tensor((1,), "int32")):
        with T.Kernel(1, threads=1):
            for n, add in enumerate(adders):
                add(A, n + 2)

    import numpy as np

    a = np.zeros(1, "int32")
    build(main)(a)
    assert a[0] == 32


def test_fast_arithmetic_of_the_c_compiler_keeps_results():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(64):
                B[i] = T.if_then_else(i < 60, T.exp2(A[i]), A[i] * 0.5)

    import numpy as np

    x = np.linspace(-4, 4, 64, dtype="float32")
    x[60:] = 1e-39, -np.inf, np.inf, np.nan
    want = np.where(np.arange(64) < 60, np.exp2(x), x * np.float32(0.5))
    for how in ({"pass_configs": {"tl.enable_fast_math": True}}, {"compile_flags": ["-ffast-math"]},
                {"compile_flags": ["-Ofast"]}, {"compile_flags": ["-fassociative-math", "-fno-signed-zeros"]}):
        y = np.zeros(64, "float32")
        tilelang.compile(main, target="cpu", **how)(x, y)
        np.testing.assert_allclose(y, want, rtol=1e-5, atol=0)
        assert x[60] * np.float32(0.5) != 0


def test_macro_outside():
    @T.macro
    def m(x):
        return x

    with raises(RuntimeError, "outside of a kernel"):
        m(1)


def test_foreign_values():
    class Config:
        tile = 32
        names = {"a": 1}
        order = [3, 1, 2]

        def extent(self, n):
            return n // self.tile

    cfg = Config()

    @T.prim_func
    def main(A: T.Tensor((64,), "int32")):
        with T.Kernel(cfg.extent(64), threads=32) as bx:
            for i in T.Parallel(cfg.tile):
                A[bx * cfg.tile + i] = len(cfg.order) * 10 + cfg.order[0] + cfg.names["a"]

    import numpy as np

    a = np.zeros(64, "int32")
    build(main)(a)
    assert set(a) == {34}


def test_outside_of_kernels():
    m = T.dynamic("m")
    assert T.ceildiv(100, 32) == 4
    assert repr(m * 2 + 1) == "((m * 2) + 1)"
    assert bool(m == m) and not bool(m == T.dynamic("n"))
    a, b = T.dynamic("a, b")
    assert repr(a) == "a" and repr(b) == "b"
    spec = T.Tensor((m, 4), "float16")
    assert spec.dtype == "float16" and spec.shape[1] == 4
    assert T.float16 == "float16" and "%s" % T.bfloat16 == "bfloat16"
    assert T.dtype("float32").bits == 32 and T.int8.bytes == 1
    assert T.float32(3) == 3.0
    with raises(RuntimeError, "outside"):
        T.alloc_shared((4,), "float32")
    with raises(AttributeError, "did you mean"):
        T.alloc_sharde


def test_dynamic_shapes():
    m, n = T.dynamic("m, n")

    @T.prim_func
    def main(A: T.Tensor((m, n), "float32"), B: T.Tensor((n, m), "float32")):
        with T.Kernel(T.ceildiv(m, 16), T.ceildiv(n, 16), threads=64) as (bx, by):
            for i, j in T.Parallel(16, 16):
                B[by * 16 + j, bx * 16 + i] = A[bx * 16 + i, by * 16 + j]

    k = build(main, out_idx=[1])
    for shape in ((5, 7), (33, 16), (64, 1)):
        x = randn(*shape)
        near(k(x), x.T)


def test_eager():
    @tilelang.jit(target="cpu")
    def scale(A, by: float = 2.0, block=32):
        M, N = T.const("M, N")
        A: T.Tensor((M, N), "float32")
        B = T.empty((M, N), "float32")
        C = T.empty((M,), "float32")
        with T.Kernel(T.ceildiv(M, block), threads=32) as bx:
            for i, j in T.Parallel(block, N):
                B[bx * block + i, j] = A[bx * block + i, j] * by
            for i in T.Parallel(block):
                C[bx * block + i] = A[bx * block + i, 0]
        return B, C

    x = randn(40, 8)
    b, c = scale(x)
    near(b, 2 * x)
    near(c, x[:, 0])
    b, _ = scale(x, by=3.0)
    near(b, 3 * x)
    assert len(scale._kernels) == 2
    scale(randn(40, 8, seed=3))
    assert len(scale._kernels) == 2
    scale(randn(41, 8))
    assert len(scale._kernels) == 3
    k = scale.compile(M=16, N=8)
    near(k(x[:16])[0], 2 * x[:16])
    with raises(TypeError, "A"):
        scale()


def test_eager_dynamic_is_compiled_once():
    @tilelang.jit(target="cpu")
    def inc(A):
        n = T.dynamic("n")
        A: T.Tensor((n,), "float32")
        with T.Kernel(T.ceildiv(n, 32), threads=32) as bx:
            for i in T.Parallel(32):
                A[bx * 32 + i] = A[bx * 32 + i] + 1

    for size in (3, 32, 100):
        x = randn(size)
        y = x.copy()
        inc(y)
        near(y, x + 1)
    assert len(inc._kernels) == 1


def test_annotations_only_names():
    def make(M, dtype):
        @T.prim_func
        def main(A: T.Tensor((M,), dtype), B: T.Tensor((M,), dtype)):
            with T.Kernel(1, threads=32):
                T.copy(A, B)

        return build(main, out_idx=[1])

    x = randn(12)
    near(make(12, T.float32)(x), x)


def test_compiled_twice():
    @T.prim_func
    def main(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
        with T.Kernel(1, threads=32):
            T.copy(A, B)

    x = randn(8)
    near(build(main, out_idx=[1])(x), x)
    near(build(main, out_idx=-1)(x), x)
    near(tilelang.compile(main, out_idx=[1], target="sim -arch=sm_80")(x), x)
    assert "main" in str(main)


def test_layouts():
    from tilelang.layout import make_swizzled_layout

    flat = T.Layout((8, 8), lambda i, j: i * 8 + (j ^ i))
    assert list(flat.get_input_shape()) == [8, 8]

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16")):
        with T.Kernel(1, threads=128):
            s = T.alloc_shared((64, 64), "float16")
            T.annotate_layout({s: make_swizzled_layout(s)})
            T.copy(A, s)
            T.copy(s, B)

    x = randn(64, 64).astype("float16")
    near(build(main, out_idx=[1])(x), x)


def test_wide_loads():
    """Elements read as others of another width, part by part."""

    @T.prim_func
    def main(X: T.Tensor((64,), "float32"), Y: T.Tensor((64,), "float32"),
             Z: T.Tensor((32,), "uint32")):
        with T.Kernel(16, threads=32) as bx:
            v = T.ldg128(X[bx * 4 : bx * 4 + 4])
            Y[bx * 4 : bx * 4 + 4] = T.reinterpret(v, T.float32x4)
            w = T.reinterpret(X[bx * 2], "uint32")
            Z[bx * 2] = w
            Z[bx * 2 + 1] = w >> T.uint32(16)

    x = randn(64)
    for target in ("cpu", "sim -arch=sm_80"):
        y, z = tilelang.compile(main, out_idx=[1, 2], target=target)(x)
        near(y, x)
        bits = x.view("uint32")[0:32:2]
        assert (z[0::2] == bits).all() and (z[1::2] == bits >> 16).all()


def test_macro_that_opens_the_kernel():
    @T.macro
    def copy_all(A, B, n):
        with T.Kernel(T.ceildiv(n, 32), threads=32) as bx:
            for i in T.Parallel(32):
                B[bx * 32 + i] = A[bx * 32 + i]

    @tilelang.jit(target="cpu")
    def copy(A: T.Tensor((50,), "float32"), B: T.Tensor((50,), "float32")):
        copy_all(A, B, 50)

    import numpy as np

    x, y = randn(50), np.zeros(50, "float32")
    copy(x, y)
    near(y, x)


def test_variables_of_lanes():
    @T.prim_func
    def main(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
        with T.Kernel(1, threads=1):
            p = T.alloc_var("float32x2")
            q = T.alloc_var(T.float32x2, init=T.float32x2(A[6], A[7]))
            for i in T.serial(3):
                p += T.float32x2(A[2 * i], A[2 * i + 1])
            p, q = q, p
            B[0:2] = p
            B[2:4] = q
            x = q
            q = p * 2.0
            A[6] = 0
            B[4] = T.extract_lane(x, 0) + T.extract_lane(q, 1)
            B[5] = T.extract_lane(q, 0)
            B[6:8] = x

    a = randn(8)
    s = a[0:6].reshape(3, 2).sum(axis=0)
    near(build(main, out_idx=[1])(a.copy()),
         [a[6], a[7], s[0], s[1], s[0] + 2 * a[7], 2 * a[6], s[0], s[1]])
