# Every reduction, cleared and onto an old value, rows and columns, shared and registers.
# verify: op=sum
# verify: op=sum clear=False
# verify: op=sum dim=0
# verify: op=sum dim=0 clear=False
# verify: op=max
# verify: op=max clear=False
# verify: op=max dim=0 clear=False
# verify: op=min
# verify: op=min clear=False dim=0
# verify: op=absmax
# verify: op=absmax clear=False
# verify: op=absmax dim=0
# verify: op=abssum
# verify: op=abssum dim=0
# verify: op=sum scope=shared
# verify: op=max scope=shared dim=0
# verify: op=min scope=shared clear=False
# verify: op=sum dtype=float16
# verify: op=sum dtype=bfloat16 dim=0
# verify: op=max dtype=float16 clear=False
# verify: op=min dtype=bfloat16
# verify: op=sum dtype=float64
# verify: op=sum dtype=int32
# verify: op=sum dtype=int8
# verify: op=max dtype=int8 dim=0
# verify: op=min dtype=uint8
# verify: op=max dtype=uint8 clear=False
# verify: op=absmax dtype=int32
# verify: op=bitand dtype=int32
# verify: op=bitand dtype=uint8 clear=False dim=0
# verify: op=bitor dtype=int16
# verify: op=bitor dtype=int32 clear=False
# verify: op=bitxor dtype=int64
# verify: op=bitxor dtype=uint32 dim=0
# verify: op=bitand dtype=bool
# verify: op=bitor dtype=bool dim=0
# verify: op=sum dtype=float16 out=float32
# verify: op=sum dtype=int8 out=int32
# verify: op=max dtype=float8_e4m3fn out=float32
# verify: op=sum M=1 N=1
# verify: op=max M=24 N=40
# verify: op=sum M=97 N=7
# verify: op=sum M=48 N=96 dim=0
import tilelang
import tilelang.language as T


@tilelang.jit
def reduce(M=17, N=33, dim=1, op="sum", clear=True, dtype="float32", out=None, scope="fragment"):
    to = out or dtype
    L = M if dim == 1 else N

    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((L,), to)):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_shared((M, N), dtype) if scope == "shared" else T.alloc_fragment((M, N), dtype)
            y = T.alloc_shared((L,), to) if scope == "shared" else T.alloc_fragment((L,), to)
            T.copy(X, x)
            T.copy(Y, y)
            if op == "abssum":
                T.reduce_abssum(x, y, dim=dim)
            else:
                getattr(T, "reduce_" + op)(x, y, dim=dim, clear=clear)
            T.copy(y, Y)

    return main
