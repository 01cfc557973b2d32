#!/bin/sh
# Usage: cutedsl.sh TL        -- what target cutedsl says of itself; where CuTe DSL is, some kernels become PTX and machine code,
#                                and the PTX of small ones runs on the host (ptx.py) and is compared with the simulator
#        cutedsl.sh TL all    -- more of both; fetches CuTe DSL
tl=$1 all=${2:-}
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $1: $2"; }

# says NAME WANTED COMMAND…
says() {
    name=$1 wanted=$2
    shift 2
    text=$("$@" 2>&1)
    case $text in *"$wanted"*) ok ;; *) bad "$name" "$text" ;; esac
}
says "no Python" "[no-cutedsl]" env TILELANG_CUTEDSL_PYTHON=/nonesuch "$tl" build examples/vector_add.py -q --no-cache --target cutedsl
says "-profile" "unknown option '-profile'" "$tl" build examples/vector_add.py -q --source --target "cutedsl -profile"
says "an old GPU" "CuTe DSL is for sm_80 and later" "$tl" build examples/vector_add.py -q --source --target "cutedsl -arch=sm_75"
says "no profile" "[not-profiled]" "$tl" profile examples/vector_add.py --target cutedsl
says "the simulator" "VERIFY: PASS" "$tl" verify examples/softmax.py M=9 N=65 --sim --target "cutedsl -arch=sm_90a"
says "the list" "cutedsl: " "$tl" targets

python=$(sh tools/cutedsl.sh ${all:+--fetch} 2>/dev/null) || { echo "$passed passed, $failed failed"; exit 0; }
export TILELANG_CUTEDSL_PYTHON="$python"

# built ARCH FILE KNOBS…: through the DSL
built() {
    arch=$1
    shift
    text=$(timeout "${TEST_SECONDS:-240}" "$tl" build "$@" -q --no-cache --target "cutedsl -arch=$arch" 2>&1 >/dev/null) && ok ||
        bad "$* on $arch" "$text"
}
# same FILE KNOBS…: its PTX runs
same() {
    text=$(LD_LIBRARY_PATH=$work timeout "${TEST_SECONDS:-240}" "$tl" verify "$@" -q --target "cutedsl -arch=sm_80" 2>&1)
    case $text in *"VERIFY: PASS"*) ok ;; *) bad "$*" "$text" ;; esac
}

built sm_90a examples/gemm.py:gemm M=256 N=256 K=256 block_M=128 block_N=128 block_K=64 dtype=float16
built sm_90a examples/flash_attention.py S=256 H=1 D=64 dtype=float16
# What the launch does not say the machine code must: blocks of a cluster load for each other.
"$tl" build examples/gemm.py:gemm M=200 N=136 K=264 block_M=128 block_N=128 block_K=64 dtype=float16 \
    -q --source --target "cutedsl -arch=sm_90a" >"$work/pair.py" 2>/dev/null
"$python" "$work/pair.py" "$work/pair" sm_90a >"$work/said" 2>&1
grep -aq "reqnctapercluster 2, 1, 1" "$work/pair.ptx" && ok || bad "a cluster's blocks" "not in the PTX: $(cat "$work/said")"
# What loops use is read once, before them.
for name in %tid.x __dynamic_shmem__; do
    n=$(grep -a "mov.*$name" "$work/pair.ptx" | wc -l)
    [ "$n" = 1 ] && ok || bad "$name" "read $n times"
done
says "a cluster's blocks in machine code" " 2 1 1" python3 test/gpu/cubin.py "$work/pair.cubin"
${CC:-cc} -shared -fPIC -O1 -o "$work/libcuda.so.1" test/gpu/ptx_cuda.c || { echo "FAIL the driver"; exit 1; }
same examples/vector_add.py N=1000 block_N=512
# A bundle is called from C, and its PTX runs; NAME.py beside it is what calls it from Python.
"$tl" build examples/vector_add.py N=1000 block_N=512 -q --target "cutedsl -arch=sm_80" -o "$work/bundle" >"$work/said" 2>&1
${CC:-cc} -I"$work/bundle" -o "$work/add" test/gpu/use_cutedsl.c "$work/bundle/vector_add.c" "$work/libcuda.so.1" -ldl \
    -lpthread >>"$work/said" 2>&1 || cat "$work/said"
says "a bundle" "0, 0 bad" env LD_LIBRARY_PATH="$work" "$work/add"
grep -q "ld.global.nc" "$work/bundle/vector_add.ptx" && ok || bad "__restrict__" "no load of vector_add is ld.global.nc"
says "its text" "cute.kernel" grep -m1 cute.kernel "$work/bundle/vector_add.cute.py"
same examples/softmax.py M=9 N=65
same examples/reduce.py:row_reduce M=17 N=40 op=absmax
same examples/gemm.py:gemm M=33 N=20 K=40 block_M=32 block_N=24 block_K=16 dtype=float16
if [ -n "$all" ]; then
    for arch in sm_80 sm_90a; do
        while read -r file knobs; do
            built $arch "examples/$file" $knobs
        done <<'X'
copy.py M=70 N=33
transpose.py M=40 N=33 block_M=32 block_N=32
rms_norm.py M=9 N=65
swiglu.py M=9 N=65
layer_norm.py M=9 N=65
reduce.py:column_sum M=70 N=33 block_M=32 block_N=32
cumsum.py M=20 N=33 block_M=16 reverse=True
gemm.py:gemm_nt M=70 N=50 K=90 block_M=64 block_N=64 block_K=32 dtype=bfloat16
gemm_dynamic.py dtype=float16 block_M=32 block_N=32 block_K=32
gemm_splitk.py M=40 N=30 K=200 block_M=32 block_N=32 block_K=32
gemv.py N=33 K=65 block_K=64
dequant_gemm.py M=40 N=50 K=128 block_M=32 block_N=32 block_K=64
flash_attention.py S=70 H=1 D=32 block_M=32 block_N=32 causal=True dtype=float16
flash_decoding.py S=100 B=1 H=2 D=32 block_N=32
linear_attention.py S=50 D=16 DV=16 chunk=16 dtype=float16
X
    done
    while read -r run; do
        same $run
    done <<'X'
examples/rms_norm.py M=9 N=65
examples/cumsum.py M=20 N=33 block_M=16 reverse=True
examples/gemm.py:gemm M=33 N=20 K=40 block_M=32 block_N=24 block_K=16
examples/flash_attention.py S=70 H=1 D=32 block_M=32 block_N=32 causal=True dtype=float16
test/kernel/halves.py:product
test/kernel/atomics.py:element
test/kernel/int_edges.py:pairs dtype=int8
test/kernel/int_edges.py:constants dtype=int64
test/kernel/math_int.py:powers dtype=uint16
test/kernel/loops.py:breaks N=50
test/kernel/users_loops.py:steps lo=3 hi=44
X
fi
echo "$passed passed, $failed failed"
