#!/bin/sh
# Usage: hip.sh TL        -- what we emit for AMD GPUs: right in the simulator, its text right on the host, and compiled by clang without
#                           a warning.  A sample of the runs of test/kernel (all of them but for clang: kernels.sh TL gfx942);
#        hip.sh TL all    -- all of them, compiled
#        hip.sh TL code   -- what the machine code of a few must have, and nothing else
# Where clang-19 is missing, tools/install.sh has said so: then nothing is counted.  gfx950 takes a later clang (tools/zig.sh, which
# `make test-full` fetches): without it that part is left out.
tl=$1 every=24
[ "${2:-}" = all ] && every=1
cd "$(dirname "$0")/../.." || exit 2
if "$tl" build examples/vector_add.py -q --no-cache --target "hip -mcpu=gfx942" 2>&1 | grep -q no-hip-compiler; then
    echo "0 passed, 0 failed"
    exit 0
fi
log=$(mktemp -d) || exit 2
trap 'rm -rf "$log"' EXIT

# check ARCH FILE[:FUNCTION] KNOBS…
check() {
    arch=$1
    shift
    text=$(timeout "${TEST_SECONDS:-300}" "$tl" build "$@" -q --target "hip -mcpu=$arch" 2>&1 >/dev/null)
    code=$?
    if [ $code = 0 ] && [ $every -gt 1 ]; then
        text=$text$(timeout "${TEST_SECONDS:-300}" "$tl" verify "$@" -q --sim --text --target "hip -mcpu=$arch" 2>&1 >/dev/null)
        code=$?
    fi
    if [ $code = 0 ] && [ -z "$(echo "$text" | grep '\[compiler-warning\]')" ]; then
        echo ok
    else
        echo "FAIL $* on $arch: $text"
    fi
}

# runs: FILE[:FUNCTION] KNOBS, a line each; those that are refused on AMD's are left out
runs() {
    for file in test/kernel/*.py; do
        grep -qE '^# (fails|refused):' "$file" && continue
        sed -n 's/^# verify: *//p' "$file" | grep -v -e '--hip=' -e '--gfx' | while read -r line; do
            func= knobs=
            for word in $line; do
                case $word in
                :*) func=$word ;;
                -*) ;;
                *) knobs="$knobs $word" ;;
                esac
            done
            echo "$file$func$knobs"
        done
    done
}

# part ARCH FIRST
part() {
    awk "NR % $every == $2 % $every" "$log/runs" | while read -r line; do
        check "$1" $line
    done
}

