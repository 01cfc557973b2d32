# Single MFMAs on slots that a kernel fills by itself: hip.sh.
import tilelang
import tilelang.language as T


# Two steps of k; the result in a thread's own slots, or in a fragment.
@tilelang.jit
def product(dtype="float16", accum="float32", suffix="f32_16x16x16f16", size=16, k=16, tile=False):
    n = size * k // 64
    each = size * size // 64

    def row(lane, slot):
        return lane // size * 4 + slot % 4 + slot // 4 * 8

    @T.prim_func
    def main(A: T.Tensor((size, 2 * k), dtype), B: T.Tensor((2 * k, size), dtype), C: T.Tensor((size, size), accum)):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            a = T.alloc_local((2 * n,), dtype)
            b = T.alloc_local((2 * n,), dtype)
            for p, i in T.grid(2, n):
                a[p * n + i] = A[tx % size, p * k + tx // size * n + i]
                b[p * n + i] = B[p * k + tx // size * n + i, tx % size]
            if tile:
                c = T.alloc_fragment((size, size), accum)
                T.annotate_layout({c: T.Fragment((size, size), lambda i, j: (i // 4 % (64 // size) * size + j, i // 8 * 4 + i % 4 if size == 32 else i % 4))})
                T.clear(c)
                for p in T.unroll(2):
                    T.tvm_mfma(suffix, "row", "row", dtype, dtype, accum, a.data, p, b.data, p, c[0:size, 0:size], 0)
                T.copy(c, C)
            else:
                d = T.alloc_local((each,), accum)
                T.clear(d)
                for p in T.unroll(2):
                    T.tvm_mfma(suffix, "row", "row", dtype, dtype, accum, a.data, p, b.data, p, d.data, 0)
                for i in T.serial(each):
                    C[row(tx, i), tx % size] = d[i]

    return main
