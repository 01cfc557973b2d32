/* emit_call.c -- barriers, shuffles, votes and the other calls between threads.
 *
 * What an older architecture does not have and nothing in the kernel needs is nothing there:
 * without bulk copies there are no bytes to announce, without an asynchronous proxy no fence. */
#include "target/cuda/emit.h"

enum { WARP = 32, GROUP = 128, BARRIER_TOP = 15, BARRIERS_OWN = 8 };

NORETURN void cuda_refuse(Cuda *c, const Stmt *s, const char *what)
{
    diag_fail(c->e.k->diag, s->span, "%s has no meaning on target %s [unsupported-here]", what,
              c->e.spec->text);
}

static NORETURN void refuse_call(Cuda *c, const Stmt *s)
{
    cuda_refuse(c, s, arena_printf(c->e.arena, "T.%s", intrin_table[s->u.call.which].word));
}

static bool is_specific(const Cuda *c)
{
    const char *arch = c->e.spec->arch;
    return arch[strlen(arch) - 1] == 'a';
}

/* ---- arguments ------------------------------------------------------------------------------- */

static void emit_int_arg(Cuda *c, const Stmt *s, int i, const char *otherwise)
{
    if (i >= 0 && i < s->u.call.n && s->u.call.arg[i])
        emit_loose(&c->e, s->u.call.arg[i]);
    else
        str_puts(c->e.out, otherwise);
}

static int64_t const_arg(Cuda *c, const Stmt *s, int i)
{
    int64_t v = 0;

    if (i >= s->u.call.n)
        return 0;
    if (!expr_is_int(s->u.call.arg[i], &v))
        diag_fail(c->e.k->diag, s->span,
                  "argument %d of T.%s must be known at compile time [call-constant]", i,
                  intrin_table[s->u.call.which].word);
    return v;
}

/* &bar[i]: a region, or the first argument. */
static void emit_mbar(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    const Expr *x = s->u.call.n ? s->u.call.arg[0] : NULL;

    if (s->u.call.nregion) {
        const Region *r = &s->u.call.region[0];
        const Expr *at = expr_int(e->ir, 0);
        for (int d = 0; d < r->buf->rank; d++)
            at = expr_add(e->ir, expr_mul(e->ir, at, r->buf->shape[d]), r->at[d]);
        str_printf(e->out, "&%s[", buffer_name(e, r->buf));
        emit_loose(e, at);
    } else {
        BUG(!x || (x->op != EX_LOAD && x->op != EX_ADDR), "%s without a barrier",
            intrin_table[s->u.call.which].word);
        str_printf(e->out, "&%s[", buffer_name(e, x->u.buf));
        x->nkid ? emit_loose(e, x->kid[0]) : str_putc(e->out, '0');
    }
    str_putc(e->out, ']');
}

/* fn(&bar[i], last argument) */
static void emit_mbar_call(Cuda *c, const Stmt *s, const char *fn, bool with_last)
{
    emit_indent(&c->e);
    str_printf(c->e.out, "%s(", fn);
    emit_mbar(c, s);
    if (with_last) {
        str_puts(c->e.out, ", ");
        emit_int_arg(c, s, s->u.call.n - 1, "0");
    }
    str_puts(c->e.out, ");\n");
}

/* ---- barriers -------------------------------------------------------------------------------- */

