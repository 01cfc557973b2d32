"""Mistakes: the class of the exception, the words, the place."""

import numpy as np

import tilelang
import tilelang.language as T
from check import raises


def copy_kernel(n=8, dtype="float32", **keys):
    @T.prim_func
    def main(A: T.Tensor((n,), dtype), B: T.Tensor((n,), dtype)):
        with T.Kernel(1, threads=32):
            T.copy(A, B)

    return tilelang.compile(main, target="cpu", **keys)


def test_calls():
    k = copy_kernel()
    a = np.zeros(8, "float32")
    with raises(ValueError, "expected 2 inputs", "1 are provided"):
        k(a)
    with raises(TypeError, "'A'", "float32", "float64"):
        k(np.zeros(8), a)
    with raises(ValueError, "'B'", "9"):
        k(a, np.zeros(9, "float32"))
    with raises(ValueError, "'A'", "2"):
        k(np.zeros((2, 4), "float32"), a)
    with raises(ValueError, "'A'", "stride"):
        k(np.zeros(16, "float32")[::2], a)
    with raises(TypeError, "'A'", "tensor of float32", "str"):
        k("A", a)
    with raises(TypeError, "'A'", "NoneType"):
        k(None, a)
    b = np.zeros(8, "float32")
    b.flags.writeable = False
    with raises(ValueError, "'B'", "read-only"):
        k(a, b)
    with raises(TypeError, "no argument called 'C'", "it takes A, B"):
        k(a, a, C=a)
    with raises(TypeError, "no argument called 'C'"):
        k(a, C=a)
    with raises(TypeError, "'A' is given twice"):
        k(a, a, A=a)


def test_scalars():
    @T.prim_func
    def main(A: T.Tensor((4,), "int32"), n: T.int32, f: T.float32):
        with T.Kernel(1, threads=4):
            for i in T.Parallel(4):
                A[i] = n + T.cast(f, "int32")

    k = tilelang.compile(main, target="cpu")
    a = np.zeros(4, "int32")
    k(a, 3, 2.5)
    assert set(a) == {5}
    k(a, np.int64(4), 1)
    assert set(a) == {5}
    with raises(TypeError, "'n'", "int32", "float"):
        k(a, 1.5, 2.0)
    with raises(OverflowError, "'n'", "int32"):
        k(a, 1 << 40, 2.0)
    with raises(TypeError, "'f'", "str"):
        k(a, 1, "x")


def place_of(f):
    """Line of the exception that f raises, counted from f's own first line."""
    try:
        f()
    except tilelang.TileLangError as e:
        assert e.filename == __file__, e.filename
        return e, e.lineno - f.__code__.co_firstlineno
    raise AssertionError("nothing was raised")


def test_place_and_caret():
    def wrong():
        @T.prim_func
        def main(A: T.Tensor((8,), "float32")):
            with T.Kernel(1, threads=32):
                for i in T.Parallel(8):
                    A[i] = missing + 1

    e, line = place_of(wrong)
    assert isinstance(e, NameError) and line == 5 and e.offset == 28, (type(e), line, e.offset)
    assert "A[i] = missing + 1" in str(e) and "^" in str(e), str(e)
    assert e.tag == "undefined-name"


def test_values_that_python_computed():
    """Annotations are evaluated by Python: its frame says where a wrong one stands."""
    for n, dtype, base, word in (("x", "float32", TypeError, "str"), (-3, "float32", ValueError, "-3"),
                                 (8, "flaot32", ValueError, "did you mean 'float32'")):
        try:
            copy_kernel(n, dtype)
        except base as e:
            assert isinstance(e, tilelang.TileLangError) and word in str(e), e
            assert e.filename == __file__ and "def main(A: T.Tensor((n,), dtype)" in str(e), e
            assert e.lineno == copy_kernel.__code__.co_firstlineno + 2, e.lineno
        else:
            raise AssertionError(n)


def test_classes():
    def annotation():
        @T.prim_func
        def main(A):
            pass

    with raises(ValueError, "annotation"):
        annotation()

    def loop():
        @T.prim_func
        def main(A: T.Tensor((8,), "float32")):
            with T.Kernel(1, threads=32):
                for i in A:
                    A[0] = i

    with raises(TypeError, "for-iterable"):
        loop()

    def argument():
        @T.prim_func
        def main(A: T.Tensor((8,), "float32")):
            with T.Kernel(1, threads=32):
                T.copy(A)

    with raises(TypeError, "T.copy", "'dst'"):
        argument()

    def raised():
        @T.prim_func
        def main(A: T.Tensor((8,), "float32")):
            raise KeyError("not this")

    with raises(KeyError, "not this"):
        raised()


