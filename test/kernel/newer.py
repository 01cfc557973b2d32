# Names of 0.1.15: clusters of T.Kernel, T.fmul, T.clamp with NaN, views with strides, prefetches,
# waves with num_stages, barriers of the grid inside T.Parallel.
# verify: :clusters --sm_80=unsupported-here --hip=unsupported-here
# verify: :products
# verify: :clamped
# verify: :strided
# verify: :asked
# verify: :waves
# verify: :meet
# verify: :meet_box
import tilelang
import tilelang.language as T


@tilelang.jit
def clusters(n=8):
    @T.prim_func
    def main(A: T.Tensor((n, 4), "int32"), B: T.Tensor((n, 4), "int32")):
        with T.Kernel(n, 4, threads=32, cluster_dims=(2, 1, 1)) as (bx, by):
            size = T.get_cluster_size() * 100 + T.get_cluster_extent(0) * 10 + T.get_cluster_dims()[1]
            x, y = T.get_cluster_ids()
            for i in T.Parallel(1):
                B[bx, by] = A[bx, by] + T.get_cluster_id(0) + y * 7 + x + size + T.get_cluster_extents()[1]

    return main


@tilelang.jit
def products(n=256):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32"), C: T.Tensor((n, 3), "float32")):
        with T.Kernel(1, threads=128):
            for i in T.Parallel(n):
                C[i, 0] = T.fmul(A[i], B[i]) - A[i] * B[i]
                C[i, 1] = T.fmul(A[i], B[i]) - T.fmul(B[i], A[i])
                C[i, 2] = T.fma(A[i], B[i], 1.0)

    return main


@tilelang.jit
def clamped(n=64, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((n,), dtype), B: T.Tensor((n, 3), dtype)):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(n):
                B[i, 0] = T.clamp(A[i], -0.5, 0.5)
                B[i, 1] = T.clamp(A[i], 0.5, -0.5)
                B[i, 2] = T.if_then_else(T.isnan(T.clamp(A[i] * T.infinity(dtype) * 0, -1, 1)), 1, 0)

    return main


@tilelang.jit
def strided(n=16):
    @T.prim_func
    def main(A: T.Tensor((n, n), "float32"), B: T.Tensor((n, n), "float32")):
        with T.Kernel(1, threads=64):
            turned = T.view(A, (n, n), strides=(1, n))
            s = T.alloc_shared((n, n), "float32")
            T.copy(turned, s)
            for i, j in T.Parallel(n, n):
                B[i, j] = s[i, j] + T.view(A, (n, n), "float32", strides=(1, n))[j, i]

    return main


@tilelang.jit
def asked(n=200):
    @T.prim_func
    def main(A: T.Tensor((n, 300), "float16"), B: T.Tensor((n, 300), "float16")):
        with T.Kernel(T.ceildiv(n, 64), threads=64) as bx:
            T.prefetch(A[bx * 64:bx * 64 + 64, 0:300])
            T.prefetch(B[bx * 64, 0])
            for i, j in T.Parallel(64, 300):
                B[bx * 64 + i, j] = A[bx * 64 + i, j] + 1

    return main


@tilelang.jit
def waves(M=256, N=256, K=64):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((M, K), "float16")):
        with T.Kernel(3, threads=128) as bx:
            s = T.alloc_shared((64, 64), "float16")
            for y, x in T.Persistent([M // 64, K // 64], 3, bx, num_stages=2):
                T.copy(A[y * 64, x * 64], s)
                for i, j in T.Parallel(64, 64):
                    B[y * 64 + i, x * 64 + j] = s[i, j] * 2

    return main


@tilelang.jit
def meet(n=256):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32"), C: T.Tensor((n,), "float32")):
        with T.Kernel(2, threads=64) as bx:
            for i in T.Parallel(n // 2):
                at = bx * (n // 2) + i
                B[at] = A[at] * 2
                T.sync_grid()
                C[at] = B[n - 1 - at] + 1

    return main


@tilelang.jit
def meet_box(n=16):
    @T.prim_func
    def main(A: T.Tensor((n, n), "float32"), B: T.Tensor((n, n), "float32"), C: T.Tensor((n, n), "float32")):
        with T.Kernel(2, threads=64) as bx:
            for i, j in T.Parallel(n // 2, n):
                B[bx * (n // 2) + i, j] = A[bx * (n // 2) + i, j] + 1
                T.sync_grid()
                C[bx * (n // 2) + i, j] = B[j, bx * (n // 2) + i]
                T.sync_grid()
                A[bx * (n // 2) + i, j] = C[n - 1 - j, 0]

    return main
