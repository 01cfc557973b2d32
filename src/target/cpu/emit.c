/* emit.c -- statements, kernels and the host part as one C file.
 *
 * A block of the grid is one call of a static function; the host part evaluates the grid and hands
 * the blocks to the runtime's thread pool.  Vector loops carry a pragma that says their iterations
 * are independent: the C compiler picks the instructions.  Loops that fold into one scalar are
 * written as simd reductions. */
#include "target/cpu/emit.h"
#include "device_cpu.h"

enum {
    STACK_TILE_MOST = 2048
}; /* bytes; smaller tiles are C arrays the compiler can see through */

/* ---- loops ----------------------------------------------------------------------------------- */

static bool see_acc(const Expr *x, void *arg)
{
    const Buffer **acc = arg;
    if (x->op == EX_LOAD && *acc && x->u.buf == *acc)
        *acc = NULL;
    return true;
}

static bool uses_buffer(const Expr *x, const Buffer *b)
{
    const Buffer *acc = b;
    expr_visit(x, see_acc, &acc);
    return acc == NULL;
}

static const char *fold_op(const Expr *x)
{
    if (x->op == EX_MATH)
        return x->u.fn == MATH_MAX_NAN ? "max_nan" : x->u.fn == MATH_MIN_NAN ? "min_nan" : NULL;
    switch (x->op) {
    case EX_ADD:
        return "+";
    case EX_MAX:
        return "max";
    case EX_MIN:
        return "min";
    case EX_BITAND:
        return "&";
    case EX_BITOR:
        return "|";
    case EX_BITXOR:
        return "^";
    default:
        return NULL;
    }
}

static const Stmt *only_stmt(const Stmt *s)
{
    while (s->kind == ST_BLOCK && s->u.block.n == 1)
        s = s->u.block.list[0];
    return s;
}

bool find_fold(const Stmt *s, Fold *f)
{
    s = only_stmt(s);
    if (s->kind != ST_STORE || s->u.store.guard || s->u.store.buf->scope != MEM_VAR)
        return false;
    const Expr *x = s->u.store.value;
    f->acc = s->u.store.buf;
    f->op = fold_op(x);
    if (!f->op)
        return false;
    bool first = x->kid[0]->op == EX_LOAD && x->kid[0]->u.buf == f->acc;
    const Expr *acc = x->kid[first ? 0 : 1];
    f->value = x->kid[first ? 1 : 0];
    return acc->op == EX_LOAD && acc->u.buf == f->acc && !uses_buffer(f->value, f->acc);
}

/* Written out so that the compiler sees its own max/min reduction idiom. */
static void emit_fold(Emit *e, const Stmt *s, const Fold *f)
{
    const Expr *x = only_stmt(s)->u.store.value;
    const char *acc = buffer_name(e, f->acc);

    emit_indent(e);
    if (x->op == EX_MAX || x->op == EX_MIN) {
        str_printf(e->out, "{ %s tl_x = ", c_value_type(f->acc->type));
        emit_value(e, f->value);
        str_printf(e->out, "; %s = tl_x %s %s ? tl_x : %s; }\n", acc, x->op == EX_MAX ? ">" : "<",
                   acc, acc);
    } else if (x->op == EX_ADD && dtype_is_float(f->acc->type)) {
        str_printf(e->out, "%s += ", acc);
        emit_value(e, f->value);
        str_puts(e->out, ";\n");
    } else {
        emit_store(e, f->acc, NULL, x);
    }
}

void emit_fold_body(Emit *e, const Stmt *body)
{
    int n = body->kind == ST_BLOCK ? body->u.block.n : 1;
    Fold f;

    for (int i = 0; i < n; i++) {
        const Stmt *s = body->kind == ST_BLOCK ? body->u.block.list[i] : body;
        if (find_fold(s, &f))
            emit_fold(e, s, &f);
        else
            emit_stmt(e, s);
    }
}

/* A loop that folds into scalars and does nothing but stores and lets beside; the clauses that say
 * so, or NULL.  A scalar that is read otherwise is no accumulator.  "": no clause says it, since
 * OpenMP has none of NaN. */
