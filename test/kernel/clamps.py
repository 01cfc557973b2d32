# Clamps and tests for their ends, as calls, choices and variables.  NVIDIA's assembler joins some of
# them into one instruction with a wrong predicate (src/target/cuda/rt/sass.c).
# verify:
# verify: form=1
# verify: form=2
# verify: form=3
import tilelang
import tilelang.language as T


@tilelang.jit
def clamps(form=0, N=192, most=64):
    @T.prim_func
    def by_call(X: T.Tensor((N,), "int32"), O: T.Tensor((N,), "int32"), P: T.Tensor((N,), "int32")):
        with T.Kernel(N, threads=32) as b:
            a = T.max(T.int32(0), T.min(T.int32(most), X[b] % 100 - 18))
            O[b] = a
            if a == T.int32(most):
                P[b] = 11
            else:
                P[b] = 22

    @T.prim_func
    def by_choice(X: T.Tensor((N,), "int32"), O: T.Tensor((N,), "int32"), P: T.Tensor((N,), "int32")):
        with T.Kernel(N, threads=32) as b:
            x = X[b] % 100 - 18
            m = T.if_then_else(x < most, x, T.int32(most))
            a = T.if_then_else(m < 0, T.int32(0), m)
            O[b] = a
            P[b] = T.if_then_else(a != most, 22, 11)

    @T.prim_func
    def by_clamp(X: T.Tensor((N,), "int32"), O: T.Tensor((N,), "int32"), P: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=N) as b:
            for i in T.Parallel(N):
                O[i] = T.clamp(X[i] % 100 - 18, 0, most)
                P[i] = T.if_then_else(T.clamp(X[i] % 100 - 18, 0, most) == most, 11, 22)

    @T.prim_func
    def by_variable(X: T.Tensor((N,), "int32"), O: T.Tensor((N,), "int32"), P: T.Tensor((N,), "int32")):
        with T.Kernel(N, threads=32) as b:
            a = T.alloc_var("int32", init=X[b] % 100 - 18)
            if a > most:
                a = most
            if a < 0:
                a = 0
            O[b] = a
            if a == most:
                P[b] = 11
            else:
                P[b] = 22

    return [by_call, by_choice, by_clamp, by_variable][form]
