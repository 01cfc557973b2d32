"""Rows sorted with the places that their elements came from: a bitonic network in shared memory.

    tl verify examples/sort.py M=3 N=64

N is a power of two.  Equal elements keep their order: of two the one that stood first is less.
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[1, 2])
def sort(M=16, N=1024, dtype="float32", threads=None):
    steps = N.bit_length() - 1
    threads = threads or min(max(N // 8, 32), 512)

    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M, N), dtype), place: T.Tensor((M, N), "int32")):
        with T.Kernel(M, threads=threads) as bx:
            key = T.alloc_shared((N,), dtype)
            at = T.alloc_shared((N,), "int32")
            T.copy(X[bx, 0], key)
            for i in T.Parallel(N):
                at[i] = i
            for s in T.serial(steps):  # runs of 2 << s, every other one from the greatest down
                for t in T.serial(s + 1):
                    far = 1 << (s - t)
                    for i in T.Parallel(N // 2):
                        a = i // far * far * 2 + i % far
                        b = a + far
                        greater = key[a] > key[b] or (key[a] == key[b] and at[a] > at[b])
                        if greater == (a & (2 << s) == 0):
                            x = key[a]
                            p = at[a]
                            key[a] = key[b]
                            key[b] = x
                            at[a] = at[b]
                            at[b] = p
            T.copy(key, Y[bx, 0])
            T.copy(at, place[bx, 0])

    return main


# ---- python3 examples/sort.py --------------------------------------------------------------------

def verify(M=16, N=256):
    import numpy as np
    from tilelang.script import check, integers

    X = integers(0, N, M, N, dtype="float32")
    place = np.argsort(X, 1, kind="stable")
    return check(sort(M, N), [X], [np.take_along_axis(X, place, 1), place])


def bench(M=64, N=512):
    from tilelang.script import normal, timed

    timed(sort(M, N), [normal(M, N)])


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
