/* verify.c -- each rule of the IR has a kernel that breaks it. */
#include "pass/pass.h"
#include "pass/async_copy.h"
#include "pass/verify.h"
#include "ir_world.h"

typedef struct {
    const char *form, *body, *says; /* "" when it must pass */
} Case;

static const char head[] =
    "func f:\n"
    "    dim n: int32\n"
    "    param A: float32[n, 8] global is_param\n"
    "    launch k:\n"
    "        form CHECKED %s\n"
    "        grid bx: int32 = n\n"
    "        threads _ = 1, _ = 1, _ = 1\n"
    "        buffer B: float32[8] local\n"
    "        buffer S: float32[8] shared\n"
    "        buffer R: float32[8] reducer reducer \"sum\"\n"
    "        plan S offset 64 nbytes 32 placed\n"
    "        arena_bytes 96\n"
    "        body:\n"
    "            pass\n"
    "%s";

static void verify_text(World *w, void *arg)
{
    const Case *c = arg;
    Func *f = func_of(w, arena_printf(w->arena, head, c->form, c->body));
    verify_kernel(f->kernels.at[0], "test");
}

TEST(forms_are_checked)
{
    static const Case cases[] = {
        {"", "            A[bx, 0] = B[1]\n", ""},
        {"LOOPS", "            fill #0(B[0:+8]) args(0.0)\n", "a tile operator: fill"},
        {"", "            fill #0(B[0:+8]) args(0.0)\n", ""},
        {"HOW", "            fill #0(B[0:+8]) args(0.0)\n", "without a mechanism"},
        {"NOPIPE", "            for i in pipelined(0, 8):\n                B[i] = 0.0\n", "a pipelined loop"},
        {"THREADS", "            for i in parallel(0, 8):\n                B[i] = 0.0\n", "a parallel loop"},
        {"NOUNROLL", "            for i in unroll(0, 8) hints(\"explicit\"=1):\n                B[i] = 0.0\n",
         "to be unrolled"},
        {"NOUNROLL", "            for i in unroll(0, 8):\n                B[i] = 0.0\n", ""},
        {"FLAT", "            A[bx, 0] = 0.0\n", "2 indices"},
        {"FLAT", "            A[bx * 8] = B[3]\n", ""},
        {"", "            A[bx] = 0.0\n", "1 indices"},
        {"", "            eval A[bx]\n", "1 indices"},
        {"", "            if bx < 2:\n                x: int32 = 1\n            eval x\n", "not defined"},
        {"", "            for i in serial(0, 2):\n                pass\n            eval i\n", "not defined"},
        {"", "            x: int32 = 1\n            eval x\n", ""},
        {"", "            for i in serial(0, 2):\n                pass\n            for i in serial(1, 2):\n"
             "                pass\n", "loops of different ranges"},
        {"", "            for i in serial(0, 2):\n                pass\n            for i in serial(0, 2):\n"
             "                pass\n", ""},
        {"", "            if bx < 2:\n                x: int32 = 1\n                eval x\n            else:\n"
             "                x: int32 = 2\n                eval x\n", ""},
        {"", "            break\n", "outside of any loop"},
        {"", "            while bx < 2:\n                break\n", ""},
        {"PLACED", "            S[0] = 0.0\n", ""},
        {"", "            fill #0() args(0.0)\n", "0 operands where 1"},
        {"NOGRID", "            call sync_threads() mark \"persistent\"\n", "only persistent blocks need"},
        {"NOGRID", "            call sync_threads()\n", ""},
        {"NOEPOCH", "            reducer_init #0(R[0:+8])\n", "on a reducer"},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        World w;
        world_open(&w);
        Case c = cases[i];
        const char *got = thrown(&w, verify_text, &c);
        if (*c.says)
            CHECK_HAS(got, c.says);
        else
            CHECK_TEXT(got, "");
        if (*c.says)
            CHECK_HAS(got, "after test of k");
        world_close(&w);
    }
}

