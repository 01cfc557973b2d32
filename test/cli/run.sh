#!/bin/sh
# run.sh -- the command line as a user sees it: answers, exit codes, files.  TL names the program.
here=$(cd "$(dirname "$0")" && pwd) || exit 2
TL=${TL:-$here/../../build/tl}
case $TL in /*) ;; *) TL=$PWD/$TL ;; esac
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export TILELANG_CACHE_DIR="$work/cache"
cd "$work" || exit 2
npass=0
nfail=0

# check NAME CODE PATTERN COMMAND…: exit code, and a line of output that matches.
check() {
    name=$1 code=$2 pattern=$3
    shift 3
    "$@" >out.txt 2>&1 <"${input:-/dev/null}"
    got=$?
    if [ "$got" = "$code" ] && { [ -z "$pattern" ] || grep -qE -- "$pattern" out.txt; }; then
        npass=$((npass + 1))
    else
        nfail=$((nfail + 1))
        echo "FAIL $name: exit $got (wanted $code), wanted /$pattern/ in:"
        sed 's/^/    /' out.txt | head -20
    fi
}
same() {
    if cmp -s "$2" "$3"; then
        npass=$((npass + 1))
    else
        nfail=$((nfail + 1))
        echo "FAIL $1: $2 and $3 differ"
    fi
}

check version 0 '^tl [0-9]' "$TL" --version
check usage 0 'usage: tl VERB' "$TL"
check help_of_a_verb 0 'usage: tl run' "$TL" help run
check verb_help 0 'NAME=FILE.npy' "$TL" run --help
check man 0 '^\.SH COMMANDS' "$TL" man
check unknown_verb 2 "no verb 'frob'" "$TL" frob
check unknown_option 2 'did you mean --seed' "$TL" run --sed 3
check no_file_given 2 'which FILE' "$TL" run
check missing_file 1 'No such file' "$TL" run nothing.py
check missing_kernel 1 'no-such-function' "$TL" run "$here/add.py:nothing"
check unknown_name 1 'no-such-parameter' "$TL" run "$here/add.py" M=3
check bad_target 1 'target-unknown' "$TL" run "$here/add.py" --target toaster
check other_target 1 'target-unsupported' "$TL" build "$here/add.py" --target vulkan
check two_archs 1 "'-arch=sm_80' says another thing than '-arch=sm_90a'" "$TL" build "$here/add.py" --target "cuda -arch=sm_90a -arch=sm_80" --source
check two_levels 1 "'-mcpu=x86-64-v3' says another thing than '-march=armv8-a'" "$TL" build "$here/add.py" --target "cpu -march=armv8-a -mcpu=x86-64-v3" --source
check two_limits 1 'target-unknown' "$TL" build "$here/add.py" --target "cuda -max_num_threads=32 -max_threads_per_block=64" --source
check one_limit_twice 0 'main_kernel' "$TL" build "$here/add.py" --target "cuda -max_num_threads=512 -max_threads_per_block=512" --source
check bad_arch 1 "sm_zz. is no architecture" "$TL" build "$here/add.py" --target "cuda -arch=sm_zz" --source

check help_of_nothing 2 "no verb 'nosuch'" "$TL" help nosuch
for file in $("$TL" --help | grep -oE 'examples/[a-z_/]*\.py'); do
    check "help_names_$file" 0 '' test -f "$here/../../$file"
done
check schedules_alone 2 'schedules needs --sim' "$TL" run "$here/gemm.py" --schedules 3
check no_schedules 2 'from 1 on' "$TL" run "$here/gemm.py" --sim --schedules 0
check stats_alone 2 'sim-stats needs --sim' "$TL" run "$here/gemm.py" --sim-stats
check source_in_simulator 2 'source and --sim cannot' "$TL" run "$here/gemm.py" --sim --source "$here/gemm.py"
check source_verified_in_simulator 2 'source and --sim cannot stand together without --text' "$TL" verify "$here/gemm.py" --sim --source "$here/gemm.py"
check lines_of_a_cpu 2 'line-info is for kernels that a device runs' "$TL" run "$here/gemm.py" --target cpu --line-info
check events_of_a_cpu 2 'events is for kernels that a device runs' "$TL" bench "$here/gemm.py" --target cpu --events --no-roof
check threads_of_a_gpu 2 'threads is for kernels that worker threads run' "$TL" run "$here/gemm.py" --threads 2 --sim --target 'cuda -arch=sm_80'
check tolerance_none 1 'VERIFY: FAIL' "$TL" verify "$here/gemm.py" --target cpu --tol 0
check tolerance_nan 2 'from 0 on' "$TL" verify "$here/gemm.py" --tol nan
check tolerance_below 2 'from 0 on' "$TL" verify "$here/gemm.py" --tol -1
check tolerance_twice 2 'tol and --strict cannot' "$TL" verify "$here/gemm.py" --tol 1 --strict
check no_warm_up 0 TFLOPS "$TL" bench "$here/gemm.py" --target cpu --warmup 0 --reps 1 --no-roof
check no_runs 2 'from 1 on' "$TL" bench "$here/gemm.py" --reps 0
check two_dumps 2 'after and --source cannot' "$TL" dump "$here/gemm.py" --after plan_layouts --source
check cache_of_a_target 2 'options are for tl cache why' "$TL" cache ls --target cpu
check arch_of_one 0 'tma, a box' "$TL" build "$here/gemm.py" --target cuda --arch sm_90a --plans
check arch_of_two 2 'arch with several is for a bundle; name its folder with -o' "$TL" build "$here/gemm.py" --target cuda --arch sm_80,sm_90a --plans
check arch_twice 2 'both name an architecture' "$TL" build "$here/gemm.py" --target 'cuda -arch=sm_80' --arch sm_90a -o "$work/twice"
check variant_of_no_bundle 2 'variant is for a bundle' "$TL" build "$here/gemm.py" --variant 'M > 3: M=3'
check level_of_no_bundle 2 'arch is for a bundle' "$TL" build "$here/gemm.py" --target cpu --arch x86-64-v3
check arch_for_a_target 1 "did you mean 'cuda -arch=sm_90a'" "$TL" verify "$here/add.py" --target sm_90a
check cpu_for_a_target 1 "did you mean 'cpu -mcpu=x86-64-v3'" "$TL" run "$here/add.py" --target x86-64-v3
check simulated 0 'VERIFY: PASS' "$TL" verify "$here/add.py" --target "sim -arch=sm_80"
check simulated_times 1 'whose times say nothing' "$TL" bench "$here/add.py" --target sim
check slip_of_a_target 1 "did you mean 'cuda'" "$TL" run "$here/add.py" --target cudaa
check null_target 0 'built' "$TL" build "$here/add.py" --target null
check null_target_runs_nothing 1 'not-built' "$TL" run "$here/add.py" --target null

# messages: what the user meant is named, and where it stands
says() { # NAME PATTERN WORD…, the kernel from stdin
    name=$1 pattern=$2
    shift 2
    cat >"$name.py"
    check "$name" 1 "$pattern" "$TL" run "$name.py" "$@"
}
head='import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((128,), "float32")):
    with T.Kernel(1, threads=128) as bx:'
says stages "did you mean 'num_stages'" <<END
$head
        for k in T.Pipelined(4, stages=2):
            A[k] = 1.0
END
says async_for '9: error: .async. is not supported' <<END
$head
        async for i in T.serial(4):
            A[i] = 1.0
END
says assert_with_a_caret '\^~+' <<END
$head
        for i in T.Parallel(128):
            T.device_assert(A[i] > 10.0, "too small")
END
says dtype_slip "did you mean 'float32'" <<'END'
import tilelang.language as T
@T.prim_func
def main(A: T.Tensor((128,), "flaot32")):
    with T.Kernel(1, threads=128) as bx:
        A[0] = 1.0
END
says no_import "the file needs 'import tilelang.language as T'" <<'END'
import tilelang
@T.prim_func
def main(A: T.Tensor((128,), "float32")):
    with T.Kernel(1, threads=128) as bx:
        A[0] = 1.0
END
says largest_tiles "note: 'S' takes 262144 bytes" --target 'cuda -arch=sm_90a' --sim <<'END'
import tilelang.language as T
@T.prim_func
def main(A: T.Tensor((256, 256), "float32")):
    with T.Kernel(1, threads=128) as bx:
        S = T.alloc_shared((256, 256), "float32")
        R = T.alloc_shared((8, 256), "float32")
        T.copy(A, S)
        T.copy(A[0:8, :], R)
        for i, j in T.Parallel(256, 256):
            A[i, j] = S[i, j] + R[i % 8, j]
END
printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (9,), }" >nine.npy
head -c 36 /dev/zero >>nine.npy
says nine_of_even "9 \(= N \* 2\)" --in A=nine.npy <<'END'
import tilelang.language as T
N = T.dynamic("N")
@T.prim_func
def main(A: T.Tensor((N * 2,), "float32")):
    with T.Kernel(1, threads=128) as bx:
        A[0] = 1.0
END

# Files of ml_dtypes' types: bfloat16 is '<V2', float8_e5m2 '<f1', other 8-bit floats '<V1'.
npy() { printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': (4,), }"; }
{ npy '<V2'; printf '\200\077\000\100\000\300\000\000'; } >bf16.npy
{ npy '<V1'; printf '\070\100\300\000'; } >e4m3.npy
{ npy '<f1'; printf '\074\100\300\000'; } >e5m2.npy
cat >floats.py <<'END'
import tilelang
import tilelang.language as T
@tilelang.jit(out_idx=[-1])
def floats(dtype="bfloat16"):
    @T.prim_func
    def main(A: T.Tensor((4,), dtype), B: T.Tensor((4,), "float32")):
        with T.Kernel(1, threads=32):
            T.copy(A, B)
    return main
END
check npy_bfloat16 0 'min -2  max 2  mean 0.25' "$TL" run floats.py --in A=bf16.npy
check npy_float8 0 'min -2  max 2  mean 0.25' "$TL" run floats.py dtype=float8_e4m3fn --in A=e4m3.npy
check npy_float8_e5m2 0 'min -2  max 2  mean 0.25' "$TL" run floats.py dtype=float8_e5m2 --in A=e5m2.npy
check npy_other_float 1 'argument-dtype' "$TL" run floats.py dtype=uint8 --in A=e4m3.npy

# What cannot be: the reason is said, and nothing is read without an end.
check bundle_nowhere 3 'cannot create /proc/nowhere: No such' "$TL" build "$here/add.py" -o /proc/nowhere
check endless_file 3 'cannot read /dev/zero: File too large' "$TL" build /dev/zero
check less_than_none 2 'needs a whole number from 1 on' "$TL" verify "$here/add.py" --schedules -1

# CC with words of its own; a compiler that leaves something else is not said to have refused: [compiled-kernel]
check cc_with_words 0 '^C ' env CC="cc -O1" "$TL" run "$here/add.py" --no-cache
check cc_without_a_file 3 "CC names 'nosuchcc'" env CC="nosuchcc -O1" "$TL" run "$here/add.py" --no-cache
cat >fakecc <<'END'
#!/bin/sh
[ "$1" != --version ] || { echo "fake 1"; exit 0; }
while [ "$1" != -o ]; do shift; done
echo garbage >"$2"
END
chmod +x fakecc
# A compiler without room to write says so, and nothing of what it was given.
cat >"$work/fullcc" <<'X'
#!/bin/sh
case " $* " in *" -o "*) echo "/tmp/ccAbc.s: error: error closing /tmp/ccAbc.s: No space left on device" >&2; exit 1 ;; esac
exec cc "$@"
X
chmod +x "$work/fullcc"
check full_disk 3 '^error: .*fullcc cannot write .*kernel.so: No space left on device; .* TMPDIR [[]compiler-failed]' env CC="$work/fullcc" "$TL" run "$here/add.py" --no-cache
check full_disk_of_a_text 3 '^error: .*fullcc cannot write .*No space left on device; .* TMPDIR [[]twin-compiler]' env CC="$work/fullcc" "$TL" verify "$here/add.py" --no-cache --target metal --text
check full_disk_of_a_bundle 3 '^error: .*fullcc cannot write .*No space left on device; .* TMPDIR$' env CC="$work/fullcc" "$TL" build "$here/add.py" --target cpu -o "$work/full"
check not_the_compiler 3 'cannot load a compiled kernel.*[[]compiled-kernel]' env CC="$work/fakecc" "$TL" run "$here/add.py"
# [cache-shared]
mkdir -m 1777 everybody
check shared_cache 0 "everybody may be written to by others .*[[]cache-shared]" env TILELANG_CACHE_DIR="$work/everybody" "$TL" run "$here/add.py"

# A cache that is only read lies under one's own: what it has is taken, what it has not is built above it.
cat >warm.txt <<END
$here/add.py            # shapes of a server
$here/scale.py
$here/nothing.py
END
check warm_list 1 '^3 kernels: 2 built, 0 in the cache already, 1 failed' env TILELANG_CACHE_DIR="$work/layer" "$TL" warm warm.txt -j 2
check warm_names_the_line 1 'line 3: .*nothing.py: .*No such file' env TILELANG_CACHE_DIR="$work/layer" "$TL" warm warm.txt
input=warm.txt
check warm_again 1 '^3 kernels: 0 built, 2 in the cache already, 1 failed' env TILELANG_CACHE_DIR="$work/layer" "$TL" warm -
input=
check warm_json 1 '"state": "cached"' env TILELANG_CACHE_DIR="$work/layer" "$TL" warm warm.txt --json
check warm_empty 1 'names no kernel' "$TL" warm /dev/null
check warm_nowhere 1 'built, and not kept: the cache cannot be written' env TILELANG_CACHE_DIR=/proc/nowhere "$TL" warm warm.txt
check warm_counts_that 1 '^3 kernels: 0 built, 0 in the cache already, 3 failed' env TILELANG_CACHE_DIR=/proc/nowhere "$TL" warm warm.txt --quiet
echo "'no end" >quote.txt
check warm_quote 1 'a quote without an end' "$TL" warm quote.txt
check warm_usage 2 'takes one LIST' "$TL" warm
chmod -R a-w layer
check layer_is_read 0 'add: from the cache' env TILELANG_CACHE_DIR="$work/above" TILELANG_SHARED_CACHE="$work/nothing:$work/layer" "$TL" build "$here/add.py"
check layer_is_left 1 '' test -e "$work/above/kernels"
check layer_is_listed 0 '2 kernels, .*layer [(]only read' env TILELANG_CACHE_DIR="$work/above" TILELANG_SHARED_CACHE="$work/layer" "$TL" cache ls
check layer_says_why 0 'in the cache: .*layer/kernels/' env TILELANG_CACHE_DIR="$work/above" TILELANG_SHARED_CACHE="$work/layer" "$TL" cache why "$here/add.py"
check layer_has_not 0 'twice: built' env TILELANG_CACHE_DIR="$work/above" TILELANG_SHARED_CACHE="$work/layer" "$TL" build "$here/twice.py"
chmod -R u+w layer
for damaged in layer/kernels/*/kernel.so; do echo damage >>"$damaged"; done
check layer_is_damaged 0 'add: built' env TILELANG_CACHE_DIR="$work/above" TILELANG_SHARED_CACHE="$work/layer" "$TL" build "$here/add.py"
check above_is_first 0 'add: from the cache' env TILELANG_CACHE_DIR="$work/above" TILELANG_SHARED_CACHE="$work/layer" "$TL" build "$here/add.py"
chmod -R go+w layer
check layer_of_others 0 'may be written to by others .*[[]cache-shared]' env TILELANG_CACHE_DIR="$work/above" TILELANG_SHARED_CACHE="$work/layer" "$TL" build "$here/scale.py"

