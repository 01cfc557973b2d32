/* run.c -- the functions of tilelang.h that run kernels and handle tensors. */
#include <stdlib.h>
#include "api/public.h"

enum { ROOM = 256, TEXT_BYTES = 480 };

/* ---- arguments ------------------------------------------------------------------------------- */

/* Working memory of one call: on the stack for ordinary kernels. */
typedef struct {
    tl_kernel *k;
    const tl_tensor *tensors;
    tl_tensor *fill; /* the same, when shapes are to be filled in */
    int n;
    const tl_define *dims;
    int ndim;
    bool simulate;
    Timing how;      /* on a CPU only warmup and reps of it */
    double *seconds; /* one per repetition; NULL: run once */
    double result;
    Amount work;       /* to be counted */
    uint64_t seed;
    SimStats *stats;
    const SimStats *banks;
    SimTimes *times;
    ProfileTexts profile;
    const tl_debugger *debugger;
    SimDebugger watch;
    bool (*go_on)(void *);
    bool overlaps; /* nothing was done: the call is for another kernel */
    const char *answer;
    char text[TEXT_BYTES];
} RunCall;

static DType parse_dtype(const char *name, const char *param)
{
    DType t;
    int lanes;

    if (!name || !dtype_parse(name, &t, &lanes) || lanes != 1)
        recover_throw(STATUS_USER, "argument '%s': no dtype is called '%s' [argument-dtype]", param,
                      name ? name : "(null)");
    return t;
}

static Value1 scalar_of(const Param *p, const tl_tensor *t, DType type)
{
    Value1 v = {0};
    if (!t->data)
        recover_throw(STATUS_USER, "argument '%s' has no value: its data is NULL [argument-null]",
                      p->name);
    num_load(type, t->data, 0, &v.f, &v.i);
    return v;
}

SimArg one_argument(const tl_kernel *k, int i, const tl_tensor *t)
{
    const Func *f = k->build.tile;
    const Param *p = &f->params.at[i];
    SimArg a = {0};

    a.type = parse_dtype(t->dtype, p->name);
    if (t->rank < 0 || t->rank > TL_RANK)
        recover_throw(STATUS_USER,
                      "argument '%s' has %d dimensions; the most is %d [argument-rank]", p->name,
                      t->rank, TL_RANK);
    if (p->var && t->rank == 0) {
        a.scalar = scalar_of(p, t, a.type);
        return a;
    }
    if (p->var)
        recover_throw(STATUS_USER, "argument '%s' is a scalar, not a tensor [argument-rank]",
                      p->name);
    a.rank = t->rank;
    a.data = t->data;
    memcpy(a.shape, t->shape, sizeof a.shape);
    memcpy(a.stride, t->stride, sizeof a.stride);
    if (arg_is_absent(&a) && k->use[i])
        recover_throw(STATUS_USER, "argument '%s' is absent, and '%s' %s it [argument-null]",
                      p->name, f->name, k->use[i] & PARAM_READ ? "reads" : "writes");
    return a;
}

/* By name when every argument has one, else by position. */
static int find_argument(const RunCall *q, const Func *f, int i)
{
    for (int j = 0; j < q->n; j++)
        if (!q->tensors[j].name)
            return i;
    for (int j = 0; j < q->n; j++)
        if (!strcmp(q->tensors[j].name, f->params.at[i].name))
            return j;
    recover_throw(STATUS_USER, "'%s' needs an argument called '%s' [argument-count]", f->name,
                  f->params.at[i].name);
}

static void check_count(const RunCall *q, const Func *f)
{
    if (q->n != f->params.n)
        recover_throw(STATUS_USER, "'%s' takes %d arguments, not %d [argument-count]", f->name,
                      f->params.n, q->n);
}

static void gather(const RunCall *q, SimArg *args)
{
    Func *f = q->k->build.tile;

    check_count(q, f);
    for (int i = 0; i < f->params.n; i++)
        args[i] = one_argument(q->k, i, &q->tensors[find_argument(q, f, i)]);
}

/* ---- run ------------------------------------------------------------------------------------- */

/* What throws must not lose the kernel's lock, which is held. */
static Status load_in_turn(RunCall *q)
{
    tl_kernel *k = q->k;
    Recover r;

    k->last_holds = false;
    if (k->built.loaded)
        return STATUS_OK;
    if (recover_open(&r) == 0) {
        built_load(k, &k->built);
        recover_close(&r);
        return STATUS_OK;
    }
    snprintf(q->text, sizeof q->text, "%.*s", TEXT_BYTES - 1, r.text);
    return r.status;
}

