/* launch.c -- the host part of a function: walked once for the values of its dimensions and
 * scalars, kept as a list of launches, and then only given addresses. */
#include <stdlib.h>
#include "rt/driver.h"

/* ---- the list -------------------------------------------------------------------------------- */

typedef enum { FIX_TENSOR, FIX_WORK, FIX_GRID, FIX_MAP_TENSOR, FIX_MAP_WORK } FixKind;

typedef struct { /* an address that goes into the block of arguments */
    FixKind kind;
    int which;   /* parameter or workspace */
    size_t at;   /* byte in the block */
    int shape;   /* of maps */
} Fix;

typedef struct {
    const Kernel *kernel;
    Handle f;
    unsigned grid[3], block[3], shared;
    int first; /* parameter */
} Launch1;

/* The lists are grown by malloc: a plan is made again when dimensions change, for as long as the
 * kernel lives. */
struct LaunchPlan {
    VEC(Launch1) launches;
    VEC(Fix) fixes;
    VEC(MapShape) shapes;
    VEC(size_t) places; /* of parameters in the block; -1 behind the last one of a launch */
    unsigned char *block;
    size_t nblock, room;
    void **params;
    int nparam;
    bool whole; /* it is all of the run: it may be launched again */
};

typedef struct {
    Loaded *m;
    const DevicePtr *tensor; /* by parameter */
    Handle stream;
    StreamMemory *memory;
    char *text;
    size_t ntext;
} GpuCall;

enum { LAUNCHES_MOST = 512 }; /* more are launched before the rest is worked out */

static bool grow(void **at, int n, int *cap, size_t size)
{
    if (n < *cap)
        return true;
    int more = *cap ? 2 * *cap : 16;
    void *p = realloc(*at, (size_t)more * size);
    if (!p)
        return false;
    *at = p;
    *cap = more;
    return true;
}

#define PUSH(vec, x)                                                                               \
    (grow((void **)&(vec)->at, (vec)->n, &(vec)->cap, sizeof *(vec)->at)                           \
         ? ((vec)->at[(vec)->n++] = (x), true)                                                     \
         : false)

void plan_free(LaunchPlan *p)
{
    if (!p)
        return;
    free(p->launches.at);
    free(p->fixes.at);
    free(p->shapes.at);
    free(p->places.at);
    free(p->block);
    free(p->params);
    free(p);
}

static void plan_clear(LaunchPlan *p)
{
    p->launches.n = p->fixes.n = p->shapes.n = p->places.n = 0;
    p->nblock = 0;
    p->whole = false;
}

static Status no_memory(GpuCall *q)
{
    snprintf(q->text, q->ntext, "out of memory");
    return STATUS_MEM;
}

static bool reserve_block(LaunchPlan *p, size_t n)
{
    if (n <= p->room)
        return true;
    size_t room = (MAX(n, 2 * p->room) + 1023) / 1024 * 1024;
    unsigned char *b = aligned_alloc(MAP_ALIGN, room);
    if (!b)
        return false;
    if (p->nblock)
        memcpy(b, p->block, p->nblock);
    free(p->block);
    p->block = b;
    p->room = room;
    return true;
}

static bool put_argument(LaunchPlan *p, const void *data, size_t n, size_t align, size_t *at)
{
    *at = (p->nblock + align - 1) / align * align;
    if (!reserve_block(p, *at + n) || !PUSH(&p->places, *at))
        return false;
    memset(p->block + *at, 0, n);
    if (data)
        memcpy(p->block + *at, data, n);
    p->nblock = *at + n;
    return true;
}

/* ---- one kernel ------------------------------------------------------------------------------ */

/* The parameter (>= 0) or the workspace (< 0) that a tensor is. */
static int tensor_index(const Func *f, const Buffer *b, bool *is_work)
{
    b = buffer_root(b);
    *is_work = false;
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].buf == b)
            return i;
    *is_work = true;
    for (int i = 0; i < f->workspaces.n; i++)
        if (f->workspaces.at[i] == b)
            return i;
    BUG(true, "'%s' is no parameter", b->name);
}

/* Little-endian, so an int64 is also each narrower integer. */
static uint64_t value_bits(const Loaded *m, const Var *v)
{
    uint64_t bits = (uint64_t)m->value[v->id];
    double d;

    if (dtype_is_float(v->type) && v->type != DT_F64) {
        memcpy(&d, &bits, sizeof d);
        float f = (float)d;
        bits = 0;
        memcpy(&bits, &f, sizeof f);
    }
    return bits;
}

