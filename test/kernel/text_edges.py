# What faults put into the emitters slipped by (test/mutate/emit.py): values that tell similar texts apart.
# verify: :signs
# verify: :signs dtype=float16
# verify: :signs dtype=bfloat16
# verify: :signs dtype=float8_e5m2
import tilelang
import tilelang.language as T


@tilelang.jit
def signs(N=256, dtype="float32"):
    """Integers of every width and sign become floats of every width, rounded once."""
    @T.prim_func
    def main(O: T.Tensor((6, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                wide = (T.cast(i, "int64") - 128) * 40007
                O[0, i] = T.cast(T.cast(wide, dtype), "float32")
                O[1, i] = T.cast(T.cast(T.cast(wide, "uint64"), dtype), "float32") * T.float32(0.5)
                O[2, i] = T.cast(T.cast(T.cast(wide, "int32"), dtype), "float32")
                O[3, i] = T.cast(T.cast(T.cast(wide, "uint32"), dtype), "float32") * T.float32(0.25)
                O[4, i] = T.cast(T.cast(T.cast(wide, "int16"), dtype), "float32")
                O[5, i] = T.cast(T.cast(T.cast(wide, "float64") * T.float64(-0.37), dtype), "float32")

    return main
