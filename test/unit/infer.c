/* infer.c -- tests of layout inference at many thread counts: total, agreeing, deterministic. */
#include "ir_world.h"
#include "pass/pass.h"
#include "pass/plan_layouts.h"
#include "pass/verify.h"
#include "sim/sim.h"
#include "test.h"

/* The pass on a kernel of a target that has no warps, as if it had `nthread` threads. */
static void infer_at(Kernel *k, int nthread)
{
    k->threads[0] = nthread;
    k->threads[1] = k->threads[2] = 1;
    plan_layouts_threads(k, nthread);
}

static const char *kernel_text(World *w, const char *params, const char *buffers, const char *body)
{
    return arena_printf(w->arena,
                        "func main:\n"
                        "    source \"k.py\"\n"
                        "%s"
                        "    launch main_kernel:\n"
                        "        form CHECKED NORMAL GRID HOW SIMPLE\n"
                        "        grid bx: int32 = 4\n"
                        "        threads tx: int32 = 128, ty: int32 = 1, tz: int32 = 1\n"
                        "%s"
                        "        body:\n"
                        "%s", params, buffers, body);
}

static Kernel *kernel_of(World *w, const char *params, const char *buffers, const char *body)
{
    Func *f = func_of(w, kernel_text(w, params, buffers, body));
    if (w->diag.nerror) {
        Str s;
        str_init(&s, w->arena);
        diag_render(&w->diag, &s, false);
        printf("%s", s.s);
    }
    CHECK(f && f->kernels.n == 1);
    return f->kernels.at[0];
}

/* ---- what must hold after inference and lower_convert ---------------------------------------- */

static const Layout *loop_layout(const Kernel *k, const Var *v)
{
    for (int i = 0; i < k->loops.n; i++) {
        if (k->loops.at[i].var == v)
            return k->loops.at[i].layout;
    }
    return NULL;
}

static bool check_nest(const Stmt *s, void *arg)
{
    Kernel *k = arg;
    if (s->kind != ST_FOR || s->u.loop.how != LOOP_PARALLEL)
        return true;
    LoopNest p;
    parallel_read(k->ir, s, &p);
    const Layout *loop = loop_layout(k, p.var[0]);
    CHECK(loop != NULL);
    CHECK(layout_is_injective(k->ir, loop));
    for (int i = 0; i < p.access.n; i++) {
        const LoopAccess *a = &p.access.at[i];
        if (a->buf->scope != MEM_FRAGMENT)
            continue;
        const Layout *l = buffer_plan(k, a->buf)->layout;
        if (!parallel_agrees(k->ir, &p, a, loop, l))
            printf("%s in a nest of rank %d\n", a->buf->name, p.n);
        CHECK(parallel_agrees(k->ir, &p, a, loop, l));
    }
    return false;
}

static void check_all(Kernel *k, int nthread)
{
    pass_lower_convert(k);
    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        const Layout *l = buffer_plan(k, b)->layout;
        if (b->scope != MEM_FRAGMENT)
            continue;
        CHECK(l && layout_is_fragment(l));
        CHECK(l->nthread <= nthread);
        CHECK(layout_is_injective(k->ir, l));
    }
    stmt_visit(k->body, check_nest, k);
}

static const char *layout_text(World *w, Kernel *k, const char *name)
{
    Str s;
    str_init(&s, w->arena);
    for (int i = 0; i < k->buffers.n; i++) {
        if (!strcmp(k->buffers.at[i]->name, name) && buffer_plan(k, k->buffers.at[i])->layout)
            layout_print(&s, buffer_plan(k, k->buffers.at[i])->layout);
    }
    return s.s;
}

static const int thread_counts[] = {32, 64, 96, 128, 256, 512};

/* ---- kernels --------------------------------------------------------------------------------- */

static const char softmax_params[] = "    param X: float32[64, 1024] global is_param\n"
                                     "    param Y: float32[64, 1024] global is_param is_output out\n";
static const char softmax_buffers[] = "        buffer x: float32[16, 256] fragment\n"
                                      "        buffer most: float32[16] fragment\n"
                                      "        buffer sum: float32[16] fragment\n";
