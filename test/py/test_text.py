"""What the emitted CUDA C says, and kernels that are CUDA C already."""

import os
import pathlib
import re
import tempfile

import numpy as np
import tilelang
import tilelang.language as T
from check import raises

GPU = "cuda -arch=sm_90a"

TWICE = """
template <int N> __device__ float times(float x) { return N * x; }
extern "C" __global__ void __launch_bounds__(64) twice(const float *a, float *b, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n)
        b[i] = times<2>(a[i]);
}
__global__ void other(float *a) { a[0] = 0; }
"""


def foreign(source, entry):
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        T.CUDASourceCodeKernel(T.ceildiv(n, 64), threads=64, source_code_or_path=source,
                               entry_name=entry)

    return main


def text(func):
    return tilelang.lower(func, target=GPU).kernel_source


def test_kernel_in_cuda_c():
    made = tilelang.lower(foreign(TWICE, "twice"), target=GPU)
    assert "times<2>(a[i])" in made.kernel_source
    assert [name.name_hint for name in made.device_mod.functions] == ["twice", "other"]
    with raises(Exception, "'thrice'", "Available entries: twice, other"):
        foreign(TWICE, "thrice")
    with raises(Exception, "__global__"):
        foreign("int f(int i)\n{ return i; }\n", "f")
    with raises(NotImplementedError, "cpu"):
        tilelang.compile(foreign(TWICE, "twice"), target="cpu")


def test_one_text_launched_twice():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        T.CUDASourceCodeKernel(1, threads=64, source_code_or_path=TWICE, entry_name="twice")
        T.CUDASourceCodeKernel(1, threads=64, source_code_or_path=TWICE, entry_name="other")

    assert text(main).count("void other(") == 1


def test_kernel_in_a_file():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "twice.cu"
        path.write_text(TWICE)
        assert "times<2>(a[i])" in text(foreign(path, "twice"))
        assert "times<2>(a[i])" in text(foreign(os.fspath(path), "twice"))
        with raises(Exception, "cannot be read"):
            foreign(str(path) + "x", "twice")


def test_words_of_cuda():
    @T.prim_func
    def main(A: T.Tensor((32,), "float32"), B: T.Tensor((32,), "float32"),
             C: T.Tensor((32,), "int32")):
        with T.Kernel(1, threads=32):
            tx = T.get_thread_binding()
            B[tx] = T.__ldg(A[tx]) + T.__ldg(B[31 - tx])
            C[tx] = T.isfinite(A[tx]) + T.__fns(T.cast(tx, "uint32"), 0, 1)

    source = text(main)
    assert source.count("__ldg(&(A[") == 1 and "__ldg(&(B[" not in source
    assert "isfinite(A[" in source and "__fns(" in source


def rows_of_four():
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((32, n), "float32"), B: T.Tensor((32, n), "float32")):
        with T.Kernel(1, threads=32):
            tx = T.get_thread_binding()
            T.assume(n % 4 == 0)
            for i in T.vectorized(4):
                T.assume(4 + i < n)
                B[tx, 4 + i] = A[tx, 4 + i]

    return main


def test_assume_makes_vectors():
    source = text(rows_of_four())
    assert "float4" in source and "if (" not in source


def test_assume_is_looked_at_before_the_launch():
    x = np.ones((32, 8), "float32")
    for target in ("cpu", "sim -arch=sm_90a"):
        kernel = tilelang.compile(rows_of_four(), target=target)
        y = np.zeros_like(x)
        kernel(x, y)
        assert (y[:, 4:] == 1).all() and not y[:, :4].any()
        with raises(RuntimeError, "Assume: n % 4 == 0"):
            kernel(np.ones((32, 10), "float32"), np.ones((32, 10), "float32"))


def test_bytes_by_pairs():
    def cast(a, b):
        @T.prim_func
        def main(A: T.Tensor((512,), a), B: T.Tensor((512,), b)):
            with T.Kernel(1, threads=128):
                x = T.alloc_fragment((512,), a)
                y = T.alloc_fragment((512,), b)
                T.copy(A, x)
                for i in T.Parallel(512):
                    y[i] = x[i]
                T.copy(y, B)

        return main

    for a in ("float32", "float16", "bfloat16"):
        assert "tl_pack_e4m3fn(" in text(cast(a, "float8_e4m3fn"))
        assert "tl_pack_e5m2(" in text(cast(a, "float8_e5m2"))
    assert "tl_pack" not in tilelang.lower(cast("float32", "float8_e4m3fn"),
                                           target="cuda -arch=sm_80").kernel_source


def test_tensors_that_start_anywhere_are_touched_by_elements():
    def text(anywhere, arch):
        @T.prim_func
        def main(A: T.Tensor((64, 256), "float16"), B: T.Tensor((64, 256), "float16")):
            T.annotate_pass_configs({"tl.unaligned_tensors": anywhere})
            with T.Kernel(1, threads=128):
                s = T.alloc_shared((64, 256), "float16")
                T.copy(A, s)
                for i, j in T.Parallel(64, 256):
                    B[i, j] = s[i, j] + 1

        return tilelang.lower(main, target="cuda -arch=" + arch).kernel_source

    wide = re.compile(r"&[AB]\[|tl_tma_load|\b[AB] \+")
    for arch in ("sm_80", "sm_90a"):
        assert wide.search(text(False, arch)), arch
        assert not wide.search(text(True, arch)), text(True, arch)



def test_operands_in_registers_get_registers():
    """Beside a producer too: without a number of blocks ptxas saves what operands would take."""
    @T.prim_func
    def main(A: T.Tensor((512, 1024), "bfloat16"), B: T.Tensor((32, 1024), "tfloat32"),
             C: T.Tensor((512, 32), "float32")):
        with T.Kernel(16, threads=128) as bx:
            a = T.alloc_shared((32, 256), "bfloat16")
            b = T.alloc_shared((32, 256), "tfloat32")
            f = T.alloc_fragment((32, 256), "tfloat32")
            c = T.alloc_fragment((32, 32), "float32")
            T.clear(c)
            for k in T.Pipelined(4, num_stages=2):
                T.copy(A[bx * 32, k * 256], a)
                T.copy(B[0, k * 256], b)
                T.copy(a, f)
                T.gemm(f, b, c, transpose_B=True)
            T.copy(c, C[bx * 32, 0])

    source = text(main)
    assert "tl_tma_load" in source and "tl_mma_m16n8k8" in source
    assert "__launch_bounds__(160, 1)" in source, source