static Status plan_argument(GpuCall *q, LaunchPlan *p, const KernelArg *a)
{
    Fix fix = {.kind = FIX_GRID};
    MapShape shape;
    bool work, ok;

    if (a->map) {
        fix.which = tensor_index(q->m->func, a->map->buf, &work);
        fix.kind = work ? FIX_MAP_WORK : FIX_MAP_TENSOR;
        fix.shape = p->shapes.n;
        if (!q->m->gpu->map_shape(a->map, q->m->value, &shape, q->text, q->ntext))
            return STATUS_USER;
        ok = PUSH(&p->shapes, shape) && put_argument(p, NULL, MAP_BYTES, MAP_ALIGN, &fix.at);
    } else if (a->var) {
        uint64_t bits = value_bits(q->m, a->var);
        return put_argument(p, &bits, sizeof bits, sizeof bits, &fix.at) ? STATUS_OK : no_memory(q);
    } else {
        if (a->buf) {
            fix.which = tensor_index(q->m->func, a->buf, &work);
            fix.kind = work ? FIX_WORK : FIX_TENSOR;
        }
        ok = put_argument(p, NULL, sizeof(DevicePtr), sizeof(DevicePtr), &fix.at);
    }
    return ok && PUSH(&p->fixes, fix) ? STATUS_OK : no_memory(q);
}

/* False: no blocks, nothing to launch. */
static bool plan_grid(GpuCall *q, const Kernel *k, Launch1 *l, Status *st)
{
    for (int d = 0; d < 3; d++) {
        int64_t e = d < k->ngrid ? expr_eval(k->grid[d], q->m->value) : 1;
        int64_t most = d ? GRID_YZ_MOST : INT32_MAX;
        if (e <= 0)
            return false;
        if (e > most) {
            snprintf(q->text, q->ntext,
                     "the grid of '%s' is %lld blocks in dimension %d; a GPU takes %lld "
                     "[grid-too-large]",
                     k->launch.symbol, (long long)e, d, (long long)most);
            *st = STATUS_USER;
            return false;
        }
        if (e % MAX(k->cluster[d], 1)) {
            snprintf(q->text, q->ntext,
                     "the grid of '%s' is %lld blocks in dimension %d, which clusters of %d do not "
                     "divide [grid-cluster]",
                     k->launch.symbol, (long long)e, d, k->cluster[d]);
            *st = STATUS_USER;
            return false;
        }
        l->grid[d] = (unsigned)e;
        l->block[d] = (unsigned)MAX(k->threads[d], 1);
    }
    BUG(k->extra_threads && l->block[1] * l->block[2] > 1, "a producer beside threads in 2-D");
    l->block[0] += (unsigned)k->extra_threads;
    return true;
}

static Status launch_all(GpuCall *q, LaunchPlan *p);

static Status plan_kernel(GpuCall *q, LaunchPlan *p, const Kernel *k)
{
    Func *f = q->m->func;
    Launch1 l = {.kernel = k, .shared = (unsigned)k->launch.shared_bytes, .first = p->places.n};
    Status s = STATUS_OK;

    if (!plan_grid(q, k, &l, &s))
        return s;
    for (int i = 0; i < f->kernels.n; i++)
        if (f->kernels.at[i] == k)
            l.f = q->m->kernel[i];
    for (int i = 0; i < k->launch.args.n && s == STATUS_OK; i++)
        s = plan_argument(q, p, &k->launch.args.at[i]);
    if (s == STATUS_OK && (!PUSH(&p->launches, l) || !PUSH(&p->places, (size_t)-1)))
        s = no_memory(q);
    if (s == STATUS_OK && p->launches.n >= LAUNCHES_MOST) {
        s = launch_all(q, p);
        plan_clear(p);
    }
    return s;
}

/* ---- the host's statements ------------------------------------------------------------------- */

static Status host_stmt(GpuCall *q, LaunchPlan *p, const Stmt *s);

static Status host_assert(GpuCall *q, const Stmt *s)
{
    if (expr_eval(s->u.check.cond, q->m->value))
        return STATUS_OK;
    snprintf(q->text, q->ntext, "%s:%d: assertion failed%s%s", s->span.src ? s->span.src->name : "",
             s->span.line, s->u.check.text ? ": " : "", s->u.check.text ? s->u.check.text : "");
    return STATUS_USER;
}

