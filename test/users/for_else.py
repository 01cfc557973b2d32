# refused: TL#2946 :looped [loop-else]
import tilelang
import tilelang.language as T


@T.prim_func
def looped(A: T.Tensor((8,), "int32")):
    with T.Kernel(1, threads=1) as bx:
        for i in T.serial(4):
            A[i] = i
        else:
            A[7] = 9
