/* dump.c -- functions, kernels and plans as text: the parts of the form described in print.c that
 * are not statements. */
#include <stdlib.h>
#include "ir/mech.h"
#include "ir/text.h"

static const char *const form_names[] = {
#define X(f) #f,
    FORMS(X)
#undef X
};

const char *text_form(int i)
{
    return i < COUNT(form_names) ? form_names[i] : NULL;
}

/* ---- declarations ----------------------------------------------------------------------- */

typedef struct {
    Printer *p;
    int indent;
} Announce;

static void announce_var(Printer *p, const Var *v, int indent)
{
    if (map_has(&p->seen, v))
        return;
    str_indent(p->out, indent);
    str_puts(p->out, "var ");
    put_var(p, v, true);
    str_putc(p->out, '\n');
}

static bool announce_each(const Expr *e, void *arg)
{
    Announce *a = arg;
    if (e->op == EX_VAR)
        announce_var(a->p, e->u.var, a->indent);
    return true;
}

/* `var` lines for what the next line uses and nobody has defined. */
static void announce(Printer *p, const Expr *e, int indent)
{
    if (e)
        expr_visit(e, announce_each, &(Announce){p, indent});
}

static void announce_list(Printer *p, int n, const Expr *const *e, int indent)
{
    for (int i = 0; i < n; i++)
        announce(p, e[i], indent);
}

static void announce_hints(Printer *p, Hints h, int indent)
{
    for (int i = 0; i < h.n; i++)
        announce(p, h.at[i].value, indent);
}

static int64_t barriers(const Buffer *b)
{
    int64_t n = b->arrive ? buffer_static_size(b) : 0;
    return MAX(n, 0);
}

static void put_flags(Printer *p, const Buffer *b)
{
    if (b->stride) {
        str_puts(p->out, " stride(");
        put_list(p, b->rank, (const Expr *const *)b->stride);
        str_putc(p->out, ')');
    }
    if (b->view_of)
        str_printf(p->out, " view(%s)", buf_text(p, b->view_of));
    put_text(p, "reducer", b->reducer);
    if (b->arrive) {
        str_puts(p->out, " arrive(");
        put_list(p, (int)barriers(b), b->arrive);
        str_putc(p->out, ')');
    }
    if (b->pointer)
        str_printf(p->out, " pointer(%s)", var_text(p, b->pointer));
    str_puts(p->out, b->is_param ? " is_param" : "");
    str_puts(p->out, b->is_output ? " is_output" : "");
    str_puts(p->out, b->is_workspace ? " is_workspace" : "");
    str_puts(p->out, b->unaligned ? " unaligned" : "");
    str_puts(p->out, b->for_all ? " for_all" : "");
}

/* The line of a buffer up to its flags, after lines for what it depends on. */
static void put_buffer(Printer *p, const char *word, const Buffer *b, int indent)
{
    if (b->view_of && !map_has(&p->seen, b->view_of)) {
        put_buffer(p, "other", b->view_of, indent);
        put_line_end(p, b->view_of->span);
    }
    announce_list(p, b->rank, (const Expr *const *)b->shape, indent);
    if (b->stride)
        announce_list(p, b->rank, (const Expr *const *)b->stride, indent);
    announce_list(p, (int)barriers(b), b->arrive, indent);
    if (b->pointer)
        announce_var(p, b->pointer, indent);
    str_indent(p->out, indent);
    str_printf(p->out, "%s %s: %s[", word, buf_text(p, b), dtype_name(b->type));
    put_list(p, b->rank, (const Expr *const *)b->shape);
    str_printf(p->out, "] %s", mem_name(b->scope));
    put_flags(p, b);
    map_set(&p->seen, b, b);
    vec_push(p->out->arena, &p->bufs, b);
}

static void other_buffer(Printer *p, const Buffer *b, int indent)
{
    if (map_has(&p->seen, b))
        return;
    put_buffer(p, "other", b, indent);
    put_line_end(p, b->span);
}

