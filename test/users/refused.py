# refused: TL#2978 :no_group [warp-group]
# refused: TL#1301 :strided [slice-step]
# refused: TL#2979 :past_end [slice-range]
import tilelang
import tilelang.language as T


@T.prim_func
def no_group(A: T.Tensor((128,), "int32")):
    with T.Kernel(1, threads=256) as bx:
        with T.ws(-1):
            for i in T.Parallel(128):
                A[i] = 1


@T.prim_func
def strided(A: T.Tensor((8, 8), "float32"), B: T.Tensor((8, 4), "float32")):
    with T.Kernel(1, threads=32) as bx:
        T.copy(A[:, 0::2], B)


@T.prim_func
def past_end(A: T.Tensor((8, 8), "float32")):
    with T.Kernel(1, threads=32) as bx:
        s = T.alloc_shared((8, 8), "float32")
        T.fill(s[4:12, 0:8], 1)
        T.copy(s, A)
