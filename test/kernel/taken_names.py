# Tensors, tiles, variables and loops called like words of C, C++, CUDA and of our own headers.
# verify: :functions
# verify: :keywords
import tilelang
import tilelang.language as T


@tilelang.jit
def functions(N=100):
    @T.prim_func
    def main(NULL: T.Tensor((N,), "float32"), expf: T.Tensor((N,), "float32"), _Bool: T.Tensor((N,), "float32"),
             __shared__: T.Tensor((N,), "float32"), tl_f: T.Tensor((N,), "float32"), INT32_MAX: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=128) as threadIdx:
            printf = T.alloc_fragment((N,), "float32")
            __syncthreads = T.alloc_shared((N,), "float32")
            T.copy(NULL, printf)
            T.copy(expf, __syncthreads)
            for memcpy in T.Parallel(N):
                sqrtf = T.exp(__syncthreads[memcpy]) + T.sqrt(T.abs(printf[memcpy]))
                __shared__[memcpy] = sqrtf * _Bool[memcpy] + T.max(tl_f[memcpy], INT32_MAX[memcpy])

    return main


@tilelang.jit
def keywords(N=64):
    @T.prim_func
    def main(int32_t: T.Tensor((N,), "int32"), template: T.Tensor((N,), "int32"), float4: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=64) as co_await:
            for namespace in T.serial(N):
                static = int32_t[namespace] * 3
                if static > 5:
                    float4[namespace] = static - template[namespace]
                else:
                    float4[namespace] = namespace

    return main
