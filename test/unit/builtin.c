/* builtin.c -- T.names: how calls are bound to signatures, and what each group emits. */
#include "front/front.h"
#include "test.h"

/* ---- a file, traced -------------------------------------------------------------------------- */

typedef struct {
    Arena *arena;
    Names *names;
    Diag diag;
    const char *text; /* the printed function, or all messages */
    bool failed;
    Status status;
} Traced;

static Traced *load(const char *file)
{
    Arena *a = arena_new();
    Traced *t = NEW(a, Traced);
    t->arena = a;
    t->names = names_new();
    diag_init(&t->diag, a);
    Source *src = NEW(a, Source);
    *src = (Source){"test.py", file, strlen(file)};
    LoadRequest r = {.src = src};
    Recover rec;
    Str out;
    str_init(&out, a);
    if (recover_open(&rec) == 0) {
        Func *f = front_load(ir_new(a, t->names, &t->diag, &op_words), &r);
        print_func(&out, f);
        recover_close(&rec);
    }
    t->status = rec.status;
    t->failed = rec.status != STATUS_OK;
    if (t->failed) {
        diag_render(&t->diag, &out, false);
        str_puts(&out, rec.text);
    }
    t->text = out.s;
    return t;
}

/* A kernel with A, B (64 x 64, float32), H (64 x 64, float16), N (64, int32) around `body`. */
static const char *around(Arena *a, const char *body)
{
    Str s;
    str_init(&s, a);
    str_puts(&s, "import tilelang\nimport tilelang.language as T\n"
                 "@T.prim_func\n"
                 "def main(A: T.Tensor((64, 64), 'float32'), B: T.Tensor((64, 64), 'float32'),\n"
                 "         H: T.Tensor((64, 64), 'float16'), N: T.Tensor((64,), 'int32')):\n"
                 "    with T.Kernel(4, 2, threads=128) as (bx, by):\n");
    for (const char *line = body; *line;) {
        size_t n = strcspn(line, "\n");
        str_puts(&s, "        ");
        str_putn(&s, line, n);
        str_putc(&s, '\n');
        line += n + (line[n] == '\n');
    }
    return s.s;
}

static const char *good(const char *body)
{
    Traced *t = load(around(arena_new(), body));
    if (t->failed)
        CHECK_TEXT(t->text, "");
    return t->text;
}

static const char *bad(const char *body)
{
    Traced *t = load(around(arena_new(), body));
    CHECK(t->failed);
    return t->text;
}

#define EMITS(body, part) CHECK_HAS(good(body), part)
#define FAILS(body, part) CHECK_HAS(bad(body), part)

/* ---- the table ------------------------------------------------------------------------------- */

TEST(names_are_found_once)
{
    for (int i = 0; i < builtin_count; i++)
        CHECK(builtin_find(builtin_table[i].name) == &builtin_table[i]);
    CHECK(!builtin_find("no_such_name"));
}

TEST(rows_are_documented)
{
    for (int i = 0; i < builtin_count; i++) {
        const Builtin *b = &builtin_table[i];
        size_t n = strlen(b->doc);
        CHECK(n > 10 && b->doc[n - 1] == '.');
        CHECK(b->doc[0] >= 'A' && b->doc[0] <= 'Z');
        CHECK(b->group[0] && b->run && b->cpu);
    }
}