def test_python_exceptions_pass_through():
    class Special(Exception):
        pass

    def helper(x):
        raise Special("from the helper")

    def trace():
        @T.prim_func
        def main(A: T.Tensor((8,), "float32")):
            with T.Kernel(1, threads=32):
                A[0] = helper(A[1])

    try:
        trace()
    except Special as e:
        assert "while tracing" in "".join(getattr(e, "__notes__", [])), e.__notes__
    else:
        raise AssertionError("nothing was raised")


def test_helpers_may_catch():
    def safe(x):
        try:
            return x.nothing
        except AttributeError:
            return 7

    @T.prim_func
    def main(A: T.Tensor((8,), "int32")):
        with T.Kernel(1, threads=8):
            for i in T.Parallel(8):
                A[i] = safe(A)

    a = np.zeros(8, "int32")
    tilelang.compile(main, target="cpu")(a)
    assert set(a) == {7}


def test_out_idx():
    with raises(ValueError, "out_idx"):
        copy_kernel(out_idx=[5])
    k = copy_kernel(out_idx=[1])
    with raises(ValueError, "expected 1 inputs"):
        k(np.zeros(8, "float32"), np.zeros(8, "float32"))
    with raises(ValueError, "out_idx"):

        @tilelang.jit(out_idx=[0])
        def eager(A):
            A: T.Tensor((8,), "float32")
            with T.Kernel(1, threads=8):
                T.clear(A)


def test_values_die_with_their_kernel():
    kept = []

    def keep(x):
        kept.append(x)
        return x

    @T.prim_func
    def main(A: T.Tensor((8,), "float32")):
        with T.Kernel(1, threads=8):
            for i in T.Parallel(8):
                A[i] = keep(A[i]) + 1

    with raises(RuntimeError, "not being traced"):
        kept[0] + 1
    tilelang.compile(main, target="cpu")
    repr(kept[0])


def test_targets():
    with raises(ValueError, "quantum"):
        tilelang.compile(copy_kernel().prim_func, target="quantum")
    with raises(NotImplementedError, "vulkan"):
        tilelang.compile(copy_kernel().prim_func, target="vulkan")


class FakeTensor:
    """What the extension asks of a torch tensor, without torch."""

    __module__ = "torch"
    is_cuda = True
    dtype = "torch.float32"
    shape = (8,)

    def __init__(self, x):
        self.x = x

    def stride(self):
        return (1,)

    def data_ptr(self):
        return self.x.__array_interface__["data"][0]


FakeTensor.__module__ = "torch"


def tag_of(fn):
    try:
        fn()
    except tilelang.TileLangError as e:
        return e.tag
    raise AssertionError("nothing was raised")


def test_devices():
    k = copy_kernel()
    a, b = FakeTensor(np.arange(8, dtype="float32")), FakeTensor(np.zeros(8, "float32"))
    assert tag_of(lambda: k(a, b)) == "argument-device"
    a.is_cuda = b.is_cuda = False
    k(a, b)
    assert list(b.x) == list(range(8))


def test_tensors_without_memory():
    k = copy_kernel()
    a = FakeTensor(np.zeros(8, "float32"))
    a.is_cuda = False
    a.data_ptr = lambda: 0
    assert tag_of(lambda: k(a, np.zeros(8, "float32"))) == "argument-null"


def test_one_element_for_all():
    k = copy_kernel()
    with raises(ValueError, "'A'", "stride 0"):
        k(np.broadcast_to(np.float32(3), (8,)), np.zeros(8, "float32"))


def test_bad_text():
    def trace():
        word = "\udc80"

        @T.prim_func
        def main(A: T.Tensor((8,), "float32")):
            with T.Kernel(1, threads=32):
                T.alloc_shared((8,), word)

    assert tag_of(trace) == "bad-text"


def test_values_of_another_kernel():
    kept = []

    def keep(x):
        kept.append(x)
        return x

    def trace():
        @T.prim_func
        def main(A: T.Tensor((8,), "float32")):
            with T.Kernel(1, threads=8):
                A[0] = keep(A[1]) + kept[0]

    trace()
    assert tag_of(trace) == "foreign-trace"
    assert "python-error" in tilelang._core.explain("python-error")


