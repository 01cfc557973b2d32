"""Numbers that a call hands over: each type of them, and what is computed with a narrow one."""
# verify: :kinds e=1 b=200 c=-100 d=60000 f=-30000 g=-2000000000 h=4000000000 i=-9876543210 x=0.3 y=-2.5 z=1.1
# verify: :kinds e=0 b=100 c=100 d=1 f=30000 g=7 h=9 i=12345678901 x=-0.3 y=1000.0 z=-1e9
# verify: :narrow b=250 c=-120
# verify: :narrow b=6 c=3
import tilelang
import tilelang.language as T


@tilelang.jit
def kinds():
    @T.prim_func
    def main(
        Y: T.Tensor((11,), "float32"), N: T.Tensor((4,), "int64"), e: T.bool, b: T.uint8, c: T.int8, d: T.uint16, f: T.int16,
        g: T.int32, h: T.uint32, i: T.int64, x: T.float16, y: T.bfloat16, z: T.float32,
    ):
        with T.Kernel(1, threads=1):
            Y[0] = T.if_then_else(e, 1.0, 2.0)
            Y[1] = b
            Y[2] = c
            Y[3] = d
            Y[4] = f
            Y[5] = g
            Y[6] = h
            Y[7] = T.cast(i // 1000, "float32")
            Y[8] = x
            Y[9] = y
            Y[10] = z
            N[0] = i
            N[1] = h
            N[2] = c
            N[3] = b

    return main


@tilelang.jit
def narrow(n=70):
    @T.prim_func
    def main(X: T.Tensor((n,), "uint8"), Y: T.Tensor((n,), "uint8"), Z: T.Tensor((n,), "int8"), b: T.uint8, c: T.int8):
        with T.Kernel(T.ceildiv(n, 32), threads=32) as bx:
            for i in T.Parallel(32):
                Y[bx * 32 + i] = X[bx * 32 + i] + b
                Z[bx * 32 + i] = T.if_then_else(X[bx * 32 + i] < b, c, c + c)

    return main
