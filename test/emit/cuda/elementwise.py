# run: N=100 --target="cuda -arch=sm_80"
import tilelang
import tilelang.language as T


@tilelang.jit
def elementwise(N=100, dtype="float16"):
    @T.prim_func
    def main(X: T.Tensor((N,), dtype), Y: T.Tensor((N,), dtype), C: T.Tensor((1,), dtype), a: T.float32):
        with T.Kernel(T.ceildiv(N, 64), threads=32) as bx:
            x = T.alloc_fragment((64,), "float32")
            for i in T.Parallel(64):
                x[i] = T.exp(X[bx * 64 + i]) * a
            for i in T.Parallel(64):
                Y[bx * 64 + i] = T.max(x[i], 0.5)
            T.atomic_add(C[0], Y[bx])

    return main
# >>> source
# extern "C" __global__ void __launch_bounds__(32, 16) main_kernel(
#     const uint16_t *__restrict__ X,
#     uint16_t *__restrict__ Y,
#     uint16_t *__restrict__ C,
#     const float a)
# {
#     float x[2];
#     const int32_t bx = blockIdx.x;
#     const int32_t tx = threadIdx.x;
#
#     __align__(16) uint16_t v[2];
#     *(uint32_t *)v = (bx * 32 + tx < 50) ? *(const uint32_t *)&X[bx * 64 + tx * 2] : uint32_t{};
#     x[0] = tl_round_f16(expf(tl_f16_to_f32(v[0]))) * a;
#     x[1] = tl_round_f16(expf(tl_f16_to_f32(v[1]))) * a;
#     __align__(16) uint16_t v_1[2];
#     *(uint32_t *)&v_1[0] = tl_pack_f16(tl_max_f32(x[0], 0.5f), tl_max_f32(x[1], 0.5f));
#     if (bx * 32 + tx < 50) *(uint32_t *)&Y[bx * 64 + tx * 2] = *(const uint32_t *)v_1;
#     __syncthreads();
#     tl_atomic_add_f16(&C[0], tl_f16_to_f32(Y[bx]));
# }
#
# <<<
