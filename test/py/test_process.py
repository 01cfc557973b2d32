"""The package in a process: memory, threads, forks, signals, the end of the interpreter."""

import gc
import os
import subprocess
import sys
import threading
import time

import numpy as np

import tilelang
import tilelang.language as T
from check import raises
from tilelang import _core


def scale(n=64, by=2.0, target="cpu", **keys):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(n):
                B[i] = A[i] * by

    return tilelang.compile(main, target=target, **keys)


def check(kernel, n=64, by=2.0):
    a, b = np.arange(n, dtype="float32"), np.zeros(n, "float32")
    kernel(a, b)
    assert np.array_equal(b, a * np.float32(by)), b


def alone(text, *words, **keys):
    """A program of its own; what it printed."""
    got = subprocess.run([sys.executable, *words, "-c", text], capture_output=True, text=True, timeout=300, **keys)
    assert got.returncode == 0, "%d\n%s\n%s" % (got.returncode, got.stdout, got.stderr)
    assert "Error" not in got.stderr and "Fatal" not in got.stderr, got.stderr
    return got.stdout


def resident():
    """Kilobytes this process holds."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def grows(fn, warm, times, kb):
    """fn called many times takes no more than so many kilobytes.  What leaks does so each time; what threads of earlier tests
    still take does not."""
    if "ASAN_OPTIONS" in os.environ:  # which keeps what is freed
        times, kb = times // 20 + 1, 1 << 30
    for _ in range(warm):
        fn()
    more = []
    while len(more) < 3 and (not more or more[-1] >= kb):
        gc.collect()
        before = resident()
        for _ in range(times):
            fn()
        gc.collect()
        more.append(resident() - before)
    assert more[-1] < kb, "%s kB more after %d times" % (more, times)


# ---- memory --------------------------------------------------------------------------------------------------


def test_calls_keep_nothing():
    k = scale()
    a, b = np.arange(64, dtype="float32"), np.zeros(64, "float32")
    gc.collect()  # what tests before this one left refers to None
    counts = [sys.getrefcount(x) for x in (a, b, k, None, k._core)]
    grows(lambda: k(a, b), 200, 20000, 600)
    got = [sys.getrefcount(x) for x in (a, b, k, None, k._core)]
    assert all(abs(x - y) < 5000 for x, y in zip(counts, got)), (counts, got)


def test_wrong_calls_keep_nothing():
    k = scale()
    a, b = np.arange(64, dtype="float32"), np.zeros(64, "float32")
    wrong = [(a,), (a, b, a), (a.astype("float64"), b), (a[::2], b), (None, b), (a, "x"), (object(), b)]

    def calls():
        for args in wrong:
            try:
                k(*args)
            except (TypeError, ValueError):
                pass

    grows(calls, 100, 3000, 600)


def test_simulated_calls_and_texts_keep_nothing():
    k = scale(target="sim -arch=sm_80")
    a, b = np.arange(64, dtype="float32"), np.zeros(64, "float32")

    def ask():
        k(a, b)
        k.get_kernel_source()
        k.get_ir()
        k.get_host_source()

    grows(ask, 50, 1000, 800)


def test_compiles_keep_nothing():
    def one():
        scale(by=3.0, target="sim -arch=sm_80")

    grows(one, 50, 500, 4000)


def test_refused_kernels_keep_nothing():
    def one():
        try:
            @T.prim_func
            def main(A: T.Tensor((8,), "float32")):
                with T.Kernel(1, threads=32):
                    x = T.alloc_shared((8,), "float32")
                    T.copy(A, x)
                    T.gemm(A, x, nobody)  # noqa: F821
        except NameError:
            return
        raise AssertionError("taken")

    grows(one, 50, 500, 2500)


def test_kernels_are_freed():
    import weakref

    k = scale(target="sim -arch=sm_80")
    gone = weakref.ref(k)
    check(k)
    del k
    gc.collect()
    assert gone() is None


# ---- what the module gives away -----------------------------------------------------------------------------------


def test_no_objects_from_nothing():
    import copy
    import pickle

    for name in ("Kernel", "Trace", "Value", "Expr", "Buffer", "BufferRegion", "LiveLayout", "Builtin"):
        cls = getattr(_core, name)
        for make in (cls, lambda: cls.__new__(cls), lambda: object.__new__(cls)):
            with raises(TypeError):
                make()
    with raises(TypeError, "Mine"):
        type("Mine", (_core.Expr,), {})()
    core = scale(target="sim -arch=sm_80")._core
    with raises(TypeError):
        copy.copy(core)
    with raises(TypeError):
        pickle.dumps(core)


def test_lists_that_hold_themselves():
    def helper(x):
        return 0

    with raises(RecursionError):
        @T.prim_func
        def main(A: T.Tensor((8,), "float32")):
            with T.Kernel(1, threads=32):
                l = []
                l.append(l)
                helper(l)

    loop = []
    loop.append(loop)
    with raises(Exception, "deep"):
        @T.prim_func
        def other(A: T.Tensor((8,), "float32")):
            with T.Kernel(1, threads=32):
                helper(loop)
                A[loop] = 0.0


def test_dicts_that_change_while_read():
    class Changes:
        ndim = 0

        @property
        def __class__(self):
            table.clear()
            return Changes

    table = {i: Changes() for i in range(50)}

    def helper(x):
        return 1.0

    @T.prim_func
    def main(A: T.Tensor((8,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(8):
                A[i] = helper(table)

    k = tilelang.compile(main, target="sim -arch=sm_80")
    a = np.zeros(8, "float32")
    k(a)
    assert (a == 1).all()


# ---- one inside of another ----------------------------------------------------------------------------------------


def test_a_kernel_compiled_while_another_is_traced():
    def helper():
        check(scale(by=5.0, target="sim -arch=sm_80"), by=5.0)
        with raises(NameError):
            @T.prim_func
            def wrong(A: T.Tensor((8,), "float32")):
                with T.Kernel(1, threads=32):
                    A[0] = nobody  # noqa: F821
        return 3.0

    class Index:
        def __index__(self):
            helper()
            return 4

    at = Index()

    @T.prim_func
    def main(A: T.Tensor((8,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(8):
                A[i] = helper()

    a = np.zeros(8, "float32")
    tilelang.compile(main, target="sim -arch=sm_80")(a)
    assert (a == 3).all()

    @T.prim_func
    def scalar(A: T.Tensor((8,), "int32"), s: T.int32):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(8):
                A[i] = s

    k, b = tilelang.compile(scalar, target="cpu"), np.zeros(8, "int32")
    k(b, at)  # the index compiles while its call reads arguments
    assert (b == 4).all()


def test_values_stay_on_their_thread():
    seen = []

    def helper(x):
        def work():
            try:
                x + 1
            except RuntimeError as e:
                seen.append(str(e))

        t = threading.Thread(target=work)
        t.start()
        t.join()
        return x

    @T.prim_func
    def main(A: T.Tensor((8,), "int32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(8):
                A[i] = helper(i)

    a = np.zeros(8, "int32")
    tilelang.compile(main, target="sim -arch=sm_80")(a)
    assert list(a) == list(range(8)) and seen and "not being traced" in seen[0]


# ---- threads ------------------------------------------------------------------------------------------------------


def together(work, n=8):
    wrong = []

    def one(i):
        try:
            work(i)
        except BaseException as e:
            wrong.append(e)

    threads = [threading.Thread(target=one, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if wrong:
        raise wrong[0]


def test_threads_compile_and_call():
    shared = scale(), scale(target="sim -arch=sm_80")

    def work(i):
        for j in range(6):
            check(scale(n=64, by=float(i * 10 + j), target="sim -arch=sm_90a"), by=float(i * 10 + j))
            for _ in range(20):
                check(shared[0])
            check(shared[1])
            assert "main" in shared[1].get_kernel_source()
            with raises(ValueError):
                shared[0](np.zeros(3, "float32"), np.zeros(64, "float32"))
            with raises(NameError):
                @T.prim_func
                def wrong(A: T.Tensor((8,), "float32")):
                    with T.Kernel(1, threads=32):
                        A[0] = nobody  # noqa: F821

    together(work)


def test_others_run_while_one_compiles():
    """The GIL is released: a thread that counts goes on counting."""
    ticks, over = [], threading.Event()

    def count():
        while not over.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    t = threading.Thread(target=count)
    t.start()
    start = time.perf_counter()
    os.environ["TILELANG_DISABLE_CACHE"] = "1"
    try:
        scale(n=4096 + os.getpid() % 1000)  # a C compiler runs in it
    finally:
        del os.environ["TILELANG_DISABLE_CACHE"]
    end = time.perf_counter()
    over.set()
    t.join()
    seen = [x for x in ticks if start < x < end]
    assert len(seen) > 5 and max(b - a for a, b in zip(seen, seen[1:])) < 0.5 * (end - start) + 0.05


# ---- fork ---------------------------------------------------------------------------------------------------------


def in_child(fn):
    """fn in a fork of this process; a child that hangs is ended."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            fn()
            code = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    for _ in range(1200):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert status == 0, "the child ended with %d" % status
            return
        time.sleep(0.05)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    raise AssertionError("the child hangs")