/* The 120 most used names, of which at most ten may be refused. */
TEST(most_used_names_work)
{
    static const char *const names[] = {
        "copy", "Tensor", "alloc_fragment", "Parallel", "alloc_shared", "ceildiv", "gemm", "clear",
        "Kernel", "if_then_else", "fill", "exp2", "GemmWarpPolicy", "Pipelined", "infinity",
        "serial", "prim_func", "mbarrier_wait_parity", "reduce_sum", "alloc_barrier", "empty",
        "max", "alloc_var", "const", "mbarrier_arrive", "tma_copy", "min", "alloc_local",
        "reduce_max", "unroll", "barrier_arrive", "atomic_add", "dtype", "barrier_wait",
        "get_thread_binding", "dynamic", "alloc_tmem", "sync_threads", "use_swizzle", "WSSync",
        "annotate_layout", "log2", "alloc_cluster_barrier", "cast", "tcgen05_gemm", "wgmma_gemm",
        "vectorized", "access_ptr", "exp", "tcgen05_mma_arrive", "ws", "floordiv", "set_max_nreg",
        "Layout", "PersistentTileScheduler", "wait_wgmma", "reinterpret", "macro", "Cast",
        "tcgen05_cp_warpx4", "tcgen05_sf_warp_transpose", "ClusterKernel", "WSPipeline", "assume",
        "block_rank_in_cluster", "call_extern", "ws_op", "Buffer", "FragmentBuffer",
        "SharedBuffer", "WSScope", "disable_warp_group_reg_alloc", "WSRole", "fence_proxy_async",
        "import_source", "shift_left", "thread_binding", "Fragment", "alloc_global",
        "ptx_cp_async", "reduce_absmax", "tcgen05_gemm_blockscaled", "attr", "clamp",
        "comm_reducer", "evaluate", "floormod", "tvm_thread_allreduce", "cp_async_barrier_noinc",
        "get_block_binding", "rsqrt", "im2col", "make_tensor", "ptr", "reshape", "Serial",
        "WSSchedule", "annotate_ws_schedule", "any_sync", "atomic_addx4", "atomic_load",
    };
    static const char *const types[] = {
        "float32", "float16", "int32", "bfloat16", "uint16", "uint32", "int8", "uint8", "float",
        "float8_e4m3fn", "int4", "uint", "bool", "tfloat32", "float4_e2m1fn", "int", "uint64",
        "int16",
    };
    int refused = 0;
    for (int i = 0; i < COUNT(names); i++) {
        const Builtin *b = builtin_find(names[i]);
        CHECK(b != NULL);
        refused += b->cpu[0] != 0;
    }
    for (int i = 0; i < COUNT(types); i++) {
        DType t;
        int lanes;
        CHECK(dtype_parse(types[i], &t, &lanes));
    }
    CHECK(refused <= 10);
}

/* ---- binding --------------------------------------------------------------------------------- */

TEST(too_many_arguments)
{
    FAILS("T.clear(A, None, 3)", "T.clear takes at most 2 positional arguments, not 3");
    FAILS("T.get_thread_bindings(1)", "T.get_thread_bindings takes 0 positional arguments, not 1");
}

TEST(missing_arguments)
{
    FAILS("T.copy(A)", "T.copy: argument 'dst' is missing");
    FAILS("T.copy(dst=A)", "T.copy: argument 'src' is missing");
}

TEST(unknown_keywords)
{
    FAILS("T.reduce_sum(A, B, dims=1)", "T.reduce_sum has no argument 'dims'; did you mean 'dim'?");
    FAILS("T.clear(A, buffer=B)", "argument 'buffer' is given twice");
}

TEST(keyword_only_arguments)
{
    FAILS("S = T.alloc_shared((64, 64), 'float32')\nT.copy(A, S, 8)",
          "T.copy takes at most 2 positional arguments, not 3");
}

TEST(wrong_types_are_named)
{
    FAILS("T.use_swizzle('8')", "T.use_swizzle: 'panel_size'");
    FAILS("T.clear(3)", "T.clear: 'buffer'");
    FAILS("x = T.alloc_shared((8,), 3)", "T.alloc_shared: 'dtype'");
}

/* ---- launch ---------------------------------------------------------------------------------- */

TEST(kernel_extents)
{
    Traced *t = load("import tilelang.language as T\n@T.prim_func\n"
                     "def main(A: T.Tensor((8,), 'float32')):\n"
                     "    with T.Kernel(-1) as bx:\n        A[bx] = 0\n");
    CHECK_HAS(t->text, "x extent must be positive, not -1 [kernel-extent]");
    t = load("import tilelang.language as T\n@T.prim_func\n"
             "def main(A: T.Tensor((8,), 'float32')):\n"
             "    with T.Kernel(1, 2, 3, 4) as bx:\n        A[0] = 0\n");
    CHECK_HAS(t->text, "takes at most 3 grid extents, not 4");
    t = load("import tilelang.language as T\n@T.prim_func\n"
             "def main(A: T.Tensor((8,), 'float32')):\n"
             "    with T.Kernel(1, threads=(32, 64)) as bx:\n        A[0] = 0\n");
    CHECK_HAS(t->text, "at most 1024");
}

TEST(thread_index_makes_the_kernel_per_thread)
{
    EMITS("tx = T.get_thread_binding(0)\nN[tx] = tx", "tx");
    EMITS("N[0] = T.get_thread_extent(0)", "128");
    EMITS("N[0] = T.get_block_extent(1)", "= 2");
}

/* ---- alloc, copy ----------------------------------------------------------------------------- */

TEST(tiles_have_constant_shapes)
{
    FAILS("S = T.alloc_shared((bx, 8), 'float32')\nT.clear(S)", "not known at compile time");
    FAILS("S = T.alloc_fragment((8, -8), 'float32')\nT.clear(S)", "must be positive");
}

