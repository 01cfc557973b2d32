# T.vectorized over several arrays, and loops whose two branches fill the same tile.
# verify: :gemv
# verify: :gemv dtype=float32
# verify: :later
# verify: :branches
# verify: :branches D=20 n=33
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def gemv(N=16, K=512, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((K,), dtype), B: T.Tensor((N, K), dtype), C: T.Tensor((N,), "float32")):
        with T.Kernel(N // 2, threads=(2, 16)) as bn:
            tn = T.get_thread_binding(0)
            tk = T.get_thread_binding(1)
            a = T.alloc_local((8,), dtype)
            b = T.alloc_local((8,), dtype)
            s = T.alloc_shared((2,), "float32")
            c = T.alloc_local((1,), "float32")
            if tk == 0:
                s[tn] = 0
            T.clear(c)
            for bk in T.serial(K // 128):
                for k in T.vectorized(8):
                    a[k] = A[bk * 128 + tk * 8 + k]
                    b[k] = B[bn * 2 + tn, bk * 128 + tk * 8 + k]
                for k in T.serial(8):
                    c[0] += T.cast(a[k], "float32") * T.cast(b[k], "float32")
            T.atomic_add(s[tn], c[0])
            T.sync_threads()
            if tk == 0:
                C[bn * 2 + tn] = s[tn]

    return main


# The second array takes what the first has got in the same turn.
@tilelang.jit(out_idx=[-1])
def later(N=256):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            t = T.get_thread_binding(0)
            a = T.alloc_local((8,), "float32")
            b = T.alloc_local((8,), "float32")
            for k in T.vectorized(8):
                a[k] = A[t * 8 + k]
                b[k] = a[k] * a[k]
            for k in T.vectorized(8):
                B[t * 8 + k] = b[k]

    return main


# Rows behind the last are zeros.
@tilelang.jit(out_idx=[-1])
def branches(S=40, H=3, D=64, n=32):
    @T.prim_func
    def main(Q: T.Tensor((S, H, D), "float16"), O: T.Tensor((H, n, D), "float16")):
        with T.Kernel(H, threads=64) as bx:
            s = T.alloc_shared((n, D), "float16")
            length = T.alloc_var("int32")
            length = 17 + bx
            for i, j in T.Parallel(n, D):
                if i < length:
                    s[i, j] = Q[i + bx, bx, j]
                else:
                    s[i, j] = 0
            T.copy(s, O[bx, :, :])

    return main
