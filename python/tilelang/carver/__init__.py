"""tilelang.carver: tile sizes worth trying, from the machine's limits.

Templates describe a computation; recommend_hints lists tiles by the memory traffic they cause,
among those that fit the registers and the shared memory of the machine."""

from .arch import CDNA, CPU, CUDA, METAL, RDNA, auto_infer_current_arch, get_arch  # noqa: F401
from .template import (ConvTemplate, ElementwiseTemplate, FlashAttentionTemplate,  # noqa: F401
                       GEMVTemplate, GeneralReductionTemplate, MatmulTemplate)
from .roller import (Hint, NoRasterization, Rasterization2DColumn,  # noqa: F401
                     Rasterization2DRow)
