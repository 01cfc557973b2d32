/* sim_threads.c -- kernels written per thread: barriers, shuffles, roles, deadlocks. */
#include "isa/isa.h"
#include "tile_kit.h"

static Kit *threads_kit(int n)
{
    Kit *t = kit_new(1, 1);
    t->k->threads[0] = n;
    t->k->thread[0] = var_new(t->ir, "tx", DT_I32, NO_SPAN);
    t->k->uses_threads = true;
    return t;
}

static const Expr *tx(Kit *t)
{
    return expr_var(t->ir, t->k->thread[0]);
}

static const Stmt *put(Kit *t, Buffer *b, const Expr *at, const Expr *v)
{
    return stmt_store(t->ir, NO_SPAN, b, &at, b->rank, v);
}

static const Expr *get(Kit *t, Buffer *b, const Expr *at)
{
    return expr_load(t->ir, b, &at, b->rank);
}

static const Stmt *call(Kit *t, Intrin which, int n, const Expr *const *arg, Var *bind)
{
    return stmt_call(t->ir, NO_SPAN, which, n, arg, 0, NULL, NULL, bind);
}

static const Stmt *on_barrier(Kit *t, Intrin which, Buffer *b, const Expr *at, const Expr *arg)
{
    Region *r = NEW(t->arena, Region);
    *r = kit_region(t, b, &at, (int64_t[]){1});
    return stmt_call(t->ir, NO_SPAN, which, arg ? 1 : 0, &arg, 1, r, NULL, NULL);
}

static Buffer *barriers(Kit *t, int64_t n, int64_t arrive)
{
    Buffer *b = kit_tile(t, "bar", DT_U64, MEM_BARRIER, 1, &n);
    const Expr **count = NEWN(t->arena, const Expr *, n);
    for (int64_t i = 0; i < n; i++)
        count[i] = kit_int(t, arrive);
    b->arrive = count;
    return b;
}

/* out[tx] = in[63 - tx] through shared memory. */
TEST(a_barrier_makes_writes_visible)
{
    Kit *t = threads_kit(64);
    int32_t out[64] = {0};
    Buffer *O = kit_tensor(t, "O", DT_I32, SHAPE(64), out);
    Buffer *S = kit_tile(t, "S", DT_I32, MEM_SHARED, SHAPE(64));
    kit_add(t, put(t, S, tx(t), expr_mul(t->ir, tx(t), kit_int(t, 3))));
    kit_add(t, call(t, INTRIN_SYNC_THREADS, 0, NULL, NULL));
    kit_add(t, put(t, O, tx(t), get(t, S, expr_sub(t->ir, kit_int(t, 63), tx(t)))));
    kit_must_run(t);
    for (int i = 0; i < 64; i++)
        CHECK_INT(out[i], (63 - i) * 3);
}

TEST(without_the_barrier_it_reads_nothing)
{
    Kit *t = threads_kit(64);
    int32_t out[64];
    Buffer *O = kit_tensor(t, "O", DT_I32, SHAPE(64), out);
    Buffer *S = kit_tile(t, "S", DT_I32, MEM_SHARED, SHAPE(64));
    kit_add(t, put(t, S, tx(t), tx(t)));
    kit_add(t, put(t, O, tx(t), get(t, S, expr_sub(t->ir, kit_int(t, 63), tx(t)))));
    CHECK_TEXT(kit_run(t), "uninitialised");
}

TEST(locals_are_private_and_tiles_are_done_once)
{
    Kit *t = threads_kit(32);
    int32_t out[32], sum[1] = {0};
    Buffer *O = kit_tensor(t, "O", DT_I32, SHAPE(32), out), *N = kit_tensor(t, "N", DT_I32, SHAPE(1), sum);
    Buffer *L = kit_tile(t, "L", DT_I32, MEM_LOCAL, SHAPE(2));
    kit_add(t, put(t, L, kit_int(t, 0), tx(t)));
    Region r = kit_whole(t, N);
    const Expr *one = kit_int(t, 1);
    kit_add(t, kit_op(t, &op_atomic, 1, &r, 1, &one, "add"));
    kit_add(t, put(t, O, tx(t), get(t, L, kit_int(t, 0))));
    kit_must_run(t);
    CHECK_INT(sum[0], 1);
    for (int i = 0; i < 32; i++)
        CHECK_INT(out[i], i);
}

