# run: --target=webgpu
# Small elements in words, whole ones where a thread has them all; atomics of floats; tiles that share memory; a sum between
# threads without subgroups; a name that WGSL has taken.
import tilelang
import tilelang.language as T


@tilelang.jit
def main(N=256):
    @T.prim_func
    def main(let: T.Tensor((N,), "uint8"), H: T.Tensor((N,), "float16"), O: T.Tensor((N,), "uint8"), S: T.Tensor((1,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((N,), "uint8")
            f = T.alloc_fragment((N,), "float32")
            total = T.alloc_fragment((1,), "float32")
            T.copy(let, s)
            for i in T.Parallel(N):
                O[i] = s[N - 1 - i] + 1
            for i in T.Parallel(N):
                f[i] = T.max(H[i], T.cast(0, "float16"))
            T.reduce_sum(f, total)
            T.atomic_add(S[0], total[0])

    return main
# >>> source
# @group(0) @binding(1) var<storage, read> let_1: array<u32>;
# @group(0) @binding(2) var<storage, read> H: array<u32>;
# @group(0) @binding(3) var<storage, read_write> O: array<atomic<u32>>;
# @group(0) @binding(4) var<storage, read_write> S: array<atomic<u32>>;
# var<workgroup> tiles: array<u32, 64>;
#
# @compute @workgroup_size(64, 1, 1)
# fn main_kernel(@builtin(workgroup_id) block: vec3<u32>, @builtin(local_invocation_id) thread: vec3<u32>) {
#     tl_none = arrayLength(&let_1) >> 29u;
#     let tx: i32 = i32(thread.x);
#     var f: array<f32, 4>;
#     var total: array<f32, 1>;
#     var acc: array<f32, 1>;
#     // T.copy(let, s)  words.py:16
#     tiles[tx] = (((u32(i32(let_1[tx] & 255u)) & 255u) | ((u32(i32((let_1[tx] >> 8u) & 255u)) & 255u) << 8u)) | ((u32(i32((let_1[tx] >> 16u) & 255u)) & 255u) << 16u)) | ((u32(i32((let_1[tx] >> 24u) & 255u)) & 255u) << 24u);
#     // for i in T.Parallel(N)  words.py:17
#     workgroupBarrier();
#     storageBarrier();
#     for (var s_1: i32 = 0; s_1 < 4; s_1++) {
#         let bits: u32 = (u32((i32((tiles[tl_floordiv_i32(3 - tx, 4) - s_1 * 16 + 63] >> u32(tl_floormod_i32(3 - tx, 4) * 8)) & 255u) + 1) & 255) & 255u) << u32(tx % 4 * 8);
#         _ = atomicAnd(&O[tx / 4 + s_1 * 16], (~(255u << u32(tx % 4 * 8))));
#         _ = atomicOr(&O[tx / 4 + s_1 * 16], bits);
#     }
#     // for i in T.Parallel(N)  words.py:19
#     f[0] = tl_max_f32(tl_f16_to_f32(u32(u32(H[tx] & 65535u))), 0.0f);
#     f[1] = tl_max_f32(tl_f16_to_f32(u32(u32((H[tx] >> 16u) & 65535u))), 0.0f);
#     f[2] = tl_max_f32(tl_f16_to_f32(u32(u32(H[tx + 64] & 65535u))), 0.0f);
#     f[3] = tl_max_f32(tl_f16_to_f32(u32(u32((H[tx + 64] >> 16u) & 65535u))), 0.0f);
#     // T.reduce_sum(f, total)  words.py:21
#     acc[0] = tl_value(0.0f);
#     acc[0] = acc[0] + f[0];
#     acc[0] = acc[0] + f[1];
#     acc[0] = acc[0] + f[2];
#     acc[0] = acc[0] + f[3];
#     workgroupBarrier();
#     storageBarrier();
#     tiles[tx] = bitcast<u32>(acc[0]);
#     workgroupBarrier();
#     storageBarrier();
#     total[0] = bitcast<f32>(tiles[0]) + bitcast<f32>(tiles[1]) + (bitcast<f32>(tiles[2]) + bitcast<f32>(tiles[3])) + (bitcast<f32>(tiles[4]) + bitcast<f32>(tiles[5]) + (bitcast<f32>(tiles[6]) + bitcast<f32>(tiles[7]))) + (bitcast<f32>(tiles[8]) + bitcast<f32>(tiles[9]) + (bitcast<f32>(tiles[10]) + bitcast<f32>(tiles[11])) + (bitcast<f32>(tiles[12]) + bitcast<f32>(tiles[13]) + (bitcast<f32>(tiles[14]) + bitcast<f32>(tiles[15])))) + (bitcast<f32>(tiles[16]) + bitcast<f32>(tiles[17]) + (bitcast<f32>(tiles[18]) + bitcast<f32>(tiles[19])) + (bitcast<f32>(tiles[20]) + bitcast<f32>(tiles[21]) + (bitcast<f32>(tiles[22]) + bitcast<f32>(tiles[23]))) + (bitcast<f32>(tiles[24]) + bitcast<f32>(tiles[25]) + (bitcast<f32>(tiles[26]) + bitcast<f32>(tiles[27])) + (bitcast<f32>(tiles[28]) + bitcast<f32>(tiles[29]) + (bitcast<f32>(tiles[30]) + bitcast<f32>(tiles[31]))))) + (bitcast<f32>(tiles[32]) + bitcast<f32>(tiles[33]) + (bitcast<f32>(tiles[34]) + bitcast<f32>(tiles[35])) + (bitcast<f32>(tiles[36]) + bitcast<f32>(tiles[37]) + (bitcast<f32>(tiles[38]) + bitcast<f32>(tiles[39]))) + (bitcast<f32>(tiles[40]) + bitcast<f32>(tiles[41]) + (bitcast<f32>(tiles[42]) + bitcast<f32>(tiles[43])) + (bitcast<f32>(tiles[44]) + bitcast<f32>(tiles[45]) + (bitcast<f32>(tiles[46]) + bitcast<f32>(tiles[47])))) + (bitcast<f32>(tiles[48]) + bitcast<f32>(tiles[49]) + (bitcast<f32>(tiles[50]) + bitcast<f32>(tiles[51])) + (bitcast<f32>(tiles[52]) + bitcast<f32>(tiles[53]) + (bitcast<f32>(tiles[54]) + bitcast<f32>(tiles[55]))) + (bitcast<f32>(tiles[56]) + bitcast<f32>(tiles[57]) + (bitcast<f32>(tiles[58]) + bitcast<f32>(tiles[59])) + (bitcast<f32>(tiles[60]) + bitcast<f32>(tiles[61]) + (bitcast<f32>(tiles[62]) + bitcast<f32>(tiles[63]))))));
#     let by: f32 = total[0];
#     var was: u32 = atomicLoad(&S[0]);
#     loop {
#         let swap = atomicCompareExchangeWeak(&S[0], was, bitcast<u32>(bitcast<f32>(was) + by));
#         if (swap.exchanged) { break; }
#         was = swap.old_value;
#     }
# }
#
# <<<
