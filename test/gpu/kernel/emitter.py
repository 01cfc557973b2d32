"""Products of waves by the package's emitters, whose text is Python: tl runs it."""
import tilelang
import tilelang.language as T
from tilelang.layout import make_swizzled_layout
from tilelang.rocm.intrinsics import make_mfma_swizzle_layout
from tilelang.rocm.intrinsics.mfma_macro_generator import MatrixCoreIntrinEmitter, MatrixCorePreshuffleIntrinEmitter
from tilelang.rocm.intrinsics.utils import get_mma_micro_size
from tilelang.tileop.base import GemmWarpPolicy


@tilelang.jit
def product(M=64, N=64, K=128, chunk=64, warps=4, k_pack=2, dtype="float16", accum="float32", shuffle=False):
    rows, cols = GemmWarpPolicy.Square.compute_warp_partition(M, N, warps)
    make = MatrixCorePreshuffleIntrinEmitter if shuffle else MatrixCoreIntrinEmitter
    e = make(a_dtype=dtype, b_dtype=dtype, accum_dtype=accum, b_transposed=True, block_row_warps=rows, block_col_warps=cols,
             warp_row_tiles=M // rows, warp_col_tiles=N // cols, chunk=chunk, k_pack=k_pack, b_preshuffle=shuffle)
    each = e.micro_size_k * e.k_pack
    assert get_mma_micro_size(dtype)[0] == e.micro_size_y

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N // 16, K // each, 16, each) if shuffle else (N, K), dtype), C: T.Tensor((M, N), accum)):
        with T.Kernel(1, threads=64 * warps):
            A_s = T.alloc_shared((M, chunk), dtype)
            B_s = T.alloc_shared((N, chunk), dtype)
            a = T.alloc_local((e.warp_rows * e.local_size_a * e.k_pack,), dtype)
            b = T.alloc_local((e.warp_cols * e.local_size_b * e.k_pack,), dtype)
            c = T.alloc_fragment((M, N), accum)
            T.annotate_layout({A_s: make_swizzled_layout(A_s), B_s: make_mfma_swizzle_layout(B_s), c: e.make_mfma_store_layout(c)})
            T.clear(c)
            for ko in T.serial(K // chunk):
                T.copy(A[0, ko * chunk], A_s)
                if not shuffle:
                    T.copy(B[0, ko * chunk], B_s)
                for ki in T.serial(chunk // each):
                    e.ldmatrix_a(a, A_s, ki)
                    if shuffle:
                        e.ldmatrix_b(b, B, ko * (chunk // each) + ki, pid_m=0, pid_n=0)
                    else:
                        e.ldmatrix_b(b, B_s, ki)
                    e.mfma(a, b, c)
            T.copy(c, C)

    return main