TEST(variables_start_at_zero)
{
    EMITS("x = T.alloc_var('int32')\nN[0] = x", "x[] = 0");
    EMITS("x = T.alloc_var('int32', 5)\nN[0] = x", "x[] = 5");
    EMITS("x = T.alloc_var('int32', 'local.var', init=7)\nN[0] = x", "x[] = 7");
    FAILS("x = T.alloc_var('int32', 5, init=7)\nN[0] = x", "given twice");
}

TEST(copy_takes_extents_from_the_other_side)
{
    const char *text = good("S = T.alloc_shared((32, 16), 'float32')\n"
                            "T.copy(A[bx * 32, by * 16], S)\nT.copy(S, B[bx * 32, by * 16])");
    CHECK_HAS(text, "(A[bx * 32:+32, by * 16:+16], S[0:+32, 0:+16])");
    CHECK_HAS(text, "B[bx * 32:+32, by * 16:+16])");
}

TEST(copy_of_an_element_is_an_assignment)
{
    EMITS("T.copy(A[1, 2], B[3, 4])", "B[3, 4] = A[1, 2]");
    EMITS("T.copy(A[1, 2], H[3, 4])", "H[3, 4] = cast(float16, A[1, 2])");
}

TEST(copy_repeats_a_short_source)
{
    EMITS("S = T.alloc_shared((32, 64), 'float32')\nT.copy(A[3:4, 0:64], S)", "S[i, i.1] = A[3, i.1]");
}

TEST(copy_refuses_what_does_not_fit)
{
    FAILS("S = T.alloc_shared((32, 64), 'float32')\nT.copy(A, S)", "[copy-shape]");
    FAILS("S = T.alloc_shared((32, 64), 'float32')\nT.copy(S, A[3:4, 0:64])", "[copy-shape]");
    FAILS("S = T.alloc_shared((4, 4, 4), 'float32')\nT.copy(S, A[0, 0])", "[copy-shape]");
    FAILS("S = T.alloc_shared((64, 96), 'float32')\nT.copy(S[0:64, 0:128], A)", "[slice-range]");
}

TEST(views_keep_their_bits)
{
    EMITS("S = T.alloc_shared((32, 64), 'float32')\nV = T.view(S, dtype='float16')\nT.clear(V)",
          "32, 128");
    FAILS("S = T.alloc_shared((32, 64), 'float32')\nV = T.view(S, (32, 64), 'float16')",
          "has 65536 bits, the view asks for 32768");
}

/* ---- gemm, reduce ---------------------------------------------------------------------------- */

#define TILES "a = T.alloc_shared((32, 16), 'float16')\nb = T.alloc_shared((16, 48), 'float16')\n"    \
              "c = T.alloc_fragment((32, 48), 'float32')\n"

TEST(gemm_checks_shapes)
{
    EMITS(TILES "T.gemm(a, b, c, clear_accum=bx == 0)", "args(false, false, bx == 0, 1)");
    FAILS(TILES "T.gemm(a, b, c, transpose_B=True)",
          "B (transposed) is K=48, N=16, C is M=32, N=48");
    FAILS(TILES "T.gemm(b, a, c)", "[gemm-shape]");
    FAILS(TILES "d = T.alloc_fragment((32, 48), 'int32')\nT.gemm(a, b, d)", "[gemm-dtype]");
    FAILS(TILES "T.gemm(a, b, c, policy=7)", "must be a GemmWarpPolicy");
}

TEST(gemm_keeps_its_policy)
{
    EMITS(TILES "T.gemm(a, b, c, policy=T.GemmWarpPolicy.FullRow)", "hints(\"policy\"=1)");
}

TEST(reductions_check_dim_and_shape)
{
    EMITS("s = T.alloc_fragment((32, 16), 'float32')\nr = T.alloc_fragment((32,), 'float32')\n"
          "T.fill(s, 1)\nT.reduce_sum(s, r, dim=-1)", "reduce");
    EMITS("s = T.alloc_fragment((32, 16), 'float32')\nr = T.alloc_fragment((1, 16), 'float32')\n"
          "T.fill(s, 1)\nT.reduce_absmax(s, r, dim=0)", "absmax");
    FAILS("s = T.alloc_fragment((32, 16), 'float32')\nr = T.alloc_fragment((16,), 'float32')\n"
          "T.reduce_sum(s, r, dim=1)", "[reduce-shape]");
    FAILS("s = T.alloc_fragment((32, 16), 'float32')\nr = T.alloc_fragment((32,), 'float32')\n"
          "T.reduce_sum(s, r, dim=-3)", "is -3, but the tile has 2 dimensions");
}

