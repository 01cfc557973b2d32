# T.print of a message, a value and a buffer.
# prints: hello
# prints: value
# verify:
import tilelang
import tilelang.language as T


@tilelang.jit
def show(N=4):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            s = T.alloc_shared((N,), "float32")
            f = T.alloc_fragment((N,), "int32")
            T.copy(X, s)
            for i in T.Parallel(N):
                f[i] = i * 3
            T.print(msg="hello")
            T.print(N * 2 + bx, msg="value")
            T.print(s)
            T.print(f, msg="tile")
            T.copy(s, Y)

    return main
