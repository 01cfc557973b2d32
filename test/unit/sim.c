/* sim.c -- the simulator: statements, memories, dims, errors. */
#include "tile_kit.h"

#include <math.h>

static const Expr *var(Kit *t, Var *v)
{
    return expr_var(t->ir, v);
}

static const Stmt *store1(Kit *t, Buffer *b, const Expr *at, const Expr *v)
{
    return stmt_store(t->ir, NO_SPAN, b, &at, b->rank, v);
}

static const Expr *load1(Kit *t, Buffer *b, const Expr *at)
{
    return expr_load(t->ir, b, &at, b->rank);
}

static const Stmt *loop(Kit *t, LoopHow how, Var *v, int64_t n, const Stmt *body)
{
    return stmt_for(t->ir, NO_SPAN, how, v, kit_int(t, 0), kit_int(t, n), (Hints){0}, body);
}

static Var *fresh(Kit *t, const char *name)
{
    return var_new(t->ir, name, DT_I32, NO_SPAN);
}

TEST(parallel_bodies_are_guarded_by_the_language)
{
    Kit *t = kit_new(1, 1);
    float a[4] = {1, 2, 3, 4}, out[4] = {0};
    Buffer *A = kit_tensor(t, "A", DT_F32, SHAPE(4), a), *O = kit_tensor(t, "O", DT_F32, SHAPE(4), out);
    Var *i = fresh(t, "i");
    const Expr *next = expr_add(t->ir, var(t, i), kit_int(t, 2));
    kit_add(t, loop(t, LOOP_PARALLEL, i, 9, store1(t, O, var(t, i), load1(t, A, next))));
    kit_must_run(t);
    float want[4] = {3, 4, 0, 0};
    for (int j = 0; j < 4; j++)
        CHECK_NEAR(out[j], want[j], 0);
}

TEST(after_guarding_an_access_outside_is_an_error)
{
    Kit *t = kit_new(1, 1);
    float out[4];
    Buffer *O = kit_tensor(t, "O", DT_F32, SHAPE(4), out);
    kit_add(t, store1(t, O, kit_int(t, 5), expr_float(t->ir, DT_F32, 1)));
    t->k->form = FORM_GUARDED | FORM_NORMAL;
    CHECK_TEXT(kit_run(t), "out-of-bounds");
}

TEST(a_permuted_order_shows_a_race)
{
    for (int seed = 0; seed < 2; seed++) {
        Kit *t = kit_new(1, 1);
        int32_t out[16] = {0};
        Buffer *O = kit_tensor(t, "O", DT_I32, SHAPE(16), out);
        Buffer *S = kit_tile(t, "S", DT_I32, MEM_SHARED, SHAPE(1));
        Var *i = fresh(t, "i"), *j = fresh(t, "j");
        kit_add(t, loop(t, LOOP_PARALLEL, i, 16, store1(t, O, var(t, i), var(t, i))));
        kit_add(t, loop(t, LOOP_PARALLEL, j, 16, store1(t, S, kit_int(t, 0), var(t, j))));
        kit_add(t, store1(t, O, kit_int(t, 0), load1(t, S, kit_int(t, 0))));
        t->o.seed = seed ? 12345 : 0;
        kit_must_run(t);
        for (int k = 1; k < 16; k++)
            CHECK_INT(out[k], k);
        CHECK((out[0] == 15) == (seed == 0));
    }
}

TEST(loops_break_and_continue)
{
    Kit *t = kit_new(1, 1);
    int32_t out[8] = {0};
    Buffer *O = kit_tensor(t, "O", DT_I32, SHAPE(8), out);
    Buffer *n = kit_tile(t, "n", DT_I32, MEM_VAR, 0, NULL);
    Var *i = fresh(t, "i");
    const Stmt *body[3] = {
        stmt_if(t->ir, NO_SPAN, expr_binary(t->ir, EX_EQ, var(t, i), kit_int(t, 2)),
                stmt_simple(t->ir, NO_SPAN, ST_CONTINUE), NULL),
        stmt_if(t->ir, NO_SPAN, expr_binary(t->ir, EX_EQ, var(t, i), kit_int(t, 5)),
                stmt_simple(t->ir, NO_SPAN, ST_BREAK), NULL),
        store1(t, O, var(t, i), kit_int(t, 1))};
    kit_add(t, loop(t, LOOP_SERIAL, i, 8, stmt_block(t->ir, NO_SPAN, 3, body)));
    const Expr *count = expr_load(t->ir, n, NULL, 0);
    const Stmt *step = stmt_store(t->ir, NO_SPAN, n, NULL, 0, expr_add(t->ir, count, kit_int(t, 3)));
    kit_add(t, stmt_while(t->ir, NO_SPAN, expr_lt(t->ir, count, kit_int(t, 10)), step));
    kit_add(t, store1(t, O, kit_int(t, 7), count));
    kit_must_run(t);
    int32_t want[8] = {1, 1, 0, 1, 1, 0, 0, 12};
    for (int k = 0; k < 8; k++)
        CHECK_INT(out[k], want[k]);
}

