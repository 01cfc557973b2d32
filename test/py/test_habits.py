"""Kernels written the way libraries of others write them."""

import time

import numpy as np

import tilelang
import tilelang.language as T
from check import raises


def folded(n, threads):
    @T.prim_func
    def main(P: T.Tensor((n // 64, 64), "float16"), Out: T.Tensor((1,), "float32")):
        with T.Kernel(1, threads=threads):
            s = T.alloc_fragment((1,), "float32")
            T.clear(s)
            for i in T.Parallel(n):
                s[0] = s[0] + T.Cast("float32", P[i // 64, i % 64])
            if T.get_thread_binding(0) == 0:
                Out[0] = s[0]

    return main


def test_a_long_nest_into_one_scalar_compiles_at_once():
    start = time.process_time()
    tilelang.compile(folded(1 << 19, 256), target="sim -arch=sm_90a")
    assert time.process_time() - start < 3


def parted(rows, waits=True):
    """Two warpgroups take turns at tiles that a third one's list names; each of the three keeps
    what it found in the same local variables."""

    @T.prim_func
    def main(Row: T.Tensor((4,), "int32"), A: T.Tensor((rows * 32, 32), "float32"),
             B: T.Tensor((4, 32, 32), "float32")):
        with T.Kernel(1, threads=384):
            many = T.alloc_shared((1,), "int32")
            low = T.alloc_shared((32, 32), "float32")
            high = T.alloc_shared((32, 32), "float32")
            at = T.alloc_local((1,), "int32")
            ok = T.alloc_local((1,), "int32")
            tx = T.get_thread_binding()
            if tx < 128:
                if tx == 0:
                    many[0] = 0
                    for i in T.serial(4):
                        if Row[i] >= 0:
                            many[0] += 1
                if waits:
                    T.sync_threads()
            elif tx < 256:
                T.sync_threads()
                for w in T.serial(2):
                    ok[0] = 0
                    if 2 * w < many[0]:
                        ok[0] = 1
                        at[0] = Row[2 * w]
                    if ok[0] != 0:
                        T.copy(A[at[0] * 32, 0], low)
                        T.copy(low, B[2 * w, 0, 0])
            else:
                T.sync_threads()
                for w in T.serial(2):
                    ok[0] = 0
                    if 2 * w + 1 < many[0]:
                        ok[0] = 1
                        at[0] = Row[2 * w + 1]
                    if ok[0] != 0:
                        T.copy(A[at[0] * 32, 0], high)
                        T.copy(high, B[2 * w + 1, 0, 0])

    return main


def test_teams_decide_by_what_each_keeps_to_itself():
    row = np.array([2, 0, 1, -1], "int32")
    a = np.arange(3 * 32 * 32, dtype="float32").reshape(96, 32)
    for arch in ("sm_80", "sm_90a"):
        b = np.zeros((4, 32, 32), "float32")
        tilelang.compile(parted(3), target="sim -arch=" + arch)(row, a, b)
        assert np.array_equal(b[:3], a.reshape(3, 32, 32)[row[:3]])
        assert not b[3].any()


def test_a_barrier_that_one_arm_lacks_is_of_its_arm():
    row, a = np.array([2, 0, 1, -1], "int32"), np.zeros((96, 32), "float32")
    with raises(RuntimeError, "race"):
        tilelang.compile(parted(3, False), target="sim -arch=sm_90a")(
            row, a, np.zeros((4, 32, 32), "float32"))


def undecided():
    @T.prim_func
    def main(A: T.Tensor((256, 32), "float32"), B: T.Tensor((256, 32), "float32")):
        with T.Kernel(1, threads=256):
            s = T.alloc_shared((128, 32), "float32")
            ok = T.alloc_local((1,), "int32")
            tx = T.get_thread_binding()
            ok[0] = 1
            if tx < 128:
                if tx < 40:
                    ok[0] = 0
                if ok[0] != 0:
                    T.copy(A[0, 0], s)
                    T.copy(s, B[0, 0])

    return main


def test_a_team_that_parts_is_refused():
    with raises(Exception, "[tile-threads]"):
        tilelang.compile(undecided(), target="sim -arch=sm_90a")


def by_offset(m, n, wide):
    @T.prim_func
    def main(A: T.Tensor((m, n), "float16"), B: T.Tensor((m, wide), "float16")):
        with T.Kernel(T.ceildiv(m, 4), threads=64) as b:
            s = T.alloc_shared((4, wide), "float16")
            for i, j in T.Parallel(4, wide // 8):
                T.ptx_cp_async(
                    T.tvm_access_ptr(T.type_annotation("float16"), s.data, i * wide + j * 8, 8, 2),
                    T.tvm_access_ptr(T.type_annotation("float16"), A.data,
                                     (b * 4 + i) * n + j * 8, 8, 1),
                    8, predicate=T.And(b * 4 + i < m, j * 8 + 8 <= n))
            T.ptx_commit_group()
            T.ptx_wait_group(0)
            T.sync_threads()
            T.copy(s, B[b * 4, 0])

    return main


def test_addresses_by_offset():
    a = np.arange(6 * 24).astype("float16").reshape(6, 24)
    for arch in ("sm_80", "sm_90a"):
        b = np.ones((6, 64), "float16")
        tilelang.compile(by_offset(6, 24, 64), target="sim -arch=" + arch)(a, b)
        assert np.array_equal(b[:, :24], a) and not b[:, 24:].any()


@T.prim_func
def beside(A: T.Tensor((32,), "uint8"), H: T.Tensor((32,), "float16"), B: T.Tensor((6, 32), "int32"),
           F: T.Tensor((2, 32), "float32")):
    with T.Kernel(1, threads=32):
        for i in T.Parallel(32):
            B[0, i] = A[i] + 200
            B[1, i] = A[i] - 255
            B[2, i] = A[i] << 4
            B[3, i] = T.cast(A[i] << 20, "uint32") >> 16
            B[4, i] = (A[i] & 15) * 100 - 8
            B[5, i] = A[i] // 3
            F[0, i] = H[i] * 0.1 + 2048.0
            F[1, i] = H[i] * 3 + H[i]


def test_numbers_beside_narrow_types():
    a = np.arange(0, 256, 8, dtype="uint8")
    h = (np.arange(32) / 8).astype("float16")
    wide = a.astype("int32")
    want = [wide + 200, wide - 255, wide << 4, (wide << 20) >> 16, (wide & 15) * 100 - 8, wide // 3]
    for target in ("c", "sim -arch=sm_80"):
        b, f = np.zeros((6, 32), "int32"), np.zeros((2, 32), "float32")
        tilelang.compile(beside, target=target)(a, h, b, f)
        assert np.array_equal(b, np.array(want))
        assert np.array_equal(f[0], h.astype("float32") * np.float32(0.1) + np.float32(2048))
        assert np.array_equal(f[1], (h * np.float16(3) + h).astype("float32"))


def dropped(n, threads, each, p):
    @T.prim_func
    def main(X: T.Tensor((n,), "float32"), Y: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, threads * each), threads=threads) as b:
            T.rng_init(7)
            for i, j in T.Parallel(threads, each):
                at = (b * threads + i) * each + j
                r = T.rng_rand_float()
                if at < n:
                    Y[at] = T.if_then_else(r >= p, X[at] * 2, 0.0)

    return main


def test_random_numbers_inside_a_nest():
    x, y = np.ones(1000, "float32"), np.full(1000, 5, "float32")
    tilelang.compile(dropped(1000, 64, 4, 0.5), target="sim -arch=sm_90a")(x, y)
    assert set(y) == {0, 2} and 0.4 < (y == 0).mean() < 0.6


def scheduled(n):
    """A schedule of groups of statements, and a map for what each thread keeps."""

    @T.prim_func
    def main(A: T.Tensor((n, 32), "float32"), B: T.Tensor((32,), "float32")):
        with T.Kernel(1, threads=32):
            tile = T.alloc_shared((8, 32), "float32")
            each = T.alloc_fragment((32,), "float32")
            best = T.alloc_local([1], "float32")
            T.annotate_layout({best: T.Fragment(best.shape, forward_thread_fn=lambda i: i)})
            T.clear(each)
            best[0] = 2.0
            for k in T.Pipelined(n // 8, num_stages=2, order=[-1, 0], stage=[-1, 0],
                                 group=[[0], [1, 2]]):
                T.copy(A[k * 8, 0], tile)
                for i in T.serial(4):
                    for j in T.Parallel(32):
                        each[j] += tile[i, j]
                for i in T.serial(4):
                    for j in T.Parallel(32):
                        each[j] += tile[i + 4, j]
            for j in T.Parallel(32):
                B[j] = each[j] * best[0]

    return main


def test_schedules_of_groups_and_maps_of_locals():
    a, b = np.arange(64 * 32, dtype="float32").reshape(64, 32), np.zeros(32, "float32")
    for arch in ("sm_80", "sm_90a"):
        tilelang.compile(scheduled(64), target="sim -arch=" + arch)(a, b)
        assert np.array_equal(b, a.sum(0) * 2)


def saving(target, save):
    n, pitch = T.dynamic("n"), T.dynamic("pitch")

    @tilelang.jit(target=target)
    def made():
        @T.prim_func
        def main(A: T.Tensor[(n, 8), "float32"], B: T.Tensor[(n, 8), "float32"],
                 C: T.StridedTensor[(n, 2), (pitch, 1), "float32"]):
            with T.Kernel(n, threads=32) as b:
                for i in T.Parallel(8):
                    B[b, i] = A[b, i] + 1
                if save:
                    C[b, 0] = A[b, 0]

        return main

    return made()


def test_none_for_what_the_kernel_does_not_touch():
    a = np.ones((5, 8), "float32")
    for target in ("c", "sim -arch=sm_90a"):
        b = np.zeros_like(a)
        kernel = saving(target, False)
        kernel(a, b, None)
        kernel(a, b, None)
        assert (b == 2).all()
        with raises(TypeError, "'C'"):
            saving(target, True)(a, b, None)


def staged(n):
    @T.macro
    def one(A, low):
        step = 1 << low
        with T.Kernel(1, threads=32):
            for i in T.Parallel(32):
                A[i] = A[i] + i // step

    @T.prim_func
    def main(A: T.Tensor((32,), "int32")):
        one(A, 0)
        for s in range(0, n, 2):
            one(A, s + 1)

    return main


def test_loops_around_kernels_may_be_empty():
    i = np.arange(32)
    for n in (0, 3):
        a = np.zeros(32, "int32")
        tilelang.compile(staged(n), target="sim -arch=sm_90a")(a)
        assert np.array_equal(a, i + sum(i // (2 << s) for s in range(0, n, 2)))


def firsts(n, many):
    """The places of the largest values, by a reducer that is assigned to."""

    @T.prim_func
    def main(S: T.Tensor((2, n), "float32"), O: T.Tensor((2, many), "int32")):
        with T.Kernel(2, threads=32) as b:
            f = T.alloc_fragment((n,), "float32")
            most = T.alloc_fragment((1,), "float32")
            at = T.alloc_reducer((1,), "int32", "min", replication="all")
            found = T.alloc_shared((many,), "int32")
            T.copy(S[b, 0], f)
            for k in T.unroll(many):
                T.reduce_max(f, most)
                T.fill(at, T.max_value("int32"))
                for i in T.Parallel(n):
                    if f[i] == most[0]:
                        at[0] = T.min(at[0], i)
                T.finalize_reducer(at)
                found[k] = at[0]
                for i in T.Parallel(n):
                    if i == at[0]:
                        f[i] = -T.infinity("float32")
            T.copy(found, O[b, 0])

    return main


def test_reducers_that_are_assigned_to():
    s = np.random.default_rng(3).permutation(192).astype("float32").reshape(2, 96)
    for arch in ("sm_80", "sm_90a"):
        o = np.zeros((2, 4), "int32")
        tilelang.compile(firsts(96, 4), target="sim -arch=" + arch)(s, o)
        assert np.array_equal(o, np.argsort(-s, 1)[:, :4])


def copied_out():
    """Each value is held by many threads, and some of them have no place in the tensor."""

    @T.prim_func
    def main(A: T.Tensor((2, 8), "float32"), B: T.Tensor((2, 6), "float32")):
        with T.Kernel(2, threads=256) as b:
            f = T.alloc_fragment((1, 8), "float32")
            T.annotate_layout({f: T.Fragment(
                (1, 8), replicate=32,
                forward_fn=lambda i, j, k: (j * 4 + k // 4 * 32 + k % 4, i))})
            for i, j in T.Parallel(1, 8):
                f[i, j] = A[b, j]
            for i, j in T.Parallel(1, 8):
                B[b + i, j] = f[i, j]

    return main


def test_replicas_store_inside_of_the_tensor_only():
    a, b = np.arange(16, dtype="float32").reshape(2, 8), np.zeros((2, 6), "float32")
    tilelang.compile(copied_out(), target="sim -arch=sm_90a")(a, b)
    assert np.array_equal(b, a[:, :6])


def unpacked():
    from tilelang import quantize as q

    signed = q._tir_packed_int_to_int_convert("uint", 8)
    plain = q._tir_packed_to_unsigned_convert("uint", 8)
    centred = q._tir_packed_to_signed_convert("uint", 8)

    @T.prim_func
    def main(A: T.Tensor((64,), "uint8"), B: T.Tensor((3, 128), "float16")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(128):
                B[0, i] = signed(4, A[i // 2], i % 2, dtype="float16")
                B[1, i] = plain(4, A[i // 2], i % 2, dtype="float16")
                B[2, i] = centred(4, A[i // 2], i % 2, dtype="float16")

    return main


def test_numbers_of_four_bits():
    a = np.arange(0, 256, 4).astype("uint8") ^ 0x35
    four = np.stack([a & 15, a >> 4], 1).reshape(-1).astype(int)
    for target in ("c", "sim -arch=sm_80"):
        b = np.zeros((3, 128), "float16")
        tilelang.compile(unpacked(), target=target)(a, b)
        assert np.array_equal(b, np.array([(four ^ 8) - 8, four, four - 8]))


def by_rows():
    """A map that names threads only: what it does not mention are slots."""

    @T.prim_func
    def main(A: T.Tensor((64, 8), "float32"), B: T.Tensor((64, 8), "float32")):
        with T.Kernel(1, threads=64):
            f = T.alloc_fragment((64, 8), "float32")
            T.annotate_layout({f: T.Fragment(f.shape, forward_thread_fn=lambda i, j: i)})
            T.copy(A, f)
            for i, j in T.Parallel(64, 8):
                f[i, j] = f[i, j] * 2
            T.copy(f, B)

    return main


def test_maps_that_name_threads_only():
    a = np.arange(512, dtype="float32").reshape(64, 8)
    b = np.zeros_like(a)
    tilelang.compile(by_rows(), target="sim -arch=sm_90a")(a, b)
    assert np.array_equal(b, a * 2)
