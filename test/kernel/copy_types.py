# A copy converts: narrow floats round to even and saturate, integers truncate and wrap or saturate.
# verify: src=float32 dst=float16
# verify: src=float32 dst=bfloat16
# verify: src=float32 dst=float64
# verify: src=float64 dst=float32
# verify: src=float64 dst=float16
# verify: src=float16 dst=bfloat16
# verify: src=bfloat16 dst=float16
# verify: src=float16 dst=float32
# verify: src=bfloat16 dst=float64
# verify: src=float32 dst=tfloat32
# verify: src=float32 dst=float8_e4m3fn
# verify: src=float32 dst=float4_e2m1_unpacked
# verify: src=float4_e2m1fn dst=float4_e2m1_unpacked
# verify: src=float32 dst=float8_e5m2
# verify: src=float32 dst=float8_e4m3fnuz
# verify: src=float32 dst=float8_e5m2fnuz
# verify: src=float32 dst=float8_e3m4
# verify: src=float32 dst=float8_e4m3b11fnuz
# verify: src=float32 dst=float8_e8m0fnu scale=1
# verify: src=float32 dst=float6_e2m3fn
# verify: src=float32 dst=float6_e3m2fn
# verify: src=float32 dst=float4_e2m1fn
# verify: src=float8_e4m3fn dst=float16
# verify: src=float8_e5m2 dst=float32
# verify: src=float8_e4m3fn dst=float8_e5m2
# verify: src=float8_e8m0fnu dst=float32
# verify: src=float6_e2m3fn dst=float16
# verify: src=float6_e3m2fn dst=bfloat16
# verify: src=float4_e2m1fn dst=float16
# verify: src=float32 dst=int32
# verify: src=float32 dst=int8
# verify: src=float32 dst=uint8
# verify: src=float32 dst=int4
# verify: src=float64 dst=int64
# verify: src=float16 dst=int16
# verify: src=int8 dst=float32
# verify: src=int32 dst=float16
# verify: src=int64 dst=float32
# verify: src=uint64 dst=float64
# verify: src=int8 dst=int32
# verify: src=int32 dst=int8
# verify: src=uint8 dst=int16
# verify: src=int16 dst=uint32
# verify: src=int4 dst=int8
# verify: src=uint4 dst=float32
# verify: src=bool dst=float32
# verify: src=float32 dst=bool
# verify: src=int32 dst=bool
import tilelang
import tilelang.language as T


@tilelang.jit
def copy_types(N=1037, bn=256, src="float32", dst="float16", scale=300):
    @T.prim_func
    def main(A: T.Tensor((N,), src), B: T.Tensor((N,), dst), C: T.Tensor((N,), dst)):
        with T.Kernel(T.ceildiv(N, bn), threads=128) as bx:
            f = T.alloc_fragment((bn,), src)
            g = T.alloc_fragment((bn,), dst)
            T.copy(A[bx * bn], f)
            T.copy(f, g)
            T.copy(g, B[bx * bn])
            for i in T.Parallel(bn):
                if bx * bn + i < N:
                    C[bx * bn + i] = T.cast(T.cast(f[i], "float32") * scale, dst)

    return main