# code ARCH FILE KNOBS…: the machine code
code() {
    arch=$1
    shift
    "$tl" build "$@" -q --target "hip -mcpu=$arch" --aligned-only -o "$log/bundle" >/dev/null && llvm-objdump-19 -d "$log"/bundle/*.co
}

# reads WANTED UNWANTED KNOBS…: how the operands of a GEMM come to the lanes
reads() {
    wanted=$1 unwanted=$2
    shift 2
    text=$(code gfx942 test/gpu/kernel/operands.py "$@")
    if echo "$text" | grep -q "$wanted" && ! echo "$text" | grep -q "$unwanted"; then
        echo ok
    else
        echo "FAIL operands.py $*: not $wanted, or $unwanted"
    fi
    check gfx942 test/gpu/kernel/operands.py "$@"
}

operands() {
    reads ds_read_b128 ds_read.*_b64 tb=True pack=2
    reads ds_read.*_b32 ds_read_u tb=False # B stored K x N: columns of two tiles take turns
    reads ds_read.*_b32 ds_read_u ta=True tb=True
}

samples() {
    runs >"$log/runs"
    part gfx90a 1 >"$log/a" &
    if clang=$(sh tools/zig.sh); then
        export TILELANG_HIP_CLANG="$clang"
        part gfx950 2 >"$log/c"
        unset TILELANG_HIP_CLANG
    fi
    part gfx942 $((every / 2)) >"$log/b"
    wait
}

# counts WANTED ARCH KNOBS…: copies in flight go past barriers; nothing but the end of the loop waits for all of them
counts() {
    wanted=$1 arch=$2
    shift 2
    text=$(code "$arch" test/gpu/kernel/operands.py "$@" | grep -oE 'global_load_lds_dword(x4)?|vmcnt\([0-9]+\)' | uniq)
    if [ "$(echo $text)" = "$wanted" ]; then
        echo ok
    else
        echo "FAIL operands.py $* on $arch: not '$wanted', but '$(echo $text)'"
    fi
    check "$arch" test/gpu/kernel/operands.py "$@"
}

ahead() {
    counts "global_load_lds_dword vmcnt(16) global_load_lds_dword vmcnt(0)" gfx942 tb=True stages=3 K=512
    if clang=$(sh tools/zig.sh); then
        export TILELANG_HIP_CLANG="$clang"
        check gfx950 test/gpu/kernel/operands.py tb=True stages=3 K=512 # no disassembler of it is here
        check gfx950 test/gpu/kernel/operands.py tb=False
        check gfx950 test/gpu/kernel/operands.py ta=True tb=True
        check gfx950 test/gpu/kernel/operands.py dtype=float8_e4m3fn ta=True
        check gfx950 test/kernel/gemm_scaled.py:tiles M=64 N=64 K=256 bk=128
        check gfx950 test/kernel/gemm_scaled.py:tiles M=48 N=16 K=256 bk=128 grain=64 dtype=float8_e5m2 other=float4_e2m1fn
        unset TILELANG_HIP_CLANG
    fi
}

# uses ARCH WANTED KNOBS…: the instruction is in the machine code
uses() {
    arch=$1 wanted=$2
    shift 2
    if code "$arch" test/gpu/kernel/operands.py "$@" | grep -qE "$wanted"; then
        echo ok
    else
        echo "FAIL operands.py $* on $arch: no $wanted"
    fi
}

instructions() {
    uses gfx90a v_mfma_f32_16x16x16bf16_1k dtype=bfloat16
    uses gfx90a v_mfma_f32_16x16x4f32 dtype=float32 bk=32
    uses gfx90a v_mfma_f64_16x16x4f64 dtype=float64 accum=float64 bk=16
    uses gfx90a v_mfma_i32_16x16x16i8 dtype=int8 accum=int32
    uses gfx942 v_mfma_i32_16x16x32_i8 dtype=int8 accum=int32 tb=True
    uses gfx942 v_mfma_f32_16x16x8_xf32 dtype=tfloat32 bk=32
    uses gfx942 v_mfma_f32_16x16x32_fp8_fp8 dtype=float8_e4m3fnuz tb=True
    uses gfx942 v_mfma_f32_16x16x32_bf8_bf8 dtype=float8_e5m2fnuz tb=True
    uses gfx942 buffer_load_dwordx4 M=100 N=90 K=96
    uses gfx942 'vmcnt\(32\)' tb=True stages=4 K=512 # two tiles in flight behind the one that is waited for
}

# Instructions by hand.
hand() {
    for arch in gfx90a gfx942; do
        check $arch test/gpu/kernel/mfma.py
        check $arch test/gpu/kernel/emitter.py
        check $arch test/gpu/kernel/emitter.py dtype=bfloat16 k_pack=1 shuffle=True
        check $arch test/gpu/kernel/mfma.py size=32 k=8 suffix=f32_32x32x8f16 tile=True
        check $arch test/kernel/async_copy.py:by_thread # gfx90a has no copies in flight
    done
    check gfx942 test/gpu/kernel/mfma.py dtype=float8_e5m2fnuz suffix=f32_16x16x32_bf8_bf8 k=32
    check gfx942 test/gpu/kernel/mfma.py dtype=int8 accum=int32 suffix=i32_32x32x16_i8 size=32 k=16
}

# Loops that do not run, and a kernel without statements.
nothing() {
    for run in "rounds n=0" "rounds n=0 stages=3" "rounds n=1" nothing; do
        text=$("$tl" verify test/gpu/kernel/no_rounds.py:$run -q --sim --text --target "hip -mcpu=gfx942" 2>&1) && echo ok || echo "FAIL no_rounds.py:$run: $text"
    done
}

# Clang sees flags that a pass config asks for.
flags() {
    text=$("$tl" build examples/vector_add.py -q --target "hip -mcpu=gfx942" -c tl.device_compile_flags=--bogus 2>&1)
    case $text in
    *"unknown argument: '--bogus'"*) echo ok ;;
    *) echo "FAIL a flag for clang: $text" ;;
    esac
}

operands >"$log/d"
flags >>"$log/d"
instructions >>"$log/d"
hand >>"$log/d"
nothing >>"$log/d"
ahead >>"$log/d"
[ "${2:-}" = code ] || samples
grep -hv '^ok$' "$log"/[abcd]
passed=$(cat "$log"/[abcd] | grep -c '^ok$')
failed=$(cat "$log"/[abcd] | grep -c '^FAIL')
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
