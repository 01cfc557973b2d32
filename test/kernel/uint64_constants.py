# Numbers from 2^63 to 2^64 - 1 are uint64, written, shifted or multiplied together.
# verify: :mix
# verify: :fnv
import tilelang
import tilelang.language as T

MASK = (1 << 64) - 1
PHI = 0x9E3779B97F4A7C15
SECOND = (PHI * 3) & MASK
TOP = 1 << 63
ODD = 2 ** 63 + 1


@T.prim_func
def mix(X: T.Tensor((130,), "uint64"), Y: T.Tensor((130,), "uint64")):
    with T.Kernel(1, threads=64):
        for i in T.Parallel(130):
            h = X[i]
            h = (h ^ (h >> 33)) * T.uint64(0xff51afd7ed558ccd)
            h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53 + SECOND
            h = ((h | TOP) * T.cast(PHI, "uint64")) & MASK
            Y[i] = h ^ (h >> 33) ^ ODD ^ (2**64 - 1)


@T.prim_func
def fnv(X: T.Tensor((64,), "uint64"), Y: T.Tensor((64,), "uint64"), Z: T.Tensor((4,), "uint64")):
    with T.Kernel(1, threads=32):
        h = T.alloc_var("uint64", init=0xcbf29ce484222325)
        tile = T.alloc_shared((2,), "uint64")
        for i in T.serial(64):
            h = (h ^ X[i]) * 0x100000001b3
            Y[i] = h
        T.fill(tile, 0xff51afd7ed558ccd)
        T.copy(tile, Z[0:2])
        Z[2] = T.max(h, PHI)
        Z[3] = T.if_then_else(h > (1 << 63), h % 1000003, (3 << 62) // 7)
