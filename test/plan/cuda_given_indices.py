# run: --target="cuda -arch=sm_90a"
# expect: parallel nest (line 19): cp.async, 1 iteration ahead
# refuse: known only in its iteration
import tilelang.language as T


@T.prim_func
def main(I: T.Tensor((64,), "int32"), A: T.Tensor((50, 64), "float16"), B: T.Tensor((16, 64), "float32")):
    with T.Kernel(1, threads=64) as bx:
        s = T.alloc_shared((16, 64), "float16")
        mask, at = T.alloc_fragment((16,), "bool"), T.alloc_fragment((16,), "int32")
        acc = T.alloc_fragment((16, 64), "float32")
        T.clear(acc)
        for k in T.Pipelined(4, num_stages=2):
            for i in T.Parallel(16):
                mask[i] = I[k * 16 + i] >= 0
            for i in T.Parallel(16):
                at[i] = T.max(I[k * 16 + i], 0)
            for i, j in T.Parallel(16, 64):
                s[i, j] = T.if_then_else(mask[i], A[at[i], j], 0)
            for i, j in T.Parallel(16, 64):
                acc[i, j] += T.cast(s[i, j], "float32")
        T.copy(acc, B)
