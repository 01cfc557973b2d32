/* verify.c -- each rule of the IR has a kernel that breaks it. */
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
        {"", "            if bx < 2:\n                x: int32 = 1\n                eval x\n            else:\n"
             "                x: int32 = 2\n                eval x\n", ""},
        {"", "            break\n", "outside of any loop"},
        {"", "            while bx < 2:\n                break\n", ""},
        {"PLACED", "            S[0] = 0.0\n", ""},
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
