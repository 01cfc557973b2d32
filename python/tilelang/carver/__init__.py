"""tilelang.carver: tile sizes worth trying on a machine, which need not be there.

Templates describe a computation; recommend_hints lists tiles that the machine takes, those first
of which the model of tilelang.tune expects the shortest time; template.kernel(hint) is the kernel."""

from .arch import (CDNA, CPU, CUDA, METAL, RDNA, WebGPU, auto_infer_current_arch,  # noqa: F401
                   get_arch)
from .template import (ConvTemplate, ElementwiseTemplate, FlashAttentionTemplate,  # noqa: F401
                       GEMVTemplate, GeneralReductionTemplate, MatmulTemplate)
from .roller import (Hint, NoRasterization, Rasterization2DColumn,  # noqa: F401
                     Rasterization2DRow)