check run 0 '^C  float32 \(1000,\)  min .* checksum [0-9a-f]{16}$' "$TL" run "$here/add.py"
cp out.txt first.txt
check run_again 0 '^C ' "$TL" run "$here/add.py"
same run_is_deterministic first.txt out.txt
check run_one_thread 0 '^C ' "$TL" run "$here/add.py" --threads 1
same threads_do_not_matter first.txt out.txt
check run_sim 0 '^C ' "$TL" run "$here/add.py" --sim
check run_sim_gpu 0 '^C ' "$TL" run "$here/add.py" --sim --schedules 3 --target 'cuda -arch=sm_80'
same simulator_agrees first.txt out.txt
check verify_sim_gpu 0 'VERIFY: PASS' "$TL" verify "$here/gemm.py" --sim --schedules 2 --target 'cuda -arch=sm_90a'
check verify_text 0 'VERIFY: PASS' "$TL" verify "$here/gemm.py" --sim --text --target 'cuda -arch=sm_90a'
check sim_stats 0 'conflicts' "$TL" run "$here/gemm.py" --sim --sim-stats --target 'cuda -arch=sm_80'

# debug NAME PATTERN COMMANDS ARGUMENTS…: commands from standard input.
debug() {
    name=$1 pattern=$2 commands=$3
    shift 3
    printf '%s\n' "$commands" >commands.txt
    check "$name" 0 "$pattern" sh -c '"$0" debug "$@" <commands.txt' "$TL" "$@"
}
small="M=64 N=64 K=128 dtype=float16"
gpu="cuda -arch=sm_90a"
debug debug_steps 'line 15: copy' 'step 3' "$here/gemm.py" $small --tile --target "$gpu"
debug debug_tile '^\[1, 0:3\] +(-?[0-9.e-]+ *){3}$' 'break 17
continue
print acc[0:2, 0:3]' "$here/gemm.py" $small --target "$gpu"
cp out.txt first.txt
debug debug_again '' 'break 17
continue
print acc[0:2, 0:3]' "$here/gemm.py" $small --target "$gpu"
same debug_is_deterministic first.txt out.txt
debug debug_barriers 'phase 1, 1 of 1 arrivals and 0 bytes missing' 'break 16
continue
barriers' "$here/gemm.py" $small --target "$gpu"
debug debug_as_written '^acc: float32 in fragment memory' 'tile 4
print acc' "$here/gemm.py" $small --tile
debug debug_unwritten '^\[0, 0:2\]  +\.  +\.$' 'print acc[0, 0:2]' "$here/gemm.py" $small --tile
debug debug_threads 'threads 1 to 127: line' 'thread 0
break 16
continue
threads' "$here/gemm.py" $small --target "$gpu"
debug debug_help 'no such command' 'frob' "$here/gemm.py" $small --target "$gpu"
debug debug_quit 'the run is over' 'quit' "$here/gemm.py" $small --target "$gpu"

