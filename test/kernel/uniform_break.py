# Loops that all threads leave together, tiles in them; and loops that each leaves by itself, with what is its own.
# verify: :together
# verify: :alone
# verify: :together n=3
import tilelang
import tilelang.language as T


@tilelang.jit
def together(n=8):
    @T.prim_func
    def main(A: T.Tensor((8,), "int32"), B: T.Tensor((8, 64), "int32"), C: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=64):
            t = T.get_thread_binding()
            s = T.alloc_shared((64,), "int32")
            at = T.alloc_var("int32")
            at = 0
            T.fill(s, 0)
            for i in T.serial(n):
                at = i
                if A[i] > 2:
                    break
                if A[i] < -2:
                    continue
                T.copy(B[i, 0], s)
            C[t] = s[63 - t] + at

    return main


@tilelang.jit
def alone():
    @T.prim_func
    def main(A: T.Tensor((64,), "int32"), B: T.Tensor((8, 64), "int32"), C: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=64):
            t = T.get_thread_binding()
            s = T.alloc_shared((64,), "int32")
            total = T.alloc_var("int32")
            total = 0
            T.copy(B[1, 0], s)
            for i in T.serial(8):
                if A[t] > i:
                    break
                if A[t] < -2:
                    continue
                total = total + B[i, t]
            C[t] = s[63 - t] + total

    return main