TEST(lets_conditionals_and_laziness)
{
    Kit *t = kit_new(1, 1);
    int32_t out[2] = {0};
    Buffer *O = kit_tensor(t, "O", DT_I32, SHAPE(2), out);
    Var *x = fresh(t, "x"), *z = fresh(t, "z");
    kit_add(t, stmt_let(t->ir, NO_SPAN, x, expr_sub(t->ir, kit_block(t, 0), kit_int(t, 7))));
    kit_add(t, stmt_let(t->ir, NO_SPAN, z, kit_block(t, 0)));
    const Expr *quotient = expr_floordiv(t->ir, var(t, x), var(t, z)); /* by zero, never evaluated */
    const Expr *zero = expr_binary(t->ir, EX_EQ, var(t, z), kit_int(t, 0));
    kit_add(t, store1(t, O, kit_int(t, 0), expr_if(t->ir, zero, var(t, x), quotient)));
    kit_add(t, store1(t, O, kit_int(t, 1), expr_floormod(t->ir, var(t, x), kit_int(t, 4))));
    kit_must_run(t);
    CHECK_INT(out[0], -7);
    CHECK_INT(out[1], 1);
}

static const char *fail_with(int which)
{
    Kit *t = kit_new(1, 1);
    int32_t out[4];
    Buffer *O = kit_tensor(t, "O", DT_I32, SHAPE(4), out);
    Buffer *S = kit_tile(t, "S", DT_I32, MEM_SHARED, SHAPE(4));
    const Expr *b = kit_block(t, 0), *five = expr_add(t->ir, b, kit_int(t, 5));
    Var *i = fresh(t, "i");
    switch (which) {
    case 0: kit_add(t, store1(t, O, b, load1(t, S, b))); break;
    case 1: kit_add(t, store1(t, S, five, b)); break;
    case 2: kit_add(t, store1(t, S, expr_sub(t->ir, b, kit_int(t, 1)), b)); break;
    case 3: kit_add(t, stmt_assert(t->ir, NO_SPAN, expr_lt(t->ir, five, b), "five is less")); break;
    default:
        t->o.max_steps = 100;
        kit_add(t, loop(t, LOOP_SERIAL, i, 1000, store1(t, O, b, var(t, i))));
    }
    return kit_run(t);
}

TEST(errors_have_tags)
{
    CHECK_TEXT(fail_with(0), "uninitialised");
    CHECK_TEXT(fail_with(1), "out-of-bounds");
    CHECK_TEXT(fail_with(2), "out-of-bounds");
    CHECK_TEXT(fail_with(3), "assert-failed");
    CHECK_TEXT(fail_with(4), "sim-steps");
}

TEST(a_null_pointer_is_told)
{
    Kit *t = kit_new(1, 1);
    int32_t out[1];
    Buffer *O = kit_tensor(t, "O", DT_I32, SHAPE(1), out);
    Buffer *P = buffer_new(t->ir, "P", DT_I32, MEM_GLOBAL, 1, kit_ints(t, SHAPE(1)), NO_SPAN);
    P->pointer = var_new(t->ir, "p", DT_HANDLE, NO_SPAN);
    kit_add(t, stmt_let(t->ir, NO_SPAN, P->pointer,
                        expr_bitcast(t->ir, DT_HANDLE, 1, expr_const(t->ir, DT_U64, 0))));
    kit_add(t, store1(t, O, kit_int(t, 0), load1(t, P, kit_int(t, 0))));
    CHECK_TEXT(kit_run(t), "null-pointer");
}

