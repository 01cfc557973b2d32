#!/bin/sh
# nvrtc.sh -- a folder with NVIDIA's run-time compiler, for the tests of CUDA text.
#
# Usage: nvrtc.sh TL   prints what TILELANG_NVRTC should be: nothing if TL finds one by itself, else
#                      a folder under deps/ with the wheel of pip in it.  Exits 1 if there is none.
# The wheel is a zip file: nothing is installed, nothing outside deps/ is touched.
tl=$1
cd "$(dirname "$0")/.." || exit 2
probe() { ! "$tl" build examples/vector_add.py --target "cuda -arch=sm_80" --no-cache 2>&1 | grep -q no-nvrtc; }

probe && exit 0
dir=$PWD/deps/nvrtc
if ! ls "$dir"/nvidia/*/lib/libnvrtc.so.* >/dev/null 2>&1; then
    mkdir -p "$dir" || exit 1
    for name in nvidia-cuda-nvrtc nvidia-cuda-nvrtc-cu12; do
        python3 -m pip -q download --no-deps --only-binary=:all: -d "$dir" "$name" >/dev/null 2>&1 && break
    done
    for wheel in "$dir"/*.whl; do
        [ -f "$wheel" ] && python3 -m zipfile -e "$wheel" "$dir" && rm "$wheel"
    done
fi
for lib in "$dir"/nvidia/*/lib; do
    if TILELANG_NVRTC=$lib probe; then
        echo "$lib"
        exit 0
    fi
done
echo "nvrtc: no NVRTC here, and none to be had by pip" >&2
exit 1
