# Tiles in pipelines that nobody reads: what is in flight into them must not land in what takes their place.
# verify: :beside
# verify: :beside n=1 stages=3
# verify: :beside n=3
# verify: :indices
# verify: :indices n=2
import tilelang
import tilelang.language as T


@tilelang.jit
def beside(n=1, stages=2, R=16):
    @T.prim_func
    def main(A: T.Tensor((n * R, 16), "float16"), B: T.Tensor((n * R, 16), "float16"), C: T.Tensor((R, 16), "float32")):
        with T.Kernel(1, threads=32):
            t = T.alloc_shared((R, 16), "float16")
            s = T.alloc_shared((R, 16), "float16")
            c = T.alloc_fragment((R, 16), "float32")
            T.clear(c)
            for p in T.Pipelined(n, num_stages=stages):
                T.copy(B[p * R, 0], t)
                T.copy(A[p * R, 0], s)
                for i, j in T.Parallel(R, 16):
                    c[i, j] = s[i, j] - c[i, j]
            T.copy(c, C)

    return main


# Indices that go into the copy which they are for.
@tilelang.jit
def indices(n=1, stages=2, R=16):
    @T.prim_func
    def main(A: T.Tensor((n * R, 16), "float16"), I: T.Tensor((n * R,), "int32"), C: T.Tensor((R, 16), "float32")):
        with T.Kernel(1, threads=32):
            t = T.alloc_shared((R,), "int32")
            s = T.alloc_shared((R, 16), "float16")
            c = T.alloc_fragment((R, 16), "float32")
            T.clear(c)
            for p in T.Pipelined(n, num_stages=stages):
                for i in T.Parallel(R):
                    t[i] = I[p * R + i]
                for i, j in T.Parallel(R, 16):
                    s[i, j] = T.if_then_else(t[i] % 2 == 0, A[p * R + i, j], 0)
                for i, j in T.Parallel(R, 16):
                    c[i, j] = s[i, j] - c[i, j]
            T.copy(c, C)

    return main