TEST(foreign_functions_are_not_simulated)
{
    Kit *t = kit_new(1, 1);
    float out[1] = {0};
    Buffer *O = kit_tensor(t, "O", DT_F32, SHAPE(1), out);
    const Expr *x = expr_float(t->ir, DT_F32, 8);
    kit_add(t, store1(t, O, kit_int(t, 0), expr_extern(t->ir, DT_F32, "cbrtf", &x, 1)));
    CHECK_TEXT(kit_run(t), "sim-extern");
}

TEST(tiles_forget_between_blocks)
{
    Kit *t = kit_new(2, 1);
    int32_t out[2];
    Buffer *O = kit_tensor(t, "O", DT_I32, SHAPE(2), out);
    Buffer *S = kit_tile(t, "S", DT_I32, MEM_SHARED, SHAPE(1));
    const Expr *b = kit_block(t, 0), *zero = kit_int(t, 0);
    kit_add(t, stmt_if(t->ir, NO_SPAN, expr_binary(t->ir, EX_EQ, b, zero), store1(t, S, zero, b), NULL));
    kit_add(t, store1(t, O, b, load1(t, S, zero)));
    CHECK_TEXT(kit_run(t), "uninitialised");
}

TEST(views_share_memory)
{
    Kit *t = kit_new(1, 1);
    float out[1];
    Buffer *O = kit_tensor(t, "O", DT_F32, SHAPE(1), out);
    Buffer *S = kit_tile(t, "S", DT_U32, MEM_SHARED, SHAPE(2, 2));
    Buffer *V = kit_tile(t, "V", DT_F32, MEM_SHARED, SHAPE(4));
    V->view_of = S;
    const Expr *at[2] = {kit_int(t, 1), kit_int(t, 0)};
    kit_add(t, stmt_store(t->ir, NO_SPAN, S, at, 2, expr_const(t->ir, DT_U32, 0x40490fdb)));
    kit_add(t, store1(t, O, kit_int(t, 0), load1(t, V, kit_int(t, 2))));
    kit_must_run(t);
    CHECK_NEAR(out[0], 3.14159274f, 0);
}

TEST(vectors_and_bitcasts)
{
    Kit *t = kit_new(1, 1);
    uint32_t out[4] = {0};
    Buffer *O = kit_tensor(t, "O", DT_U32, SHAPE(4), out);
    const Expr *two[2] = {expr_float(t->ir, DT_F16, 1), expr_float(t->ir, DT_F16, -2)};
    const Expr *v = expr_bitcast(t->ir, DT_U32, 1, expr_vector(t->ir, two, 2));
    kit_add(t, store1(t, O, kit_block(t, 0), v));
    const Expr *at = expr_ramp(t->ir, kit_int(t, 1), kit_int(t, 1), 3);
    const Expr *x = expr_cast(t->ir, DT_U32, expr_ramp(t->ir, kit_int(t, 10), kit_int(t, 5), 3));
    kit_add(t, stmt_store(t->ir, NO_SPAN, O, &at, 1, x));
    kit_must_run(t);
    CHECK_INT(out[0], 0xc0003c00);
    for (int i = 1; i < 4; i++)
        CHECK_INT(out[i], 5 + 5 * i);
}

TEST(atomics_give_the_old_value)
{
    Kit *t = kit_new(5, 1);
    int32_t sum[1] = {0}, old[5];
    Buffer *S = kit_tensor(t, "S", DT_I32, SHAPE(1), sum), *O = kit_tensor(t, "O", DT_I32, SHAPE(5), old);
    Var *was = fresh(t, "was");
    const Expr *zero = kit_int(t, 0);
    kit_add(t, stmt_atomic(t->ir, NO_SPAN, ATOMIC_ADD, S, &zero, 1, kit_int(t, 2), NULL, was));
    kit_add(t, store1(t, O, kit_block(t, 0), var(t, was)));
    kit_must_run(t);
    CHECK_INT(sum[0], 10);
    for (int i = 0; i < 5; i++)
        CHECK_INT(old[i], 2 * i);
}

