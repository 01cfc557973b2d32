# run: --target="cuda -arch=sm_90a"
# bfloat16 is a tfloat32 as it is and needs no rounding; a product does, by one instruction.  The offset in a tile has
# 32 bits, whatever is known of the stage.
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((32,), "bfloat16"), at: T.Tensor((1,), "int32"), B: T.Tensor((32,), "tfloat32"), C: T.Tensor((32,), "tfloat32")):
    with T.Kernel(1, threads=32):
        t = T.get_thread_binding()
        s = T.alloc_shared((4, 32), "bfloat16")
        stage = T.alloc_var("int32")
        stage = at[0]
        s[stage, t] = A[t]
        B[t] = T.cast(s[stage, t], "tfloat32")
        C[t] = T.cast(s[stage, t], "tfloat32") * T.cast(s[stage, t], "tfloat32")
# >>> source
# extern "C" __global__ void __launch_bounds__(32, 16) main_kernel(
#     const uint16_t *__restrict__ A,
#     const int32_t *__restrict__ at,
#     float *__restrict__ B,
#     float *__restrict__ C)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     uint16_t *const s = (uint16_t *)(tl_shared + 0);
#     const int32_t tx = threadIdx.x;
#
#     const int32_t stage = at[0];
#     s[(int32_t)((uint32_t)tx + (uint32_t)(int32_t)((uint32_t)stage * 32u))] = A[tx];
#     B[tx] = tl_bf16_to_f32(s[(int32_t)((uint32_t)tx + (uint32_t)(int32_t)((uint32_t)stage * 32u))]);
#     C[tx] = tl_round_tf32(tl_bf16_to_f32(s[(int32_t)((uint32_t)tx + (uint32_t)(int32_t)((uint32_t)stage * 32u))]) * tl_bf16_to_f32(s[(int32_t)((uint32_t)tx + (uint32_t)(int32_t)((uint32_t)stage * 32u))]));
# }
#
# <<<