static Status host_for(GpuCall *q, LaunchPlan *p, const Stmt *s)
{
    int64_t min = expr_eval(s->u.loop.min, q->m->value),
            n = expr_eval(s->u.loop.extent, q->m->value);
    Status st = STATUS_OK;

    for (int64_t i = 0; i < n && st == STATUS_OK; i++) {
        q->m->value[s->u.loop.var->id] = min + i;
        st = host_stmt(q, p, s->u.loop.body);
    }
    return st;
}

static Status host_stmt(GpuCall *q, LaunchPlan *p, const Stmt *s)
{
    Status st = STATUS_OK;

    if (!s)
        return st;
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n && st == STATUS_OK; i++)
            st = host_stmt(q, p, s->u.block.list[i]);
        return st;
    case ST_LAUNCH:
        return plan_kernel(q, p, s->u.launch.kernel);
    case ST_ASSERT:
        return host_assert(q, s);
    case ST_FOR:
        return host_for(q, p, s);
    case ST_IF:
        return host_stmt(q, p, expr_eval(s->u.branch.cond, q->m->value) ? s->u.branch.then
                                                                        : s->u.branch.orelse);
    case ST_LET:
        if (!dtype_is_float(s->u.let.var->type)) {
            q->m->value[s->u.let.var->id] = expr_eval(s->u.let.value, q->m->value);
            return st;
        }
        break;
    default:
        break;
    }
    snprintf(q->text, q->ntext,
             "line %d: this statement cannot run on the host of a GPU [host-statement]",
             s->span.line);
    return STATUS_TARGET;
}

static Status host_body(GpuCall *q, LaunchPlan *p)
{
    Func *f = q->m->func;
    Status s = STATUS_OK;

    if (f->body)
        return host_stmt(q, p, f->body);
    for (int i = 0; i < f->kernels.n && s == STATUS_OK; i++)
        s = plan_kernel(q, p, f->kernels.at[i]);
    return s;
}

/* ---- temporaries ----------------------------------------------------------------------------- */

/* Zeros, in memory that stays: a captured graph may hold the old address, so that is kept too. */
static Status reserve(GpuCall *q, DeviceMemory *d, int64_t nbytes)
{
    Loaded *m = q->m;
    Gpu *g = m->gpu;
    Handle stream = NULL;

    if (nbytes <= d->nbytes)
        return STATUS_OK;
    if (d->at) {
        DevicePtr *more = realloc(m->retired, (size_t)(m->nretired + 1) * sizeof *more);
        if (!more)
            return no_memory(q);
        m->retired = more;
        m->retired[m->nretired++] = d->at;
    }
    *d = (DeviceMemory){0};
    int before = gpu_relax(g);
    int r = g->mem_alloc(&d->at, (size_t)nbytes);
    if (r == 0)
        r = g->stream_create(&stream, STREAM_NON_BLOCKING);
    if (r == 0)
        r = g->mem_set(d->at, 0, (size_t)nbytes, stream);
    if (r == 0)
        r = g->stream_wait(stream);
    if (stream)
        g->stream_destroy(stream);
    gpu_unrelax(g, before);
    if (r != 0)
        return gpu_failed(g, r, "memory on the GPU", q->text, q->ntext);
    d->nbytes = nbytes;
    return STATUS_OK;
}

static bool needs_memory(const Func *f)
{
    for (int i = 0; i < f->kernels.n; i++)
        if (f->kernels.at[i]->launch.together)
            return true;
    return f->workspaces.n > 0;
}

/* One set per stream; with more streams than sets the oldest set waits for its last run. */
static Status take_memory(GpuCall *q)
{
    Loaded *m = q->m;
    int i = 0;

    while (i < m->nstream && m->stream[i].stream != q->stream)
        i++;
    if (i == m->nstream && m->nstream < STREAMS_MOST) {
        m->nstream++;
    } else if (i == m->nstream) {
        int r = m->gpu->synchronize();
        if (r != 0)
            return gpu_failed(m->gpu, r, m->func->name, q->text, q->ntext);
        i = m->oldest++ % STREAMS_MOST;
    }
    q->memory = &m->stream[i];
    q->memory->stream = q->stream;
    Status s = reserve(q, &q->memory->grid, sizeof(uint32_t));
    for (int w = 0; w < m->func->workspaces.n && s == STATUS_OK; w++) {
        const Buffer *b = m->func->workspaces.at[w];
        int64_t n = 1;
        for (int d = 0; d < b->rank; d++)
            n *= expr_eval(b->shape[d], m->value);
        s = reserve(q, &q->memory->work[w], dtype_bytes(b->type, n) + 64);
    }
    return s;
}

/* ---- launching ------------------------------------------------------------------------------- */