TEST(print_writes_a_line_for_each_element)
{
    const char *text[2];
    for (int lowered = 0; lowered < 2; lowered++) {
        Kit *t = kit_new(1, 1);
        Buffer *S = kit_tile(t, "S", DT_F32, MEM_SHARED, SHAPE(2));
        kit_fill(t, S, expr_float(t->ir, DT_F32, 1.5));
        Region r = kit_whole(t, S);
        kit_add(t, kit_op(t, &op_print, 1, &r, 0, NULL, "hello"));
        const Expr *v = kit_int(t, 42);
        kit_add(t, kit_op(t, &op_print, 0, NULL, 1, &v, "answer"));
        kit_add(t, kit_op(t, &op_print, 0, NULL, 0, NULL, "bye 100%"));
        if (lowered)
            kit_lower(t);
        kit_must_run(t);
        text[lowered] = t->printed.s;
    }
    CHECK_TEXT(text[0],
               "msg='hello' BlockIdx=(0, 0, 0): buffer=S, index=0, dtype=float32 value=1.5\n"
               "msg='hello' BlockIdx=(0, 0, 0): buffer=S, index=1, dtype=float32 value=1.5\n"
               "msg='answer' BlockIdx=(0, 0, 0): dtype=int32 value=42\n"
               "bye 100%\n");
    CHECK_TEXT(text[1], text[0]);
}

TEST(layouts_hold_in_flat_form)
{
    Kit *t = kit_new(1, 1);
    float out[6], a[6] = {0, 1, 2, 3, 4, 5};
    Buffer *A = kit_tensor(t, "A", DT_F32, SHAPE(2, 3), a), *O = kit_tensor(t, "O", DT_F32, SHAPE(6), out);
    Buffer *S = kit_tile(t, "S", DT_F32, MEM_SHARED, SHAPE(2, 3));
    const Expr *swap[2] = {expr_var(t->ir, layout_axis(t->ir, 1)), expr_var(t->ir, layout_axis(t->ir, 0))};
    buffer_plan(t->k, S)->layout = layout_new(t->ir, 2, (int64_t[]){2, 3}, 2, swap);
    Region r[2] = {kit_whole(t, A), kit_whole(t, S)};
    kit_add(t, stmt_instr(t->ir, NO_SPAN, isa_find("cpu.pack"), 2, r, 0, NULL, 0));
    Var *i = fresh(t, "i");
    kit_add(t, loop(t, LOOP_SERIAL, i, 6, store1(t, O, var(t, i), expr_load(t->ir, S, (const Expr *[]){var(t, i)}, 1))));
    t->k->form = FORM_FLAT | FORM_GUARDED | FORM_NORMAL;
    kit_must_run(t);
    float want[6] = {0, 3, 1, 4, 2, 5};
    for (int j = 0; j < 6; j++)
        CHECK_NEAR(out[j], want[j], 0);
}

/* ---- dims ---------------------------------------------------------------------------------------------- */

static Buffer *dim_tensor(Kit *t, const char *name, int rank, const Expr *const *shape, const int64_t *given)
{
    Buffer *b = buffer_new(t->ir, name, DT_F32, MEM_GLOBAL, rank, shape, NO_SPAN);
    Param p = {.name = b->name, .buf = b};
    vec_push(t->arena, &t->f->params, p);
    SimArg *a = &t->arg[t->narg++];
    *a = (SimArg){.rank = rank, .type = DT_F32, .data = arena_alloc(t->arena, 4096)};
    memcpy(a->shape, given, sizeof(int64_t) * (size_t)rank);
    return b;
}

static const char *dims_tag(int64_t a, int64_t b, int64_t c, int64_t *m, int64_t *n)
{
    Kit *t = kit_new(1, 1);
    int64_t values[64] = {0};
    Var *M = fresh(t, "M"), *N = fresh(t, "N");
    vec_push(t->arena, &t->f->dims, M);
    vec_push(t->arena, &t->f->dims, N);
    const Expr *sa[2] = {expr_add(t->ir, expr_mul(t->ir, var(t, M), kit_int(t, 2)), kit_int(t, 1)),
                         expr_add(t->ir, var(t, M), var(t, N))};
    const Expr *sc[1] = {var(t, N)};
    dim_tensor(t, "A", 2, sa, (int64_t[]){a, b});
    dim_tensor(t, "C", 1, sc, (int64_t[]){c});
    bool ok = sim_solve_dims(t->f, t->arg, t->narg, values);
    *m = values[M->id];
    *n = values[N->id];
    return ok ? "" : t->diag.list.at[0].tag;
}

TEST(dims_are_solved_from_shapes)
{
    int64_t m, n;
    CHECK_TEXT(dims_tag(9, 7, 3, &m, &n), "");
    CHECK_INT(m, 4);
    CHECK_INT(n, 3);
    CHECK_TEXT(dims_tag(9, 8, 3, &m, &n), "argument-shape");
    CHECK_TEXT(dims_tag(8, 7, 3, &m, &n), "argument-shape");
}