TEST(scans_default_to_dimension_zero)
{
    EMITS("s = T.alloc_shared((32, 16), 'float32')\nT.clear(s)\nT.cumsum(s)", "scan");
}

/* ---- math, types ----------------------------------------------------------------------------- */

TEST(python_numbers_fold)
{
    EMITS("N[0] = T.ceildiv(10, 3)", "N[0] = 4");
    EMITS("N[0] = T.ceildiv(-10, 3)", "N[0] = -3");
    EMITS("N[0] = T.floordiv(-10, 3)", "N[0] = -4");
    EMITS("N[0] = T.truncdiv(-10, 3)", "N[0] = -3");
    EMITS("N[0] = T.align_up(10, 8)", "N[0] = 16");
    EMITS("N[0] = T.max(3, 4) + T.min(3, 4)", "N[0] = 7");
    EMITS("N[0] = T.clamp(9, 0, 5)", "N[0] = 5");
    FAILS("N[0] = T.floormod(7, 0)", "[division-by-zero]");
}

TEST(power_multiplies)
{
    EMITS("A[0, 0] = T.pow(B[0, 0], 2)", "A[0, 0] = B[0, 0] * B[0, 0]");
    EMITS("A[0, 0] = T.pow(B[0, 0], 0)", "A[0, 0] = 1.0");
    EMITS("A[0, 0] = T.pow(B[0, 0], 0.5)", "pow(B[0, 0], 0.5)");
}

TEST(literals_take_the_other_type)
{
    EMITS("H[0, 0] = T.max(H[0, 1], 0)", "max(H[0, 1], float16(0.0))");
    EMITS("H[0, 0] = T.if_then_else(bx > 0, H[0, 1], 1.0)", "float16(1.0)");
    EMITS("A[0, 0] = T.exp(N[0])", "exp(cast(float32, N[0]))");
}

TEST(infinities)
{
    EMITS("A[0, 0] = -T.infinity('float32')", "-inf");
    FAILS("A[0, 0] = T.infinity('float8_e4m3fn')", "has no infinity");
}

TEST(types_are_callable)
{
    EMITS("A[0, 0] = T.float32(N[0])", "A[0, 0] = cast(float32, N[0])");
    EMITS("N[0] = T.int32(A[0, 0])", "N[0] = cast(int32, A[0, 0])");
    EMITS("N[0] = T.dtype('float16').bits", "N[0] = 16");
    EMITS("N[0] = T.reinterpret(A[0, 0], 'int32')", "bitcast");
    FAILS("N[0] = T.reinterpret(H[0, 0], 'int32')", "has 16 bits, int32 has 32");
}

/* ---- atomics, synchronisation, warps --------------------------------------------------------- */

TEST(atomics_of_elements_and_tiles)
{
    EMITS("T.atomic_add(A[bx, 0], 1.5)", "atomic_add");
    EMITS("old = T.atomic_add(N[0], 1, return_prev=True)\nN[1] = old", "N[1] = old");
    EMITS("s = T.alloc_shared((8, 64), 'float32')\nT.clear(s)\nT.atomic_add(A[bx * 8, 0], s)",
          "(s[0:+8, 0:+64], A[bx * 8:+8, 0:+64]) text \"add\"");
    FAILS("s = T.alloc_shared((8, 64), 'float32')\nT.clear(s)\n"
          "x = T.atomic_add(A[bx * 8, 0], s, return_prev=True)", "[atomic-tile]");
    FAILS("T.atomic_add(A[0, 0], 1, memory_order='strong')", "[memory-order]");
}

TEST(barriers_take_one_barrier)
{
    EMITS("m = T.alloc_barrier([128, 128])\nT.mbarrier_arrive(m[0])\nT.mbarrier_wait_parity(m[0], 0)",
          "wait_phase");
    FAILS("m = T.alloc_barrier([128, 128])\nT.mbarrier_arrive(m)", "must be one barrier");
    FAILS("T.mbarrier_arrive(A)", "must be a barrier");
}

TEST(shuffles_bind_a_value)
{
    EMITS("x = T.shfl_xor(A[0, 0], 1)\nA[0, 1] = x", "shfl_xor");
    EMITS("N[0] = T.get_lane_idx()", "% 32");
}

TEST(warp_groups_exist)
{
    EMITS("with T.ws(0):\n    N[0] = 1", "N[0] = 1");
    FAILS("with T.ws(1):\n    N[0] = 1", "there is no warp group 1");
}

/* ---- annotations, layouts -------------------------------------------------------------------- */

