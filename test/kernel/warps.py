# Shuffles, votes, warp reductions, lanes.
# verify: :shuffles --template=unsupported-here
# verify: :votes
# verify: :reductions
# verify: :reductions N=50
# verify: :each_lane
# verify: :each_lane N=50
# verify: :lanes N=96
# verify: :widths
# verify: :matches
# verify: :kinds dtype=int8
# verify: :kinds dtype=uint16
# verify: :kinds dtype=float16
# verify: :kinds dtype=int64
# verify: :kinds dtype=bool
import tilelang
import tilelang.language as T


@tilelang.jit
def shuffles(N=64):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((4, N), "float32")):
        with T.Kernel(1, threads=N) as bx:
            tx = T.get_thread_binding()
            v = T.alloc_var("float32")
            v = X[tx]
            Y[0, tx] = T.shfl_sync(v, 3)
            Y[1, tx] = T.shfl_xor(v, 5)
            Y[2, tx] = T.shfl_down(v, 2)
            Y[3, tx] = T.shfl_up(v, 7)

    return main


@tilelang.jit
def votes(N=64):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), Y: T.Tensor((4, N), "int64")):
        with T.Kernel(1, threads=N) as bx:
            tx = T.get_thread_binding()
            Y[0, tx] = T.any_sync(X[tx] > 2)
            Y[1, tx] = T.all_sync(X[tx] > -3)
            Y[2, tx] = T.cast(T.ballot_sync(X[tx] > 0), "int64")
            Y[3, tx] = T.cast(T.activemask(), "int64")

    return main


@tilelang.jit
def reductions(N=64):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), A: T.Tensor((N,), "int32"), Y: T.Tensor((3, N), "float32"), Z: T.Tensor((2, N), "int32")):
        with T.Kernel(1, threads=N) as bx:
            tx = T.get_thread_binding()
            Y[0, tx] = T.warp_reduce_sum(X[tx])
            Y[1, tx] = T.warp_reduce_max(X[tx])
            Y[2, tx] = T.warp_reduce_min(X[tx])
            Z[0, tx] = T.warp_reduce_bitand(A[tx] | 256)
            Z[1, tx] = T.warp_reduce_bitor(A[tx])

    return main


# A bit of each lane: what is left out, or counted twice, shows.
@tilelang.jit
def each_lane(N=64):
    @T.prim_func
    def main(Y: T.Tensor((5, N), "int32"), Top: T.Tensor((32, N), "int32")):
        with T.Kernel(1, threads=N) as bx:
            tx = T.get_thread_binding()
            lane = tx % 32
            Y[0, tx] = T.warp_reduce_sum(1 << lane)
            Y[1, tx] = T.warp_reduce_bitand(~(1 << lane))
            Y[2, tx] = T.warp_reduce_bitor(1 << lane)
            for k in T.serial(32):
                Top[k, tx] = T.warp_reduce_max(T.if_then_else(lane == k, 1, 0)) - T.warp_reduce_min(T.if_then_else(lane == k, -1, 0))
            Y[3, tx] = T.warp_reduce_max(lane)
            Y[4, tx] = T.warp_reduce_min(-lane)

    return main


@tilelang.jit
def lanes(N=96):
    @T.prim_func
    def main(Y: T.Tensor((4, N), "int32")):
        with T.Kernel(1, threads=N) as bx:
            tx = T.get_thread_binding()
            Y[0, tx] = T.get_lane_idx()
            Y[1, tx] = T.get_warp_idx()
            Y[2, tx] = T.get_warp_idx_sync()
            Y[3, tx] = T.if_then_else(T.shuffle_elect(32), 1, 0)

    return main


@tilelang.jit
def widths(N=32):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), Y: T.Tensor((3, N), "int32")):
        with T.Kernel(1, threads=N) as bx:
            tx = T.get_thread_binding()
            Y[0, tx] = T.shfl_xor(X[tx], 1, width=4)
            Y[1, tx] = T.shfl_down(X[tx], 1, width=8)
            Y[2, tx] = T.shfl_sync(X[tx], 1, width=16)

    return main


@tilelang.jit
def matches(N=64):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), Y: T.Tensor((3, N), "int64")):
        with T.Kernel(1, threads=N) as bx:
            tx = T.get_thread_binding()
            Y[0, tx] = T.cast(T.match_any_sync(X[tx]), "int64")
            Y[1, tx] = T.cast(T.match_all_sync(X[tx]), "int64")
            Y[2, tx] = T.cast(T.match_all_sync(bx), "int64")

    return main


@tilelang.jit
def kinds(N=64, dtype="int8"):
    """Values of every width go from lane to lane."""
    @T.prim_func
    def main(X: T.Tensor((N,), dtype), Y: T.Tensor((2, N), dtype)):
        with T.Kernel(1, threads=N) as bx:
            tx = T.get_thread_binding()
            Y[0, tx] = T.shfl_xor(X[tx], 3, width=8)
            Y[1, tx] = T.shfl_down(X[tx], 1, width=8)

    return main
