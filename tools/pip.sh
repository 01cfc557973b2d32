#!/bin/sh
# pip.sh -- a folder with a package of pip, for tests: nothing outside deps/ is touched.
#
# Usage: pip.sh PACKAGE[==VERSION] [pip's options]   prints the folder; makes it under deps/ unless it is there; exits 1 if
#                                                    it cannot
cd "$(dirname "$0")/.." || exit 2
dir=$PWD/deps/${1%%=*}
if [ ! -d "$dir" ]; then
    new=$dir.$$
    python3 -m pip -q install --target "$new" "$@" >/dev/null 2>&1 && mv "$new" "$dir" || { rm -rf "$new"; exit 1; }
fi
echo "$dir"
