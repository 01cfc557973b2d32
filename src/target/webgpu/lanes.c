/* lanes.c -- values between the threads of a subgroup, for adapters whose subgroups have as many as
 * the target says (-subgroup=).
 *
 * WGSL has no way to ask for a size, and says nothing of which threads are together: the runtime
 * compares the adapter's size, and a kernel with such calls looks for itself whether its threads
 * follow each other; where not, the launch fails as by an assertion. */
#include "target/webgpu/webgpu.h"

enum { BALLOT_LANES = 32, LEAST_BITS = 32 };

static const struct {
    Intrin which;
    const char *fn;
} shuffle_table[] = {
    {INTRIN_SHFL, "tl_lane_of"},
    {INTRIN_SHFL_XOR, "tl_lane_xor"},
    {INTRIN_SHFL_DOWN, "tl_lane_down"},
    {INTRIN_SHFL_UP, "tl_lane_up"},
}, vote_table[] = {
    {INTRIN_ANY_SYNC, "i32(subgroupAny("},
    {INTRIN_ALL_SYNC, "i32(subgroupAll("},
    {INTRIN_BALLOT, "i32(subgroupBallot("},
}, reduce_table[] = {
    {INTRIN_WARP_SUM, "subgroupAdd"},
    {INTRIN_WARP_MAX, "subgroupMax"},
    {INTRIN_WARP_MIN, "subgroupMin"},
    {INTRIN_WARP_AND, "subgroupAnd"},
    {INTRIN_WARP_OR, "subgroupOr"},
};

#define FIND(table, which_)                                                                        \
    for (int i = 0; i < COUNT(table); i++)                                                         \
        if (table[i].which == (which_))                                                            \
            return table[i].fn;                                                                    \
    return NULL

static const char *shuffle_of(Intrin which) { FIND(shuffle_table, which); }
static const char *vote_of(Intrin which) { FIND(vote_table, which); }
static const char *reduce_of(Intrin which) { FIND(reduce_table, which); }

bool wgsl_is_of_lanes(const Stmt *s)
{
    return s->kind == ST_CALL &&
           (shuffle_of(s->u.call.which) || vote_of(s->u.call.which) || reduce_of(s->u.call.which));
}

static bool see_lanes(const Stmt *s, void *found)
{
    *(bool *)found |= wgsl_is_of_lanes(s);
    return !*(bool *)found;
}

bool wgsl_has_lanes(const Stmt *body)
{
    bool found = false;

    stmt_visit(body, see_lanes, &found);
    return found;
}

static void put_shuffle(Emit *e, const Stmt *s, const char *fn)
{
    str_puts(e->out, "subgroupShuffle(");
    emit_loose(e, s->u.call.arg[0]);
    str_printf(e->out, ", %s(", fn);
    emit_loose(e, s->u.call.arg[1]);
    str_puts(e->out, ", ");
    if (s->u.call.n > 2)
        emit_loose(e, s->u.call.arg[2]);
    else
        str_printf(e->out, "%d", e->k->machine->lanes);
    str_puts(e->out, "));\n");
}

static void put_vote(Emit *e, const Stmt *s, const char *fn)
{
    const Expr *x = s->u.call.arg[0];

    if (x->type != DT_BOOL)
        x = expr_binary(e->ir, EX_NE, x, expr_zero(e->ir, (DType)x->type));
    str_puts(e->out, fn);
    emit_loose(e, x);
    str_puts(e->out, s->u.call.which == INTRIN_BALLOT ? ").x);\n" : "));\n");
}

/* Written for wider warps than these; of types that would have to be cut again. */
static bool is_said(Emit *e, const Stmt *s)
{
    int lanes = e->k->machine->lanes;
    int64_t width = lanes;
    Intrin which = s->u.call.which;

    if (shuffle_of(which) && s->u.call.n > 2 && !expr_is_int(s->u.call.arg[2], &width))
        return false;
    if (which == INTRIN_BALLOT && lanes > BALLOT_LANES)
        return false;
    DType t = (DType)s->u.call.arg[0]->type;
    if ((reduce_of(which) && dtype_bits(t) < LEAST_BITS) || (shuffle_of(which) && t == DT_BOOL))
        return false;
    return lanes > 1 && width <= lanes && width > 0;
}

bool wgsl_lanes(Emit *e, const Stmt *s)
{
    Intrin which = s->u.call.which;

    if (!wgsl_is_of_lanes(s) || !is_said(e, s))
        return false;
    bool bound = s->u.call.bind && (!e->seen || map_has(e->seen, s->u.call.bind));
    emit_bind(e, s->u.call.bind, NULL);
    str_puts(e->out, bound ? "" : "_ = ");
    if (shuffle_of(which))
        put_shuffle(e, s, shuffle_of(which));
    else if (vote_of(which))
        put_vote(e, s, vote_of(which));
    else {
        str_printf(e->out, "%s(", reduce_of(which));
        emit_loose(e, s->u.call.arg[0]);
        str_puts(e->out, ");\n");
    }
    return true;
}

/* At the start of a kernel: who this thread is, and whether that is what was planned with. */
void wgsl_check_lanes(Wgsl *w, const Kernel *k, const char *thread)
{
    Emit *e = &w->e;
    int lanes = k->machine->lanes, x = MAX(k->threads[0], 1), y = MAX(k->threads[1], 1);

    str_printf(&w->asserts, "// tl_failed %d \"the threads of a subgroup are not %d that follow "
               "each other\"\n", ++w->nassert, lanes);
    emit_line(e, "tl_lane = i32(tl_own_lane);");
    emit_line(e, "if (tl_size != %du || tl_own_lane != (%s.x + %du * (%s.y + %du * %s.z)) %% %du) "
              "{ atomicStore(&tl_failed, %du); }", lanes, thread, x, thread, y, thread, lanes,
              w->nassert);
}
