/* launch.c -- tl_kernel_launch: the short way to a GPU.
 *
 * The arguments of the last call are kept.  While types, shapes, strides and scalars stay the same,
 * only addresses are looked at, and one list of launches is used again. */
#include "api/public.h"

typedef struct {
    const char *dtype, *name; /* ours; name NULL: by position */
    int rank;
    int64_t shape[TL_RANK], stride[TL_RANK];
    int param;
    bool is_scalar;
    int nscalar;              /* bytes of it */
    unsigned char scalar[16];
} LastArg;

struct LastLaunch {
    int n;
    LastArg *arg;      /* as given */
    uint64_t *address; /* by parameter */
    SimArg *args;
    Binding1 bind;
};

typedef struct {
    tl_kernel *k;
    const tl_tensor *args;
    int n;
    void *stream;
    char text[480];
} LaunchCall;

/* ---- the same as last time? ------------------------------------------------------------------ */

static bool same_numbers(const int64_t *a, const int64_t *b, int n)
{
    for (int d = 0; d < n; d++)
        if (a[d] != b[d])
            return false;
    return true;
}

static bool same_argument(const LastArg *l, const tl_tensor *t)
{
    if (l->rank != t->rank || !t->dtype || strcmp(l->dtype, t->dtype) ||
        (l->name == NULL) != (t->name == NULL) || (t->name && strcmp(l->name, t->name)))
        return false;
    if (l->is_scalar)
        return t->data && memcmp(l->scalar, t->data, (size_t)l->nscalar) == 0;
    return same_numbers(l->shape, t->shape, l->rank) && same_numbers(l->stride, t->stride, l->rank);
}

static bool can_repeat(const tl_kernel *k)
{
    return k->built.loaded && k->built.rt->can_repeat(k->built.loaded);
}

static bool same_call(const LaunchCall *q)
{
    const struct LastLaunch *l = q->k->last;

    if (!l || !q->k->last_holds || l->n != q->n || !can_repeat(q->k))
        return false;
    for (int i = 0; i < q->n; i++)
        if (!same_argument(&l->arg[i], &q->args[i]))
            return false;
    return true;
}

/* ---- the first time -------------------------------------------------------------------------- */

static int param_of(const LaunchCall *q, const Func *f, int i)
{
    for (int j = 0; j < q->n; j++)
        if (!q->args[j].name)
            return i;
    for (int p = 0; p < f->params.n; p++)
        if (!strcmp(q->args[i].name, f->params.at[p].name))
            return p;
    recover_throw(STATUS_USER, "'%s' has no argument called '%s' [argument-count]", f->name,
                  q->args[i].name);
}

static void keep_argument(LaunchCall *q, LastArg *l, int i)
{
    Func *f = q->k->build.tile;
    const tl_tensor *t = &q->args[i];

    *l = (LastArg){.param = param_of(q, f, i)};
    const Param *p = &f->params.at[l->param];
    SimArg a = one_argument(q->k, l->param, t);
    q->k->last->args[l->param] = a;
    l->dtype = dtype_name(a.type);
    if (strcmp(l->dtype, t->dtype)) /* an alias, perhaps in memory that does not stay */
        l->dtype = ir_name(f->ir, t->dtype);
    l->name = t->name ? p->name : NULL;
    l->rank = t->rank;
    l->is_scalar = p->var != NULL;
    l->nscalar = l->is_scalar ? (int)MIN(dtype_bytes(a.type, 1), 16) : 0;
    if (l->is_scalar)
        memcpy(l->scalar, t->data, (size_t)l->nscalar);
    memcpy(l->shape, t->shape, sizeof l->shape);
    memcpy(l->stride, t->stride, sizeof l->stride);
}

static struct LastLaunch *make_last(tl_kernel *k)
{
    Func *f = k->build.tile;
    struct LastLaunch *l = NEW(k->arena, struct LastLaunch);

    l->arg = NEWN(k->arena, LastArg, f->params.n + 1);
    l->address = NEWN(k->arena, uint64_t, f->params.n + 1);
    l->args = NEWN(k->arena, SimArg, f->params.n + 1);
    l->bind = (Binding1){NEWN(k->arena, void *, f->params.n + 1),
                         NEWN(k->arena, int64_t, f->params.n + f->dims.n + 1),
                         NEWN(k->arena, int64_t, k->narrow_vars + 1)};
    return l;
}

static void bind_call(LaunchCall *q)
{
    tl_kernel *k = q->k;
    Func *f = k->build.tile;

    if (!k->last)
        k->last = make_last(k);
    struct LastLaunch *l = k->last;
    k->last_holds = false;
    k->last_serial++;
    if (q->n != f->params.n)
        recover_throw(STATUS_USER, "'%s' takes %d arguments, not %d [argument-count]", f->name,
                      f->params.n, q->n);
    if (!built_runs(&k->built))
        recover_throw(STATUS_USER, "'%s' was compiled without code to run (no_build, stop_after or "
                      "target null) [not-built]", f->name);
    built_load(k, &k->built);
    for (int i = 0; i < q->n; i++) {
        keep_argument(q, &l->arg[i], i);
        for (int j = 0; j < i; j++)
            if (l->arg[j].param == l->arg[i].param)
                recover_throw(STATUS_USER, "argument '%s' is given twice [argument-name]",
                              q->args[i].name);
    }
    l->n = q->n;
    if (!arguments_bind(f, l->args, q->n, &l->bind, q->text, sizeof q->text))
        recover_throw(STATUS_USER, "%s", q->text);
}

/* ---- both ------------------------------------------------------------------------------------ */

