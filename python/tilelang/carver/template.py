"""Computations and the tiles they are cut into.  Tiles that fit are ranked by the bytes they move,
then by how evenly they fill the machine."""

import itertools

from . import function
from .arch import auto_infer_current_arch, is_cuda_arch
from .roller import Hint, NoRasterization, Rasterization2DColumn


def _bytes(dtype):
    from ..language import dtype as make

    return make(dtype).bits / 8


def _cdiv(a, b):
    return -(-a // b)


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

    def recommend_hints(self, topk=10):
        return [h for _, h in sorted(self._hints(), key=lambda x: x[0])[:topk]]

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

    def _hints(self):
        size, accum, arch = _bytes(self.in_dtype), _bytes(self.accum_dtype), self.arch
        sizes = [n for n in (16, 32, 64, 128, 256)]
        for bm, bn in itertools.product(sizes, sizes):
            if bm > max(16, self.M) or bn > max(16, self.N):
                continue
            for wm, wn in ((1, 1), (1, 2), (2, 1), (2, 2), (2, 4), (4, 2)):
                if bm // wm < 16 or bn // wn < 16:
                    continue
                if bm * bn * accum / (wm * wn * 32 * 4) > 160:  # accumulators of one thread
                    continue
                for bk, stages in itertools.product((32, 64), (2, 3, 4)):
                    if (bm + bn) * bk * size * stages > arch.smem_cap:
                        continue
                    blocks = _cdiv(self.M, bm) * _cdiv(self.N, bn)
                    waves = _cdiv(blocks, max(arch.compute_max_core, 1))
                    traffic = blocks * _cdiv(self.K, bk) * (bm + bn) * bk * size
                    idle = waves * arch.compute_max_core / blocks
                    work = wm * wn
                    plan = Rasterization2DColumn(8) if blocks > 4 * arch.compute_max_core \
                        else NoRasterization()
                    score = (traffic * idle, abs(work - 4), abs(stages - 3), -bk)
                    yield score, Hint(arch=arch, block=[bm, bn], warp=[bm // wm, bn // wn],
                                      rstep=[bk], use_tc=True, pipeline_stage=stages,
                                      use_async=is_cuda_arch(arch), rasterization_plan=plan,
                                      vectorize={"A_reindex": 8, "B_reindex": 8})


class GEMVTemplate(BaseTemplate):
    def __init__(self, N=None, K=None, trans_B=True, in_dtype="float16", out_dtype="float16",
                 accum_dtype="float16", with_bias=False):
        super().__init__()
        self.N, self.K, self.in_dtype, self.out_dtype = N, K, in_dtype, out_dtype
        self.trans_B, self.accum_dtype, self.with_bias = trans_B, accum_dtype, with_bias

    def _function(self):
        return function.matmul(1, self.N, self.K, False, self.trans_B, self.in_dtype,
                               self.out_dtype, self.accum_dtype, self.with_bias)

    def _hints(self):
        for bn, rt in itertools.product((1, 2, 4, 8, 16, 32), (8, 16, 32, 64, 128)):
            if bn * rt > 1024 or bn > self.N:
                continue
            vector = max(1, int(16 / _bytes(self.in_dtype)))
            yield (abs(bn * rt - 128), rt), Hint(
                arch=self.arch, block=[1, bn], thread=[1, bn], rstep=[rt * vector],
                reduce_thread=[rt], vectorize={"A": vector, "B": vector})


class ElementwiseTemplate(BaseTemplate):
    def __init__(self, shape=None, dtype="float16"):
        super().__init__()
        self.shape, self.dtype = list(shape), dtype

    def _function(self):
        return function.elementwise(self.shape, self.dtype)

    def _hints(self):
        last = self.shape[-1]
        for width, rows in itertools.product((32, 64, 128, 256, 512), (1, 2, 4, 8)):
            if width > max(32, last):
                continue
            block = [1] * (len(self.shape) - 1) + [width]
            if len(block) > 1:
                block[-2] = rows
            elif rows > 1:
                continue
            yield (abs(width * rows - 512), -width), Hint(
                arch=self.arch, block=block, thread=[min(width, 128)],
                vectorize={"A": 4} if width % 4 == 0 else {})


class GeneralReductionTemplate(BaseTemplate):
    def __init__(self, structure="", shape=None, dtype="float16"):
        super().__init__()
        self.structure, self.shape, self.dtype = structure, list(shape), dtype

    def _function(self):
        return function.reduction(self.structure, self.shape, self.dtype)

    def _hints(self):
        spatial = [n for s, n in zip(self.structure, self.shape) if s.upper() == "S"]
        reduce = [n for s, n in zip(self.structure, self.shape) if s.upper() == "R"]
        for tile, step in itertools.product((1, 2, 4, 8, 16, 32, 64, 128), (16, 32, 64, 128)):
            block = [1] * max(len(spatial) - 1, 0) + [tile] * bool(spatial)
            if spatial and tile > spatial[-1]:
                continue
            yield (abs(tile * step - 4096), -step), Hint(
                arch=self.arch, block=block, thread=[min(tile, 128)],
                rstep=[1] * (len(reduce) - 1) + [min(step, reduce[-1])] if reduce else [],
                reduce_thread=[32 if tile < 32 else 1])


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

    def _hints(self):
        size = _bytes(self.in_dtype)
        for bm, bn, stages in itertools.product((64, 128), (32, 64, 128), (1, 2, 3)):
            if (bm + 2 * stages * bn) * self.head_dim * size > self.arch.smem_cap:
                continue
            yield (abs(bm - 128), abs(bn - 64), abs(stages - 2)), Hint(
                arch=self.arch, block=[1, 1, bm, bn], warp=[1, 1, bm // 4, bn],
                rstep=[self.head_dim], use_tc=True, pipeline_stage=stages)


class ConvTemplate(MatmulTemplate):
    def __init__(self, N=1, C=1, H=1, W=1, F=1, K=1, S=1, D=1, P=0, in_dtype="float16",
                 out_dtype="float16", accum_dtype="float16", with_bias=False):
        rows = (H + 2 * P - D * (K - 1) - 1) // S + 1
        columns = (W + 2 * P - D * (K - 1) - 1) // S + 1
        super().__init__(N * rows * columns, F, C * K * K, in_dtype=in_dtype,
                         out_dtype=out_dtype, accum_dtype=accum_dtype, with_bias=with_bias)