static const char softmax_body[] =
    "            copy #0(X[bx * 16:+16, 0:+256], x[0:+16, 0:+256])\n"
    "            reduce #1(x[0:+16, 0:+256], most[0:+16]) args(1, true, 1, false) text \"max\"\n"
    "            for i in parallel(0, 16):\n"
    "                for j in parallel(0, 256):\n"
    "                    x[i, j] = exp2(x[i, j] - most[i])\n"
    "            reduce #2(x[0:+16, 0:+256], sum[0:+16]) args(1, true, 1, false) text \"sum\"\n"
    "            for i_1 in parallel(0, 16):\n"
    "                for j_1 in parallel(0, 256):\n"
    "                    x[i_1, j_1] = x[i_1, j_1] / sum[i_1]\n"
    "            copy #3(x[0:+16, 0:+256], Y[bx * 16:+16, 0:+256])\n";

TEST(softmax_needs_no_conversion)
{
    for (int t = 0; t < COUNT(thread_counts); t++) {
        World w;
        world_open(&w);
        Kernel *k = kernel_of(&w, softmax_params, softmax_buffers, softmax_body);
        infer_at(k, thread_counts[t]);
        CHECK_INT(k->converts.n, 0);
        CHECK_INT(k->loops.n, 2);
        check_all(k, thread_counts[t]);
        world_close(&w);
    }
}

TEST(vectors_of_sixteen_bytes)
{
    World w;
    world_open(&w);
    Kernel *k = kernel_of(&w, softmax_params, softmax_buffers, softmax_body);
    infer_at(k, 128);
    CHECK_TEXT(layout_text(&w, k, "x"), "fragment[16, 256] threads 128 (i, j) -> thread i % 4 * 32 + "
                                        "j // 4 % 32, slot (i // 4 * 8 + j // 128 * 4 + j % 4) "
                                        "\"rows\"");
    CHECK_TEXT(layout_text(&w, k, "most"), "fragment[16] threads 128 rep 32 (i, r) -> thread "
                                           "i % 4 * 32 + r, slot (i // 4)");
}

TEST(the_same_twice)
{
    const char *first = NULL;
    for (int round = 0; round < 2; round++) {
        World w;
        world_open(&w);
        Kernel *k = kernel_of(&w, softmax_params, softmax_buffers, softmax_body);
        infer_at(k, 256);
        const char *text = layout_text(&w, k, "sum");
        CHECK(*text);
        if (first)
            CHECK_TEXT(text, first);
        first = text;
    }
}

/* Sizes that divide nothing: 7 x 13 over any number of threads. */
TEST(odd_sizes)
{
    for (int t = 0; t < COUNT(thread_counts); t++) {
        World w;
        world_open(&w);
        Kernel *k = kernel_of(&w,
            "    param X: float32[7, 13] global is_param\n",
            "        buffer a: float32[7, 13] fragment\n"
            "        buffer b: float32[13] fragment\n"
            "        buffer c: float32[7] fragment\n"
            "        buffer d: float32[13, 7] fragment\n",
            "            for i in parallel(0, 7):\n"
            "                for j in parallel(0, 13):\n"
            "                    a[i, j] = X[i, j] + b[j] * c[i]\n"
            "            for i_1 in parallel(0, 13):\n"
            "                for j_1 in parallel(0, 7):\n"
            "                    d[i_1, j_1] = a[j_1, i_1] + b[i_1]\n"
            "            for i_2 in parallel(0, 13):\n"
            "                b[i_2] = b[i_2] * 2.0\n");
        infer_at(k, thread_counts[t]);
        check_all(k, thread_counts[t]);
        world_close(&w);
    }
}

TEST(a_row_vector_alone_in_a_second_nest)
{
    for (int t = 0; t < COUNT(thread_counts); t++) {
        World w;
        world_open(&w);
        Kernel *k = kernel_of(&w,
            "    param X: float32[64, 64] global is_param\n",
            "        buffer m: float32[64] fragment\n"
            "        buffer acc: float32[64, 64] fragment\n",
            "            for i in parallel(0, 64):\n"
            "                m[i] = X[i, 0]\n"
            "            for i_1 in parallel(0, 64):\n"
            "                for j_1 in parallel(0, 64):\n"
            "                    acc[i_1, j_1] = X[i_1, j_1] * m[i_1]\n");
        infer_at(k, thread_counts[t]);
        CHECK_INT(k->converts.n, 0);
        check_all(k, thread_counts[t]);
        world_close(&w);
    }
}

