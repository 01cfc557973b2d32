#!/bin/sh
# run.sh -- build the bundle and use it from C, C++ and Python.  Usage: run.sh [TL]
tl=${1:-tl}
here=$(cd "$(dirname "$0")" && pwd) || exit 2
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
set -e
"$tl" build "$here/scale.py" -o "$out/scale" --variant 'n % 8 == 0: block=64' --levels x86-64-v2,x86-64-v3
"$tl" bundle check "$out/scale"
${CC:-cc} -I"$out/scale" -o "$out/use" "$here/use.c" -L"$out/scale" -lscale -Wl,-rpath,"$out/scale" && "$out/use"
${CXX:-c++} -x c++ -I"$out/scale" -o "$out/use++" "$here/use.c" -x none -L"$out/scale" -lscale -Wl,-rpath,"$out/scale" && "$out/use++"
python3 "$here/use.py" "$out/scale"
