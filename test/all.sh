#!/bin/sh
# all.sh -- the parts of the suite one after the other, then their sum on a line of its own.
#
# Usage: all.sh BUILD               what `make test` runs
#        all.sh BUILD --sanitized   what `make test-asan` runs: BUILD has ASan and UBSan in it
#        all.sh BUILD --full        both (BUILD/asan), each opt_ pass left out, older machines, fuzzing
# A part prints "N passed, M failed" last; one that prints no count is one test.  A part that takes
# long says every minute how far its output is.
cd "$(dirname "$0")/.." || exit 2
build=$1 full=${2:-}
tl=$build/tl
log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT
export TILELANG_CACHE_DIR="$build/cache"
case $TILELANG_CACHE_DIR in /*) ;; *) TILELANG_CACHE_DIR=$PWD/$TILELANG_CACHE_DIR ;; esac
passed=0 failed=0
nvrtc=$(sh tools/nvrtc.sh "$tl" 2>/dev/null) && [ -n "$nvrtc" ] && export TILELANG_NVRTC="$nvrtc"

# watch NAME START: until it is killed
watch() {
    while sleep 60; do
        echo "  $1: $(($(date +%s) - $2)) s, $(tail -n 1 "$log" | cut -c 1-90)"
    done
}

# part NAME COMMAND…
part() {
    name=$1
    shift
    start=$(date +%s)
    watch "$name" "$start" &
    watcher=$!
    "$@" >"$log" 2>&1 </dev/null
    code=$?
    kill $watcher && wait $watcher 2>/dev/null
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

# What stands in the tree; no program of ours is tried by it but tl.
tree() {
    part layers sh tools/layers.sh
    part sizes sh tools/sizes.sh
    part lint sh tools/lint.sh
    part docs sh tools/docs.sh "$tl" --check
    part "type stubs" env PYTHONPATH="$build/py" python3 tools/stubs.py --check
}

# suite WORD FOLDER: what runs the programs of a folder.  WORD is put before each name.
suite() {
    its=$2/tl
    part "$1unit" $unit "$2/unit" $slow
    part "$1golden" "$2/golden" $slow
    part "$1command line" env TL="$its" sh test/cli/run.sh
    part "$1examples" python3 test/examples/check.py "$its"
    part "$1GPU bundles" sh test/gpu/bundle.sh "$its"
    part "$1numpy" python3 test/numpy/check.py "$its"
    part "$1Python package" $python PYTHONPATH="$2/py" TL="$2/tl" python3 test/py/run.py
    part "$1documents" sh test/doc/check.sh "$its" doc/language.md
    part "$1GPU lowering" sh test/gpu/lower.sh "$its"
    part "$1GPU reductions" sh test/gpu/reduce.sh "$its"
    part "$1GPU pipelines" sh test/gpu/pipeline.sh "$its"
    part "$1GPU products" sh test/gpu/gemm.sh "$its"
    part "$1GPU limits" sh test/gpu/limits.sh "$its"
    part "$1GPU indices" sh test/gpu/indices.sh "$its"
    part "$1users' reports" python3 test/users/check.py "$its"
    part "$1random kernels" python3 test/random/run.py "$its" --count 200
    part "$1GPU mutants" "$2/mutate" -s test/mutate/kernels.txt
    part "$1GPU plans" python3 test/gpu/plans.py "$its"
    part "$1kernels on GPUs" sh test/gpu/kernels.sh "$its"
    part "$1GPU text" sh test/gpu/nvrtc.sh "$its"
    part "$1cache under fire" "$2/stress_cache" -p 8 -k 4
}

plain_suite() {
    unit= python=env slow=
    suite "" "$build"
}

# Tests of single functions leave their arenas to the end of the process, and Python much more:
# leaks are looked for everywhere else.  Python itself is not sanitized, so the library comes first.
sanitized_suite() { # FOLDER
    library="$(cc -print-file-name=libasan.so):$(cc -print-file-name=libubsan.so)"
    unit="env ASAN_OPTIONS=detect_leaks=0" slow="-t 600"
    python="$unit PYTHONMALLOC=malloc LD_PRELOAD=$library"
    export TEST_SECONDS=900
    suite "sanitized " "$1"
    unset TEST_SECONDS
}

if [ "$full" = --sanitized ]; then
    sanitized_suite "$build"
    part "mutants" python3 test/fuzz/mutate.py "$tl" --count 200 --limit 20
else
    tree
    plain_suite
    fuzz 2 "$build"
    part "mutants" python3 test/fuzz/mutate.py "$tl" --count 200 --limit 20
fi

if [ "$full" = --full ]; then
    for pass in $("$tl" dump --passes | grep -oE '\bopt_[a-z]+'); do
        part "without $pass" "$build/golden" -x "$pass" kernel/
    done
    for level in x86-64-v2 x86-64-v3; do
        part "for $level" "$build/golden" -m "cpu -mcpu=$level" kernel/
    done
    part "more random kernels" python3 test/random/run.py "$tl" --from 201 --count 1800
    part "more wrong calls and kernels" env PYTHONPATH="$build/py" TILELANG_FUZZ=20 python3 test/py/run.py test_fuzz
    part "GPU schedules" sh test/gpu/schedules.sh "$tl"
    part "all GPU mutants" "$build/mutate" test/mutate/kernels.txt
    part "cache under heavy fire" "$build/stress_cache" -p 32 -k 20
    sanitized_suite "$build/asan"
    fuzz 600 "$build/asan"
    part "sanitized mutants" python3 test/fuzz/mutate.py "$build/asan/tl" --count 20000 --limit 20
fi

echo "$passed passed, $failed failed"
[ $failed = 0 ]
