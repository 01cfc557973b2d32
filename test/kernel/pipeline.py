# T.Pipelined: every number of stages, manual order, conditions, loop-carried tiles.
# verify: :stages stages=0
# verify: :stages stages=1
# verify: :stages stages=2
# verify: :stages stages=3
# verify: :stages stages=4 N=97
# verify: :stages stages=3 N=16
# verify: :stages stages=3 N=1
# verify: :manual N=100
# verify: :ranges N=100
# verify: :conditional N=100
# verify: :carried N=100
# verify: :indirect N=64
import tilelang
import tilelang.language as T


@tilelang.jit
def stages(N=100, b=16, stages=2):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((b,), "float32")
            c = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(N, b), num_stages=stages):
                T.copy(A[k * b], a)
                T.copy(B[k * b], c)
                for i in T.Parallel(b):
                    acc[i] += a[i] * c[i] + k
            T.copy(acc, C)

    return main


@tilelang.jit
def manual(N=100, b=16):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(N, b), order=[0, 1], stage=[0, 1]):
                T.copy(A[k * b], a)
                for i in T.Parallel(b):
                    acc[i] += a[i]
            T.copy(acc, C)

    return main


@tilelang.jit
def ranges(N=100, b=16):
    """start and stop."""

    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            for k in T.Pipelined(2, T.ceildiv(N, b), num_stages=2):
                T.copy(A[k * b], a)
                for i in T.Parallel(b):
                    acc[i] += a[i] * k
            T.copy(acc, C)

    return main


@tilelang.jit
def conditional(N=100, b=16):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            T.clear(a)
            for k in T.Pipelined(T.ceildiv(N, b), num_stages=2):
                if k % 2 == 0:
                    T.copy(A[k * b], a)
                if k != 3:
                    for i in T.Parallel(b):
                        acc[i] += a[i]
            T.copy(acc, C)

    return main


@tilelang.jit
def carried(N=100, b=16):
    """A tile that one iteration leaves for the next."""

    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((b,), "float32")
            before = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            T.fill(before, 1)
            for k in T.Pipelined(T.ceildiv(N, b), num_stages=2):
                T.copy(A[k * b], a)
                for i in T.Parallel(b):
                    acc[i] += a[i] * before[i]
                T.copy(a, before)
            T.copy(acc, C)

    return main


@tilelang.jit
def indirect(N=64, b=16):
    """Where a copy reads from is itself read from memory."""

    @T.prim_func
    def main(P: T.Tensor((4,), "int32"), A: T.Tensor((N,), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            for k in T.Pipelined(4, num_stages=2):
                page = P[k] & 3
                T.copy(A[page * b], a)
                for i in T.Parallel(b):
                    acc[i] += a[i] * (k + 1)
            T.copy(acc, C)

    return main
