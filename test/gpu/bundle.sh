#!/bin/sh
# bundle.sh -- a bundle for GPUs builds with any C compiler and asks the driver for the right things.
#
# Usage: bundle.sh TL     The driver is fake_cuda.c: no GPU is needed.  NVRTC is; without it: skipped.
tl=$1
here=$(cd "$(dirname "$0")" && pwd) || exit 2
case $tl in /*) ;; *) tl=$PWD/$tl ;; esac
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export TILELANG_CACHE_DIR="$work/cache"

"$tl" build "$here/../../examples/gemm.py:gemm_nt" M=256 N=512 K=192 dtype=bfloat16 out_dtype=bfloat16 \
    block_M=128 block_N=128 block_K=64 --target "cuda -arch=sm_90a" -o out >log 2>&1
if grep -q no-nvrtc log; then
    echo "bundle: skipped, no NVRTC here"
    exit 0
fi
fail() { echo "bundle: $1"; cat log; echo "1 passed, 1 failed"; exit 1; }
grep -q 'bundle of gemm_nt' log || fail "not written"
${CC:-cc} -std=c11 -Wall -Wextra -Werror -O1 -fPIC -shared -o out/libgemm_nt.so out/gemm_nt.c -ldl -lpthread \
    >log 2>&1 || fail "does not compile"
${CC:-cc} -fPIC -shared -o libcuda.so.1 "$here/fake_cuda.c" >log 2>&1 || fail "the fake driver"
${CC:-cc} -Iout -o use "$here/use_bundle.c" -Lout -lgemm_nt "-Wl,-rpath,$work/out" >log 2>&1 || fail "use"
LD_LIBRARY_PATH=$work ./use >log 2>&1 || fail "does not run"
for line in 'load cubin' 'load ptx' 'function main_kernel' 'attribute 8 = ' \
    'map type 9 rank 2 at 0x1000: 192 x 256, stride 384, box 64 x ' 'swizzle 3, aligned' \
    'launch 4 2 1 of ' 'first 0x1000$' '^0 $' "^1 argument 'A' starts at address .* a multiple of 16 bytes"; do
    grep -qE "$line" log || fail "no line '$line'"
done
grep -qE 'BAD|NOT' log && fail "wrong"

# A box lands without gaps, so pieces of long rows are boxes of one row.
"$tl" build "$here/../../examples/gemv.py" N=100 K=200 --target "cuda -arch=sm_90a" -o long >log 2>&1 || fail gemv
tr -d ' \n' <long/manifest.json >log
grep -q '"box":\[256,1\]' log || fail "a box of several pieces"

# Rows of whole units go to the kernel with bulk copies, others to the one without.
"$tl" build "$here/../kernel/variants.py:twice" --target "cuda -arch=sm_90a" -o var >log 2>&1 || fail variants
tr -d ' \n' <var/manifest.json | grep -q '"symbol":"main_kernel","where":"n%4==0",.*"symbol":"main_kernel_any","grid"' ||
    fail "the manifest does not say which kernel is for which rows"
${CC:-cc} -Ivar -o variants "$here/use_variants.c" var/twice.c -ldl -lpthread >log 2>&1 || fail "variants"
LD_LIBRARY_PATH=$work ./variants >log 2>&1 || fail "variants do not run"
grep -E '^(function|map|launch|[01] )' log | sed 's/ type.*//; s/ of .*//' | tr '\n' ';' >order
grep -q '^map;map;function main_kernel;launch 1 2 1;0 ;function main_kernel_any;launch 2 2 1;0 ;$' order ||
    { cat order; fail "not the variant that the rows allow"; }

# The image of a convolution is walked pixel by pixel.
"$tl" build "$here/../../examples/convolution.py:convolution_im2col" S=2 D=1 P=1 --target "cuda -arch=sm_90a" \
    -o conv >log 2>&1 || fail convolution
tr -d ' \n' <conv/manifest.json | grep -q '"box":\[32,128,1,1\],"swizzle":64,"im2col":\[-1,-1,2\]' || fail "pixels"
cat >conv.c <<'END'
#include <stddef.h>
#include "convolution_im2col.h"
int main(void) { return convolution_im2col((void *)0x1000, (void *)0x2000, (void *)0x3000, NULL); }
END
${CC:-cc} -Iconv -o convolve conv.c conv/convolution_im2col.c -ldl -lpthread >log 2>&1 || fail "convolution"
LD_LIBRARY_PATH=$work ./convolve >log 2>&1 || fail "convolution does not run"
grep -q 'pixels type 6 rank 4 at 0x1000: 32 x 28, stride 64, 32 channels of 128, from -1 to -1 by 2, swizzle 2' log ||
    fail "not the map of an image"

# Parameters may be called like anything that the text has names for.
cat >names.py <<'END'
import tilelang.language as T

m, n = T.dynamic("m"), T.dynamic("n")


@T.prim_func
def names(grid: T.Tensor((m, n), T.float32), params: T.Tensor((m, n), T.float32), a0: T.float32, i: T.int32):
    with T.Kernel(T.ceildiv(n, 64), T.ceildiv(m, 32), threads=128) as (bx, by):
        tile = T.alloc_shared((32, 64), T.float32)
        T.copy(grid[by * 32, bx * 64], tile)
        for r, c in T.Parallel(32, 64):
            tile[r, c] = tile[r, c] * a0 + i
        T.copy(tile, params[by * 32, bx * 64])
END
"$tl" build names.py:names --target "cuda -arch=sm_90a" -o named >log 2>&1 || fail "names"
${CC:-cc} -std=c11 -Wall -Wextra -Werror -O1 -c -o named.o named/names.c >log 2>&1 || fail "names do not compile"
echo "5 passed, 0 failed"