static bool other_in_expr(const Expr *e, void *arg)
{
    Announce *a = arg;
    if (e->op == EX_LOAD || e->op == EX_ADDR)
        other_buffer(a->p, e->u.buf, a->indent);
    return true;
}

/* Buffers that the body uses and no list has: views, and tensors when a kernel stands alone. */
static bool other_in_stmt(const Stmt *s, void *arg)
{
    Announce *a = arg;
    int n;
    const Region *r = stmt_regions(s, &n);

    if (stmt_stores(s))
        other_buffer(a->p, stmt_stores(s), a->indent);
    for (int i = 0; i < n; i++)
        other_buffer(a->p, r[i].buf, a->indent);
    stmt_visit_expr(s, other_in_expr, a);
    return true;
}

/* Variables that the body uses and nothing defines. */
typedef struct {
    Announce a;
    const Map *defined;
} FreeVars;

static bool free_in_expr(const Expr *e, void *arg)
{
    FreeVars *f = arg;
    if (e->op == EX_VAR && !map_has(f->defined, e->u.var))
        announce_var(f->a.p, e->u.var, f->a.indent);
    return true;
}

static bool free_in_stmt(const Stmt *s, void *arg)
{
    stmt_visit_expr(s, free_in_expr, arg);
    return true;
}

static void announce_body(Printer *p, const Stmt *body, int indent)
{
    Map defined;
    Announce a = {p, indent};
    map_init(&defined, p->out->arena);
    stmt_names(body, &defined);
    FreeVars f = {a, &defined};
    stmt_visit(body, free_in_stmt, &f);
    stmt_visit(body, other_in_stmt, &a);
}

/* ---- kernels ---------------------------------------------------------------------------- */

static void put_grid(Printer *p, const Kernel *k, int indent)
{
    announce_list(p, k->ngrid, k->grid, indent);
    for (int i = 0; i < k->ngrid; i++) {
        if (i == 0)
            str_indent(p->out, indent);
        str_puts(p->out, i ? ", " : "grid ");
        if (k->block[i])
            put_var(p, k->block[i], true);
        else
            str_putc(p->out, '_');
        str_puts(p->out, " = ");
        put_expr(p, k->grid[i], PREC_IF);
    }
    str_puts(p->out, k->ngrid ? "\n" : "");
}

static void put_threads(Printer *p, const Kernel *k, int indent)
{
    str_indent(p->out, indent);
    for (int i = 0; i < 3; i++) {
        str_puts(p->out, i ? ", " : "threads ");
        if (k->thread[i])
            put_var(p, k->thread[i], true);
        else
            str_putc(p->out, '_');
        str_printf(p->out, " = %d", k->threads[i]);
    }
    str_putc(p->out, '\n');
    if (k->cluster[0] != 1 || k->cluster[1] != 1 || k->cluster[2] != 1) {
        str_indent(p->out, indent);
        str_printf(p->out, "cluster %d, %d, %d\n", k->cluster[0], k->cluster[1], k->cluster[2]);
    }
}

static void put_facts(Printer *p, const Kernel *k, int indent)
{
    Str *out = p->out;
    if (k->extra_threads) {
        str_indent(out, indent);
        str_printf(out, "extra_threads %d\n", k->extra_threads);
    }
    if (k->uses_threads) {
        str_indent(out, indent);
        str_puts(out, "uses_threads\n");
    }
    if (k->assume) {
        str_indent(out, indent);
        str_puts(out, "assume ");
        put_expr(p, k->assume, PREC_IF);
        str_putc(out, '\n');
    }
    if (k->swizzle_panel || k->swizzle_order) {
        str_indent(out, indent);
        str_printf(out, "swizzle %d", k->swizzle_panel);
        put_text(p, "order", k->swizzle_order);
        str_putc(out, '\n');
    }
    if (k->persistent) {
        str_indent(out, indent);
        str_printf(out, "persistent %d\n", k->persistent);
    }
    if (k->longest.way) {
        str_indent(out, indent);
        str_printf(out, "longest %d %d %lld\n", k->longest.dim, k->longest.way,
                   (long long)k->longest.panel);
    }
    if (k->min_blocks) {
        str_indent(out, indent);
        str_printf(out, "min_blocks %d\n", k->min_blocks);
    }
    if (k->arena_bytes) {
        str_indent(out, indent);
        str_printf(out, "arena_bytes %lld\n", (long long)k->arena_bytes);
    }
    if (k->tensor_columns) {
        str_indent(out, indent);
        str_printf(out, "tensor_columns %d\n", k->tensor_columns);
    }
    if (k->prelude) {
        str_indent(out, indent);
        str_puts(out, "prelude ");
        put_string(out, k->prelude);
        str_putc(out, '\n');
    }
    for (int i = 0; p->whole && i < k->origins.n; i++) {
        str_indent(out, indent);
        str_puts(out, "origin ");
        put_string(out, k->origins.at[i].text);
        put_line_end(p, k->origins.at[i].span);
    }
    if (k->hints.n) {
        announce_hints(p, k->hints, indent);
        str_indent(out, indent - 1);
        put_hints(p, k->hints);
        str_putc(out, '\n');
    }
}

