# Lanes of a mask meet while the others of their warp wait for all of it.
# verify: :apart
import tilelang
import tilelang.language as T


@tilelang.jit
def apart():
    @T.prim_func
    def main(R: T.Tensor((64,), "int32"), S: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=64) as bx:
            tx = T.get_thread_binding()
            v = T.alloc_var("int32", init=0)
            v = tx * 3
            if tx % 32 < 16:
                v = T.shfl_xor(v, 1, mask=0xFFFF) + 1
                v = T.shfl_xor(v, 2, mask=0xFFFF)
            elif tx % 32 < 24:
                v = T.shfl_xor(v, 3, mask=0xFF0000) * 2
            v = T.shfl_xor(v, 17) * 5
            R[tx] = v
            S[tx] = T.shfl_sync(v + tx, (tx + 13) % 32) * 3

    return main
