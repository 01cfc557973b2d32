"""Templates, their hints, and the machines they are for."""

import numpy as np

import tilelang
import tilelang.language as T
from tilelang import carver
from tilelang.carver.arch import CUDA, driver
from tilelang.carver.arch.cuda import check_sm_version, is_hopper_arch
from tilelang.carver.roller import DefaultPolicy, TensorCorePolicy
from tilelang.carver.utils import get_roller_hints_from_func
from check import near, raises, randn

ARCH = CUDA("cuda -arch=sm_90a")
TEMPLATES = [
    carver.MatmulTemplate(M=1024, N=1024, K=1024), carver.GEMVTemplate(N=1024, K=1024),
    carver.ElementwiseTemplate(shape=[1024]), carver.ElementwiseTemplate(shape=[64, 64, 4]),
    carver.GeneralReductionTemplate(structure="SRS", shape=[64, 32, 16]),
    carver.GeneralReductionTemplate(structure="SS", shape=[64, 32]),
    carver.FlashAttentionTemplate(batch_size=1, num_heads=2, head_dim=64, seq_length=128,
                                  seq_kv_length=128),
    carver.ConvTemplate(N=1, C=64, H=28, W=28, F=64, K=3, S=1, D=1, P=1),
]


def test_every_template_has_hints():
    for t in TEMPLATES:
        hints = t.with_arch(ARCH).recommend_hints(topk=4)
        assert len(hints) == 4 and all(h.block and h.arch is ARCH for h in hints)
        assert [str(h) for h in TensorCorePolicy(t, ARCH).emit_config(4)] == [str(h) for h in hints]
        assert [str(h) for h in get_roller_hints_from_func(t, ARCH, 4)] == [str(h) for h in hints]
    assert tilelang.Carver is carver and issubclass(TensorCorePolicy, DefaultPolicy)
    with raises(NotImplementedError, "templates"):
        get_roller_hints_from_func(len, ARCH)


def test_hints_compile():
    """What a hint of a product says is what the kernel of an example is built with."""
    hint = carver.MatmulTemplate(256, 256, 256, trans_B=False).with_arch(ARCH).recommend_hints(1)[0]
    (bm, bn), bk = hint.block, hint.rstep[0]
    threads = bm // hint.warp[0] * (bn // hint.warp[1]) * 32

    @T.prim_func
    def main(A: T.Tensor((256, 256), "float16"), B: T.Tensor((256, 256), "float16"),
             C: T.Tensor((256, 256), "float32")):
        with T.Kernel(256 // bn, 256 // bm, threads=threads) as (bx, by):
            As = T.alloc_shared((bm, bk), "float16")
            Bs = T.alloc_shared((bk, bn), "float16")
            Cl = T.alloc_fragment((bm, bn), "float32")
            T.clear(Cl)
            for k in T.Pipelined(256 // bk, num_stages=hint.pipeline_stage):
                T.copy(A[by * bm, k * bk], As)
                T.copy(B[k * bk, bx * bn], Bs)
                T.gemm(As, Bs, Cl)
            T.copy(Cl, C[by * bm, bx * bn])

    a, b = (randn(256, 256, seed=s).astype("float16") for s in (0, 1))
    near(tilelang.compile(main, out_idx=[2], target="sim -arch=sm_90a")(a, b),
         a.astype("f4") @ b.astype("f4"), 1e-2)


def built(template):
    return tilelang.compile(template.equivalent_function(), out_idx=[-1], target="c")


def test_functions_of_templates():
    f = dict(in_dtype="float32", out_dtype="float32", accum_dtype="float32")
    x, y, bias = randn(16, 40), randn(24, 40, seed=1), randn(24, seed=2)
    near(built(carver.MatmulTemplate(16, 24, 40, **f))(x, y), x @ y.T)
    near(built(carver.MatmulTemplate(16, 24, 40, with_bias=True, **f))(x, y, bias), x @ y.T + bias)
    z = randn(6, 7, 5)
    near(built(carver.GeneralReductionTemplate("SRS", [6, 7, 5], "float32"))(z), z.sum(1))
    near(built(carver.GeneralReductionTemplate("RSR", [6, 7, 5], "float32"))(z), z.sum((0, 2)))
    near(built(carver.ElementwiseTemplate([6, 7, 5], "float32"))(z), z + 1)
    q, k, v = (randn(1, 2, 16, 8, seed=s) for s in range(3))
    s = np.where(np.tril(np.ones((16, 16))) > 0, q @ k.swapaxes(2, 3) / 8**0.5, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    kernel = built(carver.FlashAttentionTemplate(1, 2, 8, 16, 16, True, **f))
    near(kernel(q, k, v), p / p.sum(-1, keepdims=True) @ v)


def test_machines():
    assert [check_sm_version(s) for s in ("sm_90a", "sm_89", "90", "sm_120f")] == [90, 89, 90, 120]
    assert {check_sm_version(s) for s in ("gfx942", "sm_", "", "sm_sm_90", "90sm_")} == {-1}
    assert is_hopper_arch(ARCH) and ARCH.smem_cap == 227 * 1024 and ARCH.warp_size == 32
    assert driver.get_num_sms() > 0 and driver.get_registers_per_block() >= 32768
    assert driver.get_shared_memory_per_block(format="kb") * 1024 == \
        driver.get_shared_memory_per_block()
    with raises(NotImplementedError, "AMD"):
        carver.CDNA()


def test_layouts_repeat():
    atom = T.Layout([8, 64], lambda i, j: i * 64 + j)
    twice = atom.repeat(dim=0, factor=2)
    assert twice.is_equal(T.Layout([16, 64], lambda i, j: [i // 8, (i % 8) * 64 + j]))
    assert atom.repeat(dim=1, factor=1) is atom and atom.expand([]) is atom
    assert atom.expand(4).get_output_shape() == [4, 512]
    for wrong in (dict(dim=2, factor=2), dict(dim=0, factor=0)):
        with raises(ValueError):
            atom.repeat(**wrong)
    with raises(ValueError):
        atom.expand(0)
    with raises(TypeError):
        atom.expand("4")
