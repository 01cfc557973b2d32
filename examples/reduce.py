"""Reductions along rows and along columns.

    tl run examples/reduce.py:row_reduce M=1000 N=777 op="'max'"
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def row_reduce(M=1024, N=1024, block_M=16, op="sum", dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M,), dtype)):
        with T.Kernel(T.ceildiv(M, block_M), threads=128) as bx:
            x = T.alloc_fragment((block_M, N), dtype)
            y = T.alloc_fragment((block_M,), dtype)
            T.copy(X[bx * block_M, 0], x)
            if op == "sum":
                T.reduce_sum(x, y, dim=1)
            elif op == "max":
                T.reduce_max(x, y, dim=1)
            elif op == "min":
                T.reduce_min(x, y, dim=1)
            else:
                T.reduce_absmax(x, y, dim=1)
            T.copy(y, Y[bx * block_M])

    return main


@tilelang.jit(out_idx=[-1])
def column_sum(M=1024, N=1024, block_M=64, block_N=128, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((N,), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), threads=128) as bx:
            x = T.alloc_shared((block_M, block_N), dtype)
            y = T.alloc_fragment((block_N,), dtype)
            T.clear(y)
            for k in T.Pipelined(T.ceildiv(M, block_M), num_stages=2):
                T.copy(X[k * block_M, bx * block_N], x)
                T.reduce_sum(x, y, dim=0, clear=False)
            T.copy(y, Y[bx * block_N])

    return main


# ---- python3 examples/reduce.py ------------------------------------------------------------------

def verify(M=1024, N=1024):
    from tilelang.script import check, normal

    X = normal(M, N)
    return check(row_reduce(M, N), [X], X.sum(1)) & check(column_sum(M, N), [X], X.sum(0))


def bench(M=4096, N=4096):
    from tilelang.script import normal, timed

    X = normal(M, N)
    timed(row_reduce(M, N), [X], M * N)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
