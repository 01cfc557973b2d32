"""python -m tilelang is tl."""

import sys

from . import _core


def main():
    sys.stdout.flush()
    if sys.argv[1:2] == ["tune"]:
        from .tune.cli import main as tune

        sys.exit(tune(sys.argv[2:]))
    sys.exit(_core.main(["tl"] + sys.argv[1:]))


if __name__ == "__main__":
    main()
