/* cuda_emit.c -- helpers pasted into CUDA text, by architecture; what NVRTC makes of all of them. */
#include "api/api.h"
#include "target/cuda/emit.h"
#include "target/cuda/rt/cuda.h"
#include "test.h"
#include "device_cuda.h"

static const char *pasted(Arena *a, const char *target, const char *text)
{
    TargetSpec spec;
    const char *why = "";
    Str out;

    CHECK(target_parse(a, target, &spec, &why));
    str_init(&out, a);
    cuda_paste(a, &spec, text, &out);
    return out.s;
}

static int times(const char *text, const char *part)
{
    int n = 0;
    for (const char *s = text; (s = strstr(s, part)); s += strlen(part))
        n++;
    return n;
}

TEST(only_what_is_used_is_pasted)
{
    Arena *a = arena_new();
    const char *t = pasted(a, "cuda -arch=sm_80", "x = tl_floordiv_i32(a, b);");

    CHECK_HAS(t, "TL_DEVICE int32_t tl_floordiv_i32(");
    CHECK_INT(times(t, "TL_DEVICE "), 2); /* its macro and the function */
    CHECK(strstr(t, "tl_floormod") == NULL);
    arena_free(a);
}

TEST(needs_come_first_and_once)
{
    Arena *a = arena_new();
    const char *t = pasted(a, "cuda -arch=sm_80", "tl_round_f16(x) + tl_f32_to_f16(y) + tl_round_f16(z)");
    const char *narrow = strstr(t, "tl_f32_to_f16(float x)");
    const char *both = strstr(t, "tl_round_f16(float x)");

    CHECK(narrow && both && narrow < both);
    CHECK_INT(times(t, "tl_f32_to_f16(float x)"), 1);
    arena_free(a);
}

TEST(instructions_of_the_architecture_win)
{
    Arena *a = arena_new();

    CHECK_HAS(pasted(a, "cuda -arch=sm_80", "tl_f32_to_bf16(x)"), "cvt.rn.bf16.f32");
    CHECK(!strstr(pasted(a, "cuda -arch=sm_75", "tl_f32_to_bf16(x)"), "cvt.rn.bf16.f32"));
    CHECK_HAS(pasted(a, "cuda -arch=sm_89", "tl_f32_to_e4m3fn(x)"), "e4m3x2");
    CHECK_HAS(pasted(a, "cuda -arch=sm_80", "tl_f32_to_e4m3fn(x)"), "tl_narrow(");
    CHECK_HAS(pasted(a, "cuda -arch=sm_80", "tl_mbar_wait(b, 0)"), "test_wait");
    CHECK_HAS(pasted(a, "cuda -arch=sm_90", "tl_mbar_wait(b, 0)"), "try_wait");
    CHECK(!strstr(pasted(a, "cuda -arch=sm_90", "tl_wgmma_wait<0>()"), "wgmma"));
    CHECK_HAS(pasted(a, "cuda -arch=sm_90a", "tl_wgmma_wait<0>()"), "wgmma");
    arena_free(a);
}

TEST(conversions_of_the_cpu_become_device_functions)
{
    Arena *a = arena_new();
    const char *t = pasted(a, "cuda -arch=sm_80", "tl_f32_to_e5m2fnuz(x)");

    CHECK_HAS(t, "TL_DEVICE uint8_t tl_f32_to_e5m2fnuz(float x)");
    CHECK(strstr(t, "static inline") == NULL);
    CHECK(strstr(t, "__builtin") == NULL);
    arena_free(a);
}

/* ---- NVRTC ------------------------------------------------------------------------------------ */

static Status compile_text(Arena *a, const char *target, const char *source, Module *code,
                           const char **why)
{
    TargetSpec spec;
    Compiler c = {0};
    int nflag;

    CHECK(target_parse(a, target, &spec, why));
    if (nvrtc_find(a, &c, why) != STATUS_OK)
        test_skip("no NVRTC here");
    ModuleSpec s = {.name = "text", .source = source, .nsource = strlen(source), .spec = &spec};
    const char *const *flags = nvrtc_flags(a, &c, &spec, NULL, &nflag);
    return nvrtc_run(a, &c, &s, flags, nflag, code, why);
}

