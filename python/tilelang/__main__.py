"""python -m tilelang is tl."""

import sys

from . import _core


def main():
    sys.stdout.flush()
    sys.exit(_core.main(["tl"] + sys.argv[1:]))


if __name__ == "__main__":
    main()
