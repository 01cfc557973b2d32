/* debug.c -- tl debug: a run that stops where it is told and shows what is there.
 *
 * The simulator calls debug_see before every statement.  One thread is followed (the block, where
 * it runs as a whole); the others run as the schedule says.  A breakpoint takes the first thread
 * that comes to the line, and follows that one from then on. */
#include "sim/machine.h"

#include <ctype.h>
#include <stdlib.h>

typedef enum { GO_ON, STEP, NEXT_LINE, NEXT_TILE } Until;

enum { BREAKS = 32, LINE_BYTES = 256, SHOW_MOST = 16 };

struct SimDebug {
    SimDebugger *io;
    Until until;
    int64_t count;     /* stops still to pass */
    int line;          /* where the last stop was */
    int thread;        /* followed; -1: any */
    int64_t block[3];  /* of it */
    bool any_block;
    int breaks[BREAKS];
    int nbreak;
    int asked;         /* depth: commands of a stop do not stop */
};

struct SimDebug *debug_new(Sim *m, SimDebugger *io)
{
    struct SimDebug *d = NEW(m->keep, struct SimDebug);
    *d = (struct SimDebug){.io = io, .until = STEP, .thread = 0, .any_block = true};
    return d;
}

static void say(Sim *m, const char *fmt, ...) PRINTF(2, 3);
static void say(Sim *m, const char *fmt, ...)
{
    Str s;
    va_list ap;
    ArenaMark mark = arena_mark(m->scratch);
    str_init(&s, m->scratch);
    va_start(ap, fmt);
    str_puts(&s, arena_vprintf(m->scratch, fmt, ap));
    va_end(ap);
    m->debug->io->say(m->debug->io->arg, s.s);
    arena_reset(m->scratch, mark);
}

/* ---- where it is ----------------------------------------------------------------------------- */

static void show_place(Sim *m, const Stmt *s)
{
    Str text;
    ArenaMark mark = arena_mark(m->scratch);
    str_init(&text, m->scratch);
    print_stmt(&text, m->k->ir, s, 0);
    const SimBlock *b = m->block;
    say(m, "block (%lld, %lld, %lld)", (long long)b->at[0], (long long)b->at[1],
        (long long)b->at[2]);
    if (m->self && m->k->uses_threads)
        say(m, " thread %d", m->self->index);
    say(m, ", line %d: %.*s\n", (int)s->span.line, (int)strcspn(text.s, "\n"), text.s);
    arena_reset(m->scratch, mark);
}

static void show_source(Sim *m, const Stmt *s)
{
    const Source *src = s->span.src;
    int line = 1, at = (int)s->span.line;
    for (const char *p = src ? src->text : ""; *p; line++) {
        int n = (int)strcspn(p, "\n");
        if (line >= at - 3 && line <= at + 3)
            say(m, "%c %4d  %.*s\n", line == at ? '>' : ' ', line, n, p);
        p += n + (p[n] == '\n');
    }
}

static void show_threads(Sim *m)
{
    const SimCluster *c = m->block->cluster;
    for (int i = 0; c && i < c->nthread;) {
        const SimThread *t = c->thread[i];
        int j = i + 1;
        while (j < c->nthread && c->thread[j]->at == t->at && c->thread[j]->done == t->done &&
               c->thread[j]->block == t->block && (c->thread[j] == m->self) == (t == m->self))
            j++;
        say(m, "threads %d to %d: ", t->index, c->thread[j - 1]->index);
        if (t->done)
            say(m, "done\n");
        else if (t == m->self)
            say(m, "here\n");
        else
            say(m, "line %d\n", t->at ? (int)t->at->span.line : 0);
        i = j;
    }
}

