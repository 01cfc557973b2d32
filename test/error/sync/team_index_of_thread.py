# target: cuda -arch=sm_80
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=256) as bx:
        t = T.get_thread_binding()
        s = T.alloc_shared((64, 64), "float32")
        T.copy(A[t // 8, 0:64], s[t // 8, 0:64])  # error: tile-threads
        T.sync_threads()
        B[t // 64, t % 64] = s[t // 64, t % 64]
