/* mutate.c -- does the simulator notice?  Every site of lowered kernels is broken, one at a time.
 *
 * Usage: mutate [-s] [-v] [-k KIND] LIST
 * LIST has one kernel per line: ARCH FILE[:FUNC] NAME=VALUE …; lines after "# full" are left out
 * with -s.  Each kernel is lowered and simulated as it is, which must be clean; then once for every
 * site of every kind of kinds[] with that site changed.  A mutant is killed when the simulator
 * stops with a message or an output differs.  -v prints what each was killed by.
 * A wait for a fresh mbarrier, an arrival that nobody waits for and a fence of registers that an
 * earlier fence settled do nothing in that run: such sites are idle, counted apart, not broken.  LIST may have lines
 *     redundant KIND | ARCH FILE[:FUNC] | TEXT | why
 * for survivors that are explained: TEXT is part of the statement.  "unmodelled: …" is a fault that only
 * hardware shows, counted with the idle ones.
 * Where a barrier or a wait for copies is gone and the simulator tells, `tl prove` must not call all
 * pairs of accesses of shared memory ordered.
 * Fails when a kernel is not clean, when fewer than 98 of 100 mutants are killed, and, without -s,
 * when a survivor is not explained or a kind has fewer than 15 sites. */
#include <stdio.h>
#include <string.h>
#include "api/public.h"
#include "pass/access.h"

enum { WORDS = 32, SCHEDULES = 3, ENOUGH = 15, PERCENT = 98 };
static const uint64_t steps = 40 * 1000 * 1000;

/* ---- mutations ------------------------------------------------------------------------------- */

/* The statement with the site in it broken: another one, NULL for none, itself when it is no site. */
typedef const Stmt *BreakFn(Ir *ir, const Stmt *s);

static bool is_call(const Stmt *s, Intrin which)
{
    return s->kind == ST_CALL && s->u.call.which == which;
}

static const Stmt *without(const Stmt *s, bool site)
{
    return site ? NULL : s;
}

static const Stmt *with_arg(Ir *ir, const Stmt *s, const Expr *first)
{
    const Expr **arg = NEWN(ir->arena, const Expr *, s->u.call.n + 1);
    for (int i = 1; i < s->u.call.n; i++)
        arg[i] = s->u.call.arg[i];
    arg[0] = first;
    return stmt_call(ir, s->span, s->u.call.which, s->u.call.n, arg, s->u.call.nregion,
                     s->u.call.region, s->u.call.text, s->u.call.bind);
}

static const Stmt *no_barrier(Ir *ir, const Stmt *s)
{
    (void)ir;
    return without(s, is_call(s, INTRIN_SYNC_THREADS));
}

static const Stmt *no_wait(Ir *ir, const Stmt *s)
{
    (void)ir;
    return without(s, is_call(s, INTRIN_WAIT_PHASE));
}

static const Stmt *no_arrive(Ir *ir, const Stmt *s)
{
    (void)ir;
    return without(s, is_call(s, INTRIN_ARRIVE) || is_call(s, INTRIN_ARRIVE_BYTES) ||
                          is_call(s, INTRIN_ARRIVE_COPIES));
}

static const Stmt *other_bytes(Ir *ir, const Stmt *s)
{
    if (!is_call(s, INTRIN_EXPECT_BYTES) && !is_call(s, INTRIN_ARRIVE_BYTES))
        return s;
    return with_arg(ir, s, expr_sub(ir, s->u.call.arg[0], expr_int(ir, 16)));
}

static const Stmt *other_parity(Ir *ir, const Stmt *s)
{
    if (!is_call(s, INTRIN_WAIT_PHASE))
        return s;
    const Expr *p = s->u.call.arg[0];
    return with_arg(ir, s, expr_binary(ir, EX_BITXOR, p, expr_const(ir, p->type, 1)));
}

static const Stmt *no_product_fence(Ir *ir, const Stmt *s)
{
    (void)ir;
    return without(s, is_call(s, INTRIN_SETTLE));
}

static const Stmt *one_more_group(Ir *ir, const Stmt *s)
{
    if (!is_call(s, INTRIN_WAIT_COPIES) && !is_call(s, INTRIN_WAIT_MMA))
        return s;
    return with_arg(ir, s, expr_add(ir, s->u.call.arg[0], expr_int(ir, 1)));
}

static const Stmt *no_copy_wait(Ir *ir, const Stmt *s)
{
    (void)ir;
    return without(s, is_call(s, INTRIN_WAIT_COPIES));
}

static const Stmt *no_proxy_fence(Ir *ir, const Stmt *s)
{
    (void)ir;
    return without(s, is_call(s, INTRIN_FENCE_PROXY));
}

static const Stmt *no_product_wait(Ir *ir, const Stmt *s)
{
    (void)ir;
    return without(s, is_call(s, INTRIN_WAIT_MMA));
}