static Status run_loaded(RunCall *q, Binding1 *b, SimArg *args)
{
    tl_kernel *k = q->k;
    Run run = {.args = args, .narg = q->n, .b = b, .use = k->use, .workers = k->workers,
               .timing = q->seconds ? &q->how : NULL, .seconds = q->seconds, .text = q->text,
               .ntext = sizeof q->text, .overlaps = &q->overlaps};
    Recover r;

    if (recover_open(&r) == 0) {
        Status s = k->built.rt->run(k->built.loaded, &run);
        recover_close(&r);
        return s;
    }
    snprintf(q->text, sizeof q->text, "%.*s", TEXT_BYTES - 1, r.text);
    return r.status;
}

typedef struct {
    const char *text;
    const Stmt *found;
} Failed;

static bool see_failed(const Stmt *s, void *arg)
{
    Failed *f = arg;
    char start[256];

    if (s->kind != ST_ASSERT || !s->span.src || f->found)
        return !f->found;
    int n = snprintf(start, sizeof start, "%s:%d: assertion failed", s->span.src->name,
                     s->span.line);
    if (n < (int)sizeof start && !strncmp(f->text, start, (size_t)n))
        f->found = s;
    return true;
}

/* The code knows file and line of an assertion; the line itself and the caret are put below. */
static void show_failed(RunCall *q)
{
    Func *f = q->k->build.tile;
    Failed at = {q->text, NULL};
    Arena *a = arena_new();
    Diag d;
    Str s;

    for (int i = 0; i < f->kernels.n; i++)
        stmt_visit(f->kernels.at[i]->body, see_failed, &at);
    stmt_visit(f->body, see_failed, &at);
    if (a && at.found) {
        diag_init(&d, a);
        diag_error(&d, at.found->span, "here [assert-failed]");
        str_init(&s, a);
        diag_render(&d, &s, false);
        const char *below = strchr(s.s, '\n');
        size_t n = strlen(q->text), room = sizeof q->text - n;
        if (below && strlen(below) < room)
            snprintf(q->text + n, room, "%.*s", (int)strlen(below) - 1, below);
    }
    arena_free(a);
}

static void run_bound(RunCall *q, Binding1 *b, SimArg *args)
{
    tl_kernel *k = q->k;
    Func *f = k->build.tile;
    /* Temporaries are one set: such runs take turns. */
    bool shares = f->workspaces.n > 0 || k->built.rt->one_at_a_time;

    gather(q, args);
    if (k->built.rt->simulates)
        recover_throw(STATUS_USER, "'%s' is run by the simulator, whose times say nothing "
                      "[not-built]", f->name);
    if (!built_runs(&k->built))
        recover_throw(STATUS_USER, "'%s' was compiled without code to run (no_build, stop_after or "
                      "target null) [not-built]", f->name);
    pthread_mutex_lock(&k->lock);
    Status s = arguments_bind(f, args, q->n, b, q->text, sizeof q->text) ? load_in_turn(q)
                                                                         : STATUS_USER;
    if (s == STATUS_OK && shares)
        s = run_loaded(q, b, args);
    pthread_mutex_unlock(&k->lock);
    if (s == STATUS_OK && !shares)
        s = run_loaded(q, b, args);
    if (q->overlaps)
        return;
    if (s == STATUS_USER)
        show_failed(q);
    if (s != STATUS_OK)
        recover_throw(s, "%s", q->text);
}

static void run_by(RunCall *q)
{
    Func *f = q->k->build.tile;
    int np = f->params.n, nv = q->k->narrow_vars, nd = f->dims.n;

    if (np + nd + nv < ROOM && np <= 32) {
        SimArg args[33];
        void *tensor[33];
        int64_t value[ROOM], by_var[ROOM];
        Binding1 b = {tensor, value, by_var};
        run_bound(q, &b, args);
        return;
    }
    Arena *a = arena_new();
    if (!a)
        recover_throw(STATUS_MEM, "out of memory");
    Recover r;
    if (recover_open(&r) == 0) {
        Binding1 b = {NEWN(a, void *, np + 1), NEWN(a, int64_t, np + nd + 1),
                      NEWN(a, int64_t, nv + 1)};
        run_bound(q, &b, NEWN(a, SimArg, np + 1));
        recover_close(&r);
    }
    arena_free(a);
    if (r.status != STATUS_OK)
        recover_throw(r.status, "%s", r.text);
}

