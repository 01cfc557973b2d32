# A row of a matrix is one run of memory: one copy, not a box for every 256 elements.
# run: --target="cuda -arch=sm_90a"
# expect: copy X, x (line 14): bulk
# expect: copy y, Y (line 17): bulk, one run of memory
# refuse: tma
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64, 8192), "bfloat16"), Y: T.Tensor((64, 8192), "bfloat16")):
    with T.Kernel(64, threads=256) as bx:
        x = T.alloc_shared((1, 8192), "bfloat16")
        y = T.alloc_shared((1, 8192), "bfloat16")
        T.copy(X[bx, 0], x)
        for i, j in T.Parallel(1, 8192):
            y[i, j] = x[i, 8191 - j]
        T.copy(y, Y[bx, 0])