/* All threads, those of the role at hand, or those that a number says. */
static void emit_sync(Cuda *c, const Stmt *s, bool waits)
{
    Emit *e = &c->e;
    const char *fn = waits ? "tl::__sync_thread_partial" : "tl::__named_barrier_arrive";
    int64_t id = -1;
    bool named = s->u.call.n > 0 && !(expr_is_int(s->u.call.arg[0], &id) && id <= 0);

    if (!named && !c->role_threads) {
        emit_line(e, "__syncthreads();");
        return;
    }
    if (!named) {
        emit_line(e, "%s(%d, %d);", fn, c->role_id, c->role_threads);
        return;
    }
    emit_indent(e);
    str_printf(e->out, "%s(", fn);
    emit_index(e, s->u.call.arg[0]);
    str_puts(e->out, ", ");
    int all = c->role_threads ? c->role_threads : kernel_block_threads(e->k);
    int64_t count = 0;
    if (s->u.call.n > 1 && !(expr_is_int(s->u.call.arg[1], &count) && count <= 0))
        emit_index(e, s->u.call.arg[1]);
    else
        str_printf(e->out, "%d", all);
    str_puts(e->out, ");\n");
}

static void emit_expect(Cuda *c, const Stmt *s)
{
    bool arrives = s->u.call.which == INTRIN_ARRIVE_BYTES;

    if (c->bulk)
        emit_mbar_call(c, s, arrives ? "tl_mbar_arrive_expect" : "tl_mbar_expect", true);
    else if (arrives)
        emit_mbar_call(c, s, "tl_mbar_arrive", false);
}

static void emit_mbar_arrive(Cuda *c, const Stmt *s)
{
    bool at_other = s->u.call.nregion && s->u.call.n > 0 && s->u.call.arg[0];

    if (call_mma_blocks(s))
        cuda_refuse(c, s, "an arrival for matrix instructions");
    if (at_other && c->e.spec->machine.level < 90)
        refuse_call(c, s);
    bool only_read = s->u.call.text && !strcmp(s->u.call.text, "read");
    emit_mbar_call(c, s, !at_other ? "tl_mbar_arrive" : only_read ? "tl_mbar_release_at"
                                                                  : "tl_mbar_arrive_at", at_other);
}

/* ---- values between lanes -------------------------------------------------------------------- */

/* What shuffles take: int, unsigned, 64 bits, float, double. */
static const char *exchange_type(DType t)
{
    if (dtype_is_float(t) || dtype_bits(t) >= 32)
        return c_value_type(t);
    return dtype_is_unsigned(t) ? "uint32_t" : "int32_t";
}

/* Argument i of a call between lanes: those that take part.  All of them unless it says so. */
static void emit_mask(Cuda *c, const Stmt *s, int i)
{
    int64_t lanes = -1;

    if (s->u.call.n <= i || expr_is_int(s->u.call.arg[i], &lanes)) {
        str_printf(c->e.out, "0x%xu", (unsigned)lanes);
        return;
    }
    str_puts(c->e.out, "(uint32_t)(");
    emit_expr(&c->e, s->u.call.arg[i]);
    str_putc(c->e.out, ')');
}

/* A value of the type that its exchange takes; what is computed may be an int in C. */
static void emit_exchanged(Cuda *c, const Expr *x)
{
    const char *type = exchange_type((DType)x->type);

    if (x->op == EX_LOAD || x->op == EX_VAR ? !strcmp(type, c_value_type((DType)x->type))
                                            : dtype_is_float((DType)x->type))
        emit_value(&c->e, x);
    else
        emit_cast_to(&c->e, type, x, false);
}

static void emit_shuffle(Cuda *c, const Stmt *s, const char *fn)
{
    Emit *e = &c->e;
    DType t = (DType)s->u.call.arg[0]->type;
    int64_t width = 0, all = e->spec->machine.lanes;

    emit_bind(&c->e, s->u.call.bind, NULL);
    if (strcmp(c_value_type(t), exchange_type(t)))
        str_printf(e->out, "(%s)", c_value_type(t));
    str_printf(e->out, "%s(", fn);
    emit_mask(c, s, 3);
    str_puts(e->out, ", ");
    emit_exchanged(c, s->u.call.arg[0]);
    str_puts(e->out, ", ");
    emit_int_arg(c, s, 1, "0");
    if (s->u.call.n > 2 &&
        !(expr_is_int(s->u.call.arg[2], &width) && (width == all || width <= 0))) {
        str_puts(e->out, ", ");
        emit_index(e, s->u.call.arg[2]);
    }
    str_puts(e->out, ");\n");
}

