# What faults put into the emitters slipped by (test/mutate/emit.py): values that tell similar texts apart.
# verify: :signs
# verify: :signs dtype=float16
# verify: :signs dtype=bfloat16
# verify: :signs dtype=float8_e5m2
# verify: :before
# verify: :previous
# verify: :previous dtype=float16
# verify: :previous dtype=int8
# verify: :far --hip=on-chip-bytes
# verify: :adds
# verify: :adds dtype=float16
# verify: :adds dtype=float32
import tilelang
import tilelang.language as T


@tilelang.jit
def signs(N=256, dtype="float32"):
    """Integers of every width and sign become floats of every width, rounded once."""
    @T.prim_func
    def main(O: T.Tensor((6, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                wide = (T.cast(i, "int64") - 128) * 40007
                O[0, i] = T.cast(T.cast(wide, dtype), "float32")
                O[1, i] = T.cast(T.cast(T.cast(wide, "uint64"), dtype), "float32") * T.float32(0.5)
                O[2, i] = T.cast(T.cast(T.cast(wide, "int32"), dtype), "float32")
                O[3, i] = T.cast(T.cast(T.cast(wide, "uint32"), dtype), "float32") * T.float32(0.25)
                O[4, i] = T.cast(T.cast(T.cast(wide, "int16"), dtype), "float32")
                O[5, i] = T.cast(T.cast(T.cast(wide, "float64") * T.float64(-0.37), dtype), "float32")

    return main


@tilelang.jit
def adds(M=8, N=64, dtype="bfloat16"):
    """Neighbours are added to what a tensor holds, both of each pair."""
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), O: T.Tensor((M, N), dtype)):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((M, N), dtype)
            T.copy(A, a)
            for i, j in T.Parallel(M, N):
                T.atomic_add(O[i, j], a[i, j])

    return main


@tilelang.jit
def before(N=8, M=64):
    """Numbers of blocks and threads are signed: those before the first one are below 0."""
    @T.prim_func
    def main(A: T.Tensor((N, M), "int32"), B: T.Tensor((N, M), "int32")):
        with T.Kernel(N, threads=32) as bx:
            tx = T.get_thread_binding()
            for j in T.serial(M // 32):
                B[bx, j * 32 + tx] = (bx - 3) // 2 * 100 + (tx - 5) % 3 + T.if_then_else(bx - 1 < 0, A[bx, tx], 7) + T.max(tx - 9, -4)

    return main


@tilelang.jit
def previous(N=64, dtype="bfloat16"):
    """What was there before an update of a part of a word comes back."""
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), O: T.Tensor((N,), dtype), P: T.Tensor((N,), dtype)):
        with T.Kernel(1, threads=64) as bx:
            tx = T.get_thread_binding()
            P[tx] = T.atomic_max(O[tx], A[tx], return_prev=True)

    return main


@tilelang.jit
def far(M=310, K=128, rows=160):
    """Copies that run ahead, into shared memory past its first 64 KiB; the last tile is ragged."""
    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((M, K), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((rows, K), "float32")
            for k in T.Pipelined(T.ceildiv(M, rows), num_stages=2):
                T.copy(A[k * rows, 0], a)
                for i, j in T.Parallel(rows, K):
                    if k * rows + i < M:
                        B[k * rows + i, j] = a[i, j] + 1

    return main
