/* threads.c -- kernels whose body is per thread: every thread of a block becomes a fiber.
 *
 * Tile operators and T.Parallel nests in such a kernel are collective; lower_tiles and
 * lower_parallel have put them in ROLE_COLLECTIVE, which one thread runs for all that reach it
 * (device/cpu/threads.h).  T.ws is an ordinary test of the thread index. */
#include "target/cpu/emit.h"

enum { STACK_BYTES = 64 << 10, LONE_STACK_BYTES = 512 << 10, HEAD_BYTES = 1024, GROUP = 128,
       ROLES = 8 };

static int next_site(Emit *e)
{
    return cpu_of(e)->nsite++;
}

static const char *slot_kind(DType t)
{
    if (dtype_is_float(t))
        return t == DT_F64 ? "double" : "float";
    return "int";
}

/* ---- calls that mean something only between threads ------------------------------------------ */

static void emit_mbar(Emit *e, const Region *r)
{
    str_printf(e->out, "&%s[", buffer_name(e, r->buf));
    if (r->buf->rank)
        emit_loose(e, r->at[0]);
    else
        str_putc(e->out, '0');
    str_putc(e->out, ']');
}

static void emit_int_arg(Emit *e, const Stmt *s, int i, const char *otherwise)
{
    if (i < s->u.call.n && s->u.call.arg[i])
        emit_loose(e, s->u.call.arg[i]);
    else
        str_puts(e->out, otherwise);
}

/* name(tl_t, site, slot(value)[, lane, width]) back to the value's type */
static void emit_exchange(Emit *e, const Stmt *s, const char *fn, bool lanes)
{
    DType t = (DType)s->u.call.arg[0]->type;
    const char *kind = slot_kind(t);

    emit_bind(e, s->u.call.bind, NULL);
    str_printf(e->out, "(%s)tl_unslot_%s(%s(tl_t, %d, tl_slot_%s(", c_value_type(t), kind, fn,
               next_site(e), kind);
    emit_expr(e, s->u.call.arg[0]);
    str_putc(e->out, ')');
    if (lanes) {
        str_puts(e->out, ", ");
        emit_int_arg(e, s, 1, "0");
        str_puts(e->out, ", ");
        emit_int_arg(e, s, 2, "32");
    }
    str_puts(e->out, "));\n");
}

static void emit_vote(Emit *e, const Stmt *s, const char *fmt)
{
    Str pred;
    Str *out = e->out;

    str_init(&pred, e->arena);
    e->out = &pred;
    if (s->u.call.n)
        emit_expr(e, s->u.call.arg[0]);
    else
        str_putc(&pred, '1');
    e->out = out;
    emit_bind(e, s->u.call.bind, NULL);
    str_printf(e->out, fmt, next_site(e), pred.s);
    str_puts(e->out, ";\n");
}

static int role_threads(const Kernel *k, const Stmt *role)
{
    int n = 0;

    for (int i = 0; i < role->u.role.nthread; i++)
        n += MAX(0, MIN(GROUP, kernel_block_threads(k) - role->u.role.thread[i] * GROUP));
    return n;
}

/* Without a number: of all threads, in a role of its threads. */
static void emit_barrier(Emit *e, const Stmt *s, int wait)
{
    const Stmt *role = cpu_of(e)->role;

    if (role && s->u.call.n == 0) {
        emit_line(e, "tl_barrier(tl_t, TL_NAMED + %d, %d, %d);",
                  role->u.role.thread[0] % ROLES, role_threads(e->k, role), wait);
        return;
    }
    emit_indent(e);
    str_puts(e->out, "tl_barrier(tl_t, ");
    emit_int_arg(e, s, 0, "0");
    str_puts(e->out, ", ");
    emit_int_arg(e, s, 1, "0");
    str_printf(e->out, ", %d);\n", wait);
}

static void emit_mbar_call(Emit *e, const Stmt *s, const char *fn, const char *first, int nth)
{
    emit_indent(e);
    str_printf(e->out, "%s(%s", fn, first);
    emit_mbar(e, &s->u.call.region[0]);
    if (nth >= 0) {
        str_puts(e->out, ", ");
        emit_int_arg(e, s, nth, "0");
    }
    str_puts(e->out, ");\n");
}

static int cluster_size(const Kernel *k)
{
    return MAX(k->cluster[0], 1) * MAX(k->cluster[1], 1) * MAX(k->cluster[2], 1);
}

