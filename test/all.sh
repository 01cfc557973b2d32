#!/bin/sh
# all.sh -- the parts of the suite; schedule.py runs them, two at a time, and prints their sum.
#
# Usage: all.sh BUILD check         what `make check` runs: while one works
#        all.sh BUILD test          what `make test` runs: before a change goes in
#        all.sh BUILD sanitized     what `make test-asan` runs: BUILD has ASan and UBSan in it
#        all.sh BUILD full [PART]   what `make test-full` runs: all of that (BUILD/asan), each opt_ pass left
#                                   out, older machines, MemorySanitizer, fuzzing; in parts, each at most an
#                                   hour on two cores.  What is green is noted for this tree and not run again.
cd "$(dirname "$0")/.." || exit 2
build=$1 what=${2:-test} only=${3:-}
case $build in /*) ;; *) build=$PWD/$build ;; esac
tl=$build/tl
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export TILELANG_CACHE_DIR="$build/cache"
nvrtc=$(sh tools/nvrtc.sh "$tl" 2>/dev/null) && [ -n "$nvrtc" ] && export TILELANG_NVRTC="$nvrtc"

# numpy's types of 8-bit floats; arrays of them are tried where they can be had
floats=$(sh tools/pip.sh ml_dtypes --no-deps) && floats=:$floats

# part NAME COMMAND… takes one core; wide NAME COMMAND… keeps both busy; alone NAME COMMAND…: what follows needs it;
# group NAME: what follows
put() {
    { printf '%s\0' "$@" && printf '\0'; } >>"$work/queue"
}
part() { name=$1 && shift && put part "$name" ${limit:+env TEST_SECONDS=$limit} "$@"; }
wide() { name=$1 && shift && put wide "$name" ${limit:+env TEST_SECONDS=$limit} "$@"; }
alone() { name=$1 && shift && put alone "$name" "$@"; }
group() { put group "$1"; }

seeds() { ls "$@" 2>/dev/null; }
python_seeds=$(seeds examples/*.py test/kernel/*.py test/front/*.py test/error/*/*.py)
tile_seeds=$(seeds test/pass/*/*.tile)
fuzz() { # BATCHES BUILD
    part "fuzz lexer" "$2/fuzz_lex" "$1" $python_seeds
    part "fuzz parser" "$2/fuzz_parse" "$1" $python_seeds
    part "fuzz IR reader" "$2/fuzz_read" "$1" $tile_seeds
}

# What stands in the tree; no program of ours is tried by it but tl.
tree() {
    part layers sh tools/layers.sh "$build"
    part sizes sh tools/sizes.sh
    part lint sh tools/lint.sh
    part docs sh tools/docs.sh "$tl" --check
    part "type stubs" env PYTHONPATH="$build/py" python3 tools/stubs.py --check
}

# What runs the programs of a folder.  WORD is put before each name.  In each function what takes one
# core comes longest first, then what takes both.

suite_cpu() { # WORD FOLDER
    part "$1Python package" $python PYTHONPATH="$2/py$floats" TL="$2/tl" python3 test/py/run.py
    part "$1command line" env TL="$2/tl" sh test/cli/run.sh
    part "$1documents" $python PYTHONPATH="$2/py" python3 test/doc/check.py "$2/tl"
    part "$1proofs" python3 test/proofs/run.py "$2/tl"
    part "$1site" python3 test/doc/site.py "$2/tl"
    part "$1language server" python3 test/lsp/run.py "$2/tl"
    part "$1language server, attacked" python3 test/lsp/attack.py "$2/tl"
    part "$1Neovim" python3 test/lsp/neovim.py "$2/tl"
    part "$1VS Code extension" python3 test/lsp/vscode.py "$2/tl"
    part "$1cache under fire" "$2/stress_cache" -p 8 -k 4
    [ -n "$slow" ] || part "bundles under fire" python3 test/stress/bundle.py "$2/tl" 10
    [ -n "$slow" ] || part "aarch64" sh test/cpu/aarch64.sh "$2/tl"
    wide "$1unit" $unit "$2/unit" $slow
    wide "$1golden" "$2/golden" $slow
    wide "$1examples" python3 test/examples/check.py "$2/tl"
    wide "$1numpy" python3 test/numpy/check.py "$2/tl"
    wide "$1numbers" python3 test/numerics/check.py "$2/tl" --trees 100 --pairs float16 bfloat16
}

suite_gpu() { # WORD FOLDER
    part "$1GPU text" sh test/gpu/nvrtc.sh "$2/tl"
    part "$1Blackwell" sh test/gpu/blackwell.sh "$2/tl"
    part "$1Volta" sh test/gpu/volta.sh "$2/tl"
    part "$1AMD text" sh test/gpu/hip.sh "$2/tl"
    part "$1CuTe DSL" sh test/gpu/cutedsl.sh "$2/tl"
    part "$1GPU products" sh test/gpu/gemm.sh "$2/tl"
    part "$1GPU lowering" sh test/gpu/lower.sh "$2/tl"
    part "$1WebGPU" sh test/gpu/webgpu.sh "$2/tl"
    part "$1OpenCL" $unit sh test/gpu/opencl.sh "$2/tl" # sanitized: the driver keeps what its compiler made
    part "$1Metal text" sh test/gpu/metal.sh "$2/tl"
    part "$1Ascend text" sh test/gpu/ascend.sh "$2/tl"
    [ -n "$slow" ] || part "WebGPU in a browser" python3 test/gpu/webgpu_page.py "$2/tl"
    [ -n "$slow" ] || part "playground" python3 test/web/run.py "$2"
    part "$1made-up GPU" sh test/gpu/template.sh "$2/tl"
    [ -n "$slow" ] || part "a target by its document" sh test/doc/page.sh "$2" doc/adding-a-target.md
    [ -n "$slow" ] || part "an operator by its document" sh test/doc/page.sh "$2" doc/adding-an-op.md src/op/op.o \
        src/front/builtin.o
    part "$1GPU reductions" sh test/gpu/reduce.sh "$2/tl"
    part "$1GPU pipelines" sh test/gpu/pipeline.sh "$2/tl"
    part "$1GPU limits" sh test/gpu/limits.sh "$2/tl"
    part "$1GPU indices" sh test/gpu/indices.sh "$2/tl"
    part "$1GPU bundles" sh test/gpu/bundle.sh "$2/tl"
    part "$1AMD bundles" sh test/gpu/hip_bundle.sh "$2/tl"
    part "$1GPU plans" python3 test/gpu/plans.py "$2/tl"
    [ -n "$slow" ] || part "growth" python3 test/growth/run.py "$2/tl"
    part "$1GPU mutants" "$2/mutate" -s test/mutate/kernels.txt
}

suite_long() { # WORD FOLDER
    wide "$1GPU text on the host" python3 test/gpu/twin.py "$2/tl"
    wide "$1users' reports" python3 test/users/check.py "$2/tl"
    wide "$1kernels on GPUs" sh test/gpu/kernels.sh "$2/tl"
    wide "$1kernels on a made-up machine" sh test/gpu/kernels.sh "$2/tl" made-up
    wide "$1random kernels" python3 test/random/run.py "$2/tl" --count 200
    wide "$1random kernels, wider" python3 test/random/run.py "$2/tl" --from 100001 --count 200 --final --text --run-every 4
    wide "$1random kernels, broader" python3 test/random/run.py "$2/tl" --from 1000001 --count 60 --final --text --run-every 4
    wide "$1random kernels against numpy" python3 test/random/exact.py "$2/tl" --count 60
    wide "$1random kernels of threads" python3 test/random/exact.py "$2/tl" --grammar expert --count 12
}

plainly() { unit= python=env slow= limit=; }
# Tests of single functions leave their arenas to the end of the process, and Python much more:
# leaks are looked for everywhere else.  Python itself is not sanitized, so the library comes first.
sanitized() {
    library="$(cc -print-file-name=libasan.so):$(cc -print-file-name=libubsan.so)"
    unit="env ASAN_OPTIONS=detect_leaks=0" slow="-t 600" limit=900
    python="$unit PYTHONMALLOC=malloc LD_PRELOAD=$library"
}

test_suite() {
    plainly
    tree
    suite_cpu "" "$build"
    suite_gpu "" "$build"
    suite_long "" "$build"
    fuzz 40 "$build"
    wide "mutants" python3 test/fuzz/mutate.py "$tl" --count 200 --limit 20
}

# Of every file that is no build product.
tree_hash() {
    { git ls-files -co --exclude-standard 2>/dev/null || find . -path ./build -prune -o -type f -print; } |
        LC_ALL=C sort | xargs -d '\n' sha1sum 2>/dev/null | sha1sum | cut -c 1-16
}

full_suite() {
    done=$build/full/$(tree_hash)
    group "1 what make test runs"
    test_suite
    group "2 without each opt_ pass"
    for pass in $("$tl" dump --passes | sed -n 's/^ *[0-9]*  \(opt_[a-z_]*\).*/\1/p'); do
        wide "without $pass" "$build/golden" -x "$pass" kernel/
        wide "without $pass on GPUs" sh test/gpu/kernels.sh "$tl" without "$pass"
    done
    group "3 reads of what nobody wrote"
    alone "build with MemorySanitizer" make -s BUILD="$build" msan
    wide "kernels with MemorySanitizer" env CC="$build/msan/cc" TILELANG_CACHE_DIR="$build/msan/cache" \
        "$build/msan/golden" -t 600 -m "cpu -mcpu=x86-64-v3" kernel/
    group "4 older machines, schedules, heavy fire"
    for level in x86-64-v2 x86-64-v3; do
        wide "for $level" "$build/golden" -m "cpu -mcpu=$level" kernel/
    done
    for level in "armv8-a cortex-a57" "neoverse-n1 neoverse-n1" "neoverse-v2 max"; do
        wide "for ${level% *}" env QEMU_CPU="${level#* }" "$build/golden" -t 600 -m "cpu -mcpu=${level% *}" kernel/
    done
    wide "the library on aarch64" sh test/cpu/library.sh "$build"
    wide "all kernels on Volta" sh test/gpu/volta.sh "$tl" all
    part "GPU schedules" sh test/gpu/schedules.sh "$tl"
    for arch in gfx90a gfx942 gfx950; do
        wide "kernels on $arch" sh test/gpu/kernels.sh "$tl" $arch
    done
    wide "all AMD text" sh test/gpu/hip.sh "$tl" all
    part "more CuTe DSL" sh test/gpu/cutedsl.sh "$tl" all
    wide "all kernels on Blackwell" sh test/gpu/blackwell.sh "$tl" all
    wide "all Metal text" sh test/gpu/metal.sh "$tl" all
    part "all Ascend text" sh test/gpu/ascend.sh "$tl" all
    part "all kernels through wgpu" sh test/gpu/webgpu.sh "$tl" all
    part "all kernels through OpenCL" sh test/gpu/opencl.sh "$tl" all
    part "all WGSL in a browser" env TEST_SECONDS=1200 python3 test/gpu/webgpu_page.py "$tl" all
    part "more wrong calls and kernels" env PYTHONPATH="$build/py" TILELANG_FUZZ=20 python3 test/py/run.py test_fuzz
    engines=$(for name in distributed ray; do printf ':%s' "$(sh tools/pip.sh $name)"; done)
    part "workers under Dask, Ray, MPI, Slurm" env TEST_ENGINES=1 PYTHONPATH="$build/py$engines" python3 test/py/run.py \
        test_workers
    wide "cache under heavy fire" "$build/stress_cache" -p 32 -k 20
    part "bundles under heavy fire" python3 test/stress/bundle.py "$tl" 50
    part "searches under fire" env PYTHONPATH="$build/py" python3 test/stress/tune.py "$tl" 50
    group "5 more random kernels"
    part "more tensor programs" env PYTHONPATH="$build/py" TENSOR_PROGRAMS=500 TENSOR_SEED=60 python3 test/py/run.py \
        test_tensor_random
    wide "more random kernels" python3 test/random/run.py "$tl" --from 201 --count 1800
    wide "more random kernels, wider" python3 test/random/run.py "$tl" --from 100201 --count 10000 --final --text \
        --keep "$build/random" --done "$done/wide-seeds"
    wide "more random kernels, broader" python3 test/random/run.py "$tl" --from 1000061 --count 1000 --final --text \
        --keep "$build/random" --done "$done/broad-seeds"
    wide "more random kernels against numpy" python3 test/random/exact.py "$tl" --from 61 --count 1000 --keep "$build/random"
    wide "more random kernels of threads" python3 test/random/exact.py "$tl" --grammar expert --from 13 --count 400 \
        --keep "$build/random"
    wide "more random indices" python3 test/proofs/index.py "$tl" --from 1001 --count 10000
    wide "more numbers" python3 test/numerics/check.py "$tl" --from 100 --trees 1900 \
        --pairs float32 float64 float8_e4m3fn float8_e5m2
    group "6 all GPU mutants"
    part "all GPU mutants" "$build/mutate" test/mutate/kernels.txt
    wide "emitter mutants" python3 test/mutate/emit.py "$build" --count 300 --state "$done/emit"
    group "7 sanitized, CPU"
    alone "build with ASan and UBSan" make -s BUILD="$build" asan
    sanitized
    suite_cpu "sanitized " "$build/asan"
    group "8 sanitized, GPUs"
    plainly
    alone "build with ASan and UBSan" make -s BUILD="$build" asan
    sanitized
    suite_gpu "sanitized " "$build/asan"
    suite_long "sanitized " "$build/asan"
    plainly
    group "9 sanitized, fuzzing"
    alone "build with ASan and UBSan" make -s BUILD="$build" asan
    fuzz 3000 "$build/asan"
    wide "sanitized mutants" python3 test/fuzz/mutate.py "$build/asan/tl" --count 20000 --limit 20
}

case $what in
check)
    plainly
    tree
    suite_cpu "" "$build"
    suite_gpu "" "$build"
    ;;
test) test_suite ;;
sanitized)
    sanitized
    suite_cpu "sanitized " "$build"
    suite_gpu "sanitized " "$build"
    suite_long "sanitized " "$build"
    plainly
    wide "mutants" python3 test/fuzz/mutate.py "$tl" --count 200 --limit 20
    ;;
full)
    full_suite
    python3 test/schedule.py "$work/queue" --done "$done" ${only:+--only "$only"}
    exit
    ;;
*) sed -n '4,9s/^# //p' "$0" >&2; exit 2 ;;
esac
# a part that hangs is a failure, not the end of the run
[ "$what" = sanitized ] || hung=1800
python3 test/schedule.py "$work/queue" ${hung:+--limit $hung}
