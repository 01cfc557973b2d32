# A variable that threads leave a loop with, each at its own time, is each thread's own.
# target: cpu
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32"), B: T.Tensor((8, 64), "int32"), C: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=64):
        t = T.get_thread_binding()
        s = T.alloc_shared((64,), "int32")
        v = T.alloc_var("int32")
        v = 0
        for i in T.serial(8):
            v = i
            if A[t] > i:
                break
        T.copy(B[v, 0], s)  # error: tile-threads
        C[t] = s[63 - t]
