"""target="metal" from Python: its text, its results in the simulator, and what a call says where there is no Mac."""

import numpy as np
import tilelang
import tilelang.language as T
from check import raises


def product(M, N, K, dtype="float16", shared=False):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 32), T.ceildiv(M, 32), threads=128) as (bx, by):
            A_s = T.alloc_shared((32, 16), dtype, scope="shared")
            B_s = T.alloc_shared((16, 32), dtype, scope="shared")
            C_l = T.alloc_shared((32, 32), "float32") if shared else T.alloc_fragment((32, 32), "float32")
            T.clear(C_l)
            for k in T.Pipelined(T.ceildiv(K, 16), num_stages=0):
                T.copy(A[by * 32, k * 16], A_s, coalesced_width=2)
                T.copy(B[k * 16, bx * 32], B_s, coalesced_width=2)
                T.gemm(A_s, B_s, C_l)
            T.copy(C_l, C[by * 32, bx * 32], coalesced_width=2)

    return main


def arguments(M, N, K, dtype=np.float16):
    r = np.random.default_rng(1)
    return r.standard_normal((M, K)).astype(dtype), r.standard_normal((K, N)).astype(dtype), np.zeros((M, N), np.float32)


def test_text():
    for shared in False, True:
        text = tilelang.lower(product(64, 64, 64, shared=shared), target="metal").kernel_source
        assert "[[kernel" in text and "simdgroup_multiply_accumulate" in text
    assert "simdgroup_bfloat8x8" in tilelang.lower(product(64, 64, 64, "bfloat16"), target="metal").kernel_source


def of_tensors(M, N, K, tb):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((N, K) if tb else (K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 32), T.ceildiv(M, 32), threads=128) as (bx, by):
            C_l = T.alloc_fragment((32, 32), "float32")
            T.clear(C_l)
            for k in T.serial(T.ceildiv(K, 16)):
                part = A[by * 32 : (by + 1) * 32, k * 16 : (k + 1) * 16]
                if tb:
                    T.gemm(part, B[bx * 32 : (bx + 1) * 32, k * 16 : (k + 1) * 16], C_l, transpose_B=True)
                else:
                    T.gemm(part, B[k * 16 : (k + 1) * 16, bx * 32 : (bx + 1) * 32], C_l)
            T.copy(C_l, C[by * 32, bx * 32])

    return main


def test_operands_may_be_parts_of_tensors():
    for tb in False, True:
        a, b, c = arguments(40, 50, 40)
        tilelang.compile(of_tensors(40, 50, 40, tb), target="sim metal")(a, np.ascontiguousarray(b.T) if tb else b, c)
        assert np.allclose(c, a.astype(np.float32) @ b.astype(np.float32), atol=1e-2)
        assert "simdgroup_multiply_accumulate" in tilelang.lower(of_tensors(40, 50, 40, tb), target="metal").kernel_source
    with raises(Exception, "gemm-scope"):
        tilelang.compile(of_tensors(40, 50, 40, False), target="cuda -arch=sm_80")


def into_tensor(M, N, K, steps):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 32), T.ceildiv(M, 32), threads=128) as (bx, by):
            for k in T.serial(steps):
                T.gemm(
                    A[by * 32 : (by + 1) * 32, k * (K // steps) : (k + 1) * (K // steps)],
                    B[k * (K // steps) : (k + 1) * (K // steps), bx * 32 : (bx + 1) * 32],
                    C[by * 32 : (by + 1) * 32, bx * 32 : (bx + 1) * 32],
                    clear_accum=k == 0,
                )

    return main


def test_the_result_may_be_a_part_of_a_tensor():
    for steps in 1, 2:
        a, b, c = arguments(40, 50, 64)
        c[:] = 7
        tilelang.compile(into_tensor(40, 50, 64, steps), target="sim metal")(a, b, c)
        assert np.allclose(c, a.astype(np.float32) @ b.astype(np.float32), atol=1e-2)
    assert "simdgroup_multiply_accumulate" in tilelang.lower(into_tensor(64, 64, 64, 1), target="metal").kernel_source
    with raises(Exception, "gemm-scope"):
        tilelang.compile(into_tensor(40, 50, 64, 1), target="cuda -arch=sm_80")


def test_simulated():
    for shared in False, True:
        a, b, c = arguments(40, 64, 48)
        tilelang.compile(product(40, 64, 48, shared=shared), target="sim metal")(a, b, c)
        assert np.allclose(c, a.astype(np.float32) @ b.astype(np.float32), atol=1e-2)


def test_a_call_says_what_is_missing():
    with raises(Exception, "no-metal"):
        tilelang.compile(product(32, 32, 32), target="metal")(*arguments(32, 32, 32))
