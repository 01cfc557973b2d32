# Loops of kernels written per thread over shared memory: met once before, or in every round.
# verify: :rows
# verify: :rows K=96 BK=32
# verify: :turns
# verify: :shifted
# verify: :stairs
# verify: :again
import tilelang
import tilelang.language as T


# No round touches what another has touched.
@tilelang.jit(out_idx=[-1])
def rows(N=128, K=128, BN=64, BK=64):
    @T.prim_func
    def main(A: T.Tensor((K,), "float16"), B: T.Tensor((N, K), "float16"), C: T.Tensor((N,), "float32")):
        with T.Kernel(N // BN, threads=BN) as bn:
            t = T.get_thread_binding(0)
            a = T.alloc_shared((BK,), "float16")
            b = T.alloc_shared((BN, BK), "float16")
            c = T.alloc_local((1,), "float32")
            T.clear(c)
            for bk in T.serial(K // BK):
                for k in T.serial(BK):
                    a[k] = A[bk * BK + k]
                    b[t, k] = B[bn * BN + t, bk * BK + k]
                for k in T.serial(BK):
                    c[0] += T.cast(a[k], "float32") * T.cast(b[(t + 1) % BN, k], "float32")
            C[bn * BN + t] = c[0]

    return main


# Every round writes what other threads have written in the round before.
@tilelang.jit(out_idx=[-1])
def turns(N=64, rounds=5):
    @T.prim_func
    def main(A: T.Tensor((N,), "int32"), C: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=N) as bx:
            t = T.get_thread_binding(0)
            s = T.alloc_shared((N,), "int32")
            for k in T.serial(rounds):
                s[(t + k * 3) % N] = A[t] + k
            C[t] = s[t]

    return main


# Every round reads what others have written in it.
@tilelang.jit(out_idx=[-1])
def shifted(N=64, rounds=5):
    @T.prim_func
    def main(A: T.Tensor((N,), "int32"), C: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=N) as bx:
            t = T.get_thread_binding(0)
            s = T.alloc_shared((rounds, N), "int32")
            x = T.alloc_var("int32")
            x = A[t]
            for k in T.serial(rounds):
                s[k, t] = x
                x = s[k, (t + 1) % N] * 3 + k
            C[t] = x

    return main


# Every round reads what the round before has written.
@tilelang.jit(out_idx=[-1])
def stairs(N=64, rounds=6):
    @T.prim_func
    def main(A: T.Tensor((N,), "int32"), C: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=N) as bx:
            t = T.get_thread_binding(0)
            s = T.alloc_shared((rounds + 1, N), "int32")
            s[0, t] = A[t]
            for k in T.serial(rounds):
                s[k + 1, t] = s[k, (t + 7) % N] + s[k, t] * 2
            C[t] = s[rounds, t]

    return main


# A nest of the block, among what each thread does: iterations write each other's elements.
@tilelang.jit(out_idx=[-1])
def again(N=256, rounds=4):
    @T.prim_func
    def main(A: T.Tensor((rounds, N), "float32"), C: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=128) as bx:
            t = T.get_thread_binding(0)
            s = T.alloc_shared((N,), "float32")
            for k in T.serial(rounds):
                for i in T.Parallel(N):
                    s[(i * 5 + k * 3) % N] = A[k, i]
            C[t] = s[t]
            C[t + 128] = s[t + 128]

    return main