static NORETURN void refuse(Emit *e, const Stmt *s)
{
    if (cluster_size(e->k) > 1)
        diag_fail(
            e->k->diag, s->span,
            "T.%s in a cluster of %d blocks: blocks of a cluster do not run together on target "
            "cpu [unsupported-here]",
            intrin_table[s->u.call.which].word, cluster_size(e->k));
    diag_fail(e->k->diag, s->span, "T.%s has no meaning on target cpu [unsupported-here]",
              intrin_table[s->u.call.which].word);
}

static void emit_sync_fold(Emit *e, const Stmt *s)
{
    static const char *const op[] = {"sum", "and", "or"};
    int which = s->u.call.which == INTRIN_SYNC_COUNT ? 0
                : s->u.call.which == INTRIN_SYNC_AND ? 1
                                                     : 2;

    emit_bind(e, s->u.call.bind, NULL);
    str_printf(e->out, "tl_sync_%s(tl_t, (", op[which]);
    emit_expr(e, s->u.call.arg[0]);
    str_puts(e->out, ") != 0);\n");
}

/* The MMAs of a role are done when its threads have synchronised: one arrival for all of them. */
static void emit_mbar_arrive(Emit *e, const Stmt *s)
{
    bool once = call_mma_blocks(s) && !cpu_of(e)->in_collective;

    if ((s->u.call.n > 0 || call_mma_blocks(s) > 1) && cluster_size(e->k) > 1)
        refuse(e, s);
    if (once) {
        emit_line(e, "if (tl_collect(tl_t, %d)) {", next_site(e));
        e->indent++;
    }
    emit_mbar_call(e, s, "tl_mbar_arrive", "", -1);
    if (once) {
        emit_line(e, "tl_collected(tl_t);");
        e->indent--;
        emit_line(e, "}");
    }
}

static void emit_match(Emit *e, const Stmt *s)
{
    const char *kind = slot_kind((DType)s->u.call.arg[0]->type);

    emit_bind(e, s->u.call.bind, NULL);
    str_printf(e->out, "tl_match(tl_t, %d, tl_slot_%s(", next_site(e), kind);
    emit_expr(e, s->u.call.arg[0]);
    str_printf(e->out, "), %d);\n", s->u.call.which == INTRIN_MATCH_ALL);
}

static void emit_rng(Emit *e, const Stmt *s)
{
    int64_t bits = 32, kind = hint_int(e->k->hints, "generator", 0);
    const char *family = kind ? "gen" : "rng", *state = kind ? "tl_t->other" : "tl_t";

    cpu_of(e)->part[PART_RANDOM] |= kind != 0;
    emit_bind(e, s->u.call.bind, NULL);
    if (s->u.call.which == INTRIN_RNG_INIT) {
        str_printf(e->out, "tl_%s_init(%s", family, state);
        if (kind)
            str_printf(e->out, ", %d", (int)kind);
        for (int i = 0; i < 3; i++) {
            str_puts(e->out, ", ");
            emit_int_arg(e, s, i, "0");
        }
        str_puts(e->out, ");\n");
    } else if (s->u.call.which == INTRIN_RNG_RAND) {
        str_printf(e->out, "tl_%s_next(%s);\n", family, state);
    } else {
        bool normal = s->u.call.text && !strcmp(s->u.call.text, "normal");
        expr_is_int(s->u.call.arg[0], &bits);
        str_printf(e->out, "(%s)tl_%s_%s(%s, %d);\n", bits == 64 ? "double" : "float", family,
                   normal ? "normal" : "uniform", state, (int)bits);
    }
}

/* Blocks of a cluster stand side by side in the grid. */
static void emit_block_rank(Emit *e, const Stmt *s)
{
    const Kernel *k = e->k;
    int before = 1;

    emit_bind(e, s->u.call.bind, NULL);
    str_putc(e->out, '0');
    for (int d = 0; d < k->ngrid; d++) {
        if (k->cluster[d] > 1)
            str_printf(e->out, " + %s %% %d * %d", var_name(e, k->block[d]), k->cluster[d], before);
        before *= MAX(k->cluster[d], 1);
    }
    str_puts(e->out, ";\n");
}

static void emit_extern_call(Emit *e, const Stmt *s)
{
    emit_bind(e, s->u.call.bind, NULL);
    emit_extern_args(e, s->u.call.text, s->u.call.arg, s->u.call.n);
    str_puts(e->out, ";\n");
}

