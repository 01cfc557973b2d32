# Kernels written for threads: indices, barriers, divergence, two dimensions.
# verify: :reverse N=64
# verify: :reverse N=100
# verify: :reverse N=1
# verify: :planes
# verify: :tree N=128
# verify: :tree N=32
# verify: :early N=48
# verify: :counts N=96
# verify: :agreed
# verify: :agreed N=128 steps=7
# verify: :mixed N=64
# verify: :steps N=64
# verify: :own_rows
# verify: :own_rows R=9 C=56
import tilelang
import tilelang.language as T


@tilelang.jit
def reverse(N=64):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=N) as bx:
            s = T.alloc_shared((N,), "float32")
            tx = T.get_thread_binding()
            s[tx] = X[tx]
            T.sync_threads()
            Y[tx] = s[N - 1 - tx]

    return main


@tilelang.jit
def planes():
    @T.prim_func
    def main(X: T.Tensor((4, 8, 2), "int32"), Y: T.Tensor((4, 8, 2), "int32")):
        with T.Kernel(1, threads=(4, 8, 2)) as bx:
            s = T.alloc_shared((4, 8, 2), "int32")
            x, y, z = T.get_thread_bindings()
            s[x, y, z] = X[x, y, z]
            T.sync_threads()
            Y[x, y, z] = s[3 - x, 7 - y, 1 - z] + x * 100 + y * 10 + z

    return main


@tilelang.jit
def tree(N=128):
    @T.prim_func
    def main(X: T.Tensor((3, N), "float32"), Y: T.Tensor((3,), "float32")):
        with T.Kernel(3, threads=N) as bx:
            s = T.alloc_shared((N,), "float32")
            tx = T.get_thread_binding()
            half = T.alloc_var("int32", init=N // 2)
            s[tx] = X[bx, tx]
            T.sync_threads()
            while half > 0:
                if tx < half:
                    s[tx] = s[tx] + s[tx + half]
                T.sync_threads()
                half = half // 2
            if tx == 0:
                Y[bx] = s[0]

    return main


@tilelang.jit
def early(N=48):
    """Threads that leave before the others."""

    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), Y: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=N) as bx:
            tx = T.get_thread_binding()
            Y[tx] = 0
            if X[tx] < 0:
                T.thread_return()
            Y[tx] = X[tx] + 1

    return main


@tilelang.jit
def counts(N=96):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), Y: T.Tensor((3, N), "int32")):
        with T.Kernel(1, threads=N) as bx:
            tx = T.get_thread_binding()
            Y[0, tx] = T.syncthreads_count(X[tx] > 0)
            Y[1, tx] = T.syncthreads_and(X[tx] > -100)
            Y[2, tx] = T.syncthreads_or(X[tx] > 100)

    return main


@tilelang.jit
def mixed(N=64):
    """Tile operators and thread code in one kernel."""

    @T.prim_func
    def main(X: T.Tensor((N, N), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=N) as bx:
            s = T.alloc_shared((N, N), "float32")
            acc = T.alloc_local((1,), "float32")
            tx = T.get_thread_binding()
            T.copy(X, s)
            acc[0] = 0
            for j in T.serial(N):
                acc[0] += s[tx, j] * j
            Y[tx] = acc[0]

    return main


@tilelang.jit
def steps(N=64):
    """Many barriers in a loop: a prefix sum."""

    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=N) as bx:
            s = T.alloc_shared((N,), "float32")
            tx = T.get_thread_binding()
            v = T.alloc_var("float32")
            d = T.alloc_var("int32", init=1)
            s[tx] = X[tx]
            T.sync_threads()
            while d < N:
                v = 0.0
                if tx >= d:
                    v = s[tx - d]
                T.sync_threads()
                s[tx] = s[tx] + v
                T.sync_threads()
                d = d * 2
            Y[tx] = s[tx]

    return main


@tilelang.jit
def own_rows(R=16, C=64, E=8):
    """What a thread keeps for itself goes out by itself, whole and in part."""

    @T.prim_func
    def main(A: T.Tensor((R, C), "float16"), B: T.Tensor((R, C // 2), "float16"), N: T.Tensor((R, C // E), "int32")):
        with T.Kernel(1, threads=(R, C // E)) as bx:
            row = T.get_thread_binding(0)
            part = T.get_thread_binding(1)
            mine = T.alloc_local([E], "float16")
            half = T.alloc_local([E // 2], "float16")
            n = T.alloc_local([1], "int32")
            T.clear(n)
            T.copy(A[row, part * E : (part + 1) * E], mine)
            for i in T.unroll(E // 2):
                half[i] = mine[2 * i] - mine[2 * i + 1]
                n[0] += T.if_then_else(mine[2 * i] > 0, 1, 0)
            T.copy(half, B[row, part * (E // 2) : (part + 1) * (E // 2)])
            T.copy(n, N[row, part : part + 1])

    return main


# What all threads found together decides whether they meet.
@tilelang.jit
def agreed(N=64, steps=4):
    @T.prim_func
    def main(X: T.Tensor((steps, N), "int32"), Y: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=N) as bx:
            tx = T.get_thread_binding()
            s = T.alloc_shared((N,), "int32")
            total = T.alloc_var("int32", init=0)
            for k in T.serial(steps):
                found = T.syncthreads_count(X[k, tx] > 0)
                if found > N // 2:
                    s[tx] = X[k, tx]
                    T.sync_threads()
                    total = total + s[N - 1 - tx] * found
                    T.sync_threads()
            Y[tx] = total

    return main
