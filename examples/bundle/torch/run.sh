#!/bin/sh
# run.sh -- a bundle's kernel inside of an exported model, from C++.  Usage: run.sh [TL [PYTHON]]; PYTHON has torch.
tl=${1:-tl} python=${2:-python3}
here=$(cd "$(dirname "$0")" && pwd) || exit 2
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
set -e
"$tl" build "$here/../scale.py" -o "$out/scale"
"$python" "$here/export.py" "$out/scale" "$out"
torch=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))')
${CXX:-c++} -std=c++20 -I"$torch/include" -I"$torch/include/torch/csrc/api/include" -o "$out/use" "$here/use.cpp" \
    -L"$torch/lib" -ltorch -ltorch_cpu -lc10 -ldl -Wl,-rpath,"$torch/lib"
"$out/use" "$out/libscale_torch.so" "$out/model.pt2"
