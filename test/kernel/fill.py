# Whole buffers, regions, values of every kind.
# verify: v=3 dtype=float32
# verify: v=3 dtype=float16
# verify: v=3 dtype=int8
# verify: v=3 dtype=uint8
# verify: v=3 dtype=float8_e4m3fn
# verify: v=3 dtype=bool
# verify: v=3 dtype=int64
import tilelang
import tilelang.language as T


@tilelang.jit
def fill(dtype="float32"):
    @T.prim_func
    def main(v: T.int32, A: T.Tensor((24, 40), dtype), B: T.Tensor((24, 40), dtype)):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((24, 40), dtype)
            f = T.alloc_fragment((24, 40), dtype)
            T.fill(s, 1)
            T.fill(s[3:7, 0:40], 0)
            T.fill(s[10:20, 5], v)
            T.clear(f)
            T.fill(f, v + 1)
            T.copy(s, A)
            T.copy(f, B)
            T.clear(B[0:2, 0:40])

    return main
