# Products whose blocks form clusters: tiles that blocks have in common are loaded in parts, each
# part for all of them.
# verify: :pairs --warns=ignored
# verify: :pairs bk=32 M=512 --warns=ignored
# verify: :pairs stages=1 K=64 --warns=ignored
# verify: :pairs stages=2 N=640 bn=80 --warns=ignored
# verify: :pairs M=250 N=504 K=72 stages=4 --warns=ignored
# verify: :pairs n=4 M=256 --warns=ignored
# verify: :pairs blocks=0 --warns=ignored
# verify: :asked --sm_80=unsupported-here --hip=unsupported-here
# verify: :asked x=2 y=2 M=256 N=256 K=64 --sm_80=unsupported-here --hip=unsupported-here
# verify: :asked x=1 y=2 M=200 --sm_80=unsupported-here --hip=unsupported-here
# verify: :uneven --sm_80=unsupported-here --hip=unsupported-here
# verify: :same_tile --sm_80=unsupported-here --hip=unsupported-here
# verify: :panels --sm_80=unsupported-here --hip=unsupported-here
# verify: :panels order=column x=1 y=2 --sm_80=unsupported-here --hip=unsupported-here
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def pairs(M=256, N=512, K=200, bm=64, bn=64, stages=3, n=2, bk=64, blocks=4):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float16")):
        T.annotate_pass_configs({"tl.cluster": n, "tl.persistent_blocks": blocks})
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            A_s = T.alloc_shared((bm, bk), "float16")
            B_s = T.alloc_shared((bk, bn), "float16")
            C_l = T.alloc_fragment((bm, bn), "float32")
            T.clear(C_l)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=stages):
                T.copy(A[by * bm, k * bk], A_s)
                T.copy(B[k * bk, bx * bn], B_s)
                T.gemm(A_s, B_s, C_l)
            T.copy(C_l, C[by * bm, bx * bn])

    return main


# By hand; both operands shared where the cluster has two dimensions.
@tilelang.jit(out_idx=[-1])
def asked(M=128, N=256, K=96, x=2, y=1, bm=64, bn=64):
    @T.prim_func
    def main(A: T.Tensor((M, K), "bfloat16"), B: T.Tensor((N, K), "bfloat16"), C: T.Tensor((M, N), "float32")):
        with T.ClusterKernel(T.ceildiv(N, bn), T.ceildiv(M, bm), cluster_dims=(x, y, 1), threads=128) as (bx, by):
            A_s = T.alloc_shared((bm, 32), "bfloat16")
            B_s = T.alloc_shared((bn, 32), "bfloat16")
            C_l = T.alloc_fragment((bm, bn), "float32")
            T.clear(C_l)
            for k in T.Pipelined(T.ceildiv(K, 32), num_stages=3):
                T.copy(A[by * bm, k * 32], A_s)
                T.copy(B[bx * bn, k * 32], B_s)
                T.gemm(A_s, B_s, C_l, transpose_B=True)
            T.copy(C_l, C[by * bm, bx * bn])

    return main


# Blocks of a cluster that take different numbers of turns share nothing.
@tilelang.jit(out_idx=[-1])
def uneven(M=256, N=128, K=128, bm=64, bn=64):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.ClusterKernel(T.ceildiv(N, bn), T.ceildiv(M, bm), cluster_dims=(1, 2, 1), threads=128) as (bx, by):
            A_s = T.alloc_shared((bm, 32), "float16")
            B_s = T.alloc_shared((32, bn), "float16")
            C_l = T.alloc_fragment((bm, bn), "float32")
            T.clear(C_l)
            for k in T.Pipelined(by + 1, num_stages=2):
                T.copy(A[by * bm, k * 32], A_s)
                T.copy(B[k * 32, bx * bn], B_s)
                T.gemm(A_s, B_s, C_l)
            T.copy(C_l, C[by * bm, bx * bn])

    return main


@tilelang.jit(out_idx=[-1])
def same_tile(M=128, N=128, K=96):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.ClusterKernel(N // 64, M // 64, cluster_dims=(2, 1, 1), threads=128) as (bx, by):
            A_s = T.alloc_shared((64, 32), "float16")
            B_s = T.alloc_shared((32, 64), "float16")
            C_l = T.alloc_fragment((64, 64), "float32")
            T.clear(C_l)
            for k in T.Pipelined(K // 32, num_stages=2):
                T.copy_cluster(A[by * 64, k * 32], A_s, cluster_mask=3)
                T.copy(B[k * 32, bx * 64], B_s)
                T.gemm(A_s, B_s, C_l)
            T.copy(C_l, C[by * 64, bx * 64])

    return main


# Clusters in panels, back and forth: each block is there once.
@tilelang.jit(out_idx=[-1])
def panels(X=12, Y=14, x=2, y=1, order="row"):
    @T.prim_func
    def main(Out: T.Tensor((Y, X), "int32")):
        with T.ClusterKernel(X, Y, cluster_dims=(x, y, 1), threads=32) as (bx, by):
            T.use_swizzle(2, order=order)
            for i in T.Parallel(1):
                Out[by, bx] = by * X + bx + 1

    return main