TEST(kernels_of_one_text_are_compiled_side_by_side)
{
    Arena *a = arena_new();
    TargetSpec spec;
    const char *why;
    int n, found = 0;

    CHECK(target_parse(a, "cuda -arch=sm_90a", &spec, &why));
    const char *const *flags =
        nvrtc_flags(a, &(Compiler){0}, &spec, "--split-compile=0 --whatever", &n);
    for (int i = 0; i < n; i++)
        found += !strcmp(flags[i], "--split-compile=0");
    CHECK(found == 1);
    CHECK(!strcmp(flags[n - 1], "--no-cache")); /* the last */
    arena_free(a);
}

/* Every name of every file of device/cuda at once. */
static void compile_everything(const char *target)
{
    static const unsigned char *const files[] = {
        device_cuda_scalar_h, device_cuda_convert_h, device_cuda_atomic_h, device_cuda_warp_h,
        device_cuda_mma_h,    device_cuda_sm80_h,    device_cuda_sm89_h,   device_cuda_sm90_h,
        device_cuda_sm90a_h,
    };
    Arena *a = arena_new();
    Module code;
    const char *why = "";
    Str all, source;

    str_init(&all, a);
    str_init(&source, a);
    for (int i = 0; i < COUNT(files); i++)
        str_puts(&all, (const char *)files[i]);
    str_puts(&source, pasted(a, target, all.s));
    str_puts(&source, "extern \"C\" __global__ void nothing() {}\n");
    Status s = compile_text(a, target, source.s, &code, &why);
    CHECK_TEXT(why, "");
    CHECK_INT(s, STATUS_OK);
    CHECK(code.binary && code.nbinary > 0);
    arena_free(a);
}

TEST(all_helpers_compile_for_sm_80)
{
    compile_everything("cuda -arch=sm_80");
}

TEST(all_helpers_compile_for_sm_90a)
{
    compile_everything("cuda -arch=sm_90a");
}

TEST(what_it_refuses_comes_with_the_log)
{
    Arena *a = arena_new();
    Module code;
    const char *why = "";

    CHECK_INT(compile_text(a, "cuda -arch=sm_80", "nonsense here;\n", &code, &why), STATUS_TOOL);
    CHECK_HAS(why, "'text'");
    CHECK_HAS(why, "nonsense");
    arena_free(a);
}

TEST(registers_and_spills_are_read_from_the_log)
{
    static const char log[] =
        "ptxas info    : Compiling entry function 'first' for 'sm_80'\n"
        "ptxas         .     8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
        "ptxas info    : Used 24 registers, used 1 barriers\n"
        "ptxas info    : Compiling entry function 'second' for 'sm_80'\n"
        "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 255 registers\n";
    KernelResources r;

    CHECK(nvrtc_resources(log, "first", &r));
    CHECK_INT(r.registers, 24);
    CHECK_INT(r.spill_bytes, 16);
    CHECK_INT(r.stack_bytes, 8);
    CHECK(nvrtc_resources(log, "second", &r));
    CHECK_INT(r.registers, 255);
    CHECK_INT(r.spill_bytes, 0);
    CHECK(!nvrtc_resources(log, "third", &r));
    CHECK(!nvrtc_resources(NULL, "first", &r));
}

/* ---- the driver -------------------------------------------------------------------------------- */

static const char vector_add[] = "import tilelang\n"
                                 "import tilelang.language as T\n"
                                 "@tilelang.jit\n"
                                 "def add(N=100):\n"
                                 "    @T.prim_func\n"
                                 "    def main(A: T.Tensor((N,), 'float32'), B: T.Tensor((N,), 'float32'), n: T.int32):\n"
                                 "        with T.Kernel(T.ceildiv(N, 32), threads=32) as b:\n"
                                 "            for i in T.Parallel(32):\n"
                                 "                B[b * 32 + i] = A[b * 32 + i] + n\n"
                                 "    return main\n";

static tl_kernel *compiled(tl_context *c, bool no_build)
{
    tl_options o = TL_OPTIONS_INIT;
    tl_kernel *k = NULL;

    o.target = "cuda -arch=sm_80";
    o.no_build = no_build;
    tl_status s = tl_compile(c, "add.py", vector_add, &o, &k);
    if (s == TL_ETOOL && strstr(tl_message(c), "[no-nvrtc]"))
        test_skip("no NVRTC here");
    CHECK_INT(s, TL_OK);
    return k;
}

