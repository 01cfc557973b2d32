#!/bin/sh
# Usage: compare.sh TL  -- our float32 GEMM of 512^3 against the shader by hand, in one run on wgpu's adapter; prints both times in
# milliseconds and the ratio, exits 1 if the results differ or ours is slower.
tl=$1
cd "$(dirname "$0")/../.." || exit 2
lib=$(sh tools/wgpu.sh "$tl") || exit 2
[ -n "$lib" ] || lib=${TILELANG_WGPU:-}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
${CC:-cc} -O2 -Isrc -o "$work/compare" bench/webgpu/compare.c -ldl -lm || exit 2
"$tl" build examples/gemm.py:gemm M=512 N=512 K=512 dtype=float32 --target webgpu --source -q >"$work/ours.wgsl" 2>"$work/log" || { cat "$work/log"; exit 2; }
NODEVICE_SELECT=1 "$work/compare" "$lib"/libwgpu_native*.so "$work/ours.wgsl" main_kernel 64 64 bench/webgpu/gemm.wgsl gemm 64 64 | tee "$work/said"
awk '/ratio/ { ok = $NF <= 1 } END { exit !ok }' "$work/said"