static const Stmt *no_commit(Ir *ir, const Stmt *s)
{
    (void)ir;
    return without(s, is_call(s, INTRIN_COMMIT_COPIES) || is_call(s, INTRIN_COMMIT_MMA) ||
                          is_call(s, INTRIN_COMMIT_STORES));
}

static const Stmt *no_store_wait(Ir *ir, const Stmt *s)
{
    (void)ir;
    return without(s, is_call(s, INTRIN_WAIT_STORES));
}

static const Stmt *no_cluster_barrier(Ir *ir, const Stmt *s)
{
    (void)ir;
    return without(s, is_call(s, INTRIN_CLUSTER_SYNC));
}

/* A load for several blocks that one of them does not get. */
static const Stmt *other_mask(Ir *ir, const Stmt *s)
{
    if (s->kind != ST_INSTR || s->u.instr.narg != 1 ||
        strcmp(isa_name(s->u.instr.isa), "tma.load"))
        return s;
    const Expr *fewer = expr_binary(ir, EX_BITAND, s->u.instr.arg[0], expr_int(ir, ~1));
    return stmt_instr(ir, s->span, s->u.instr.isa, s->u.instr.nregion, s->u.instr.region, 1, &fewer,
                      s->u.instr.tile);
}

/* A guard on bounds compares; one that picks a writer among threads that hold the same does not. */
static bool see_compare(const Expr *e, void *arg)
{
    *(bool *)arg |= e->op == EX_LT || e->op == EX_LE || e->op == EX_GT || e->op == EX_GE;
    return true;
}

static bool is_bound(const Expr *guard)
{
    bool found = false;
    if (guard)
        expr_visit(guard, see_compare, &found);
    return found;
}

static const Expr *unguarded(Ir *ir, const Expr *e, void *arg)
{
    if (e->op != EX_LOAD || !e->guarded || e->u.buf->scope != MEM_GLOBAL)
        return e;
    *(bool *)arg = true;
    return expr_load(ir, e->u.buf, e->kid, expr_nindex(e));
}

static const Expr *unguard_all(Ir *ir, const Expr *e, void *arg)
{
    return expr_map(ir, e, unguarded, arg);
}

static const Stmt *no_guard(Ir *ir, const Stmt *s)
{
    bool found = false;
    if (s->kind == ST_STORE && is_bound(s->u.store.guard) &&
        s->u.store.buf->scope == MEM_GLOBAL) {
        Stmt *c = NEW(ir->arena, Stmt);
        *c = *s;
        c->u.store.guard = NULL;
        return c;
    }
    if (s->kind != ST_STORE && s->kind != ST_LET)
        return s;
    const Stmt *c = stmt_map_expr(ir, s, unguard_all, &found);
    return found ? c : s;
}

static const struct {
    const char *name;
    BreakFn *fn;
    bool must;   /* one of the kinds that count, and must have enough sites */
    bool idle;   /* a site may do nothing */
    bool orders; /* accesses of shared memory, nothing else */
} kinds[] = {
    {"barrier", no_barrier, true, false, true},
    {"mbarrier wait", no_wait, true, true, true},
    {"arrive", no_arrive, true, true, false},
    {"expect_tx bytes", other_bytes, true, false, false},
    {"parity", other_parity, true, false, false},
    {"wgmma fence", no_product_fence, true, true, false},
    {"wait_group + 1", one_more_group, true, false, false},
    {"cp.async wait", no_copy_wait, true, false, true},
    {"proxy fence", no_proxy_fence, true, false, false},
    {"bounds guard", no_guard, true, false, false},
    {"wgmma wait", no_product_wait, false, false, false},
    {"commit", no_commit, false, false, false},
    {"bulk store wait", no_store_wait, false, false, false},
    {"cluster barrier", no_cluster_barrier, false, false, false},
    {"multicast mask", other_mask, false, false, false},
};

typedef struct {
    BreakFn *fn;
    int at, seen;
    const Stmt *site;
} Search;

static const Stmt *break_one(Ir *ir, const Stmt *s, void *arg)
{
    Search *x = arg;
    const Stmt *c = x->fn(ir, s);
    if (c == s || x->seen++ != x->at)
        return s;
    x->site = s;
    return c;
}

/* ---- runs ------------------------------------------------------------------------------------ */

typedef struct {
    bool brief, verbose;
    const char *kind;
    int sites[COUNT(kinds)], killed[COUNT(kinds)], idle[COUNT(kinds)];
    int unclean, unexplained, unordered, believed; /* seen, not seen by tl prove */
    Arena *arena;
    VEC(const char *) redundant; /* lines of the list */
    Str survivors;
} Tally;

