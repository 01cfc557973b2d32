# target: cuda -arch=sm_80
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=512) as bx:  # error: barrier-numbers
        t = T.get_thread_binding()
        s = T.alloc_shared((64, 64), "float32")
        if t >= 0 and t < 32:
            T.copy(A[0, 0:64], s[0, 0:64])
            T.copy(s[0, 0:64], B[0, 0:64])
        if t >= 32 and t < 64:
            T.copy(A[1, 0:64], s[1, 0:64])
            T.copy(s[1, 0:64], B[1, 0:64])
        if t >= 64 and t < 96:
            T.copy(A[2, 0:64], s[2, 0:64])
            T.copy(s[2, 0:64], B[2, 0:64])
        if t >= 96 and t < 128:
            T.copy(A[3, 0:64], s[3, 0:64])
            T.copy(s[3, 0:64], B[3, 0:64])
        if t >= 128 and t < 160:
            T.copy(A[4, 0:64], s[4, 0:64])
            T.copy(s[4, 0:64], B[4, 0:64])
        if t >= 160 and t < 192:
            T.copy(A[5, 0:64], s[5, 0:64])
            T.copy(s[5, 0:64], B[5, 0:64])
        if t >= 192 and t < 224:
            T.copy(A[6, 0:64], s[6, 0:64])
            T.copy(s[6, 0:64], B[6, 0:64])
        if t >= 224 and t < 256:
            T.copy(A[7, 0:64], s[7, 0:64])
            T.copy(s[7, 0:64], B[7, 0:64])
        if t >= 256 and t < 288:
            T.copy(A[8, 0:64], s[8, 0:64])
            T.copy(s[8, 0:64], B[8, 0:64])
        if t >= 288 and t < 320:
            T.copy(A[9, 0:64], s[9, 0:64])
            T.copy(s[9, 0:64], B[9, 0:64])
        if t >= 320 and t < 352:
            T.copy(A[10, 0:64], s[10, 0:64])
            T.copy(s[10, 0:64], B[10, 0:64])
        if t >= 352 and t < 384:
            T.copy(A[11, 0:64], s[11, 0:64])
            T.copy(s[11, 0:64], B[11, 0:64])
        if t >= 384 and t < 416:
            T.copy(A[12, 0:64], s[12, 0:64])
            T.copy(s[12, 0:64], B[12, 0:64])
        if t >= 416 and t < 448:
            T.copy(A[13, 0:64], s[13, 0:64])
            T.copy(s[13, 0:64], B[13, 0:64])
        if t >= 448 and t < 480:
            T.copy(A[14, 0:64], s[14, 0:64])
            T.copy(s[14, 0:64], B[14, 0:64])
        if t >= 480 and t < 512:
            T.copy(A[15, 0:64], s[15, 0:64])
            T.copy(s[15, 0:64], B[15, 0:64])