static void put_form(Printer *p, const Kernel *k, int indent)
{
    if (!k->form)
        return;
    str_indent(p->out, indent);
    str_puts(p->out, "form");
    for (int i = 0; i < COUNT(form_names); i++) {
        if (k->form >> i & 1)
            str_printf(p->out, " %s", form_names[i]);
    }
    str_putc(p->out, '\n');
}

static void put_tile_plan(Printer *p, int id, const TilePlan *t, int indent)
{
    if (t->how == &mech_none && !t->why && !t->ahead && !t->pipe && !t->in_group &&
        !t->left_open && !t->isa)
        return;
    str_indent(p->out, indent);
    str_printf(p->out, "tile #%d how ", id);
    put_string(p->out, t->how->name);
    put_text(p, "why", t->why);
    if (t->ahead)
        str_printf(p->out, " ahead %d", t->ahead);
    if (t->pipe)
        str_printf(p->out, " pipe %d", t->pipe);
    str_puts(p->out, t->in_group ? " in_group" : "");
    str_puts(p->out, t->left_open ? " open" : "");
    str_puts(p->out, t->or_loops ? " or_loops" : "");
    if (t->share)
        str_printf(p->out, " share %d %d", t->share, t->share_step);
    if (t->alone)
        str_printf(p->out, " alone %d", t->alone);
    put_text(p, "isa", t->isa ? p->words->isa_name(t->isa) : NULL);
    str_putc(p->out, '\n');
}

static bool plan_is_plain(const BufferPlan *b)
{
    return !b->layout && !b->pinned && !b->safe && b->l2_hit_ratio == 0 && b->stages == 1 &&
           !b->groups && !b->fresh && !b->group.n && !b->offset && !b->nbytes && !b->placed;
}

static void put_buffer_plan(Printer *p, const Buffer *buf, const BufferPlan *b, int indent)
{
    if (plan_is_plain(b))
        return;
    announce(p, b->safe, indent);
    str_indent(p->out, indent);
    str_printf(p->out, "plan %s", buf_text(p, buf));
    if (b->layout) {
        str_putc(p->out, ' ');
        put_layout(p, b->layout);
    }
    str_puts(p->out, b->pinned ? " pinned" : "");
    if (b->safe) {
        str_puts(p->out, " safe(");
        put_expr(p, b->safe, PREC_IF);
        str_putc(p->out, ')');
    }
    if (b->l2_hit_ratio != 0) {
        str_puts(p->out, " l2(");
        put_float(p->out, DT_F64, b->l2_hit_ratio);
        str_putc(p->out, ')');
    }
    if (b->stages != 1)
        str_printf(p->out, " stages %d", b->stages);
    if (b->groups)
        str_printf(p->out, " groups %d", b->groups);
    str_puts(p->out, b->fresh ? " fresh" : "");
    if (b->group.n)
        str_printf(p->out, " threads %d %d", b->group.first, b->group.n);
    if (b->offset || b->placed)
        str_printf(p->out, " offset %lld", (long long)b->offset);
    if (b->nbytes)
        str_printf(p->out, " nbytes %lld", (long long)b->nbytes);
    str_puts(p->out, b->placed ? " placed\n" : "\n");
}

