/* call.c -- barriers, shuffles, votes and random numbers in MSL.
 *
 * Functions of SIMD-groups take whoever is active: the mask that a call names lanes by is not
 * needed.  Copies are done when they are issued, so that waiting for them is nothing. */
#include "target/metal/metal.h"

NORETURN static void refuse_call(Emit *e, const Stmt *s)
{
    cuda_refuse(cuda_of(e), s,
                arena_printf(e->arena, "T.%s", intrin_table[s->u.call.which].word));
}

static bool is_nothing(Intrin which)
{
    return which == INTRIN_COMMIT_COPIES || which == INTRIN_WAIT_COPIES ||
           which == INTRIN_COMMIT_STORES || which == INTRIN_WAIT_STORES ||
           which == INTRIN_FENCE_PROXY || which == INTRIN_PREFETCH || which == INTRIN_SETTLE ||
           which == INTRIN_COMMIT_MMA || which == INTRIN_WAIT_MMA || which == INTRIN_SET_MAX_NREG ||
           which == INTRIN_PDL_TRIGGER || which == INTRIN_PDL_SYNC;
}

/* ---- barriers -------------------------------------------------------------------------------- */

static bool see_load(const Expr *x, void *arg)
{
    Metal *m = arg;

    if (x->op == EX_LOAD && buffer_root(x->u.buf)->scope == MEM_GLOBAL)
        m->ordered |= map_has(&m->c.u.written, buffer_root(x->u.buf));
    return true;
}

static bool see_stmt(const Stmt *s, void *arg)
{
    stmt_visit_expr(s, see_load, arg);
    ((Metal *)arg)->ordered |= s->kind == ST_ATOMIC; /* others may wait for what came before */
    return true;
}

bool metal_orders(Metal *m, const Stmt *body)
{
    m->ordered = false;
    stmt_visit(body, see_stmt, m);
    return m->ordered;
}

/* Of some threads too: all of the block come by (LACK_UNEVEN). */
static void emit_sync(Emit *e, const Stmt *s)
{
    (void)s;
    emit_line(e, "threadgroup_barrier(%smem_flags::mem_threadgroup);",
              metal_of(e)->ordered ? "mem_flags::mem_device | " : "");
}

/* A cluster is blocks side by side: what its blocks do together is refused. */
static void emit_cluster(Emit *e, const Stmt *s)
{
    if (cuda_cluster_size(e->k) > 1)
        refuse_call(e, s);
    if (s->u.call.which != INTRIN_CLUSTER_ARRIVE) /* who waits meets the others then */
        emit_line(e, "threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);");
}

static void emit_rank(Emit *e, const Stmt *s)
{
    const int *n = e->k->cluster;

    emit_bind(e, s->u.call.bind, NULL);
    str_printf(e->out, "int32_t(tl_block.x %% %d + tl_block.y %% %d * %d + "
               "tl_block.z %% %d * %d);\n", n[0], n[1], n[0], n[2], n[0] * n[1]);
}

/* ---- values between lanes -------------------------------------------------------------------- */

static void emit_exchanged(Emit *e, const Expr *x)
{
    emit_cast_to(e, c_value_type((DType)x->type), x, false);
}

/* fn(value, lane, argument, width) */
static void emit_shuffle(Emit *e, const Stmt *s, const char *fn)
{
    int64_t width = LANES;

    if (s->u.call.n > 2 && (!expr_is_int(s->u.call.arg[2], &width) || width > LANES ||
                            (width > 0 && (width & (width - 1)))))
        refuse_call(e, s);
    emit_bind(e, s->u.call.bind, NULL);
    str_printf(e->out, "%s(", fn);
    emit_exchanged(e, s->u.call.arg[0]);
    str_puts(e->out, ", ");
    emit_loose(e, cuda_lane(cuda_of(e)));
    str_puts(e->out, ", ");
    emit_loose(e, s->u.call.arg[1]);
    str_printf(e->out, ", %d);\n", width > 0 ? (int)width : LANES);
}

static void emit_vote(Emit *e, const Stmt *s, const char *fn)
{
    emit_bind(e, s->u.call.bind, NULL);
    str_printf(e->out, "%s(", fn);
    emit_at(e, s->u.call.arg[0], false, OF_COMPARISON);
    str_puts(e->out, " != 0);\n");
}

static void emit_of_warp(Emit *e, const Stmt *s, const char *fn)
{
    emit_bind(e, s->u.call.bind, NULL);
    str_printf(e->out, "%s(", fn);
    emit_exchanged(e, s->u.call.arg[0]);
    str_puts(e->out, ", ");
    emit_loose(e, cuda_lane(cuda_of(e)));
    str_puts(e->out, ");\n");
}

static void emit_match(Emit *e, const Stmt *s, const char *fn)
{
    if (dtype_is_float((DType)s->u.call.arg[0]->type))
        refuse_call(e, s);
    emit_bind(e, s->u.call.bind, NULL);
    str_printf(e->out, "%s(int64_t(", fn);
    emit_loose(e, s->u.call.arg[0]);
    str_puts(e->out, "));\n");
}

