/* proofs.c -- what `tl prove` prints: accesses and what their guards cost, loops, the order of
 * accesses of shared memory; by line.
 *
 * Accesses are noted by lower_guards (access.c), loops by check_divergence (proofs_loops.c), the
 * order of shared memory by lower_sync (proofs_order.c). */
#include <stdlib.h>
#include "pass/access.h"

static const char *const known_words[] = {"proved", "clipped", "guarded", "assumed", "wrong"};
static const char *const shape_words[] = {"block-uniform", "warp-uniform", "varying"};
enum { ORDERS = ORDER_UNKNOWN + 1, SHAPES = LOOP_OF_THREAD + 1, PAIRS_MOST = 6 };

typedef struct {
    int32_t line;
    int turn;          /* among those of a line */
    const char *class; /* of the page: what it is good or bad as */
    const char *badge, *text;
} Row;

typedef struct {
    Str *out;
    Kernel *k;
    const Kernel *without; /* guards; NULL: it is not there */
    VEC(Row) rows;
    int count[COUNT(known_words)], shape[SHAPES], order[ORDERS];
} Proofs;

static bool is_own(const Proofs *p, const Buffer *b)
{
    return b->id < p->k->func->ndeclared;
}

static void put_row(Proofs *p, int32_t line, const char *class, const char *badge,
                    const char *text)
{
    for (int i = 0; i < p->rows.n; i++)
        if (p->rows.at[i].line == line && !strcmp(p->rows.at[i].text, text))
            return;
    vec_push(p->out->arena, &p->rows, ((Row){line, p->rows.n, class, badge, text}));
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

static int by_known(const void *a, const void *b)
{
    const AccessNote *const *x = a, *const *y = b;
    return (*x)->known != (*y)->known ? ((*x)->known > (*y)->known ? -1 : 1)
           : (*x)->buf->id != (*y)->buf->id ? ((*x)->buf->id < (*y)->buf->id ? -1 : 1)
                                            : (*x)->how - (*y)->how;
}

static void put_accesses(Proofs *p)
{
    Arena *a = p->out->arena;
    int total = p->k->accesses.n, n = 0;
    const AccessNote **list = NEWN(a, const AccessNote *, total + 1);

    for (int i = 0; i < total; i++)
        if (is_own(p, p->k->accesses.at[i].buf) && p->k->accesses.at[i].at.src)
            list[n++] = &p->k->accesses.at[i];
    qsort(list, (size_t)n, sizeof *list, by_known);
    for (int i = 0; i < n; i++) {
        const char *word = known_words[list[i]->known];
        p->count[list[i]->known]++;
        put_row(p, list[i]->at.line, word, word, access_text(p, list[i]));
        if (list[i]->known == ACCESS_GUARDED)
            put_row(p, list[i]->at.line, "note", "cost",
                    arena_printf(a, "the guard of '%s': %s", list[i]->buf->name,
                                 guard_cost(p->k, p->without, list[i])));
    }
}

/* ---- loops ----------------------------------------------------------------------------------- */

static void put_loops(Proofs *p)
{
    static const char *const class[] = {"proved", "clipped", "guarded"};

    for (int i = 0; i < p->k->loop_notes.n; i++) {
        const LoopNote *n = &p->k->loop_notes.at[i];
        p->shape[n->how]++;
        put_row(p, n->at.line, class[n->how], shape_words[n->how], n->text);
    }
}

/* ---- shared memory --------------------------------------------------------------------------- */

static const char *pair_text(Arena *a, const OrderNote *n)
{
    const char *did = n->wrote ? "wrote" : "read", *does = n->writes ? "written" : "read";
    const char *first = n->first == n->buf
                            ? "it" : arena_printf(a, "'%s', whose bytes it has", n->first->name);
    const char *when = n->at == n->after
                           ? arena_printf(a, "this line %s %s", did, first)
                           : arena_printf(a, "line %d %s %s", (int)n->after, did, first);
    const char *how = n->how == ORDER_BARRIER   ? "ordered by "
                      : n->how == ORDER_UNKNOWN ? "not shown, "
                                                : "";

    return arena_printf(a, "'%s' is %s after %s: %s%s%s", n->buf->name, does, when, how, n->by,
                        n->how == ORDER_UNKNOWN ? " (tl verify --sim looks for races)" : "");
}

static bool same_second(const OrderNote *a, const OrderNote *b)
{
    return a->at == b->at && a->buf == b->buf && a->writes == b->writes;
}

/* How many pairs of the same second access have a first one that is nearer. */
static int nearer(const Proofs *p, int i)
{
    const OrderNote *n = &p->k->order_notes.at[i];
    int count = 0;

    for (int j = i + 1; j < p->k->order_notes.n && count <= PAIRS_MOST; j++)
        count += same_second(n, &p->k->order_notes.at[j]);
    return count;
}

/* Of an access with many before it the nearest are shown, and all that are in no order. */
static void put_others(Proofs *p, int i)
{
    const OrderNote *n = &p->k->order_notes.at[i];
    int count = 0;

    for (int j = 0; j < i; j++)
        count += same_second(n, &p->k->order_notes.at[j]) && nearer(p, j) >= PAIRS_MOST &&
                 p->k->order_notes.at[j].how != ORDER_UNKNOWN;
    if (nearer(p, i) == 0 && count)
        put_row(p, n->at, "proved", "ordered",
                arena_printf(p->out->arena, "'%s' is %s after %d earlier accesses, too: all of "
                             "them are ordered or apart", n->buf->name,
                             n->writes ? "written" : "read", count));
}

static void put_pairs(Proofs *p)
{
    static const char *const badge[] = {"stage", "apart", "ordered", "ordered", "not shown"};

    for (int i = 0; i < p->k->order_notes.n; i++) {
        const OrderNote *n = &p->k->order_notes.at[i];
        p->order[n->how]++;
        if (n->how == ORDER_UNKNOWN || nearer(p, i) < PAIRS_MOST)
            put_row(p, n->at, n->how == ORDER_UNKNOWN ? "assumed" : "proved", badge[n->how],
                    pair_text(p->out->arena, n));
        put_others(p, i);
    }
}

/* ---- printing -------------------------------------------------------------------------------- */

static int by_line(const void *a, const void *b)
{
    const Row *x = a, *y = b;
    return x->line != y->line ? (x->line < y->line ? -1 : 1) : x->turn - y->turn;
}

static void put_counts(Str *s, const int *count, const char *const *word, int n)
{
    for (int i = 0; i < n; i++)
        if (count[i])
            str_printf(s, ", %d %s", count[i], word[i]);
}

static int sum_of(const int *count, int n)
{
    int total = 0;

    for (int i = 0; i < n; i++)
        total += count[i];
    return total;
}

static const char *summary(const Proofs *p)
{
    static const char *const ordered[] = {"of different stages", "by no two threads",
                                          "by one thread", "by barriers", "not shown"};
    Str s;

    str_init(&s, p->out->arena);
    str_printf(&s, "kernel %s: %d accesses of its tensors and tiles", p->k->name,
               sum_of(p->count, COUNT(known_words)));
    put_counts(&s, p->count, known_words, COUNT(known_words));
    int loops = sum_of(p->shape, SHAPES), pairs = sum_of(p->order, ORDERS);
    str_printf(&s, "; %d loop%s", loops, loops == 1 ? "" : "s");
    put_counts(&s, p->shape, shape_words, SHAPES);
    str_printf(&s, "; %d pair%s in shared memory", pairs, pairs == 1 ? "" : "s");
    put_counts(&s, p->order, ordered, ORDERS);
    if (p->k->order_cut)
        str_puts(&s, " (of long loops not every iteration was looked at)");
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
    "h2{font-size:1.15rem}pre{margin:0;font:13px/1.5 ui-monospace,monospace;white-space:pre-wrap}"
    "pre b{color:var(--s);font-weight:400;user-select:none}"
    "p{margin:.1rem 0 .1rem 3.2rem;font-size:13px;color:var(--s)}"
    "p i{font-style:normal;border-radius:4px;padding:0 .4em;color:#fff;margin-right:.5em}"
    ".proved i{background:#2a7d32}.clipped i{background:#0b57d0}.guarded i{background:#9a5b00}"
    ".note i{background:#5b6570}.assumed i{background:#a626a4}.wrong i{background:#c62828}"
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
            str_printf(out, "<p class=\"%s\"><i>%s</i>", r->class, r->badge);
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

static const Kernel *kernel_without(const Func *f, const Kernel *k)
{
    for (int i = 0; f->unguarded && i < f->unguarded->kernels.n; i++)
        if (!strcmp(f->unguarded->kernels.at[i]->name, k->name))
            return f->unguarded->kernels.at[i];
    return NULL;
}

void print_proofs(Str *out, Func *f, const char *source)
{
    if (source)
        str_puts(out, page_head);
    for (int i = 0; i < f->kernels.n; i++) {
        Proofs p = {.out = out, .k = f->kernels.at[i]};
        p.without = kernel_without(f, p.k);
        put_accesses(&p);
        put_loops(&p);
        put_pairs(&p);
        qsort(p.rows.at, (size_t)p.rows.n, sizeof *p.rows.at, by_line);
        source ? put_page(&p, source) : put_text(&p);
    }
    if (source)
        str_puts(out, "</body></html>\n");
}