check run_no_cache 0 '^C ' "$TL" run "$here/add.py" --no-cache
check run_knob 0 '\(77,\)' "$TL" run "$here/add.py" N=77

check scalar_missing 1 "scalar 's'" "$TL" run "$here/scale.py" m=4 n=6
cat >numbers.py <<'END'
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((4,), "uint64"), n: T.int32, u: T.uint8, v: T.uint64, f: T.bool):
    with T.Kernel(1, threads=32):
        X[0] = v
        X[1] = T.cast(n, "uint64")
        X[2] = u
        X[3] = T.cast(f, "uint64")
END
check scalars_fit 0 'min 1  max 1.84467e\+19' "$TL" run numbers.py n=2147483647 u=0xff v=18446744073709551615 f=256
check scalar_of_whole_numbers 1 'argument-range' "$TL" run numbers.py n=3.5 u=1 v=1 f=1
check scalar_too_large 1 'argument-range' "$TL" run numbers.py n=5000000000 u=1 v=1 f=1
check scalar_too_small 1 'argument-range' "$TL" run numbers.py n=-2147483649 u=1 v=1 f=1
check scalar_too_wide 1 'argument-range' "$TL" run numbers.py n=1 u=256 v=1 f=1
check scalar_unsigned 1 'argument-range' "$TL" run numbers.py n=1 u=1 v=-1 f=1
check dim_missing 1 'dim-unsolved' "$TL" run "$here/scale.py" s=2 m=4
check dims_by_name 0 '\(4, 6\)' "$TL" run "$here/scale.py" m=4 n=6 s=2 --out A=a.npy --out C=c.npy
check dims_from_input 0 '\(4, 6\)' "$TL" run "$here/scale.py" s=2 --in A=a.npy --out C=c2.npy
same inputs_are_taken c.npy c2.npy
check const_from_input 1 'const-unknown' "$TL" run "$here/axpy.py"
check const_by_name 0 '^Z  float32 \(100,\)' "$TL" run "$here/axpy.py" N=100 --out X=x.npy --out Y=y.npy --out Z=z.npy
check const_solved 0 '\(100,\)' "$TL" run "$here/axpy.py" --in X=x.npy --in Y=y.npy --out Z=z2.npy
same outputs_agree z.npy z2.npy
check wrong_dtype 1 'argument-dtype' "$TL" run "$here/axpy.py" --in X=a.npy --in Y=y.npy N=100
check tensor_twice 2 "gives 'X' twice" "$TL" run "$here/axpy.py" --in X=x.npy --in Y=y.npy --in X=y.npy
check wrong_tensor_name 1 "no tensor called 'Q'" "$TL" run "$here/axpy.py" N=100 --in Q=y.npy
check not_npy 3 'not a .npy file' "$TL" run "$here/axpy.py" N=100 --in "X=$here/axpy.py"
check read_and_written 0 '^X  int32' "$TL" run "$here/twice.py" --out X=t.npy
check contents_are_kept 0 '^X ' "$TL" run "$here/twice.py" --in X=t.npy --out X=t4.npy
check and_used 0 '^X ' "$TL" run "$here/twice.py" --in X=t4.npy --out X=t8.npy

