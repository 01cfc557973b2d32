# Reductions of tiles in registers and in shared memory, for test/gpu/reduce.sh.
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def rows(M=16, N=64, threads=128, op="sum", dtype="float32", out="float32", clear=True, dim=1):
    K = N if dim == 0 else M

    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((K,), out)):
        with T.Kernel(1, threads=threads) as bx:
            x = T.alloc_fragment((M, N), dtype)
            y = T.alloc_fragment((K,), out)
            T.copy(A, x)
            T.fill(y, 3)
            if op == "sum":
                T.reduce_sum(x, y, dim=dim, clear=clear)
            elif op == "max":
                T.reduce_max(x, y, dim=dim, clear=clear)
            elif op == "absmax":
                T.reduce_absmax(x, y, dim=dim, clear=clear)
            elif op == "min":
                T.reduce_min(x, y, dim=dim, clear=clear)
            T.copy(y, B)

    return main


@tilelang.jit(out_idx=[-1])
def flat(N=64, threads=128, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((1,), dtype)):
        with T.Kernel(1, threads=threads) as bx:
            x = T.alloc_fragment((N,), dtype)
            y = T.alloc_fragment((1,), dtype)
            T.copy(A, x)
            T.reduce_sum(x, y, dim=0)
            T.copy(y, B)

    return main


@tilelang.jit(out_idx=[-1])
def shared(M=16, N=64, threads=128, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((M,), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            x = T.alloc_shared((M, N), dtype)
            y = T.alloc_shared((M,), "float32")
            T.copy(A, x)
            T.reduce_sum(x, y, dim=1)
            T.copy(y, B)

    return main


@tilelang.jit(out_idx=[-1])
def of_view(N=64, Q=2, H=16, threads=128, dtype="float16", scan=False, wide=False):
    """Products and a reduction or scan of what they give, seen in another shape or type."""
    @T.prim_func
    def main(A: T.Tensor((N, 32), dtype), B: T.Tensor((Q * H, 32), dtype), W: T.Tensor((Q, H), "float32"),
             Y: T.Tensor((N, Q, H) if scan else (N, Q), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            a = T.alloc_shared((N, 32), dtype)
            b = T.alloc_shared((Q * H, 32), dtype)
            s = T.alloc_fragment((N, Q * H), "float32")
            v = T.reshape(s, (N, Q, H))
            w = T.alloc_fragment((Q, H), "float32")
            y = T.alloc_fragment((N, Q), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.copy(W, w)
            T.gemm(a, b, s, transpose_B=True, clear_accum=True)
            for i, q, h in T.Parallel(N, Q, H):
                v[i, q, h] = T.max(v[i, q, h], 0) * w[q, h]
            if scan:
                u = T.reshape(s, (N * Q, H))
                T.cumsum(u, dim=1)
                T.copy(v, Y)
            elif wide:
                u = T.view(s, (N, Q, H), "int32")
                z = T.alloc_fragment((N, Q), "int32")
                T.reduce_max(u, z, dim=2)
                for i, q in T.Parallel(N, Q):
                    Y[i, q] = T.cast(z[i, q] // 65536, "float32")
            else:
                T.reduce_sum(v, y, dim=-1)
                T.copy(y, Y)

    return main
