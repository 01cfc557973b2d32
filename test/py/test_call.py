"""Calls with tensors of a GPU: what is launched, with a driver that only writes it down."""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def with_fake_gpu(body):
    """Run the text after SETUP in a process of its own."""
    with tempfile.TemporaryDirectory() as d:
        for name in ("libcuda.so.1", "libnvrtc.so.13"):
            subprocess.run([os.environ.get("CC", "cc"), "-w", "-O1", "-fPIC", "-shared", "-o",
                            os.path.join(d, name), os.path.join(HERE, "fake_gpu.c")], check=True)
        path = os.path.join(d, "body.py")
        with open(path, "w") as f:
            f.write(SETUP + body)
        env = dict(os.environ, LD_LIBRARY_PATH=d, TILELANG_NVRTC=d, TILELANG_CACHE_DIR=d + "/c",
                   FAKE=d)
        got = subprocess.run([sys.executable, path], env=env, capture_output=True, text=True,
                             timeout=120)
        assert got.returncode == 0, "%d\n%s%s" % (got.returncode, got.stdout, got.stderr)
        return got.stdout


SETUP = '''
import ctypes, os, threading
import tilelang, tilelang.language as T

gpu = ctypes.CDLL(os.environ["FAKE"] + "/libcuda.so.1")
api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

class Raw(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int32), ("device", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]

class Tensor:
    __dlpack_c_exchange_api__ = api.PyCapsule_New(
        ctypes.addressof(ctypes.c_char.in_dll(gpu, "fake_exchange")), b"dlpack_exchange_api", None)

    def __init__(self, data, shape, strides=None, code=2, bits=32, device=0, type=2, offset=0):
        self.set(data, shape, strides, code, bits, device, type, offset)

    def set(self, data, shape, strides=None, code=2, bits=32, device=0, type=2, offset=0):
        if strides is None:
            strides, step = [], 1
            for n in reversed(shape):
                strides.insert(0, step)
                step *= n
        many = ctypes.c_int64 * 8
        raw = Raw(data, type, device, len(shape), code, bits, 1, many(*shape), many(*strides), offset)
        gpu.fake_tensor(ctypes.py_object(self), ctypes.byref(raw))
        return self

def told(name, kind=ctypes.c_long):
    return kind.in_dll(gpu, name).value

def launches():
    return told("fake_launches")

def args(n):
    return list((ctypes.c_uint64 * 8).in_dll(gpu, "fake_args"))[:n]

def refused(kind, word, fn, *a):
    before = launches()
    try:
        fn(*a)
    except kind as e:
        assert word in str(e), e
    else:
        raise AssertionError("not refused: " + word)
    assert launches() == before

n = T.dynamic("n")

@T.prim_func
def main(A: T.Tensor((n,), "float32"), C: T.Tensor((n,), "float32"), s: T.int32, f: T.float32):
    with T.Kernel(T.ceildiv(n, 256), threads=256) as bx:
        for i in T.Parallel(256):
            C[bx * 256 + i] = A[bx * 256 + i] * f + T.cast(s, "float32")

k = tilelang.compile(main, target="cuda -arch=sm_90a")
a, c = Tensor(0x10000, (1024,)), Tensor(0x20000, (1024,))
k(a, c, 3, 2.0)
assert launches() == 1 and told("fake_grid", ctypes.c_uint) == 4
known = args(5)
'''


def test_same_call_again():
    with_fake_gpu('''
for i in range(5):
    k(a, c, 3, 2.0)
assert launches() == 6 and args(5) == known
b = Tensor(0x30000, (1024,))
k(b, c, 3, 2.0)
assert 0x30000 in args(5) and 0x10000 not in args(5)
k(a, Tensor(0x40000, (1024,), offset=64), 3, 2.0)
assert 0x40040 in args(5) and 0x10000 in args(5)
ctypes.c_long.in_dll(gpu, "fake_now").value = 7
k(a, c, 3, 2.0)
assert told("fake_stream") == 7 and args(5) == known
''')


