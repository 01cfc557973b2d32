# run: --target="cutedsl -arch=sm_80"
import tilelang
import tilelang.language as T


@tilelang.jit
def control(N=64):
    """Loops that are left, iterations that are, names that are words of Python."""
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), Y: T.Tensor((N,), "uint8"), n: T.int32):
        with T.Kernel(1, threads=32):
            lambda_ = T.alloc_var("int32", init=0)
            tx = T.get_thread_binding()
            for i in T.serial(n):
                if X[i] < 0:
                    break
                if X[i] % 2 == 1 and X[i] // 3 > tx:
                    continue
                lambda_ += X[i]
            Y[tx] = T.cast(lambda_ // 7, "uint8")

    return main
# >>> source
#
# @cute.kernel
# def main_kernel(X: cute.Pointer, Y: cute.Pointer, n: cutlass.Int32):
#     X = tl_global(X, tl_i32, alone=True, constant=True)
#     Y = tl_global(Y, tl_u8, alone=True)
#     n = tl_i32(n)
#     lambda_ = tl_var(tl_i32, 0)
#     tx = tl_i32(threadIdx("x"))
#     lambda_[0] = 0
#     i = tl_var(tl_i32, 0)
#     i_end = tl_i32(n)
#     tl_go_0 = tl_var(tl_i32, 1)
#     tl_on_0 = tl_var(tl_i32, 1)
#     while tl_and(tl_go_0[0] != 0, lambda: i[0] < i_end):
#         tl_on_0[0] = 1
#         if tl_choose(i[0] < 64, lambda: X[i[0]], lambda: 0) < 0:
#             tl_on_0[0] = 0
#             tl_go_0[0] = 0
#         if tl_on_0[0] != 0:
#             if tl_true(tl_and(tl_floormod_i32(tl_choose(i[0] < 64, lambda: X[i[0]], lambda: 0), 2) == 1, lambda: tx < tl_floordiv_i32(tl_choose(i[0] < 64, lambda: X[i[0]], lambda: 0), 3))):
#                 tl_on_0[0] = 0
#             if tl_on_0[0] != 0:
#                 lambda_[0] = tl_i32(tl_u32(tl_choose(i[0] < 64, lambda: X[i[0]], lambda: 0)) + tl_u32(lambda_[0]))
#         i[0] = i[0] + (1)
#     Y[tx] = tl_u8(tl_floordiv_i32(lambda_[0], 7))
#
#
# @cute.jit
# def tl_launch(tl_x_0: cutlass.Int32, tl_y_0: cutlass.Int32, tl_z_0: cutlass.Int32, X_0: cute.Pointer, Y_0: cute.Pointer, n_0: cutlass.Int32):
#     main_kernel(X_0, Y_0, n_0).launch(grid=(tl_x_0, tl_y_0, tl_z_0), block=(32, 1, 1), smem=0, min_blocks_per_mp=16)
#
#
# if __name__ == "__main__":
#     tl_build(tl_launch, cutlass.Int32(1), cutlass.Int32(1), cutlass.Int32(1), tl_pointer(tl_i32), tl_pointer(tl_u8), cutlass.Int32(1))
# <<<
