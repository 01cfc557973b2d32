"""Computations and the tiles they are cut into.  A hint describes a kernel, `template.kernel(hint)`; hints are ranked by
the time that the model of tilelang.tune expects of it on the machine, without running it."""

import itertools
import math
import warnings

from . import function, tiles
from .arch import auto_infer_current_arch, is_cpu_arch, is_cuda_arch
from .roller import Hint, NoRasterization, Rasterization2DColumn

CANDIDATES = 64  # hints that are lowered, the least traffic first


def _bytes(dtype):
    from ..language import dtype as make

    return make(dtype).bits / 8


def _cdiv(a, b):
    return -(-a // b)


def _lanes(arch):
    """Threads that a warp of a hint stands for: where groups of threads have no size of their own, as in WGSL, 32."""
    return arch.warp_size if arch.warp_size > 1 or is_cpu_arch(arch) else 32


def _lower(func, target):
    """The kernel without its code."""
    from ..jit import _finish

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _finish(func, func._take, None, target, None, None, func.__name__, no_build=True)[0]


class BaseTemplate:
    def __init__(self):
        self._arch = self._func = None

    def with_arch(self, arch):
        self._arch = arch
        return self

    @property
    def arch(self):
        if self._arch is None:
            self._arch = auto_infer_current_arch()
        return self._arch

    def _expect(self, hint):
        """Milliseconds by the model; the hint says what the kernel really has."""
        from ..tune import model

        target = self.arch.told
        facts = model.facts_of(_lower(self.kernel(hint), target))
        launch = facts["launches"][0]
        if hint.pipeline_stage > 1:
            hint.pipeline_stage = max(1, min(hint.pipeline_stage, launch["stages"]))
        hint.use_tc = bool(launch["mma"])
        return model.milliseconds(facts, model.machine_of(target))

    def recommend_hints(self, topk=10):
        some, refused = {}, None
        for i, (_, hint) in enumerate(sorted(self._hints(), key=lambda x: x[0])):
            if some and i >= max(CANDIDATES, topk):  # where none of the first fits, a later one may
                break
            try:
                expected = self._expect(hint)
            except (RuntimeError, ValueError) as why:  # the machine does not take it
                refused = why
            else:
                some.setdefault(str(hint), (expected, len(some), hint))
        if not some and refused is not None:
            raise refused
        if not some:
            raise ValueError("%s: no tiles of it are known that fit %s" % (type(self).__name__, self.arch.told))
        return [hint for _, _, hint in sorted(some.values(), key=lambda x: x[:2])[:topk]]

    def kernel(self, hint):
        """The computation in the tiles of a hint: a function to compile, tune or print.  Widths of accesses and
        how copies are made are found by the compiler; hint.vectorize and hint.use_async only say what to expect."""
        raise NotImplementedError("%s has no kernel" % type(self).__name__)

    def get_hardware_aware_configs(self, arch=None, topk=10):
        return (self.with_arch(arch) if arch else self).recommend_hints(topk)

    def initialize_function(self):
        return None

    def set_function(self, func):
        self._func = func
        return self

    def get_hint(self):
        return self.recommend_hints(1)[0]

    @property
    def output_nodes(self):
        return [self]

    def equivalent_function(self):
        """The computation as a kernel, written plainly."""
        return self._func if self._func is not None else self._function()


class MatmulTemplate(BaseTemplate):
    def __init__(self, M=None, N=None, K=None, trans_A=False, trans_B=True, in_dtype="float16",
                 out_dtype="float16", accum_dtype="float16", with_bias=False):
        super().__init__()
        self.M, self.N, self.K = M, N, K
        self.trans_A, self.trans_B, self.with_bias = trans_A, trans_B, with_bias
        self.in_dtype, self.out_dtype, self.accum_dtype = in_dtype, out_dtype, accum_dtype

    def _function(self):
        return function.matmul(self.M, self.N, self.K, self.trans_A, self.trans_B, self.in_dtype,
                               self.out_dtype, self.accum_dtype, self.with_bias)

    def kernel(self, hint):
        (bm, bn), (wm, wn) = hint.block, hint.warp
        return tiles.matmul(self.M, self.N, self.K, self.trans_A, self.trans_B, self.in_dtype, self.out_dtype,
                            self.accum_dtype, self.with_bias, bm, bn, hint.rstep[0], hint.pipeline_stage,
                            bm // wm * (bn // wn) * _lanes(self.arch), hint.rasterization_plan)

    def _hints(self):
        size, accum, arch = _bytes(self.in_dtype), _bytes(self.accum_dtype), self.arch
        sizes = (16, 32, 64, 128, 256)
        for bm, bn in itertools.product(sizes, sizes):
            if bm > max(16, 2 * self.M - 1) or bn > max(16, 2 * self.N - 1):
                continue
            blocks = _cdiv(self.M, bm) * _cdiv(self.N, bn)
            idle = _cdiv(blocks, arch.compute_max_core) * arch.compute_max_core / blocks
            plan = Rasterization2DColumn(8) if blocks > 4 * arch.compute_max_core else NoRasterization()
            for wm, wn in ((1, 1), (1, 2), (2, 1), (2, 2), (2, 4), (4, 2)):
                if bm // wm < 16 or bn // wn < 16:
                    continue
                if bm * bn * accum / (wm * wn * _lanes(arch) * 4) > 160 and _lanes(arch) > 1:
                    continue  # accumulators of one thread
                for bk, stages in itertools.product((32, 64), (2, 3, 4)):
                    if (bm + bn) * bk * size * stages > arch.smem_cap or bk > max(32, 2 * self.K - 1):
                        continue
                    traffic = blocks * _cdiv(self.K, bk) * (bm + bn) * bk * size
                    score = (traffic * idle, abs(wm * wn - 4), abs(stages - 3), -bk)
                    yield score, Hint(arch=arch, block=[bm, bn], warp=[bm // wm, bn // wn], rstep=[bk],
                                      pipeline_stage=stages, use_async=is_cuda_arch(arch),
                                      rasterization_plan=plan, vectorize={"A_reindex": 8, "B_reindex": 8})


class GEMVTemplate(BaseTemplate):
    def __init__(self, N=None, K=None, trans_B=True, in_dtype="float16", out_dtype="float16",
                 accum_dtype="float16", with_bias=False):
        super().__init__()
        self.N, self.K, self.in_dtype, self.out_dtype = N, K, in_dtype, out_dtype
        self.trans_B, self.accum_dtype, self.with_bias = trans_B, accum_dtype, with_bias

    def _function(self):
        return function.matmul(1, self.N, self.K, False, self.trans_B, self.in_dtype,
                               self.out_dtype, self.accum_dtype, self.with_bias)

    def kernel(self, hint):
        threads = max(hint.block[1] * hint.reduce_thread[0], self.arch.warp_size)
        return tiles.gemv(self.N, self.K, self.trans_B, self.in_dtype, self.out_dtype, self.accum_dtype,
                          self.with_bias, hint.block[1], hint.rstep[0], threads)

    def _hints(self):
        vector = max(1, int(16 / _bytes(self.in_dtype)))
        for bn, rt in itertools.product((1, 2, 4, 8, 16, 32), (8, 16, 32, 64, 128)):
            if bn * rt > 1024 or bn > self.N or rt * vector > max(8 * vector, 2 * self.K - 1):
                continue
            yield (abs(bn * rt - 128), rt), Hint(
                arch=self.arch, block=[1, bn], thread=[1, bn], rstep=[rt * vector],
                reduce_thread=[rt], vectorize={"A": vector, "B": vector})


class ElementwiseTemplate(BaseTemplate):
    def __init__(self, shape=None, dtype="float16"):
        super().__init__()
        self.shape, self.dtype = list(shape), dtype

    def _function(self):
        return function.elementwise(self.shape, self.dtype)

    def kernel(self, hint):
        return tiles.elementwise(self.shape, self.dtype, math.prod(hint.block), max(hint.thread[-1], self.arch.warp_size))

    def _hints(self):
        last, vector = self.shape[-1], max(1, int(16 / _bytes(self.dtype)))
        for width, rows, threads in itertools.product((32, 64, 128, 256, 512, 1024), (1, 2, 4, 8), (64, 128, 256)):
            if width > max(32, 2 * last - 1) or threads > width * rows or (rows > 1 and len(self.shape) == 1):
                continue
            block = [1] * (len(self.shape) - 1) + [width]
            if len(block) > 1:
                block[-2] = rows
            each = width * rows // threads
            yield (abs(each - vector), abs(threads - 128)), Hint(
                arch=self.arch, block=block, thread=[1] * (len(block) - 1) + [threads],
                vectorize={"A": min(each, vector)} if each > 1 else {})


class GeneralReductionTemplate(BaseTemplate):
    def __init__(self, structure="", shape=None, dtype="float16"):
        super().__init__()
        self.structure, self.shape, self.dtype = structure, list(shape), dtype

    def _function(self):
        return function.reduction(self.structure, self.shape, self.dtype)

    def kernel(self, hint):
        tile, step = math.prod(hint.block), math.prod(hint.rstep)
        threads = max(min(tile, 128) * hint.reduce_thread[0], self.arch.warp_size)
        return tiles.reduction(self.structure, self.shape, self.dtype, tile, step, min(threads, 1024))

    def _hints(self):
        spatial = [n for s, n in zip(self.structure, self.shape) if s.upper() == "S"]
        reduce = [n for s, n in zip(self.structure, self.shape) if s.upper() == "R"]
        for tile, step in itertools.product((1, 2, 4, 8, 16, 32, 64, 128), (16, 32, 64, 128, 256, 512, 1024)):
            if tile > (spatial[-1] if spatial else 1) or step > max(16, 2 * math.prod(reduce) - 1):
                continue
            block = [1] * max(len(spatial) - 1, 0) + [tile] * bool(spatial)
            yield (abs(tile * step - 4096), -step), Hint(
                arch=self.arch, block=block, thread=[1] * max(len(block) - 1, 0) + [min(tile, 128)],
                rstep=[1] * (len(reduce) - 1) + [step] if reduce else [],
                reduce_thread=[min(32, step, max(1, 256 // tile)) if reduce else 1])


class FlashAttentionTemplate(BaseTemplate):
    def __init__(self, batch_size=1, num_heads=1, head_dim=1, seq_length=1, seq_kv_length=1,
                 is_causal=False, in_dtype="float16", out_dtype="float16",
                 accum_dtype="float16"):
        super().__init__()
        self.head_dim, self.seq, self.kv = head_dim, seq_length, seq_kv_length
        self.batch, self.heads, self.is_causal = batch_size, num_heads, is_causal
        self.in_dtype, self.out_dtype, self.accum_dtype = in_dtype, out_dtype, accum_dtype

    def _function(self):
        return function.attention(self.batch, self.heads, self.seq, self.kv, self.head_dim,
                                  self.is_causal, self.in_dtype, self.out_dtype, self.accum_dtype)

    def kernel(self, hint):
        _, _, bm, bn = hint.block
        return tiles.attention(self.batch, self.heads, self.seq, self.kv, self.head_dim, self.is_causal, self.in_dtype,
                               self.out_dtype, self.accum_dtype, bm, bn, hint.pipeline_stage,
                               bm // hint.warp[2] * _lanes(self.arch))

    def _hints(self):
        if "float" not in self.accum_dtype:
            raise ValueError("FlashAttentionTemplate: accum_dtype is %s; a softmax needs a floating type" % self.accum_dtype)
        size = _bytes(self.in_dtype)
        for bm, bn, warps, stages in itertools.product((16, 32, 64, 128, 256), (16, 32, 64, 128), (1, 2, 4, 8), (1, 2, 3)):
            if (bm + 2 * stages * bn) * self.head_dim * size > self.arch.smem_cap or bm // warps < 16:
                continue
            if bm > max(32, 2 * self.seq - 1) or bn > max(32, 2 * self.kv - 1):
                continue
            small = bm == 16 or bn == 16 or warps == 1  # for machines that nothing else fits
            yield (small, abs(bm - 128), abs(bn - 64), abs(warps - 8), abs(stages - 2)), Hint(
                arch=self.arch, block=[1, 1, bm, bn], warp=[1, 1, bm // warps, bn],
                rstep=[self.head_dim], pipeline_stage=stages)


class ConvTemplate(MatmulTemplate):
    """A convolution as the product it is: its kernel takes windows of the image as rows of A."""

    def __init__(self, N=1, C=1, H=1, W=1, F=1, K=1, S=1, D=1, P=0, in_dtype="float16",
                 out_dtype="float16", accum_dtype="float16", with_bias=False):
        rows = (H + 2 * P - D * (K - 1) - 1) // S + 1
        columns = (W + 2 * P - D * (K - 1) - 1) // S + 1
        super().__init__(N * rows * columns, F, C * K * K, in_dtype=in_dtype,
                         out_dtype=out_dtype, accum_dtype=accum_dtype, with_bias=with_bias)
