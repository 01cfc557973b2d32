#!/bin/sh
# hip_bundle.sh -- a bundle for AMD GPUs builds with any C compiler and asks the HIP runtime for the right things; and `tl` runs a
# kernel by that runtime, compiled by clang and by hiprtc.
#
# Usage: hip_bundle.sh TL     The runtime is fake_hip.c, then host_hip.c: no GPU is needed.  A clang for AMD is; without it nothing is counted.
tl=$1
here=$(cd "$(dirname "$0")" && pwd) || exit 2
case $tl in /*) ;; *) tl=$PWD/$tl ;; esac
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export TILELANG_CACHE_DIR="$work/cache"

"$tl" build "$here/../../examples/gemm.py:gemm_nt" M=256 N=512 K=192 dtype=bfloat16 out_dtype=bfloat16 \
    block_M=128 block_N=128 block_K=64 --target "hip -mcpu=gfx942" -o out >log 2>&1
if grep -q no-hip-compiler log; then
    echo "0 passed, 0 failed"
    exit 0
fi
fail() { echo "hip_bundle: $1"; cat log; echo "0 passed, 1 failed"; exit 1; }
grep -q 'bundle of gemm_nt' log || fail "not written"
mkdir -p other/folder # compiled once more, elsewhere
(cd other/folder && "$tl" build "$here/../../examples/gemm.py:gemm_nt" M=256 N=512 K=192 dtype=bfloat16 out_dtype=bfloat16 \
    block_M=128 block_N=128 block_K=64 --target "hip -mcpu=gfx942" --no-cache -o out) >log 2>&1 || fail again
diff -r out other/folder/out >log 2>&1 || fail "not the same bytes in another folder"
[ -s out/gemm_nt.hip ] && [ -s out/gemm_nt.co ] && grep -q '"symbol": *"main_kernel"' out/manifest.json || fail "files are missing"
${CC:-cc} -std=c11 -Wall -Wextra -Werror -O1 -fPIC -shared -o by_hand.so out/gemm_nt.c -ldl -lpthread \
    >log 2>&1 || fail "does not compile"
${CC:-cc} -fPIC -shared -o libamdhip64.so "$here/fake_hip.c" >log 2>&1 || fail "the fake runtime"
${CC:-cc} -Iout -o use "$here/use_bundle.c" -Lout -lgemm_nt "-Wl,-rpath,$work/out" >log 2>&1 || fail "use"
LD_LIBRARY_PATH=$work ./use >log 2>&1 || fail "does not run"
for line in 'load ELF' 'function main_kernel' 'launch 4 2 1 of 128 1 1, [0-9]+ bytes, first 0x1000$' '^0 $' \
    'launch .* first 0x1008$'; do
    grep -qE "$line" log || fail "no line '$line'"
done
grep -qE 'BAD|NOT' log && fail "wrong"

# A code object is for one architecture; the runtime knows which.
LD_LIBRARY_PATH=$work "$tl" bundle check out >log 2>&1 || fail "check"
grep -q '^gfx942: runs here' log || fail "no sentence"
LD_LIBRARY_PATH=$work FAKE_RESULT=209 "$tl" bundle check out >log 2>&1 && fail "it runs on another GPU"
grep -q 'it is for gfx942 alone and does not load on this GPU: FAKE_ERROR' log || fail "no sentence"

# A whole run: the library is found by the name of a release, memory, streams, events and launches are asked for as it takes them.
mkdir host
${CC:-cc} -Wall -Wextra -fPIC -shared -o host/libamdhip64.so.6 "$here/host_hip.c" >log 2>&1 || fail "the runtime of the host"
HOST_HIP_CLANG=$(command -v clang-19)
export HOST_HIP_N=1000 HOST_HIP_CLANG
add="$here/../../examples/vector_add.py N=1000"
on_host() { LD_LIBRARY_PATH=$work/host "$tl" "$@" --target "hip -mcpu=gfx942" >log 2>&1; }
on_host verify $add && grep -q PASS log || fail "a run"
on_host bench $add || fail "timing"
HOST_HIP_N=999 on_host verify $add && fail "a wrong sum is right"
HOST_HIP_FAILS=hipModuleLaunchKernel on_host verify $add && fail "a launch that fails"
grep -q 'hipErrorLaunchFailure: unspecified launch failure.*\[hip-failed\]' log || fail "what it says of a launch that fails"
HOST_HIP_NONE=1 on_host verify $add && fail "a run without a GPU"
grep -q 'none installed.*\[no-hip-device\]' log || fail "what it says without a GPU"
${CC:-cc} -fPIC -shared -o host/libamdhip64.so.6 "$here/fake_hip.c" || fail "the older runtime"
on_host verify $add && fail "a runtime that lacks functions"
grep -q 'too old, it has no hipDrvGetErrorString.*\[no-hip-runtime\]' log || fail "what it says of an older runtime"
if [ -n "$HOST_HIP_CLANG" ]; then
    ${CC:-cc} -fPIC -shared -o host/libamdhip64.so.6 "$here/host_hip.c" || fail "hiprtc"
    TILELANG_HIP_CLANG=hiprtc on_host verify $add --no-cache && grep -q PASS log || fail "a run of what hiprtc compiled"
    TILELANG_HIP_CLANG=hiprtc on_host build "$here/kernel/operands.py" --no-cache && grep -q '[1-9][0-9]* registers' log || fail "a GEMM by hiprtc"
fi
echo "8 passed, 0 failed"