static const char *fold_clauses(Emit *e, const Stmt *loop)
{
    const Stmt *body = loop->u.loop.body;
    int n = body->kind == ST_BLOCK ? body->u.block.n : 1;
    bool any = false, said = true;
    Fold f, g;
    Str text;

    if (loop->u.loop.how != LOOP_VECTOR &&
        (loop->u.loop.how != LOOP_SERIAL || !find_fold(body, &f)))
        return NULL;
    str_init(&text, e->arena);
    for (int i = 0; i < n; i++) {
        const Stmt *s = body->kind == ST_BLOCK ? body->u.block.list[i] : body;
        if (!find_fold(s, &f))
            continue;
        any = true;
        said = said && !strstr(f.op, "nan");
        str_printf(&text, " reduction(%s:%s)", f.op, buffer_name(e, f.acc));
        for (int j = 0; j < n; j++) {
            const Stmt *t = body->kind == ST_BLOCK ? body->u.block.list[j] : body;
            if (j != i && find_fold(t, &g) && g.acc == f.acc)
                return NULL;
        }
    }
    return !any ? NULL : said ? text.s : "";
}

static bool is_load(const Expr *x, void *arg)
{
    (void)arg;
    return x->op == EX_LOAD;
}

static bool chooses_load(const Expr *x, void *arg)
{
    bool chooses = x->op == EX_IF || x->op == EX_SELECT;
    return (x->op == EX_LOAD && x->guarded) || (chooses && expr_any(x, is_load, arg));
}

static bool reads_on_condition(const Stmt *s, void *arg)
{
    return stmt_holds_expr(s, chooses_load, arg) ||
           (s->kind == ST_IF && stmt_any_expr(s->u.branch.then, is_load, arg));
}

static bool is_loop(const Stmt *s, void *arg)
{
    (void)arg;
    return s->kind == ST_FOR;
}

/* GCC 12 writes short loops out, vectorises the loop around them, and then reads neighbours that
 * are read on a condition by the conditions of others: such short loops stay loops. */
static bool is_misread(const Stmt *loop)
{
    enum { WRITTEN_OUT = 16 }; /* GCC: max-completely-peel-times */
    int64_t n;
    return expr_is_int(loop->u.loop.extent, &n) && n > 1 && n <= WRITTEN_OUT &&
           !stmt_any(loop->u.loop.body, is_loop, NULL) &&
           stmt_any(loop->u.loop.body, reads_on_condition, NULL);
}

static const char *pragma_of(Emit *e, const Stmt *s, const char *folds)
{
    if (folds && *folds)
        return arena_printf(e->arena, "#pragma omp simd%s", folds);
    if (is_misread(s))
        return "#pragma GCC unroll 1";
    if (s->u.loop.how == LOOP_VECTOR)
        return "#pragma GCC ivdep";
    if (s->u.loop.how != LOOP_UNROLL)
        return NULL;
    return arena_printf(e->arena, "#pragma GCC unroll %lld",
                        (long long)MIN(MAX(hint_int(s->u.loop.hints, "unroll_factor", 8), 1), 64));
}

void cpu_emit_for(Emit *e, const Stmt *s)
{
    const char *folds = e->k ? fold_clauses(e, s) : NULL;
    const Ahead *ahead = cpu_of(e)->ahead;

    if (!e->k) {
        emit_loop(e, s, NULL, emit_stmt);
        return;
    }
    if (!folds && s->u.loop.how == LOOP_VECTOR && emit_choice_loop(e, s))
        return;
    if ((folds || s->u.loop.how == LOOP_VECTOR) && emit_vector_loop(e, s))
        return;
    if (!folds && s->u.loop.how == LOOP_VECTOR && emit_stream_loop(e, s))
        return;
    if (s->u.loop.how == LOOP_SERIAL && !folds)
        cpu_of(e)->ahead = find_ahead(e, s);
    emit_loop(e, s, pragma_of(e, s, folds), folds ? emit_fold_body : emit_stmt);
    cpu_of(e)->ahead = ahead;
}

/* ---- other statements ------------------------------------------------------------------------ */

void cpu_emit_index(Emit *e, const Buffer *b, const Expr *at, int64_t n)
{
    cpu_of(e)->checks = true;
    map_set(&cpu_of(e)->checked, b, b);
    str_puts(e->out, "tl_check(");
    emit_loose(e, at);
    str_printf(e->out, ", %lldLL, &tl_bad, %d)", (long long)n, b->id + 1);
}