typedef struct {
    Build *b;
    Checker *c;
    const char *what; /* the line of the list */
    Map needed;       /* waits and arrivals that do something */
    Kernel *k;        /* being broken */
    int open;         /* pairs of it that are not shown to be ordered, as it was */
} Subject;

static int open_pairs(Kernel *k)
{
    int n = 0;

    order_note(k);
    for (int i = 0; i < k->order_notes.n; i++)
        n += k->order_notes.at[i].how == ORDER_UNKNOWN;
    return n;
}

/* NULL: all as it should be; else what was found. */
static const char *run_once(Subject *q, uint64_t seed, Map *needed)
{
    Diag *d = &q->b->diag;
    Recover r;
    volatile bool ok = false;

    d->list.n = d->nerror = d->nwarning = 0;
    if (recover_open(&r) == 0) {
        ok = checker_run(q->c, seed, steps, needed);
        recover_close(&r);
    }
    if (r.status == STATUS_OK)
        return ok ? NULL : "other answers";
    return d->list.n ? d->list.at[0].text : "stopped";
}

/* A line "redundant KIND | ARCH FILE[:FUNC] | TEXT | why" of the list that is about this one. */
static const char *explanation(const Subject *q, int kind, const char *text, const Tally *t)
{
    for (int i = 0; i < t->redundant.n; i++) {
        char part[4][256];
        if (sscanf(t->redundant.at[i], "redundant %255[^|]| %255[^|]| %255[^|]| %255[^\n]", part[0],
                   part[1], part[2], part[3]) != 4)
            continue;
        for (int j = 0; j < 3; j++)
            for (size_t n = strlen(part[j]); n > 0 && part[j][n - 1] == ' ';)
                part[j][--n] = 0;
        if (!strcmp(part[0], kinds[kind].name) && !strncmp(q->what, part[1], strlen(part[1])) &&
            strstr(text, part[2]))
            return strrchr(t->redundant.at[i], '|') + 2;
    }
    return NULL;
}

static void try_site(Subject *q, int kind, const Stmt *site, Tally *t)
{
    const char *why = NULL;
    Str text;

    for (uint64_t seed = 0; seed < SCHEDULES && !why; seed++)
        why = run_once(q, seed, NULL);
    t->sites[kind]++;
    t->killed[kind] += why != NULL;
    str_init(&text, t->arena);
    print_stmt(&text, q->b->ir, site, 0);
    int n = (int)strcspn(text.s, "\n");
    const char *known = why ? NULL : explanation(q, kind, text.s, t);
    if (!why && known && !strncmp(known, "unmodelled", 10)) { /* a GPU would tell, not the simulator */
        t->sites[kind]--;
        t->idle[kind]++;
    }
    t->unexplained += !why && !known;
    if (why && kinds[kind].orders) {
        bool seen = open_pairs(q->k) > q->open;
        seen ? t->unordered++ : t->believed++;
        if (!seen)
            str_printf(&t->survivors, "tl prove believes it: %s: %s: line %d: %.*s\n    %s\n",
                       kinds[kind].name, q->what, (int)site->span.line, MIN(n, 160), text.s, why);
    }
    if (!why)
        str_printf(&t->survivors, "survived: %s: %s: line %d: %.*s\n    %s\n", kinds[kind].name,
                   q->what, (int)site->span.line, MIN(n, 160), text.s,
                   known ? known : "NOT EXPLAINED");
    if (t->verbose)
        printf("%s: %s: %.*s: %s\n", q->what, kinds[kind].name, MIN(n, 70), text.s,
               why ? why : "SURVIVED");
}

/* Of several variants of a launch one runs: breaking another shows nothing. */
static bool is_launched(Subject *q, Kernel *k)
{
    const Stmt *whole = k->body;

    if (!k->assume)
        return true;
    k->body = stmt_assert(k->ir, whole->span, expr_bool(k->ir, false), "launched");
    bool stopped = run_once(q, 0, NULL) != NULL;
    k->body = whole;
    return stopped;
}

static void break_kernel(Subject *q, Kernel *k, int kind, Tally *t)
{
    const Stmt *whole = k->body;

    q->k = k;
    q->open = kinds[kind].orders ? open_pairs(k) : 0;
    for (int at = 0;; at++) {
        Search x = {kinds[kind].fn, at, 0, NULL};
        const Stmt *body = stmt_map(k->ir, whole, break_one, &x);
        if (!x.site)
            break;
        k->body = body ? body : stmt_block(k->ir, NO_SPAN, 0, NULL);
        if (kinds[kind].idle && !map_has(&q->needed, x.site))
            t->idle[kind]++;
        else
            try_site(q, kind, x.site, t);
    }
    k->body = whole;
}

