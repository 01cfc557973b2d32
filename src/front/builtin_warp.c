/* builtin_warp.c -- warps, lanes, votes, shuffles, clusters and random numbers. */
#include "front/builtin.h"

enum { WARP = 32, WARPS_PER_GROUP = 4 };

/* T.ws(0, 1): only these groups of 128 threads run the body. */
Value do_ws(BuiltinCall *c)
{
    Kernel *k = call_threads(c);
    int groups = (kernel_block_threads(k) + WARP * WARPS_PER_GROUP - 1) / (WARP * WARPS_PER_GROUP);
    Frame *f = NEW(c->ev->arena, Frame);
    f->kind = FRAME_ROLE;
    f->span = c->span;
    if (c->nrest < 1 || c->nrest > COUNT(f->role))
        call_fail(c, "takes 1 to %d warp groups, not %d [argument-count]", COUNT(f->role),
                  c->nrest);
    for (int i = 0; i < c->nrest; i++) {
        int64_t g = to_int(c->ev, c->span, &c->rest[i],
                           arena_printf(c->ev->arena, "%s: a warp group", call_title(c)));
        if (g < 0 || g >= groups)
            call_fail(c, "there is no warp group %lld: %d threads make %d [warp-group]",
                      (long long)g, kernel_block_threads(k), groups);
        f->role[f->nrole++] = (int)g;
    }
    return (Value){.kind = V_FRAME, .u.frame = f};
}

static int64_t size_or(BuiltinCall *c, int i, int64_t otherwise)
{
    int64_t n = arg_given(c, i) ? arg_int(c, i) : otherwise;
    if (n <= 0)
        arg_fail(c, i, "must be positive, not %lld [argument-type]", (long long)n);
    return n;
}

Value do_get_lane_idx(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    int64_t warp = size_or(c, 0, WARP);
    return value_expr(c->ev, expr_floormod(ir, flat_thread(c), expr_int(ir, warp)));
}

Value do_get_warp_idx(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    int64_t warp = size_or(c, 0, WARP);
    return value_expr(c->ev, expr_floordiv(ir, flat_thread(c), expr_int(ir, warp)));
}

Value do_get_warp_group_idx(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    int64_t n = size_or(c, 0, WARP) * size_or(c, 1, WARPS_PER_GROUP);
    return value_expr(c->ev, expr_floordiv(ir, flat_thread(c), expr_int(ir, n)));
}

Value do_shuffle_elect(BuiltinCall *c)
{
    call_threads(c);
    const Expr *n = expr_int(c->ev->ir, arg_int(c, 0));
    return call_intrin(c, INTRIN_ELECT, 1, &n, 0, NULL, NULL, DT_BOOL);
}

/* (value, lane or delta, width, mask) */
static Value shuffle(BuiltinCall *c, Intrin which)
{
    const Expr *arg[4];
    int n = 2;
    call_threads(c);
    arg[0] = arg_expr(c, 0);
    arg[1] = arg_index(c, 1);
    if (arg[0]->lanes != 1)
        arg_fail(c, 0, "must be a scalar, not %d lanes [argument-type]", arg[0]->lanes);
    arg[n++] = expr_int(c->ev->ir, arg_given(c, 2) ? arg_int(c, 2) : WARP);
    if (arg_given(c, 3))
        arg[n++] = arg_index(c, 3);
    return call_intrin(c, which, n, arg, 0, NULL, NULL, arg[0]->type);
}

Value do_shfl_sync(BuiltinCall *c) { return shuffle(c, INTRIN_SHFL); }
Value do_shfl_xor(BuiltinCall *c) { return shuffle(c, INTRIN_SHFL_XOR); }
Value do_shfl_down(BuiltinCall *c) { return shuffle(c, INTRIN_SHFL_DOWN); }
Value do_shfl_up(BuiltinCall *c) { return shuffle(c, INTRIN_SHFL_UP); }

/* T.tvm_warp_shuffle(mask, value, lane, width, warp size) */
Value do_tvm_warp_shuffle(BuiltinCall *c)
{
    call_threads(c);
    if (arg_int(c, 4) != WARP)
        arg_fail(c, 4, "must be %d [argument-type]", WARP);
    const Expr *arg[4] = {arg_expr(c, 1), arg_index(c, 2), arg_index(c, 3),
                          arg_index(c, 0)};
    Intrin which = strstr(c->b->name, "_up") ? INTRIN_SHFL_UP
                   : strstr(c->b->name, "_down") ? INTRIN_SHFL_DOWN : INTRIN_SHFL;
    return call_intrin(c, which, 4, arg, 0, NULL, NULL, arg[0]->type);
}

/* Said before the kernel is asked for: the predicate is wrong anywhere. */
void need_predicate(const BuiltinCall *c)
{
    const Value *v = &c->arg[0];
    if (v->kind == V_FLOAT || (v->kind == V_EXPR && dtype_is_float(v->u.expr->type)))
        call_fail(c, "requires an integer or boolean predicate, not a float [argument-type]");
}

static Value vote(BuiltinCall *c, Intrin which, DType t)
{
    const Expr *arg[2];
    int n = 1;
    need_predicate(c);
    call_threads(c);
    arg[0] = arg_bool_expr(c, 0);
    if (c->narg > 1 && arg_given(c, 1))
        arg[n++] = arg_index(c, 1);
    return call_intrin(c, which, n, arg, 0, NULL, NULL, t);
}