void cpu_emit_fail(Emit *e, const Stmt *s)
{
    str_puts(e->out, "{ tl_f->rt->fail(tl_f->rt->ctx, ");
    emit_assert_text(e, s);
    str_printf(e->out, "); %s }\n", cpu_of(e)->leave);
}

bool cpu_refuse_on_host(Emit *e, const Stmt *s)
{
    const unsigned all = 1u << ST_BLOCK | 1u << ST_LET | 1u << ST_IF | 1u << ST_FOR |
                         1u << ST_ASSERT | 1u << ST_LAUNCH;

    if (!e->k && !(all >> s->kind & 1))
        diag_fail(e->func->diag, s->span,
                  "this statement cannot stand outside T.Kernel [host-statement]");
    return false;
}

static const char *const atomic_gcc[ATOMIC_COUNT] = {
    [ATOMIC_ADD] = "add",   [ATOMIC_OR] = "or",       [ATOMIC_AND] = "and",
    [ATOMIC_XOR] = "xor",   [ATOMIC_MAX] = "max",     [ATOMIC_MIN] = "min",
    [ATOMIC_LOAD] = "load", [ATOMIC_STORE] = "store", [ATOMIC_EXCH] = "exch",
};

/* Blocks run on several threads, so an atomic on a tensor is a real one: compare and swap on the
 * storage word (device/cpu/convert.h: TL_ATOMIC). */
void cpu_emit_atomic(Emit *e, const Stmt *s)
{
    const Buffer *b = s->u.atomic.buf;
    Str *o = e->out;

    e->converts = true;
    if (s->u.atomic.op == ATOMIC_LOAD && cpu_of(e)->polls)
        emit_line(e, "tl_poll(tl_t);");
    emit_bind(e, s->u.atomic.bind, c_value_type(b->type));
    str_printf(o, "tl_atomic_%s_%s(&%s%s", atomic_gcc[s->u.atomic.op], dtype_name(b->type),
               buffer_name(e, b), b->scope == MEM_VAR ? "" : "[");
    if (b->scope != MEM_VAR) {
        emit_loose(e, s->u.atomic.at[0]);
        str_putc(o, ']');
    }
    if (s->u.atomic.value) {
        str_puts(o, ", ");
        emit_value(e, s->u.atomic.value);
    }
    str_puts(o, ");\n");
}

/* ---- a kernel -------------------------------------------------------------------------------- */

/* Run-time values by name: dims first, then scalar parameters, in order. */
static void emit_values(Emit *e)
{
    Func *f = e->func;
    int n = 0;

    for (int i = 0; i < f->dims.n; i++, n++)
        emit_line(e, "const %s %s = (%s)tl_f->value[%d]; (void)%s;",
                  c_value_type(f->dims.at[i]->type), var_name(e, f->dims.at[i]),
                  c_value_type(f->dims.at[i]->type), n, var_name(e, f->dims.at[i]));
    for (int i = 0; i < f->params.n; i++) {
        Var *v = f->params.at[i].var;
        if (!v)
            continue;
        const char *t = c_value_type(v->type);
        if (dtype_is_float(v->type))
            emit_line(e, "const %s %s = (%s)tl_value_double(tl_f->value[%d]); (void)%s;", t,
                      var_name(e, v), t, n, var_name(e, v));
        else
            emit_line(e, "const %s %s = (%s)tl_f->value[%d]; (void)%s;", t, var_name(e, v), t, n,
                      var_name(e, v));
        n++;
    }
}

static void emit_pointers(Emit *e)
{
    Func *f = e->func;
    int n = 0;

    for (int i = 0; i < f->params.n; i++) {
        Buffer *b = f->params.at[i].buf;
        if (!b)
            continue;
        emit_line(e, "%s *const %s = tl_f->tensor[%d]; (void)%s;", c_storage_type(b->type),
                  buffer_name(e, b), n++, buffer_name(e, b));
    }
    for (int i = 0; i < f->workspaces.n; i++) {
        Buffer *b = f->workspaces.at[i];
        emit_line(e, "%s *const %s = tl_f->work[%d]; (void)%s;", c_storage_type(b->type),
                  buffer_name(e, b), i, buffer_name(e, b));
    }
}