static void emit_wide(Emit *e, const Stmt *s)
{
    bool load = s->u.call.which == INTRIN_WIDE_LOAD;
    int64_t n = buffer_static_size(s->u.call.arg[!load]->u.buf) * 32;
    const char *name = arena_printf(e->arena, "tl_wide_%s_%lld", load ? "load" : "store",
                                    (long long)n);
    cpu_of(e)->part[PART_CONVERT] = true;
    emit_bind(e, s->u.call.bind, NULL);
    emit_extern_args(e, name, s->u.call.arg, 3);
    str_puts(e->out, ";\n");
}

static void emit_thread_call(Emit *e, const Stmt *s)
{
    switch (s->u.call.which) {
    case INTRIN_SYNC_THREADS: emit_barrier(e, s, 1); break;
    case INTRIN_BARRIER_ARRIVE: emit_barrier(e, s, 0); break;
    case INTRIN_SYNC_WARP: emit_line(e, "(void)tl_meet(tl_t, %d, 0);", next_site(e)); break;
    case INTRIN_WAIT_PHASE: emit_mbar_call(e, s, "tl_mbar_wait", "tl_t, ", s->u.call.n - 1); break;
    case INTRIN_ARRIVE: emit_mbar_arrive(e, s); break;
    case INTRIN_ARRIVE_COPIES: emit_mbar_call(e, s, "tl_mbar_arrive", "", -1); break;
    case INTRIN_EXPECT_BYTES: emit_mbar_call(e, s, "tl_mbar_expect", "", s->u.call.n - 1); break;
    case INTRIN_ARRIVE_BYTES:
        emit_mbar_call(e, s, "tl_mbar_expect", "", s->u.call.n - 1);
        emit_mbar_call(e, s, "tl_mbar_arrive", "", -1);
        break;
    case INTRIN_SHFL: emit_exchange(e, s, "tl_shfl", true); break;
    case INTRIN_SHFL_XOR: emit_exchange(e, s, "tl_shfl_xor", true); break;
    case INTRIN_SHFL_DOWN: emit_exchange(e, s, "tl_shfl_down", true); break;
    case INTRIN_SHFL_UP: emit_exchange(e, s, "tl_shfl_up", true); break;
    case INTRIN_ANY_SYNC: emit_vote(e, s, "tl_ballot(tl_t, %d, %s) != 0"); break;
    case INTRIN_ALL_SYNC: emit_vote(e, s, "tl_ballot(tl_t, %d, !(%s)) == 0"); break;
    case INTRIN_BALLOT: case INTRIN_ACTIVEMASK: emit_vote(e, s, "tl_ballot(tl_t, %d, %s)"); break;
    case INTRIN_MATCH_ANY: case INTRIN_MATCH_ALL: emit_match(e, s); break;
    case INTRIN_RNG_INIT: case INTRIN_RNG_RAND: case INTRIN_RNG_FLOAT: emit_rng(e, s); break;
    case INTRIN_ELECT: emit_vote(e, s, "tl_elect(tl_t, %d, %s)"); break;
    case INTRIN_WARP_SUM: case INTRIN_WARP_MAX: case INTRIN_WARP_MIN:
    case INTRIN_WARP_AND: case INTRIN_WARP_OR: {
        static const char *const word[] = {"sum", "max", "min", "and", "or"};
        const char *fn =
            arena_printf(e->arena, "tl_warp_%s_%s", word[s->u.call.which - INTRIN_WARP_SUM],
                         slot_kind((DType)s->u.call.arg[0]->type));
        emit_exchange(e, s, fn, false);
        break;
    }
    case INTRIN_SYNC_COUNT: case INTRIN_SYNC_AND: case INTRIN_SYNC_OR: emit_sync_fold(e, s); break;
    default: refuse(e, s);
    }
}

