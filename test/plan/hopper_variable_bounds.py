# Bounds and addresses by variables that are set from what the kernel only reads: the producer sets them too.
# run: --target="cuda -arch=sm_90a"
# expect: copy A, a (line 25): tma, a box of the tensor, by the producer into pipeline 1
# expect: a: shared float16[3, 64, 64]
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def main(M=256, N=64, K=64):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), First: T.Tensor((4,), "int32"), Last: T.Tensor((4,), "int32"),
             C: T.Tensor((4, 64, 64), "float32")):
        with T.Kernel(4, threads=128) as bx:
            a = T.alloc_shared((64, K), "float16")
            s = T.alloc_fragment((64, 64), "float32")
            low = T.alloc_var("int32")
            high = T.alloc_var("int32")
            low = T.max(First[bx], 0)
            high = M
            if Last[bx] < high:
                high = Last[bx]
            T.clear(s)
            for k in T.Pipelined(T.ceildiv(high - low, 64), num_stages=3):
                T.copy(A[low + k * 64, 0], a)
                T.gemm(a, a, s, transpose_B=True)
            T.copy(s, C[bx, 0, 0])

    return main