TEST(indices_that_are_not_loops)
{
    static const char *const body[] = {
        "            for i in parallel(0, 16):\n"
        "                a[i + 16] = X[i, 0]\n"
        "            for i_1 in parallel(0, 32):\n"
        "                X[i_1, 0] = a[i_1] + a[31 - i_1]\n",
        "            for i in parallel(0, 16):\n"
        "                for j in parallel(0, 2):\n"
        "                    a[i * 2 + j] = X[i, j]\n",
        "            a[3] = 1.0\n"
        "            for i in parallel(0, 32):\n"
        "                X[i, 1] = a[i]\n",
        "            for i in parallel(0, 4):\n"
        "                for s in serial(0, 8):\n"
        "                    a[i * 8 + s] = X[i, s]\n",
    };
    for (int b = 0; b < COUNT(body); b++) {
        for (int t = 0; t < COUNT(thread_counts); t++) {
            World w;
            world_open(&w);
            Kernel *k = kernel_of(&w, "    param X: float32[64, 64] global is_param\n",
                                  "        buffer a: float32[32] fragment\n", body[b]);
            infer_at(k, thread_counts[t]);
            check_all(k, thread_counts[t]);
            world_close(&w);
        }
    }
}

/* A dimension the nest leaves to an inner serial loop stays in one thread. */
TEST(serial_dimensions_are_local)
{
    World w;
    world_open(&w);
    Kernel *k = kernel_of(&w, "    param X: float32[64, 64] global is_param\n",
                          "        buffer a: float32[64, 8] fragment\n",
                          "            for i in parallel(0, 64):\n"
                          "                for s in serial(0, 8):\n"
                          "                    a[i, s] = X[i, s]\n");
    infer_at(k, 32);
    CHECK_INT(k->converts.n, 0);
    CHECK_TEXT(layout_text(&w, k, "a"),
               "fragment[64, 8] threads 32 (i, j) -> thread i % 32, slot (j, i // 32) \"linear\"");
    check_all(k, 32);
}

/* ---- disagreement ---------------------------------------------------------------------------- */

static const char two_params[] = "    param X: float32[64, 64] global is_param\n"
                                 "    param Y: float32[64, 64] global is_param is_output out\n";
static const char two_buffers[] =
    "        buffer a: float32[64, 64] fragment\n"
    "        buffer b: float32[64, 64] fragment\n"
    "        plan a layout{fragment[64, 64] threads 64 (i, j) -> thread i, slot (j) \"rows\"} pinned\n"
    "        plan b layout{fragment[64, 64] threads 64 (i, j) -> thread j, slot (i) \"columns\"} pinned\n";
static const char two_body[] =
    "            for i in parallel(0, 64):\n"
    "                for j in parallel(0, 64):\n"
    "                    a[i, j] = X[i, j]\n"
    "            for i_1 in parallel(0, 64):\n"
    "                for j_1 in parallel(0, 64):\n"
    "                    b[i_1, j_1] = a[i_1, j_1] * 2.0\n"
    "            for i_2 in parallel(0, 64):\n"
    "                for j_2 in parallel(0, 64):\n"
    "                    a[i_2, j_2] = a[i_2, j_2] + b[i_2, j_2]\n"
    "            for i_3 in parallel(0, 64):\n"
    "                for j_3 in parallel(0, 64):\n"
    "                    Y[i_3, j_3] = a[i_3, j_3] + b[i_3, j_3]\n";

TEST(two_pinned_fragments_in_one_nest_convert)
{
    for (int t = 1; t < COUNT(thread_counts); t++) {
        World w;
        world_open(&w);
        Kernel *k = kernel_of(&w, two_params, two_buffers, two_body);
        infer_at(k, thread_counts[t]);
        CHECK(k->converts.n >= 3);
        check_all(k, thread_counts[t]);
        CHECK_INT(k->converts.n, 0);
        world_close(&w);
    }
}

static void simulate(Kernel *k, float *x, float *y)
{
    SimArg arg[2] = {{.data = x, .rank = 2, .shape = {64, 64}, .type = DT_F32},
                     {.data = y, .rank = 2, .shape = {64, 64}, .type = DT_F32}};
    sim_run(k->func, arg, 2, &(SimOptions){.check_uninit = true});
}

