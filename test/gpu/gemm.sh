#!/bin/sh
# Usage: gemm.sh TL  -- products on matrix instructions: the instruction that was chosen, and the
# answers of every pass in the simulator.  Lines: architecture, a word of the plan (_ is a space),
# file, knobs.
tl=$1
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0
while read -r arch word file knobs; do
    [ -n "$file" ] || continue
    word=$(echo "$word" | tr _ ' ')
    text=$(timeout "${TEST_SECONDS:-60}" "$tl" build "$file" $knobs --target "cuda -arch=$arch" --plans --check-each --check-text 2>&1)
    if [ $? = 0 ] && echo "$text" | grep "^  gemm" | grep -q -F "$word"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $file $knobs on $arch (want $word): $(echo "$text" | grep -E '^  gemm|error' | head -3)"
    fi
done <<'X'
sm_80 mma.m16n8k16.f32.f16.f16 examples/gemm.py:gemm M=70 N=50 K=90 block_M=64 block_N=64 block_K=32 dtype=float16
sm_80 mma.m16n8k16.f32.f16.f16 test/kernel/gemm_shapes.py M=40 N=48 K=56 dtype=float16
sm_80 mma.m16n8k16.f32.bf16.bf16 test/kernel/gemm_shapes.py M=40 N=48 K=56 dtype=bfloat16
sm_80 mma.m16n8k8.f32.tf32.tf32 test/kernel/gemm_shapes.py M=40 N=40 K=40 dtype=tfloat32
sm_80 mma.m16n8k32.s32.s8.s8 test/kernel/gemm_shapes.py M=40 N=48 K=70 dtype=int8 accum=int32
sm_80 mma.m16n8k32.s32.u8.u8 test/kernel/gemm_shapes.py M=33 N=40 K=33 dtype=uint8 accum=int32
sm_80 mma.m16n8k64.s32.s4.s4 test/kernel/gemm_shapes.py M=40 N=40 K=70 dtype=int4 accum=int32 bk=64
sm_80 mma.m8n8k4.f64.f64.f64 test/kernel/gemm_shapes.py M=40 N=30 K=40 dtype=float64 accum=float64
sm_90 mma.m16n8k16.f64.f64.f64 test/kernel/gemm_shapes.py M=40 N=30 K=40 dtype=float64 accum=float64
sm_89 mma.m16n8k32.f32.e4m3.e4m3 test/kernel/gemm_shapes.py M=40 N=40 K=70 dtype=float8_e4m3fn
sm_89 mma.m16n8k32.f32.e5m2.e5m2 test/kernel/gemm_shapes.py M=33 N=40 K=40 dtype=float8_e5m2
sm_75 mma.m16n8k8.f32.f16.f16 test/kernel/gemm_shapes.py M=33 N=47 K=65 dtype=float16
sm_75 mma.m8n8k16.s32.s8.s8 test/kernel/gemm_shapes.py M=33 N=47 K=65 dtype=int8 accum=int32
sm_80 mma.m16n8k16.f32.f16.f16 test/kernel/gemm_shapes.py M=40 N=48 K=56 dtype=float16 ta=True
sm_80 mma.m16n8k16.f32.bf16.bf16 test/kernel/gemm_shapes.py M=40 N=48 K=56 dtype=bfloat16 ta=True
sm_80 mma.m16n8k8.f32.tf32.tf32 test/kernel/gemm_shapes.py M=40 N=40 K=40 dtype=tfloat32 ta=True
sm_80 mma.m16n8k32.s32.s8.s8 test/kernel/gemm_shapes.py M=40 N=48 K=70 dtype=int8 accum=int32 ta=True
sm_80 mma.m16n8k32.s32.u8.u8 test/kernel/gemm_shapes.py M=33 N=40 K=33 dtype=uint8 accum=int32 ta=True
sm_80 mma.m16n8k64.s32.s4.s4 test/kernel/gemm_shapes.py M=40 N=40 K=70 dtype=int4 accum=int32 bk=64 ta=True
sm_80 mma.m8n8k4.f64.f64.f64 test/kernel/gemm_shapes.py M=40 N=30 K=40 dtype=float64 accum=float64 ta=True
sm_90 mma.m16n8k16.f64.f64.f64 test/kernel/gemm_shapes.py M=40 N=30 K=40 dtype=float64 accum=float64 ta=True
sm_89 mma.m16n8k32.f32.e4m3.e4m3 test/kernel/gemm_shapes.py M=40 N=40 K=70 dtype=float8_e4m3fn ta=True
sm_89 mma.m16n8k32.f32.e5m2.e5m2 test/kernel/gemm_shapes.py M=33 N=40 K=40 dtype=float8_e5m2 ta=True
sm_75 mma.m16n8k8.f32.f16.f16 test/kernel/gemm_shapes.py M=33 N=47 K=65 dtype=float16 ta=True
sm_75 mma.m8n8k16.s32.s8.s8 test/kernel/gemm_shapes.py M=33 N=47 K=65 dtype=int8 accum=int32 ta=True
sm_80 mma.m16n8k16.f32.f16.f16 test/kernel/gemm_shapes.py M=40 N=48 K=56 dtype=float16 tb=True
sm_80 mma.m16n8k16.f32.bf16.bf16 test/kernel/gemm_shapes.py M=40 N=48 K=56 dtype=bfloat16 tb=True
sm_80 mma.m16n8k8.f32.tf32.tf32 test/kernel/gemm_shapes.py M=40 N=40 K=40 dtype=tfloat32 tb=True
sm_80 mma.m16n8k32.s32.s8.s8 test/kernel/gemm_shapes.py M=40 N=48 K=70 dtype=int8 accum=int32 tb=True
sm_80 mma.m16n8k32.s32.u8.u8 test/kernel/gemm_shapes.py M=33 N=40 K=33 dtype=uint8 accum=int32 tb=True
sm_80 mma.m16n8k64.s32.s4.s4 test/kernel/gemm_shapes.py M=40 N=40 K=70 dtype=int4 accum=int32 bk=64 tb=True
sm_80 mma.m8n8k4.f64.f64.f64 test/kernel/gemm_shapes.py M=40 N=30 K=40 dtype=float64 accum=float64 tb=True
sm_90 mma.m16n8k16.f64.f64.f64 test/kernel/gemm_shapes.py M=40 N=30 K=40 dtype=float64 accum=float64 tb=True
sm_89 mma.m16n8k32.f32.e4m3.e4m3 test/kernel/gemm_shapes.py M=40 N=40 K=70 dtype=float8_e4m3fn tb=True
sm_89 mma.m16n8k32.f32.e5m2.e5m2 test/kernel/gemm_shapes.py M=33 N=40 K=40 dtype=float8_e5m2 tb=True
sm_75 mma.m16n8k8.f32.f16.f16 test/kernel/gemm_shapes.py M=33 N=47 K=65 dtype=float16 tb=True
sm_75 mma.m8n8k16.s32.s8.s8 test/kernel/gemm_shapes.py M=33 N=47 K=65 dtype=int8 accum=int32 tb=True
sm_80 mma.m16n8k16.f32.f16.f16 test/kernel/gemm_shapes.py M=40 N=48 K=56 dtype=float16 ta=True tb=True
sm_80 mma.m16n8k16.f32.bf16.bf16 test/kernel/gemm_shapes.py M=40 N=48 K=56 dtype=bfloat16 ta=True tb=True
sm_80 mma.m16n8k8.f32.tf32.tf32 test/kernel/gemm_shapes.py M=40 N=40 K=40 dtype=tfloat32 ta=True tb=True
sm_80 mma.m16n8k32.s32.s8.s8 test/kernel/gemm_shapes.py M=40 N=48 K=70 dtype=int8 accum=int32 ta=True tb=True
sm_80 mma.m16n8k32.s32.u8.u8 test/kernel/gemm_shapes.py M=33 N=40 K=33 dtype=uint8 accum=int32 ta=True tb=True
sm_80 mma.m16n8k64.s32.s4.s4 test/kernel/gemm_shapes.py M=40 N=40 K=70 dtype=int4 accum=int32 bk=64 ta=True tb=True
sm_80 mma.m8n8k4.f64.f64.f64 test/kernel/gemm_shapes.py M=40 N=30 K=40 dtype=float64 accum=float64 ta=True tb=True
sm_90 mma.m16n8k16.f64.f64.f64 test/kernel/gemm_shapes.py M=40 N=30 K=40 dtype=float64 accum=float64 ta=True tb=True
sm_89 mma.m16n8k32.f32.e4m3.e4m3 test/kernel/gemm_shapes.py M=40 N=40 K=70 dtype=float8_e4m3fn ta=True tb=True
sm_89 mma.m16n8k32.f32.e5m2.e5m2 test/kernel/gemm_shapes.py M=33 N=40 K=40 dtype=float8_e5m2 ta=True tb=True
sm_75 mma.m16n8k8.f32.f16.f16 test/kernel/gemm_shapes.py M=33 N=47 K=65 dtype=float16 ta=True tb=True
sm_75 mma.m8n8k16.s32.s8.s8 test/kernel/gemm_shapes.py M=33 N=47 K=65 dtype=int8 accum=int32 ta=True tb=True
sm_80 mma.m16n8k16.f16.f16.f16 test/kernel/gemm_shapes.py M=33 N=40 K=70 dtype=float16 accum=float16
sm_75 mma.m16n8k8.f16.f16.f16 test/kernel/gemm_shapes.py M=33 N=40 K=40 dtype=float16 accum=float16
sm_80 mma.m16n8k16.f32.f16.f16 test/kernel/gemm_shapes.py M=100 N=100 K=50 dtype=float16 bm=64 bn=24
sm_80 mma.m16n8k16.f32.f16.f16 test/kernel/gemm_shapes.py M=100 N=100 K=50 dtype=float16 bm=16 bn=40
sm_80 mma.m16n8k8.f32.f16.f16 test/kernel/gemm_shapes.py M=100 N=100 K=50 dtype=float16 bm=24 bn=40 bk=40
sm_80 mma.m16n8k8.f32.f16.f16 test/kernel/gemm_shapes.py M=100 N=100 K=50 dtype=float16 bm=40 bn=20 bk=20
sm_80 mma.m16n8k16.f32.f16.f16 test/kernel/gemm_shapes.py M=100 N=100 K=50 dtype=float16 bm=8 bn=8 bk=48
sm_80 mma.m16n8k16.f32.f16.f16 test/kernel/gemm_shapes.py M=100 N=100 K=50 dtype=float16 bm=160 bn=24 bk=16
sm_80 mma.m16n8k8.f32.f16.f16 test/kernel/gemm_shapes.py M=100 N=100 K=50 dtype=float16 bm=48 bn=96 bk=24
sm_80 mma.m16n8k8.f32.f16.f16 test/kernel/gemm_shapes.py M=100 N=100 K=50 dtype=float16 bm=96 bn=40 bk=17
sm_80 mma.m16n8k16.f32.f16.f16 test/kernel/gemm_shapes.py M=100 N=100 K=50 dtype=float16 bm=16 bn=192 bk=32
sm_80 mma.m8n8k16.s32.s8.s8 test/kernel/gemm_shapes.py M=50 N=50 K=50 bm=24 bn=20 bk=40 dtype=int8 accum=int32
sm_80 scalar test/kernel/gemm_shapes.py M=33 N=40 K=40 dtype=float8_e4m3fn
sm_75 scalar test/kernel/gemm_shapes.py M=33 N=40 K=40 dtype=bfloat16
sm_80 scalar test/kernel/gemm_shapes.py M=33 N=40 K=20 dtype=int16 accum=int32
sm_80 A_in_registers test/kernel/gemm_operands.py:register_a dtype=float16
sm_80 A_in_registers test/kernel/gemm_operands.py:register_a dtype=bfloat16 bk=40
sm_80 high_and_low_parts test/kernel/gemm_operands.py:clears precision=float32
sm_80 mma.sync test/kernel/gemm_operands.py:epilogue
sm_80 mma.sync test/kernel/gemm_operands.py:epilogue dtype=bfloat16 M=65
sm_80 A_in_registers test/kernel/gemm_operands.py:chain dtype=float16
sm_80 A_in_registers test/kernel/gemm_operands.py:chain dtype=float16 bm=32 D=32
sm_80 A_in_registers test/kernel/gemm_operands.py:chain dtype=bfloat16 bm=64 D=40
sm_80 high_and_low_parts test/kernel/gemm_shapes.py M=40 N=48 K=56 precision=float32
sm_80 high_and_low_parts test/kernel/gemm_shapes.py M=40 N=48 K=56 ta=True precision=float32
sm_80 high_and_low_parts test/kernel/gemm_shapes.py M=40 N=48 K=56 tb=True precision=float32
sm_80 high_and_low_parts test/kernel/gemm_shapes.py M=40 N=48 K=56 ta=True tb=True precision=float32
sm_80 high_and_low_parts test/kernel/gemm_shapes.py M=40 N=48 K=56 bm=40 bn=24 bk=20 precision=float32
sm_75 scalar test/kernel/gemm_shapes.py M=20 N=20 K=20
sm_80 high_and_low_parts test/kernel/gemm_infinite.py precision=float32
sm_80 mma.m16n8k16.f32.f16.f16 test/kernel/gemm_infinite.py dtype=float16
sm_80 A_in_registers test/kernel/gemm_operands.py:register_a
sm_80 high_and_low_parts test/kernel/gemm_operands.py:strips precision=float32
sm_90 mma.m16n8k16.f32.f16.f16 test/kernel/gemm_operands.py:epilogue
sm_90a mma.sync test/kernel/gemm_operands.py:epilogue bm=64 bn=64 M=70 N=72 dtype=bfloat16
sm_90a mma.sync examples/gemm.py:gemm M=70 N=50 K=60 block_M=32 block_N=48 block_K=32 dtype=float16
sm_90a m64n16k16 examples/gemm.py:gemm_nt M=16 N=128 K=256 block_M=16 block_N=64 block_K=64 swap=True dtype=bfloat16
sm_90a m64n128k16 examples/gemm.py:gemm_nt M=100 N=130 K=500 block_M=128 block_N=128 block_K=64 threads=256 split=2 dtype=float16
sm_90a m64n104k16 examples/gemm.py:gemm_nt M=100 N=120 K=520 block_M=104 block_N=64 block_K=64 swap=True split=4 dtype=bfloat16
sm_90a m64n72k16 examples/gemm.py:gemm_nt M=65 N=70 K=130 block_M=72 block_N=64 block_K=64 swap=True split=2 widen=False dtype=bfloat16
sm_90a m64n136k16 examples/gemm.py:gemm_nt M=129 N=70 K=200 block_M=136 block_N=128 block_K=64 num_stages=3 threads=256 swap=True widen=False dtype=bfloat16
sm_90a m64n72k16 examples/gemm.py:gemm M=70 N=90 K=21 dtype=bfloat16
sm_90a mma.m16n8k16 examples/gemm.py:gemm_relu M=37 N=1 K=165 dtype=bfloat16
sm_80 1_x_4_warps_of_80_x_32 test/kernel/gemm_shapes.py M=100 N=100 K=50 bm=72 bn=100 bk=40 dtype=float16
sm_80 1_x_3_warps_of_16_x_16 test/kernel/gemm_shapes.py M=40 N=60 K=30 bm=16 bn=40 bk=16 dtype=float16
sm_80 mma.m16n8k32.s32.s8.u8 test/kernel/gemm_mixed.py M=33 N=40 K=70
sm_80 mma.m16n8k32.s32.u8.s8 test/kernel/gemm_mixed.py ta=uint8 tb=int8 transposed=True M=33 N=40 K=70
sm_75 mma.m8n8k16.s32.u8.s8 test/kernel/gemm_mixed.py ta=uint8 tb=int8 M=33 N=40 K=70
sm_89 mma.m16n8k32.f32.e4m3.e5m2 test/kernel/gemm_mixed.py ta=float8_e4m3fn tb=float8_e5m2 accum=float32 transposed=True M=33 N=40 K=70
sm_89 A_in_registers test/kernel/gemm_mixed.py ta=float8_e5m2 tb=float8_e4m3fn accum=float32 registers=True M=33 N=40 K=70
X

