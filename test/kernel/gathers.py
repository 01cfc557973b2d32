# Rows found by an index in shared memory, zeros behind the last: asked for asynchronously or not.
# verify: :gather
# verify: :gather later=False
# verify: :gather dtype=float32 D=24
# verify: :gather dtype=int8 D=48 n=40 last=30
# verify: :gather D=33
# verify: :gather fill=3 later=False
# verify: :stages
# verify: :stages last=64
# verify: :stages D=20 threads=64
# verify: :batches B=2 S=40 L=3
# verify: :listed
# verify: :listed later=True
# verify: :listed later=True block=32 n=33 D=24 dtype=float32
# verify: :listed D=20 index=int64
# verify: :ahead
# verify: :ahead stages=3 some=True
# verify: :ahead stages=4 block=48 threads=96 n=100
# verify: :ahead stages=2 dtype=float32 D=24 some=True n=40
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def gather(N=256, D=64, n=64, last=50, fill=0, later=True, dtype="float16"):
    @T.prim_func
    def main(K: T.Tensor((N, D), dtype), O: T.Tensor((n, D), dtype)):
        with T.Kernel(1, threads=128) as bx:
            s = T.alloc_shared((2, n, D), dtype)
            index = T.alloc_shared((n,), "int32")
            for i in T.Parallel(n):
                index[i] = i * 37 % N
            for i, j in T.Parallel(n, D, prefer_async=later, annotations={"parallel_async_without_async_commit_wait": True}):
                s[1, i, j] = T.if_then_else(i + bx < last, K[index[i], j], fill)
            T.ptx_commit_group()
            T.ptx_wait_group(0)
            T.copy(s[1, :, :], O)

    return main


# Two stages, one in flight while the other is used.
@tilelang.jit(out_idx=[-1])
def stages(N=200, D=64, n=16, last=57, threads=128):
    @T.prim_func
    def main(K: T.Tensor((N, D), "float16"), O: T.Tensor((D,), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            s = T.alloc_shared((2, n, D), "float16")
            index = T.alloc_shared((64,), "int32")
            x = T.alloc_fragment((n, D), "float32")
            part = T.alloc_fragment((D,), "float32")
            total = T.alloc_fragment((D,), "float32")
            count = T.alloc_var("int32")
            count = last
            for i in T.Parallel(64):
                index[i] = i * 19 % N
            T.clear(total)
            for i, j in T.Parallel(n, D, prefer_async=True, annotations={"parallel_async_without_async_commit_wait": True}):
                s[0, i, j] = T.if_then_else(i < count, K[index[i], j], 0)
            T.ptx_commit_group()
            for k in T.serial(3):
                for i, j in T.Parallel(n, D, prefer_async=True, annotations={"parallel_async_without_async_commit_wait": True}):
                    s[(k + 1) % 2, i, j] = T.if_then_else((k + 1) * n + i < count, K[index[(k + 1) * n + i], j], 0)
                T.ptx_commit_group()
                T.ptx_wait_group(1)
                T.copy(s[k % 2, :, :], x)
                T.reduce_sum(x, part, dim=0)
                for j in T.Parallel(D):
                    total[j] += part[j]
            T.ptx_wait_group(0)
            T.copy(s[1, :, :], x)
            T.reduce_sum(x, part, dim=0)
            for j in T.Parallel(D):
                total[j] += part[j]
            T.copy(total, O)

    return main


# All extents but the last are the caller's: offsets have no known bound.
@tilelang.jit(out_idx=[-1])
def batches(D=64, n=16):
    B = T.dynamic("B")
    S = T.dynamic("S")
    L = T.dynamic("L")

    @T.prim_func
    def main(K: T.Tensor((B, S, 1, D), "bfloat16"), Index: T.Tensor((B, L, 1, n), "int32"), O: T.Tensor((B, L, n, D), "bfloat16")):
        with T.Kernel(L, B, 1, threads=64) as (bx, by, bz):
            s = T.alloc_shared((n, D), "bfloat16")
            for i, j in T.Parallel(n, D):
                s[i, j] = K[by, Index[by, bx, bz, i] % S, bz, j]
            T.copy(s, O[by, bx, :, :])

    return main


@tilelang.jit(out_idx=[-1])
def ahead(N=60, D=64, n=160, block=32, stages=2, threads=128, dtype="float16", some=False):
    """Rows that a tensor names, some of them only in some iterations, by copies that run ahead."""
    @T.prim_func
    def main(K: T.Tensor((N, D), dtype), V: T.Tensor((N, D), dtype), I: T.Tensor((2, n), "int32"), On: T.Tensor((8,), "int32"),
             O: T.Tensor((2, block, D), "float32")):
        with T.Kernel(4, threads=threads) as bx:
            k = T.alloc_shared((block, D), dtype)
            v = T.alloc_shared((block, D), dtype)
            sums = T.alloc_fragment((block, D), "float32")
            b = bx // 2
            T.clear(sums)
            for t in T.Pipelined(T.ceildiv(n, block), num_stages=stages):
                first = t * block
                for i, j in T.Parallel(block, D):
                    k[i, j] = K[I[b, first + i] * 7 + 3, j]
                if not some or On[t] > 0:
                    for i, j in T.Parallel(block, D):
                        v[i, j] = T.if_then_else(I[b, first + i] < 1, V[T.max(I[b, first + i] + 5, 0), j], 0)
                    for i, j in T.Parallel(block, D):
                        sums[i, j] += v[i, j] * (t + 1)
                for i, j in T.Parallel(block, D):
                    sums[i, j] += k[i, j]
            if bx % 2 == 1:
                T.copy(sums, O[b, 0, 0])

    return main


# The list ends in the middle of a tile: behind it neither a row nor its number is there to be read.
@tilelang.jit(out_idx=[-1])
def listed(N=11, D=64, n=9, block=8, later=False, dtype="float16", index="int32"):
    rows = (n + block - 1) // block * block

    @T.prim_func
    def main(K: T.Tensor((N, D), dtype), I: T.Tensor((n,), index), O: T.Tensor((rows, D), dtype)):
        with T.Kernel(rows // block, threads=32) as bx:
            s = T.alloc_shared((block, D), dtype)
            for i, j in T.Parallel(block, D, prefer_async=later):
                s[i, j] = T.if_then_else(bx * block + i < n, K[I[bx * block + i], j], T.cast(0, dtype))
            T.copy(s, O[bx * block, 0])

    return main