/* fn(lanes, (type)(value) after, bound; fn ends in '(' where it asks the whole block or warp */
static void emit_of_value(Cuda *c, const Stmt *s, const char *fn, const char *after)
{
    DType t = (DType)s->u.call.arg[0]->type;

    emit_bind(&c->e, s->u.call.bind, NULL);
    str_puts(c->e.out, fn);
    if (fn[strlen(fn) - 1] != '(') {
        str_putc(c->e.out, '(');
        emit_mask(c, s, 1);
        str_puts(c->e.out, ", ");
    }
    str_printf(c->e.out, "(%s)(", exchange_type(t));
    emit_expr(&c->e, s->u.call.arg[0]);
    str_puts(c->e.out, after);
    str_puts(c->e.out, ";\n");
}

static void emit_elect(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    int64_t span = const_arg(c, s, 0);

    emit_bind(&c->e, s->u.call.bind, NULL);
    emit_index(e, thread_in_block(e->k));
    if (span > 0)
        str_printf(e->out, " %% %lld", (long long)span);
    str_puts(e->out, " == 0;\n");
}

static void emit_rng_init(Cuda *c, const Stmt *s, int64_t kind)
{
    Emit *e = &c->e;

    emit_indent(e);
    if (kind)
        str_printf(e->out, "tl_gen_init(tl_gen, %d, ", (int)kind);
    else
        str_puts(e->out, "tl_rng_init(&tl_rng, ");
    for (int i = 0; i < 3; i++) {
        str_puts(e->out, i ? "), (uint64_t)(" : "(uint64_t)(");
        emit_int_arg(c, s, i, "0");
    }
    str_puts(e->out, "));\n");
}

static void emit_rng(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    int64_t bits = 32, kind = hint_int(e->k->hints, "generator", 0);
    const char *family = kind ? "gen" : "rng", *state = kind ? "tl_gen" : "&tl_rng";

    if (s->u.call.which == INTRIN_RNG_INIT) {
        emit_rng_init(c, s, kind);
        return;
    }
    emit_bind(&c->e, s->u.call.bind, NULL);
    if (s->u.call.which == INTRIN_RNG_RAND) {
        str_printf(e->out, "tl_%s_next(%s);\n", family, state);
        return;
    }
    bool normal = s->u.call.text && !strcmp(s->u.call.text, "normal");
    expr_is_int(s->u.call.arg[0], &bits);
    str_printf(e->out, "(%s)tl_%s_%s(%s, %d);\n", bits == 64 ? "double" : "float", family,
               normal ? "normal" : "uniform", state, (int)bits);
}

static void emit_extern(Cuda *c, const Stmt *s)
{
    emit_bind(&c->e, s->u.call.bind, NULL);
    emit_extern_args(&c->e, s->u.call.text, s->u.call.arg, s->u.call.n);
    str_puts(c->e.out, ";\n");
}

/* The condition is an argument only where there is one. */
static void emit_wide(Cuda *c, const Stmt *s)
{
    bool always = expr_is_const(s->u.call.arg[2]) && !expr_is_zero(s->u.call.arg[2]);
    const char *name = arena_printf(c->e.arena, "tl_%s", s->u.call.text);
    emit_indent(&c->e);
    emit_extern_args(&c->e, name, s->u.call.arg, always ? 2 : 3);
    str_puts(c->e.out, ";\n");
}

/* ---- what needs an architecture -------------------------------------------------------------- */