static void run_work(void *arg)
{
    RunCall *q = arg;

    if (q->how.warmup < 0 || q->how.reps < 0)
        recover_throw(STATUS_USER, "%d runs after %d others [argument-count]", q->how.reps,
                      q->how.warmup);
    run_by(q);
    if (!q->overlaps)
        return;
    q->k = kernel_overlapping(q->k);
    q->overlaps = false;
    run_by(q);
}

tl_kernel *kernel_that_runs(tl_kernel *k, const tl_tensor *args, int narg)
{
    RunCall q = {.k = k, .tensors = args, .n = narg};
    run_work(&q);
    return q.k;
}

tl_status tl_kernel_run(tl_kernel *k, const tl_tensor *args, int narg)
{
    if (!k || (narg > 0 && !args))
        return call_null(k ? k->ctx : NULL);
    RunCall q = {.k = k, .tensors = args, .n = narg};

    if (k->built.rt->simulates)
        return tl_kernel_simulate(k, args, narg, 0);
    return protect(k->ctx, NULL, run_work, &q);
}

tl_status tl_kernel_time(tl_kernel *k, const tl_tensor *args, int narg, int warmup, int reps,
                         double *seconds)
{
    if (!k || (narg > 0 && !args) || (reps > 0 && !seconds))
        return call_null(k ? k->ctx : NULL);
    RunCall q = {.k = k,
                 .tensors = args,
                 .n = narg,
                 .how = {.warmup = warmup, .reps = reps},
                 .seconds = seconds};
    return protect(k->ctx, NULL, run_work, &q);
}

tl_status tl_kernel_measure(tl_kernel *k, const tl_tensor *args, int narg, const tl_timing *how,
                            double *seconds)
{
    if (!k || (narg > 0 && !args) || !how || !seconds)
        return call_null(k ? k->ctx : NULL);
    enum { COLD_BYTES = 160 << 20 };
    tl_timing t = TL_TIMING_INIT;

    memcpy(&t, how, how->size && how->size < sizeof t ? how->size : sizeof t);
    RunCall q = {.k = k, .tensors = args, .n = narg, .seconds = seconds};
    q.how = (Timing){.together = t.together,
                     .warmup = t.warmup,
                        .reps = t.reps,
                        .graph = t.graph,
                        .per_graph = t.per_graph,
                        .cold_bytes = t.cold ? COLD_BYTES : 0,
                        .flush = t.flush};
    return protect(k->ctx, NULL, run_work, &q);
}

/* ---- in turn: what allocates in the kernel's arena or speaks through its Diag ---------------- */

static tl_status in_turn(RunCall *q, void (*work)(void *))
{
    tl_kernel *k = q->k;
    Diag *d = &k->build.diag;

    pthread_mutex_lock(&k->lock);
    ArenaMark mark = arena_mark(k->arena);
    d->list.n = d->nerror = d->nwarning = 0;
    tl_status s = protect(k->ctx, d, work, q);
    arena_reset(k->arena, mark); /* answers are numbers: a million calls need no more memory */
    pthread_mutex_unlock(&k->lock);
    return s;
}

static void simulate(RunCall *q, Func *f)
{
    SimArg *args = NEWN(q->k->arena, SimArg, f->params.n + 1);
    SimOptions o = {.check_uninit = true, .seed = q->seed, .stats = q->stats,
                    .times = q->times, .banks = q->banks, .go_on = q->go_on,
                    .debugger = q->debugger ? &q->watch : NULL};
    Binding1 b = {NEWN(q->k->arena, void *, f->params.n + 1),
                  NEWN(q->k->arena, int64_t, f->params.n + f->dims.n + 1),
                  NEWN(q->k->arena, int64_t, q->k->narrow_vars + 1)};

    gather(q, args);
    if (!arguments_bind(f, args, q->n, &b, q->text, sizeof q->text))
        recover_throw(STATUS_USER, "%s", q->text);
    sim_run(f, args, q->n, &o);
}

/* What the simulator runs: lowered, where threads and their memory are what there is to see. */
static Func *simulated(const tl_kernel *k)
{
    bool threads = machine_has(&k->request.spec.machine, HAS_THREADS);
    return threads ? k->build.func : k->build.tile;
}

