#!/bin/sh
# Usage: aarch64.sh TL  -- kernels for aarch64: made by a cross compiler, run by QEMU, compared with the simulator.
# Each level runs on a processor that has no more than it says; without the compiler or QEMU only messages are tried.
tl=$1
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export TILELANG_CACHE_DIR="$work/cache"
passed=0 failed=0
pass() { passed=$((passed + 1)); }
fail() { failed=$((failed + 1)); echo "FAIL $*"; }
gemm="M=45 N=50 K=70 block_M=32 block_N=32 block_K=32"

# on LEVEL FILE KNOBS…
on() {
    level=$1
    shift
    case $level in
    armv8-a) export QEMU_CPU=cortex-a57 ;;
    neoverse-n1 | a64fx) export QEMU_CPU=$level ;;
    *) export QEMU_CPU=max ;;
    esac
    text=$(timeout "${TEST_SECONDS:-120}" "$tl" verify "$@" -q --target "cpu -mcpu=$level" 2>&1)
    case $text in
    *"VERIFY: PASS"*) pass ;;
    *) fail "$* on $level: $text" ;;
    esac
}

# has LEVEL WORD COUNT KNOBS…: so many of an instruction are in the code of a GEMM
has() {
    level=$1 word=$2 count=$3
    shift 3
    march=$(sed -n "s/.*{\"$level\", \"\(-march=[^\"]*\)\".*/\1/p" src/target/cpu/arch.c)
    "$tl" build examples/gemm.py:gemm $gemm "$@" -q --target "cpu -mcpu=$level" --source >"$work/k.c" 2>/dev/null
    ${TILELANG_AARCH64_CC:-aarch64-linux-gnu-gcc} -std=gnu11 -O3 -ffp-contract=fast -w $march -S -o "$work/k.s" "$work/k.c"
    n=$(grep -c "^[[:space:]]$word[[:space:]]" "$work/k.s")
    if [ "$n" -ge "$count" ]; then pass; else fail "$n of $word for $level, not $count"; fi
}

# says TAG PATH: what a machine without the tools is told
says() {
    text=$(PATH=$2 "$tl" verify examples/vector_add.py N=100 block_N=64 -q --target "cpu -mcpu=armv8-a" 2>&1)
    case $text in
    *"[$1]"*) pass ;;
    *) fail "no [$1]: $text" ;;
    esac
}

mkdir "$work/bin" "$work/none"
says no-cross-compiler "$work/none"
text=$("$tl" build examples/vector_add.py --target "cpu -mcpu=neoverse-x9" 2>&1)
case $text in *"unknown CPU"*neoverse-n1*"[target-unknown]"*) pass ;; *) fail "neoverse-x9: $text" ;; esac

cc=$(command -v "${TILELANG_AARCH64_CC:-aarch64-linux-gnu-gcc}") || cc=
if [ -n "$cc" ]; then
    printf '#!/bin/sh\nPATH=%s exec %s "$@"\n' "$PATH" "$cc" >"$work/bin/aarch64-linux-gnu-gcc"
    chmod +x "$work/bin/aarch64-linux-gnu-gcc"
    says no-emulator "$work/bin"
    text=$("$tl" build examples/vector_add.py N=100 block_N=64 -q --target "cpu -mcpu=armv8-a" -o "$work/no" 2>&1)
    case $text in *"built on a machine of that kind"*"[bundle-target]"*) pass ;; *) fail "a bundle: $text" ;; esac
    has armv8-a fmla 384 dtype=float32 # 24 sums, 16 steps
    has neoverse-n1 sdot 384 dtype=int8
    has neoverse-v2 smmla 24 dtype=int8
    has neoverse-v2 bfmmla 24 dtype=bfloat16
    has a64fx 'fml[as][[:space:]]z.*' 384 dtype=float32
fi
if [ -n "$cc" ] && { command -v qemu-aarch64-static || command -v qemu-aarch64; } >/dev/null; then
    for dtype in float32 float64 float16 bfloat16 float8_e4m3fn int8; do
        on armv8-a examples/gemm.py:gemm $gemm dtype=$dtype
    done
    on armv8-a examples/softmax.py M=9 N=65
    on armv8-a test/kernel/threads.py:reverse N=100
    on neoverse-n1 examples/gemm.py:gemm_nt $gemm dtype=int8
    on neoverse-n1 examples/flash_attention.py S=70 H=1 D=32 block_M=32 block_N=32 causal=True dtype=float16
    on neoverse-v2 examples/gemm.py:gemm $gemm dtype=int8
    on neoverse-v2 examples/gemm.py:gemm $gemm dtype=bfloat16
    on neoverse-v2 examples/gemm.py:gemm_nt $gemm dtype=bfloat16
    on neoverse-v2 examples/gemm.py:gemm_tn $gemm dtype=int8
    for dtype in float32 float64 float16 bfloat16 int8; do
        on a64fx examples/gemm.py:gemm $gemm dtype=$dtype
    done
    on a64fx examples/softmax.py M=9 N=165
    on a64fx examples/rms_norm.py M=9 N=165
    on a64fx examples/flash_attention.py S=70 H=1 D=32 block_M=32 block_N=32 causal=True
    # Vectors of another length: no wrong numbers.
    text=$(QEMU_CPU=max,sve256=on,sve512=off "$tl" verify examples/softmax.py M=9 N=65 -q --target "cpu -mcpu=a64fx" 2>&1)
    case $text in *"do not have 64 bytes"*) pass ;; *) fail "vectors of 32 bytes: $text" ;; esac
    on apple-m1 test/kernel/assert_holds.py
    # The emulator's times are called that.
    for verb in bench profile; do
        text=$("$tl" $verb examples/vector_add.py N=100 block_N=64 -q --target "cpu -mcpu=armv8-a" 2>&1)
        case $text in *roofline*) fail "tl $verb: $text" ;; *"run here by QEMU, whose times say nothing"*) pass ;; *) fail "tl $verb: $text" ;; esac
    done
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
