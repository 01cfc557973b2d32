"""Templates, their hints, and the machines they are for."""

import numpy as np

import tilelang
import tilelang.tune.model
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
    before, carver.template.CANDIDATES = carver.template.CANDIDATES, 8
    try:
        hints_of_templates()
    finally:
        carver.template.CANDIDATES = before


def hints_of_templates():
    for t in TEMPLATES:
        hints = t.with_arch(ARCH).recommend_hints(topk=4)
        assert len(hints) == 4 and all(h.block and h.arch is ARCH for h in hints)
        assert [str(h) for h in TensorCorePolicy(t, ARCH).emit_config(4)] == [str(h) for h in hints]
        assert [str(h) for h in get_roller_hints_from_func(t, ARCH, 4)] == [str(h) for h in hints]
    assert tilelang.Carver is carver and issubclass(TensorCorePolicy, DefaultPolicy)
    with raises(NotImplementedError, "templates"):
        get_roller_hints_from_func(len, ARCH)


def test_kernels_of_hints():
    """What a hint describes computes what its template does."""
    f = dict(in_dtype="float32", out_dtype="float32", accum_dtype="float32")
    rows = (
        (carver.MatmulTemplate(48, 40, 72, trans_A=True, **f), [(72, 48), (40, 72)]),
        (carver.MatmulTemplate(48, 40, 72, trans_B=False, with_bias=True, **f), [(48, 72), (72, 40), (40,)]),
        (carver.GEMVTemplate(40, 72, **f), [(1, 72), (40, 72)]),
        (carver.GEMVTemplate(40, 72, trans_B=False, with_bias=True, **f), [(1, 72), (72, 40), (40,)]),
        (carver.ElementwiseTemplate([6, 7, 5], "float32"), [(6, 7, 5)]),
        (carver.GeneralReductionTemplate("RSR", [6, 7, 5], "float32"), [(6, 7, 5)]),
        (carver.FlashAttentionTemplate(1, 2, 16, 40, 56, True, **f), [(1, 2, 40, 16), (1, 2, 56, 16), (1, 2, 56, 16)]),
    )
    for t, shapes in rows:
        given = [randn(*shape, seed=i) for i, shape in enumerate(shapes)]
        expected = built(t)(*given)
        for target, run in (("cpu", "cpu"), ("cuda -arch=sm_90a", "sim -arch=sm_90a"), ("hip -mcpu=gfx942", None)):
            hint = t.with_arch(carver.get_arch(target)).recommend_hints(1)[0]
            if run is not None:
                near(tilelang.compile(t.kernel(hint), out_idx=[-1], target=run)(*given), expected, 2e-2)


def test_hints_follow_the_machine():
    """A large product wants wide tiles and matrix instructions where there are some."""
    t = carver.MatmulTemplate(4096, 4096, 4096, accum_dtype="float32")
    for target, tc in (("cuda -arch=sm_75", True), ("hip -mcpu=gfx942", True), ("cpu", False)):
        hint = t.with_arch(carver.get_arch(target)).recommend_hints(1)[0]
        assert min(hint.block) >= 128 and hint.use_tc is tc, (target, hint)
    t.with_arch(ARCH)
    hint = carver.Hint(block=[128, 128], warp=[64, 64], rstep=[64], pipeline_stage=3)
    texts = set()
    for plan in (carver.NoRasterization(), carver.Rasterization2DRow(4), carver.Rasterization2DColumn(8)):
        hint.rasterization_plan = plan
        texts.add(tilelang.lower(t.kernel(hint), target="cuda -arch=sm_90a").kernel_source)
    assert len(texts) == 3
    few = carver.MatmulTemplate(16, 4096, 4096, accum_dtype="float32").with_arch(ARCH).recommend_hints(1)[0]
    assert few.block[0] == 16 and few.block[1] <= 64, few
    with raises(RuntimeError, "accumulated in int8"):
        carver.MatmulTemplate(64, 64, 64, in_dtype="float16", accum_dtype="int8").with_arch(ARCH).recommend_hints(1)


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
    amd = carver.get_arch("hip -mcpu=gfx942")
    assert isinstance(amd, carver.CDNA) and amd.warp_size == 64 and amd.compute_max_core == 304
    apple = carver.get_arch("metal")
    assert isinstance(apple, carver.METAL) and apple.warp_size == 32 and apple.smem_cap == 32 * 1024
    with raises(NotImplementedError, "no such target"):
        carver.RDNA()


def test_every_machine_has_hints_or_a_sentence():
    before, carver.template.CANDIDATES = carver.template.CANDIDATES, 4
    try:
        for target in ("cpu", "cuda -arch=sm_75", "cuda -arch=sm_120a", "hip -mcpu=gfx950", "webgpu", "opencl", "metal"):
            arch = carver.get_arch(target)
            assert isinstance(arch, CUDA) == target.startswith("cuda"), target
            for t in (carver.MatmulTemplate(256, 192, 64, accum_dtype="float32"), TEMPLATES[-2]):
                hints = t.with_arch(arch).recommend_hints(2)
                assert hints, (target, t)
    finally:
        carver.template.CANDIDATES = before
    web = carver.MatmulTemplate(256, 192, 64, accum_dtype="float32").with_arch(carver.get_arch("webgpu"))
    hint = web.get_hint()
    launch = tilelang.tune.model.facts_of(carver.template._lower(web.kernel(hint), "webgpu"))["launches"][0]
    assert launch["threads"] % 32 == 0, launch  # a warp of a hint is not one thread
    with raises(ValueError, "MatmulTemplate: no tiles of it are known that fit ascend"):
        carver.MatmulTemplate(256, 192, 64).with_arch(carver.get_arch("ascend")).get_hint()
    with raises(ValueError, "accum_dtype is int32; a softmax needs a floating type"):
        carver.FlashAttentionTemplate(1, 2, 64, 64, 64, in_dtype="int8", accum_dtype="int32").with_arch(ARCH).get_hint()


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
