# Products over more of k than there is (split-k with a ragged split, loops that run past the end):
# a tile wholly past the end adds 0, whatever is ragged besides.
# verify: :past
# verify: :past M=45 N=64
# verify: :past M=45 N=50 dtype=float16
# verify: :past M=45 N=50 dtype=bfloat16
# verify: :past M=45 N=50 dtype=bfloat16 ta=True tb=True
# verify: :past M=45 N=50 dtype=bfloat16 tiles_in_software=True
# verify: :past M=45 N=50 dtype=int8 accum=int32
# verify: :past M=45 N=50 dtype=int8 accum=int32 ta=True tb=True
# verify: :past M=45 N=50 dtype=int8 accum=int32 tiles_in_software=True
# verify: :past M=45 N=50 dtype=uint8 accum=int32
# verify: :past M=45 N=50 dtype=float64 accum=float64
# verify: :past M=45 N=50 dtype=float8_e4m3fn
# verify: :past M=45 N=50 dtype=float16 accum=float16 --warns=narrow-accumulator
# verify: :past M=45 N=50 ta=True
# verify: :past M=45 N=50 tb=True
# verify: :past M=45 N=50 dtype=float16 K=64 tiles=4
# verify: :past M=7 N=5 K=1
# verify: :split
# verify: :split M=45 N=64
# verify: :split M=45 N=50 K=192 dtype=float16
# verify: :split M=45 N=50 dtype=bfloat16 parts=5
# verify: :clears
# verify: :clears how=argument
# verify: :clears how=condition
# verify: :clears how=fill
# verify: :clears dtype=float16 how=argument
# verify: :clears dtype=int8 accum=int32 how=condition
# verify: :any M=40 N=50 K=20
# verify: :any M=1 N=1 K=1
# verify: :any M=33 N=49 K=17
# verify: :any M=96 N=144 K=64
import tilelang
import tilelang.language as T


@tilelang.jit
def past(M=32, N=50, K=200, tiles=8, bm=32, bn=32, bk=32, dtype="float32", accum="float32", ta=False, tb=False, tiles_in_software=False):
    @T.prim_func
    def main(
        A: T.Tensor((K, M) if ta else (M, K), dtype),
        B: T.Tensor((N, K) if tb else (K, N), dtype),
        C: T.Tensor((M, N), accum),
    ):
        T.annotate_compile_flags("-DTL_AMX_EMULATED" if tiles_in_software else "")
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=64) as (bx, by):
            a = T.alloc_shared((bk, bm) if ta else (bm, bk), dtype)
            b = T.alloc_shared((bn, bk) if tb else (bk, bn), dtype)
            c = T.alloc_fragment((bm, bn), accum)
            T.clear(c)
            for k in T.Pipelined(tiles, num_stages=2):
                if ta:
                    T.copy(A[k * bk, by * bm], a)
                else:
                    T.copy(A[by * bm, k * bk], a)
                if tb:
                    T.copy(B[bx * bn, k * bk], b)
                else:
                    T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c, transpose_A=ta, transpose_B=tb)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def split(M=32, N=50, K=200, parts=3, bm=32, bn=32, bk=32, dtype="float32"):
    each = -(-(-(-K // bk)) // parts)

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), parts, threads=64) as (bx, by, bz):
            a = T.alloc_shared((bm, bk), dtype)
            b = T.alloc_shared((bk, bn), dtype)
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for k in T.Pipelined(each, num_stages=2):
                T.copy(A[by * bm, (bz * each + k) * bk], a)
                T.copy(B[(bz * each + k) * bk, bx * bn], b)
                T.gemm(a, b, c)
            T.atomic_add(C[by * bm, bx * bn], c)

    return main


@tilelang.jit
def clears(M=40, N=50, K=20, past=4, b=32, dtype="float32", accum="float32", how="clear"):
    """All of the accumulator is stored: what lies outside of both operands is 0, or what it was."""

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), S: T.Tensor((past, 2 * b, b), accum)):
        with T.Kernel(1, threads=64):
            a = T.alloc_shared((2 * b, b), dtype)
            bb = T.alloc_shared((b, b), dtype)
            c = T.alloc_fragment((2 * b, b), accum)
            for n in T.serial(past):
                T.copy(A[0, 0], a)
                T.copy(B[n * b, 0], bb)
                if how == "fill":
                    T.fill(c, 3)
                if how == "clear":
                    T.clear(c)
                if how == "argument":
                    T.gemm(a, bb, c, transpose_B=True, clear_accum=True)
                elif how == "condition":
                    T.gemm(a, bb, c, transpose_B=True, clear_accum=(n >= 0))
                else:
                    T.gemm(a, bb, c, transpose_B=True)
                T.copy(c, S[n, 0, 0])

    return main


M, N, K = T.dynamic("M"), T.dynamic("N"), T.dynamic("K")


@T.prim_func
def any(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), S: T.Tensor((3, 3, 32, 48), "float32")):
    with T.Kernel(3, 3, threads=64) as (bx, by):
        a = T.alloc_shared((32, 16), "float16")
        b = T.alloc_shared((16, 48), "float16")
        c = T.alloc_fragment((32, 48), "float32")
        T.clear(c)
        for k in T.Pipelined(4, num_stages=2):
            T.copy(A[by * 32, k * 16], a)
            T.copy(B[k * 16, bx * 48], b)
            T.gemm(a, b, c)
        T.copy(c, S[by, bx, 0, 0])