TEST(a_launch_hands_over_tensors_then_values)
{
    tl_context *c = tl_open();
    tl_kernel *k = compiled(c, true);
    const Kernel *n = k->build.func->kernels.at[0];

    CHECK_TEXT(n->launch.symbol, "main_kernel");
    CHECK_INT(n->launch.args.n, 3);
    CHECK_TEXT(n->launch.args.at[0].buf->name, "A");
    CHECK_TEXT(n->launch.args.at[1].buf->name, "B");
    CHECK_TEXT(n->launch.args.at[2].var->name, "n");
    CHECK_INT(n->launch.shared_bytes, 0);
    tl_kernel_free(k);
    tl_close(c);
}

static const char with_source[] =
    "import tilelang\n"
    "import tilelang.language as T\n"
    "@tilelang.jit\n"
    "def add(N=32):\n"
    "    @T.prim_func\n"
    "    def main(A: T.Tensor((N,), 'float32')):\n"
    "        with T.Kernel(1, threads=32) as b:\n"
    "            T.import_source('static __device__ int nobody_calls_this() { return 1; }')\n"
    "            for i in T.Parallel(32):\n"
    "                A[i] = 1\n"
    "    return main\n";

TEST(warnings_of_nvrtc_are_shown)
{
    tl_context *c = tl_open();
    tl_options o = TL_OPTIONS_INIT;
    tl_kernel *k = NULL;

    o.target = "cuda -arch=sm_80";
    o.no_cache = true;
    tl_status s = tl_compile(c, "add.py", with_source, &o, &k);
    if (s == TL_ETOOL && strstr(tl_message(c), "[no-nvrtc]"))
        test_skip("no NVRTC here");
    CHECK_INT(s, TL_OK);
    CHECK_HAS(tl_kernel_text(k, TL_TEXT_WARNINGS), "nobody_calls_this");
    CHECK_HAS(tl_kernel_text(k, TL_TEXT_WARNINGS), "[compiler-warning]");
    tl_kernel_free(k);
    tl_close(c);
}

TEST(without_a_driver_it_builds_and_says_why_it_does_not_run)
{
    Arena *a = arena_new();
    Gpu *g = NULL;
    const char *why = "";

    if (runtime_find("cuda")->open(a, &g, &why) == STATUS_OK)
        test_skip("there is a GPU here");
    CHECK(strstr(why, "[no-cuda-driver]") || strstr(why, "[no-cuda-device]"));
    tl_context *c = tl_open();
    tl_kernel *k = compiled(c, false);
    float x[100] = {0}, y[100] = {0};
    int32_t n = 3;
    tl_tensor args[] = {{.dtype = "float32", .rank = 1, .shape = {100}, .data = x},
                        {.dtype = "float32", .rank = 1, .shape = {100}, .data = y},
                        {.dtype = "int32", .data = &n}};

    CHECK_HAS(tl_kernel_text(k, TL_TEXT_RESOURCES), "main_kernel: 32 threads");
    CHECK_HAS(tl_kernel_text(k, TL_TEXT_RESOURCES), "registers");
    CHECK_INT(tl_kernel_run(k, args, 3), TL_ETOOL);
    CHECK_HAS(tl_message(c), "[no-cuda-dr");
    tl_kernel_free(k);
    tl_close(c);
    arena_free(a);
}

TEST(with_a_gpu_it_runs)
{
    Arena *a = arena_new();
    Gpu *g = NULL;
    const char *why = "";

    if (runtime_find("cuda")->open(a, &g, &why) != STATUS_OK)
        test_skip("no GPU here");
    tl_context *c = tl_open();
    tl_kernel *k = compiled(c, false);
    float x[100], y[100] = {0};
    int32_t n = 3;
    tl_tensor args[] = {{.dtype = "float32", .rank = 1, .shape = {100}, .data = x},
                        {.dtype = "float32", .rank = 1, .shape = {100}, .data = y},
                        {.dtype = "int32", .data = &n}};

    for (int i = 0; i < 100; i++)
        x[i] = (float)i;
    CHECK_INT(tl_kernel_run(k, args, 3), TL_OK);
    for (int i = 0; i < 100; i++)
        CHECK_NEAR(y[i], i + 3, 0);
    tl_kernel_free(k);
    tl_close(c);
    arena_free(a);
}