def test_fork_after_a_run():
    k = scale(n=1 << 16)
    check(k, 1 << 16)  # its threads are there now

    def child():
        check(k, 1 << 16)
        check(scale(by=7.0), by=7.0)
        check(scale(by=7.0, target="sim -arch=sm_80"), by=7.0)

    in_child(child)
    check(k, 1 << 16)


def test_fork_while_others_compile():
    over = threading.Event()

    def work():
        i = 0
        while not over.is_set():
            i += 1
            scale(by=float(i), target="sim -arch=sm_80")

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    try:
        for _ in range(5):
            in_child(lambda: check(scale(by=9.0, target="sim -arch=sm_80"), by=9.0))
    finally:
        over.set()
        for t in threads:
            t.join()


# ---- signals, the end ---------------------------------------------------------------------------------------------

KERNEL = """
import tilelang, tilelang.language as T, numpy as np, threading, os, signal, sys, atexit
signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs this in the background has it ignored
@T.prim_func
def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32):
        for i in T.Parallel(64):
            B[i] = A[i] * 2.0
"""


def program(text, *words):
    import tempfile

    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "program.py")
        with open(path, "w") as f:
            f.write(KERNEL + text)
        return alone("import runpy; runpy.run_path(%r, run_name='__main__')" % path, *words)


