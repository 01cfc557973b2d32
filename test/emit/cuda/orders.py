# run: --target="cuda -arch=sm_90a"
# A fence before what releases, after what acquires, on both sides of what does both.
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "int32")):
    with T.Kernel(1, threads=32) as bx:
        tx = T.get_thread_binding()
        if tx == 0:
            T.atomic_add(A[0], 1, memory_order="relaxed")
            T.atomic_add(A[1], 1, memory_order="release")
            T.atomic_add(A[2], 1, memory_order="acquire")
            T.atomic_add(A[3], 1, memory_order="acq_rel")
# >>> source
# extern "C" __global__ void __launch_bounds__(32, 16) main_kernel(
#     int32_t *__restrict__ A)
# {
#     const int32_t tx = threadIdx.x;
#
#     if (tx == 0) {
#         atomicAdd(&A[0], (int32_t)1);
#         __threadfence();
#         atomicAdd(&A[1], (int32_t)1);
#         atomicAdd(&A[2], (int32_t)1);
#         __threadfence();
#         __threadfence();
#         atomicAdd(&A[3], (int32_t)1);
#         __threadfence();
#     }
# }
#
# <<<
