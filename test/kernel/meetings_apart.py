# Lanes that met at different times before they meet; a block that counts after some of its warps exchanged values;
# threads that look at a flag while the ones that raise it wait for their warp.
# verify: :apart --template=unsupported-here
# verify: :counts --template=unsupported-here
# verify: :flag --template=unsupported-here
import tilelang
import tilelang.language as T


@tilelang.jit
def apart():
    @T.prim_func
    def main(R: T.Tensor((64,), "int32"), S: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=64) as bx:
            tx = T.get_thread_binding()
            lane = tx % 32
            v = T.alloc_var("int32", init=0)
            v = tx * 3
            if lane < 16:
                v = T.shfl_xor(v, 1, mask=0xFFFF)
            T.sync_threads()
            v = T.shfl_xor(v + lane, 1) * 5
            R[tx] = v
            v = v * 7 + lane
            S[tx] = T.shfl_sync(v, (lane + 13) % 32) * 3

    return main


@tilelang.jit
def counts():
    @T.prim_func
    def main(R: T.Tensor((64,), "int32"), S: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=64) as bx:
            tx = T.get_thread_binding()
            v = T.alloc_var("int32", init=0)
            v = tx * 3
            if tx < 32:
                v = T.shfl_xor(v, 1)
            R[tx] = T.cast(T.syncthreads_and(v >= 0), "int32")
            S[tx] = T.cast(T.syncthreads_count(v % 2 == 0), "int32")

    return main


@tilelang.jit
def flag():
    @T.prim_func
    def main(R: T.Tensor((64,), "int32"), F: T.Tensor((1,), "int32")):
        with T.Kernel(1, threads=64) as bx:
            tx = T.get_thread_binding()
            v = T.alloc_var("int32", init=0)
            v = tx * 3
            if tx < 32:
                v = T.shfl_xor(v, 1)
                if tx == 0:
                    T.atomic_store(F[0], 1)
            else:
                while T.atomic_load(F[0]) == 0:
                    v += 0
            R[tx] = v

    return main