/* Calls without a value; from an architecture on, before it nothing. */
static const struct {
    Intrin which;
    int level;        /* the first that has it */
    bool specific;    /* of sm_90a alone */
    const char *line; /* %lld: the first argument */
} since_table[] = {
    {INTRIN_COMMIT_COPIES, 80, false, "tl_cp_async_commit();"},
    {INTRIN_WAIT_COPIES, 80, false, "tl_cp_async_wait<%lld>();"},
    {INTRIN_COMMIT_STORES, 90, false, "tl_bulk_commit();"},
    {INTRIN_SETTLE, 90, true, "tl_wgmma_fence();"},
    {INTRIN_COMMIT_MMA, 90, true, "tl_wgmma_commit();"},
    {INTRIN_WAIT_MMA, 90, true, "tl_wgmma_wait<%lld>();"},
    {INTRIN_PDL_TRIGGER, 90, false, "tl_cudaTriggerProgrammaticLaunchCompletion();"},
    {INTRIN_PDL_SYNC, 90, false, "tl_cudaGridDependencySynchronize();"},
    {INTRIN_CLUSTER_ARRIVE, 90, false, "tl_cluster_arrive();"},
    {INTRIN_CLUSTER_WAIT, 90, false, "tl_cluster_wait();"},
    {INTRIN_CLUSTER_SYNC, 90, false, "tl_cluster_arrive(), tl_cluster_wait();"},
};

/* Results of MMAs are whole now: nobody may have read them earlier. */
static void emit_settled(Cuda *c, const Stmt *s)
{
    for (int i = 0; s->u.call.which == INTRIN_WAIT_MMA && i < s->u.call.nregion; i++) {
        const Buffer *b = s->u.call.region[i].buf;
        const Layout *l = buffer_plan(c->e.k, b)->layout;
        if (!l || !layout_is_fragment(l))
            continue;
        bool pairs = dtype_bits(b->type) == 16;
        emit_line(&c->e, "tl_settled<%lld>(%s%s);",
                  (long long)fragment_slots(l) / (pairs ? 2 : 1), pairs ? "(uint32_t *)" : "",
                  buffer_name(&c->e, b));
    }
}

static bool emit_since(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    int level = e->spec->machine.level;
    bool has = level >= 90, specific = level == 90 && is_specific(c);

    for (int i = 0; i < COUNT(since_table); i++) {
        if (since_table[i].which != s->u.call.which)
            continue;
        if (!(since_table[i].specific ? specific : level >= since_table[i].level))
            return true;
        emit_indent(e);
        const char *hole = strstr(since_table[i].line, "%lld");
        str_putn(e->out, since_table[i].line,
                 hole ? (size_t)(hole - since_table[i].line) : strlen(since_table[i].line));
        if (hole)
            str_printf(e->out, "%lld%s", (long long)const_arg(c, s, 0), hole + 4);
        str_putc(e->out, '\n');
        emit_settled(c, s);
        return true;
    }
    if (s->u.call.which == INTRIN_FENCE_PROXY) {
        if (level >= 90)
            emit_line(e, "tl_fence_proxy%s();", s->u.call.text ? "_all" : "");
        return true;
    }
    if (s->u.call.which == INTRIN_WAIT_STORES) {
        bool read = s->u.call.n < 2 || const_arg(c, s, 1); /* else: until others may see it */
        if (has)
            emit_line(e, "tl_bulk_wait%s<%lld>();", read ? "" : "_written",
                      (long long)const_arg(c, s, 0));
        return true;
    }
    if (s->u.call.which == INTRIN_SET_MAX_NREG) {
        if (e->spec->machine.has & HAS_MOVED_REGS)
            emit_line(e, "tl_%s_registers<%lld>();", const_arg(c, s, 1) ? "raise" : "lower",
                      (long long)const_arg(c, s, 0));
        return true;
    }
    if (s->u.call.which != INTRIN_BLOCK_RANK)
        return false;
    emit_bind(&c->e, s->u.call.bind, NULL);
    str_puts(e->out, has ? "tl_cluster_rank();\n" : "0;\n");
    return true;
}

