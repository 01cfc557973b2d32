/* lanes.c -- values between the threads of a warp.
 *
 * With -subgroup= a warp is a subgroup, for adapters whose subgroups have as many threads as the
 * target says.  WGSL has no way to ask for a size, and says nothing of which threads are together:
 * the runtime compares the adapter's size, and a kernel with such calls looks for itself whether
 * its threads follow each other; where not, the launch fails as by an assertion.  Without it a warp
 * is 32 threads that follow each other, and values go through workgroup memory
 * (device/webgpu/warp.wgsl): all threads of the block must come by, as to a barrier. */
#include "pass/thread_nest.h"
#include "target/webgpu/webgpu.h"

enum { BALLOT_LANES = 64, MATCH_LANES = 32, LEAST_BITS = 32 };

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
    {INTRIN_BALLOT, "(subgroupBallot("},
}, block_vote_table[] = {
    {INTRIN_ANY_SYNC, "i32(tl_warp_any("},
    {INTRIN_ALL_SYNC, "i32(tl_warp_all("},
    {INTRIN_BALLOT, "tl_wide_u32(tl_warp_ballot("},
}, match_table[] = {
    {INTRIN_MATCH_ANY, "any"},
    {INTRIN_MATCH_ALL, "all"},
}, reduce_table[] = {
    {INTRIN_WARP_SUM, "subgroupAdd"},
    {INTRIN_WARP_MAX, "subgroupMax"},
    {INTRIN_WARP_MIN, "subgroupMin"},
    {INTRIN_WARP_AND, "subgroupAnd"},
    {INTRIN_WARP_OR, "subgroupOr"},
}, block_reduce_table[] = {
    {INTRIN_WARP_SUM, "sum"},
    {INTRIN_WARP_MAX, "max"},
    {INTRIN_WARP_MIN, "min"},
    {INTRIN_WARP_AND, "and"},
    {INTRIN_WARP_OR, "or"},
};

#define FIND(table, which_)                                                                        \
    for (int i = 0; i < COUNT(table); i++)                                                         \
        if (table[i].which == (which_))                                                            \
            return table[i].fn;                                                                    \
    return NULL

static const char *shuffle_of(Intrin which) { FIND(shuffle_table, which); }
static const char *vote_of(Intrin which) { FIND(vote_table, which); }
static const char *block_vote_of(Intrin which) { FIND(block_vote_table, which); }
static const char *match_of(Intrin which) { FIND(match_table, which); }
static const char *reduce_of(Intrin which) { FIND(reduce_table, which); }
static const char *block_reduce_of(Intrin which) { FIND(block_reduce_table, which); }

static bool has_subgroups(const Kernel *k)
{
    return k->machine->lanes > 1;
}