mkdir -p "$work/else where"
cp "$here/gemm.py" "$work/else where/gemm.py"
check comments_name_the_file 0 '// T.gemm[(].*[)]  gemm.py:[0-9]+$' "$TL" build "$here/gemm.py" --source
"$TL" build "$here/gemm.py" --source >here.c
"$TL" build "$work/else where/gemm.py" --source >there.c
same no_folder_in_the_text here.c there.c

check audit 0 'gemm.py:[0-9]+: .slow. matrix instruction: .* not by mma.sync: ' "$TL" build "$here/gemm.py" --source \
    --target "cuda -arch=sm_75" --audit
check audit_of_stages 0 'without effect: num_stages=[0-9]+ is ignored' "$TL" build "$here/gemm.py" --audit --target cpu
check nothing_to_audit 0 'kernel main_kernel: nothing fell back' "$TL" build "$here/add.py" --audit
check slow_is_silent 0 "^kernel" "$TL" build "$here/gemm.py" --target "cuda -arch=sm_75" --audit --source -q
check explain_slow 0 '^Tile through memory: ' "$TL" explain slow
check constant_of_a_call 1 'call-constant' "$TL" build "$here/wait.py" --target cuda --source
check many_temporaries 1 'too-many-workspaces' "$TL" run "$here/workspaces.py" --no-cache
check no_memory 1 'out-of-memory' env ASAN_OPTIONS=allocator_may_return_null=1 \
    "$TL" run "$here/memory.py" --no-cache

