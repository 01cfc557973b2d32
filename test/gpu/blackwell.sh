#!/bin/sh
# Usage: blackwell.sh TL       -- sm_100a, sm_103a, sm_120a, sm_121a: a sample of the runs of test/kernel compiled by NVRTC, simulated, and its
#                                 text run on the host; kernels whose machine code must hold an instruction; what is refused
#        blackwell.sh TL all   -- all of the runs
# Nothing here runs on such a GPU.
tl=$1 every=60
[ "${2:-}" = all ] && every=1
cd "$(dirname "$0")/../.." || exit 2
lib=$(sh tools/nvrtc.sh "$tl") || { echo "0 passed, 0 failed"; exit 0; }
[ -n "$lib" ] && export TILELANG_NVRTC="$lib"
nvdisasm=$(sh tools/nvdisasm.sh)
log=$(mktemp -d) || exit 2
trap 'rm -rf "$log"' EXIT

# check ARCH FILE[:FUNCTION] KNOBS…
check() {
    arch=$1
    shift
    text=$(timeout "${TEST_SECONDS:-300}" "$tl" build "$@" -q --no-cache --target "cuda -arch=$arch" 2>&1 >/dev/null) &&
        text=$text$(timeout "${TEST_SECONDS:-300}" "$tl" build "$@" -q --target "cuda -arch=$arch" --check-each --check-text --source 2>&1 >/dev/null)
    if [ $? = 0 ] && [ -z "$(echo "$text" | grep '\[compiler-warning\]')" ]; then
        echo ok
    else
        echo "FAIL $* on $arch: $text"
    fi
}

# runs ARCH: TAG FILE[:FUNCTION] KNOBS, a line each; TAG: it is refused there with that one, "-": it is not
runs() {
    for file in test/kernel/*.py; do
        grep -qE '^# (fails|refused):' "$file" && continue
        sed -n 's/^# verify: *//p' "$file" | while read -r line; do
            func= knobs= tag=-
            for word in $line; do
                case $word in
                :*) func=$word ;;
                --cuda=* | --$1=*) tag=${word#*=} ;;
                -*) ;;
                *) knobs="$knobs $word" ;;
                esac
            done
            echo "$tag $file$func$knobs"
        done
    done
}

# part ARCH FIRST
part() {
    runs "$1" | awk "NR % $every == $2 % $every" | while read -r tag line; do
        if [ "$tag" = - ]; then check "$1" $line; else refused "$1" "$tag" $line; fi
    done
}

