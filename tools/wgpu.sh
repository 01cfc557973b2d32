#!/bin/sh
# wgpu.sh -- a folder with wgpu-native, for the tests of WGSL.
#
# Usage: wgpu.sh TL        prints what TILELANG_WGPU should be: nothing if TL runs a kernel without it, else a folder under
#                          deps/.  Exits 1 if there is none, or no adapter for it.
#        wgpu.sh --fetch   puts the wheel of pip under deps/ unless it is there
# The wheel is a zip file: nothing is installed, nothing outside deps/ is touched.  Its version is the one that src/target/webgpu/rt/wgpu.h
# declares.
tl=$1
cd "$(dirname "$0")/.." || exit 2
dir=${WGPU_DIR:-$PWD/deps/wgpu}
lib=$dir/wgpu/resources
there() { ls "$lib"/libwgpu_native*.so >/dev/null 2>&1; }

fetch()
{
    there && return 0
    mkdir -p "$dir" || return 1
    python3 -m pip -q download --no-deps --only-binary=:all: -d "$dir" wgpu==0.32.0 >"$dir/log" 2>&1 || return 1
    for wheel in "$dir"/*.whl; do
        [ -f "$wheel" ] && python3 -m zipfile -e "$wheel" "$dir" && rm "$wheel"
    done
    there
}

if [ "$tl" = --fetch ]; then
    fetch
    exit
fi

probe() { "$tl" verify examples/vector_add.py N=64 block_N=64 -q --target webgpu >/dev/null 2>&1; }
probe && exit 0
fetch
if TILELANG_WGPU=$lib probe; then
    echo "$lib"
    exit 0
fi
echo "wgpu: no wgpu-native here, none to be had by pip, or no adapter" >&2
exit 1