static void show_barriers(Sim *m)
{
    bool any = false;
    for (int i = 0; i < m->k->buffers.n; i++) {
        const Buffer *b = m->k->buffers.at[i];
        const SimBarrier *bar = m->block->barrier[b->id];
        for (int64_t j = 0; bar && j < MAX(1, m->block->mem[b->id]->nelem); j++, any = true)
            say(m, "%s[%lld]: phase %lld, %lld of %lld arrivals and %lld bytes missing\n", b->name,
                (long long)j, (long long)bar[j].phase, (long long)bar[j].pending,
                (long long)bar[j].expect, (long long)bar[j].tx);
    }
    if (!any)
        say(m, "no barriers in memory\n");
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The memory of an element of a buffer in its logical shape, and where in it. */
static const SimMem *find_element(Sim *m, const Buffer *b, const int64_t *at, int64_t *i)
{
    const SimMem *mem = sim_mem(m, b);
    const Layout *l = m->k ? buffer_plan(m->k, b)->layout : NULL;
    if (m->registers && b->scope == MEM_FRAGMENT && l && layout_is_fragment(l)) {
        int64_t t = fragment_eval_thread(l, at, 0);
        const SimBlock *blk = m->block;
        if (t < kernel_launch_threads(m->k))
            mem = blk->cluster->thread[blk->rank * kernel_launch_threads(m->k) + t]->mem[b->id];
    }
    int64_t offset = 0;
    for (int d = 0; d < mem->rank; d++)
        offset += at[d] * mem->stride[d];
    *i = mem->place ? mem->place[offset] : offset;
    return mem;
}

static void put_element(Sim *m, const Buffer *b, const int64_t *at, Str *out)
{
    int64_t i;
    const SimMem *mem = find_element(m, b, at, &i);
    if (i >= mem->nelem) {
        str_puts(out, "         ?");
        return;
    }
    if (mem->init && !mem_is_init(mem, i)) {
        str_puts(out, "         .");
        return;
    }
    Value1 v = mem_read(mem, i);
    if (dtype_is_float(mem->type))
        str_printf(out, " %9.4g", v.f);
    else
        str_printf(out, " %9lld", (long long)v.i);
}

/* "[2, 0:8]" after a name: first and past the last, per dimension. */
static bool read_ranges(const char *s, int rank, const int64_t *shape, int64_t *from, int64_t *to)
{
    for (int d = 0; d < rank; d++) {
        from[d] = 0;
        to[d] = shape[d];
    }
    if (*s != '[')
        return true;
    s++;
    for (int d = 0; d < rank; d++) {
        char *end;
        from[d] = strtoll(s, &end, 10);
        to[d] = from[d] + 1;
        if (end == s)
            return false;
        if (*end == ':')
            to[d] = strtoll(end + 1, &end, 10);
        if (from[d] < 0 || to[d] > shape[d] || from[d] >= to[d])
            return false;
        s = end;
        while (*s == ' ' || *s == ',')
            s++;
    }
    return *s == ']';
}

static void show_row(Sim *m, const Buffer *b, int64_t *at, int64_t from, int64_t to)
{
    Str row;
    int last = b->rank - 1;
    ArenaMark mark = arena_mark(m->scratch);
    str_init(&row, m->scratch);
    str_putc(&row, '[');
    for (int d = 0; d < last; d++)
        str_printf(&row, "%lld, ", (long long)at[d]);
    str_printf(&row, "%lld:%lld]", (long long)from, (long long)to);
    for (int64_t j = from; j < to && j < from + SHOW_MOST; j++) {
        at[last] = j;
        put_element(m, b, at, &row);
    }
    say(m, "%s%s\n", row.s, to - from > SHOW_MOST ? " …" : "");
    arena_reset(m->scratch, mark);
}

static void show_buffer(Sim *m, const Buffer *b, const char *ranges)
{
    const SimMem *mem = sim_mem(m, b);
    int64_t from[RANK_MOST] = {0}, to[RANK_MOST], at[RANK_MOST];
    int rows = 0;
    if (b->rank == 0) {
        Value1 v = mem_read(mem, 0);
        say(m, dtype_is_float(b->type) ? "%s = %g\n" : "%s = %.0f\n", b->name,
            dtype_is_float(b->type) ? v.f : (double)v.i);
        return;
    }
    if (!read_ranges(ranges, b->rank, mem->shape, from, to)) {
        say(m, "%s has %d dimensions: %s[FROM:TO, …]\n", b->name, b->rank, b->name);
        return;
    }
    say(m, "%s: %s in %s memory\n", b->name, dtype_name(b->type), mem_name(b->scope));
    memcpy(at, from, sizeof at);
    for (;;) {
        if (rows++ == SHOW_MOST) {
            say(m, "…\n");
            return;
        }
        show_row(m, b, at, from[b->rank - 1], to[b->rank - 1]);
        int d = b->rank - 2;
        for (; d >= 0 && ++at[d] >= to[d]; d--)
            at[d] = from[d];
        if (d < 0)
            return;
    }
}

typedef struct {
    const char *name;
    const Var *found;
} Seek;

static bool seek_var(const Stmt *s, void *arg)
{
    Seek *x = arg;
    const Var *v = s->kind == ST_LET    ? s->u.let.var
                   : s->kind == ST_FOR  ? s->u.loop.var
                   : s->kind == ST_CALL ? s->u.call.bind
                                        : NULL;
    if (v && !strcmp(v->name, x->name))
        x->found = v;
    return true;
}

static void show_value(Sim *m, const char *what)
{
    char name[LINE_BYTES];
    size_t n = strcspn(what, "[ ");
    memcpy(name, what, n);
    name[n] = 0;
    for (int i = 0; i < m->k->buffers.n; i++)
        if (!strcmp(m->k->buffers.at[i]->name, name)) {
            show_buffer(m, m->k->buffers.at[i], what + n);
            return;
        }
    for (int i = 0; i < m->func->params.n; i++)
        if (m->func->params.at[i].buf && !strcmp(m->func->params.at[i].buf->name, name)) {
            show_buffer(m, m->func->params.at[i].buf, what + n);
            return;
        }
    Seek x = {name, NULL};
    stmt_visit(m->k->body, seek_var, &x);
    for (int d = 0; d < 3; d++) {
        if (m->k->block[d] && !strcmp(m->k->block[d]->name, name))
            x.found = m->k->block[d];
        if (m->k->thread[d] && !strcmp(m->k->thread[d]->name, name))
            x.found = m->k->thread[d];
    }
    if (!x.found)
        say(m, "nothing here is called '%s'\n", name);
    else if (dtype_is_float(x.found->type))
        say(m, "%s = %g\n", name, m->value[x.found->id].f);
    else
        say(m, "%s = %lld\n", name, (long long)m->value[x.found->id].i);
}

/* ---- commands -------------------------------------------------------------------------------- */

static const char help[] =
    "step [N]          the next statement of this thread\n"
    "next [N]          the next line of the source\n"
    "tile [N]          the next tile operator or instruction\n"
    "continue          to the next breakpoint, or the end\n"
    "break LINE        stop at a line; break alone lists them\n"
    "delete LINE       no more\n"
    "print NAME[…]     a variable, or a tile in its logical shape: print C_l[0:4, 0:8];\n"
    "                  a dot is an element that nobody wrote yet\n"
    "barriers          in memory: phases, arrivals and bytes that are missing\n"
    "threads           where all threads of the block are\n"
    "thread N | any    which thread to follow\n"
    "block X [Y [Z]]   and of which block\n"
    "where, list       this place; the source around it\n"
    "quit\n";

static void set_break(Sim *m, int line, bool on)
{
    struct SimDebug *d = m->debug;
    int n = 0;
    for (int i = 0; i < d->nbreak; i++)
        if (d->breaks[i] != line)
            d->breaks[n++] = d->breaks[i];
    d->nbreak = n;
    if (on && n < BREAKS)
        d->breaks[d->nbreak++] = line;
}

static void resume_until(struct SimDebug *d, Until until, const char *count)
{
    d->until = until;
    d->count = MAX(1, strtoll(count, NULL, 10)) - 1;
}

/* True when the run goes on. */
static bool obey(Sim *m, const Stmt *s, const char *word, const char *rest)
{
    struct SimDebug *d = m->debug;
    static const struct { const char *name; Until until; } moves[] = {
        {"step", STEP}, {"next", NEXT_LINE}, {"tile", NEXT_TILE}, {"continue", GO_ON}};
    size_t n = strlen(word);
    for (int i = 0; i < COUNT(moves); i++)
        if (!strncmp(moves[i].name, word, n) && (n == 1 || !strcmp(moves[i].name, word))) {
            resume_until(d, moves[i].until, rest);
            return true;
        }
    if (!strcmp(word, "break") || !strcmp(word, "b")) {
        if (*rest)
            set_break(m, atoi(rest), true);
        for (int i = 0; i < d->nbreak; i++)
            say(m, "breakpoint at line %d\n", d->breaks[i]);
    } else if (!strcmp(word, "delete") || !strcmp(word, "d")) {
        set_break(m, atoi(rest), false);
    } else if (!strcmp(word, "print") || !strcmp(word, "p")) {
        show_value(m, rest);
    } else if (!strcmp(word, "barriers")) {
        show_barriers(m);
    } else if (!strcmp(word, "threads")) {
        show_threads(m);
    } else if (!strcmp(word, "thread")) {
        d->thread = !strcmp(rest, "any") ? -1 : atoi(rest);
    } else if (!strcmp(word, "block")) {
        char *end = (char *)rest;
        for (int i = 0; i < 3; i++)
            d->block[i] = strtoll(end, &end, 10);
        d->any_block = false;
    } else if (!strcmp(word, "where") || !strcmp(word, "w")) {
        show_place(m, s);
    } else if (!strcmp(word, "list") || !strcmp(word, "l")) {
        show_source(m, s);
    } else if (!strcmp(word, "quit") || !strcmp(word, "q")) {
        d->io->quit = true;
        sim_give_up(m);
    } else {
        bool known = !*word || !strcmp(word, "help") || !strcmp(word, "h");
        say(m, "%s%s", known ? "" : "no such command\n", help);
    }
    return false;
}

static void ask(Sim *m, const Stmt *s)
{
    struct SimDebug *d = m->debug;
    char line[LINE_BYTES];
    for (;;) {
        if (!d->io->ask(d->io->arg, line, sizeof line)) {
            d->until = GO_ON;
            d->nbreak = 0;
            return;
        }
        char *word = line + strspn(line, " \t"), *end = word + strcspn(word, " \t\r\n");
        char *rest = end + strspn(end, " \t\r\n");
        *end = 0;
        rest[strcspn(rest, "\r\n")] = 0;
        for (size_t k = strlen(rest); k > 0 && isspace((unsigned char)rest[k - 1]);)
            rest[--k] = 0;
        if (obey(m, s, word, rest))
            return;
    }
}

/* ---- stopping -------------------------------------------------------------------------------- */

static bool is_followed(const Sim *m)
{
    const struct SimDebug *d = m->debug;
    if (m->self && m->k->uses_threads && d->thread >= 0 && m->self->index != d->thread)
        return false;
    return d->any_block || !memcmp(m->block->at, d->block, sizeof d->block);
}

static bool is_break(const struct SimDebug *d, const Stmt *s)
{
    for (int i = 0; i < d->nbreak; i++)
        if (d->breaks[i] == (int)s->span.line && d->line != (int)s->span.line)
            return true;
    return false;
}

static bool is_tile(const Stmt *s)
{
    return s->kind == ST_TILE || s->kind == ST_INSTR ||
           stmt_is_nest(s);
}

void debug_see(Sim *m, const Stmt *s)
{
    struct SimDebug *d = m->debug;
    if (!m->block || !m->k || s->kind == ST_BLOCK || d->io->quit || !is_followed(m))
        return;
    bool stop = is_break(d, s);
    if (!stop && d->until == GO_ON)
        stop = false;
    else if (!stop && d->until == NEXT_LINE)
        stop = (int)s->span.line != d->line;
    else if (!stop)
        stop = d->until == STEP || is_tile(s);
    if ((int)s->span.line != d->line && !stop)
        d->line = 0;
    if (!stop)
        return;
    d->line = (int)s->span.line;
    if (d->until != GO_ON && d->count > 0 && d->count-- > 0)
        return;
    if (m->self && m->k->uses_threads)
        d->thread = m->self->index;
    memcpy(d->block, m->block->at, sizeof d->block);
    d->any_block = false;
    show_place(m, s);
    ask(m, s);
}
