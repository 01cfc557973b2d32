// gemm.wgsl -- C = A * B of 512 x 512 floats by hand, what `tl` is measured against (bench/webgpu/compare.sh): 16 x 16
// threads, 4 x 4 elements each, tiles of 64 x 16 and 16 x 64 in workgroup memory.
const N = 512u;
const STEP = 16u;

@group(0) @binding(1) var<storage, read> A: array<f32>;
@group(0) @binding(2) var<storage, read> B: array<f32>;
@group(0) @binding(3) var<storage, read_write> C: array<f32>;

var<workgroup> a: array<f32, 1024>; // 64 rows of 16
var<workgroup> b: array<f32, 1024>; // 16 rows of 64

@compute @workgroup_size(16, 16, 1)
fn gemm(@builtin(workgroup_id) block: vec3<u32>, @builtin(local_invocation_id) thread: vec3<u32>) {
    let row = block.y * 64u;
    let col = block.x * 64u;
    let id = thread.y * 16u + thread.x;
    var acc: array<vec4<f32>, 4>;
    for (var k = 0u; k < N; k += STEP) {
        for (var i = 0u; i < 4u; i++) {
            let at = i * 256u + id;
            a[at] = A[(row + at / 16u) * N + k + at % 16u];
            b[at] = B[(k + at / 64u) * N + col + at % 64u];
        }
        workgroupBarrier();
        for (var s = 0u; s < STEP; s++) {
            let y = s * 64u + thread.x * 4u;
            let right = vec4<f32>(b[y], b[y + 1u], b[y + 2u], b[y + 3u]);
            for (var i = 0u; i < 4u; i++) {
                acc[i] += a[(thread.y * 4u + i) * 16u + s] * right;
            }
        }
        workgroupBarrier();
    }
    for (var i = 0u; i < 4u; i++) {
        let at = (row + thread.y * 4u + i) * N + col + thread.x * 4u;
        C[at] = acc[i].x;
        C[at + 1u] = acc[i].y;
        C[at + 2u] = acc[i].z;
        C[at + 3u] = acc[i].w;
    }
}