def test_scalars_change():
    with_fake_gpu('''
k(a, c, 4, 2.0)
other = args(5)
assert other != known
k(a, c, 3, 2.5)
assert args(5) not in (other, known)
k(a, c, 3, 2)
assert args(5) == known
k(a, c, True, -0.0)
one = args(5)
k(a, c, True, 0.0)
assert args(5) != one
refused(OverflowError, "fit", k, a, c, 1 << 40, 2.0)
refused(OverflowError, "fit", k, a, c, 1 << 80, 2.0)
refused(TypeError, "'s'", k, a, c, 3.0, 2.0)
refused(TypeError, "'f'", k, a, c, 3, "2")
k(a, c, 3, 2.0)
assert args(5) == known
''')


def test_shapes_change():
    with_fake_gpu('''
x, y = Tensor(0x50000, (512,)), Tensor(0x60000, (512,))
k(x, y, 3, 2.0)
assert told("fake_grid", ctypes.c_uint) == 2
k(a, c, 3, 2.0)
assert told("fake_grid", ctypes.c_uint) == 4
refused(ValueError, "512", k, a, y, 3, 2.0)
refused(ValueError, "stride", k, a, Tensor(0x70000, (1024,), (2,)), 3, 2.0)
refused(TypeError, "float16", k, a, Tensor(0x70000, (1024,), bits=16), 3, 2.0)
refused(TypeError, "int32", k, a, Tensor(0x70000, (1024,), code=0), 3, 2.0)
refused(ValueError, "'C'", k, a, Tensor(0x70000, (1, 1024)), 3, 2.0)
refused(Exception, "0x70006", k, a, Tensor(0x70006, (1024,)), 3, 2.0)
refused(TypeError, "memory", k, a, Tensor(0x70000, (1024,), type=1), 3, 2.0)
refused(TypeError, "GPU 1", k, a, Tensor(1 << 40, (1024,), device=1), 3, 2.0)
refused(ValueError, "4 inputs, but 3", k, a, c, 3)
refused(ValueError, "4 inputs, but 5", k, a, c, 3, 2.0, a)
refused(TypeError, "'A'", k, None, c, 3, 2.0)
refused(TypeError, "'A'", k, 5, c, 3, 2.0)
c.set(0x20000, (512,))  # the same object, another shape
refused(ValueError, "512", k, a, c, 3, 2.0)
c.set(0x20000, (1024,))
k(a, c, 3, 2.0)
assert args(5) == known
''')


def test_launches_that_fail():
    with_fake_gpu('''
result = ctypes.c_int.in_dll(gpu, "fake_result")
for _ in range(2):
    result.value = 700
    refused(RuntimeError, "FAKE_ERROR", k, a, c, 3, 2.0)
    refused(RuntimeError, "FAKE_ERROR", k, a, c, 3, 2.0)
    result.value = 0
    k(a, c, 3, 2.0)
    k(a, c, 3, 2.0)
''')


def test_threads_share_a_kernel():
    with_fake_gpu('''
wrong = []
def work(j):
    n = 256 * (j + 1)
    mine, other = Tensor(0x100000 * (j + 1), (n,)), Tensor(0x100000 * (j + 1) + 0x80000, (n,))
    try:
        for _ in range(500):
            k(mine, other, j, 1.0)
    except Exception as e:
        wrong.append(e)
before = launches()
threads = [threading.Thread(target=work, args=(j,)) for j in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
assert not wrong and launches() == before + 4000, (wrong, launches())
''')


def test_tensors_that_start_anywhere():
    with_fake_gpu('''
odd = Tensor(0x10004, (1024,))
for i in range(3):
    k(odd, c, 3, 2.0)
assert launches() == 4 and told("fake_grid", ctypes.c_uint) == 4 and 0x10004 in args(5)
k(a, c, 3, 2.0)
assert args(5) == known
k(a, Tensor(0x20008, (1024,)), 3, 2.0)
assert 0x20008 in args(5) and 0x10000 in args(5)
k(a, c, 3, 2.0)
k(a, c, 3, 2.0)
assert args(5) == known and launches() == 8
refused(Exception, "multiple of 4 bytes [argument-alignment]", k, Tensor(0x10002, (1024,)), c, 3, 2.0)
k(Tensor(0x10003, (0,)), Tensor(0x20003, (0,)), 3, 2.0)
''')
