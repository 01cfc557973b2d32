/* read.c -- reading the text form: what was printed comes back, garbage is refused with a tag. */
#include <math.h>
#include "ir_world.h"

/* One of everything, as print_func writes it. */
static const char everything[] =
    "func main: @1:1-40:9\n"
    "    source \"k.py\"\n"
    "    dim M: int32 @2:1-2:5\n"
    "    var n: int32\n"
    "    param A: float16[M, 64] global stride(n, 1) is_param @3:1-3:20\n"
    "    param n: int32\n"
    "    param C: float32[M] global is_param is_output named \"result\" out\n"
    "    param p: handle\n"
    "    workspace W: float32[M, 2] global is_workspace\n"
    "    hints(\"fast\"=true, \"flags\"=\"-O3\", \"bare\")\n"
    "    m: int32 = (M + 127) // 128 @5:5-5:20\n"
    "    if m < 4:\n"
    "        launch main_kernel: @6:5-30:9\n"
    "            at @6:1-7:1\n"
    "            form CHECKED NORMAL SIMPLE\n"
    "            grid bx: int32 = m, _ = 2\n"
    "            threads tx: int32 = 128, _ = 1, _ = 1\n"
    "            cluster 2, 1, 1\n"
    "            uses_threads\n"
    "            swizzle 10 order \"row\"\n"
    "            min_blocks 2\n"
    "            arena_bytes 8192\n"
    "            prelude \"#include <x.h>\\n\"\n"
    "            hints(\"order\"=[1, 0, -2], \"none\"=[])\n"
    "            buffer A_s: float16[128, 64] shared @8:1-8:9\n"
    "            buffer A_v: int16[8192] shared view(A_s)\n"
    "            buffer acc: float32[4] fragment\n"
    "            buffer s: float32[] var\n"
    "            buffer red: float32[4] reducer reducer \"sum\"\n"
    "            buffer bar: uint64[2] barrier arrive(1, 128)\n"
    "            other P: float32[n] global pointer(p)\n"
    "            tile #0 how \"simd\" why \"because \\\"x\\\"\" ahead 1 pipe 2 open isa \"cpu.gemm\"\n"
    "            plan A safe(float16(0.0))\n"
    "            plan A_s pinned l2(float64(0.5)) stages 3 offset 0 nbytes 16384 placed\n"
    "            body:\n"
    "                copy #0(A[bx * 128:+128, 0:+64], A_s[0:+128, 0:+64]) hints(\"w\"=8) @9:5-9:9\n"
    "                gemm #7(A_s[0:+128, 0:+64], acc[0:+4]) args(false, none, 1) text \"sum\"\n"
    "                for i in parallel(0, 4): @\"lib.py\":3:1-4:2\n"
    "                    for j: int64 in pipelined(int64(0), int64(4)) hints(\"num_stages\"=2):\n"
    "                        acc[i] = 1.5 if j < int64(2) else acc[i] where i < M\n"
    "                        v: float32 = load(C[i], i < M, 0.0)\n"
    "                        C[ramp(i, 1, 4)] = broadcast(v, 4)\n"
    "                        eval extern(float32, \"f\", v, addr(C[i]))\n"
    "                i_1: int64 = cast(int64, tx) + int64(3)\n"
    "                while not (tx == 1 or tx != 2):\n"
    "                    if tx >> 1 <= 3 & tx ^ 5 | ~tx:\n"
    "                        break\n"
    "                    else:\n"
    "                        continue\n"
    "                old: float32 = atomic_add(C[0], 1.0) order \"relaxed\"\n"
    "                atomic_store(C[0], old)\n"
    "                sh: float32 = call shfl_xor(old, 1)\n"
    "                call wait_phase(0, 1) regions(bar[0:+1]) text \"t\"\n"
    "                role \"producer\" groups(0, 1):\n"
    "                    s[] = min(s[], max(1.0, -(2.0))) - exp(sh) * -sh / 3.0\n"
    "                instr \"cpu.gemm\" #0(A_s[0:+128, 0:+64]) args(1, none)\n"
    "                assert tx < 128 text \"bad\"\n"
    "                P[0] = select(tx < 1, lane(bitcast(float16x2, v), 1) * float16(2.0), "
    "float16(nan))\n";

