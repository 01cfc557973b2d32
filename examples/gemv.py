"""y = A @ x: a block takes some rows and walks along them."""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def gemv(N=1024, K=1024, block_N=16, block_K=512, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((N, K), dtype), x: T.Tensor((K,), dtype), y: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, block_N), threads=128) as bn:
            A_s = T.alloc_shared((block_N, block_K), dtype)
            x_s = T.alloc_shared((block_K,), dtype)
            part = T.alloc_fragment((block_N, block_K), "float32")
            row = T.alloc_fragment((block_N,), "float32")
            T.clear(row)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
                T.copy(A[bn * block_N, k * block_K], A_s)
                T.copy(x[k * block_K], x_s)
                for i, j in T.Parallel(block_N, block_K):
                    part[i, j] = A_s[i, j].astype("float32") * x_s[j].astype("float32")
                T.reduce_sum(part, row, dim=1, clear=False)
            T.copy(row, y[bn * block_N])

    return main


# ---- python3 examples/gemv.py --------------------------------------------------------------------

def verify(N=1024, K=1024):
    from tilelang.script import check, normal

    A, x = normal(N, K), normal(K)
    return check(gemv(N, K), [A, x], A @ x)


def bench(N=4096, K=4096):
    from tilelang.script import normal, timed

    A, x = normal(N, K), normal(K)
    timed(gemv(N, K), [A, x], 2 * N * K)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