/* One value in, one out. */
static const struct {
    Intrin which;
    const char *fn, *after;
} value_table[] = {
    {INTRIN_ANY_SYNC, "__any_sync", ") != 0)"},
    {INTRIN_ALL_SYNC, "__all_sync", ") != 0)"},
    {INTRIN_BALLOT, "__ballot_sync", ") != 0)"},
    {INTRIN_MATCH_ANY, "__match_any_sync", "))"},
    {INTRIN_MATCH_ALL, "tl_match_all", "))"},
    {INTRIN_SYNC_COUNT, "__syncthreads_count(", ") != 0)"},
    {INTRIN_SYNC_AND, "__syncthreads_and(", ") != 0)"},
    {INTRIN_SYNC_OR, "__syncthreads_or(", ") != 0)"},
    {INTRIN_WARP_SUM, "tl_warp_sum(", "))"},
    {INTRIN_WARP_MAX, "tl_warp_max(", "))"},
    {INTRIN_WARP_MIN, "tl_warp_min(", "))"},
    {INTRIN_WARP_AND, "tl_warp_and(", "))"},
    {INTRIN_WARP_OR, "tl_warp_or(", "))"},
};

/* The same where the last warp of the block is not whole. */
static const struct {
    Intrin which;
    const char *fn;
} part_table[] = {
    {INTRIN_WARP_SUM, "tl_part_sum"}, {INTRIN_WARP_MAX, "tl_part_max"},
    {INTRIN_WARP_MIN, "tl_part_min"}, {INTRIN_WARP_AND, "tl_part_and"},
    {INTRIN_WARP_OR, "tl_part_or"},
};

static bool emit_of_part(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;

    if (kernel_launch_threads(e->k) % kernel_part(e->k) == 0)
        return false;
    for (int i = 0; i < COUNT(part_table); i++)
        if (part_table[i].which == s->u.call.which) {
            emit_bind(e, s->u.call.bind, NULL);
            str_printf(e->out, "%s((%s)", part_table[i].fn,
                       exchange_type((DType)s->u.call.arg[0]->type));
            emit_parens(e, s->u.call.arg[0]);
            str_puts(e->out, ", ");
            emit_loose(e, cuda_lane(c));
            str_puts(e->out, ");\n");
            return true;
        }
    return false;
}

static void emit_sync_warp(Cuda *c, const Stmt *s)
{
    emit_indent(&c->e);
    str_puts(c->e.out, "__syncwarp(");
    if (s->u.call.n)
        emit_mask(c, s, 0);
    str_puts(c->e.out, ");\n");
}

static const struct {
    Intrin which;
    const char *fn;
} shuffle_table[] = {
    {INTRIN_SHFL, "__shfl_sync"},
    {INTRIN_SHFL_XOR, "__shfl_xor_sync"},
    {INTRIN_SHFL_DOWN, "__shfl_down_sync"},
    {INTRIN_SHFL_UP, "__shfl_up_sync"},
};

static bool emit_between_lanes(Cuda *c, const Stmt *s)
{
    if (emit_of_part(c, s))
        return true;
    for (int i = 0; i < COUNT(value_table); i++)
        if (value_table[i].which == s->u.call.which) {
            emit_of_value(c, s, value_table[i].fn, value_table[i].after);
            return true;
        }
    for (int i = 0; i < COUNT(shuffle_table); i++)
        if (shuffle_table[i].which == s->u.call.which) {
            emit_shuffle(c, s, shuffle_table[i].fn);
            return true;
        }
    return false;
}

/* A block that ends must have given its columns of tensor memory back. */
static void emit_return(Cuda *c, const Stmt *s)
{
    if (c->e.k->tensor_columns)
        refuse_call(c, s);
    emit_line(&c->e, "return;");
}