TEST(conversion_keeps_the_meaning)
{
    static float x[64 * 64], before[64 * 64], after[64 * 64];
    for (int i = 0; i < 64 * 64; i++)
        x[i] = (float)(i % 251) * 0.5f;
    World w;
    world_open(&w);
    Kernel *k = kernel_of(&w, two_params, two_buffers, two_body);
    simulate(k, x, before);
    infer_at(k, 128);
    pass_lower_convert(k);
    verify_kernel(k, "lower_convert");
    CHECK_HAS(stmt_text(&w, k->body), "a_exchange");
    simulate(k, x, after);
    CHECK(memcmp(before, after, sizeof before) == 0);
    CHECK_NEAR(after[65], x[65] * 5, 0);
}

TEST(pinned_against_loop_layout_is_an_error)
{
    World w;
    world_open(&w);
    Kernel *k = kernel_of(&w, two_params,
        "        buffer a: float32[64, 64] fragment\n"
        "        plan a layout{fragment[64, 64] threads 64 (i, j) -> thread i, slot (j)} pinned\n",
        "            for i in parallel(0, 64) hints(\"loop_layout\"=layout{fragment[64, 64] threads 64 (i, j) "
        "-> thread j, slot (i)}):\n"
        "                for j in parallel(0, 64):\n"
        "                    a[i, j] = X[i, j]\n");
    infer_at(k, 64);
    CHECK_INT(w.diag.nerror, 1);
    Str s;
    str_init(&s, w.arena);
    diag_render(&w.diag, &s, false);
    CHECK_HAS(s.s, "'a' cannot take two layouts [layout-conflict]");
    CHECK_HAS(s.s, "is declared here");
}

TEST(pinned_layouts_are_checked)
{
    World w;
    world_open(&w);
    Kernel *k = kernel_of(&w, two_params,
        "        buffer a: float32[64, 64] fragment\n"
        "        buffer b: float32[8] fragment\n"
        "        plan a layout{fragment[64, 32] threads 64 (i, j) -> thread i, slot (j)} pinned\n"
        "        plan b layout{fragment[8] threads 256 (i) -> thread i * 32, slot (0)} pinned\n",
        "            a[0, 0] = 1.0\n");
    infer_at(k, 64);
    Str s;
    str_init(&s, w.arena);
    diag_render(&w.diag, &s, false);
    CHECK_HAS(s.s, "[layout-shape]");
    CHECK_HAS(s.s, "[layout-threads]");
}

TEST(no_threads_leave_tiles_plain)
{
    World w;
    world_open(&w);
    Kernel *k = kernel_of(&w, softmax_params, softmax_buffers, softmax_body);
    plan_layouts_threads(k, 0);
    CHECK_TEXT(layout_text(&w, k, "x"), "");
    CHECK_INT(k->loops.n, 0);
}

/* ---- what a target asks for -------------------------------------------------------------------- */

/* Odd statements want columns, even ones rows. */
static void fussy_infer(Infer *in, const Stmt *t)
{
    for (int i = 0; i < t->u.tile.nregion; i++) {
        const Buffer *b = t->u.tile.region[i].buf;
        const char *text = t->u.tile.id % 2 ? "layout[8, 16] (i, j) -> (j, i)"
                                            : "layout[8, 16] (i, j) -> (i, j)";
        if (b->scope == MEM_SHARED)
            infer_set(in, b, layout_read(in->ir, text, NULL), t);
    }
}

TEST(strict_users_of_one_shared_tile_get_a_copy)
{
    static const Mech fussy = {.name = "fussy", .infer = fussy_infer};
    static const Target target = {.name = "fussy"};
    World w;
    world_open(&w);
    Kernel *k = kernel_of(&w, two_params, "        buffer s: float32[8, 16] shared\n",
                          "            copy #0(X[0:+8, 0:+16], s[0:+8, 0:+16])\n"
                          "            copy #1(s[0:+8, 0:+16], Y[0:+8, 0:+16])\n"
                          "            copy #2(s[0:+8, 0:+16], Y[8:+8, 0:+16])\n");
    k->target = &target;
    for (int i = 0; i < k->body->u.block.n; i++)
        tile_plan(k, k->body->u.block.list[i])->how = &fussy;
    plan_layouts_threads(k, 0);
    CHECK_INT(k->converts.n, 1);
    CHECK_TEXT(layout_text(&w, k, "s"), "layout[8, 16] (i, j) -> (i, j)");
    pass_lower_convert(k);
    CHECK_TEXT(layout_text(&w, k, "s_as_used"), "layout[8, 16] (i, j) -> (j, i)");
    CHECK_TEXT(stmt_text(&w, k->body), "copy #0(X[0:+8, 0:+16], s[0:+8, 0:+16])\n"
                                       "copy #3(s[0:+8, 0:+16], s_as_used[0:+8, 0:+16])\n"
                                       "copy #1(s_as_used[0:+8, 0:+16], Y[0:+8, 0:+16])\n"
                                       "copy #2(s[0:+8, 0:+16], Y[8:+8, 0:+16])\n");
}

