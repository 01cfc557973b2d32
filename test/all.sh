#!/bin/sh
# all.sh -- the parts of the suite one after the other, then their sum on a line of its own.
#
# Usage: all.sh BUILD           what `make test` runs
#        all.sh BUILD --full    more: sanitizers, each opt_ pass left out, older machines, fuzzing
# A part prints "N passed, M failed" last; one that prints no count is one test.
cd "$(dirname "$0")/.." || exit 2
build=$1 full=${2:-}
tl=$build/tl
log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT
export TILELANG_CACHE_DIR="$build/cache"
case $TILELANG_CACHE_DIR in /*) ;; *) TILELANG_CACHE_DIR=$PWD/$TILELANG_CACHE_DIR ;; esac
passed=0 failed=0
nvrtc=$(sh tools/nvrtc.sh "$tl" 2>/dev/null) && [ -n "$nvrtc" ] && export TILELANG_NVRTC="$nvrtc"

# part NAME COMMAND…
part() {
    name=$1
    shift
    start=$(date +%s)
    "$@" >"$log" 2>&1 </dev/null
    code=$?
    count=$(sed -nE 's/^([a-z]+: )?([0-9]+) passed, ([0-9]+) failed$/\2 \3/p' "$log" | tail -n 1)
    if [ -z "$count" ]; then
        count="$((code == 0)) $((code != 0))"
    elif [ $code != 0 ] && [ "${count#* }" = 0 ]; then
        count="${count% *} 1"
    fi
    [ "${count#* }" = 0 ] || sed -E '/^([a-z]+: )?[0-9]+ passed, [0-9]+ failed$/d' "$log"
    echo "$name: ${count% *} passed, ${count#* } failed, $(($(date +%s) - start)) s"
    passed=$((passed + ${count% *}))
    failed=$((failed + ${count#* }))
}

seeds() { ls "$@" 2>/dev/null; }
python_seeds=$(seeds examples/*.py test/kernel/*.py test/front/*.py test/error/*.py)
tile_seeds=$(seeds test/pass/*/*.tile)
fuzz() { # SECONDS BUILD
    part "fuzz lexer" "$2/fuzz_lex" "$1" $python_seeds
    part "fuzz parser" "$2/fuzz_parse" "$1" $python_seeds
    part "fuzz IR reader" "$2/fuzz_read" "$1" $tile_seeds
}

part layers sh tools/layers.sh
part sizes sh tools/sizes.sh
part lint sh tools/lint.sh
part docs sh tools/docs.sh "$tl" --check
part unit "$build/unit"
part golden "$build/golden"
part "command line" env TL="$tl" sh test/cli/run.sh
part examples python3 test/examples/check.py "$tl"
part "GPU bundles" sh test/gpu/bundle.sh "$tl"
part numpy python3 test/numpy/check.py "$tl"
part "Python package" env PYTHONPATH="$build/py" python3 test/py/run.py
part "type stubs" env PYTHONPATH="$build/py" python3 tools/stubs.py --check
part "documents" sh test/doc/check.sh "$tl" doc/language.md
part "GPU lowering" sh test/gpu/lower.sh "$tl"
part "GPU reductions" sh test/gpu/reduce.sh "$tl"
part "GPU pipelines" sh test/gpu/pipeline.sh "$tl"
part "GPU products" sh test/gpu/gemm.sh "$tl"
part "users' reports" python3 test/users/check.py "$tl"
part "random kernels" python3 test/random/run.py "$tl" --count 200
part "GPU mutants" "$build/mutate" -s test/mutate/kernels.txt
part "GPU plans" python3 test/gpu/plans.py "$tl"
part "kernels on GPUs" sh test/gpu/kernels.sh "$tl"
part "GPU text" sh test/gpu/nvrtc.sh "$tl"
part "cache under fire" "$build/stress_cache" -p 8 -k 4
fuzz 2 "$build"
part "mutants" python3 test/fuzz/mutate.py "$tl" --count 200 --limit 20

if [ "$full" = --full ]; then
    for pass in $("$tl" dump --passes | grep -oE '\bopt_[a-z]+'); do
        part "without $pass" "$build/golden" -x "$pass" kernel/
    done
    for level in x86-64-v2 x86-64-v3; do
        part "for $level" "$build/golden" -m "cpu -mcpu=$level" kernel/
    done
    part "more random kernels" python3 test/random/run.py "$tl" --from 201 --count 1800
    part "sanitized unit" env ASAN_OPTIONS=detect_leaks=0 "$build/asan/unit" -t 600
    part "sanitized golden" "$build/asan/golden" -t 600
    part "GPU schedules" sh test/gpu/schedules.sh "$tl"
    part "all GPU mutants" "$build/mutate" test/mutate/kernels.txt
    part "cache under heavy fire" "$build/stress_cache" -p 32 -k 20
    fuzz 600 "$build/asan"
    part "sanitized mutants" python3 test/fuzz/mutate.py "$build/asan/tl" --count 20000 --limit 20
fi

echo "$passed passed, $failed failed"
[ $failed = 0 ]
