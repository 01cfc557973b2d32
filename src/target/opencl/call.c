/* call.c -- calls between threads, random numbers, printf. */
#include "pass/thread_nest.h"
#include "target/opencl/opencl.h"

/* Of copies and stores that may be in flight elsewhere: here they are done when they are issued. */
static bool is_nothing(Intrin which)
{
    return which == INTRIN_COMMIT_COPIES || which == INTRIN_WAIT_COPIES ||
           which == INTRIN_COMMIT_STORES || which == INTRIN_WAIT_STORES ||
           which == INTRIN_FENCE_PROXY || which == INTRIN_PREFETCH;
}

NORETURN static void refuse_call(Emit *e, const Stmt *s)
{
    cl_refuse(e, s, arena_printf(e->arena, "T.%s", intrin_table[s->u.call.which].word));
}

/* ---- random numbers -------------------------------------------------------------------------- */

static void emit_random(Emit *e, const Stmt *s)
{
    int64_t bits = 32, kind = hint_int(e->k->hints, "generator", 0);
    const char *family = kind ? "gen" : "rng", *state = kind ? "tl_gen" : "&tl_rng";

    if (s->u.call.which == INTRIN_RNG_INIT) {
        emit_indent(e);
        str_printf(e->out, kind ? "tl_gen_init(tl_gen, %d" : "tl_rng_init(&tl_rng", (int)kind);
        for (int i = 0; i < 3; i++) {
            str_puts(e->out, ", (uint64_t)(");
            emit_value(e, s->u.call.arg[i]);
            str_putc(e->out, ')');
        }
        str_puts(e->out, ");\n");
        return;
    }
    emit_bind(e, s->u.call.bind, NULL);
    if (s->u.call.which == INTRIN_RNG_RAND) {
        str_printf(e->out, "tl_%s_next(%s);\n", family, state);
        return;
    }
    bool normal = s->u.call.text && !strcmp(s->u.call.text, "normal");
    expr_is_int(s->u.call.arg[0], &bits);
    str_printf(e->out, "(%s)tl_%s_%s(%s, %d);\n", bits == 64 ? "double" : "float", family,
               normal ? "normal" : "uniform", state, (int)bits);
}

/* ---- printf ---------------------------------------------------------------------------------- */

/* "%lld" is of no type that there is: "%ld". */
static const char *format_of(Arena *a, const char *s)
{
    Str r;

    str_init(&r, a);
    for (; *s; s++)
        if (s[0] != 'l' || s[1] != 'l')
            str_putc(&r, *s);
    return r.s ? r.s : "";
}

static void emit_printf(Emit *e, const Stmt *s)
{
    emit_bind(e, s->u.call.bind, NULL);
    str_puts(e->out, "printf(");
    for (int i = 0; i < s->u.call.n; i++) {
        const Expr *x = s->u.call.arg[i];
        str_puts(e->out, i ? ", " : "");
        if (i == 0 && x->op == EX_STR)
            emit_quoted(e->out, format_of(e->arena, x->u.text));
        else
            emit_value(e, x);
    }
    str_puts(e->out, ");\n");
}

/* ---- many bits at once ----------------------------------------------------------------------- */

static void put_address(Emit *e, const Expr *x)
{
    str_printf(e->out, "&%s[", buffer_name(e, x->u.buf));
    emit_loose(e, x->kid[0]);
    str_putc(e->out, ']');
}

/* "load_global_128", "store_shared_64_conditional" */
static void emit_wide(Emit *e, const Stmt *s)
{
    bool load = s->u.call.which == INTRIN_WIDE_LOAD;
    const Expr *words = s->u.call.arg[!load], *memory = s->u.call.arg[load];
    const char *digits = s->u.call.text;
    int bits = 0;

    while (*digits && (*digits < '0' || *digits > '9'))
        digits++;
    for (; *digits >= '0' && *digits <= '9'; digits++)
        bits = bits * 10 + (*digits - '0');
    if (words->op != EX_ADDR || memory->op != EX_ADDR || bits < 32)
        refuse_call(e, s);
    emit_indent(e);
    str_printf(e->out, load ? "tl_wide_load(" : "tl_wide_store(%s, ", cl_space(memory->u.buf));
    put_address(e, load ? words : memory);
    if (load)
        str_printf(e->out, ", %s", cl_space(memory->u.buf));
    str_puts(e->out, ", ");
    put_address(e, load ? memory : words);
    str_printf(e->out, ", %d, ", bits / 32);
    emit_loose(e, s->u.call.arg[2]);
    str_puts(e->out, ");\n");
}