static Status fill_addresses(GpuCall *q, LaunchPlan *p)
{
    Loaded *m = q->m;
    Status s = STATUS_OK;

    for (int i = 0; i < p->fixes.n && s == STATUS_OK; i++) {
        const Fix *x = &p->fixes.at[i];
        unsigned char *to = p->block + x->at;
        DevicePtr at = x->kind == FIX_TENSOR || x->kind == FIX_MAP_TENSOR ? q->tensor[x->which]
                       : x->kind == FIX_GRID                              ? q->memory->grid.at
                                             : q->memory->work[x->which].at;
        if (x->kind == FIX_MAP_TENSOR || x->kind == FIX_MAP_WORK)
            s = tensor_map(m->maps, m->gpu, &p->shapes.at[x->shape], at, to, q->text, q->ntext);
        else
            memcpy(to, &at, sizeof at);
    }
    return s;
}

static bool set_params(LaunchPlan *p)
{
    if (p->places.n > p->nparam) {
        void **more = realloc(p->params, (size_t)p->places.n * sizeof *more);
        if (!more)
            return false;
        p->params = more;
        p->nparam = p->places.n;
    }
    for (int i = 0; i < p->places.n; i++)
        p->params[i] = p->places.at[i] == (size_t)-1 ? NULL : p->block + p->places.at[i];
    return true;
}

static Status launch_list(GpuCall *q, LaunchPlan *p)
{
    Status s = fill_addresses(q, p);

    for (int i = 0; i < p->launches.n && s == STATUS_OK; i++) {
        const Launch1 *l = &p->launches.at[i];
        DeviceLaunch d = {.f = l->f, .stream = q->stream, .shared = l->shared,
                          .together = l->kernel->launch.together, .early = l->kernel->launch.pdl,
                          .params = p->params + l->first};
        memcpy(d.grid, l->grid, sizeof d.grid);
        memcpy(d.block, l->block, sizeof d.block);
        int r = q->m->gpu->launch(q->m->gpu, &d);
        if (r != 0) {
            char what[160];
            snprintf(what, sizeof what, "kernel '%.60s' (grid %u x %u x %u, %u threads, %u bytes)",
                     l->kernel->launch.symbol, l->grid[0], l->grid[1], l->grid[2],
                     l->block[0] * l->block[1] * l->block[2], l->shared);
            s = gpu_failed(q->m->gpu, r, what, q->text, q->ntext);
        }
    }
    return s;
}

static Status launch_all(GpuCall *q, LaunchPlan *p)
{
    Status s = needs_memory(q->m->func) ? take_memory(q) : STATUS_OK;

    if (s == STATUS_OK && !set_params(p))
        s = no_memory(q);
    return s == STATUS_OK ? launch_list(q, p) : s;
}

/* ---- the two entries ------------------------------------------------------------------------- */

static void set_values(Loaded *m, const Binding1 *b)
{
    Func *f = m->func;
    int n = f->dims.n;

    for (int i = 0; i < f->dims.n; i++)
        m->value[f->dims.at[i]->id] = b->value[i];
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].var)
            m->value[f->params.at[i].var->id] = b->value[n++];
}

Status gpu_start(Loaded *m, const Binding1 *b, const uint64_t *tensor, void *stream, char *text,
                 size_t ntext)
{
    GpuCall q = {.m = m, .tensor = (const DevicePtr *)tensor, .stream = stream, .text = text,
                 .ntext = ntext};

    text[0] = 0;
    if (!m->plan)
        m->plan = calloc(1, sizeof *m->plan);
    if (!m->maps)
        m->maps = map_cache_new();
    if (!m->plan || !m->maps)
        return no_memory(&q);
    LaunchPlan *p = m->plan;
    plan_clear(p);
    set_values(m, b);
    p->whole = true; /* until a full list is launched and forgotten */
    Status s = host_body(&q, p);
    bool whole = p->whole;
    if (s == STATUS_OK)
        s = launch_all(&q, p);
    p->whole = whole && s == STATUS_OK;
    return s;
}

bool gpu_can_repeat(const Loaded *m)
{
    return m && m->plan && m->plan->whole;
}

Status gpu_repeat(Loaded *m, const uint64_t *tensor, void *stream, char *text, size_t ntext)
{
    GpuCall q = {.m = m, .tensor = (const DevicePtr *)tensor, .stream = stream, .text = text,
                 .ntext = ntext};

    text[0] = 0;
    if (needs_memory(m->func)) {
        Status s = take_memory(&q);
        if (s != STATUS_OK)
            return s;
    }
    return launch_list(&q, m->plan);
}
