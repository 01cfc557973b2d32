"""Persistent loops and tile schedulers visit every tile once."""
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((7, 5), "int32"), B: T.Tensor((7, 5), "int32"), C: T.Tensor((7, 5), "int32")):
    with T.Kernel(3, threads=64) as bx:
        s = T.PersistentTileScheduler(7, 5, num_workers=3, swizzle_size=2)
        s.init(bx)
        while s.valid():
            A[s.m_idx, s.n_idx] = s.linear_idx
            s.next_tile()
        for m, n in T.Persistent([7, 5], 3, bx, group_size=2):
            B[m, n] = m * 10 + n
        t = T.PersistentTileScheduler(7, 5, num_workers=3, column_major=False, stateful=False)
        for w in T.serial(12):
            if w * 3 + bx < 35:
                m, n = t.coord(w * 3 + bx)
                C[m, n] = w * 3 + bx


@T.prim_func
def reference(A: T.Tensor((7, 5), "int32"), B: T.Tensor((7, 5), "int32"), C: T.Tensor((7, 5), "int32")):
    with T.Kernel(1, threads=64) as bx:
        for m, n in T.grid(7, 5):
            A[m, n] = m * 2 + n % 2 + n // 2 * 14 if n < 4 else 28 + m
            B[m, n] = m * 10 + n
            C[m, n] = m * 5 + n
