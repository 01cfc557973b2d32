"""Correct calls and kernels made wrong at random: an exception each, never a crash, and what is not
refused gives the right answer.  TILELANG_FUZZ=n makes more of them."""

import linecache
import os
import random

import numpy as np

import tilelang
import tilelang.language as T
from check import near

ROUNDS = int(os.environ.get("TILELANG_FUZZ", "150"))


def kernel():
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n, 8), "float32"), B: T.Tensor((n, 8), "float32"), s: T.int32):
        with T.Kernel(T.ceildiv(n, 4), threads=32) as bx:
            for i, j in T.Parallel(4, 8):
                B[bx * 4 + i, j] = A[bx * 4 + i, j] + T.cast(s, "float32")

    return tilelang.compile(main, target="cpu")


def bad_array(rng, x):
    return rng.choice([
        lambda: x.astype("float64"), lambda: x.astype("int32"), lambda: x[:, :7],
        lambda: x[::2], lambda: x[::-1], lambda: x.T, lambda: x.reshape(-1), lambda: x[None],
        lambda: np.asfortranarray(x), lambda: x.tolist(), lambda: None, lambda: "x",
        lambda: 3, lambda: object(), lambda: x.astype(">f4"), lambda: x.astype("complex64"),
        lambda: np.zeros((1,) * 9, "float32"), lambda: x[:0], lambda: np.array(None),
        lambda: x.astype("float32").view("V4"), lambda: x.copy(),
    ])()


def test_wrong_calls():
    rng = random.Random(1)
    k = kernel()
    refused = 0
    for _ in range(ROUNDS):
        a = np.arange(rng.randrange(1, 9) * 8, dtype="float32").reshape(-1, 8)
        args = [a, np.zeros_like(a), 2]
        what = rng.randrange(4)
        if what == 0:
            args[rng.randrange(2)] = bad_array(rng, a)
        elif what == 1:
            args[2] = rng.choice([1.5, "1", None, 1 << 33, -1 << 40, [1], a, True, np.int8(2)])
        elif what == 2:
            args = args[: rng.randrange(3)]
        else:
            args.append(a)
        was = np.array(args[0], copy=True) if args else None
        try:
            k(*args)
        except (TypeError, ValueError, OverflowError) as e:
            refused += 1
            assert str(e)
            continue
        near(args[1], was + float(args[2]))
    assert refused > ROUNDS // 2


TEXT = """
@T.prim_func
def main(A: T.Tensor((16, 16), "float32"), B: T.Tensor((16, 16), "float32")):
    with T.Kernel(T.ceildiv(16, 8), threads=32) as bx:
        s = T.alloc_shared((8, 16), "float32")
        f = T.alloc_fragment((8, 16), "float32")
        T.copy(A[bx * 8, 0], s)
        for i, j in T.Parallel(8, 16):
            f[i, j] = s[i, j] * 2.0 + helper(i)
        T.copy(f, B[bx * 8, 0])
"""
WORDS = ("bx 8 16 0 s f A B i j T. T.copy T.Parallel ( ) [ ] , : = == + - * / // 'x' None lambda "
         "helper main 2.0 \"float32\" \"float99\" if for in with -1 9999 T.serial T.gemm {} "
         "T.alloc_shared").split()


def mutate(rng):
    import re

    parts = re.findall(r"\s+|\w+\.\w+|\w+|.", TEXT)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(20, len(parts))
        how = rng.randrange(3)
        if how == 0:
            parts[at] = rng.choice(WORDS)
        elif how == 1:
            del parts[at]
        else:
            parts.insert(at, rng.choice(WORDS))
    return "".join(parts)


def helper(x):
    return T.cast(x, "float32")


def test_wrong_kernels():
    rng = random.Random(2)
    refused = 0
    for i in range(ROUNDS):
        text, name = mutate(rng), "<fuzz %d>" % i
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        space = {"T": T, "helper": helper}
        try:
            exec(compile(text, name, "exec"), space)
            tilelang.lower(space["main"], target="cuda -arch=sm_80")
        except tilelang.TileLangError as e:
            assert e.tag and e.tag != "internal", "%s\n%s" % (e, text)
            refused += 1
        except Exception:
            refused += 1
        linecache.cache.pop(name)
    assert refused > ROUNDS // 3