/* Without threads a block has nobody to wait for. */
void emit_call(Emit *e, const Stmt *s)
{
    switch (s->u.call.which) {
    case INTRIN_FENCE_PROXY: case INTRIN_COMMIT_STORES: case INTRIN_WAIT_STORES:
    case INTRIN_COMMIT_COPIES:
    case INTRIN_WAIT_COPIES:
    case INTRIN_SETTLE:
    case INTRIN_COMMIT_MMA:
    case INTRIN_WAIT_MMA:
    case INTRIN_SET_MAX_NREG:
    case INTRIN_PDL_TRIGGER: case INTRIN_PDL_SYNC:
        return;
    case INTRIN_CLUSTER_ARRIVE: case INTRIN_CLUSTER_WAIT: case INTRIN_CLUSTER_SYNC:
        if (cluster_size(e->k) > 1)
            refuse(e, s);
        return;
    case INTRIN_BLOCK_RANK:
        emit_block_rank(e, s);
        return;
    case INTRIN_SYNC_GRID:
        emit_line(e, "tl_grid_sync(tl_t);");
        return;
    case INTRIN_RETURN:
        emit_line(e, "%s", cpu_of(e)->leave);
        return;
    case INTRIN_EXTERN:
        emit_extern_call(e, s);
        return;
    case INTRIN_PREFETCH:
        emit_indent(e);
        emit_extern_args(e, "__builtin_prefetch", s->u.call.arg, s->u.call.n);
        str_puts(e->out, ";\n");
        return;
    case INTRIN_WIDE_LOAD: case INTRIN_WIDE_STORE:
        emit_wide(e, s);
        return;
    case INTRIN_SYNC_THREADS: case INTRIN_SYNC_WARP:
        if (!e->k->uses_threads)
            return;
        break;
    default: break;
    }
    if (!e->k->uses_threads)
        refuse(e, s);
    emit_thread_call(e, s);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

void emit_role(Emit *e, const Stmt *s)
{
    if (s->u.role.kind == ROLE_COLLECTIVE) {
        if (!e->k->uses_threads || cpu_of(e)->in_collective) {
            emit_stmt(e, s->u.role.body);
            return;
        }
        if (map_has(&cpu_of(e)->gathered, s))
            emit_line(e, "tl_barrier(tl_t, 0, 0, 1);");
        emit_line(e, "if (tl_collect(tl_t, %d)) {", next_site(e));
        e->indent++;
        cpu_of(e)->in_collective = true;
        emit_stmt(e, s->u.role.body);
        cpu_of(e)->in_collective = false;
        emit_line(e, "tl_collected(tl_t);");
        e->indent--;
        emit_line(e, "}");
        return;
    }
    emit_indent(e);
    str_puts(e->out, "if (");
    for (int i = 0; i < s->u.role.nthread; i++)
        str_printf(e->out, "%stl_t->id / %d == %d", i ? " || " : "", GROUP, s->u.role.thread[i]);
    str_puts(e->out, s->u.role.nthread ? ") {\n" : "1) {\n");
    const Stmt *around = cpu_of(e)->role;
    cpu_of(e)->role = s->u.role.nthread ? s : around;
    e->indent++;
    emit_stmt(e, s->u.role.body);
    e->indent--;
    cpu_of(e)->role = around;
    emit_line(e, "}");
}

typedef struct {
    Vary vary;
    Map *all;
    bool some; /* a collective of some threads was seen */
} Gathered;

/* In loops some threads may be an iteration ahead of others that work in collectives of their own:
 * what is for all threads waits for those. */
static void find_gathered(Gathered *m, const Stmt *s, bool some, bool loop)
{
    if (s->kind == ST_ROLE && s->u.role.kind == ROLE_COLLECTIVE) {
        if (!some && loop)
            map_set(m->all, s, (void *)s);
        m->some |= some;
        return;
    }
    some |= s->kind == ST_ROLE ? s->u.role.nthread > 0
            : s->kind == ST_IF || s->kind == ST_FOR || s->kind == ST_WHILE
                ? vary_head(&m->vary, s) : false;
    loop |= s->kind == ST_FOR || s->kind == ST_WHILE;
    for (int i = 0; i < stmt_nkid(s); i++)
        find_gathered(m, stmt_kid(s, i), some, loop);
}

static void plan_gathered(Emit *e)
{
    Gathered m = {.all = &cpu_of(e)->gathered};

    map_init(m.all, e->arena);
    if (!e->k->threads_sync)
        return;
    vary_learn(&m.vary, e->k, NULL);
    find_gathered(&m, e->k->body, false, false);
    if (!m.some)
        map_init(m.all, e->arena);
}

static void emit_thread_vars(Emit *e)
{
    Kernel *k = e->k;
    int before = 1;

    for (int d = 0; d < 3; d++) {
        if (k->thread[d])
            emit_line(e, "const int32_t %s = tl_t->id / %d %% %d; (void)%s;",
                      var_name(e, k->thread[d]), before, MAX(k->threads[d], 1),
                      var_name(e, k->thread[d]));
        before *= MAX(k->threads[d], 1);
    }
}

static void emit_mbar_inits(Emit *e)
{
    Kernel *k = e->k;

    for (int i = 0; i < k->buffers.n; i++) {
        Buffer *b = k->buffers.at[i];
        if (b->scope != MEM_BARRIER && b->scope != MEM_CLUSTER_BARRIER)
            continue;
        int64_t n = buffer_static_size(b);
        for (int64_t j = 0; j < n && b->arrive; j++) {
            emit_indent(e);
            str_printf(e->out, "tl_mbar_init((tl_mbar *)(tl_scratch + %lld) + %lld, ",
                       (long long)buffer_plan(k, b)->offset, (long long)j);
            emit_loose(e, b->arrive[j]);
            str_puts(e->out, ");\n");
        }
    }
}

static bool see_grid_sync(const Stmt *s, void *arg)
{
    if (s->kind == ST_CALL && s->u.call.which == INTRIN_SYNC_GRID)
        *(bool *)arg = true;
    return true;
}

bool cpu_runs_together(const Kernel *k)
{
    bool found = false;
    stmt_visit(k->body, see_grid_sync, &found);
    return found;
}

/* One thread does a block that has none of its own. */
int cpu_fibers(const Kernel *k)
{
    return k->uses_threads ? kernel_block_threads(k) : 1;
}

static int64_t stack_bytes(const Kernel *k)
{
    return k->uses_threads ? STACK_BYTES : LONE_STACK_BYTES;
}

/* entry(frame, blocks, memory): every block has a tl_block, its tiles and its threads. */
static void emit_grid_entry(Emit *e, const char *name, const char *entry)
{
    Kernel *k = e->k;

    emit_line(e, "static void %s_init(char *tl_scratch)", name);
    emit_line(e, "{");
    e->indent++;
    emit_line(e, "(void)tl_scratch;");
    emit_mbar_inits(e);
    e->indent--;
    emit_line(e, "}\n");
    emit_line(e, "static void %s(const tl_frame *tl_f, int64_t tl_n, char *tl_all)", entry);
    emit_line(e, "{");
    e->indent++;
    emit_line(e, "tl_run_grid(tl_f, tl_n, tl_all, %lld, %lld, %d, %lld, %s_thread, %s_init);",
              (long long)cpu_grid_bytes(k), (long long)k->arena_bytes, cpu_fibers(k),
              (long long)stack_bytes(k), name, name);
    e->indent--;
    emit_line(e, "}\n");
}

int64_t cpu_grid_bytes(const Kernel *k)
{
    int64_t n = cpu_fibers(k);
    return HEAD_BYTES + k->arena_bytes + (n * 128 + 63) / 64 * 64 + n * stack_bytes(k);
}

static void emit_block_entry(Emit *e, const char *name)
{
    Kernel *k = e->k;
    int n = cpu_fibers(k);

    emit_line(e, "static void %s(void *tl_arg, int64_t tl_block, char *tl_scratch)", name);
    emit_line(e, "{");
    e->indent++;
    emit_line(e, "const tl_frame *const tl_f = tl_arg;");
    emit_mbar_inits(e);
    emit_line(e, "tl_run_block(tl_f, tl_block, tl_scratch, %lld, %d, %lld, %s_thread);",
              (long long)k->arena_bytes, n, (long long)stack_bytes(k), name);
    e->indent--;
    emit_line(e, "}\n");
    k->arena_bytes += ((int64_t)n * 128 + 63) / 64 * 64 + n * stack_bytes(k);
}

void emit_thread_kernel(Emit *e)
{
    Kernel *k = e->k;
    const char *name = name_for(e->names, k, k->name);

    cpu_of(e)->part[PART_THREADS] = true;
    cpu_of(e)->nsite = 1;
    plan_gathered(e);
    emit_line(e, "static void %s_thread(tl_thread *tl_t)", name);
    emit_line(e, "{");
    e->indent++;
    emit_line(e, "const tl_frame *const tl_f = tl_t->block->frame;");
    emit_line(e, "char *const tl_scratch = tl_t->block->scratch; (void)tl_scratch;");
    emit_line(e, "const int64_t tl_block = tl_t->block->index; (void)tl_block;");
    emit_kernel_locals(e);
    emit_thread_vars(e);
    emit_checked_body(e);
    e->indent--;
    emit_line(e, "}\n");
    if (cpu_runs_together(k))
        emit_grid_entry(e, name, name);
    else if (cpu_of(e)->polls)
        emit_grid_entry(e, name, arena_printf(e->arena, "%s_grid", name));
    if (!cpu_runs_together(k))
        emit_block_entry(e, name);
}
