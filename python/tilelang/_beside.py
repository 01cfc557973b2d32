"""A word where the original's distribution is installed in the same folder: their files lie over each other.

The module has one name, `tilelang`; the distributions have two, `tilelang` (the original's) and `tilelang-c` (this one).
pip does not know that they share files."""

import os

OWN, OTHER = "tilelang_c-", "tilelang-"


def installed(folder):
    """(of this one, of the other): names of what pip notes down, "" where there is none."""
    found = {OWN: "", OTHER: ""}
    try:
        names = os.listdir(folder)
    except OSError:
        return "", ""
    for name in sorted(names):
        for start in found:
            if name.startswith(start) and name.endswith((".dist-info", ".egg-info")):
                found[start] = name.rpartition(".")[0]
    return found[OWN], found[OTHER]


def warn(folder=None):
    """True: the other is there too, and was told of."""
    folder = folder or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    _, other = installed(folder)
    if not other:
        return False
    import warnings

    warnings.warn("the distributions 'tilelang' (%s) and 'tilelang-c' are both installed in %s, and files of one lie over "
                  "those of the other: pip uninstall tilelang tilelang-c, then install the one you want" % (other, folder),
                  stacklevel=3)
    return True