static int64_t stored_elems(Kernel *k, const Buffer *b)
{
    const Layout *l = buffer_plan(k, b)->layout;
    return l ? layout_size(l) : buffer_static_size(b);
}

/* A view of a tile that nobody touches: the tile has no place. */
static bool is_idle_view(Kernel *k, const Buffer *b)
{
    const Buffer *root = buffer_root(b);
    return root->scope != MEM_GLOBAL && root->scope != MEM_VAR && !root->pointer &&
           !buffer_plan(k, root)->placed;
}

void cpu_emit_decl(Emit *e, const Buffer *b)
{
    Kernel *k = e->k;
    const char *t = c_storage_type(b->type);
    const BufferPlan *p = buffer_plan(k, b);

    if (b->pointer)
        emit_line(e, "%s *const %s = (%s *)(intptr_t)%s; (void)%s;", t, buffer_name(e, b), t,
                  var_name(e, b->pointer), buffer_name(e, b));
    else if (b->view_of && is_idle_view(k, b))
        return;
    else if (b->view_of)
        emit_line(e, "%s *const %s = (%s *)%s; (void)%s;", t, buffer_name(e, b), t,
                  buffer_name(e, buffer_root(b)), buffer_name(e, b));
    else if (b->scope == MEM_VAR)
        emit_line(e, "%s %s = 0; (void)%s;", c_value_type(b->type), buffer_name(e, b),
                  buffer_name(e, b));
    else if ((b->scope == MEM_BARRIER || b->scope == MEM_CLUSTER_BARRIER) && !k->uses_threads)
        return; /* nobody arrives there */
    else if (b->scope == MEM_BARRIER || b->scope == MEM_CLUSTER_BARRIER)
        emit_line(e, "tl_mbar *const %s = (tl_mbar *)(tl_scratch + %lld); (void)%s;",
                  buffer_name(e, b), (long long)p->offset, buffer_name(e, b));
    else if (!p->placed)
        return;
    else if (k->uses_threads ? b->scope == MEM_LOCAL : p->nbytes <= STACK_TILE_MOST)
        emit_line(e, "%s %s[%lld] TL_ALIGN; (void)%s;", t, buffer_name(e, b),
                  (long long)(dtype_bits(b->type) == 4 ? p->nbytes : stored_elems(k, b)),
                  buffer_name(e, b));
    else
        emit_line(e, "%s *const %s = (%s *)(tl_scratch + %lld); (void)%s;", t, buffer_name(e, b), t,
                  (long long)p->offset, buffer_name(e, b));
}

static bool see_gemm(const Stmt *s, void *arg)
{
    if (s->kind == ST_INSTR)
        *(bool *)arg = true;
    return true;
}

/* Blocks of a GEMM are taken down the columns: those beside each other in a row would write
 * lines of the same rows at the same time, and take them from each other's caches. */
static bool goes_down(const Kernel *k)
{
    bool gemm = false;
    stmt_visit(k->body, see_gemm, &gemm);
    return gemm && k->ngrid == 2 && !cpu_runs_together(k);
}

static void emit_block_vars(Emit *e)
{
    Kernel *k = e->k;
    static const char *const word[] = {"tl_gx", "tl_gy", "tl_gz"};
    static const char *const before[] = {"tl_block", "tl_block / tl_gx",
                                         "tl_block / tl_gx / tl_gy"};

    for (int d = 0; d < k->ngrid; d++) {
        emit_indent(e);
        str_printf(e->out, "const int64_t %s = ", word[d]);
        emit_loose(e, k->grid[d]);
        str_printf(e->out, "; (void)%s;\n", word[d]);
    }
    bool down = goes_down(k);
    for (int d = 0; d < k->ngrid; d++) {
        const char *v = var_name(e, k->block[d]);
        if (down)
            emit_line(e, "const int32_t %s = (int32_t)(tl_block %s tl_gy); (void)%s;", v,
                      d ? "%" : "/", v);
        else if (d == k->ngrid - 1)
            emit_line(e, "const int32_t %s = (int32_t)(%s); (void)%s;", v, before[d], v);
        else
            emit_line(e, "const int32_t %s = (int32_t)(%s %% %s); (void)%s;", v, before[d], word[d],
                      v);
    }
}