# Operands and results that move by matrices meet no bank twice.  Lines: architecture, source line of
# the operator, file, knobs.
while read -r arch line file knobs; do
    [ -n "$file" ] || continue
    text=$(timeout "${TEST_SECONDS:-60}" "$tl" run "$file" $knobs --sim --sim-stats --target "cuda -arch=$arch" 2>&1)
    counts=$(echo "$text" | awk -v line="$line" '$1 == line { print ($2 > 0), $3 }')
    if [ "$counts" = "1 0" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL conflicts of $file $knobs on $arch: '$counts' $(echo "$text" | grep error | head -1)"
    fi
done <<'X'
sm_80 54 test/kernel/gemm_shapes.py bm=64 bn=64 dtype=float16
sm_80 54 test/kernel/gemm_shapes.py bm=64 bn=64 dtype=float16 ta=True
sm_80 54 test/kernel/gemm_shapes.py bm=64 bn=64 dtype=bfloat16 tb=True bk=64
sm_80 54 test/kernel/gemm_shapes.py bm=64 bn=64 dtype=float16 ta=True tb=True
sm_80 54 test/kernel/gemm_shapes.py bm=64 bn=64 dtype=float16 bk=16
sm_80 54 test/kernel/gemm_shapes.py bm=64 bn=64 dtype=int8 accum=int32 tb=True bk=64
sm_80 54 test/kernel/gemm_shapes.py bm=64 bn=64 dtype=tfloat32 tb=True
sm_75 54 test/kernel/gemm_shapes.py bm=64 bn=64 dtype=float16
sm_90a 19 test/plan/stmatrix.py
X

# Both the threads and the warp that brings the tiles wait for the launch before, and nothing is read
# through a cache that does not see its writes.
text=$("$tl" build test/gpu/kernel/pdl.py --target "cuda -arch=sm_90a" --source 2>&1)
n=$(echo "$text" | grep -c '^ *tl_cudaGridDependencySynchronize();\|__restrict__')
if [ "$n" = 2 ]; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "FAIL pdl: $n waits or restricted tensors"
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