Value do_any_sync(BuiltinCall *c) { return vote(c, INTRIN_ANY_SYNC, DT_I32); }
Value do_all_sync(BuiltinCall *c) { return vote(c, INTRIN_ALL_SYNC, DT_I32); }
Value do_ballot(BuiltinCall *c) { return vote(c, INTRIN_BALLOT, DT_U64); }

Value do_activemask(BuiltinCall *c)
{
    call_threads(c);
    return call_intrin(c, INTRIN_ACTIVEMASK, 0, NULL, 0, NULL, NULL, DT_U64);
}

static Value match(BuiltinCall *c, Intrin which)
{
    const Expr *arg[2];
    int n = 1;
    call_threads(c);
    arg[0] = arg_expr(c, 0);
    if (arg_given(c, 1))
        arg[n++] = arg_index(c, 1);
    return call_intrin(c, which, n, arg, 0, NULL, NULL, DT_U32);
}

Value do_match_any(BuiltinCall *c) { return match(c, INTRIN_MATCH_ANY); }
Value do_match_all(BuiltinCall *c) { return match(c, INTRIN_MATCH_ALL); }

static Value warp_reduce(BuiltinCall *c, Intrin which)
{
    call_threads(c);
    const Expr *v = arg_expr(c, 0);
    return call_intrin(c, which, 1, &v, 0, NULL, NULL, v->type);
}

Value do_warp_sum(BuiltinCall *c) { return warp_reduce(c, INTRIN_WARP_SUM); }
Value do_warp_max(BuiltinCall *c) { return warp_reduce(c, INTRIN_WARP_MAX); }
Value do_warp_min(BuiltinCall *c) { return warp_reduce(c, INTRIN_WARP_MIN); }
Value do_warp_and(BuiltinCall *c) { return warp_reduce(c, INTRIN_WARP_AND); }
Value do_warp_or(BuiltinCall *c) { return warp_reduce(c, INTRIN_WARP_OR); }

/* Without a cluster a block is alone in its own. */
Value do_block_rank(BuiltinCall *c)
{
    Kernel *k = call_kernel(c);
    if ((int64_t)k->cluster[0] * k->cluster[1] * k->cluster[2] <= 1)
        return value_int(0);
    return call_intrin(c, INTRIN_BLOCK_RANK, 0, NULL, 0, NULL, NULL, DT_I32);
}

/* ---- random numbers: one stream per thread --------------------------------------------------- */

/* Threads of all blocks, counted through: the stream a thread has unless it asks for another. */
static const Expr *global_thread(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    Kernel *k = call_threads(c);
    const Expr *block = expr_int(ir, 0);
    for (int d = k->ngrid - 1; d >= 0; d--)
        if (k->block[d])
            block = expr_add(ir, expr_mul(ir, block, k->grid[d]), expr_var(ir, k->block[d]));
    return expr_add(ir, expr_mul(ir, block, expr_int(ir, kernel_block_threads(k))), flat_thread(c));
}

/* The hint "generator" of a kernel: the place of its name here. */
static void choose_generator(BuiltinCall *c, Kernel *k)
{
    static const char *const kinds[] = {"curandStatePhilox4_32_10_t", "curandStateXORWOW_t",
                                        "curandStateMRG32k3a_t", NULL};
    const char *kind = arg_given(c, 3) ? arg_word(c, 3, kinds, " [argument-type]") : kinds[0];
    int64_t which = 0;

    while (strcmp(kinds[which], kind))
        which++;
    if (which != hint_int(k->hints, "generator", which))
        arg_fail(c, 3, "is not that of the T.rng_init before; a kernel has one [argument-type]");
    if (!hint_find(k->hints, "generator"))
        hints_int(c->ev, &k->hints, "generator", which);
}

Value do_rng_init(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    choose_generator(c, call_threads(c));
    const Expr *arg[3] = {arg_index(c, 0), arg_given(c, 1) ? arg_index(c, 1) : global_thread(c),
                          arg_given(c, 2) ? arg_index(c, 2) : expr_int(ir, 0)};
    return call_intrin(c, INTRIN_RNG_INIT, 3, arg, 0, NULL, NULL, DT_NONE);
}

Value do_rng_rand(BuiltinCall *c)
{
    call_threads(c);
    return call_intrin(c, INTRIN_RNG_RAND, 0, NULL, 0, NULL, NULL, DT_U32);
}

Value do_rng_rand_float(BuiltinCall *c)
{
    static const char *const kinds[] = {"uniform", "normal", NULL};
    call_threads(c);
    int64_t bits = arg_int(c, 0);
    if (bits != 32 && bits != 64)
        arg_fail(c, 0, "must be 32 or 64, not %lld [argument-type]", (long long)bits);
    const char *kind = arg_word(c, 1, kinds, " [argument-type]");
    const Expr *arg[1] = {expr_int(c->ev->ir, bits)};
    return call_intrin(c, INTRIN_RNG_FLOAT, 1, arg, 0, NULL, kind, bits == 64 ? DT_F64 : DT_F32);
}