static void verify_broken(World *w, void *arg)
{
    Case c = {"", "            A[bx, 0] = B[1]\n", ""};
    Func *f = func_of(w, arena_printf(w->arena, head, c.form, c.body));
    Kernel *k = f->kernels.at[0];
    Ir *ir = w->ir;
    const Expr *x = expr_var(ir, k->block[0]), *h = expr_cast(ir, DT_I64, x), *e = NULL;
    int which = *(int *)arg;
    Buffer *lost = buffer_new(ir, "lost", DT_F32, MEM_LOCAL, 1, &x, NO_SPAN);
    if (which == 0)
        e = expr_make(ir, EX_ADD, DT_I32, 1, 2, (const Expr *[]){x, h});
    else if (which == 1)
        e = expr_make(ir, EX_LT, DT_I32, 1, 2, (const Expr *[]){x, x});
    else if (which == 2)
        e = expr_load(ir, lost, &x, 1);
    else if (which == 3)
        e = expr_make(ir, EX_IF, DT_I32, 1, 3, (const Expr *[]){x, x, x});
    else
        e = expr_make(ir, EX_AND, DT_I32, 1, 2, (const Expr *[]){x, x});
    k->body = stmt_eval(ir, NO_SPAN, e);
    if (which == 5) {
        k->body = stmt_block(ir, NO_SPAN, 0, NULL);
        k->form |= FORM_PLACED;
        k->arena_bytes = 95;
    }
    verify_kernel(k, "test");
}

TEST(types_and_owners_are_checked)
{
    static const char *const says[] = {"'+' on int32", "'<' gives int32", "belongs to nobody",
                                       "a choice by int32", "'and' on int32", "outside of the arena"};
    for (int i = 0; i < COUNT(says); i++) {
        World w;
        world_open(&w);
        CHECK_HAS(thrown(&w, verify_broken, &i), says[i]);
        world_close(&w);
    }
}

/* ---- plans and kernels that break a form ------------------------------------------------------ */

typedef struct {
    uint32_t form;
    void (*harm)(Kernel *k);
    const char *says;
} Harm;

static const Mech by_bulk = {.name = "by_bulk", .bulk = true};

static TilePlan *only_tile(Kernel *k)
{
    const Stmt *s = k->body->kind == ST_BLOCK ? k->body->u.block.list[0] : k->body;
    TilePlan *p = tile_plan(k, s);
    p->how = &mech_plain;
    return p;
}

static void bad_panel(Kernel *k) { k->swizzle_panel = -1; }
static void bad_stage(Kernel *k) { only_tile(k)->ahead = AHEAD_MOST + 1; }
static void bad_role(Kernel *k) { only_tile(k)->pipe = 1; }

static void bad_bulk(Kernel *k) { only_tile(k)->how = &by_bulk; }

static void bad_versions(Kernel *k)
{
    only_tile(k);
    buffer_plan(k, k->buffers.at[1])->stages = -1;
}

static void bad_layout(Kernel *k)
{
    int64_t extent = 4;
    only_tile(k);
    buffer_plan(k, k->buffers.at[1])->layout = layout_row_major(k->ir, 1, &extent);
}

static void bad_spread(Kernel *k)
{
    int64_t extent = 8;
    only_tile(k);
    buffer_plan(k, k->buffers.at[1])->layout = fragment_replicated(k->ir, 1, &extent, 4);
}

static void bad_grid(Kernel *k)
{
    const Expr *zero = expr_int(k->ir, 0);
    Buffer *b = buffer_new(k->ir, "count", DT_I32, MEM_GLOBAL, 1, &k->grid[0], NO_SPAN);
    vec_push(k->arena, &k->buffers, b);
    k->grid[0] = expr_load(k->ir, b, &zero, 1);
}

