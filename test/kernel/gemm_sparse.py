# Sparse products: A keeps two of four elements, E says which.
# verify: :halves
# verify: :halves M=32 N=24 K=64 meta=int32
# verify: :halves tb=True meta=uint8
# verify: :halves any_word=True
# verify: :bytes
# verify: :words
# verify: :turned
# verify: :groups --gfx90a=on-chip-bytes --gfx942=on-chip-bytes
# verify: :groups dtype=bfloat16 meta=uint8 threads=128 --gfx90a=on-chip-bytes --gfx942=on-chip-bytes
# verify: :groups dtype=int8 acc=int32 meta=int32
# verify: :groups dtype=float8_e4m3 meta=int16
# verify: :groups dtype=float32 K=128 bk=64 --gfx90a=on-chip-bytes --gfx942=on-chip-bytes
import tilelang
import tilelang.language as T
from tilelang.cuda.intrinsics.sparse_layout import get_e_factor

# Any word becomes metadata: of each group the first is one of the first two, the second one of the last two.
LOW = {"int16": 0x5555, "int32": 0x55555555, "uint8": 0x55}
HIGH = {"int16": -0x7778, "int32": -0x77777778, "uint8": 0x88}


@T.macro
def valid(E, row, col, s, meta):
    for i, j in T.Parallel(s.shape[0], s.shape[1]):
        s[i, j] = (E[row + i, col + j] & LOW[meta]) | HIGH[meta]


# Of two 32-bit elements one: its place counts in halves.
@T.macro
def ones(E, col, s):
    for i, j in T.Parallel(s.shape[0], s.shape[1]):
        s[i, j] = T.if_then_else(E[i, col + j] % 2 == 0, 0x4E4E, 0x44E4)


@tilelang.jit
def halves(M=32, N=16, K=128, bk=64, meta="int16", tb=False, any_word=False):
    e = get_e_factor(T.float16, meta)

    @T.prim_func
    def main(A: T.Tensor((M, K // 2), "float16"), E: T.Tensor((M, K // e), meta), B: T.Tensor((N, K) if tb else (K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((M, bk // 2), "float16")
            s = T.alloc_shared((M, bk // e), meta)
            b = T.alloc_shared((N, bk) if tb else (bk, N), "float16")
            c = T.alloc_fragment((M, N), "float32")
            for k in T.Pipelined(K // bk, num_stages=2):
                T.copy(A[0, k * bk // 2], a)
                if any_word:
                    T.copy(E[0, k * bk // e], s)
                else:
                    valid(E, 0, k * bk // e, s, meta)
                if tb:
                    T.copy(B[0, k * bk], b)
                else:
                    T.copy(B[k * bk, 0], b)
                T.gemm_sp(a, s, b, c, transpose_B=tb, clear_accum=k == 0)
            T.copy(c, C)

    return main


@tilelang.jit
def bytes(M=16, N=16, K=64):
    @T.prim_func
    def main(A: T.Tensor((M, K // 2), "int8"), E: T.Tensor((M, K // 32), "int32"), B: T.Tensor((K, N), "int8"), C: T.Tensor((M, N), "int32")):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((M, K // 2), "int8")
            s = T.alloc_shared((M, K // 32), "int32")
            b = T.alloc_shared((K, N), "int8")
            c = T.alloc_fragment((M, N), "int32")
            T.copy(A, a)
            valid(E, 0, 0, s, "int32")
            T.copy(B, b)
            T.clear(c)
            T.gemm_sp(a, s, b, c)
            T.gemm_sp(a, s, b, c)
            T.copy(c, C)

    return main


# Of 32-bit elements one of two is kept.
@tilelang.jit
def words(M=16, N=8, K=32):
    @T.prim_func
    def main(A: T.Tensor((M, K // 2), "float32"), E: T.Tensor((M, K // 8), "int16"), B: T.Tensor((K, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((M, K // 2), "float32")
            s = T.alloc_shared((M, K // 8), "int16")
            b = T.alloc_shared((K, N), "float32")
            c = T.alloc_fragment((M, N), "float32")
            T.copy(A, a)
            T.copy(E, s)
            T.copy(B, b)
            T.gemm_sp(a, s, b, c, clear_accum=True)
            T.copy(c, C)

    return main


@tilelang.jit
def turned(M=16, N=8, K=64):
    @T.prim_func
    def main(A: T.Tensor((K // 2, M), "float16"), E: T.Tensor((K // 16, M), "int16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float16")):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((K // 2, M), "float16")
            s = T.alloc_shared((K // 16, M), "int16")
            b = T.alloc_shared((K, N), "float16")
            c = T.alloc_fragment((M, N), "float16")
            T.copy(A, a)
            valid(E, 0, 0, s, "int16")
            T.copy(B, b)
            T.clear(c)
            T.gemm_sp(a, s, b, c, transpose_A=True, transpose_E=True)
            T.copy(c, C)

    return main


# Rows and threads enough for the sparse instructions of warpgroups.
@tilelang.jit
def groups(M=128, N=64, K=256, bk=128, dtype="float16", meta="int16", acc="float32", threads=256, any_word=False):
    e = get_e_factor(dtype, meta)

    @T.prim_func
    def main(A: T.Tensor((M, K // 2), dtype), E: T.Tensor((M, K // e), meta), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), acc)):
        with T.Kernel(1, threads=threads) as bx:
            a = T.alloc_shared((M, bk // 2), dtype)
            s = T.alloc_shared((M, bk // e), meta)
            b = T.alloc_shared((N, bk), dtype)
            c = T.alloc_fragment((M, N), acc)
            T.clear(c)
            for k in T.Pipelined(K // bk, num_stages=2):
                T.copy(A[0, k * bk // 2], a)
                if any_word:
                    T.copy(E[0, k * bk // e], s)
                elif dtype == "float32":
                    ones(E, k * bk // e, s)
                else:
                    valid(E, 0, k * bk // e, s, meta)
                T.copy(B[0, k * bk], b)
                T.gemm_sp(a, s, b, c, transpose_B=True)
            T.copy(c, C)

    return main
