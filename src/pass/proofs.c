/* proofs.c -- what `tl prove` prints: accesses by line, loops, the order of shared tiles.
 *
 * Accesses are noted by lower_guards (access.c); the rest is read from the lowered body.  Two
 * accesses of a shared tile, one of them a write, are ordered by what stands between them: a
 * barrier, a wait; lower_sync left it out only where no thread touches an element of another. */
#include <stdlib.h>
#include "pass/access.h"
#include "isa/isa.h"

static const char *const known_words[] = {"proved", "clipped", "guarded", "assumed", "wrong"};

typedef struct {
    int32_t line;
    AccessKnown known; /* of accesses; else ACCESS_PROVED, or ACCESS_ASSUMED for what is not */
    const char *text;
} Row;

typedef struct {
    Str *out;
    Kernel *k;
    Apart *apart;
    VEC(Row) rows;
    int count[COUNT(known_words)], uniform, divergent, ordered;
    const Source *src;
} Proofs;

static bool is_own(const Proofs *p, const Buffer *b)
{
    return b->id < p->k->func->ndeclared;
}

static void put_row(Proofs *p, int32_t line, AccessKnown known, const char *text)
{
    for (int i = 0; i < p->rows.n; i++)
        if (p->rows.at[i].line == line && !strcmp(p->rows.at[i].text, text))
            return;
    vec_push(p->out->arena, &p->rows, ((Row){line, known, text}));
}

/* ---- accesses -------------------------------------------------------------------------------- */

static const char *access_text(const Proofs *p, const AccessNote *n)
{
    Arena *a = p->out->arena;
    const char *how = n->how == 'r' ? "read" : n->how == 'w' ? "written" : "added to";
    const char *head = arena_printf(a, "'%s' is %s: %s", n->buf->name, how, known_words[n->known]);

    switch (n->known) {
    case ACCESS_PROVED:
        return arena_printf(a, "%s, %s", head, n->why);
    case ACCESS_CLIPPED:
        return arena_printf(a, "%s by the instruction, %s", head, n->why);
    case ACCESS_GUARDED:
        head = arena_printf(a, "%s by %s", head, n->why);
        return !n->point   ? arena_printf(a, "%s; no values were found that need it", head)
               : *n->point ? arena_printf(a, "%s, which is needed: %s", head, n->point)
                           : arena_printf(a, "%s, which always holds, by z3", head);
    case ACCESS_ASSUMED:
        return n->point ? arena_printf(a, "%s, and up to the call and its data: outside where %s",
                                       head, n->point)
                        : arena_printf(a, "%s, not proven: %s; no values were found that break it",
                                       head, n->why);
    default:
        return arena_printf(a, "%s, outside where %s", head, n->point);
    }
}

static void put_accesses(Proofs *p)
{
    for (int i = 0; i < p->k->accesses.n; i++) {
        const AccessNote *n = &p->k->accesses.at[i];
        if (!is_own(p, n->buf) || !n->at.src)
            continue;
        p->count[n->known]++;
        put_row(p, n->at.line, n->known, access_text(p, n));
    }
}

/* ---- loops ----------------------------------------------------------------------------------- */

static bool see_loop(const Stmt *s, void *arg)
{
    Proofs *p = arg;
    const Expr *head = s->kind == ST_FOR ? s->u.loop.extent : s->kind == ST_WHILE ? s->u.branch.cond
                                                                                  : NULL;

    if (!head || !s->span.src)
        return true;
    bool alike = alike_for_threads(p->apart, head) &&
                 (s->kind == ST_WHILE || alike_for_threads(p->apart, s->u.loop.min));
    alike ? p->uniform++ : p->divergent++;
    if (!alike)
        put_row(p, s->span.line, ACCESS_GUARDED,
                "the loop is not uniform: threads of a block may take it differently often");
    return true;
}

/* ---- shared tiles ---------------------------------------------------------------------------- */

typedef struct {
    const Buffer *b;
    bool writes;
    int32_t line;
    int when; /* statements before it */
} Last;

typedef struct {
    Proofs *p;
    VEC(Last) last; /* of each shared tile and direction */
    const IntrinInfo *barrier, *wait; /* the last: for other threads, for what the thread issued */
    int now, barrier_at, wait_at;
} Order;

/* Notes barriers and waits.  False: s is neither. */
static bool see_sync(Order *o, const Stmt *s)
{
    const IntrinInfo *i = s->kind == ST_CALL ? &intrin_table[s->u.call.which] : NULL;
    bool barrier = i && strchr(i->effects, 'B'), wait = i && i->waits != QUEUE_NONE;

    if (barrier) {
        o->barrier = i;
        o->barrier_at = o->now;
    } else if (wait) {
        o->wait = i;
        o->wait_at = o->now;
    }
    return barrier || wait;
}

/* What stands between `before` and now; NULL: nothing. */
static const char *between(const Order *o, const Last *before)
{
    const IntrinInfo *i = o->barrier_at > before->when ? o->barrier
                          : o->wait_at > before->when  ? o->wait
                                                       : NULL;
    return !i ? NULL : i->word ? i->word : i->name;
}

static void put_pair(Order *o, const Last *before, const Touch *t, const Stmt *s, bool writes)
{
    Arena *a = o->p->out->arena;
    const char *by = between(o, before);

    o->p->ordered++;
    put_row(o->p, s->span.line, ACCESS_PROVED,
            arena_printf(a, "'%s' is %s after line %d %s it: %s", buffer_root(t->buf)->name,
                         writes ? "written" : "read", (int)before->line,
                         before->writes ? "wrote" : "read",
                         by ? arena_printf(a, "ordered by %s", by)
                            : "no thread meets an element of another"));
}

