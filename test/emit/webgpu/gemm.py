# run: --target=webgpu
# A rectangle of the result for each thread, a run-time dimension as a uniform, indices of 32 bits.
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm(M=32, N=32):
    K = T.dynamic("K")

    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 16), T.ceildiv(M, 16), threads=64) as (bx, by):
            A_s = T.alloc_shared((16, 8), "float32")
            B_s = T.alloc_shared((8, 16), "float32")
            C_l = T.alloc_fragment((16, 16), "float32")
            T.clear(C_l)
            for k in T.serial(T.ceildiv(K, 8)):
                T.copy(A[by * 16, k * 8], A_s)
                T.copy(B[k * 8, bx * 16], B_s)
                T.gemm(A_s, B_s, C_l)
            T.copy(C_l, C[by * 16, bx * 16])

    return main
# >>> source
# @group(0) @binding(1) var<storage, read> A: array<f32>;
# @group(0) @binding(2) var<storage, read> B: array<f32>;
# @group(0) @binding(3) var<storage, read_write> C: array<f32>;
# struct Scalars {
#     K: i32,
# }
# @group(0) @binding(0) var<uniform> scalars: Scalars;
# var<workgroup> A_s: array<f32, 128>;
# var<workgroup> B_s: array<f32, 128>;
#
# @compute @workgroup_size(64, 1, 1)
# fn main_kernel(@builtin(workgroup_id) block: vec3<u32>, @builtin(local_invocation_id) thread: vec3<u32>) {
#     tl_none = arrayLength(&A) >> 29u;
#     let K: i32 = scalars.K;
#     let bx: i32 = i32(block.x);
#     let by: i32 = i32(block.y);
#     let tx: i32 = i32(thread.x);
#     var C_l: array<f32, 4>;
#     var a: array<f32, 2>;
#     var b: array<f32, 2>;
#     // T.clear(C_l)  gemm.py:17
#     C_l[0] = tl_value(0.0f);
#     C_l[1] = tl_value(0.0f);
#     C_l[2] = tl_value(0.0f);
#     C_l[3] = tl_value(0.0f);
#     {
#         let k_end: i32 = (K + 7) / 8;
#         for (var k: i32 = 0; k < k_end; k++) {
#             // T.copy(A[by * 16, k * 8], A_s)  gemm.py:19
#             workgroupBarrier();
#             for (var s: i32 = 0; s < 2; s++) {
#                 A_s[tx + s * 64] = select(0.0f, A[select(0, K * by * 16 + K * (tx / 8) + K * s * 8 + tx % 8 + k * 8, tx % 8 + k * 8 < K)], tx % 8 + k * 8 < K);
#             }
#             // T.copy(B[k * 8, bx * 16], B_s)  gemm.py:20
#             for (var s_1: i32 = 0; s_1 < 2; s_1++) {
#                 B_s[tx + s_1 * 64] = select(0.0f, B[select(0, bx * 16 + tx / 16 * 32 + tx % 16 + k * 256 + s_1 * 128, tx / 16 + k * 8 + s_1 * 4 < K)], tx / 16 + k * 8 + s_1 * 4 < K);
#             }
#             // T.gemm(A_s, B_s, C_l)  gemm.py:21
#             workgroupBarrier();
#             for (var l: i32 = 0; l < 8; l++) {
#                 a[0] = A_s[tx / 8 * 16 + l];
#                 a[1] = A_s[tx / 8 * 16 + l + 8];
#                 b[0] = B_s[tx % 8 * 2 + l * 16];
#                 b[1] = B_s[tx % 8 * 2 + l * 16 + 1];
#                 C_l[0] = fma(a[0], b[0], C_l[0]);
#                 C_l[1] = fma(a[0], b[1], C_l[1]);
#                 C_l[2] = fma(a[1], b[0], C_l[2]);
#                 C_l[3] = fma(a[1], b[1], C_l[3]);
#             }
#         }
#     }
#     // T.copy(C_l, C[by * 16, bx * 16])  gemm.py:22
#     C[bx * 16 + by * 512 + tx / 8 * 64 + tx % 8 * 2] = C_l[0];
#     C[bx * 16 + by * 512 + tx / 8 * 64 + tx % 8 * 2 + 1] = C_l[1];
#     C[bx * 16 + by * 512 + tx / 8 * 64 + tx % 8 * 2 + 32] = C_l[2];
#     C[bx * 16 + by * 512 + tx / 8 * 64 + tx % 8 * 2 + 32 + 1] = C_l[3];
# }
#
# <<<
