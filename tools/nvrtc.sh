#!/bin/sh
# nvrtc.sh -- a folder with NVIDIA's run-time compiler, for the tests of CUDA text.
#
# Usage: nvrtc.sh TL        prints what TILELANG_NVRTC should be: nothing if TL finds one by itself,
#                           else a folder under deps/.  Exits 1 if there is none.
#        nvrtc.sh --fetch   puts the wheel of pip under deps/ unless this machine has one already
#        nvrtc.sh --twelve  prints what TILELANG_NVRTC12 should be, for sm_70, and fetches that if need be
# The wheel is a zip file: nothing is installed, nothing outside deps/ is touched.
tl=$1
cd "$(dirname "$0")/.." || exit 2
dir=${NVRTC_DIR:-$PWD/deps/nvrtc}
there() { ls "$dir"/nvidia/*/lib/libnvrtc.so.* >/dev/null 2>&1; }

# Where tl itself looks.
installed()
{
    [ -n "${NVRTC_DIR:-}" ] && return 1
    for at in "${TILELANG_NVRTC:-}" "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /usr/local/cuda-*; do
        [ -n "$at" ] && ls "$at"/libnvrtc.so.* "$at"/lib/libnvrtc.so.* "$at"/lib64/libnvrtc.so.* 2>/dev/null |
            grep -q . && return 0
    done
    { ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | grep -q libnvrtc.so
}

# fetch [NAME]
fetch()
{
    there && return 0
    mkdir -p "$dir" || return 1
    for name in ${1:-nvidia-cuda-nvrtc nvidia-cuda-nvrtc-cu12}; do
        python3 -m pip -q download --no-deps --only-binary=:all: -d "$dir" "$name" >"$dir/log" 2>&1 && break
    done
    for wheel in "$dir"/*.whl; do
        [ -f "$wheel" ] && python3 -m zipfile -e "$wheel" "$dir" && rm "$wheel"
    done
    there
}

# An NVRTC 12, which knows sm_70: where tl looks, or the wheel of pip.
if [ "$tl" = --twelve ]; then
    for at in "${TILELANG_NVRTC12:-}" "${TILELANG_NVRTC:-}" "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /usr/local/cuda-*; do
        [ -n "$at" ] && ls "$at"/libnvrtc.so.12* "$at"/lib/libnvrtc.so.12* "$at"/lib64/libnvrtc.so.12* 2>/dev/null |
            grep -q . && exit 0
    done
    { ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | grep -q 'libnvrtc.so.12' && exit 0
    dir=${NVRTC12_DIR:-$PWD/deps/nvrtc12}
    there || fetch nvidia-cuda-nvrtc-cu12 || exit 1
    ls -d "$dir"/nvidia/*/lib
    exit
fi
if [ "$tl" = --fetch ]; then
    installed || fetch
    exit
fi

probe() { ! "$tl" build examples/vector_add.py --target "cuda -arch=sm_80" --no-cache 2>&1 | grep -q no-nvrtc; }
probe && exit 0
fetch
for lib in "$dir"/nvidia/*/lib; do
    if TILELANG_NVRTC=$lib probe; then
        echo "$lib"
        exit 0
    fi
done
echo "nvrtc: no NVRTC here, and none to be had by pip" >&2
exit 1