static void bad_width(Kernel *k)
{
    const Expr *at = expr_cast(k->ir, DT_I8, expr_var(k->ir, k->block[0]));
    k->body = stmt_store(k->ir, NO_SPAN, k->buffers.at[0], &at, 1, expr_zero(k->ir, DT_F32));
}

enum { BETWEEN = 1, LOOP = 2, AFTER = 4, SLOTS = 8, BRANCH = 16 };

/* S[tx] = 0, a barrier between or not, then S[7 - tx] is read: once, or in a loop with or without a
 * barrier after it; S[2 tx + j] = 0 of two slots j; or S[tx] = 0 by some threads alone. */
static void exchange(Kernel *k, int how)
{
    Ir *ir = k->ir;
    Buffer *b = k->buffers.at[0], *s = k->buffers.at[1];
    Var *j = var_new(ir, "j", DT_I32, NO_SPAN);
    int n = how & SLOTS ? 2 : 1;

    k->threads[0] = 8 / n;
    k->thread[0] = var_new(ir, "tx", DT_I32, NO_SPAN);
    const Expr *tx = expr_var(ir, k->thread[0]), *zero = expr_int(ir, 0), *two = expr_int(ir, n);
    const Expr *mine = expr_add(ir, expr_mul(ir, tx, two), expr_var(ir, j));
    const Expr *other = expr_sub(ir, expr_int(ir, 7), expr_mul(ir, tx, two));
    const Stmt *store = stmt_store(ir, NO_SPAN, s, &mine, 1, expr_zero(ir, DT_F32));
    store = stmt_for(ir, NO_SPAN, LOOP_SERIAL, j, zero, expr_int(ir, n), (Hints){0}, store);
    if (how & BRANCH)
        store = stmt_if(ir, NO_SPAN, expr_lt(ir, tx, expr_int(ir, 4)), store, NULL);
    const Stmt *list[4] = {store, how & BETWEEN ? stmt_sync(ir, NO_SPAN) : NULL,
                           stmt_store(ir, NO_SPAN, b, &zero, 1, expr_load(ir, s, &other, 1)),
                           how & AFTER ? stmt_sync(ir, NO_SPAN) : NULL};
    k->body = stmt_block(ir, NO_SPAN, 4, list);
    if (how & LOOP)
        k->body = stmt_for(ir, NO_SPAN, LOOP_SERIAL, var_new(ir, "i", DT_I32, NO_SPAN), zero,
                           expr_int(ir, 3), (Hints){0}, k->body);
}

static void bad_sync(Kernel *k) { exchange(k, 0); }
static void bad_sync_again(Kernel *k) { exchange(k, BETWEEN | LOOP); }
static void bad_sync_slots(Kernel *k) { exchange(k, SLOTS); }
static void bad_sync_some(Kernel *k) { exchange(k, BRANCH); }
static void good_sync(Kernel *k) { exchange(k, BETWEEN); }
static void good_sync_again(Kernel *k) { exchange(k, BETWEEN | LOOP | AFTER); }
static void good_sync_slots(Kernel *k) { exchange(k, SLOTS | BETWEEN); }
static void good_sync_some(Kernel *k) { exchange(k, BRANCH | BETWEEN); }

static void bad_branch(Kernel *k)
{
    k->body = stmt_if(k->ir, NO_SPAN, expr_bool(k->ir, true), k->body, NULL);
}

static void bad_sum(Kernel *k)
{
    const Expr *kid[2] = {expr_var(k->ir, k->block[0]), expr_int(k->ir, 0)};
    k->body = stmt_let(k->ir, NO_SPAN, var_new(k->ir, "x", DT_I32, NO_SPAN),
                       expr_make(k->ir, EX_ADD, DT_I32, 1, 2, kid));
}

static void verify_harm(World *w, void *arg)
{
    const Harm *h = arg;
    Func *f = func_of(w, arena_printf(w->arena, head, "", "            copy #0(A[bx:+1, 0:+8], S[0:+8])\n"));
    Kernel *k = f->kernels.at[0];

    h->harm(k);
    k->form |= h->form;
    verify_kernel(k, "test");
}