static void put_kernel_plans(Printer *p, const Kernel *k, int indent)
{
    for (int i = 0; i < k->tiles.n; i++)
        put_tile_plan(p, i, &k->tiles.at[i], indent);
    /* In the order the text declares them, which reading keeps. */
    for (int i = 0; i < p->bufs.n; i++) {
        if (p->bufs.at[i]->id < k->plans.n)
            put_buffer_plan(p, p->bufs.at[i], &k->plans.at[p->bufs.at[i]->id], indent);
    }
}

static void put_where(Printer *p, Span at, int indent)
{
    if (!at.src)
        return;
    str_indent(p->out, indent);
    str_puts(p->out, "at");
    put_line_end(p, at);
}

static void put_source(Printer *p, int indent)
{
    if (!p->src)
        return;
    str_indent(p->out, indent);
    str_puts(p->out, "source ");
    put_string(p->out, p->src->name);
    str_putc(p->out, '\n');
}

typedef struct {
    const Stmt *want;
    int n, found;
} Search;

static bool search_stmt(const Stmt *s, void *arg)
{
    Search *f = arg;
    if (s == f->want)
        f->found = f->n;
    f->n += s->kind != ST_BLOCK;
    return f->found < 0;
}

/* Plans that speak of parts of the body come after it.  A statement is named by its number in the
 * body, counted from 0 in order of lines. */
static void put_body_plans(Printer *p, const Kernel *k, int indent)
{
    for (int i = 0; i < k->loops.n; i++) {
        const LoopPlan *l = &k->loops.at[i];
        if (!l->layout && !l->ahead)
            continue;
        announce_var(p, l->var, indent);
        str_indent(p->out, indent);
        str_printf(p->out, "loop %s", var_text(p, l->var));
        if (l->ahead)
            str_printf(p->out, " ahead %d", l->ahead);
        if (l->layout) {
            str_putc(p->out, ' ');
            put_layout(p, l->layout);
        }
        str_putc(p->out, '\n');
    }
    for (int i = 0; i < k->converts.n; i++) {
        const Convert *c = &k->converts.at[i];
        Search f = {c->at, 0, -1};
        if (!c->layout)
            continue;
        stmt_visit(k->body, search_stmt, &f);
        other_buffer(p, c->buf, indent);
        str_indent(p->out, indent);
        str_printf(p->out, "convert %s ", buf_text(p, c->buf));
        put_layout(p, c->layout);
        str_printf(p->out, " in %d\n", f.found);
    }
}

void put_kernel(Printer *p, const Kernel *k, int indent)
{
    map_set(&p->seen, k, k);
    put_where(p, k->span, indent);
    put_form(p, k, indent);
    put_grid(p, k, indent);
    put_threads(p, k, indent);
    put_facts(p, k, indent);
    for (int i = 0; i < k->buffers.n; i++) {
        /* A buffer already declared, by another kernel or as somebody's view, is only named. */
        if (map_has(&p->seen, k->buffers.at[i])) {
            str_indent(p->out, indent);
            str_printf(p->out, "buffer %s\n", buf_text(p, k->buffers.at[i]));
            continue;
        }
        put_buffer(p, "buffer", k->buffers.at[i], indent);
        put_line_end(p, k->buffers.at[i]->span);
    }
    announce_body(p, k->body, indent);
    put_kernel_plans(p, k, indent);
    str_indent(p->out, indent);
    str_puts(p->out, "body:\n");
    put_body(p, k->body, indent + TEXT_INDENT);
    put_body_plans(p, k, indent);
}

/* ---- functions -------------------------------------------------------------------------- */

static void put_param(Printer *p, const Param *m, int indent)
{
    const char *name;
    if (m->buf) {
        name = buf_text(p, m->buf);
        put_buffer(p, "param", m->buf, indent);
    } else {
        name = var_text(p, m->var);
        str_indent(p->out, indent);
        str_puts(p->out, "param ");
        put_var(p, m->var, true);
    }
    if (m->name && strcmp(name, m->name) != 0)
        put_text(p, "named", m->name);
    str_puts(p->out, m->out ? " out" : "");
    put_line_end(p, m->span);
}