/* ---- lanes: of a subgroup, or 32 threads that meet at local memory --------------------------- */

static const struct {
    Intrin which;
    const char *fn;
} lane_table[] = {
    {INTRIN_SHFL, "tl_lane_of"},
    {INTRIN_SHFL_XOR, "tl_lane_xor"},
    {INTRIN_SHFL_DOWN, "tl_lane_down"},
    {INTRIN_SHFL_UP, "tl_lane_up"},
};
static const struct {
    Intrin which;
    const char *fn, *met, *tail; /* of a subgroup; through local memory */
} vote_table[] = {
    {INTRIN_ANY_SYNC, "sub_group_any", "tl_any", " != 0);\n"},
    {INTRIN_ALL_SYNC, "sub_group_all", "tl_every", " != 0);\n"},
    {INTRIN_BALLOT, "tl_ballot", "tl_ballot", " != 0);\n"},
    {INTRIN_MATCH_ANY, "tl_match_any", "tl_match_any", ");\n"},
    {INTRIN_MATCH_ALL, "tl_match_all", "tl_match_all", ");\n"},
};
static const Intrin folds[] = {INTRIN_WARP_SUM, INTRIN_WARP_MAX, INTRIN_WARP_MIN, INTRIN_WARP_AND,
                               INTRIN_WARP_OR}; /* in the order of tl_join_i64 */

static bool has_subgroups(const Kernel *k)
{
    return k->machine->lanes > 1;
}

bool cl_hands_over(const Kernel *k, const Stmt *s)
{
    return s->kind == ST_CALL && s->u.call.which != INTRIN_ELECT && !has_subgroups(k) &&
           strchr(intrin_table[s->u.call.which].effects, 'W');
}

/* Written for wider warps than these: the third argument of what lanes hand to each other. */
static bool is_too_wide(Emit *e, const Stmt *s)
{
    int64_t width;
    return s->u.call.n > 2 && expr_is_int(s->u.call.arg[2], &width) && width > kernel_warp(e->k);
}

/* What goes through local memory goes as 64 bits: before and after the call. */
static void words_of(DType t, const char **before, const char **after)
{
    const char *type = c_value_type(t);

    *before = *after = "";
    if (!strcmp(type, "float")) {
        *before = "as_float((uint32_t)";
        *after = "as_uint(";
    } else if (!strcmp(type, "double")) {
        *before = "as_double(";
        *after = "as_ulong(";
    }
}

static void emit_shuffle(Emit *e, const Stmt *s, const char *fn)
{
    DType t = (DType)s->u.call.arg[0]->type;
    const char *type = c_value_type(t), *before = "", *bits = "";

    if (is_too_wide(e, s))
        refuse_call(e, s);
    emit_bind(e, s->u.call.bind, NULL);
    if (!has_subgroups(e->k))
        words_of(t, &before, &bits);
    bool cast = !has_subgroups(e->k) && !*bits;
    str_printf(e->out, "%s%s%s%s(%s(%s)", cast ? "(" : "", cast ? type : "", cast ? ")" : before,
               fn, bits, type);
    emit_expr(e, s->u.call.arg[0]);
    str_puts(e->out, *bits ? "), " : ", ");
    emit_loose(e, s->u.call.arg[1]);
    str_puts(e->out, ", ");
    if (s->u.call.n > 2)
        emit_loose(e, s->u.call.arg[2]);
    else
        str_printf(e->out, "%d", kernel_warp(e->k));
    str_puts(e->out, *bits ? "));\n" : ");\n");
}

