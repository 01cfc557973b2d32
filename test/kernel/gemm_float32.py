# Products of float32: on a GPU the operands count with what tfloat32 holds of them, unless they are
# asked for whole; on a CPU they are whole.
# verify: :product
# verify: :product precision=float32
# verify: :product precision=tf32
# verify: :product ta=True tb=False
# verify: :product M=40 N=24 K=20 bk=20 threads=64
# verify: :product M=40 N=24 K=20 bk=20 threads=64 precision=float32
# verify: :product M=16 N=8 K=8 bk=8 threads=16
# verify: :product M=16 N=8 K=8 bk=8 threads=16 precision=float32
# verify: :config
# verify: :config whole=False
# verify: :chained
# verify: :chained precision=float32
# verify: :shared_result
import tilelang
import tilelang.language as T


@tilelang.jit
def product(M=128, N=64, K=64, bk=32, ta=False, tb=True, precision=None, threads=128):
    @T.prim_func
    def main(A: T.Tensor((K, M) if ta else (M, K), "float32"), B: T.Tensor((N, K) if tb else (K, N), "float32"),
             C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=threads) as _:
            a = T.alloc_shared((bk, M) if ta else (M, bk), "float32")
            b = T.alloc_shared((N, bk) if tb else (bk, N), "float32")
            c = T.alloc_fragment((M, N), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=2):
                if ta:
                    T.copy(A[k * bk, 0], a)
                else:
                    T.copy(A[0, k * bk], a)
                if tb:
                    T.copy(B[0, k * bk], b)
                else:
                    T.copy(B[k * bk, 0], b)
                T.gemm(a, b, c, transpose_A=ta, transpose_B=tb, precision=precision)
            T.copy(c, C)

    return main


@tilelang.jit
def config(M=64, N=64, K=32, whole=True):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((N, K), "float32"), C: T.Tensor((M, N), "float32")):
        T.annotate_pass_configs({"tl.gemm_precision": "float32" if whole else "tf32"})
        with T.Kernel(1, threads=128) as _:
            a = T.alloc_shared((M, K), "float32")
            b = T.alloc_shared((N, K), "float32")
            c = T.alloc_fragment((M, N), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c, transpose_B=True, clear_accum=True)
            T.copy(c, C)

    return main


@tilelang.jit
def chained(M=64, N=64, K=32, precision=None):
    """The second product takes what the first gave."""
    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((N, K), "float32"), C: T.Tensor((N, K), "float32"),
             D: T.Tensor((M, K), "float32")):
        with T.Kernel(1, threads=128) as _:
            a = T.alloc_shared((M, K), "float32")
            b = T.alloc_shared((N, K), "float32")
            c = T.alloc_shared((N, K), "float32")
            s = T.alloc_fragment((M, N), "float32")
            d = T.alloc_fragment((M, K), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.copy(C, c)
            T.gemm(a, b, s, transpose_B=True, clear_accum=True, precision=precision)
            for i, j in T.Parallel(M, N):
                s[i, j] = T.exp2(s[i, j] * T.float32(0.125))
            T.gemm(s, c, d, clear_accum=True, precision=precision)
            T.copy(d, D)

    return main


@tilelang.jit
def shared_result(M=32, N=32, K=16):
    """No matrix instruction writes to shared memory; the numbers are the same."""
    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as _:
            a = T.alloc_shared((M, K), "float32")
            b = T.alloc_shared((K, N), "float32")
            c = T.alloc_shared((M, N), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.clear(c)
            T.gemm(a, b, c)
            T.copy(c, C)

    return main
