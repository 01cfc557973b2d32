/* audit.c -- what a lowered body says about accesses and barriers, beside what passes noted.
 *
 * Asked for by `tl build --audit`, after the last pass: nothing is decided by it. */
#include "pass/audit.h"

typedef struct {
    Kernel *k;
    const Stmt *at;
    const Stmt *loop; /* the innermost around it; NULL: none */
} Walk;

static bool by_thread(const Kernel *k, const Expr *at)
{
    for (int i = 0; i < 3; i++)
        if (k->thread[i] && expr_uses_var(at, k->thread[i]))
            return true;
    return false;
}

static void see_access(Walk *w, const Buffer *b, const Expr *at, bool stores)
{
    enum { WORD_BITS = 32 };
    int bits = dtype_bits(b->type) * at->lanes;
    MemScope scope = buffer_root(b)->scope;

    if (scope == MEM_GLOBAL && bits < WORD_BITS && w->loop && by_thread(w->k, at))
        audit_note(w->k, AUDIT_NARROW, w->at->span, "'%s' is %s %d bits at a time", b->name,
                   stores ? "written" : "read", bits);
    if (scope == MEM_SHARED && (at->type == DT_I64 || at->type == DT_U64))
        audit_note(w->k, AUDIT_WIDE, w->at->span, "an index of '%s' is computed in 64 bits",
                   b->name);
}

static bool see_expr(const Expr *e, void *arg)
{
    if (e->op == EX_LOAD && expr_nindex(e) == 1)
        see_access(arg, e->u.buf, e->kid[0], false);
    return true;
}

static bool see_stmt(const Stmt *s, void *arg)
{
    Walk *w = arg, inner = *w;

    w->at = s;
    stmt_visit_expr(s, see_expr, w);
    if (s->kind == ST_STORE && s->u.store.n == 1)
        see_access(w, s->u.store.buf, s->u.store.at[0], true);
    if (s->kind == ST_CALL && s->u.call.which == INTRIN_SYNC_THREADS && w->loop)
        audit_note(w->k, AUDIT_BARRIER, s->span, "threads wait for each other here in every "
                   "iteration of the loop at line %d", (int)w->loop->span.line);
    if (s->kind != ST_FOR && s->kind != ST_WHILE)
        return true;
    inner.loop = s;
    stmt_visit(s->kind == ST_FOR ? s->u.loop.body : s->u.branch.then, see_stmt, &inner);
    return false;
}

static void see_ignored(Kernel *k)
{
    for (int i = 0; i < k->diag->list.n; i++) {
        const Message *m = &k->diag->list.at[i];
        if (m->tag && !strcmp(m->tag, "ignored"))
            audit_note(k, AUDIT_IGNORED, m->span, "%s", m->text);
    }
}

void audit_body(Kernel *k)
{
    Walk w = {.k = k};

    if (kernel_on_warps(k) && (k->form & FORM_FLAT))
        stmt_visit(k->body, see_stmt, &w);
    see_ignored(k);
}