TEST(plans_and_grids_are_checked)
{
    static const Harm all[] = {
        {FORM_GRID, bad_panel, "panels of -1"},
        {FORM_ROLES, bad_role, "a producer's copy by plain"},
        {FORM_WARPS, bad_role, "outside of its role"},
        {FORM_STAGED, bad_stage, "iterations ahead"},
        {FORM_STAGED, bad_versions, "-1 stages"},
        {FORM_LAYOUTS, bad_layout, "not one of its shape"},
        {FORM_LAYOUTS, bad_spread, "is spread over threads"},
        {FORM_TOKENS, bad_bulk, "without a barrier"},
        {FORM_WIDTHS, bad_width, "an offset of type int8"},
        {FORM_SPLIT, bad_grid, "depends on memory"},
        {FORM_SYNCED | FORM_FLAT, bad_sync, "no barrier before 'S' is touched"},
        {FORM_SYNCED | FORM_FLAT, bad_sync_again, "no barrier before 'S' is touched"},
        {FORM_SYNCED | FORM_FLAT, bad_sync_slots, "no barrier before 'S' is touched"},
        {FORM_SYNCED | FORM_FLAT, bad_sync_some, "no barrier before 'S' is touched"},
        {FORM_SIMPLE, bad_branch, "a branch on a constant"},
        {FORM_SIMPLE, bad_sum, "changes nothing"},
    };
    static void (*const good[])(Kernel *) = {good_sync, good_sync_again, good_sync_slots,
                                             good_sync_some};
    for (int i = 0; i < COUNT(good); i++) {
        Harm right = {FORM_SYNCED | FORM_FLAT, good[i], ""};
        World ok;
        world_open(&ok);
        CHECK_TEXT(thrown(&ok, verify_harm, &right), "");
        world_close(&ok);
    }
    for (int i = 0; i < COUNT(all); i++) {
        World w;
        Harm h = all[i];
        world_open(&w);
        CHECK_HAS(thrown(&w, verify_harm, &h), h.says);
        h.form = 0; /* without the claim it may be so */
        CHECK_TEXT(thrown(&w, verify_harm, &h), "");
        world_close(&w);
    }
}

/* ---- promises --------------------------------------------------------------------------------- */

typedef struct {
    uint32_t gives;
    const char *body, *says;
} Promise;

static void verify_given(World *w, void *arg)
{
    static const Machine machine = {.text = "test", .has = HAS_THREADS, .lanes = 4, .group_warps = 1};
    const Promise *p = arg;
    const char *text = arena_printf(w->arena, head, "", p->body);
    Kernel *k = func_of(w, text)->kernels.at[0];

    k->threads[0] = 8;
    k->thread[0] = var_new(w->ir, "tx", DT_I32, NO_SPAN);
    k->machine = &machine;
    k->scratch = k->arena;
    verify_promise(k, p->gives, "test");
}

TEST(what_takes_a_proof_is_tried)
{
    static const Promise all[] = {
        {FORM_GUARDED, "            A[bx, 0] = 0.0\n", ""},
        {FORM_GUARDED, "            A[bx + 1, 0] = 0.0\n", "wants a guard"},
        {FORM_GUARDED, "            B[0] = A[bx + 1, 0]\n", "wants a guard"},
        {FORM_SIMPLE, "            A[bx, 0] = 0.0\n", ""},
        {FORM_SIMPLE, "            A[(bx * 2) // 2, 0] = 0.0\n", "more can be simplified"},
    };
    for (int i = 0; i < COUNT(all); i++) {
        World w;
        Promise p = all[i];
        world_open(&w);
        const char *got = thrown(&w, verify_given, &p);
        if (*p.says)
            CHECK_HAS(got, p.says);
        else
            CHECK_TEXT(got, "");
        world_close(&w);
    }
}