static bool is_given(const Func *f, const Var *v)
{
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].var == v)
            return true;
    return false;
}

void emit_kernel_locals(Emit *e)
{
    emit_values(e);
    emit_pointers(e);
    emit_block_vars(e);
    for (int i = 0; i < e->k->buffers.n; i++) {
        const Var *pointer = buffer_root(e->k->buffers.at[i])->pointer;
        if (!pointer || is_given(e->func, pointer))
            cpu_emit_decl(e, e->k->buffers.at[i]);
    }
}

/* The body, and a report at its end when an index left its tile. */
void emit_checked_body(Emit *e)
{
    Str body;
    Str *out = e->out;

    str_init(&body, e->arena);
    e->out = &body;
    emit_stmt(e, e->k->body);
    e->out = out;
    if (cpu_of(e)->checks)
        emit_line(e, "int tl_bad = 0;");
    str_putn(out, body.s, body.n);
    if (!cpu_of(e)->checks)
        return;
    cpu_of(e)->part[PART_SCALAR] = cpu_of(e)->part[PART_CONVERT] = true;
    for (int i = 0; i < e->k->buffers.n; i++) {
        const Buffer *b = e->k->buffers.at[i];
        if (b->rank == 0 || !map_has(&cpu_of(e)->checked, b))
            continue;
        str_indent(out, e->indent * 4);
        str_printf(out, "if (tl_bad == %d) tl_f->rt->fail(tl_f->rt->ctx, ", b->id + 1);
        emit_quoted(out, arena_printf(e->arena, "an index is outside the tile '%s' [out-of-bounds]",
                                      b->name));
        str_puts(out, ");\n");
    }
}

static void emit_kernel(Emit *e, Kernel *k)
{
    e->k = k;
    cpu_of(e)->leave = "return;";
    cpu_of(e)->checks = false;
    cpu_of(e)->together = cpu_runs_together(k);
    cpu_of(e)->polls = stmt_polls(k->body);
    emit_know_ranges(e, k);
    if (k->prelude)
        emit_line(e, "%s", k->prelude);
    if (k->uses_threads || cpu_of(e)->together || cpu_of(e)->polls) {
        emit_thread_kernel(e);
        return;
    }
    emit_line(e, "static void %s(void *tl_arg, int64_t tl_block, char *tl_scratch)",
              name_for(e->names, k, k->name));
    emit_line(e, "{");
    e->indent++;
    emit_line(e, "const tl_frame *const tl_f = tl_arg;");
    emit_line(e, "(void)tl_scratch; (void)tl_block;");
    emit_kernel_locals(e);
    cpu_of(e)->streams = false;
    emit_checked_body(e);
    if (cpu_of(e)->streams)
        emit_line(e, "tl_vfence();");
    e->indent--;
    emit_line(e, "}\n");
}

/* ---- the host part --------------------------------------------------------------------------- */

static void emit_together(Emit *e, const Kernel *k, const char *name)
{
    emit_line(e, "char *tl_all = tl_rt_->workspace(tl_rt_->ctx, %d, tl_n * %lld);",
              e->func->workspaces.n, (long long)cpu_grid_bytes(k));
    emit_line(e, "if (!tl_all) return 1;");
    emit_line(e, "%s(&tl_fr, tl_n, tl_all);", name);
}

static void emit_apart(Emit *e, const Kernel *k, const char *name)
{
    emit_line(e, "tl_rt_->parallel(tl_rt_->ctx, tl_n, %s, &tl_fr, %lld);", name,
              (long long)k->arena_bytes);
}

void cpu_emit_launch(Emit *e, const Stmt *s)
{
    Kernel *k = s->u.launch.kernel;

    emit_line(e, "{");
    e->indent++;
    emit_indent(e);
    str_puts(e->out, "const int64_t tl_n = ");
    for (int d = 0; d < k->ngrid; d++) {
        str_puts(e->out, d ? " * tl_max_i64(" : "tl_max_i64(");
        emit_loose(e, k->grid[d]);
        str_puts(e->out, ", 0)");
    }
    str_puts(e->out, ";\n");
    const char *name = name_for(e->names, k, k->name);
    if (cpu_runs_together(k)) {
        emit_together(e, k, name);
    } else if (stmt_polls(k->body)) {
        emit_line(e, "if (tl_n * %d <= %d) {", cpu_fibers(k), POLL_THREADS);
        e->indent++;
        emit_together(e, k, arena_printf(e->arena, "%s_grid", name));
        e->indent--;
        emit_line(e, "} else {");
        e->indent++;
        emit_apart(e, k, name);
        e->indent--;
        emit_line(e, "}");
    } else {
        emit_apart(e, k, name);
    }
    emit_line(e, "if (tl_rt_->failed(tl_rt_->ctx)) return 1;");
    e->indent--;
    emit_line(e, "}");
}

