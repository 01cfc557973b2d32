#!/bin/sh
# gpu.sh -- measure on this machine's GPU: with PyTorch's peers where python3 has it, else without.
#
# Usage: gpu.sh BUILD [options of bench-gpu]   (from the top of the tree; `make bench-gpu` does it)
build=$1
shift
BENCH_GPU_EXE=$PWD/$build/bench/gpu_run
case $build in /*) BENCH_GPU_EXE=$build/bench/gpu_run ;; esac
export BENCH_GPU_EXE
if [ -z "${BENCH_GPU_ALONE:-}" ] && python3 -c 'import importlib.util as u, sys
sys.exit(u.find_spec("torch") is None)' 2>/dev/null; then
    exec python3 bench/gpu_peers.py "$build/bench/libgpu.so" "$@"
fi
exec "$build/bench/gpu_run" "$@"
