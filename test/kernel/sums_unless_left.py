# Sums that were given a value before a loop that may be left, or may not run, before its first product.
# verify: :left n=0
# verify: :left n=2
# verify: :skipped n=1
# verify: :skipped n=4
# verify: :between n=2
# verify: :lengths n=0
# verify: :lengths n=2
# verify: :nested n=0
# verify: :nested n=1
# verify: :first n=1
# verify: :each n=0
import tilelang
import tilelang.language as T


def sums(start, body):
    @T.prim_func
    def main(A: T.Tensor((128, 32), "float16"), B: T.Tensor((32, 32), "float16"), n: T.int32, C: T.Tensor((128, 32), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((128, 32), "float16")
            b = T.alloc_shared((32, 32), "float16")
            c = T.alloc_fragment((128, 32), "float32")
            T.copy(A, a)
            T.copy(B, b)
            if start is not None:
                T.fill(c, start)
            body(a, b, c, n)
            T.copy(c, C)

    return main


@tilelang.jit
def left():
    @T.macro
    def body(a, b, c, n):
        for k in T.serial(3):
            if k >= n:
                break
            T.gemm(a, b, c)

    return sums(0.0, body)


@tilelang.jit
def skipped():
    @T.macro
    def body(a, b, c, n):
        for k in T.serial(4):
            if k < n:
                continue
            T.gemm(a, b, c)

    return sums(0.0, body)


@tilelang.jit
def between():
    @T.macro
    def body(a, b, c, n):
        for k in T.serial(4):
            T.clear(c)
            if k == n:
                break
            T.gemm(a, b, c)

    return sums(2.0, body)


@tilelang.jit
def lengths():
    @T.macro
    def body(a, b, c, n):
        for k in T.serial(n):
            T.gemm(a, b, c, clear_accum=True)

    return sums(2.0, body)


@tilelang.jit
def nested():
    @T.macro
    def body(a, b, c, n):
        for r in T.serial(n):
            for k in T.serial(2):
                T.gemm(a, b, c, clear_accum=k == 0)

    return sums(2.0, body)


# Nothing is given before: nothing is copied.
@tilelang.jit
def first():
    @T.macro
    def body(a, b, c, n):
        for k in T.serial(n):
            T.gemm(a, b, c, clear_accum=k == 0)

    return sums(None, body)


# Cleared before the loop and in it: the clear of each step counts.
@tilelang.jit
def each():
    @T.macro
    def body(a, b, c, n):
        for k in T.serial(3):
            T.clear(c)
            T.gemm(a, b, c)

    return sums(2.0, body)
