/* call.c -- calls between threads, random numbers, printf. */
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

/* ---- subgroups ------------------------------------------------------------------------------- */

static const struct {
    Intrin which;
    const char *fn;
} lane_table[] = {
    {INTRIN_SHFL, "tl_lane_of"},     {INTRIN_SHFL_XOR, "tl_lane_xor"},
    {INTRIN_SHFL_DOWN, "tl_lane_down"}, {INTRIN_SHFL_UP, "tl_lane_up"},
    {INTRIN_ANY_SYNC, "sub_group_any"}, {INTRIN_ALL_SYNC, "sub_group_all"},
};

/* Written for wider warps than these: the third argument of what lanes hand to each other. */
static bool is_too_wide(Emit *e, const Stmt *s)
{
    int64_t width;
    return s->u.call.n > 2 && expr_is_int(s->u.call.arg[2], &width) &&
           width > e->k->machine->lanes;
}

static bool emit_lanes(Emit *e, const Stmt *s)
{
    int i = 0;

    while (i < COUNT(lane_table) && lane_table[i].which != s->u.call.which)
        i++;
    if (i == COUNT(lane_table) || e->k->machine->lanes == 1 || is_too_wide(e, s))
        return false;
    DType t = (DType)s->u.call.arg[0]->type;
    bool votes = s->u.call.which == INTRIN_ANY_SYNC || s->u.call.which == INTRIN_ALL_SYNC;
    emit_bind(e, s->u.call.bind, NULL);
    if (votes) {
        str_printf(e->out, "%s(", lane_table[i].fn);
        emit_value(e, s->u.call.arg[0]);
        str_puts(e->out, " != 0);\n");
        return true;
    }
    str_printf(e->out, "%s((%s)", lane_table[i].fn, c_value_type(t));
    emit_expr(e, s->u.call.arg[0]);
    str_puts(e->out, ", ");
    emit_loose(e, s->u.call.arg[1]);
    str_puts(e->out, ", ");
    if (s->u.call.n > 2)
        emit_loose(e, s->u.call.arg[2]);
    else
        str_printf(e->out, "%d", e->k->machine->lanes);
    str_puts(e->out, ");\n");
    return true;
}

void cl_call(Emit *e, const Stmt *s)
{
    if (is_nothing(s->u.call.which) || emit_lanes(e, s))
        return;
    switch (s->u.call.which) {
    case INTRIN_SYNC_THREADS:
        emit_line(e, "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
        break;
    case INTRIN_SYNC_WARP:
        if (e->k->machine->lanes == 1)
            refuse_call(e, s);
        emit_line(e, "sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
        break;
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
