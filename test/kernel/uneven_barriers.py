# Nests of fewer iterations than threads, and conditions on threads, with barriers inside: on machines whose barriers
# are for all threads everybody comes to them, and what was named before is still known behind.
# verify: :bitonic
# verify: :bitonic N=128 P=7 dtype=float16
# verify: :bitonic dtype=bfloat16
# verify: :bitonic dtype=int8
# verify: :bitonic dtype=float32 threads=128
# verify: :nested
# verify: :nested threads=128 n=32
import tilelang
import tilelang.language as T


# Each pair is read, then written: a barrier between the two, for the N / 2 threads that have a pair.
@tilelang.jit(out_idx=[-1])
def bitonic(N=64, threads=64, P=6, dtype="int32"):
    @T.prim_func
    def main(X: T.Tensor((N,), dtype), Y: T.Tensor((N,), dtype)):
        with T.Kernel(1, threads=threads):
            s = T.alloc_shared((N,), dtype)
            T.copy(X, s)
            for p in T.serial(P):
                for q in T.serial(p + 1):
                    for i in T.Parallel(N // 2):
                        d = 1 << (p - q)
                        a = (i // d) * 2 * d + i % d
                        up = (a >> (p + 1)) % 2 == 0
                        x = s[a]
                        y = s[a + d]
                        if (x > y) == up:
                            s[a] = y
                            s[a + d] = x
            T.copy(s, Y)

    return main


# A condition in a nest that is one itself.
@tilelang.jit(out_idx=[-1])
def nested(threads=64, n=24):
    @T.prim_func
    def main(X: T.Tensor((n,), "float32"), Y: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=threads):
            s = T.alloc_shared((n,), "float32")
            T.copy(X, s)
            for r in T.serial(3):
                for i in T.Parallel(n // 2):
                    j = (i * 5 + r) % (n // 2)
                    x = s[j]
                    if x > 0:
                        s[n // 2 + i] = x + s[i]
                for i in T.Parallel(n // 2):
                    y = s[n // 2 + (i + 1) % (n // 2)]
                    if i % 3 != 1:
                        s[i] = y * 0.5
            T.copy(s, Y)

    return main