/* A shape may use a scalar parameter that comes later in the list. */
static void put_params(Printer *p, const Func *f, int indent)
{
    for (int i = 0; i < f->dims.n; i++) {
        str_indent(p->out, indent);
        str_puts(p->out, "dim ");
        put_var(p, f->dims.at[i], true);
        put_line_end(p, f->dims.at[i]->span);
    }
    for (int i = 0; i < f->params.n; i++)
        put_param(p, &f->params.at[i], indent);
    for (int i = 0; i < f->workspaces.n; i++) {
        put_buffer(p, "workspace", f->workspaces.at[i], indent);
        put_line_end(p, f->workspaces.at[i]->span);
    }
    if (f->hints.n) {
        announce_hints(p, f->hints, indent);
        str_indent(p->out, indent - 1);
        put_hints(p, f->hints);
        str_putc(p->out, '\n');
    }
}

/* ---- the order of variables ------------------------------------------------------------- */

static int by_order(const void *a, const void *b)
{
    const Var *x = *(const Var *const *)a, *y = *(const Var *const *)b;
    return (x->order > y->order) - (x->order < y->order);
}

/* A reader makes variables in the order of the text.  Those that were made otherwise are listed in
 * their own order, so that sums come out the same. */
static void put_order(Printer *p, int indent)
{
    Arena *a = p->out->arena;
    int n = p->vars.n, nmoved = 0;
    const Var **sorted = NEWN(a, const Var *, n + 1);
    if (n)
        memcpy(sorted, p->vars.at, sizeof *sorted * (size_t)n);
    qsort(sorted, (size_t)n, sizeof *sorted, by_order);
    for (int i = 0; i < n; i++) {
        if (sorted[i] == p->vars.at[i])
            continue;
        if (nmoved == 0)
            str_indent(p->out, indent);
        str_printf(p->out, "%s%s", nmoved++ ? ", " : "order ", var_text(p, sorted[i]));
    }
    if (nmoved)
        str_putc(p->out, '\n');
}

void print_func(Str *out, const Func *f)
{
    Printer p;
    printer_init(&p, out, f->ir, f->span.src, true);
    str_printf(out, "func %s:", name_for(names_of(out->arena), f, f->name));
    put_line_end(&p, f->span);
    put_source(&p, TEXT_INDENT);
    put_params(&p, f, TEXT_INDENT);
    if (f->body)
        announce_body(&p, f->body, TEXT_INDENT);
    put_body(&p, f->body, TEXT_INDENT);
    for (int i = 0; i < f->kernels.n; i++) {
        if (map_has(&p.seen, f->kernels.at[i]))
            continue;
        str_indent(out, TEXT_INDENT);
        str_printf(out, "kernel %s:\n", kernel_text(&p, f->kernels.at[i]));
        put_kernel(&p, f->kernels.at[i], 2 * TEXT_INDENT);
    }
    put_order(&p, TEXT_INDENT);
}

void print_kernel(Str *out, const Kernel *k)
{
    Printer p;
    printer_init(&p, out, k->ir, k->span.src, true);
    str_printf(out, "kernel %s:\n", kernel_text(&p, k));
    put_source(&p, TEXT_INDENT);
    put_kernel(&p, k, TEXT_INDENT);
}

/* ---- plans for people ------------------------------------------------------------------- */

static void plan_of_tile(Printer *p, int id, const TilePlan *t)
{
    Str *out = p->out;
    if (t->how == &mech_none)
        return;
    str_printf(out, "  %s: %s", t->what ? t->what : arena_printf(out->arena, "#%d", id),
               t->how->name);
    if (t->isa)
        str_printf(out, " by %s", p->words->isa_name(t->isa));
    if (t->why)
        str_printf(out, ", %s", t->why);
    if (t->pipe)
        str_printf(out, ", by the producer into pipeline %d", t->pipe);
    if (t->left_open)
        str_puts(out, ", left in flight");
    if (t->or_loops && t->how->bulk)
        str_puts(out, ", by threads where it starts before that");
    if (t->share)
        str_printf(out, ", each of %d blocks of a cluster a part", t->share);
    str_putc(out, '\n');
}

