"""Products of AMD's waves by hand: the emitters of tilelang.rocm.intrinsics, in the simulator."""

import numpy as np
import tilelang
import tilelang.language as T
from check import raises
from tilelang.rocm.intrinsics import (MatrixCorePreshuffleIntrinEmitter, get_mma_micro_size, make_mfma_swizzle_layout,
                                      mfma_layout)
from tilelang.tileop import GemmWarpPolicy

TARGET = "hip -mcpu=gfx942"


def product(emitter, M, N, K, dtype, accum, fragment):
    e = emitter
    m, n, k = e.block_row_warps * e.warp_row_tiles, e.block_col_warps * e.warp_col_tiles, e.micro_size_k * e.k_pack
    steps = e.chunk // k
    b_shape = (N, K) if e.b_transposed else (K, N)
    b_tile = (n, e.chunk) if e.b_transposed else (e.chunk, n)
    if e.b_preshuffle:
        b_shape = (N // 16, K // k, 16, k) if e.b_transposed else (K // k, N // 16, k, 16)

    @T.prim_func
    def main(A: T.Tensor((K, M) if e.a_transposed else (M, K), dtype), B: T.Tensor(b_shape, dtype), C: T.Tensor((M, N), accum)):
        with T.Kernel(N // n, M // m, threads=e.threads) as (bx, by):
            A_s = T.alloc_shared((e.chunk, m) if e.a_transposed else (m, e.chunk), dtype)
            B_s = T.alloc_shared(b_tile, dtype)
            a = T.alloc_local((e.warp_rows * e.local_size_a * e.k_pack,), dtype)
            b = T.alloc_local((e.warp_cols * e.local_size_b * e.k_pack,), dtype)
            T.annotate_layout({A_s: make_mfma_swizzle_layout(A_s)})
            if fragment:
                c = T.alloc_fragment((m, n), accum)
                T.annotate_layout({c: e.make_mfma_store_layout(c)})
            else:
                c = T.alloc_local((e.warp_rows * e.warp_cols * e.local_size_out,), accum)
            T.clear(c)
            for ko in T.serial(K // e.chunk):
                if e.a_transposed:
                    T.copy(A[ko * e.chunk, by * m], A_s)
                else:
                    T.copy(A[by * m, ko * e.chunk], A_s)
                if e.b_transposed and not e.b_preshuffle:
                    T.copy(B[bx * n, ko * e.chunk], B_s)
                elif not e.b_preshuffle:
                    T.copy(B[ko * e.chunk, bx * n], B_s)
                for ki in T.serial(steps):
                    e.ldmatrix_a(a, A_s, ki)
                    if e.b_preshuffle:
                        e.ldmatrix_b(b, B, ko * steps + ki, pid_m=by, pid_n=bx)
                    else:
                        e.ldmatrix_b(b, B_s, ki)
                    e.mfma(a, b, c)
            if fragment:
                T.copy(c, C[by * m, bx * n])
            else:
                e.stmatrix(c, C, pid_m=by, pid_n=bx)

    return main


def shuffled(b, rows_first, k):
    """B as the emitter wants it: pieces of 16 by k together."""
    r, c = b.shape
    each = (16, k) if rows_first else (k, 16)
    return np.ascontiguousarray(b.reshape(r // each[0], each[0], c // each[1], each[1]).transpose(0, 2, 1, 3))


def multiply(dtype, accum, ta, tb, k_pack, fragment, shuffle, shape=None):
    M, N, K, rng = 64, 64, 128, np.random.default_rng(3)
    e = MatrixCorePreshuffleIntrinEmitter(
        a_dtype=dtype, b_dtype=dtype, accum_dtype=accum, a_transposed=ta, b_transposed=tb, block_row_warps=2, block_col_warps=1,
        warp_row_tiles=32, warp_col_tiles=32, chunk=64, k_pack=k_pack, b_preshuffle=shuffle, target=TARGET, mfma_shape=shape)
    kernel = tilelang.compile(product(e, M, N, K, dtype, accum, fragment), target="sim " + TARGET)
    a, b = rng.integers(-4, 5, (M, K)), rng.integers(-4, 5, (K, N))
    A, B, C = (a.T if ta else a), (b.T if tb else b), np.zeros((M, N), accum)
    if shuffle:
        B = shuffled(np.ascontiguousarray(B), tb, e.micro_size_k * k_pack)
    kernel(np.ascontiguousarray(A).astype(dtype), np.ascontiguousarray(B).astype(dtype), C)
    assert (C == a @ b).all(), (dtype, ta, tb, k_pack, fragment, shuffle)


def test_products_of_slots():
    multiply("float16", "float32", False, True, 1, False, False)
    multiply("float16", "float32", True, False, 2, False, False)
    multiply("int8", "int32", False, False, 2, False, False)
    multiply("float16", "float32", False, True, 1, False, False, shape=(32, 32, 8))


def test_products_of_fragments():
    multiply("float16", "float32", False, True, 2, True, False)
    multiply("int8", "int32", True, True, 1, True, False)
    multiply("int8", "int32", False, True, 1, True, False, shape=(32, 32, 16))


def test_shuffled_operands():
    multiply("int8", "int32", False, True, 2, True, True)
    multiply("float16", "float32", True, False, 1, False, True)


def test_layouts_are_inverse():
    for name in dir(mfma_layout):
        if name.startswith("shared_") and name[-2:] in ("_A", "_B") and "_to_local_" in name:
            a, b = name[len("shared_"):-len("_layout_A")].split("_to_local_")
            back = getattr(mfma_layout, "thread_id_shared_access_%s_to_%s_layout_%s" % (b, a, name[-1]))
            lanes, slots = (int(x) for x in b.split("x"))
            places = {back(lane, slot) for lane in range(lanes) for slot in range(slots)}
            assert len(places) == lanes * slots, name
            assert all(getattr(mfma_layout, name)(*back(lane, slot)) == (lane, slot)
                       for lane in range(lanes) for slot in range(slots)), name


def test_what_is_not_there_says_so():
    raises(NotImplementedError, lambda: MatrixCorePreshuffleIntrinEmitter(reduce_k=2, target=TARGET))
    raises(ValueError, lambda: MatrixCorePreshuffleIntrinEmitter(target=TARGET))  # a tile of 8 by 8
    assert get_mma_micro_size("int8") == (16, 16, 32) and get_mma_micro_size("float16") == (16, 16, 16)


def test_warps_of_a_policy():
    assert GemmWarpPolicy.Square.compute_warp_partition(128, 128, 4) == (2, 2)
    assert GemmWarpPolicy.FullRow.compute_warp_partition(128, 32, 4) == (4, 1)
    assert GemmWarpPolicy.FullCol.compute_warp_partition(16, 128, 4) == (1, 4)
    assert GemmWarpPolicy.FullRow.compute_warp_partition(32, 64, 4) == (2, 2)
    assert GemmWarpPolicy.from_warp_partition(1, 4) is GemmWarpPolicy.FullCol
    assert T.GemmWarpPolicy is GemmWarpPolicy


def test_warp_reductions_are_of_32_lanes():
    """On waves of 64 as well: kernels that share rows among 32 threads give the same sums."""
    @T.prim_func
    def main(X: T.Tensor((80,), "int32"), Y: T.Tensor((5, 80), "int32"), Z: T.Tensor((2, 80), "uint32")):
        with T.Kernel(1, threads=80):
            t = T.get_thread_binding()
            Y[0, t] = T.warp_reduce_sum(X[t])
            Y[1, t] = T.warp_reduce_max(X[t])
            Y[2, t] = T.warp_reduce_min(X[t])
            Y[3, t] = T.warp_reduce_bitand(X[t])
            Y[4, t] = T.warp_reduce_bitor(X[t])
            Z[0, t] = T.match_any_sync(X[t])
            Z[1, t] = T.match_all_sync(t // 32 + X[t] * (t // 64))

    x = np.random.default_rng(7).integers(1, 50, 80).astype("int32")
    rows = [x[:32], x[32:64], x[64:]]
    want = [[f(r) for r in rows for _ in r] for f in (np.sum, np.max, np.min, np.bitwise_and.reduce, np.bitwise_or.reduce)]
    same = [sum(1 << i for i, v in enumerate(r) if v == u) for r in rows for u in r]
    for target in ("sim " + TARGET, "sim hip -mcpu=gfx90a", "cpu", "sim -arch=sm_80"):
        y, z = np.zeros((5, 80), "int32"), np.zeros((2, 80), "uint32")
        tilelang.compile(main, target=target)(x, y, z)
        assert (y == np.array(want)).all(), target
        assert (z[0] == same).all() and (z[1, :64] == 0xFFFFFFFF).all() and (z[1, 64:] == 0).all(), target
