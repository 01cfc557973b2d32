# What a file has beside its kernels is Python that no kernel calls: complex numbers in a reference, for instance.
# verify: :turned
import numpy as np
import tilelang
import tilelang.language as T

UNIT = 1j * np.ones(4)


def turned_reference(re, im):
    z = (re + im * 1j) * (0.6 + 0.8j)
    return z.real, z.imag, np.exp(-2.5e-1J * z)


@tilelang.jit(out_idx=[-2, -1])
def turned(N=100):
    @T.prim_func
    def main(
        Re: T.Tensor((N,), "float32"),
        Im: T.Tensor((N,), "float32"),
        A: T.Tensor((N,), "float32"),
        B: T.Tensor((N,), "float32"),
    ):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(N):
                A[i] = Re[i] * 0.6 - Im[i] * 0.8
                B[i] = Re[i] * 0.8 + Im[i] * 0.6

    return main
