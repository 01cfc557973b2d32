# Tensor memory: what products of each kind give, operands in tensor memory, and faults that the simulator must find (fault=).
import tilelang
import tilelang.language as T


@tilelang.jit
def kinds(M=128, N=64, K=64, dtype="float16", accum="float32", threads=128, trans_A=False, trans_B=True):
    @T.prim_func
    def main(
        A: T.Tensor((K, M) if trans_A else (M, K), dtype),
        B: T.Tensor((N, K) if trans_B else (K, N), dtype),
        C: T.Tensor((M, N), accum),
    ):
        with T.Kernel(1, threads=threads) as bx:
            a = T.alloc_shared((K, M) if trans_A else (M, K), dtype)
            b = T.alloc_shared((N, K) if trans_B else (K, N), dtype)
            c = T.alloc_tmem([M, N], accum)
            out = T.alloc_fragment((M, N), accum)
            done = T.alloc_barrier(1)
            T.copy(A, a)
            T.copy(B, b)
            T.tcgen05_gemm(a, b, c, trans_A, trans_B, mbar=done, clear_accum=True)
            T.mbarrier_wait_parity(done, 0)
            T.copy(c, out)
            T.copy(out, C)

    return main


# A goes to tensor memory by itself: (A B) D, the first product rounded to the type of the operands.
@tilelang.jit
def chain(M=128, N=64, K=64, P=64, dtype="bfloat16", threads=128):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), D: T.Tensor((N, P), dtype), C: T.Tensor((M, P), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            a = T.alloc_shared((M, K), dtype)
            b = T.alloc_shared((N, K), dtype)
            d = T.alloc_shared((N, P), dtype)
            s = T.alloc_fragment((M, N), "float32")
            p = T.alloc_fragment((M, N), dtype)
            out = T.alloc_fragment((M, P), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.copy(D, d)
            T.gemm(a, b, s, transpose_B=True, clear_accum=True)
            T.copy(s, p)
            T.gemm(p, d, out, clear_accum=True)
            T.copy(out, C)

    return main


# fault: 0 none, 1 nobody waits, 2 nobody commits, 3 operands are overwritten too early, 4 the next product does not wait for the load.
@tilelang.jit
def faulty(M=128, N=32, K=32, fault=0):
    @T.prim_func
    def main(A: T.Tensor((2, M, K), "float16"), B: T.Tensor((N, K), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=256) as bx:
            a = T.alloc_shared((M, K), "float16")
            b = T.alloc_shared((N, K), "float16")
            c = T.alloc_tmem([M, N], "float32")
            out = T.alloc_fragment((M, N), "float32")
            full = T.alloc_barrier(1)
            taken = T.alloc_barrier(128)
            tx = T.get_thread_binding()
            T.copy(A[0, 0, 0], a)
            T.copy(B, b)
            T.sync_threads()
            if tx < 128:
                T.tcgen05_gemm(a, b, c, transpose_B=True, clear_accum=True)
                if fault != 2:
                    T.tcgen05_mma_arrive(full)
                if fault == 3:
                    T.copy(A[1, 0, 0], a)
                if fault != 4:
                    T.mbarrier_wait_parity(taken, 0)
                T.tcgen05_gemm(a, b, c, transpose_B=True, clear_accum=True)
                T.tcgen05_mma_arrive(full)
            else:
                if fault != 1:
                    T.mbarrier_wait_parity(full, 0)
                T.copy(c, out)
                T.mbarrier_arrive(taken)
                T.mbarrier_wait_parity(full, 1)
                T.copy(out, C)

    return main


# Each warp scales its own rows where its vote says so; warps of odd numbers vote against.  fault: 1 a sum over rows under such a vote, 2
# an operand that other warps hold.
@tilelang.jit
def voted(N=32, fault=0):
    @T.prim_func
    def main(A: T.Tensor((128, N), "float32"), F: T.Tensor((128,), "int32"), C: T.Tensor((128, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            t = T.alloc_tmem([128, N], "float32")
            r = T.alloc_fragment((128, N), "float32")
            top = T.alloc_fragment((N,), "float32")
            other = T.alloc_fragment((128, N), "float32")
            scale = T.alloc_shared((128,), "float32")
            tid = T.get_thread_binding()
            if fault == 2:
                T.annotate_layout({other: T.Fragment((128, N), forward_fn=lambda i, j: (127 - i, j))})
                T.copy(A, other)
            T.copy(A, r)
            T.copy(r, t)
            for i in T.Parallel(128):
                scale[i] = T.if_then_else((i // 32 % 2 == 0) & (F[i] % 2 != 0), 3.0, 1.0)
            T.sync_threads()
            any_row = T.any_sync(scale[tid] > 1.0)
            if any_row != 0:
                T.copy(t, r)
                for i, j in T.Parallel(128, N):
                    r[i, j] *= scale[i] if fault != 2 else other[i, j]
                if fault == 1:
                    T.reduce_sum(r, top, dim=0)
                T.copy(r, t)
            T.copy(t, r)
            T.copy(r, C)

    return main


# Rows of blocks add up products of so many steps each, the first none at all.
@tilelang.jit
def lengths(M=384, N=64, K=256, bk=64, dtype="bfloat16"):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, M // 128, threads=128) as (bx, by):
            a = T.alloc_shared((128, bk), dtype)
            b = T.alloc_shared((N, bk), dtype)
            c = T.alloc_fragment((128, N), "float32")
            T.clear(c)
            for k in T.Pipelined(by * 2, num_stages=2):
                T.copy(A[by * 128, k * bk], a)
                T.copy(B[0, k * bk], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C[by * 128, 0])

    return main


# The upper half of each row of a tile of float32 is A; other=True: a view with other rows than the tile.
@tilelang.jit
def overlaid(N=64, K=64, dtype="bfloat16", other=False):
    @T.prim_func
    def main(A: T.Tensor((128, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((128, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            b = T.alloc_shared((K, N), dtype)
            own = T.alloc_fragment((128, K), dtype)
            out = T.alloc_fragment((128, N), "float32")
            s = T.alloc_tmem([256 if other else 128, K // 2 if other else K], "float32")
            p = T.view(s, (128, 2 * K), dtype)
            c = T.alloc_tmem([128, N], "float32")
            done = T.alloc_barrier(1)
            T.copy(A, own)
            T.copy(own, p[:, K : 2 * K])
            T.copy(B, b)
            T.tcgen05_gemm(p[:, K : 2 * K], b, c, mbar=done, clear_accum=True)
            T.mbarrier_wait_parity(done, 0)
            T.copy(c, out)
            T.copy(out, C)

    return main


# All matrices of a stack at once, to tensor memory and back, and one of them alone.
@tilelang.jit
def stacked(L=3, M=128, N=32, threads=128, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((2, L, M, N), dtype), B: T.Tensor((2, L, M, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(1, threads=threads) as bx:
            own = T.alloc_fragment((2, L, M, N), dtype)
            back = T.alloc_fragment((2, L, M, N), dtype)
            one = T.alloc_fragment((M, N), dtype)
            c = T.alloc_tmem([2, L, M, N], dtype)
            T.copy(A, own)
            T.copy(own, c)
            T.copy(c, back)
            T.copy(c[1, L - 1, :, :], one)
            T.copy(back, B)
            T.copy(one, C)

    return main


# A in tensor memory, 64 rows of it or 128; B is one of a stack of stacks.
@tilelang.jit
def from_rows(M=64, N=32, K=128, dtype="bfloat16"):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            b = T.alloc_shared((2, 3, N, K), dtype)
            own = T.alloc_fragment((M, K), dtype)
            out = T.alloc_fragment((M, N), "float32")
            a = T.alloc_tmem([M, K], dtype)
            c = T.alloc_tmem([M, N], "float32")
            done = T.alloc_barrier(1)
            T.copy(A, own)
            T.copy(own, a)
            T.copy(B, b[1, 2, :, :])
            T.tcgen05_gemm(a, b[1, 2, :, :], c, transpose_B=True, mbar=done, clear_accum=True)
            T.mbarrier_wait_parity(done, 0)
            T.copy(c, out)
            T.copy(out, C)

    return main


# A sum of 16 bits that threads begin; mixed=True: and that the next product has as its A.
@tilelang.jit
def half_sums(M=128, N=32, K=32, dtype="float16", mixed=False):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float16"), A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float16")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((M, K), dtype)
            b = T.alloc_shared((K, N), dtype)
            own = T.alloc_fragment((M, N), "float16")
            c = T.alloc_tmem([M, N], "float16")
            d = T.alloc_tmem([M, N], "float16")
            done = T.alloc_barrier(1)
            T.copy(A, a)
            T.copy(B, b)
            T.copy(X, own)
            T.copy(own, c)
            T.tcgen05_gemm(a, b, c, mbar=done)
            T.mbarrier_wait_parity(done, 0)
            if mixed:
                T.tcgen05_gemm(c, b, d, mbar=done, clear_accum=True)
                T.mbarrier_wait_parity(done, 1)
            T.copy(d if mixed else c, own)
            T.copy(own, C)

    return main
