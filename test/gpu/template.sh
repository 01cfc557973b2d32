#!/bin/sh
# Usage: template.sh TL  -- kernels for the made-up GPU of src/target/template: their text runs on this machine, thread by
# thread, and gives what the simulator gives; what its language has no words for is refused.
tl=$1
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0

# check WORDS…: as a line of X below
check() {
    tag=
    case $1 in --*) tag=${1#--}; shift ;; esac
    text=$(timeout "${TEST_SECONDS:-120}" "$tl" verify "$@" -q --target template 2>&1)
    code=$?
    case $tag:$code:$text in
    :0:*PASS* | ?*:1:*"[$tag]"*) passed=$((passed + 1)) ;;
    *) failed=$((failed + 1)); echo "FAIL $*: $text" ;;
    esac
}

while read -r line; do
    [ -z "$line" ] || check $line
done <<'X'
examples/vector_add.py N=1000 block_N=512
examples/transpose.py M=40 N=33 block_M=32 block_N=32
examples/softmax.py M=9 N=65
test/kernel/uneven_barriers.py:bitonic
examples/reduce.py:row_reduce M=17 N=40 op=absmax
examples/cumsum.py M=20 N=33 block_M=16 reverse=True
examples/gemm.py:gemm M=40 N=50 K=33 block_M=32 block_N=32 block_K=32 dtype=bfloat16
examples/gemm.py:gemm_nt M=33 N=20 K=40 block_M=32 block_N=24 block_K=16 dtype=int8
examples/gemm_dynamic.py M=40 N=33 K=50 dtype=float16 block_M=32 block_N=32 block_K=32
examples/gemm_splitk.py M=40 N=30 K=200 block_M=32 block_N=32 block_K=32
examples/flash_attention.py S=33 H=2 D=16 block_M=16 block_N=32 groups=2 window=8 causal=True
test/kernel/addresses.py:window
--unsupported-here test/kernel/async_copy.py:two_groups
--unsupported-here test/kernel/annotated_ring.py
--unsupported-here test/kernel/ldmatrix.py:words
X
text=$("$tl" bench examples/vector_add.py N=1000 block_N=512 -q --target template 2>&1)
case $text in
*"whose times say nothing [not-built]"*) passed=$((passed + 1)) ;;
*) failed=$((failed + 1)); echo "FAIL tl bench: $text" ;;
esac
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