check verify 0 '^VERIFY: PASS$' "$TL" verify "$here/add.py:add"
check verify_gemm 0 '^VERIFY: PASS$' "$TL" verify "$here/gemm.py" M=100 N=70 K=50
check verify_bf16 0 '^VERIFY: PASS$' "$TL" verify "$here/gemm.py" M=64 N=64 K=64 dtype=bfloat16
check verify_wrong 1 '^VERIFY: FAIL max_abs_err=' "$TL" verify "$here/add.py:add" --ref wrong

"$TL" build "$here/gemm.py" --source >own.c
check own_source 0 'checksum' "$TL" run "$here/gemm.py" --source own.c
echo 'this is no C' >>own.c
check own_source_is_used 3 'compiler-failed' "$TL" run "$here/gemm.py" --source own.c
check own_source_is_missing 1 'nowhere' "$TL" run "$here/gemm.py" --source nowhere.c
check target_caret_of_the_second 1 '^ {19}\^~{5}$' "$TL" build "$here/gemm.py" --target "opencl opencl"
check target_caret 1 '^    target "opencl -subgroup=3 -fp16"$' "$TL" build "$here/gemm.py" --target "opencl -subgroup=3 -fp16"
check target_caret_place 1 '^ {19}\^~{10}$' "$TL" build "$here/gemm.py" --target "opencl -subgroup=3 -fp16"
check page_without_numbers 0 '^page: the page has nothing to compare with; give m=… n=… s=…' "$TL" build "$here/../../examples/bundle/scale.py" --target webgpu -o page
check page_is_whole 0 'format 2, .* 4 files as they were built' sh -c '"$0" bundle check page; true' "$TL"
check page_with_numbers 0 '^page: bundle of scale' "$TL" build "$here/../../examples/bundle/scale.py" m=3 n=5 s=2 --target webgpu -o page
check page_compares 0 '^ *"s": 2$' cat page/check.json
check page_without_some 0 'give s=…' "$TL" build "$here/../../examples/bundle/scale.py" m=3 n=5 --target webgpu -o page
check page_compares_no_more 1 '' test -e page/check.bin
check no_levels 1 "'x86-64-v3': a bundle for webgpu has no levels.*bundle-target" "$TL" build "$here/gemm.py" --target webgpu -o "$work/no_bundle" --levels x86-64-v3
check no_archs 1 "'sm_80': a bundle for metal has no levels.*bundle-target" "$TL" build "$here/gemm.py" --target metal -o "$work/no_bundle" --arch sm_80
check lines_of_a_simulator 2 '--line-info and --sim cannot stand together' "$TL" verify "$here/gemm.py" --target "cuda -arch=sm_90a" --line-info --sim
check lines_nowhere 1 'keep no lines of the text.*unsupported-here' "$TL" run "$here/add.py" --target metal --line-info
check no_bundle 1 'no bundles for target null.*bundle-target' "$TL" build "$here/gemm.py" --target null -o "$work/no_bundle"
check profile_not_everywhere 1 'tl profile is for' "$TL" profile "$here/gemm.py" --target webgpu
check profile_of_a_cpu 0 'us a run, [0-9]+ samples' "$TL" profile "$here/gemm.py" M=512 N=512 K=512 --target cpu --json "$work/cpu.json" --svg "$work/cpu.svg"
check profile_cpu_lines 0 '"line":[0-9]+,"copy":' cat "$work/cpu.json"
check profile_cpu_products 0 '^  21 .*' "$TL" profile "$here/two_gemms.py" --target cpu --threads 2 --json "$work/two.json" --svg "$work/two.svg"
check lines_of_long_statements 0 '^#line 19 ' sh -c '"$1" build "$2" --target "cpu -mcpu=x86-64-v3" --source -c tl.emit_line_directives=1 | grep -B1 "j_at += \|tl_vexp((tl"' - "$TL" "$here/two_gemms.py"
check lines_behind_a_kernel 0 '^#line 1 "generated"' "$TL" build "$here/two_gemms.py" --target "cpu -mcpu=x86-64-v3" --source -c tl.emit_line_directives=1
check profile_cpu_first_product 0 '"line":18,"copy":0.0000,"matrix":[1-9]' cat "$work/two.json"
check profile_cpu_second_product 0 '"line":21,"copy":0.0000,"matrix":[1-9]' cat "$work/two.json"
check profile_cpu_timeline 0 '"ph":"X","name":"matrix"' cat "$work/two.json"
check profile_cpu_picture 0 'thread 0' cat "$work/two.svg"
check profile_cpu_against 0 'before' "$TL" profile "$here/gemm.py" M=512 N=512 K=512 --target cpu --against "$work/cpu.json" --json "$work/cpu.json" --svg "$work/cpu.svg"
check gpu_text_with_stamps 0 'TL_STAMP\(1\);' "$TL" build "$here/gemm.py" --target "cuda -arch=sm_80 -profile" --source
check no_stamps_on_cpus 1 'target-unknown' "$TL" build "$here/gemm.py" --target "cpu -profile" --source
check bench 0 '^TFLOPS: [0-9.]+ time_ms: [0-9.]+$' "$TL" bench "$here/gemm.py" --reps 3 --warmup 1 --save base.txt
check roofline 0 '^roofline: ' "$TL" bench "$here/gemm.py" --reps 3 --warmup 1
check baseline 0 '^baseline: .* ratio [0-9.]+x$' "$TL" bench "$here/gemm.py" --reps 3 --warmup 1 --no-roof --against base.txt
check peer_unknown 3 'no peer' "$TL" bench "$here/gemm.py" --peer abacus
check peer_not_a_product 1 'one product' "$TL" bench "$here/add.py:add" --peer openblas