TEST(layouts_are_pinned)
{
    EMITS("s = T.alloc_shared((64, 64), 'float32')\n"
          "T.annotate_layout({s: T.Layout((64, 64), lambda i, j: (j, i))})\nT.clear(s)", "(j, i)");
    EMITS("s = T.alloc_shared((64, 64), 'float16')\n"
          "T.annotate_layout({s: tilelang.layout.make_swizzled_layout(s)})\nT.clear(s)", "swizzle");
    FAILS("s = T.alloc_shared((64, 64), 'float32')\n"
          "T.annotate_layout({s: lambda i, j: i + j})\nT.clear(s)", "[layout-injective]");
}

TEST(layout_methods)
{
    EMITS("l = T.Layout((8, 4), lambda i, j: (j, i))\n"
          "N[0] = l.get_output_shape()[0]\nN[1] = l.inverse().map_forward_index(3, 5)[0]",
          "N[0] = 4");
    EMITS("f = T.Fragment((8, 4), forward_thread_fn=lambda i, j: i * 4 + j)\n"
          "N[0] = f.get_thread_size()", "N[0] = 32");
}

/* ---- modules --------------------------------------------------------------------------------- */

TEST(package_helpers)
{
    EMITS("N[0] = tilelang.next_power_of_2(33)", "N[0] = 64");
    EMITS("N[0] = tilelang.cdiv(33, 8)", "N[0] = 5");
    EMITS("N[0] = len(tilelang.recommend_gemm(512, 512, 512))", "N[0] = 8");
    EMITS("N[0] = len(tilelang.recommend_attention(512, 64))", "N[0] = 4");
    EMITS("N[0] = tilelang.aligned_row(33, \"float16\")", "N[0] = 33");
}

TEST(unsupported_says_why)
{
    FAILS("T.tcgen05_gemm_sp(A, A, A, A)", "T.tcgen05_gemm_sp is not supported: only the waiting form");
}

TEST(persistent_schedulers_walk_panels)
{
    const char *text = good("s = T.PersistentTileScheduler(8, 4, num_workers=4, swizzle_size=2)\n"
                            "s.init(bx)\nwhile s.valid():\n    N[s.m_idx] = s.n_idx\n    s.next_tile()");
    CHECK_HAS(text, "while");
    CHECK_HAS(text, "linear_idx");
}

/* ---- anything at all --------------------------------------------------------------------------- */

static const char *const odd[] = {
    "None", "3", "-1", "0", "2.5", "'x'", "True", "A", "A[0, 0]", "A[0:8, 0:8]", "S", "f", "v",
    "bx", "[1, 2]", "(64, 64)", "{S: 1}", "lambda i, j: (i, j)", "T.float16", "m", "T.copy",
    "'float32'", "T.Layout((64, 64), lambda i, j: (j, i))", "[S, f]", "T.Ramp(bx, 1, 4)", "T.float16(1)", "T.int64(3)", "N[0]", "T.float32x2(1, 2)",
    "T.address_of(A[0, 0])", "N[bx] > 0",
};

/* A call with n arguments of the pool, chosen by a number. */
static const char *odd_call(Arena *a, const Builtin *b, int n, uint32_t pick)
{
    Str s;
    str_init(&s, a);
    str_printf(&s, "S = T.alloc_shared((64, 64), 'float32')\nf = T.alloc_fragment((64,), 'float32')\n"
               "v = T.alloc_var('int32')\nm = T.alloc_barrier(128)\nx = T.%s(", b->name);
    for (int i = 0; i < n; i++) {
        str_printf(&s, "%s%s", i ? ", " : "", odd[pick % COUNT(odd)]);
        pick = pick / COUNT(odd) + pick * 7 + 1;
    }
    str_puts(&s, ")\nN[0] = 1");
    return s.s;
}

TEST(no_call_breaks_the_compiler)
{
    uint32_t seed = 1;
    int bad = 0;
    for (int i = 0; i < builtin_count; i++) {
        if (strchr(builtin_table[i].name, '.'))
            continue;
        for (int k = 0; k < 3 * COUNT(odd) / TEST_SHARE; k++) {
            Arena *a = arena_new();
            seed = seed * 1664525u + 1013904223u;
            const char *body = odd_call(a, &builtin_table[i], k % 5, seed >> 8);
            Traced *t = load(around(a, body));
            if (t->status != STATUS_OK && t->status != STATUS_USER && bad++ < 20)
                printf("%s\n%s\n", strstr(body, "x ="), t->text);
            names_free(t->names);
            arena_free(t->arena);
            arena_free(a);
        }
    }
    CHECK_INT(bad, 0);
}