TEST(an_operator_on_private_memory_is_each_threads_own)
{
    Kit *t = threads_kit(32);
    int32_t out[32];
    Buffer *O = kit_tensor(t, "O", DT_I32, SHAPE(32), out);
    Buffer *L = kit_tile(t, "L", DT_I32, MEM_LOCAL, SHAPE(2)), *R = kit_tile(t, "R", DT_I32, MEM_LOCAL, SHAPE(1));
    Region r[2] = {kit_whole(t, L), kit_whole(t, R)};
    const Expr *v = tx(t);
    kit_add(t, kit_op(t, &op_fill, 1, r, 1, &v, NULL));
    kit_add(t, kit_op(t, &op_reduce, 2, r, 0, NULL, "sum"));
    kit_add(t, put(t, O, tx(t), get(t, R, kit_int(t, 0))));
    kit_must_run(t);
    for (int i = 0; i < 32; i++)
        CHECK_INT(out[i], 2 * i);
}

static int32_t shuffled(Intrin which, int n, const int64_t *arg, int lane)
{
    Kit *t = threads_kit(64);
    int32_t out[64];
    Buffer *O = kit_tensor(t, "O", DT_I32, SHAPE(64), out);
    Var *v = var_new(t->ir, "v", DT_I32, NO_SPAN);
    const Expr *a[3] = {expr_mul(t->ir, tx(t), kit_int(t, 10))};
    for (int i = 0; i < n; i++)
        a[1 + i] = kit_int(t, arg[i]);
    kit_add(t, call(t, which, n + 1, a, v));
    kit_add(t, put(t, O, tx(t), expr_var(t->ir, v)));
    kit_must_run(t);
    return out[lane];
}

TEST(shuffles_move_values_between_lanes)
{
    CHECK_INT(shuffled(INTRIN_SHFL_XOR, 1, (int64_t[]){1}, 4), 50);
    CHECK_INT(shuffled(INTRIN_SHFL_XOR, 1, (int64_t[]){16}, 40), 560);
    CHECK_INT(shuffled(INTRIN_SHFL_DOWN, 1, (int64_t[]){4}, 3), 70);
    CHECK_INT(shuffled(INTRIN_SHFL_DOWN, 1, (int64_t[]){4}, 30), 300);
    CHECK_INT(shuffled(INTRIN_SHFL_UP, 1, (int64_t[]){1}, 0), 0);
    CHECK_INT(shuffled(INTRIN_SHFL_UP, 1, (int64_t[]){1}, 33), 320);
    CHECK_INT(shuffled(INTRIN_SHFL, 1, (int64_t[]){5}, 50), 370);
    CHECK_INT(shuffled(INTRIN_SHFL, 2, (int64_t[]){1, 8}, 20), 170);
}

TEST(warps_reduce_and_vote)
{
    CHECK_INT(shuffled(INTRIN_WARP_SUM, 0, NULL, 3), 10 * 31 * 16);
    CHECK_INT(shuffled(INTRIN_WARP_MAX, 0, NULL, 33), 630);
    CHECK_INT(shuffled(INTRIN_WARP_MIN, 0, NULL, 33), 320);
    CHECK_INT(shuffled(INTRIN_ANY_SYNC, 0, NULL, 0), 1);
    CHECK_INT(shuffled(INTRIN_ALL_SYNC, 0, NULL, 0), 0);
    CHECK_INT(shuffled(INTRIN_ALL_SYNC, 0, NULL, 40), 1);
    CHECK_INT(shuffled(INTRIN_SYNC_COUNT, 0, NULL, 5), 63);
    CHECK_INT(shuffled(INTRIN_ALLREDUCE, 1, (int64_t[]){1}, 5), 10 * 63 * 32);
}