check source 0 'int tl_entry' "$TL" build "$here/gemm.py" --source
check list_passes 0 'lower_tiles' "$TL" build --dump
check dump_one 0 '^# after lower_tiles of' "$TL" build "$here/gemm.py" --dump=lower_tiles
check dump_dir 0 '' "$TL" build "$here/gemm.py" --dump=all --dump-dir=d
check dump_is_an_input 0 'int tl_entry' "$TL" build d/*-lower_tiles.tile --from=lower_parallel --source
check dump_launches 0 '' "$TL" build "$here/../../examples/flash_decoding.py" --dump=all --dump-dir=d2
check dump_launches_is_an_input 0 'int tl_entry' "$TL" build d2/*-lower_tiles.tile --from=lower_parallel --source
check tile_form 0 'gemm #' "$TL" dump "$here/gemm.py"
check dump_after 0 'instr' "$TL" dump "$here/gemm.py" --after lower_tiles
check plans 0 '^kernel' "$TL" dump "$here/gemm.py" --plans
check list_kernels 0 '^matmul jit \(M=256' "$TL" dump "$here/gemm.py" --list
check skip_needs_opt 1 'pass-not-optional' "$TL" build "$here/gemm.py" --skip lower_tiles
check not_a_program 1 'not-a-program' "$TL" dump "$here/gemm.py" --tiles
check unknown_pass 1 'pass-unknown' "$TL" build "$here/gemm.py" --stop-after nothing
check time 0 'read and trace' "$TL" build "$here/gemm.py" --time
check check_each 0 'matmul' "$TL" build "$here/gemm.py" M=64 N=64 K=64 --check-each

check bundle 0 'bundle of scale' "$TL" build "$here/scale.py" -o one
check bundle_again 0 'bundle of scale' "$TL" build "$here/scale.py" -o "$work/deep/two"
for f in scale.h scale.c scale_v2.c scale_v3.c scale_v4.c scale.py scale.pc scaleConfig.cmake libscale.so manifest.json; do
    same "bundle_$f" "one/$f" "deep/two/$f"
done
check bundle_links 0 '' ${CC:-cc} -Ione -o use "$here/use_bundle.c" -Lone -lscale "-Wl,-rpath,$work/one"
check bundle_runs 0 '' ./use
check bundle_level 1 'bundle-level' "$TL" build "$here/scale.py" -o three --levels z80
check bundle_left_nothing 1 '' sh -c 'ls -a | grep three'
check bundle_in_cxx 0 '' ${CC:-cc} -x c++ -Ione -o use_cxx "$here/use_bundle.c" -x none -Lone -lscale "-Wl,-rpath,$work/one"
check bundle_runs_in_cxx 0 '' ./use_cxx
check bundle_torch 0 '' env PYTHONPATH=one python3 -c 'import scale; open("op.cpp", "w").write(scale.torch_source())'
check bundle_torch_compiles 0 '' ${CC:-cc} -std=c++17 -Wall -Wextra -Werror "-I$here/torch" -Ione -o use_torch op.cpp \
    "$here/torch/use.cpp" -Lone -lscale -lstdc++ "-Wl,-rpath,$work/one"
check bundle_torch_runs 0 '0 wrong' ./use_torch
check bundle_in_python 0 '^done' python3 "$here/use_bundle.py" one
if command -v pkg-config >/dev/null; then
    check bundle_pkg_config 0 '' sh -c "PKG_CONFIG_PATH=one ${CC:-cc} -o use_pc '$here/use_bundle.c' \$(PKG_CONFIG_PATH=one pkg-config --cflags --libs scale)"
    check bundle_runs_by_pkg_config 0 '' ./use_pc
fi
if command -v cmake >/dev/null; then
    cp "$here/use_bundle.c" "$here/use_bundle.cmake" . && mv use_bundle.cmake CMakeLists.txt
    check bundle_cmake 0 '' sh -c "cmake -B cm -Dscale_DIR='$work/one' . && cmake --build cm"
    check bundle_runs_by_cmake 0 '' cm/use
fi
check bundle_check 0 '^x86-64-v2: runs here' "$TL" bundle check one
check bundle_check_usage 2 'tl bundle check DIR' "$TL" bundle look one
check bundle_no_level 1 'TILELANG_BUNDLE_LEVELS does not name it' env TILELANG_BUNDLE_LEVELS=x86-64 "$TL" bundle check one
check bundle_runs_nowhere 1 'no part of this bundle runs here' env TILELANG_BUNDLE_LEVELS=x86-64 ./use
check bundle_is_none 1 'bundle-manifest' "$TL" bundle check /tmp
cp -r one changed && echo "/* more */" >>changed/scale.h
check bundle_changed 1 "'scale.h' is not the file that was built.*bundle-changed" "$TL" bundle check changed
rm changed/scale.h
check bundle_lacks_a_file 1 'bundle-changed' "$TL" bundle check changed
cp -r one later && sed -i 's/"format": 2/"format": 3/' later/manifest.json
check bundle_later_format 1 'bundle-format' "$TL" bundle check later
check bundle_later_in_python 1 'has format 3; this file reads 2' python3 "$here/use_bundle.py" later
cp -r "$here/bundle1" before && printf 'int tl_scale_v2(void *const *t, const long *v, const void *r);\nint tl_scale_v2(void *const *t, const long *v, const void *r) { return (t && v && r) - 1; }\n' >v2.c
check bundle_before 0 '' ${CC:-cc} -fPIC -shared -o before/libscale.so before/scale.c v2.c -lpthread
check bundle_format_1 0 'of format 1, which an older release made; its library loads' "$TL" bundle check before
check bundle_over_it 0 'bundle of scale' "$TL" build "$here/scale.py" -o before --levels x86-64-v2
echo mine >before/notes.txt
check bundle_again_over_it 0 'bundle of scale' "$TL" build "$here/scale.py" -o before --levels x86-64-v2
check bundle_keeps_files_of_others 0 mine cat before/notes.txt
mkdir full && echo mine >full/notes.txt
check bundle_folder 1 "full holds 'notes.txt' and is no bundle.*bundle-folder" "$TL" build "$here/scale.py" -o full
check bundle_here 1 'bundle-folder' "$TL" build "$here/scale.py" -o .
check bundle_variant 0 'bundle of wide' "$TL" build "$here/wide.py" -o wide --variant 'n % 8 == 0 and A % 16 == 0: by=8' --variant 'n >= 1000: by=4'
check bundle_variants_are_told 0 '^x86-64-v2, where n >= 1000: runs here' "$TL" bundle check wide
check bundle_takes_a_variant 0 '^8 4 1 8 1' python3 "$here/use_variants.py" wide
printf '{"problems": [{"kernel": "wide", "args": {}, "target": "cpu", "machine": "a \\u0022box", "trials":
 [{"state": "wrong", "ms": 1, "config": {"by": 5}}, {"state": "ok", "ms": 2.5, "config": {"by": 3}}]}]}' >rows.json
