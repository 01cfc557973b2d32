# Imported by ../imports.py.
import tilelang.language as T
from .more import WIDTH

SCALE = 3


@T.macro
def scaled(S, n):
    for i in T.Parallel(n):
        S[i] = S[i] * SCALE * WIDTH


def broken():
    return undefined_name
