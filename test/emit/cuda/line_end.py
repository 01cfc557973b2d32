# run: --target="cuda -arch=sm_90a"
# A line that is printed ends, and what is in it is said as it is.
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "int32")):
    with T.Kernel(1, threads=32) as bx:
        tx = T.get_thread_binding()
        if tx == 0:
            T.print(msg="50% \"quoted\"")
            T.print(A[0], msg="first")
# >>> source
# extern "C" __global__ void __launch_bounds__(32, 16) main_kernel(
#     const int32_t *__restrict__ A)
# {
#     const int32_t tx = threadIdx.x;
#
#     if (tx == 0) {
#         // T.print(msg="50% \"quoted\"")  line_end.py:12
#         printf("%s\012", "50% \"quoted\"");
#         // T.print(A[0], msg="first")  line_end.py:13
#         printf("msg='%s' BlockIdx=(%lld, %lld, %lld): dtype=int32 value=%lld\012", "first", 0LL, 0LL, 0LL, (int64_t)A[0]);
#     }
# }
#
# <<<