static void see_touch(void *arg, const Stmt *s, const Touch *t)
{
    Order *o = arg;
    const Buffer *b = buffer_root(t->buf);

    if (b->scope != MEM_SHARED || !s->span.src)
        return;
    bool writes = touch_writes(t), found = false;
    for (int i = 0; i < o->last.n; i++) {
        Last *l = &o->last.at[i];
        if (l->b != b)
            continue;
        if ((writes || l->writes) && l->line != s->span.line)
            put_pair(o, l, t, s, writes);
        if (l->writes == writes) {
            *l = (Last){b, writes, s->span.line, o->now};
            found = true;
        }
    }
    if (!found)
        vec_push(o->p->out->arena, &o->last, ((Last){b, writes, s->span.line, o->now}));
}

static bool see_order(const Stmt *s, void *arg)
{
    Order *o = arg;

    o->now++;
    if (!see_sync(o, s))
        stmt_touches(s, see_touch, o);
    return true;
}

/* ---- printing -------------------------------------------------------------------------------- */

static int by_line(const void *a, const void *b)
{
    const Row *x = a, *y = b;
    return x->line != y->line ? (x->line < y->line ? -1 : 1)
           : x->known != y->known ? (x->known > y->known ? -1 : 1) : strcmp(x->text, y->text);
}

static const char *summary(const Proofs *p)
{
    Str s;
    int total = 0;

    str_init(&s, p->out->arena);
    for (int i = 0; i < COUNT(known_words); i++)
        total += p->count[i];
    str_printf(&s, "kernel %s: %d accesses of its tensors and tiles", p->k->name, total);
    for (int i = 0; i < COUNT(known_words); i++)
        if (p->count[i])
            str_printf(&s, ", %d %s", p->count[i], known_words[i]);
    str_printf(&s, "; %d of %d loops uniform; %d pairs in shared memory in order", p->uniform,
               p->uniform + p->divergent, p->ordered);
    return s.s;
}

static void put_escaped(Str *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *as = text[i] == '<'   ? "&lt;"
                         : text[i] == '>' ? "&gt;"
                         : text[i] == '&' ? "&amp;"
                                          : NULL;
        if (as)
            str_puts(out, as);
        else
            str_putc(out, text[i]);
    }
}

static const char page_head[] =
    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
    "<title>tl prove</title><style>"
    ":root{--b:#fff;--i:#1c2024;--s:#5b6570;--l:#e1e5ea}"
    "@media(prefers-color-scheme:dark){:root{--b:#14171a;--i:#e4e7ea;--s:#9aa4ae;--l:#2b3138}}"
    "body{margin:1rem auto;max-width:70rem;padding:0 1rem;background:var(--b);color:var(--i);"
    "font:15px/1.5 system-ui,sans-serif}"
    "pre{margin:0;font:13px/1.5 ui-monospace,monospace;white-space:pre-wrap}"
    "pre b{color:var(--s);font-weight:400;user-select:none}"
    "p{margin:.1rem 0 .1rem 3.2rem;font-size:13px;color:var(--s)}"
    "p i{font-style:normal;border-radius:4px;padding:0 .4em;color:#fff;margin-right:.5em}"
    ".proved i{background:#2a7d32}.clipped i{background:#0b57d0}.guarded i{background:#9a5b00}"
    ".assumed i{background:#a626a4}.wrong i{background:#c62828}"
    "</style></head><body>\n";

static void put_page(Proofs *p, const char *source)
{
    Str *out = p->out;
    int32_t line = 1;

    str_puts(out, "<h2>");
    put_escaped(out, summary(p), strlen(summary(p)));
    str_puts(out, "</h2>\n");
    for (int next = 0; *source; line++) {
        size_t n = strcspn(source, "\n");
        str_printf(out, "<pre><b>%4d  </b>", (int)line);
        put_escaped(out, source, n);
        str_puts(out, "</pre>\n");
        for (; next < p->rows.n && p->rows.at[next].line <= line; next++) {
            const Row *r = &p->rows.at[next];
            str_printf(out, "<p class=\"%s\"><i>%s</i>", known_words[r->known],
                       known_words[r->known]);
            put_escaped(out, r->text, strlen(r->text));
            str_puts(out, "</p>\n");
        }
        source += n + (source[n] == '\n');
    }
}

static void put_text(Proofs *p)
{
    str_printf(p->out, "%s\n", summary(p));
    for (int i = 0; i < p->rows.n; i++)
        str_printf(p->out, "  line %d: %s\n", (int)p->rows.at[i].line, p->rows.at[i].text);
}

void print_proofs(Str *out, Func *f, const char *source)
{
    if (source)
        str_puts(out, page_head);
    for (int i = 0; i < f->kernels.n; i++) {
        Proofs p = {.out = out, .k = f->kernels.at[i], .apart = apart_new(f->kernels.at[i])};
        Order o = {.p = &p};
        put_accesses(&p);
        if (p.k->body) {
            stmt_visit(p.k->body, see_loop, &p);
            stmt_visit(p.k->body, see_order, &o);
        }
        qsort(p.rows.at, (size_t)p.rows.n, sizeof *p.rows.at, by_line);
        source ? put_page(&p, source) : put_text(&p);
    }
    if (source)
        str_puts(out, "</body></html>\n");
}
