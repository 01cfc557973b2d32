# Matrices side by side by T.ptx_ldmatrix: one instruction, whatever order they come in and how the tile lies.
# verify: :part --template=unsupported-here
# verify: :part order=1 layout=swizzled --template=unsupported-here
# verify: :part order=2 layout=padded --template=unsupported-here
# verify: :part order=3 trans=1 layout=swizzled --template=unsupported-here
# verify: :part trans=1 order=1 --template=unsupported-here
# verify: :part dtype=int8 order=1 layout=padded --template=unsupported-here
# verify: :part num=2 order=1 --template=unsupported-here
# verify: :part order=4 --template=unsupported-here
# verify: :part order=5 --template=unsupported-here
import tilelang
import tilelang.language as T


@tilelang.jit
def part(order=0, num=4, trans=0, dtype="float16", layout="plain"):
    unit = 8 if dtype == "float16" else 16
    each = unit // 4

    @T.prim_func
    def main(A: T.Tensor((64, 64), dtype), B: T.Tensor((2, 64, num * each), dtype)):
        with T.Kernel(1, threads=64):
            t = T.get_thread_binding()
            s = T.alloc_shared((64, 64), dtype, pad=unit if layout == "padded" else 0)
            x = T.alloc_local((2 * num * each,), dtype)
            if layout == "swizzled":
                T.annotate_layout({s: tilelang.layout.make_swizzled_layout(s)})
            T.copy(A, s)
            lane = t % 32
            top = t // 32 * 32
            for k in T.serial(2):
                if order == 0:  # of A: rows first
                    row, col = lane % 16, lane // 16 * unit
                elif order == 1:  # of B: columns first
                    row, col = lane // 16 * 8 + lane % 8, lane // 8 % 2 * unit
                elif order == 2:  # one below the other
                    row, col = lane, 0
                elif order == 3:  # side by side
                    row, col = lane % 8, lane // 8 * 8
                elif order == 4:  # the second row first
                    row, col = lane % 16 ^ 8, lane // 16 * unit
                else:  # each row twice
                    row, col = lane % 8 // 2 * 2, lane // 8 * unit
                T.ptx_ldmatrix(bool(trans), num, T.address_of(s[top + row, k * 2 * unit + col]), T.address_of(x[k * num * each]))
                for i in T.serial(num * each):
                    B[k, t, i] = x[k * num * each + i]

    return main
