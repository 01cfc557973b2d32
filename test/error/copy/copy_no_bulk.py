# target: cuda -arch=sm_90a
import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64, 63), T.float16), B: T.Tensor((64, 64), T.float16)):
    with T.Kernel(1, threads=128) as bx:
        S = T.alloc_shared((64, 32), T.float16)
        T.copy(A[0, 0], S, prefer_instruction="tma")  # error: copy-instruction
        T.copy(S, B[0, 0])