static const struct {
    Intrin which;
    const char *fn;
    void (*emit)(Emit *e, const Stmt *s, const char *fn);
} lane_table[] = {
    {INTRIN_SHFL, "tl_lane_of", emit_shuffle},
    {INTRIN_SHFL_XOR, "tl_lane_xor", emit_shuffle},
    {INTRIN_SHFL_DOWN, "tl_lane_down", emit_shuffle},
    {INTRIN_SHFL_UP, "tl_lane_up", emit_shuffle},
    {INTRIN_ANY_SYNC, "simd_any", emit_vote},
    {INTRIN_ALL_SYNC, "simd_all", emit_vote},
    {INTRIN_BALLOT, "tl_ballot", emit_vote},
    {INTRIN_WARP_SUM, "tl_warp_sum", emit_of_warp},
    {INTRIN_WARP_MAX, "tl_warp_max", emit_of_warp},
    {INTRIN_WARP_MIN, "tl_warp_min", emit_of_warp},
    {INTRIN_WARP_AND, "tl_warp_and", emit_of_warp},
    {INTRIN_WARP_OR, "tl_warp_or", emit_of_warp},
    {INTRIN_MATCH_ANY, "tl_match_any", emit_match},
    {INTRIN_MATCH_ALL, "tl_match_all", emit_match},
};

static bool emit_between_lanes(Emit *e, const Stmt *s)
{
    for (int i = 0; i < COUNT(lane_table); i++)
        if (lane_table[i].which == s->u.call.which) {
            lane_table[i].emit(e, s, lane_table[i].fn);
            return true;
        }
    return false;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void emit_elect(Emit *e, const Stmt *s)
{
    int64_t span = 0;

    if (s->u.call.n && !expr_is_int(s->u.call.arg[0], &span))
        refuse_call(e, s);
    emit_bind(e, s->u.call.bind, NULL);
    emit_index(e, thread_in_block(e->k));
    if (span > 0)
        str_printf(e->out, " %% %lld", (long long)span);
    str_puts(e->out, " == 0;\n");
}

static void emit_random(Emit *e, const Stmt *s)
{
    int64_t bits = 32;
    bool normal = s->u.call.text && !strcmp(s->u.call.text, "normal");

    if (s->u.call.which == INTRIN_RNG_FLOAT)
        expr_is_int(s->u.call.arg[0], &bits);
    if (hint_int(e->k->hints, "generator", 0) || bits == 64)
        cuda_refuse(cuda_of(e), s, "a random number of 64 bits, or not of Philox,");
    emit_bind(e, s->u.call.bind, NULL);
    if (s->u.call.which != INTRIN_RNG_INIT) {
        str_printf(e->out, "tl_rng_%s(tl_rng);\n",
                   s->u.call.which == INTRIN_RNG_RAND ? "next" : normal ? "normal" : "uniform");
        return;
    }
    str_puts(e->out, "tl_rng_init(tl_rng");
    for (int i = 0; i < 3; i++) {
        str_puts(e->out, ", uint64_t(");
        i < s->u.call.n ? emit_loose(e, s->u.call.arg[i]) : str_putc(e->out, '0');
        str_putc(e->out, ')');
    }
    str_puts(e->out, ");\n");
}

static void emit_extern(Emit *e, const Stmt *s)
{
    if (!strcmp(s->u.call.text, "printf"))
        refuse_call(e, s);
    emit_bind(e, s->u.call.bind, NULL);
    emit_extern_args(e, s->u.call.text, s->u.call.arg, s->u.call.n);
    str_puts(e->out, ";\n");
}

void metal_call(Emit *e, const Stmt *s)
{
    if (is_nothing(s->u.call.which) || emit_between_lanes(e, s))
        return;
    switch (s->u.call.which) {
    case INTRIN_CLUSTER_WAIT:
    case INTRIN_CLUSTER_SYNC:
    case INTRIN_CLUSTER_ARRIVE: emit_cluster(e, s); break;
    case INTRIN_SYNC_THREADS: emit_sync(e, s); break;
    case INTRIN_SYNC_WARP:
        emit_line(e, "simdgroup_barrier(%smem_flags::mem_threadgroup);",
                  metal_of(e)->ordered ? "mem_flags::mem_device | " : "");
        break;
    case INTRIN_ACTIVEMASK:
        emit_bind(e, s->u.call.bind, NULL);
        str_puts(e->out, "tl_active();\n");
        break;
    case INTRIN_BLOCK_RANK: emit_rank(e, s); break;
    case INTRIN_ELECT: emit_elect(e, s); break;
    case INTRIN_RNG_INIT:
    case INTRIN_RNG_RAND:
    case INTRIN_RNG_FLOAT: emit_random(e, s); break;
    case INTRIN_EXTERN: emit_extern(e, s); break;
    case INTRIN_RETURN: emit_line(e, "return;"); break;
    default: refuse_call(e, s);
    }
}