static void reference_work(void *arg)
{
    RunCall *q = arg;
    simulate(q, q->k->build.tile);
}

static void simulate_work(void *arg)
{
    RunCall *q = arg;
    simulate(q, simulated(q->k));
}

static void text_work(void *arg)
{
    RunCall *q = arg;
    SimArg *args = NEWN(q->k->arena, SimArg, q->k->build.tile->params.n + 1);

    gather(q, args);
    run_twin(q->k, args, q->n);
}

tl_status tl_kernel_run_text(tl_kernel *k, const tl_tensor *args, int narg)
{
    if (!k || (narg > 0 && !args))
        return call_null(k ? k->ctx : NULL);
    RunCall q = {.k = k, .tensors = args, .n = narg};
    return in_turn(&q, text_work);
}

tl_status tl_kernel_reference(tl_kernel *k, const tl_tensor *args, int narg)
{
    if (!k || (narg > 0 && !args))
        return call_null(k ? k->ctx : NULL);
    RunCall q = {.k = k, .tensors = args, .n = narg};
    return in_turn(&q, reference_work);
}

tl_status tl_kernel_simulate(tl_kernel *k, const tl_tensor *args, int narg, uint64_t seed)
{
    if (!k || (narg > 0 && !args))
        return call_null(k ? k->ctx : NULL);
    RunCall q = {.k = k, .tensors = args, .n = narg, .seed = seed};
    return in_turn(&q, simulate_work);
}

/* What the simulator found, with its place, shortened to the room there is. */
static void simulated_text(tl_kernel *k, char *text, size_t ntext)
{
    Recover r;
    Str s;

    if (k->build.diag.nerror == 0 || recover_open(&r) != 0)
        return;
    str_init(&s, k->arena);
    diag_render(&k->build.diag, &s, false);
    snprintf(text, ntext, "%s", s.s);
    recover_close(&r);
}

static tl_status run_as(tl_kernel *k, const tl_tensor *args, int narg, const RunHow how,
                        bool (*go_on)(void *), char *text, size_t ntext)
{
    static void (*const work[])(void *) = {run_work, simulate_work, reference_work};
    RunCall q = {.k = k, .tensors = args, .n = narg, .go_on = go_on};
    Diag *d = &k->build.diag;
    ArenaMark mark = {0};
    Recover r;

    if (how != RUN_THERE) {
        pthread_mutex_lock(&k->lock);
        mark = arena_mark(k->arena);
        d->list.n = d->nerror = d->nwarning = 0;
    }
    if (recover_open(&r) == 0) {
        work[how](&q);
        recover_close(&r);
    } else {
        snprintf(text, ntext, "%s", r.text);
    }
    if (how != RUN_THERE) {
        if (r.status != STATUS_OK)
            simulated_text(k, text, ntext);
        arena_reset(k->arena, mark);
        pthread_mutex_unlock(&k->lock);
    }
    return (tl_status)r.status;
}

tl_status kernel_run(tl_kernel *k, const tl_tensor *args, int narg, RunHow how,
                     bool (*go_on)(void *), char *text, size_t ntext)
{
    bool simulated = how == RUN_THERE && k->built.rt->simulates;
    return run_as(k, args, narg, simulated ? RUN_SIMULATED : how, go_on, text, ntext);
}

static void stats_work(void *arg)
{
    RunCall *q = arg;
    Str s;
    q->stats = stats_new(q->k->arena);
    simulate(q, simulated(q->k));
    /* What the kernel's arena holds now goes when the call ends; answers live until the next. */
    arena_reset(q->k->ctx->answer, (ArenaMark){0});
    str_init(&s, q->k->ctx->answer);
    stats_text(q->stats, &s);
    q->answer = s.s;
}

tl_status tl_kernel_sim_stats(tl_kernel *k, const tl_tensor *args, int narg, const char **text)
{
    if (!k || (narg > 0 && !args) || !text)
        return call_null(k ? k->ctx : NULL);
    RunCall q = {.k = k, .tensors = args, .n = narg};
    tl_status s = in_turn(&q, stats_work);
    *text = q.answer;
    return s;
}