TEST(views_share_their_elements)
{
    World w;
    world_open(&w);
    Kernel *k = kernel_of(&w, two_params,
                          "        buffer a: float32[16, 32] fragment\n"
                          "        buffer v: float32[512] fragment view(a)\n",
                          "            for i in parallel(0, 16):\n"
                          "                for j in parallel(0, 32):\n"
                          "                    a[i, j] = X[i, j]\n"
                          "            for q in parallel(0, 512):\n"
                          "                v[q] = v[q] * 2.0\n");
    infer_at(k, 64);
    CHECK_INT(k->converts.n, 0);
    check_all(k, 64);
    const Layout *a = buffer_plan(k, k->buffers.at[0])->layout;
    const Layout *v = buffer_plan(k, k->buffers.at[1])->layout;
    for (int64_t f = 0; f < 512; f++) {
        int64_t at[2] = {f / 32, f % 32};
        CHECK_INT(fragment_eval_thread(v, &f, 0), fragment_eval_thread(a, at, 0));
        CHECK_INT(layout_eval(v, &f), layout_eval(a, at));
    }
}

/* ---- random kernels -------------------------------------------------------------------------- */

static uint64_t seed;

static int below(int n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int)((seed >> 33) % (uint64_t)n);
}

/* Nests over a (i, j) box that write one fragment from others, each a, b, c whole, row or column. */
static void random_body(Str *s, int nnest, int m, int n)
{
    static const char *const form[] = {"a[i%d, j%d]", "b[i%d, j%d]", "r[i%d]", "c[j%d]", "t[j%d, i%d]"};
    static const char order[][3] = {"ij", "ij", "i", "j", "ji"};
    for (int k = 0; k < nnest; k++) {
        str_printf(s, "            for i%d in parallel(0, %d):\n", k, m);
        str_printf(s, "                for j%d in parallel(0, %d):\n                    ", k, n);
        int dst = below(3) == 0 ? 4 : below(2), src = below(5), other = below(5);
        int list[3] = {dst, src, other};
        for (int q = 0; q < 3; q++) {
            str_puts(s, q == 1 ? " = " : q == 2 ? " + " : "");
            if (strlen(order[list[q]]) == 2)
                str_printf(s, form[list[q]], k, k);
            else
                str_printf(s, form[list[q]], k);
        }
        str_puts(s, "\n");
    }
}

TEST(random_kernels_always_agree)
{
    static const int sizes[] = {1, 5, 8, 13, 16, 24, 32};
    seed = 0x9e3779b97f4a7c15u;
    for (int round = 0; round < 120; round++) {
        World w;
        world_open(&w);
        int m = sizes[below(COUNT(sizes))], n = sizes[below(COUNT(sizes))];
        int nthread = thread_counts[below(COUNT(thread_counts))];
        Str body;
        str_init(&body, w.arena);
        random_body(&body, 1 + below(4), m, n);
        const char *pin = below(3) ? "" : arena_printf(w.arena,
            "        plan a layout{fragment[%d, %d] threads 32 (i, j) -> thread i %% 32, slot "
            "(i // 32, j)} pinned\n", m, n);
        const char *buffers = arena_printf(w.arena,
            "        buffer a: float32[%d, %d] fragment\n"
            "        buffer b: float32[%d, %d] fragment\n"
            "        buffer r: float32[%d] fragment\n"
            "        buffer c: float32[%d] fragment\n"
            "        buffer t: float32[%d, %d] fragment\n%s", m, n, m, n, m, n, n, m, pin);
        Kernel *k = kernel_of(&w, "", buffers, body.s);
        infer_at(k, nthread);
        CHECK_INT(w.diag.nerror, 0);
        check_all(k, nthread);
        world_close(&w);
    }
}