/* Integers go as 64 bits, which gives the same. */
static void emit_fold(Emit *e, const Stmt *s, int op)
{
    DType t = (DType)s->u.call.arg[0]->type;
    bool real = dtype_is_float(t);

    if (real ? t != DT_F32 && t != DT_F64 : t == DT_BOOL)
        refuse_call(e, s);
    emit_bind(e, s->u.call.bind, NULL);
    str_printf(e->out, "(%s)tl_warp_%s(", c_value_type(t),
               t == DT_F32 ? "f32" : t == DT_F64 ? "f64" : t == DT_U64 ? "u64" : "i64");
    emit_loose(e, s->u.call.arg[0]);
    str_printf(e->out, ", %d);\n", op);
}

static bool emit_vote(Emit *e, const Stmt *s)
{
    int i = 0;

    while (i < COUNT(vote_table) && vote_table[i].which != s->u.call.which)
        i++;
    if (i == COUNT(vote_table))
        return false;
    if (vote_table[i].tail[0] == ')' && dtype_is_float((DType)s->u.call.arg[0]->type))
        refuse_call(e, s);
    emit_bind(e, s->u.call.bind, NULL);
    str_printf(e->out, "%s(", has_subgroups(e->k) ? vote_table[i].fn : vote_table[i].met);
    emit_value(e, s->u.call.arg[0]);
    str_puts(e->out, vote_table[i].tail);
    return true;
}

static bool emit_lanes(Emit *e, const Stmt *s)
{
    for (int i = 0; i < COUNT(lane_table); i++)
        if (lane_table[i].which == s->u.call.which) {
            emit_shuffle(e, s, lane_table[i].fn);
            return true;
        }
    for (int i = 0; i < COUNT(folds); i++)
        if (folds[i] == s->u.call.which) {
            emit_fold(e, s, i);
            return true;
        }
    return emit_vote(e, s);
}

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

/* A cluster is blocks side by side: what its blocks do together is refused. */
static bool is_alone(const Kernel *k)
{
    return k->cluster[0] * k->cluster[1] * k->cluster[2] <= 1;
}

static void emit_rank(Emit *e, const Stmt *s)
{
    const int *n = e->k->cluster;

    emit_bind(e, s->u.call.bind, NULL);
    str_printf(e->out, "(int32_t)(get_group_id(0) %% %d + get_group_id(1) %% %d * %d + "
               "get_group_id(2) %% %d * %d);\n", n[0], n[1], n[0], n[2], n[0] * n[1]);
}

void cl_call(Emit *e, const Stmt *s)
{
    if (is_nothing(s->u.call.which) || emit_lanes(e, s))
        return;
    switch (s->u.call.which) {
    case INTRIN_CLUSTER_WAIT:
    case INTRIN_CLUSTER_SYNC:
        if (!is_alone(e->k))
            refuse_call(e, s); /* fall through */
    case INTRIN_SYNC_THREADS:
        emit_line(e, "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
        break;
    case INTRIN_SYNC_WARP:
        emit_line(e, "%sbarrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
                  has_subgroups(e->k) ? "sub_group_" : "");
        break;
    case INTRIN_ACTIVEMASK:
        emit_bind(e, s->u.call.bind, NULL);
        str_puts(e->out, "tl_ballot(true);\n");
        break;
    case INTRIN_BLOCK_RANK: emit_rank(e, s); break;
    case INTRIN_CLUSTER_ARRIVE:
        if (!is_alone(e->k))
            refuse_call(e, s);
        break; /* who waits meets the others then */
    case INTRIN_ELECT: emit_elect(e, s); break;
    case INTRIN_RNG_INIT:
    case INTRIN_RNG_RAND:
    case INTRIN_RNG_FLOAT: emit_random(e, s); break;
    case INTRIN_EXTERN: emit_printf(e, s); break;
    case INTRIN_WIDE_LOAD:
    case INTRIN_WIDE_STORE: emit_wide(e, s); break;
    case INTRIN_RETURN: emit_line(e, "return;"); break;
    default: refuse_call(e, s);
    }
}