static void emit_workspaces(Emit *e)
{
    Func *f = e->func;

    if (f->workspaces.n == 0)
        return;
    for (int i = 0; i < f->workspaces.n; i++) {
        Buffer *b = f->workspaces.at[i];
        emit_indent(e);
        str_printf(e->out, "tl_work[%d] = tl_rt_->workspace(tl_rt_->ctx, %d, (", i, i);
        for (int d = 0; d < b->rank; d++) {
            str_puts(e->out, d ? " * (int64_t)" : "(int64_t)");
            emit_index(e, b->shape[d]);
        }
        str_printf(e->out, "%s) * %d / 8 + 64);\n", b->rank ? "" : "1", dtype_bits(b->type));
        emit_line(e, "if (!tl_work[%d]) return 1;", i);
    }
}

static void emit_extents(Emit *e, const Expr *const *list, int n)
{
    str_puts(e->out, "(const int64_t[]){");
    for (int d = 0; d < n; d++) {
        str_puts(e->out, d ? ", " : "");
        emit_loose(e, list[d]);
    }
    str_puts(e->out, n ? "}, " : "0}, ");
}

/* Calls whose tensors overlap take the other entry, or are left to who made the call. */
static void emit_overlap_test(Emit *e)
{
    Func *f = e->func;
    int n = 0;

    cpu_of(e)->part[PART_OVERLAP] = true;
    emit_line(e, "const tl_span tl_spans[] = {");
    for (int i = 0; i < f->params.n; i++) {
        const Buffer *b = f->params.at[i].buf;
        if (!b)
            continue;
        str_indent(e->out, e->indent * 4 + 4);
        str_printf(e->out, "tl_span_of(tl_tensor[%d], %d, %d, ", n++, dtype_bits(b->type), b->rank);
        emit_extents(e, b->shape, b->rank);
        if (b->stride)
            emit_extents(e, b->stride, b->rank);
        else
            str_puts(e->out, "0, ");
        str_printf(e->out, "%d),\n", f->params.at[i].written);
    }
    emit_line(e, "};");
    emit_line(e, "if (tl_spans_overlap(tl_spans, %d))", n);
    emit_line(e, f->overlapping ? "    return tl_entry_overlap(tl_tensor, tl_value, tl_rt_);"
                                : "    return TL_OVERLAP; /* another kernel is for that */");
}

/* Code for another length gives wrong numbers, not a signal. */
static void emit_length_test(Emit *e)
{
    emit_line(e, "int64_t tl_length;");
    emit_line(e, "__asm__(\"cntb %%0\" : \"=r\"(tl_length));");
    emit_line(e, "if (tl_length != TL_VECTOR_BYTES) {");
    emit_line(e, "    tl_rt_->fail(tl_rt_->ctx, \"this processor's vectors of SVE do not have %d "
              "bytes\");", cpu_level(e->spec)->vector_bytes);
    emit_line(e, "    return 1;");
    emit_line(e, "}");
}

static void emit_host(Emit *e, bool second)
{
    Func *f = e->func;

    e->k = NULL;
    cpu_of(e)->leave = "return 1;";
    e->facts = facts_new(e->ir);
    emit_line(e, "%s(void *const *tl_tensor, const int64_t *tl_value, const tl_rt *tl_rt_)",
              second ? "static int tl_entry_overlap" : "int tl_entry");
    emit_line(e, "{");
    e->indent++;
    emit_line(e, "void *tl_work[%d] = {0};", MAX(f->workspaces.n, 1));
    emit_line(e, "const tl_frame tl_fr = {tl_tensor, tl_value, tl_rt_, tl_work};");
    emit_line(e, "const tl_frame *const tl_f = &tl_fr; (void)tl_f;");
    if (cpu_level(e->spec)->arm && cpu_level(e->spec)->vector_bytes > 16 && !second)
        emit_length_test(e);
    emit_values(e);
    if (f->overlapping || f->leaves_overlap)
        emit_overlap_test(e);
    emit_workspaces(e);
    emit_stmt(e, f->body);
    emit_line(e, "return 0;");
    e->indent--;
    emit_line(e, "}");
}