/* What the launch is asked, and what it answered. */
static void emit_clc(Cuda *c, const Stmt *s)
{
    static const char *const query[] = {"first_x", "first_y", "first_z", "is_canceled"};
    Emit *e = &c->e;
    bool asks = s->u.call.which == INTRIN_CLC_TRY;

    if (e->spec->machine.level < 100)
        refuse_call(c, s);
    if (asks) {
        emit_indent(e);
        str_printf(e->out, "tl_clc_try%s(", const_arg(c, s, 0) ? "_all" : "");
    } else {
        emit_bind(e, s->u.call.bind, NULL);
        str_printf(e->out, "tl_clc_%s(", query[const_arg(c, s, 0)]);
    }
    cuda_emit_place(c, &s->u.call.region[0]);
    if (asks) {
        str_puts(e->out, ", ");
        cuda_emit_place(c, &s->u.call.region[1]);
    }
    str_puts(e->out, ");\n");
}

static void emit_call(Emit *e, const Stmt *s)
{
    Cuda *c = cuda_of(e);

    if (emit_between_lanes(c, s) || emit_since(c, s))
        return;
    switch (s->u.call.which) {
    case INTRIN_SYNC_THREADS: emit_sync(c, s, true); break;
    case INTRIN_BARRIER_ARRIVE: emit_sync(c, s, false); break;
    case INTRIN_SYNC_WARP: emit_sync_warp(c, s); break;
    case INTRIN_SYNC_GRID: emit_line(e, "tl_grid_sync(tl_grid);"); break;
    case INTRIN_WAIT_PHASE:
        emit_mbar_call(c, s, c->peers ? "tl_mbar_wait_cluster" : "tl_mbar_wait", true);
        break;
    case INTRIN_ARRIVE: emit_mbar_arrive(c, s); break;
    case INTRIN_EXPECT_BYTES:
    case INTRIN_ARRIVE_BYTES: emit_expect(c, s); break;
    case INTRIN_ARRIVE_MMA:
        emit_mbar_call(c, s, call_mma_blocks(s) > 1
                                 ? c->pairs ? "tl_tcgen05_commit_both" : "tl_tcgen05_commit_each"
                             : c->pairs ? "tl_tcgen05_commit_pair" : "tl_tcgen05_commit", false);
        break;
    case INTRIN_ARRIVE_COPIES: emit_mbar_call(c, s, "tl_cp_async_barrier", false); break;
    case INTRIN_ACTIVEMASK:
        emit_bind(&c->e, s->u.call.bind, NULL);
        str_puts(e->out, "__activemask();\n");
        break;
    case INTRIN_ELECT: emit_elect(c, s); break;
    case INTRIN_RNG_INIT:
    case INTRIN_RNG_RAND:
    case INTRIN_RNG_FLOAT: emit_rng(c, s); break;
    case INTRIN_EXTERN: emit_extern(c, s); break;
    case INTRIN_WIDE_LOAD:
    case INTRIN_WIDE_STORE: emit_wide(c, s); break;
    case INTRIN_PEER_COPY:
        if (e->spec->machine.level < 90)
            refuse_call(c, s);
        emit_indent(e);
        emit_extern_args(e, "tl_copy_to_block", s->u.call.arg, s->u.call.n);
        str_puts(e->out, ";\n");
        break;
    case INTRIN_PREFETCH:
        emit_indent(e);
        emit_extern_args(e, "tl_prefetch", s->u.call.arg, s->u.call.n);
        str_puts(e->out, ";\n");
        break;
    case INTRIN_RETURN: emit_return(c, s); break;
    case INTRIN_CLC_TRY:
    case INTRIN_CLC_QUERY: emit_clc(c, s); break;
    default: refuse_call(c, s);
    }
}

/* Work on tensor memory is ordered by what threads tell each other where fences say so. */
static const struct {
    Intrin which;
    bool tells, hears;
} tensor_syncs[] = {
    {INTRIN_SYNC_THREADS, true, true}, {INTRIN_BARRIER_ARRIVE, true, false},
    {INTRIN_WAIT_PHASE, false, true},  {INTRIN_ARRIVE, true, false},
    {INTRIN_CLUSTER_SYNC, true, true}, {INTRIN_CLUSTER_ARRIVE, true, false},
    {INTRIN_CLUSTER_WAIT, false, true},
};