static void break_all(Subject *q, Tally *t)
{
    const char *why = NULL;
    for (uint64_t seed = 0; seed < SCHEDULES && !why; seed++)
        why = run_once(q, seed, &q->needed);
    if (why) {
        printf("not clean: %s: %s\n", q->what, why);
        t->unclean++;
        return;
    }
    for (int i = 0; i < q->b->func->kernels.n; i++) {
        Kernel *k = q->b->func->kernels.at[i];
        if (!is_launched(q, k))
            continue;
        for (int kind = 0; kind < COUNT(kinds); kind++)
            if (!t->kind || !strcmp(t->kind, kinds[kind].name))
                break_kernel(q, k, kind, t);
    }
}

/* ---- the list -------------------------------------------------------------------------------- */

static void run_line(tl_context *c, char *line, Tally *t)
{
    char *copy = arena_strdup(t->arena, line), *save = NULL;
    const char *word[WORDS];
    int n = 0;
    for (char *w = strtok_r(line, " \n", &save); w && n < WORDS; w = strtok_r(NULL, " \n", &save))
        word[n++] = w;
    copy[strcspn(copy, "\n")] = 0;
    if (n > 0 && !strcmp(word[0], "redundant"))
        vec_push(t->arena, &t->redundant, copy);
    if (n < 2 || word[0][0] == '#' || !strcmp(word[0], "redundant"))
        return;
    tl_define define[WORDS];
    tl_options o = TL_OPTIONS_INIT;
    tl_kernel *k = NULL;
    char *colon = strrchr(word[1], ':'), target[64];
    if (colon) {
        *colon = 0;
        o.func = colon + 1;
    }
    for (int i = 2; i < n; i++) {
        char *equal = strchr(word[i], '=');
        if (equal)
            *equal = 0;
        define[o.ndefine++] = (tl_define){word[i], equal ? equal + 1 : ""};
    }
    snprintf(target, sizeof target, "cuda -arch=%s", word[0]);
    o.defines = define;
    o.target = target;
    o.no_build = true;
    if (tl_compile(c, word[1], NULL, &o, &k) != TL_OK) {
        printf("not compiled: %s: %s\n", copy, tl_message(c));
        t->unclean++;
        return;
    }
    Subject q = {.b = &k->build, .what = copy};
    Recover r;
    map_init(&q.needed, t->arena);
    if (recover_open(&r) == 0) {
        q.c = checker_new(&k->build);
        break_all(&q, t);
        recover_close(&r);
    }
    if (r.status != STATUS_OK) {
        printf("not run: %s: %s\n", copy, r.text);
        t->unclean++;
    }
    tl_kernel_free(k);
}

static bool verdict(const Tally *t)
{
    int sites = 0, killed = 0, idle = 0;
    bool enough = true;
    printf("%-18s %6s %6s %9s %6s\n", "kind", "sites", "killed", "survived", "idle");
    for (int i = 0; i < COUNT(kinds); i++) {
        printf("%-18s %6d %6d %9d %6d\n", kinds[i].name, t->sites[i], t->killed[i],
               t->sites[i] - t->killed[i], t->idle[i]);
        idle += t->idle[i];
        if (kinds[i].must) {
            sites += t->sites[i];
            killed += t->killed[i];
        }
        enough &= t->brief || t->kind || !kinds[i].must || t->sites[i] >= ENOUGH;
    }
    printf("%-18s %6d %6d %9d %6d\n", "the first ten", sites, killed, sites - killed, idle);
    printf("tl prove: %d of %d missing barriers and waits leave a pair in no order\n", t->unordered,
           t->unordered + t->believed);
    fputs(t->survivors.s ? t->survivors.s : "", stdout);
    bool good = killed * 100 >= sites * PERCENT && enough && t->unclean == 0 && t->believed == 0 &&
                (t->brief || t->unexplained == 0);
    printf("%d passed, %d failed\n", killed, good ? 0 : MAX(1, sites - killed + t->unclean + t->believed));
    return good;
}

int main(int argc, char **argv)
{
    Tally t = {.arena = arena_new()};
    const char *list = NULL;
    char line[1024];
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-s"))
            t.brief = true;
        else if (!strcmp(argv[i], "-v"))
            t.verbose = true;
        else if (!strcmp(argv[i], "-k") && i + 1 < argc)
            t.kind = argv[++i];
        else
            list = argv[i];
    }
    str_init(&t.survivors, t.arena);
    FILE *f = list ? fopen(list, "r") : NULL;
    tl_context *c = tl_open();
    if (!f || !c) {
        fprintf(stderr, "usage: mutate [-s] [-v] [-k KIND] LIST\n");
        return 2;
    }
    while (fgets(line, sizeof line, f) && !(t.brief && !strncmp(line, "# full", 6)))
        run_line(c, line, &t);
    fclose(f);
    bool good = verdict(&t);
    tl_close(c);
    arena_free(t.arena);
    return !good;
}