static bool see_tile(const Stmt *s, void *arg)
{
    if (s->kind == ST_TILE)
        ((bool *)arg)[s->u.tile.id] = true;
    return true;
}

/* By id: is the statement still there?  Once they are lowered, plans are left of such ones only. */
static const bool *tiles_there(Arena *a, const Kernel *k)
{
    int n = MAX(k->ir->ntile, k->tiles.n) + 1;
    bool *there = NEWN(a, bool, n);

    memset(there, (k->form & FORM_LOOPS) != 0, (size_t)n);
    if (k->body)
        stmt_visit(k->body, see_tile, there);
    return there;
}

static bool see_mention(const Expr *e, void *there)
{
    if (e->op == EX_LOAD || e->op == EX_ADDR)
        map_set(there, buffer_root(e->u.buf), e);
    return true;
}

static bool see_buffers(const Stmt *s, void *there)
{
    int n;
    const Region *r = stmt_regions(s, &n);

    for (int i = 0; i < n; i++)
        map_set(there, buffer_root(r[i].buf), s);
    if (stmt_stores(s))
        map_set(there, buffer_root(stmt_stores(s)), s);
    stmt_visit_expr(s, see_mention, there);
    return true;
}

/* Is it, or what it is a view of, still mentioned?  Tiles may go once operators are lowered. */
static bool buffer_there(const Kernel *k, const Map *there, const Buffer *b)
{
    return !(k->form & FORM_LOOPS) || map_has(there, buffer_root(b));
}

void print_plans(Str *out, const Kernel *k)
{
    const bool *there = tiles_there(out->arena, k);
    Map buffers;
    Printer p;

    map_init(&buffers, out->arena);
    if (k->body)
        stmt_visit(k->body, see_buffers, &buffers);
    printer_init(&p, out, k->ir, NULL, false);
    str_printf(out, "kernel %s: %d threads", k->name, kernel_block_threads(k));
    if (k->persistent)
        str_printf(out, ", persistent in %d blocks", k->persistent);
    if (k->longest.way)
        str_puts(out, k->persistent ? ", there and back" : ", the longest blocks first");
    if (k->form & FORM_PLACED)
        str_printf(out, ", %lld bytes on chip", (long long)k->arena_bytes);
    if (k->assume && !expr_is_const(k->assume)) {
        str_puts(out, ", where ");
        put_expr(&p, k->assume, PREC_IF);
    }
    str_putc(out, '\n');
    for (int i = 0; i < k->tiles.n; i++)
        if (there[i])
            plan_of_tile(&p, i, &k->tiles.at[i]);
    for (int i = 0; i < k->loops.n; i++)
        if (k->loops.at[i].ahead)
            str_printf(out, "  parallel nest (line %d): %s, %d iteration%s ahead\n",
                       k->loops.at[i].var->span.line, mech_ahead(k->ir->mechs)->name,
                       k->loops.at[i].ahead,
                       k->loops.at[i].ahead == 1 ? "" : "s");
    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        const BufferPlan *plan = b->id < k->plans.n ? &k->plans.at[b->id] : NULL;
        if (!buffer_there(k, &buffers, b))
            continue;
        str_printf(out, "  %s: %s %s[", buf_text(&p, b), mem_name(b->scope), dtype_name(b->type));
        put_list(&p, b->rank, (const Expr *const *)b->shape);
        str_putc(out, ']');
        if (plan && plan->layout) {
            str_puts(out, ", ");
            p.words->layout_print(out, plan->layout);
        }
        if (plan && plan->stages > 1)
            str_printf(out, ", %d stages", plan->stages);
        if (plan && plan->placed)
            str_printf(out, ", %lld bytes at %lld", (long long)plan->nbytes,
                       (long long)plan->offset);
        str_putc(out, '\n');
    }
}