bool wgsl_is_of_lanes(const Stmt *s)
{
    return s->kind == ST_CALL &&
           (shuffle_of(s->u.call.which) || vote_of(s->u.call.which) ||
            match_of(s->u.call.which) || reduce_of(s->u.call.which) ||
            s->u.call.which == INTRIN_ACTIVEMASK);
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

/* The type that a value of t is handed over in, by the end of a function's name. */
static const char *type_of(DType t)
{
    return dtype_bits(t) == 64 ? "64" : wgsl_value_type(t);
}

static void put_shuffle(Emit *e, const Stmt *s, const char *fn)
{
    DType t = (DType)s->u.call.arg[0]->type;
    bool truth = t == DT_BOOL; /* as a word */

    if (has_subgroups(e->k))
        str_puts(e->out, "subgroupShuffle(");
    else
        str_printf(e->out, "tl_warp_%s(", truth ? "u32" : type_of(t));
    str_puts(e->out, truth ? "select(0u, 1u, " : "");
    emit_loose(e, s->u.call.arg[0]);
    str_puts(e->out, truth ? ")" : "");
    str_printf(e->out, ", %s(", fn);
    emit_loose(e, s->u.call.arg[1]);
    str_puts(e->out, ", ");
    if (s->u.call.n > 2)
        emit_loose(e, s->u.call.arg[2]);
    else
        str_printf(e->out, "%d", kernel_warp(e->k));
    str_puts(e->out, truth ? ")) != 0u;\n" : "));\n");
}

static void put_vote(Emit *e, const Stmt *s)
{
    const Expr *x = s->u.call.arg[0];
    Intrin which = s->u.call.which;
    bool subgroups = has_subgroups(e->k);

    if (x->type != DT_BOOL)
        x = expr_binary(e->ir, EX_NE, x, expr_zero(e->ir, (DType)x->type));
    str_puts(e->out, subgroups ? vote_of(which) : block_vote_of(which));
    emit_loose(e, x);
    str_puts(e->out, subgroups && which == INTRIN_BALLOT ? ").xy);\n" : "));\n");
}

static void put_active(Emit *e)
{
    str_puts(e->out, has_subgroups(e->k) ? "subgroupBallot(true).xy;\n"
                                         : "tl_wide_u32(tl_warp_active());\n");
}

static void put_folded(Emit *e, const Stmt *s, const char *fn)
{
    str_printf(e->out, "%s(", fn);
    emit_loose(e, s->u.call.arg[0]);
    str_puts(e->out, ");\n");
}

/* One thread of so many, by its number. */
static void put_elected(Emit *e, const Stmt *s)
{
    int64_t span = 0;

    if (s->u.call.n && !expr_is_int(s->u.call.arg[0], &span))
        wgsl_refuse(e, s, "T.shuffle_elect of a number that is not known");
    emit_index(e, thread_in_block(e->k));
    if (span > 0)
        str_printf(e->out, " %% %lld", (long long)span);
    str_puts(e->out, " == 0;\n");
}

/* Written for wider warps than these; of types that would have to be cut again. */
static bool is_said(Emit *e, const Stmt *s)
{
    int lanes = kernel_warp(e->k);
    int64_t width = lanes;
    Intrin which = s->u.call.which;

    if (shuffle_of(which) && s->u.call.n > 2 && !expr_is_int(s->u.call.arg[2], &width))
        return false;
    if ((which == INTRIN_BALLOT || which == INTRIN_ACTIVEMASK) && lanes > BALLOT_LANES)
        return false;
    if (which == INTRIN_ACTIVEMASK)
        return true;
    DType t = (DType)s->u.call.arg[0]->type;
    if (reduce_of(which) && dtype_bits(t) != LEAST_BITS)
        return false;
    if (match_of(which) && (lanes > MATCH_LANES || t == DT_BOOL))
        return false;
    return width <= lanes && width > 0;
}

bool wgsl_lanes(Emit *e, const Stmt *s)
{
    Intrin which = s->u.call.which;
    bool elect = which == INTRIN_ELECT, subgroups = has_subgroups(e->k);

    if (!elect && (!wgsl_is_of_lanes(s) || !is_said(e, s)))
        return false;
    bool bound = s->u.call.bind && (!e->seen || map_has(e->seen, s->u.call.bind));
    emit_bind(e, s->u.call.bind, NULL);
    str_puts(e->out, bound ? "" : "_ = ");
    const char *type = s->u.call.n ? type_of((DType)s->u.call.arg[0]->type) : "";
    if (elect)
        put_elected(e, s);
    else if (which == INTRIN_ACTIVEMASK)
        put_active(e);
    else if (shuffle_of(which))
        put_shuffle(e, s, shuffle_of(which));
    else if (vote_of(which))
        put_vote(e, s);
    else if (match_of(which))
        put_folded(e, s, arena_printf(e->arena, "tl_%s_%s_%s", subgroups ? "lanes" : "warp",
                                      match_of(which), type));
    else
        put_folded(e, s, subgroups ? reduce_of(which)
                                   : arena_printf(e->arena, "tl_warp_%s_%s", block_reduce_of(which),
                                                  type));
    return true;
}

/* A word of each thread, in workgroup memory. */
void wgsl_begin_exchange(Wgsl *w, Kernel *k, const char *thread)
{
    Emit *e = &w->e;
    int64_t x = MAX(k->threads[0], 1), y = MAX(k->threads[1], 1), z = MAX(k->threads[2], 1);

    w->nexchange = MAX(w->nexchange, x * y * z);
    if (k->arena_bytes + x * y * z * (int64_t)sizeof(int32_t) > k->machine->shared_block)
        diag_fail(k->diag, k->span, "the tiles of this kernel take %lld bytes, and what threads "
                  "hand to each other %lld more; target %s has %lld [on-chip-bytes]",
                  (long long)k->arena_bytes, (long long)(x * y * z) * 4, e->spec->text,
                  (long long)k->machine->shared_block);
    k->launch.shared_bytes += x * y * z * (int64_t)sizeof(int32_t);
    emit_line(e, "tl_thread = %s.x + %lldu * (%s.y + %lldu * %s.z);", thread, (long long)x, thread,
              (long long)y, thread);
    emit_line(e, "tl_threads = %lldu;", (long long)(x * y * z));
    emit_line(e, "tl_lane = i32(tl_thread %% %du);", kernel_warp(k));
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