static const char *round_trip(World *w, const char *text)
{
    return func_text(w, func_of(w, text));
}

/* P holds float32, so the last line of `everything` needs its cast. */
static char *everything_typed(World *w)
{
    Str s;
    str_init(&s, w->arena);
    const char *at = strstr(everything, "select(");
    str_putn(&s, everything, (size_t)(at - everything));
    str_printf(&s, "cast(float32, %.*s)\n", (int)strcspn(at, "\n"), at);
    return s.s;
}

TEST(everything_comes_back)
{
    World w;
    world_open(&w);
    const char *text = everything_typed(&w);
    CHECK_TEXT(round_trip(&w, text), text);
    world_close(&w);
}

TEST(what_was_read_is_what_was_said)
{
    World w;
    world_open(&w);
    Func *f = func_of(&w, everything_typed(&w));
    Kernel *k = f->kernels.at[0];
    CHECK_INT(f->params.n, 4);
    CHECK_TEXT(f->params.at[2].name, "result");
    CHECK(f->params.at[2].out && f->params.at[2].buf->is_output);
    CHECK(f->params.at[1].var == f->params.at[0].buf->stride[0]->u.var);
    CHECK_INT(f->dims.n, 1);
    CHECK_INT(f->workspaces.n, 1);
    CHECK_TEXT(f->span.src->name, "k.py");
    CHECK_INT(k->form, FORM_CHECKED | FORM_NORMAL | FORM_SIMPLE);
    CHECK_INT(k->ngrid, 2);
    CHECK_INT(kernel_block_threads(k), 128);
    CHECK_INT(k->buffers.n, 6);
    CHECK(k->buffers.at[1]->view_of == k->buffers.at[0]);
    CHECK_TEXT(k->tiles.at[0].how->name, "simd");
    CHECK(k->tiles.at[0].ahead == 1 && k->tiles.at[0].pipe == 2 && k->tiles.at[0].left_open);
    CHECK_INT(buffer_plan(k, k->buffers.at[0])->stages, 3);
    CHECK_INT(w.ir->ntile, 8);
    const Stmt *copy = k->body->u.block.list[0];
    CHECK_INT(copy->span.line, 9);
    CHECK(copy->span.src == f->span.src);
    CHECK_TEXT(k->body->u.block.list[2]->span.src->name, "lib.py");
    world_close(&w);
}

TEST(a_kernel_alone_becomes_a_function)
{
    World w;
    Str s;
    world_open(&w);
    Func *f = func_of(&w, everything_typed(&w));
    str_init(&s, w.arena);
    print_kernel(&s, f->kernels.at[0]);
    Func *g = func_of(&w, s.s);
    CHECK_INT(g->kernels.n, 1);
    CHECK_INT(g->params.n, 2);
    CHECK_TEXT(g->params.at[0].name, "A");
    CHECK(g->dims.n >= 2);
    const char *once = func_text(&w, g);
    CHECK_TEXT(round_trip(&w, once), once);
    world_close(&w);
}

