#!/bin/sh
# Usage: reduce.sh TL  -- reductions and scans lowered to threads: the mechanism is the one named, and every
# pass gives the tile form's answer.  FILE KNOBS… | text that the plan or the code must hold
tl=$1
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0
while read -r line; do
    [ -n "$line" ] || continue
    what=${line%%|*} want=${line#*| }
    for arch in sm_80 sm_90a; do
        if ! text=$(timeout "${TEST_SECONDS:-60}" "$tl" build test/$what --target "cuda -arch=$arch" --check-each --check-text --plans --source 2>&1); then
            failed=$((failed + 1))
            echo "FAIL $what on $arch: $text"
        elif ! echo "$text" | grep -qF "$want"; then
            failed=$((failed + 1))
            echo "FAIL $what on $arch: no '$want' in:" "$(echo "$text" | grep ': shuffle\|: plain')"
        else
            passed=$((passed + 1))
        fi
    done
done <<'X'
gpu/kernel/reduce.py:rows M=16 N=64 op=max clear=False | lanes xor 1, 2, 4, 8
gpu/kernel/reduce.py:rows M=16 N=64 threads=32 op=absmax dtype=float16 out=float16 | shuffle
gpu/kernel/reduce.py:rows M=16 N=64 dim=0 out=float16 | lanes xor 16, 4 parts
gpu/kernel/reduce.py:rows M=1 N=8192 threads=256 | 8 parts
gpu/kernel/reduce.py:rows M=1 N=1536 threads=96 op=min | 3 parts
gpu/kernel/reduce.py:rows M=4 N=1024 threads=160 dtype=float16 | shuffle
gpu/kernel/reduce.py:rows M=3 N=33 threads=96 | shuffle
gpu/kernel/reduce.py:rows M=8 N=48 threads=384 dtype=int32 out=int32 | shuffle
gpu/kernel/own_sums.py | part: fragment float32[128, 2], fragment[128, 2] threads 128 (i, j) -> thread i, slot (j)
gpu/kernel/own_sums.py M=57 N=61 K=40 | part: fragment float32[128, 2], fragment[128, 2] threads 128 (i, j) -> thread i, slot (j)
gpu/kernel/own_sums.py b=128 M=100 | part: fragment float32[128, 2], fragment[128, 2] threads 128
gpu/kernel/reduce.py:rows M=64 N=24 threads=512 dim=0 op=max clear=False | shuffle
gpu/kernel/reduce.py:flat N=16 | lanes xor 1, 2, 4, 8
gpu/kernel/reduce.py:flat N=64 | 2 parts
gpu/kernel/reduce.py:flat N=100 | 4 parts
gpu/kernel/reduce.py:flat N=1000 threads=96 | 3 parts
gpu/kernel/reduce.py:flat N=7 threads=80 | shuffle
gpu/kernel/reduce.py:shared | 1 part of each
gpu/kernel/reduce.py:shared M=1 | 1 part of each
gpu/kernel/reduce.py:shared M=128 N=16 threads=384 | shuffle
gpu/kernel/reduce.py:shared M=13 N=200 threads=64 | shuffle
gpu/kernel/reduce.py:of_view | reduce v, y (line 88): shuffle
gpu/kernel/reduce.py:of_view N=96 Q=3 H=24 threads=96 | reduce v, y (line 88): shuffle
gpu/kernel/reduce.py:of_view N=128 Q=1 H=64 threads=256 dtype=bfloat16 | reduce v, y (line 88): shuffle
gpu/kernel/reduce.py:of_view wide=True | reduce u, z (line 84): shuffle
gpu/kernel/reduce.py:of_view scan=True | scan u, u (line 79): scan
gpu/kernel/scan.py M=64 N=200 threads=160 | scan
kernel/reducers.py:reducers op=sum M=64 N=128 | contributions to a reducer: shuffle
kernel/reducers.py:reducers op=max seed=True N=97 | contributions to a reducer
kernel/reducers.py:reducers op=bitxor dtype=int32 | contributions to a reducer
kernel/reducers.py:reducers op=sum M=1 N=1 | contributions to a reducer
gpu/kernel/scan.py | scan, 16 lanes to a line, 8 slots
gpu/kernel/scan.py dim=0 reverse=True most=True | scan, 16 lanes
gpu/kernel/scan.py M=5 N=33 threads=96 | scan, 16 lanes to a line, 3 slots
gpu/kernel/scan.py shared=True M=3 N=1000 reverse=True | scan, 32 lanes
gpu/kernel/scan.py twice=True | scan y, y (line 23): scan
gpu/kernel/scan.py dtype=float16 M=24 N=40 threads=160 | scan
gpu/kernel/scan.py M=64 N=7 threads=32 | scan, 1 lanes
gpu/kernel/scan.py shared=True dim=0 M=100 N=12 threads=80 | scan
kernel/names_threads.py:sums | 128 threads
kernel/names_threads.py:sums lanes=64 R=2 K=128 | 128 threads
kernel/names_threads.py:sums lanes=128 R=1 K=256 | 128 threads
kernel/names_threads.py:sums lanes=24 R=4 | 96 threads
gpu/kernel/atomic.py:tile | tl_add_run_f32_4(
gpu/kernel/atomic.py:tile out=float16 dtype=float16 | tl_add_run_f16_8(
gpu/kernel/atomic.py:tile out=bfloat16 | tl_add_run_bf16_4(
gpu/kernel/atomic.py:tile N=33 M=9 threads=96 | atomicAdd(
gpu/kernel/atomic.py:pairs | tl_add_run_f16_2(
gpu/kernel/atomic.py:pairs width=4 dtype=float32 | tl_add_run_f32_4(
../examples/transpose.py M=70 N=41 | (i * 65 + j) "padded"
../examples/transpose.py M=70 N=40 dtype=float16 | (i * 66 + j) "padded"
../examples/softmax.py M=3 N=4096 block_M=1 threads=64 dtype=bfloat16 | *(uint4 *)&Y[
gpu/kernel/found.py | any_of x, any (line 21): vote
gpu/kernel/found.py all_of=True threads=96 | any_of x, all (line 19): vote
gpu/kernel/found.py shared=True threads=80 | vote
X
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