void cuda_emit_call(Emit *e, const Stmt *s)
{
    int i = 0;

    while (i < COUNT(tensor_syncs) && tensor_syncs[i].which != s->u.call.which)
        i++;
    bool fenced = e->k->tensor_columns && i < COUNT(tensor_syncs);
    if (fenced && tensor_syncs[i].tells)
        emit_line(e, "tl_tensor_before_sync();");
    emit_call(e, s);
    if (fenced && tensor_syncs[i].hears)
        emit_line(e, "tl_tensor_after_sync();");
}

/* ---- roles ----------------------------------------------------------------------------------- */

static bool is_issuer(const Stmt *s, void *arg)
{
    (void)arg;
    return s->kind == ST_ROLE && s->u.role.kind == ROLE_ISSUER;
}

/* One thread of the last group works, or two do, the issuer after the producer; the registers of
 * all of it go to the others. */
static void emit_lone(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    const Stmt *body = s->u.role.body;
    bool first = !is_issuer(s, NULL), last = !first || !stmt_any(e->k->body, is_issuer, NULL);
    int from = 0;

    if (first) {
        emit_line(e, "if (tl_warp >= %d) {", kernel_block_threads(e->k) / WARP);
        e->indent++;
    }
    while (body->kind == ST_BLOCK && from < body->u.block.n &&
           body->u.block.list[from]->kind == ST_CALL &&
           body->u.block.list[from]->u.call.which == INTRIN_SET_MAX_NREG)
        emit_stmt(&c->e, body->u.block.list[from++]);
    emit_line(e, "if (tl_warp == %d && tl_elect()) {", role_lone(s) / WARP);
    e->indent++;
    if (from)
        body = stmt_block(e->ir, body->span, body->u.block.n - from, body->u.block.list + from);
    emit_stmt(&c->e, body);
    e->indent--;
    emit_line(e, "}");
    if (!last)
        return;
    if (cuda_cluster_size(e->k) == 1)
        emit_line(e, "return;");
    e->indent--;
    emit_line(e, "}");
}

/* The producer has left by now: whoever comes here is a consumer.  In a cluster it stays for what
 * follows both. */
static void emit_who(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    bool all = s->u.role.kind == ROLE_CONSUMER;

    emit_indent(e);
    if (all && e->k->extra_threads && cuda_cluster_size(e->k) > 1)
        str_puts(e->out, "else ");
    str_puts(e->out, all ? "" : "if (");
    for (int i = 0; !all && i < s->u.role.nthread; i++) {
        str_puts(e->out, i ? " || " : "");
        str_printf(e->out, "tl_warp / %d == %d", GROUP / WARP, s->u.role.thread[i]);
    }
    str_puts(e->out, all ? "{\n" : ") {\n");
}

/* Some groups of threads; their barriers are their own. */
void cuda_emit_role(Emit *e, const Stmt *s)
{
    Cuda *c = cuda_of(e);
    int id = c->role_id, threads = c->role_threads;

    if (s->u.role.nthread == 0) {
        emit_stmt(&c->e, s->u.role.body);
        return;
    }
    if (role_lone(s) >= 0) {
        emit_lone(c, s);
        return;
    }
    emit_who(c, s);
    c->role_id = BARRIER_TOP - c->nrole++ % BARRIERS_OWN;
    c->role_threads = MIN(GROUP * s->u.role.nthread, kernel_block_threads(e->k));
    e->indent++;
    emit_stmt(&c->e, s->u.role.body);
    e->indent--;
    c->role_id = id;
    c->role_threads = threads;
    emit_line(e, "}");
}
