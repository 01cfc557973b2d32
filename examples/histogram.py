"""How often each number under `bins` occurs: counted in shared memory, then added up.

    tl verify examples/histogram.py N=1000

Numbers that are not under `bins` are not counted.
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def histogram(N=10000, bins=256, blocks=None, threads=256, each=16, dtype="int32"):
    step = threads * each
    blocks = blocks or min(1056, -(-N // step))
    rounds = T.ceildiv(N, blocks * step)

    @T.prim_func
    def main(X: T.Tensor((N,), dtype), count: T.Tensor((bins,), "int32")):
        with T.Kernel(T.ceildiv(bins, 128), threads=128) as bx:
            for i in T.Parallel(128):
                if bx * 128 + i < bins:
                    count[bx * 128 + i] = 0

        with T.Kernel(blocks, threads=threads) as bx:
            here = T.alloc_shared((bins,), "int32")
            x = T.alloc_fragment((step,), dtype)
            T.clear(here)
            for r in T.serial(rounds):
                base = (r * blocks + bx) * step
                if base + step <= N:
                    T.copy(X[base], x)
                    for i in T.Parallel(step):
                        if x[i] >= 0 and x[i] < bins:
                            T.atomic_add(here[x[i]], 1)
                else:
                    for i in T.Parallel(step):
                        if base + i < N:
                            if X[base + i] >= 0 and X[base + i] < bins:
                                T.atomic_add(here[X[base + i]], 1)
            for i in T.Parallel(bins):
                T.atomic_add(count[i], here[i])

    return main


# ---- python3 examples/histogram.py ---------------------------------------------------------------

def verify(N=10000, bins=256):
    import numpy as np
    from tilelang.script import check, integers

    X = integers(0, bins, N, dtype="int32")
    return check(histogram(N, bins), [X], np.bincount(X, minlength=bins))


def bench(N=1000000, bins=256):
    from tilelang.script import integers, timed

    timed(histogram(N, bins), [integers(0, bins, N, dtype="int32")], N)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