/* Group 0 fills a ring of two, group 1 drains it, six times. */
TEST(roles_talk_through_mbarriers)
{
    enum { STEPS = 6, STAGES = 2 };
    Kit *t = threads_kit(256);
    int32_t out[STEPS] = {0};
    Buffer *O = kit_tensor(t, "O", DT_I32, SHAPE(STEPS), out);
    Buffer *S = kit_tile(t, "S", DT_I32, MEM_SHARED, SHAPE(STAGES, 128));
    Buffer *full = barriers(t, STAGES, 128), *empty = barriers(t, STAGES, 128);
    Var *p = var_new(t->ir, "p", DT_I32, NO_SPAN), *c = var_new(t->ir, "c", DT_I32, NO_SPAN);
    Ir *ir = t->ir;
    const Expr *two = kit_int(t, STAGES), *one = kit_int(t, 1);
    const Expr *vp = expr_var(ir, p), *sp = expr_floormod(ir, vp, two);
    const Expr *vc = expr_var(ir, c), *sc = expr_floormod(ir, vc, two);
    const Expr *phase_p = expr_binary(ir, EX_BITAND, expr_floordiv(ir, vp, two), one);
    const Expr *phase_c = expr_binary(ir, EX_BITAND, expr_floordiv(ir, vc, two), one);
    const Expr *slot[2] = {sp, tx(t)};
    const Stmt *make[3] = {on_barrier(t, INTRIN_WAIT_PHASE, empty, sp, expr_binary(ir, EX_BITXOR, phase_p, one)),
                           stmt_store(ir, NO_SPAN, S, slot, 2, expr_add(ir, vp, tx(t))),
                           on_barrier(t, INTRIN_ARRIVE, full, sp, NULL)};
    const Expr *taken[2] = {sc, expr_sub(ir, tx(t), kit_int(t, 128))};
    const Stmt *take[3] = {on_barrier(t, INTRIN_WAIT_PHASE, full, sc, phase_c),
                           stmt_atomic(ir, NO_SPAN, ATOMIC_ADD, O, &vc, 1, expr_load(ir, S, taken, 2), NULL, NULL),
                           on_barrier(t, INTRIN_ARRIVE, empty, sc, NULL)};
    const Expr *zero = kit_int(t, 0), *steps = kit_int(t, STEPS);
    int g0 = 0, g1 = 1;
    kit_add(t, stmt_role(ir, NO_SPAN, ROLE_WS, 1, &g0,
                         stmt_for(ir, NO_SPAN, LOOP_SERIAL, p, zero, steps, (Hints){0}, stmt_block(ir, NO_SPAN, 3, make))));
    kit_add(t, stmt_role(ir, NO_SPAN, ROLE_WS, 1, &g1,
                         stmt_for(ir, NO_SPAN, LOOP_SERIAL, c, zero, steps, (Hints){0}, stmt_block(ir, NO_SPAN, 3, take))));
    kit_must_run(t);
    for (int i = 0; i < STEPS; i++)
        CHECK_INT(out[i], 128 * i + 127 * 64);
}

TEST(a_barrier_some_threads_miss_is_a_deadlock)
{
    Kit *t = threads_kit(64);
    Buffer *bar = barriers(t, 1, 64);
    const Expr *half = expr_lt(t->ir, tx(t), kit_int(t, 32)), *zero = kit_int(t, 0);
    kit_add(t, stmt_if(t->ir, NO_SPAN, half, on_barrier(t, INTRIN_ARRIVE, bar, zero, NULL), NULL));
    kit_add(t, on_barrier(t, INTRIN_WAIT_PHASE, bar, zero, kit_int(t, 0)));
    CHECK_TEXT(kit_run(t), "deadlock");
    CHECK_HAS(t->diag.list.at[1].text, "threads 0 to 63");
    CHECK_HAS(t->diag.list.at[1].text, "32 of 64 arrivals");
}

TEST(named_barriers_count_arrivals)
{
    Kit *t = threads_kit(64);
    int32_t out[1] = {0};
    Buffer *O = kit_tensor(t, "O", DT_I32, SHAPE(1), out);
    Buffer *S = kit_tile(t, "S", DT_I32, MEM_SHARED, SHAPE(32));
    const Expr *low = expr_lt(t->ir, tx(t), kit_int(t, 32)), *zero = kit_int(t, 0);
    const Expr *arg[2] = {kit_int(t, 3), kit_int(t, 64)};
    const Expr *upper = expr_sub(t->ir, tx(t), kit_int(t, 32));
    const Stmt *sync = call(t, INTRIN_SYNC_THREADS, 2, arg, NULL);
    const Stmt *reader = stmt_seq(t->ir, sync, stmt_atomic(t->ir, NO_SPAN, ATOMIC_ADD, O, &zero, 1,
                                                           get(t, S, tx(t)), NULL, NULL));
    const Stmt *writer = stmt_seq(t->ir, put(t, S, upper, tx(t)),
                                  call(t, INTRIN_BARRIER_ARRIVE, 2, arg, NULL));
    kit_add(t, stmt_if(t->ir, NO_SPAN, low, reader, writer));
    kit_must_run(t);
    CHECK_INT(out[0], (32 + 63) * 16);
}

TEST(divergent_tiles_go_on_with_those_who_came)
{
    Kit *t = threads_kit(64);
    int32_t out[4] = {0};
    Buffer *O = kit_tensor(t, "O", DT_I32, SHAPE(4), out);
    Buffer *S = kit_tile(t, "S", DT_I32, MEM_SHARED, SHAPE(4));
    kit_add(t, call(t, INTRIN_SYNC_THREADS, 0, NULL, NULL));
    Region r = kit_whole(t, S);
    const Expr *nine = kit_int(t, 9), *low = expr_lt(t->ir, tx(t), kit_int(t, 32));
    kit_add(t, stmt_if(t->ir, NO_SPAN, low, kit_op(t, &op_fill, 1, &r, 1, &nine, NULL), NULL));
    kit_add(t, call(t, INTRIN_SYNC_THREADS, 0, NULL, NULL));
    kit_copy(t, kit_whole(t, S), kit_whole(t, O));
    kit_must_run(t);
    CHECK_INT(out[3], 9);
}