# has ARCH INSTRUCTIONS FILE[:FUNCTION] KNOBS…  -- its machine code holds them all, and none with a ! before it; it is right in the
#                                                  simulator, and so is its text
has() {
    arch=$1 wanted=$2
    shift 2
    rm -rf "$log/o"
    text=$(timeout "${TEST_SECONDS:-300}" "$tl" build "$@" -q --target "cuda -arch=$arch" -o "$log/o" 2>&1 >/dev/null)
    [ -n "$nvdisasm" ] && for cubin in "$log"/o/*.cubin; do "$nvdisasm" "$cubin"; done >"$log/sass" 2>&1
    for word in $wanted; do
        there=no
        grep -q "[ 	]${word#!}[ .]" "$log/sass" 2>/dev/null && there=yes
        case $word in !*) bad=yes ;; *) bad=no ;; esac
        [ -z "$nvdisasm" ] || [ $there != $bad ] || text="$text no: $word and its machine code"
    done
    for how in --sim --text; do
        one=$(timeout "${TEST_SECONDS:-300}" "$tl" verify "$@" -q $how --target "cuda -arch=$arch" 2>&1) || text="$text $one"
    done
    if [ -z "$(echo "$text" | grep -e error -e ' no: ' -e FAIL)" ] && [ -d "$log/o" ]; then echo ok; else echo "FAIL $* on $arch: $text"; fi
}

# issues FILE[:FUNCTION] KNOBS…  -- a warp of their own issues its MMAs, and the consumers wait for whole sums; as `has` otherwise
issues() {
    "$tl" build "$@" -q --target "cuda -arch=sm_100a" --source 2>&1 | grep -q 'commit(&sum_full_1\[' || echo "FAIL $*: no issuer"
    has sm_100a "UTCHMMA UTCBAR LDTM !STTM !STL !LDL" "$@"
}

# refused ARCH TAG FILE[:FUNCTION] KNOBS…
refused() {
    arch=$1 tag=$2
    shift 2
    text=$("$tl" build "$@" -q --target "cuda -arch=$arch" --source 2>&1 >/dev/null)
    case $text in *"error: "*"[$tag]"*) echo ok ;; *) echo "FAIL $* on $arch: not refused with [$tag]: $text" ;; esac
}

# fault FILE:FUNCTION NUMBER TAG
fault() {
    text=$("$tl" verify test/gpu/kernel/$1 fault=$2 -q --sim --target "cuda -arch=sm_100a" 2>&1)
    case $text in *"error: "*"[$3]"*) echo ok ;; *) echo "FAIL fault $2 of $1 is not found as [$3]: $text" ;; esac
}

kernels() {
    gemm="M=256 N=256 K=128 block_M=128 block_N=128 block_K=64"
    for arch in sm_100a sm_103a; do
        has $arch "UTCHMMA UTCBAR LDTM" test/kernel/tensor_memory.py:product
    done
    issues examples/gemm.py:gemm $gemm dtype=float16
    issues examples/gemm.py:gemm $gemm dtype=float16 -c tl.cluster=1 -c tl.persistent_blocks=3
    has sm_100a "UTCHMMA USETMAXREG !STL" examples/gemm.py:gemm M=256 N=512 K=192 block_M=128 block_N=256 block_K=64 dtype=float16 threads=256 \
        num_stages=4 -c tl.persistent_blocks=3 -c tl.cluster=1
    has sm_100a "UTCBAR.MULTICAST UTMALDG.2D.MULTICAST" examples/gemm.py:gemm $gemm dtype=float16 -c tl.cluster=2
    has sm_100a "UTCHMMA UTCBAR LDTM UTMALDG" test/kernel/tensor_memory.py:specialised
    t=test/gpu/kernel/tensor_memory.py
    has sm_100a "UTCQMMA" $t:kinds dtype=float8_e4m3fn K=128
    has sm_103a "UTCQMMA" $t:kinds dtype=float8_e5m2 trans_B=False N=128
    has sm_100a "UTCIMMA" $t:kinds dtype=int8 accum=int32
    has sm_100a "UTCHMMA" $t:kinds dtype=float32 K=32
    has sm_100a "UTCHMMA" $t:kinds dtype=bfloat16 M=256 trans_A=True trans_B=False threads=256
    has sm_100a "UTCHMMA LDTM" $t:kinds M=64 N=24
    has sm_100a "UTCHMMA STTM" $t:chain threads=256 N=128
    has sm_100a "UTCHMMA UTMALDG STTM" examples/flash_attention.py S=256 H=1 D=64 block_M=128 block_N=128 dtype=float16
    has sm_100a "UTCHMMA" $t:faulty
    has sm_100a "VOTE LDTM STTM" $t:voted
    issues $t:lengths
    for run in ":left n=0" ":skipped n=4" ":between n=2" ":lengths n=0" ":nested n=0" ":first n=1"; do has sm_100a UTCHMMA test/kernel/sums_unless_left.py$run; done
    refused sm_100a tile-threads $t:voted fault=1
    refused sm_100a tile-threads $t:voted fault=2
    has sm_100a "UTCHMMA LDTM STTM UTMALDG USETMAXREG !STL !LDL" examples/blackwell/flash_attention.py S=256 H=1
    s=test/kernel/gemm_scaled.py
    has sm_100a "UTCQMMA UTCCP" $s:lanes K=512 grain=128 N=256
    has sm_103a "UTCQMMA UTCCP" $s:lanes dtype=float8_e5m2 other=float8_e4m3fn trans_B=False K=256 bk=256
    has sm_100a "UTCOMMA UTCCP" $s:lanes dtype=float4_e2m1fn K=256
    has sm_100a "UTCOMMA UTCCP" $s:lanes dtype=float4_e2m1fn bk=256 K=256 grain=16 N=64 M=256
    has sm_120a "QMMA.SF" $s:tiles
    has sm_121a "QMMA.SF" $s:tiles grain=64 dtype=float8_e5m2 other=float8_e4m3fn M=64 N=64 K=256 bk=64
    has sm_120a "OMMA.SF" $s:tiles grain=32 dtype=float4_e2m1fn M=64 N=64 K=256 bk=128 threads=128
    has sm_120a "OMMA.SF" $s:tiles grain=16 dtype=float4_e2m1fn M=32 N=32 K=128 bk=64 layout=blockscaled_chunk_kmajor
    refused sm_100a unsupported-here $s:lanes grain=64 dtype=float4_e2m1fn
    refused sm_103a unsupported-here $t:kinds dtype=int8 accum=int32
    has sm_100a "UTCHMMA LDTM" $t:kinds accum=float16 M=256 N=256 threads=256
    has sm_103a "UTCQMMA LDTM" $t:kinds accum=float16 dtype=float8_e4m3fn M=64 N=24
    has sm_100a "UTCHMMA LDTM STTM" $t:half_sums
    refused sm_100a unsupported-here $t:half_sums mixed=True
    refused sm_100a unsupported-here $t:kinds accum=float16 dtype=bfloat16
    refused sm_100a unsupported-here $t:kinds dtype=float8_e4m3fn M=64 N=24 trans_B=False
    has sm_100a "UTCHMMA STTM LDTM" $t:overlaid
    refused sm_100a unsupported-here $t:overlaid other=True
    has sm_100a "LDTM STTM" $t:stacked
    has sm_100a "LDTM STTM" $t:stacked M=256 N=16 L=2 threads=256
    has sm_100a "LDTM STTM" $t:stacked M=64 dtype=float16
    has sm_100a "UTCHMMA STTM" $t:from_rows
    has sm_103a "UTCHMMA STTM" $t:from_rows M=128 K=64 dtype=float16
    fault tensor_memory.py:faulty 1 uninitialised
    fault tensor_memory.py:faulty 2 deadlock
    fault tensor_memory.py:faulty 3 missing-wait
    fault tensor_memory.py:faulty 4 missing-wait
    p=test/gpu/kernel/pair.py
    has sm_100a "UTCHMMA.2CTA UTCBAR.2CTA.MULTICAST UTMALDG.2D.2CTA LDTM" $p:product
    has sm_103a "UTCQMMA.2CTA" $p:product dtype=float8_e4m3fn trans_B=True
    has sm_100a "UTCHMMA.2CTA LDTM" $p:persistent
    has sm_100a "UTCHMMA.2CTA UTCBAR.2CTA.MULTICAST" $p:meeting
    has sm_100a "UTCHMMA.2CTA STTM" $p:meeting lanes=True
    has sm_103a "UTCQMMA.2CTA" $p:meeting steps=True dtype=float8_e4m3fn
    fault pair.py:product 1 missing-wait
    fault pair.py:product 2 deadlock
    fault pair.py:product 3 uninitialised
    fault pair.py:product 4 cluster-pair
    refused sm_90a unsupported-here $p:product
    r=test/gpu/kernel/landed.py
    has sm_100a "UTCHMMA UTMALDG.2D !STL" $r:product
    has sm_103a "UTCHMMA" $r:product K=64
    has sm_100a "UTCHMMA.2CTA UTMALDG.2D.2CTA" $r:pair
    for fault in 1 2 3 4 5 6; do refused sm_100a on-chip-bytes $r:product fault=$fault; done
    refused sm_100a on-chip-bytes $r:pair all_commit=True
    n=test/gpu/kernel/unpacked.py
    has sm_100a "UTCQMMA UTMALDG.2D LDTM" $n:product
    has sm_103a "UTCQMMA UTMALDG.2D" $n:product right=True dtype=float8_e5m2
    has sm_100a "UTCQMMA" $n:product both=True K=384
    has sm_100a "UTCQMMA UTMALDG.2D !STL" $n:pipelined
    has sm_103a "UTCQMMA UTMALDG.2D" $n:pipelined right=True dtype=float8_e5m2 num_stages=3 M=200
    has sm_100a "UTCQMMA" $n:pipelined both=True num_stages=0
    has sm_100a "UTCQMMA UTMALDG.2D" $n:pipelined tile=float4_e2m1fn
    has sm_100a "UTCQMMA UTMALDG.2D" $n:pipelined tile=float4_e2m1fn both=True
    has sm_100a "!UTCQMMA" $n:pipelined tile=float4_e2m1fn bk=64
    has sm_100a "!UTCQMMA" $n:pipelined bk=64
    has sm_100a "!UTMALDG" $n:reads own=True
    has sm_100a "!UTCQMMA" $n:from_bytes
    has sm_100a "!UTCQMMA" $n:from_bytes num_stages=0 back=True
    refused sm_100a unsupported-here $n:reads
    refused sm_100a unsupported-here $n:product by_threads=True
    refused sm_100a unsupported-here $n:product K=192 bk=64
    refused sm_90a unsupported-here $n:product
    l=test/gpu/kernel/clc.py
    has sm_100a "UGETNEXTWORKID.SELFCAST" $l:doubled
    has sm_120a "UGETNEXTWORKID.BROADCAST" $l:doubled cluster=2
    fault clc.py:doubled 1 missing-wait
    refused sm_90a unsupported-here $l:doubled
    has sm_120a "HMMA" examples/gemm.py:gemm $gemm dtype=bfloat16
    refused sm_120a unsupported-here test/kernel/tensor_memory.py:product
    refused sm_100 unsupported-here test/kernel/tensor_memory.py:product
    refused sm_60 target-unknown test/kernel/tensor_memory.py:product
    refused sm_zz target-unknown test/kernel/tensor_memory.py:product
}

{ part sm_100a 7; kernels; } >"$log/a" &
part sm_120a 37 >"$log/b"
wait
grep -hv '^ok$' "$log/a" "$log/b"
passed=$(cat "$log/a" "$log/b" | grep -c '^ok$')
failed=$(cat "$log/a" "$log/b" | grep -c '^FAIL')
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
