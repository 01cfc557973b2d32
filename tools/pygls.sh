#!/bin/sh
# pygls.sh -- a folder with pygls, a client of language servers, for the test of `tl lsp`.
#
# Usage: pygls.sh   prints the folder; puts it under deps/ by pip unless it is there; exits 1 if it cannot
cd "$(dirname "$0")/.." || exit 2
dir=$PWD/deps/pygls
if [ ! -d "$dir/pygls" ]; then
    python3 -m pip -q install --target "$dir.new" pygls==2.1.1 >/dev/null 2>&1 && mv "$dir.new" "$dir" || exit 1
fi
echo "$dir"