def test_the_end_with_live_kernels():
    program("""
k = tilelang.compile(main, target="cpu")
k(np.zeros(64, "float32"), np.zeros(64, "float32"))
k.me = k
class Late:
    def __del__(self):
        k(np.zeros(64, "float32"), np.zeros(64, "float32"))
late = Late()
atexit.register(lambda: k(np.zeros(64, "float32"), np.zeros(64, "float32")))
sys.modules["keeps"] = k
""")


def test_the_end_while_a_thread_compiles():
    program("""
def work():
    while True:
        tilelang.compile(main, target="sim -arch=sm_80")
threading.Thread(target=work, daemon=True).start()
import time
time.sleep(0.3)
""")


def test_ctrl_c():
    out = program("""
def hit():
    import time
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=hit, daemon=True).start()
try:
    while True:
        tilelang.compile(main, target="sim -arch=sm_90a")
except KeyboardInterrupt:
    print("stopped")
k = tilelang.compile(main, target="cpu")
a, b = np.ones(64, "float32"), np.zeros(64, "float32")
k(a, b)
print((b == 2).all())
""")
    assert out.split() == ["stopped", "True"], out


def test_subinterpreters_are_refused():
    try:
        import _interpreters as sub
    except ImportError:
        try:
            import _xxsubinterpreters as sub
        except ImportError:
            return
    out = alone("""
import %s as sub, sys
import tilelang
one = sub.create()
text = '''
import sys
try:
    import tilelang
except ImportError as e:
    pass
else:
    raise RuntimeError("it was imported")
'''
try:
    got = sub.run_string(one, "import sys; sys.path[:] = %%r\\n" %% sys.path + text)
    print("fine" if got is None else got)
except Exception as e:
    print("wrong", e)
""" % sub.__name__)
    assert out.strip() == "fine", out


def test_imported_again():
    alone("""
import sys, tilelang
first = tilelang._core
for name in [n for n in sys.modules if n.startswith("tilelang")]:
    del sys.modules[name]
import tilelang.language as T
import tilelang
assert tilelang._core.version == first.version
""")
