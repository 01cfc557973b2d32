/* outline.c -- what a text binds where, without running it: for definitions, hovers, colours. */
#include "lsp/lsp.h"

typedef struct {
    Arena *arena;
    Outline all;
    int32_t from, to; /* lines of the function around */
} Walk;

typedef VEC(int) Places;
enum { BEHIND_MOST = 256 }; /* names bound behind a use that are looked at */

static void walk_body(Walk *w, AstStmt *const *body, int n);

static void bind(Walk *w, Bound b)
{
    b.from = w->from;
    b.to = w->to;
    if (!b.name)
        return;
    Places *p = map_get(&w->all.by_name, b.name);
    if (!p)
        map_set(&w->all.by_name, b.name, p = NEW(w->arena, Places));
    vec_push(w->arena, p, w->all.n);
    vec_push(w->arena, &w->all, b);
}

static void bind_target(Walk *w, const Ast *t)
{
    if (!t)
        return;
    if (t->kind == AST_NAME)
        bind(w, (Bound){.name = t->name, .kind = "variable", .span = t->span});
    if (t->kind != AST_TUPLE && t->kind != AST_LIST && t->kind != AST_STAR)
        return;
    for (int i = 0; i < t->nkid; i++)
        bind_target(w, t->kid[i]);
}

static int32_t last_line(AstStmt *const *body, int n, int32_t last);

static int32_t stmt_last_line(const AstStmt *s)
{
    int32_t last = MAX(s->span.line, s->span.end_line);

    last = last_line(s->body, s->nbody, last);
    last = last_line(s->orelse, s->norelse, last);
    last = last_line(s->final, s->nfinal, last);
    for (int i = 0; i < s->nhandler; i++)
        last = last_line(s->handlers[i].body, s->handlers[i].nbody, last);
    return s->kind == AS_DEF ? MAX(last, func_last_line(s->func)) : last;
}

static int32_t last_line(AstStmt *const *body, int n, int32_t last)
{
    for (int i = 0; i < n; i++)
        last = MAX(last, stmt_last_line(body[i]));
    return last;
}

int32_t func_last_line(const AstFunc *f)
{
    return last_line(f->body, f->nbody, f->span.end_line);
}

static void walk_func(Walk *w, const AstFunc *f)
{
    Walk inner = {w->arena, w->all, f->span.line, func_last_line(f)};

    for (int i = 0; i < f->nparam; i++)
        bind(&inner, (Bound){.name = f->params[i].name, .kind = "parameter",
                             .span = f->params[i].span});
    walk_body(&inner, f->body, f->nbody);
    w->all = inner.all;
}

static void walk_imports(Walk *w, const AstStmt *s)
{
    for (int i = 0; i < s->nname; i++) {
        const AstImport *m = &s->names[i];
        const char *whole =
            s->kind == AS_IMPORT ? m->name : arena_printf(w->arena, "%s.%s", s->name, m->name);
        bind(w, (Bound){.name = m->alias ? m->alias : m->name, .kind = "namespace",
                        .module = whole, .span = m->span});
    }
}

static void walk_stmt(Walk *w, const AstStmt *s)
{
    switch (s->kind) {
    case AS_ASSIGN:
    case AS_AUG:
    case AS_ANN:
    case AS_FOR:
        for (int i = 0; i < s->ntarget; i++)
            bind_target(w, s->targets[i]);
        break;
    case AS_WITH:
        for (int i = 0; i < s->nitem; i++)
            bind_target(w, s->items[i].target);
        break;
    case AS_DEF:
        bind(w, (Bound){.name = s->func->name, .kind = "function", .func = s->func,
                        .span = s->func->name_span});
        walk_func(w, s->func);
        break;
    case AS_CLASS:
        bind(w, (Bound){.name = s->name, .kind = "function", .span = s->span});
        break;
    case AS_IMPORT:
    case AS_FROM:
        walk_imports(w, s);
        break;
    default:
        break;
    }
    walk_body(w, s->body, s->nbody);
    walk_body(w, s->orelse, s->norelse);
    walk_body(w, s->final, s->nfinal);
    for (int i = 0; i < s->nhandler; i++)
        walk_body(w, s->handlers[i].body, s->handlers[i].nbody);
}

static void walk_body(Walk *w, AstStmt *const *body, int n)
{
    for (int i = 0; i < n; i++)
        walk_stmt(w, body[i]);
}

Outline outline(Arena *a, Names *names, const Source *src)
{
    Walk w = {.arena = a, .from = 1, .to = INT32_MAX};
    Recover r;
    Diag d;

    diag_init(&d, a);
    map_init_text(&w.all.by_name, a);
    if (recover_open(&r) == 0) {
        AstModule *m = parse_module(a, names, &d, src);
        walk_body(&w, m->body, m->nbody);
        recover_close(&r);
    }
    return w.all;
}

static bool is_seen(const Bound *b, int32_t line)
{
    return line >= b->from && line <= b->to;
}

/* How many of the places are bound at or before the line. */
static int places_before(const Outline *o, const Places *p, int32_t line)
{
    int from = 0, to = p->n;

    while (from < to) {
        int mid = (from + to) / 2;
        o->at[p->at[mid]].span.line <= line ? (from = mid + 1) : (to = mid);
    }
    return from;
}

/* The innermost function that binds it; there, the last line that does so before the use. */
const Bound *outline_find(const Outline *o, const char *name, int32_t line)
{
    const Places *p = map_get(&o->by_name, name);
    const Bound *best = NULL;

    if (!p)
        return NULL;
    int before = places_before(o, p, line);
    for (int i = before - 1; i >= 0 && !best; i--)
        best = is_seen(&o->at[p->at[i]], line) ? &o->at[p->at[i]] : NULL;
    for (int i = before; i < MIN(p->n, before + BEHIND_MOST); i++) {
        const Bound *b = &o->at[p->at[i]];
        if (is_seen(b, line) && (!best || b->from > best->from))
            best = b;
    }
    return best;
}
