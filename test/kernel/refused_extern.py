# The simulator knows no C function.
# refused: [sim-extern]
# verify:
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((16,), "float32")):
    with T.Kernel(1, threads=16, prelude="static float twice(float x) { return 2 * x; }") as bx:
        for i in T.Parallel(16):
            A[i] = T.call_extern("float32", "twice", A[i])