TEST(layouts_come_back)
{
    static const char text[] =
        "func f:\n"
        "    launch k:\n"
        "        threads tx: int32 = 32, _ = 1, _ = 1\n"
        "        buffer S: float16[8, 16] shared\n"
        "        buffer F: float32[8, 16] fragment\n"
        "        plan S layout{layout[8, 16] (i, j) -> (j // 8, i, j % 8)} pinned\n"
        "        plan F layout{fragment[8, 16] threads 32 rep 2 (i, j, r) -> thread "
        "i * 2 + j // 8 + r * 16, slot (j % 8) \"half\"}\n"
        "        body:\n"
        "            for i in parallel(0, 8) hints(\"loop_layout\"=layout{layout[8] (i) -> (i)}):\n"
        "                S[i, 0] = float16(0.0)\n"
        "        loop i layout{layout[8] (i) -> (i)}\n"
        "        convert F layout{layout[8, 16] (i, j) -> (j, i)} in 1\n";
    World w;
    world_open(&w);
    Func *f = func_of(&w, text);
    Kernel *k = f->kernels.at[0];
    CHECK_TEXT(func_text(&w, f), text);
    CHECK_INT(k->loops.n, 1);
    CHECK(k->loops.at[0].var == k->body->u.loop.var);
    CHECK(k->converts.at[0].at == k->body->u.loop.body);
    world_close(&w);
}

TEST(comments_and_blank_lines_are_skipped)
{
    World w;
    world_open(&w);
    CHECK_TEXT(round_trip(&w, "# after x\n\nfunc f:\n\n  # here\n  dim n: int32\n  pass"),
               "func f:\n    dim n: int32\n    pass\n");
    world_close(&w);
}

/* Every float constant comes back bit for bit. */
TEST(constants_come_back)
{
    World w;
    world_open(&w);
    static const DType types[] = {DT_F16, DT_BF16, DT_E4M3, DT_E5M2, DT_E3M4, DT_E8M0, DT_E2M1};
    for (int i = 0; i < COUNT(types); i++) {
        uint64_t n = UINT64_C(1) << dtype_bits(types[i]);
        for (uint64_t b = 0; b < n; b += n > 256 ? 37 : 1) {
            const Expr *e = expr_float(w.ir, types[i], num_decode(types[i], b));
            const char *text = arena_printf(w.arena, "func f:\n    eval %s\n", text_of(&w, e));
            Func *f = func_of(&w, text);
            CHECK(f->body->kind == ST_EVAL && f->body->u.eval == e);
        }
    }
    uint64_t bits = 0x123456789abcdef;
    for (int i = 0; i < 3000; i++) {
        bits = hash_mix(bits, (uint64_t)i);
        DType t = i % 2 ? DT_F64 : DT_F32;
        const Expr *e = expr_float(w.ir, t, num_decode(t, i % 2 ? bits : bits & 0xffffffff));
        const char *text = arena_printf(w.arena, "func f:\n    eval %s\n", text_of(&w, e));
        CHECK(func_of(&w, text)->body->u.eval == e);
    }
    world_close(&w);
}

typedef struct {
    const char *line, *tag;
} Bad;

static void read_bad(World *w, void *arg)
{
    const Bad *b = arg;
    func_of(w, arena_printf(w->arena,
                            "func f:\n"
                            "    param A: float32[4] global\n"
                            "    i: int32 = 1\n"
                            "    %s\n", b->line));
}

