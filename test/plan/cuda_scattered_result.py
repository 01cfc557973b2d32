# Results of a reduction that no formula finds in the threads: each is in one thread, not in all that held a part of it.
# run: --target="cuda -arch=sm_90a"
# expect: o: fragment uint32[5, 39], fragment[5, 39] threads 128 (i, j) -> thread (i * 39 + j) % 128, slot ((i * 39 + j) // 128)
import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((5, 6, 39), "uint32"), O: T.Tensor((5, 39), "uint32")):
    with T.Kernel(1, threads=128):
        x = T.alloc_fragment((5, 6, 39), "uint32")
        o = T.alloc_fragment((5, 39), "uint32")
        T.copy(X, x)
        T.reduce_bitor(x, o, dim=1)
        T.copy(o, O)
