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
# says NAME CODE PATTERN [VARIABLE=VALUE …]: what tl bundle check says of both/ on such a machine
says() {
    name=$1 code=$2 pattern=$3 && shift 3
    env LD_LIBRARY_PATH="$work" "$@" "$tl" bundle check both >log 2>&1
    [ $? = "$code" ] && grep -qE "$pattern" log || fail "$name: not /$pattern/ with exit code $code"
}
grep -q 'bundle of gemm_nt' log || fail "not written"
${CC:-cc} -std=c11 -Wall -Wextra -Werror -O1 -fPIC -shared -o by_hand.so out/gemm_nt.c -ldl -lpthread \
    >log 2>&1 || fail "does not compile"
${CC:-cc} -fPIC -shared -o libcuda.so.1 "$here/fake_cuda.c" >log 2>&1 || fail "the fake driver"
${CC:-cc} -Iout -o use "$here/use_bundle.c" -Lout -lgemm_nt "-Wl,-rpath,$work/out" >log 2>&1 || fail "use"
LD_LIBRARY_PATH=$work ./use >log 2>&1 || fail "does not run"
for line in 'load cubin' 'load ptx' 'function main_kernel' 'attribute 8 = ' \
    'map type 9 rank 2 at 0x1000: 192 x 256, stride 384, box 64 x ' 'swizzle 3, aligned' \
    'launch 4 2 1 of ' 'first 0x1000$' '^0 $' 'first 0x1008$'; do
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
def names(grid: T.Tensor((m, n), T.float32), params: T.Tensor((m, n), T.float32), r: T.float32, i: T.int32):
    with T.Kernel(T.ceildiv(n, 64), T.ceildiv(m, 32), threads=128) as (bx, by):
        tile = T.alloc_shared((32, 64), T.float32)
        T.copy(grid[by * 32, bx * 64], tile)
        for a0, c in T.Parallel(32, 64):
            tile[a0, c] = tile[a0, c] * r + i
        T.copy(tile, params[by * 32, bx * 64])
END
"$tl" build names.py:names --target "cuda -arch=sm_90a" -o named >log 2>&1 || fail "names"
${CC:-cc} -std=c11 -Wall -Wextra -Werror -O1 -c -o named.o named/names.c >log 2>&1 || fail "names do not compile"

# Without the second kernel the first says what it needs.
"$tl" build "$here/../kernel/variants.py:twice" --target "cuda -arch=sm_80" --aligned-only -o plain >log 2>&1 ||
    fail "aligned only"
sed 's/0x1000/0x1008/' "$here/use_variants.c" >odd.c
${CC:-cc} -Iplain -o odd odd.c plain/twice.c -ldl -lpthread >log 2>&1 || fail "aligned only"
LD_LIBRARY_PATH=$work ./odd >log 2>&1
grep -qE "^1 argument 'A' starts at address .* a multiple of 16 bytes" log || fail "an address was taken"

# Two architectures and a condition: which part is called, and what tl bundle check says on other machines.
big="$here/../../examples/gemm.py:gemm_nt M=256 N=512 K=192 dtype=bfloat16 out_dtype=bfloat16 block_M=128 block_N=128 block_K=64"
"$tl" build $big --target cuda --arch sm_80,sm_90a --aligned-only -o both >log 2>&1 || fail "two architectures"
says "a Hopper GPU" 0 '^sm_90a: runs here'
says "an Ampere GPU" 0 '^sm_90a: does not run here: it is for sm_90a alone; this GPU is sm_86' FAKE_CC=86
grep -q '^sm_80: runs here' log || fail "sm_80 on sm_86"
says "a later GPU" 0 '^sm_80: runs here' FAKE_CC=120
says "an older GPU" 1 '^sm_80: does not run here: it is for sm_80 and later; this GPU is sm_75' FAKE_CC=75
says "an older driver" 1 'made by CUDA 13.0 and this driver knows CUDA 12.4: a newer driver is needed' FAKE_DRIVER=12040
says "little shared memory" 1 'a block needs 98304 bytes of shared memory; this GPU has 65536' FAKE_CC=86 FAKE_SHARED=65536
mkdir none nomaps
${CC:-cc} -DNO_MAPS -fPIC -shared -o nomaps/libcuda.so.1 "$here/fake_cuda.c" >log 2>&1 || fail "the fake driver"
says "no tensor maps" 0 '^sm_90a: does not run here: it needs tensor maps, which this driver' LD_LIBRARY_PATH="$work/nomaps"
says "no driver" 1 'no CUDA driver here' LD_LIBRARY_PATH="$work/none"
${CC:-cc} -Iboth -o use2 "$here/use_bundle.c" -Lboth -lgemm_nt "-Wl,-rpath,$work/both" >log 2>&1 || fail "use of two"
LD_LIBRARY_PATH=$work FAKE_CC=80 ./use2 >log 2>&1
grep -q '^map' log && fail "the part of another architecture was called"
LD_LIBRARY_PATH=$work FAKE_CC=75 ./use2 >log 2>&1
grep -q '^1 no part of this bundle runs here; sm_80: it is for sm_80 and later' log || fail "no sentence"
"$tl" build $big --target cuda --arch sm_90a,sm_80 --aligned-only -o again >log 2>&1 || fail again
for f in both/*; do
    cmp -s "$f" "again/${f#both/}" || fail "not the same bytes: $f"
done
mkdir -p other/folder # compiled once more, elsewhere
(cd other/folder && "$tl" build $big --target cuda --arch sm_90a,sm_80 --aligned-only --no-cache -o again) >log 2>&1 || fail again
for f in both/*; do
    cmp -s "$f" "other/folder/again/${f#both/}" || fail "not the same bytes in another folder: $f"
done
"$tl" build "$here/../kernel/variants.py:twice" --target "cuda -arch=sm_80" -o cond \
    --variant 'm >= 64 and m % 2 == 0: step=2' >log 2>&1
grep -q "has no parameter 'step'" log || fail "a knob that there is not"
echo "14 passed, 0 failed"