static bool take_addresses(LaunchCall *q, bool again)
{
    const Runtime *rt = q->k->built.rt;
    struct LastLaunch *l = q->k->last;

    for (int i = 0; i < q->n; i++) {
        const LastArg *a = &l->arg[i];
        uint64_t at = (uint64_t)(uintptr_t)q->args[i].data;
        if (a->is_scalar || (again && at == l->address[a->param]))
            continue;
        bool empty = false;
        for (int d = 0; d < a->rank; d++)
            empty |= a->shape[d] == 0 || a->shape[d] == TL_ABSENT;
        if (!empty &&
            !rt->takes(q->k->built.loaded, a->param, q->args[i].data, q->text, sizeof q->text))
            return false;
        l->address[a->param] = at;
    }
    return true;
}

/* Is there a tensor that wide accesses do not fit?  Text of the user's own is as it is. */
static bool starts_anywhere(const LaunchCall *q)
{
    const tl_kernel *k = q->k;
    const Func *f = k->build.tile;

    for (int i = 0; i < q->n && q->n == f->params.n && !k->own_source; i++) {
        const Param *p = &f->params.at[param_of(q, f, i)];
        if (p->buf && !p->buf->unaligned && (uintptr_t)q->args[i].data % TENSOR_ALIGN)
            return true;
    }
    return false;
}

static void launch_here(LaunchCall *q)
{
    if (starts_anywhere(q))
        q->k = kernel_unaligned(q->k);
    tl_kernel *k = q->k;
    bool again = same_call(q);

    if (!again)
        bind_call(q);
    k->last_holds = false;
    const Runtime *rt = k->built.rt;
    Loaded *l = k->built.loaded;
    void *context = rt->enter(l);
    Status s = !take_addresses(q, again) ? STATUS_USER
               : again ? rt->repeat(l, k->last->address, q->stream, q->text, sizeof q->text)
                       : rt->start(l, &k->last->bind, k->last->address, q->stream, q->text,
                                   sizeof q->text);
    rt->leave(l, context);
    k->last_holds = s == STATUS_OK;
    if (s != STATUS_OK)
        recover_throw(s, "%s", q->text);
}

static void launch_work(void *arg)
{
    launch_here(arg);
}

static void launch_begin(LaunchCall *q, tl_kernel *k, const tl_tensor *args, int narg, void *stream)
{
    q->k = k;
    q->args = args;
    q->n = narg;
    q->stream = stream;
    q->text[0] = 0;
}

tl_status tl_kernel_launch(tl_kernel *k, const tl_tensor *args, int narg, void *stream)
{
    if (!k || (narg > 0 && !args))
        return call_null(k ? k->ctx : NULL);
    LaunchCall q;

    if (!k->built.rt->start)
        return tl_kernel_run(k, args, narg);
    launch_begin(&q, k, args, narg, stream);
    pthread_mutex_lock(&k->lock);
    tl_status s = protect(k->ctx, NULL, launch_work, &q);
    pthread_mutex_unlock(&k->lock);
    return s;
}

tl_status kernel_launch(tl_kernel *k, const tl_tensor *args, int narg, void *stream,
                        uint64_t *serial, char *text, size_t ntext)
{
    LaunchCall q;
    Recover r;
    volatile tl_status s = TL_OK;

    launch_begin(&q, k, args, narg, stream);
    *serial = 0;
    pthread_mutex_lock(&k->lock);
    if (recover_open(&r) == 0) {
        launch_here(&q);
        *serial = q.k == k && can_repeat(k) ? k->last_serial : 0;
        recover_close(&r);
    } else {
        snprintf(text, ntext, "%s", r.text);
        s = (tl_status)r.status;
    }
    pthread_mutex_unlock(&k->lock);
    return s;
}

/* Launching the list again throws nothing: all of it was worked out before. */
static tl_status repeat_here(tl_kernel *k, const uint64_t *address, void *stream, char *text,
                             size_t ntext)
{
    struct LastLaunch *l = k->last;

    for (int i = 0; i < l->n; i++)
        if (!l->arg[i].is_scalar)
            l->address[l->arg[i].param] = address[i];
    const Runtime *rt = k->built.rt;
    void *context = rt->enter(k->built.loaded);
    Status s = rt->repeat(k->built.loaded, l->address, stream, text, ntext);
    rt->leave(k->built.loaded, context);
    k->last_holds = s == STATUS_OK;
    return (tl_status)s;
}

bool kernel_repeat(tl_kernel *k, uint64_t serial, const uint64_t *address, void *stream,
                   tl_status *status, char *text, size_t ntext)
{
    if (pthread_mutex_trylock(&k->lock) != 0)
        return false;
    bool same = k->last_holds && k->last_serial == serial && can_repeat(k);
    for (int i = 0; same && i < k->last->n; i++) {
        const LastArg *a = &k->last->arg[i];
        same = a->is_scalar || address[i] == k->last->address[a->param] ||
               (address[i] && address[i] % TENSOR_ALIGN == 0);
    }
    if (same)
        *status = repeat_here(k, address, stream, text, ntext);
    pthread_mutex_unlock(&k->lock);
    return same;
}

static void load_work(void *arg)
{
    tl_kernel *k = arg;
    built_load(k, &k->built);
}

tl_status tl_kernel_load(tl_kernel *k)
{
    if (!k)
        return call_null(NULL);
    if (!k->built.rt->open)
        return TL_OK;
    pthread_mutex_lock(&k->lock);
    tl_status s = protect(k->ctx, NULL, load_work, k);
    pthread_mutex_unlock(&k->lock);
    return s;
}
