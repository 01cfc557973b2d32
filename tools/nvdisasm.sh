#!/bin/sh
# nvdisasm.sh -- NVIDIA's disassembler, for the tests that read machine code.
#
# Usage: nvdisasm.sh       prints where it is: of this machine, or from the wheel of pip under deps/; exits 1 if there is none
# The wheel is a zip file: nothing is installed, nothing outside deps/ is touched.
cd "$(dirname "$0")/.." || exit 2
dir=$PWD/deps/nvdisasm
for at in "${TILELANG_NVDISASM:-}" "$(command -v nvdisasm)" "${CUDA_HOME:-}/bin/nvdisasm" /usr/local/cuda*/bin/nvdisasm "$dir"/nvidia/*/bin/nvdisasm; do
    [ -n "$at" ] && [ -f "$at" ] && echo "$at" && exit 0
done
mkdir -p "$dir" || exit 1
python3 -m pip -q download --no-deps --only-binary=:all: -d "$dir" nvidia-cuda-nvdisasm >"$dir/log" 2>&1
for wheel in "$dir"/*.whl; do
    [ -f "$wheel" ] && python3 -m zipfile -e "$wheel" "$dir" && rm "$wheel"
done
for at in "$dir"/nvidia/*/bin/nvdisasm; do
    [ -f "$at" ] && chmod +x "$at" && echo "$at" && exit 0
done
echo "nvdisasm: none here, and none to be had by pip" >&2
exit 1
