#!/bin/sh
# Usage: library.sh BUILD [NAME…]  -- the library built for aarch64 in BUILD/aarch64, and its quick unit tests under QEMU.
# NAME…: those tests alone.  Those of isa.c and of laws take too long there.
build=$1
shift
cd "$(dirname "$0")/../.." || exit 2
cc=${TILELANG_AARCH64_CC:-aarch64-linux-gnu-gcc}
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
if ! command -v "$cc" >/dev/null || [ -z "$qemu" ]; then
    echo "0 passed, 0 failed"
    exit 0
fi
make -s -j2 BUILD="$build/aarch64" CFLAGS="-O1 -DTEST_EMULATED" CC="$cc" "$build/aarch64/unit" "$build/aarch64/tl" || exit 1
# Its loader and libraries are where the compiler has them.
root=$("$cc" -print-file-name=ld-linux-aarch64.so.1)
root=$(cd "$(dirname "$root")/.." && pwd)
export TILELANG_CACHE_DIR="$build/aarch64/cache" CC="$cc" QEMU_LD_PREFIX="$root"
[ $# -gt 0 ] || set -- affine. api. arena. bank. bounds. builtin. cache. cpu_convert. cpu_gemm. cpu_math. diag. dialect. \
    dtype. eval. expr. file. fragment. hash. infer. invert. json. lanes. layout. lex. legalise. map. modular. names. npy. \
    numeric. op_ opt. parse. pool. print. proc. race. random. read. refuse. region. simplify stmt. str. swizzle. \
    target. tensor. tiles. verify. walk.
"$qemu" "$build/aarch64/unit" -t 600 "$@"