def test_simulations_can_be_interrupted():
    """The simulator ends with [interrupted]; what the handler raised is what the caller gets."""
    import signal
    import time

    @T.prim_func
    def main(A: T.Tensor((8,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.serial(1 << 40):
                for j in T.Parallel(8):
                    A[j] = A[j] + 1.0

    k = tilelang.compile(main, target="sim -arch=sm_80")
    old = signal.signal(signal.SIGALRM, lambda *a: 1 // 0)
    a, start = np.zeros(8, "float32"), time.time()
    try:
        for run in (k, k._core.reference):
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with raises(ZeroDivisionError):
                run(a)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert time.time() - start < 30


def test_streams_are_not_lost():
    """A stream that cannot be had is an error, not another stream."""
    k = copy_kernel()
    a, b = np.arange(8, dtype="float32"), np.zeros(8, "float32")
    k(a, b, stream=None)
    k(A=a, B=b, stream=-1, skip_tensor_validation=True)
    assert (b == a).all()
    with raises((TypeError, ValueError), "stream"):
        k(a, b, stream="first")
    with raises(TypeError, "steam"):
        k(a, b, steam=3)


def test_ignored():
    """What is accepted and not obeyed is told, once for each compilation."""
    import warnings

    for _ in range(2):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("default")
            copy_kernel(target_host="llvm")
        assert [w.category for w in told] == [tilelang.IgnoredWarning], told
        assert "target_host is ignored: " in str(told[0].message), told[0]
        assert told[0].filename == __file__, told[0]
    assert issubclass(tilelang.IgnoredWarning, UserWarning)


def test_slow():
    """A kernel that gets less than its target has says so, once, at the line; the audit has all of it."""
    import warnings

    def main(A: T.Tensor((64, 64), "bfloat16"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "bfloat16")
            c = T.alloc_fragment((64, 64), "float32")
            T.copy(A, a)
            T.clear(c)
            T.gemm(a, a, c)
            T.copy(c, C)

    for arch, slow in (("sm_75", True), ("sm_80", False)):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            k = tilelang.compile(T.prim_func(main), target="cuda -arch=" + arch)
        told = [w for w in told if w.category is tilelang.SlowWarning]
        assert len(told) == slow, told
        assert not told or told[0].filename == __file__ and "[slow]" in str(told[0].message), told
        assert ("matrix instruction" in k.get_audit()) == slow, k.get_audit()
        assert "kernel main_kernel: " in k.get_audit()


def refusal_of(call, base):
    """The tag of a refusal, which is of the usual class and of ours."""
    try:
        call()
    except tilelang.TileLangError as e:
        assert isinstance(e, base), type(e)
        assert str(e).endswith("[%s]" % e.tag) or "[%s]\n" % e.tag in str(e), e
        return e.tag
    raise AssertionError("nothing was refused")


def test_refusals_have_tags():
    @T.prim_func
    def scaled(A: T.Tensor((8,), "float32"), n: T.int32):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(8):
                A[i] = A[i] * n

    k = tilelang.compile(scaled, target="cpu")
    a = np.zeros(8, "float32")
    still = np.zeros(8, "float32")
    still.flags.writeable = False
    assert refusal_of(lambda: k(a), ValueError) == "argument-count"
    assert refusal_of(lambda: k(None, 1), TypeError) == "argument-type"
    assert refusal_of(lambda: k([1.0] * 8, 1), TypeError) == "argument-type"
    assert refusal_of(lambda: k(a, 2.5), TypeError) == "argument-type"
    assert refusal_of(lambda: k(a, 1 << 40), OverflowError) == "argument-range"
    assert refusal_of(lambda: k(still, 1), ValueError) == "argument-read-only"
    assert refusal_of(lambda: k(a.astype(">f4"), 1), TypeError) == "argument-dtype"
    assert refusal_of(lambda: k(a, 1, m=3), TypeError) == "argument-name"
    assert refusal_of(lambda: tilelang.compile(3), TypeError) == "decorator"
    assert refusal_of(lambda: tilelang.jit(3), TypeError) == "decorator"
    assert refusal_of(lambda: T.prim_func(len), TypeError) == "decorator"
    assert refusal_of(lambda: T.prim_func(lambda A: A), TypeError) == "decorator"


def test_launch_outside_of_a_function():
    with raises(RuntimeError, "T.Kernel(3)", "outside of a kernel function"):
        with T.Kernel(3):
            pass