/* ---- the file -------------------------------------------------------------------------------- */

static const unsigned char *const part_text[PART_COUNT] = {
    [PART_ABI] = device_cpu_abi_h,         [PART_OVERLAP] = device_cpu_overlap_h,
    [PART_CONVERT] = device_cpu_convert_h,
    [PART_SCALAR] = device_cpu_scalar_h,   [PART_MATH] = device_cpu_math_h,
    [PART_VECTOR] = device_cpu_vector_h,   [PART_GEMM] = device_cpu_gemm_h,
    [PART_AMX] = device_cpu_amx_h,         [PART_PACK] = device_cpu_pack_h,
    [PART_TILE] = device_cpu_tile_h,       [PART_THREADS] = device_cpu_threads_h,
    [PART_RANDOM] = device_cpu_random_h,   [PART_MMLA] = device_cpu_mmla_h,
};

/* The parts include each other by name; pasted in order they need not. */
static void paste(Str *out, const char *text)
{
    while (*text) {
        const char *end = strchr(text, '\n');
        size_t n = end ? (size_t)(end - text) + 1 : strlen(text);
        if (strncmp(text, "#include \"", 10))
            str_putn(out, text, n);
        text += n;
    }
}

static void need_parts(Cpu *c)
{
    c->part[PART_MATH] |= c->e.maths;
    c->part[PART_CONVERT] |= c->e.converts || c->part[PART_MATH] || c->part[PART_GEMM];
    c->part[PART_SCALAR] |= c->part[PART_CONVERT];
    c->part[PART_PACK] |= c->part[PART_GEMM];
    c->part[PART_TILE] |= c->part[PART_GEMM];
}

static void emit_func(Emit *e, Func *f, bool second)
{
    e->func = f;
    for (int i = 0; i < f->kernels.n; i++)
        emit_kernel(e, f->kernels.at[i]);
    if (f->overlapping)
        emit_func(e, f->overlapping, true);
    e->func = f;
    emit_host(e, second);
}

void cpu_emit(Func *f, const TargetSpec *spec, Str *out)
{
    Arena *a = f->ir->arena;
    const CpuLevel *level = cpu_level(spec);
    Str body;
    Cpu c = {.e = {.func = f,
                   .ir = f->ir,
                   .spec = spec,
                   .say = &cpu_dialect,
                   .out = &body,
                   .arena = a,
                   .names = names_of(a)}};

    str_init(&body, a);
    str_init(&c.e.decls, a);
    map_init_text(&c.e.routines, a);
    map_init(&c.checked, a);
    name_for_c(c.e.names);
    name_reserve(c.e.names, "index");
    name_reserve(c.e.names, "signal");
    c.part[PART_ABI] = true;
    emit_func(&c.e, f, false);

    str_printf(out, "/* %s, made by tilelang for %s */\n", f->name, spec->text);
    str_printf(out, "#define TL_VECTOR_BYTES %d\n", level->vector_bytes);
    str_printf(out, "#define TL_HAS_VNNI %d\n#define TL_HAS_BF16 %d\n#define TL_HAS_AMX %d\n",
               level->vnni, level->bf16, c.amx);
    need_parts(&c);
    if (c.part[PART_GEMM])
        str_puts(out, "#define TL_VB TL_VECTOR_BYTES\n#define TL_GEMM_F32\n#define TL_GEMM_F64\n"
                      "#define TL_GEMM_S8\n#define TL_GEMM_I16\n#define TL_GEMM_BF16\n");
    for (int i = 0; i < PART_COUNT; i++)
        if (c.part[i])
            paste(out, (const char *)part_text[i]);
    str_puts(out, "\n/* ---- kernels ---- */\n\n"); /* tests compare what follows */
    str_putn(out, c.e.decls.s, c.e.decls.n);
    str_putn(out, body.s, body.n);
}
