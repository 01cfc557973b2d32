# The names of kernels written per thread: indices, barriers, warps, asynchronous copies, schedules.
# verify: :indices
# verify: :sums
# verify: :handover
# verify: :matrix_groups --sm_80=unsupported-here --sm_90a=unsupported-here --sm_120a=unsupported-here --template=unsupported-here --hip=unsupported-here
# verify: :scheduled --warns=ignored
# verify: :persistent
# verify: :cluster --sm_80=unsupported-here --hip=unsupported-here
# verify: :atomics
# verify: :raw_copies
import tilelang
import tilelang.language as T


@tilelang.jit
def indices(N=96, n=32):
    @T.prim_func
    def main(A: T.Tensor((N,), "int32"), B: T.Tensor((N,), "int32"), C: T.Tensor((N,), "int32")):
        with T.Kernel(N // n, threads=n) as bx:
            t = T.get_thread_binding(0)
            own = T.alloc_local((2,), "int32")
            x = T.alloc_var("int32")
            s = T.alloc_shared((n,), "int32")
            own[0] = A[T.get_block_binding(0) * n + t]
            own[1] = own[0] + t
            x = own[1] * 2
            s[t] = x
            T.sync_threads()
            B[bx * n + t] = s[n - 1 - t]
            i = T.thread_binding(0, n, thread="threadIdx.x")
            C[bx * n + i] = s[i]

    return main


@tilelang.jit
def sums(R=4, lanes=32, K=96):
    @T.prim_func
    def main(A: T.Tensor((R, K), "float32"), B: T.Tensor((R,), "float32"), V: T.Tensor((R * lanes,), "int32")):
        with T.Kernel(1, threads=(lanes, R)) as bx:
            t = T.get_thread_binding(0)
            r = T.get_thread_binding(1)
            part = T.alloc_local((1,), "float32")
            total = T.alloc_local((1,), "float32")
            T.clear(part)
            for k in T.serial(K // lanes):
                part[0] += A[r, k * lanes + t]
            with T.attr(T.comm_reducer(lambda x, y: x + y, [T.Cast("float32", 0)]), "reduce_scope", T.reinterpret(T.uint64(0), dtype="handle")):
                T.evaluate(T.tvm_thread_allreduce(T.uint32(1), part[0], True, total[0], t, dtype="handle"))
            product = T.alloc_local((1,), "float32")
            with T.attr(T.comm_reducer(lambda x, y: x * y, [T.Cast("float32", 1)]), "reduce_scope", T.reinterpret(T.uint64(0), dtype="handle")):
                T.evaluate(T.tvm_thread_allreduce(T.uint32(1), 1 + part[0] * 0.125, True, product[0], t, dtype="handle"))
            if t == 0:
                B[r] = total[0] + product[0]
            V[r * lanes + t] = T.any_sync(part[0] > 2.0)

    return main


# A group that loads and a group that works hand tiles over at barriers.
@tilelang.jit
def handover(N=64, rounds=4):
    @T.prim_func
    def main(A: T.Tensor((rounds, N), "float32"), B: T.Tensor((rounds, N), "float32")):
        with T.Kernel(1, threads=256) as bx:
            s = T.alloc_shared((2, N), "float32")
            full = T.alloc_barrier([128, 128])
            free = T.alloc_cluster_barrier([128, 128])
            T.disable_warp_group_reg_alloc()
            with T.ws(0):
                T.set_max_nreg(24, 0)
                for k in T.serial(rounds):
                    T.barrier_wait(free[k % 2], ((k // 2) & 1) ^ 1)
                    T.tma_copy(A[k, 0], s[k % 2, :], barrier=full[k % 2])
                    T.fence_proxy_async()
                    T.mbarrier_arrive(full[k % 2])
            with T.ws(1):
                T.set_max_nreg(240, 1)
                for k in T.serial(rounds):
                    T.mbarrier_wait_parity(full[k % 2], (k // 2) & 1)
                    for i in T.Parallel(N):
                        B[k, i] = s[k % 2, i] * 2
                    T.barrier_arrive(free[k % 2])

    return main


@tilelang.jit
def matrix_groups(M=64, N=32, K=32):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32"), D: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((M, K), "float16")
            b = T.alloc_shared((K, N), "float16")
            c = T.alloc_fragment((M, N), "float32")
            t = T.alloc_tmem((M, N), "float32")
            d = T.alloc_fragment((M, N), "float32")
            done = T.alloc_barrier(1)
            both = T.alloc_barrier(1)
            T.copy(A, a)
            T.copy(B, b)
            T.wgmma_gemm(a, b, c, clear_accum=True)
            T.wait_wgmma(0)
            T.tcgen05_gemm(a, b, t, mbar=done, clear_accum=True)
            T.tcgen05_mma_arrive(both)
            T.mbarrier_wait_parity(done, 0)
            T.mbarrier_wait_parity(both, 0)
            T.copy(t, d)
            T.copy(c, C)
            T.copy(d, D)

    return main


# What a schedule says of roles and pipelines changes the time, not the result.
@tilelang.jit
def scheduled(M=32, N=32, K=64, b=32):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((M, b), "float16")
            w = T.alloc_shared((b, N), "float16")
            c = T.alloc_fragment((M, N), "float32")
            T.annotate_ws_schedule(
                T.WSSchedule(
                    num_warps=8,
                    roles=[T.WSRole("load", warps_lo=0, warps_hi=4), T.WSRole("math", warps_lo=4, warps_hi=8)],
                    pipelines=[T.WSPipeline("ab", [a, w], depth=2)],
                    scopes=[
                        T.WSScope(T.WSScope.ROOT, {"load": ["loop"], "math": ["clear", "loop", "store"]}),
                        T.WSScope(
                            "loop",
                            {
                                "load": [T.WSSync.producer_acquire("ab"), "load_a", "load_b", T.WSSync.producer_commit("ab")],
                                "math": [T.WSSync.consumer_wait("ab"), "mma", T.WSSync.consumer_release("ab")],
                            },
                        ),
                    ],
                )
            )
            T.clear(c, annotations={T.WSID: "clear"})
            for k in T.serial(K // b, annotations={T.WSID: "loop"}):
                T.copy(A[0, k * b], a, annotations={T.WSID: "load_a"})
                T.copy(B[k * b, 0], w, annotations={T.WSID: "load_b"})
                with T.ws_op("mma"):
                    T.gemm(a, w, c)
            T.copy(c, C, annotations={T.WSID: "store"})

    return main


@tilelang.jit
def persistent(M=64, N=96, b=32):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(4, threads=64) as bx:
            s = T.alloc_shared((b, b), "float32")
            tiles = T.PersistentTileScheduler(M // b, N // b, num_workers=4)
            tiles.init(bx)
            while tiles.valid():
                T.copy(A[tiles.m_idx * b, tiles.n_idx * b], s)
                T.copy(s, B[tiles.m_idx * b, tiles.n_idx * b])
                tiles.next_tile()

    return main


# Blocks of a cluster have ranks; they may differ in what they do.
@tilelang.jit
def cluster(N=32):
    @T.prim_func
    def main(A: T.Tensor((4, N), "float32"), B: T.Tensor((4, N), "float32")):
        with T.ClusterKernel(4, cluster_dims=2, threads=32) as bx:
            rank = T.block_rank_in_cluster()
            for i in T.Parallel(N):
                B[bx, i] = A[bx, i] + rank

    return main


@tilelang.jit
def atomics(N=64):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), S: T.Tensor((8,), "float32"), B: T.Tensor((4,), "float32"), D: T.Tensor((N,), "int32")):
        with T.Kernel(2, threads=32) as bx:
            t = T.get_thread_binding()
            T.atomic_add(S[t % 8], A[bx * 32 + t])
            D[bx * 32 + t] = T.atomic_load(D[bx * 32 + t]) + 1
            if t == 0:
                T.atomic_addx4(B[0], A[bx * 32])

    return main


@tilelang.jit
def raw_copies(N=64):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32"), C: T.Tensor((N // 2,), "float32")):
        with T.Kernel(1, threads=16) as bx:
            t = T.get_thread_binding()
            s = T.alloc_shared((N,), "float32")
            here = T.alloc_barrier(16)
            T.ptx_cp_async(T.access_ptr(s[t * 4], "w", 4), T.access_ptr(A[t * 4], "r", 4), 4)
            T.cp_async_barrier_noinc(here)
            T.mbarrier_wait_parity(here, 0)
            half = T.make_tensor(T.address_of(A[N // 2]), (N // 2,), "float32")
            for j in T.serial(4):
                B[t * 4 + j] = s[N - 1 - t * 4 - j]
            for j in T.serial(2):
                C[t * 2 + j] = half[t * 2 + j]

    return main