/* Bytes of the caller's tensor, from the first that an element has. */
static char *tensor_bytes(const SimArg *a, size_t *n)
{
    int64_t first = 0, last = 0, packed = 1;

    if (!a->data || arg_is_absent(a))
        return NULL;
    for (int d = a->rank - 1; d >= 0; d--) {
        int64_t step = a->stride[d] ? a->stride[d] : packed, far = step * (a->shape[d] - 1);
        if (a->shape[d] <= 0)
            return NULL;
        first += MIN(far, 0);
        last += MAX(far, 0);
        packed *= a->shape[d];
    }
    int64_t from = first * dtype_bits(a->type) / 8;
    *n = (size_t)(dtype_bytes(a->type, last + 1) - from);
    return (char *)a->data + from;
}

/* A run that counts bank conflicts and leaves the caller's tensors as they were. */
static const SimStats *count_banks(RunCall *q)
{
    Arena *a = q->k->arena;
    int n = q->k->build.tile->params.n;
    SimArg *args = NEWN(a, SimArg, n + 1);
    char **kept = NEWN(a, char *, n + 1);
    size_t size;

    gather(q, args);
    for (int i = 0; i < n; i++) {
        char *at = tensor_bytes(&args[i], &size);
        kept[i] = at ? memcpy(arena_alloc(a, size), at, size) : NULL;
    }
    SimStats *counted = q->stats = stats_new(a);
    simulate(q, simulated(q->k));
    q->stats = NULL;
    for (int i = 0; i < n; i++)
        if (kept[i]) {
            char *at = tensor_bytes(&args[i], &size);
            memcpy(at, kept[i], size);
        }
    return counted;
}

static void times_work(void *arg)
{
    RunCall *q = arg;
    q->banks = machine_has(&q->k->request.spec.machine, HAS_THREADS) ? count_banks(q) : NULL;
    q->times = times_new(q->k->arena);
    simulate(q, simulated(q->k));
    arena_reset(q->k->ctx->answer, (ArenaMark){0});
    ProfileSpans s = {*times_spans(q->times), "cycles of a model", "warp",
                      {"consumer", "producer"}, 1, true, ""};
    profile_tell(q->k, &s, q->k->ctx->answer, &q->profile);
}

tl_status tl_kernel_profile_sim(tl_kernel *k, const tl_tensor *args, int narg, const char **json,
                                const char **svg, const char **table)
{
    if (!k || (narg > 0 && !args))
        return call_null(k ? k->ctx : NULL);
    RunCall q = {.k = k, .tensors = args, .n = narg};
    tl_status s = in_turn(&q, times_work);
    if (json)
        *json = q.profile.json;
    if (svg)
        *svg = q.profile.svg;
    if (table)
        *table = q.profile.table;
    return s;
}

static void debug_work(void *arg)
{
    RunCall *q = arg;
    q->watch = (SimDebugger){q->debugger->ask, q->debugger->say, q->debugger->arg, false};
    simulate(q, q->debugger->tile ? q->k->build.tile : simulated(q->k));
}