TEST(wrong_arguments_are_named)
{
    Kit *t = kit_new(1, 1);
    float a[4];
    kit_tensor(t, "A", DT_F32, SHAPE(4), a);
    t->arg[0].shape[0] = 5;
    CHECK_TEXT(kit_run(t), "argument-shape");
    CHECK_HAS(t->diag.list.at[0].text, "'A'");
    CHECK_HAS(t->diag.list.at[0].text, "dimension 0 is 5; the kernel takes 4");
    t->arg[0].type = DT_F16;
    t->diag.list.n = t->diag.nerror = 0;
    CHECK_TEXT(kit_run(t), "argument-dtype");
    t->arg[0].type = DT_F32;
    t->arg[0].rank = 2;
    t->diag.list.n = t->diag.nerror = 0;
    CHECK_TEXT(kit_run(t), "argument-rank");
}

TEST(strided_arguments)
{
    Kit *t = kit_new(1, 1);
    float a[8] = {0, 1, 2, 3, 4, 5, 6, 7}, out[4];
    Buffer *A = kit_tensor(t, "A", DT_F32, SHAPE(2, 2), a), *O = kit_tensor(t, "O", DT_F32, SHAPE(2, 2), out);
    A->stride = NEWN(t->arena, const Expr *, 2);
    for (int d = 0; d < 2; d++) {
        t->arg[0].stride[d] = 4 >> d;
        A->stride[d] = kit_int(t, 4 >> d);
    }
    kit_copy(t, kit_whole(t, A), kit_whole(t, O));
    kit_must_run(t);
    float want[4] = {0, 2, 4, 6};
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(out[i], want[i], 0);
}

TEST(values_round_at_every_step)
{
    Value1 a = {.f = 2048}, b = {.f = 1};
    CHECK_NEAR(value_binary(EX_ADD, DT_F16, a, b).f, 2048, 0);
    CHECK_NEAR(value_binary(EX_ADD, DT_F32, a, b).f, 2049, 0);
    CHECK_INT(value_binary(EX_ADD, DT_I8, (Value1){.i = 127}, (Value1){.i = 1}).i, -128);
    CHECK_INT(value_binary(EX_FLOORDIV, DT_I32, (Value1){.i = -7}, (Value1){.i = 2}).i, -4);
    CHECK_INT(value_binary(EX_FLOORMOD, DT_I32, (Value1){.i = -7}, (Value1){.i = 2}).i, 1);
    CHECK_INT(value_cast(DT_F32, DT_I8, (Value1){.f = 300}).i, 127);
    CHECK_NEAR(value_cast(DT_F32, DT_E4M3, (Value1){.f = 1000}).f, 448, 0);
    for (int i = 0; i < 4000; i++) {
        double v = ldexp(1 + i / 4096.0, i % 60 - 30);
        CHECK_NEAR(value_round(DT_F16, v), num_round(DT_F16, v), 0);
        CHECK_NEAR(value_round(DT_BF16, -v), num_round(DT_BF16, -v), 0);
    }
}

static void reads_what_it_fills(Sim *m, const Stmt *t)
{
    SimRegion r = sim_region(m, t, &t->u.tile.region[0]);
    int64_t at[RANK_MOST] = {0};
    Value1 v;

    sim_get(m, t, &r, at, &v);
    sim_put(m, t, &r, at, v);
}

/* Passes go by the effects of an operator: they are held to what it does. */
TEST(operators_do_what_their_effects_say)
{
    static const struct { const char *effects, *says; } each[] = {
        {"a", ""}, {"w", "bug"}, {"r", "bug"},
    };

    for (int i = 0; i < COUNT(each); i++) {
        Kit *t = kit_new(1, 1);
        float out[4] = {0};
        Buffer *O = kit_tensor(t, "O", DT_F32, SHAPE(4), out);
        TileOp op = op_fill;
        Region r = kit_whole(t, O);
        const Expr *zero = expr_float(t->ir, DT_F32, 0);
        op.effects = each[i].effects;
        op.simulate = reads_what_it_fills;
        op.check = NULL;
        kit_add(t, kit_op(t, &op, 1, &r, 1, &zero, NULL));
        CHECK_TEXT(kit_run(t), each[i].says);
    }
}