TEST(a_grid_barrier_joins_blocks)
{
    Kit *t = kit_new(4, 1);
    int32_t part[4], out[4];
    Buffer *P = kit_tensor(t, "P", DT_I32, SHAPE(4), part), *O = kit_tensor(t, "O", DT_I32, SHAPE(4), out);
    const Expr *b = kit_block(t, 0), *sum = NULL;
    kit_add(t, put(t, P, b, expr_add(t->ir, b, kit_int(t, 1))));
    kit_add(t, call(t, INTRIN_SYNC_GRID, 0, NULL, NULL));
    for (int i = 0; i < 4; i++)
        sum = sum ? expr_add(t->ir, sum, get(t, P, kit_int(t, i))) : get(t, P, kit_int(t, i));
    kit_add(t, put(t, O, b, sum));
    kit_must_run(t);
    for (int i = 0; i < 4; i++)
        CHECK_INT(out[i], 10);
}

TEST(an_error_in_a_thread_ends_the_run)
{
    Kit *t = threads_kit(64);
    Buffer *S = kit_tile(t, "S", DT_I32, MEM_SHARED, SHAPE(40));
    kit_add(t, put(t, S, tx(t), tx(t)));
    CHECK_TEXT(kit_run(t), "out-of-bounds");
    CHECK_HAS(t->diag.list.at[1].text, "thread 40");
}

TEST(threads_that_return_are_not_waited_for)
{
    Kit *t = threads_kit(64);
    int32_t out[64] = {0};
    Buffer *O = kit_tensor(t, "O", DT_I32, SHAPE(64), out);
    const Expr *high = expr_binary(t->ir, EX_GE, tx(t), kit_int(t, 40));
    kit_add(t, stmt_if(t->ir, NO_SPAN, high, call(t, INTRIN_RETURN, 0, NULL, NULL), NULL));
    kit_add(t, call(t, INTRIN_SYNC_THREADS, 0, NULL, NULL));
    kit_add(t, put(t, O, tx(t), kit_int(t, 1)));
    kit_must_run(t);
    CHECK_INT(out[39], 1);
    CHECK_INT(out[40], 0);
}

static const char *wrong_barrier(int which)
{
    Kit *t = threads_kit(1);
    Buffer *bar = barriers(t, 1, 0), *S = kit_tile(t, "S", DT_I32, MEM_SHARED, SHAPE(1));
    const Expr *zero = kit_int(t, 0), *named[2] = {kit_int(t, 99), kit_int(t, 1)};
    switch (which) {
    case 0: kit_add(t, on_barrier(t, INTRIN_ARRIVE, bar, zero, NULL)); break;
    case 1: kit_add(t, call(t, INTRIN_BARRIER_ARRIVE, 2, named, NULL)); break;
    default: kit_add(t, on_barrier(t, INTRIN_ARRIVE, S, zero, NULL));
    }
    return kit_run(t);
}

TEST(wrong_use_of_barriers_is_told)
{
    CHECK_TEXT(wrong_barrier(0), "barrier-count");
    CHECK_TEXT(wrong_barrier(1), "barrier-id");
    CHECK_TEXT(wrong_barrier(2), "barrier-scope");
}

TEST(a_matrix_instruction_needs_the_whole_warp)
{
    Kit *t = threads_kit(32);
    Buffer *A = kit_tile(t, "A", DT_F16, MEM_LOCAL, SHAPE(8));
    Buffer *B = kit_tile(t, "B", DT_F16, MEM_LOCAL, SHAPE(4));
    Buffer *C = kit_tile(t, "C", DT_F32, MEM_FRAGMENT, SHAPE(16, 8));
    Region *r = NEWN(t->arena, Region, 3);
    r[0] = region_whole(t->ir, A);
    r[1] = region_whole(t->ir, B);
    r[2] = region_whole(t->ir, C);
    const Stmt *mma = stmt_instr(t->ir, NO_SPAN, isa_find("mma.m16n8k16.f32.f16.f16"), 3, r, 0, NULL, 0);
    kit_add(t, stmt_if(t->ir, NO_SPAN, expr_lt(t->ir, tx(t), kit_int(t, 31)), mma, NULL));
    CHECK_TEXT(kit_run(t), "divergent-warp");
}