tl_status tl_kernel_debug(tl_kernel *k, const tl_tensor *args, int narg, const tl_debugger *d)
{
    if (!k || (narg > 0 && !args) || !d || !d->ask || !d->say)
        return call_null(k ? k->ctx : NULL);
    RunCall q = {.k = k, .tensors = args, .n = narg, .debugger = d};
    tl_status s = in_turn(&q, debug_work);
    return q.watch.quit ? TL_OK : s;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static void take_dims(RunCall *q, int64_t *by_var, bool *known)
{
    Func *f = q->k->build.tile;

    for (int i = 0; i < q->ndim; i++)
        if (!q->dims[i].name || !q->dims[i].value)
            recover_throw(STATUS_USER, "a dimension without name or value [argument-null]");
    for (int i = 0; i < q->ndim; i++)
        for (int j = 0; j < f->dims.n; j++)
            if (!strcmp(f->dims.at[j]->name, q->dims[i].name)) {
                char *end;
                by_var[f->dims.at[j]->id] = strtoll(q->dims[i].value, &end, 10);
                known[j] = end != q->dims[i].value && *end == 0;
                if (!known[j])
                    recover_throw(STATUS_USER, "the dimension '%s' is a whole number, not '%s' "
                                  "[dim-value]", q->dims[i].name, q->dims[i].value);
            }
}

/* Solve from what is given; a tensor without data takes its shape from the parameter. */
static void solve_work(void *arg)
{
    RunCall *q = arg;
    tl_kernel *k = q->k;
    Func *f = k->build.tile;
    SimArg *args = NEWN(k->arena, SimArg, f->params.n + 1);
    bool *given = NEWN(k->arena, bool, f->params.n + 1),
         *known = NEWN(k->arena, bool, f->dims.n + 1);
    int64_t *by_var = NEWN(k->arena, int64_t, k->narrow_vars + 1);

    check_count(q, f);
    for (int i = 0; i < f->params.n; i++) {
        const Param *p = &f->params.at[i];
        const tl_tensor *t = &q->tensors[i];
        given[i] = t->data != NULL && !(q->simulate && p->out);
        if (given[i])
            args[i] = one_argument(q->k, i, t);
    }
    take_dims(q, by_var, known);
    if (!arguments_solve(f, args, q->n, given, by_var, known, q->text, sizeof q->text))
        recover_throw(STATUS_USER, "%s", q->text);
    for (int i = 0; i < f->params.n; i++) {
        tl_tensor *t = &q->fill[i];
        if (given[i])
            continue;
        t->name = t->name ? t->name : f->params.at[i].name;
        t->dtype = dtype_name(args[i].type);
        t->rank = args[i].rank;
        memcpy(t->shape, args[i].shape, sizeof t->shape);
        memcpy(t->stride, args[i].stride, sizeof t->stride);
    }
}

tl_status tl_kernel_solve(tl_kernel *k, const tl_define *dims, int ndim, tl_tensor *args, int narg)
{
    if (!k || (narg > 0 && !args) || (ndim > 0 && !dims))
        return call_null(k ? k->ctx : NULL);
    RunCall q = {.k = k, .tensors = args, .fill = args, .n = narg, .dims = dims, .ndim = ndim};
    return in_turn(&q, solve_work);
}

tl_status tl_kernel_shapes(tl_kernel *k, tl_tensor *args, int narg)
{
    if (!k || (narg > 0 && !args))
        return call_null(k ? k->ctx : NULL);
    RunCall q = {.k = k, .tensors = args, .fill = args, .n = narg, .simulate = true};
    return in_turn(&q, solve_work);
}

/* ---- operations and traffic ------------------------------------------------------------------ */

static void solve_values(RunCall *q, SimArg *args, int64_t *by_var)
{
    tl_kernel *k = q->k;
    Func *f = k->build.tile;
    bool *given = NEWN(k->arena, bool, f->params.n + 1),
         *known = NEWN(k->arena, bool, f->dims.n + 1);

    gather(q, args);
    for (int i = 0; i < f->params.n; i++)
        given[i] = true;
    if (!arguments_solve(f, args, q->n, given, by_var, known, q->text, sizeof q->text))
        recover_throw(STATUS_USER, "%s", q->text);
}

static void count_work(void *arg)
{
    RunCall *q = arg;
    tl_kernel *k = q->k;
    Func *f = k->build.tile;
    int64_t *by_var = NEWN(k->arena, int64_t, f->ir->nvar + 1);

    solve_values(q, NEWN(k->arena, SimArg, f->params.n + 1), by_var);
    q->result = func_amount(f, by_var, q->work);
}

double kernel_count(tl_kernel *k, const tl_tensor *args, int narg, Amount what)
{
    RunCall q = {.k = k, .tensors = args, .n = narg, .work = what};
    return in_turn(&q, count_work) == TL_OK ? q.result : 0;
}

double tl_kernel_flops(tl_kernel *k, const tl_tensor *args, int narg)
{
    return !k || (narg > 0 && !args) ? 0 : kernel_count(k, args, narg, AMOUNT_FLOPS);
}

double tl_kernel_bytes(tl_kernel *k, const tl_tensor *args, int narg)
{
    if (!k || (narg > 0 && !args))
        return 0;
    double total = 0;

    for (int i = 0; i < narg && i < k->build.tile->params.n; i++) {
        int64_t n = 1;
        const Param *p = &k->build.tile->params.at[i];
        if (!p->buf)
            continue;
        for (int d = 0; d < args[i].rank && d < TL_RANK; d++)
            n *= args[i].shape[d];
        int times = ((k->use[i] & PARAM_READ) != 0) + ((k->use[i] & PARAM_WRITE) != 0);
        total += (double)times * (double)dtype_bytes(p->buf->type, n);
    }
    return total;
}

double tl_kernel_tolerance(tl_kernel *k, const char *dtype)
{
    if (!k)
        return 0;
    DType t;
    int lanes;
    return dtype_parse(dtype, &t, &lanes) ? func_tolerance(k->build.tile, t) : 0;
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* Throws for what is no shape. */
static int64_t count_elements(const tl_tensor *t)
{
    int64_t n = 1;
    if (t->rank < 0 || t->rank > TL_RANK)
        recover_throw(STATUS_USER, "a tensor of %d dimensions [argument-rank]", t->rank);
    for (int d = 0; d < t->rank; d++)
        if (t->shape[d] < 0 || __builtin_mul_overflow(n, t->shape[d], &n))
            recover_throw(STATUS_USER, "a tensor with an extent of %lld [argument-shape]",
                          (long long)t->shape[d]);
    return n;
}

typedef struct {
    tl_context *c;
    const tl_tensor *got, *want;
    tl_tensor *fill;
    double atol, rtol;
    tl_difference *out;
    uint64_t seed;
} TensorCall;

static void compare_work(void *arg)
{
    TensorCall *q = arg;
    DType t = parse_dtype(q->got->dtype, "got"), u = parse_dtype(q->want->dtype, "want");
    int64_t n = count_elements(q->got);
    Difference d;

    if (t != u || n != count_elements(q->want))
        recover_throw(STATUS_USER, "tensors of different dtype or size cannot be compared "
                      "[argument-shape]");
    if (n > 0 && (!q->got->data || !q->want->data))
        recover_throw(STATUS_USER, "a tensor to compare has no memory [argument-null]");
    if (!(q->atol >= 0 && q->rtol >= 0))
        recover_throw(STATUS_USER, "a tolerance is a number from 0 on, not %g [argument-range]",
                      q->atol >= 0 ? q->rtol : q->atol);
    compare_arrays(t, q->got->data, q->want->data, n, q->atol, q->rtol, &d);
    *q->out = (tl_difference){d.max_abs, d.max_rel, d.nwrong, n, d.first_wrong};
}

tl_status tl_compare(tl_context *c, const tl_tensor *got, const tl_tensor *want, double atol,
                     double rtol, tl_difference *out)
{
    if (!c || !got || !want || !out)
        return call_null(c);
    TensorCall q = {.c = c, .got = got, .want = want, .atol = atol, .rtol = rtol, .out = out};
    return protect(c, NULL, compare_work, &q);
}

static void fill_work(void *arg)
{
    TensorCall *q = arg;
    DType t = parse_dtype(q->fill->dtype, q->fill->name ? q->fill->name : "t");
    int64_t n = count_elements(q->fill);

    if (n > 0 && !q->fill->data)
        recover_throw(STATUS_USER, "a tensor to fill has no memory [argument-null]");
    random_fill(workers_pool(context_workers(q->c, 0)), t, q->fill->data, n, q->seed);
}

tl_status tl_fill_random(tl_context *c, tl_tensor *t, uint64_t seed)
{
    if (!c || !t)
        return call_null(c);
    TensorCall q = {.c = c, .fill = t, .seed = seed};
    return protect(c, NULL, fill_work, &q);
}

double tl_tolerance(const char *dtype)
{
    DType t;
    int lanes;
    return dtype && dtype_parse(dtype, &t, &lanes) ? dtype_tolerance(t) : 0;
}

int64_t tl_dtype_bytes(const char *dtype, int64_t nelems)
{
    DType t;
    int lanes;
    if (!dtype || !dtype_parse(dtype, &t, &lanes) || lanes != 1)
        return -1;
    return nelems < 0 || nelems > INT64_MAX / dtype_bytes(t, 1) ? -1 : dtype_bytes(t, nelems);
}

double tl_value_at(const tl_tensor *t, int64_t flat)
{
    if (!t || !t->data)
        return 0;
    DType type;
    int lanes;
    double f = 0;
    int64_t i = 0, n = 1;

    for (int d = 0; d < MIN(t->rank, TL_RANK); d++)
        n = t->shape[d] < 0 || __builtin_mul_overflow(n, t->shape[d], &n) ? 0 : n;
    if (flat < 0 || flat >= n || !t->dtype || !dtype_parse(t->dtype, &type, &lanes))
        return 0;
    num_load(type, t->data, flat, &f, &i);
    return dtype_is_float(type) ? f : dtype_is_unsigned(type) ? (double)(uint64_t)i : (double)i;
}
