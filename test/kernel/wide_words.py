# Many bits between memory and registers at once, with and without a condition; set bits of a mask.
# verify: :words
# verify: :words dtype=float16
# verify: :words dtype=int8 bits=64
# verify: :words dtype=float32 bits=32
# verify: :set_bits
import tilelang
import tilelang.language as T


@tilelang.jit
def words(dtype="float32", bits=128, n=32):
    each = bits // T.dtype(dtype).bits
    load, store = getattr(T, "ldg%d" % bits), getattr(T, "stg%d" % bits)
    get, put = getattr(T, "lds%d" % bits), getattr(T, "sts%d" % bits)

    @T.prim_func
    def main(
        A: T.Tensor((n * each,), dtype),
        B: T.Tensor((n * each,), dtype),
        C: T.Tensor((n * each,), dtype),
        D: T.Tensor((n,), dtype),
    ):
        with T.Kernel(1, threads=n) as bx:
            s = T.alloc_shared((n * each,), dtype)
            tx = T.get_thread_binding()
            put(s[tx * each], load(A[tx * each], pred=tx % 3 != 1))
            T.sync_threads()
            store(B[tx * each], get(s[(n - 1 - tx) * each]))
            for i in T.serial(each):
                C[tx * each + i] = T.cast(0, dtype)
            store(C[tx * each], load(A[tx * each]), pred=tx < 5)
            D[tx] = T.__ldg(A[tx * each]) + T.__ldg(A, 3)

    return main


@tilelang.jit
def set_bits(n=32):
    @T.prim_func
    def main(A: T.Tensor((n,), "int32"), B: T.Tensor((4, n), "uint32")):
        with T.Kernel(1, threads=n) as bx:
            tx = T.get_thread_binding()
            mask = T.cast(A[tx], "uint32")
            B[0, tx] = T.__fns(mask, 0, 3)
            B[1, tx] = T.__fns(mask, tx, -2)
            B[2, tx] = T.__fns(mask, tx, 0)
            B[3, tx] = T.__fns(mask, 1, 40)

    return main
