# `for` over lists, tuples, dicts, zip and enumerate is walked when compiling.
# verify: :operations
# verify: :operations ops=("sub",)
# verify: :casts
# verify: :leaves
# verify: :tiles
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def operations(N=24, ops=("add", "mul", "sub")):
    table = {"add": lambda x, y: x + y, "mul": lambda x, y: x * y, "sub": lambda x, y: x - y}
    coef = [1.0, 1.414, 1.732]

    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32):
            t = T.alloc_fragment((N,), "float32")
            T.copy(X, t)
            for k, (op, c) in enumerate(zip(ops, coef)):
                for i in T.Parallel(N):
                    t[i] = table[op](t[i], c) + k
            if len(ops) == 3:
                for i in T.Parallel(N):
                    T.device_assert(T.abs(t[i] - ((X[i] + 1.0) * 1.414 + 1.268)) < 1e-5)
            T.copy(t, Y)

    return main


@tilelang.jit(out_idx=[-1])
def casts(N=64, path=("float16", "int8", "float32", "bfloat16", "int64", "float8_e5m2", "float64")):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float64")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(N):
                v = X[i] * 50
                for p in path:
                    v = T.cast(v, p)
                Y[i] = v

    return main


# break and continue on what is known when compiling; the last item stays bound.
@tilelang.jit(out_idx=[-1])
def leaves(N=8):
    @T.prim_func
    def main(Y: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=32):
            s = T.alloc_var("int32", init=0)
            for k, v in {"a": 1, "b": 20, "c": 300, "d": 4000, "e": 5}.items():
                if k == "b":
                    continue
                if k == "e":
                    break
                for _ in T.serial(2):
                    s += v
            T.device_assert(s == 8602 and v == 5)
            for i in T.Parallel(N):
                Y[i] = s + v

    return main


# Tiles in a list; each walk makes statements of its own.
@tilelang.jit(out_idx=[-1])
def tiles(M=16, N=20):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float16"), B: T.Tensor((M, N), "float16"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=64):
            sum = T.alloc_fragment((M, N), "float32")
            T.clear(sum)
            for x, times in ((A, 1.0), (B, -2.0)):
                t = T.alloc_shared((M, N), "float16")
                T.copy(x, t)
                for i, j in T.Parallel(M, N):
                    sum[i, j] += t[i, j] * times
            T.copy(sum, Y)

    return main
