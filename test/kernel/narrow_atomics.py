# Atomics on integers of 8 and 16 bits, whose neighbours share a word: they stay as they are, sums wrap.
# verify: :all_kinds
# verify: :all_kinds dtype=uint8
# verify: :all_kinds dtype=int16 N=37
# verify: :all_kinds dtype=uint16 N=70
# verify: :earlier
# verify: :earlier dtype=uint16
import tilelang
import tilelang.language as T


@tilelang.jit
def all_kinds(N=100, dtype="int8"):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), S: T.Tensor((N,), dtype), H: T.Tensor((N,), dtype), L: T.Tensor((N,), dtype),
             P: T.Tensor((8,), dtype)):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((8,), dtype)
            for i in T.Parallel(8):
                s[i] = 3
            for i in T.Parallel(N):
                T.atomic_add(S[i // 3], A[i])
                T.atomic_max(H[i // 3], A[i])
                T.atomic_min(L[i // 3], A[i])
                T.atomic_add(s[i % 8], A[i])
            T.copy(s, P)

    return main


# What was there before, of elements that one thread alone touches.
@tilelang.jit
def earlier(N=64, dtype="int8"):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype), C: T.Tensor((N,), dtype)):
        with T.Kernel(1, threads=N) as bx:
            t = T.get_thread_binding()
            C[t] = T.atomic_add(B[t], A[t], return_prev=True)

    return main
