"""tilelang.cuda.language is tilelang.language."""

import sys

from .. import language

sys.modules[__name__] = language
