# Elements of narrow integers as indices, into one dimension and two, of registers, shared and global memory.
# verify: :main
import tilelang.language as T


@T.prim_func
def main(
    A: T.Tensor((64,), "float32"),
    I: T.Tensor((64,), "uint8"),
    J: T.Tensor((64,), "int16"),
    C: T.Tensor((64,), "float32"),
):
    with T.Kernel(1, threads=64):
        n = T.alloc_local((1,), "uint8")
        r = T.alloc_local((4,), "float32")
        s = T.alloc_shared((8, 4), "float32")
        tx = T.get_thread_binding(0)
        for i in range(4):
            r[i] = A[(tx + i) % 64]
        n[0] = I[tx] % 4
        r[n[0]] = A[J[tx] % 64] + 1
        if tx < 32:
            s[tx // 4, tx % 4] = A[tx] * 2
        T.sync_threads()
        C[tx] = r[n[0]] + r[3] + s[J[tx] % 8, n[0]] + s[J[tx] % 8, I[tx] % 4]
