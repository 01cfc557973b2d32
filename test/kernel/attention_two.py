# Attention whose last block sees two tiles of keys at most: loops that share a variable have each their own range.
# verify: S=70
# verify: S=128
# verify: S=60
import tilelang
import tilelang.language as T


@tilelang.jit
def attention(S=70, D=64, block=64, dtype="float16"):
    @T.prim_func
    def main(Q: T.Tensor((S, D), dtype), K: T.Tensor((S, D), dtype), V: T.Tensor((S, D), dtype), O: T.Tensor((S, D), "float32")):
        with T.Kernel(T.ceildiv(S, block), threads=128) as bx:
            q = T.alloc_shared((block, D), dtype)
            k_s = T.alloc_shared((block, D), dtype)
            v_s = T.alloc_shared((block, D), dtype)
            x = T.alloc_fragment((block, block), "float32")
            p = T.alloc_fragment((block, block), dtype)
            acc = T.alloc_fragment((block, D), "float32")
            most = T.alloc_fragment((block,), "float32")
            before = T.alloc_fragment((block,), "float32")
            total = T.alloc_fragment((block,), "float32")
            here = T.alloc_fragment((block,), "float32")
            T.copy(Q[bx * block, 0], q)
            T.clear(acc)
            T.clear(total)
            T.fill(most, -1e30)
            for k in T.Pipelined(T.ceildiv(T.min((bx + 1) * block, S), block), num_stages=2):
                T.copy(K[k * block, 0], k_s)
                T.clear(x)
                T.gemm(q, k_s, x, transpose_B=True)
                for i, j in T.Parallel(block, block):
                    x[i, j] = T.if_then_else(bx * block + i >= k * block + j, x[i, j] * 0.125, -1e30)
                T.copy(most, before)
                T.reduce_max(x, most, dim=1, clear=False)
                for i, j in T.Parallel(block, block):
                    x[i, j] = T.exp(x[i, j] - most[i])
                T.reduce_sum(x, here, dim=1)
                for i in T.Parallel(block):
                    total[i] = total[i] * T.exp(before[i] - most[i]) + here[i]
                for i, j in T.Parallel(block, D):
                    acc[i, j] *= T.exp(before[i] - most[i])
                T.copy(x, p)
                T.copy(V[k * block, 0], v_s)
                T.gemm(p, v_s, acc)
            for i, j in T.Parallel(block, D):
                acc[i, j] /= total[i]
            T.copy(acc, O[bx * block, 0])

    return main