check bundle_tuned 0 'bundle of wide' "$TL" build "$here/wide.py" --target cpu -o tuned --tuned rows.json
check bundle_has_the_row 0 '"ms": 2.5' cat tuned/manifest.json
check bundle_has_the_knob 0 '^3 3 3 3 3' python3 "$here/use_variants.py" tuned
check bundle_of_other_sizes 0 'bundle of wide' "$TL" build "$here/wide.py" by=7 --target "cpu -mcpu=x86-64-v3" -o other --tuned rows.json
check bundle_has_no_row 0 '^7 7 7 7 7' python3 "$here/use_variants.py" other
check bundle_says_so 0 'rows.json has no row of wide for these arguments and cpu -mcpu=x86-64-v3.*bundle-tuned' "$TL" build "$here/wide.py" by=7 --target "cpu -mcpu=x86-64-v3" -o other --tuned rows.json
check bundle_of_another_knob 0 'has no row of wide' "$TL" build "$here/wide.py" by=7 --target cpu -o other --tuned rows.json
check bundle_of_that_knob 0 '^other: bundle of wide' "$TL" build "$here/wide.py" by=3 --target cpu -o other --tuned rows.json
sed 's/"kernel": "wide"/"kernel": "narrow"/' rows.json >narrow.json
check bundle_of_another_kernel 0 'has no row of wide' "$TL" build "$here/wide.py" --target cpu -o other --tuned narrow.json
sed 's/"args": {}/"args": {"type": "int64"}/' rows.json >sized.json
check bundle_of_a_default 0 'has no row of wide' "$TL" build "$here/wide.py" --target cpu -o other --tuned sized.json
printf '{"problems": [{"kernel": "wide", "args": {}, "target": "cpu", "machine": "m", "trials": [
 {"state": "ok", "ms": 1, "samples": [1], "config": {"by": 5}}, {"state": "ok", "ms": 2, "samples": [2, 2, 2], "config": {"by": 6}}]}]}' >lucky.json
check bundle_of_many_samples 0 '^other: bundle of wide' "$TL" build "$here/wide.py" --target cpu -o other --tuned lucky.json
check bundle_is_not_the_lucky_one 0 '^6 6 6 6 6' python3 "$here/use_variants.py" other
echo '{"a": [1, }' >slip.json
check bundle_tuned_slip 1 'slip.json is no JSON: byte' "$TL" build "$here/wide.py" -o other --tuned slip.json
check bundle_guard 1 "'k' is no run-time dimension.*bundle-guard" "$TL" build "$here/wide.py" -o w2 --variant 'k > 1: by=2'
check bundle_guard_slip 1 'bundle-guard' "$TL" build "$here/wide.py" -o w2 --variant 'n > : by=2'
check bundle_variant_slip 2 'it is CONDITION: NAME=VALUE' "$TL" build "$here/wide.py" -o w2 --variant 'n > 2'
check bundle_other_parameters 1 'bundle-parts' "$TL" build "$here/wide.py" -o w2 --variant 'n > 2: type=int64'

