# run: --target="cuda -arch=sm_90a"
# expect: gemm keys, v, state (line 16): wgmma by wgmma, m64n64k16 ss
# refuse: mma.sync
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64, 128), "float16"), V: T.Tensor((64, 64), "float16"), S: T.Tensor((128, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        v = T.alloc_shared((64, 64), "float16")
        keys, state = T.alloc_fragment((64, 128), "float16"), T.alloc_fragment((128, 64), "float32")
        T.copy(V, v)
        T.copy(X, keys)
        for k, m in T.Parallel(64, 128):
            keys[k, m] = keys[k, m] * T.float16(0.5)
        T.gemm(keys, v, state, transpose_A=True, clear_accum=True)
        T.copy(state, S)