TEST(wrong_text_is_refused)
{
    static const Bad bad[] = {
        {"x", "ir-syntax"},
        {"A[j] = 1.0", "ir-name"},
        {"B[i] = 1.0", "ir-name"},
        {"A[i, i] = 1.0", "ir-type"},
        {"A[i] = i", "ir-type"},
        {"A[1.0] = 1.0", "ir-type"},
        {"A[i] = 1.0 where i", "ir-type"},
        {"A[i] = foo(i)", "ir-name"},
        {"A[i] = exp(1.0, 2.0)", "ir-syntax"},
        {"if i:", "ir-type"},
        {"if i < 2:", "ir-syntax"},
        {"for j in sideways(0, 2):", "ir-name"},
        {"role \"boss\" groups(0):", "ir-name"},
        {"eval i / i", "ir-type"},
        {"eval i + true", "ir-type"},
        {"eval int8(300)", "ir-type"},
        {"eval 99999999999", "ir-type"},
        {"eval 99999999999999999999999", "ir-syntax"},
        {"eval \"abc", "ir-syntax"},
        {"eval \"\\q\"", "ir-syntax"},
        {"eval (1", "ir-syntax"},
        {"eval 1 2", "ir-syntax"},
        {"eval $", "ir-syntax"},
        {"nop #0(A[0:+4])", "ir-name"},
        {"copy #-1(A[0:+4])", "ir-syntax"},
        {"launch nobody", "ir-name"},
        {"call nothing()", "ir-name"},
        {"i: int64 = int64(1)", "ir-type"},
        {"A: float32 = 1.0", "ir-name"},
        {"instr \"nothing\" #0()", "ir-name"},
        {"eval cast(float33, i)", "ir-name"},
        {"  eval i", "ir-syntax"},
    };
    for (int i = 0; i < COUNT(bad); i++) {
        World w;
        world_open(&w);
        Bad b = bad[i];
        const char *tag = thrown(&w, read_bad, &b);
        if (strcmp(tag, b.tag) != 0)
            printf("%s\n", b.line);
        CHECK_TEXT(tag, b.tag);
        CHECK(w.diag.list.at[0].span.line >= 4);
        world_close(&w);
    }
}

static void read_text(World *w, void *arg)
{
    func_of(w, arg);
}

TEST(nesting_is_bounded)
{
    World w;
    world_open(&w);
    Str s;
    str_init(&s, w.arena);
    str_puts(&s, "func f:\n    eval ");
    for (int i = 0; i < 100000; i++)
        str_putc(&s, i % 3 ? '(' : '~');
    CHECK_TEXT(thrown(&w, read_text, s.s), "too-deep");
    world_close(&w);
    world_open(&w);
    str_init(&s, w.arena);
    str_puts(&s, "func f:\n");
    for (int i = 1; i < 1000; i++) {
        str_indent(&s, i);
        str_puts(&s, "if true:\n");
    }
    CHECK_TEXT(thrown(&w, read_text, s.s), "too-deep");
    world_close(&w);
}

/* An expression by itself, as layouts hold them, is held to the same types. */
TEST(wrong_expressions_are_refused)
{
    static const char *const wrong[] = {
        "i / 4",   "i & 1.5", "i << 1.5",    "1.5 >> i",      "i + true",
        "1.5 | 2", "i and 1", "true / true", "i if i else i",
    };
    World w;
    world_open(&w);
    Var *i = var_new(w.ir, "i", DT_I32, NO_SPAN);
    for (int k = 0; k < COUNT(wrong); k++)
        CHECK(!expr_parse(w.ir, wrong[k], NULL, &i, 1));
    CHECK(expr_parse(w.ir, "i // 4 * 8 + i % 4", NULL, &i, 1));
    world_close(&w);
}

/* Cut short or with a character changed anywhere: read or refused, never our fault; and what is
 * read prints to something that prints the same again. */
TEST(damaged_text_does_no_harm)
{
    World w;
    world_open(&w);
    const char *whole = everything_typed(&w);
    size_t n = strlen(whole);
    uint64_t seed = 7;
    for (int round = 0; round < 3000; round++) {
        World v;
        world_open(&v);
        seed = hash_mix(seed, (uint64_t)round);
        char *copy = arena_strndup(v.arena, whole, round % 2 ? n : seed % n);
        size_t len = strlen(copy);
        for (int i = 0; len && i < 1 + round % 3; i++)
            copy[hash_mix(seed, (uint64_t)i) % len] = "(0a:#[]\n -\"@x,"[(seed >> 20) % 15];
        const char *tag = thrown(&v, read_text, copy);
        if (strncmp(tag, "bug", 3) == 0)
            printf("%s\n", tag);
        CHECK(strncmp(tag, "bug", 3) != 0);
        if (!*tag) {
            const char *once = round_trip(&v, copy);
            CHECK_TEXT(round_trip(&v, once), once);
        }
        world_close(&v);
    }
    world_close(&w);
}