# A table as ncu prints it, written by hand: the fixture names lines of add.py.
check layout_banks 0 'bank conflicts when the lanes of a warp touch a row: 0, a column: [0-9]+, 16 bytes of each row: 0' "$TL" layout "$here/gemm.py" A_s --target 'cuda -arch=sm_80' --svg -
check profile_by_model 0 'warp 4 \(producer\) .*wait|a model' "$TL" profile "$here/gemm.py" --sim --target 'cuda -arch=sm_90a' --json "$work/a.json" --svg "$work/a.svg"
check profile_roles 0 'by role.*|producer \(1\) ' "$TL" profile "$here/gemm.py" --sim --target 'cuda -arch=sm_90a' --json "$work/b.json" --svg "$work/b.svg" --against "$work/a.json"
check profile_picture 0 'cycles of a model' cat "$work/a.svg"
check profile_against 0 'against .*a.json' "$TL" profile "$here/gemm.py" --sim --target 'cuda -arch=sm_80' --json "$work/b.json" --svg "$work/b.svg" --against "$work/a.json"
check profile_against_nothing 1 'no profile' "$TL" profile "$here/gemm.py" --sim --target 'cuda -arch=sm_80' --json "$work/b.json" --svg "$work/b.svg" --against "$here/gemm.py"
check profile_of_one_product 0 'a model' "$TL" profile "$here/gemm.py" --sim --target 'cuda -arch=sm_89 -model=geforce-rtx-4070' --json "$work/c.json" --svg "$work/c.svg"
check profile_of_another 0 'a model' "$TL" profile "$here/gemm.py" --sim --target 'cuda -arch=sm_89 -model=geforce-rtx-4090' --json "$work/d.json" --svg "$work/d.svg"
check profile_has_their_rates 1 'differ' cmp "$work/c.json" "$work/d.json"
check profile_of_no_threads 1 'not-profiled' "$TL" profile "$here/gemm.py" --sim --target cpu --json "$work/b.json" --svg "$work/b.svg"
check profile_lines 0 '^ 60.0%  add.py:[0-9]+ ' "$TL" profile --ncu-csv "$here/ncu_source.csv"
check profile_stalls 0 'long_scoreboard 75%, barrier 8%' "$TL" profile --ncu-csv "$here/ncu_source.csv"
ncu_emitted() { (cd "$here" && "$TL" profile --ncu-csv ncu_emitted.csv); }
check profile_emitted_home 0 '^ 60.0%  add.py:8 ' ncu_emitted
check profile_emitted_named 0 '^ 30.0%  tl_wait\(\) of the emitted text, line 3  while \(!done\)' ncu_emitted
check profile_emitted_head 0 '^ 10.0%  main_kernel\(\) of the emitted text, line 9 ' ncu_emitted
check profile_stall_once 0 'long_sb 93%, selected 7%' ncu_emitted
check profile_no_samples 1 'no samples with lines' "$TL" profile --ncu-csv "$here/add.py"
check profile_no_ncu 3 'no ncu here|nowhere/ncu' env TILELANG_NCU=/nowhere/ncu "$TL" profile "$here/add.py" --ncu
check strict_bench 0 '^TFLOPS: .* time_ms: ' "$TL" bench "$here/add.py" --target cpu --strict --no-roof --reps 5
check json_bench 0 '^\{"kernel": "add", .*"time_ms": [0-9.e-]+, .*"strict": true\}$' "$TL" bench "$here/add.py" --target cpu --strict --json --reps 5
check strict_verify 0 '^VERIFY: PASS$' "$TL" verify "$here/add.py" --target cpu --strict
check json_verify 0 '"verify": "PASS", "max_abs_err": 0, "strict": true' "$TL" verify "$here/add.py" --target cpu --strict --json
check strict_verify_fails 1 'VERIFY: FAIL max_abs_err' "$TL" verify "$here/rough.py" --target cpu --strict
check plain_verify_passes 0 'VERIFY: PASS' "$TL" verify "$here/rough.py" --target cpu
check nan_is_no_json 1 '"verify": "FAIL", "max_abs_err": null' "$TL" verify "$here/nan.py" --target cpu --json

# What programs link against: the soname, and every function (doc/stability.md).
library=$(dirname "$TL")/libtilelang.so
if [ -f "$library" ]; then
    check soname 0 'libtilelang\.so\.0' readelf -d "$library"
    nm -D --defined-only "$library" | awk '{print $3}' | LC_ALL=C sort >symbols.txt
    same symbols symbols.txt "$here/symbols.txt"
fi

check layout 0 'acc' "$TL" layout "$here/gemm.py" acc
check layout_svg 0 '' "$TL" layout "$here/gemm.py" acc --svg acc.svg
check svg_is_svg 0 '<svg' cat acc.svg
check layout_unknown 1 'no-such-buffer' "$TL" layout "$here/gemm.py" nothing
check explain_name 0 'T.copy\(' "$TL" explain T.copy
check explain_pass 0 'pass [0-9]+: lower_tiles' "$TL" explain lower_tiles
check explain_unknown 1 'nothing is known' "$TL" explain xyzzy
check targets 0 '^cpu: ' "$TL" targets
check targets_here 0 '^    cpu  *builds and runs' "$TL" targets
check targets_text 0 '^    metal  *writes text .*does not run: .*no-metal' "$TL" targets
check long_reason 1 "\^~~~~~~~~~$" "$TL" build "$here/add.py" --target "cuda -model=foo" --source
check no_number 1 'not a whole number' "$TL" build "$here/add.py" --target "cuda -max_num_threads=x" --source
check flag_not_given 0 'the compile flag -fsanitize=.* is ignored: the compiler of target webgpu' "$TL" build "$here/../kernel/loaded_overflow.py:sums" --target webgpu
check one_thread 0 '_kernel: 1 thread$' "$TL" build "$here/add.py" --target ascend
check cache_ls 0 ' kernels, .* in ' "$TL" cache ls
check cache_hit 0 'in the cache' "$TL" cache why "$here/gemm.py"
check cache_why 0 'differs' "$TL" cache why "$here/gemm.py" M=320
check cache_clear 0 'kernels removed' "$TL" cache clear
check cache_is_empty 0 '^0 kernels' "$TL" cache ls
check compiler_missing 3 'no-such-cc' env CC=no-such-cc "$TL" run "$here/add.py"

echo "cli: $npass passed, $nfail failed"
[ "$nfail" = 0 ]
