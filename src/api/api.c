/* api.c -- the functions of tilelang.h that make and look at things; run.c has those that run.
 *
 * Every entry opens one recovery frame (protect).  Messages are kept in the context, in an arena of
 * their own; what a kernel answers is kept in the kernel. */
#include <stdatomic.h>
#include "api/public.h"
#include "pass/access.h"
#include "pass/audit.h"
#include "twin/twin.h"

/* ---- one recovery frame ---------------------------------------------------------------------- */

static void say(tl_context *c, const char *text)
{
    Recover r;

    pthread_mutex_lock(&c->lock);
    c->message = "out of memory";
    arena_reset(c->said, (ArenaMark){0});
    if (recover_open(&r) == 0) {
        c->message = arena_strdup(c->said, text);
        recover_close(&r);
    }
    pthread_mutex_unlock(&c->lock);
}

static void failure_text(Str *s, const Diag *d, const Recover *r, bool color)
{
    if (d && d->nerror > 0 && r->status != STATUS_BUG)
        diag_render(d, s, color);
    else if (r->status == STATUS_BUG)
        str_printf(s, "bug: %s\nThis is a fault of tilelang %s, not of your kernel; please report "
                   "it with the kernel [internal]\n", r->text, TL_VERSION);
    else
        str_printf(s, "error: %s\n", r->text);
}

static void say_failure(tl_context *c, Diag *d, const Recover *r)
{
    Arena *a = arena_new();
    Recover inner;
    Str s;

    if (!a || recover_open(&inner) != 0) {
        say(c, "out of memory");
        arena_free(a);
        return;
    }
    str_init(&s, a);
    failure_text(&s, d, r, c->color);
    recover_close(&inner);
    say(c, s.s);
    arena_free(a);
}

tl_status protect(tl_context *c, Diag *d, void (*work)(void *arg), void *arg)
{
    Recover r;

    if (recover_open(&r) == 0) {
        work(arg);
        recover_close(&r);
        return TL_OK;
    }
    say_failure(c, d, &r);
    return (tl_status)r.status;
}

tl_status call_null(tl_context *c)
{
    if (c)
        say(c, "a pointer that the call needs is NULL [argument-null]");
    return TL_EUSER;
}

/* ---- contexts -------------------------------------------------------------------------------- */

tl_context *tl_open(void)
{
    Arena *a = arena_new();
    Recover r;

    if (!a)
        return NULL;
    tl_context *volatile c = NULL;
    if (recover_open(&r) == 0) {
        c = NEW(a, tl_context);
        c->arena = a;
        c->users = 1;
        c->answer = arena_new();
        c->said = arena_new();
        c->names = names_new();
        c->message = "";
        recover_close(&r);
    }
    if (!c || !c->answer || !c->said || !c->names) {
        arena_free(c ? c->answer : NULL);
        arena_free(c ? c->said : NULL);
        arena_free(a);
        return NULL;
    }
    c->fork = (ForkLock){.lock = &c->lock, .outer = true};
    fork_lock_open(&c->fork);
    return c;
}

static void context_leave(tl_context *c)
{
    if (atomic_fetch_sub(&c->users, 1) != 1)
        return;
    for (int i = 0; i < c->npool; i++)
        workers_free(c->pools[i].workers);
    fork_lock_close(&c->fork);
    names_free(c->names);
    arena_free(c->answer);
    arena_free(c->said);
    arena_free(c->arena);
}

void tl_close(tl_context *c)
{
    if (c)
        context_leave(c);
}

const char *tl_message(tl_context *c)
{
    if (!c)
        return "";
    return c->message;
}

void tl_set_color(tl_context *c, bool on)
{
    if (!c)
        return;
    c->color = on;
}

const char *tl_version(void)
{
    return TL_VERSION;
}

/* ---- compile --------------------------------------------------------------------------------- */

static const char *copy_text(Arena *a, const char *s)
{
    return s ? arena_strdup(a, s) : NULL;
}

static DType dtype_of(const char *name)
{
    DType t;
    int lanes;

    if (!name || !dtype_parse(name, &t, &lanes) || lanes != 1)
        return DT_NONE;
    return t;
}

static void check_words(const char *what, const tl_define *d, int n)
{
    if (n < 0)
        recover_throw(STATUS_USER, "the number of %s is %d [argument-count]", what, n);
    for (int i = 0; i < n; i++)
        if (!d || !d[i].name || !d[i].value)
            recover_throw(STATUS_USER, "entry %d of %s has no name or no value [argument-null]", i,
                          what);
}

/* What the arrays of options claim to hold. */
static void check_options(const tl_options *o)
{
    check_words("defines", o->defines, o->ndefine);
    check_words("configs", o->configs, o->nconfig);
    if (o->ninput < 0)
        recover_throw(STATUS_USER, "the number of inputs is %d [argument-count]", o->ninput);
    if (o->ninput > 0 && !o->inputs)
        recover_throw(STATUS_USER, "%d inputs are at NULL [argument-null]", o->ninput);
    for (int i = 0; i < o->ninput; i++)
        if (o->inputs[i].rank < 0 || o->inputs[i].rank > TL_RANK)
            recover_throw(STATUS_USER, "input %d has %d dimensions; the most is %d [argument-rank]",
                          i, o->inputs[i].rank, TL_RANK);
    if (o->threads < 0)
        recover_throw(STATUS_USER, "%d worker threads; 0 stands for all cores [argument-count]",
                      o->threads);
}

static void take_defines(tl_kernel *k, const tl_options *o)
{
    NameValue *v = NEWN(k->arena, NameValue, o->ndefine + 1);

    for (int i = 0; i < o->ndefine; i++)
        v[i] = (NameValue){copy_text(k->arena, o->defines[i].name),
                           copy_text(k->arena, o->defines[i].value)};
    k->request.given = v;
    k->request.ngiven = o->ndefine;
    if (o->allow_unused)
        k->request.unused = NEWN(k->arena, bool, o->ndefine + 1);
}

static void take_inputs(tl_kernel *k, const tl_options *o)
{
    NameShape *s = NEWN(k->arena, NameShape, o->ninput + 1);

    for (int i = 0; i < o->ninput; i++) {
        const tl_tensor *t = &o->inputs[i];
        int64_t *shape = NEWN(k->arena, int64_t, TL_RANK);
        memcpy(shape, t->shape, sizeof t->shape);
        s[i] = (NameShape){.name = copy_text(k->arena, t->name), .rank = t->rank, .shape = shape,
                           .dtype = dtype_of(t->dtype)};
    }
    k->request.shapes = s;
    k->request.nshape = o->ninput;
    k->request.threads = o->threads;
}

static void take_text(tl_kernel *k, const char *file, const char *text)
{
    Request *r = &k->request;
    char *data;
    const char *why;

    r->file = file ? arena_strdup(k->arena, file) : "<string>";
    if (text) {
        r->ntext = strlen(text);
        r->text = arena_strdup(k->arena, text);
        return;
    }
    if (!file)
        recover_throw(STATUS_USER, "neither a file nor a text is given [no-source]");
    if (file_read(k->arena, file, &data, &r->ntext, &why) != STATUS_OK)
        recover_throw(file_exists(file) ? STATUS_IO : STATUS_USER, "%s", why);
    r->text = data;
}

/* The word, the last if there are several: the first names the target. */
static const char *last_word(const char *text, const char *word)
{
    const char *found = NULL;
    size_t n = strlen(word);

    for (const char *s = text + strspn(text, " "); *s; s += strcspn(s, " "), s += strspn(s, " "))
        if (strcspn(s, " ") == n && !strncmp(s, word, n))
            found = s;
    return found;
}

/* With the target as it was given, and a caret under the word that is wrong. */
NORETURN static void refuse_target(Arena *a, const char *why, const char *text, const char *bad)
{
    const char *at = text && bad ? last_word(text, bad) : NULL;
    Str tail;

    if (!at)
        recover_throw(STATUS_TARGET, "%s", why);
    str_init(&tail, a);
    for (size_t i = 1; i < strlen(bad); i++)
        str_putc(&tail, '~');
    recover_throw(STATUS_TARGET, "%s\n    target \"%s\"\n    %*s^%s", why, text,
                  (int)(at - text) + 8, "", tail.n ? tail.s : "");
}

static void take_options(tl_kernel *k, const tl_options *o)
{
    Request *r = &k->request;
    const char *why;

    check_options(o);
    if (!target_parse(k->arena, o->target, &r->spec, &why))
        refuse_target(k->arena, why, o->target, r->spec.bad);
    spec_from_device(k->ctx, k->arena, &r->spec);
    k->built.rt = runtime_find(r->spec.runtime);
    r->func = copy_text(k->arena, o->func);
    r->dump = copy_text(k->arena, o->dump);
    r->dump_dir = copy_text(k->arena, o->dump_dir);
    r->stop_after = copy_text(k->arena, o->stop_after);
    r->from = copy_text(k->arena, o->from);
    r->skip = copy_text(k->arena, o->skip);
    r->check_each = o->check_each;
    r->check_text = o->check_text;
    r->prove = o->prove;
    r->werror = o->warnings_are_errors;
    k->no_cache = o->no_cache;
    k->line_info = o->line_info;
    if (o->source) {
        char *text;
        size_t n;
        if (file_read(k->arena, o->source, &text, &n, &why) != STATUS_OK)
            recover_throw(file_exists(o->source) ? STATUS_IO : STATUS_USER, "%s", why);
        k->own_source = text;
    }
    NameValue *configs = NEWN(k->arena, NameValue, o->nconfig + 1);
    for (int i = 0; i < o->nconfig; i++)
        configs[i] = (NameValue){arena_strdup(k->arena, o->configs[i].name),
                                 arena_strdup(k->arena, o->configs[i].value)};
    r->configs = configs;
    r->nconfig = o->nconfig;
    take_defines(k, o);
    take_inputs(k, o);
}

void kernel_settle(tl_kernel *k)
{
    Func *f = k->build.tile;
    Str s;

    for (int i = 0; i < f->dims.n; i++)
        k->narrow_vars = MAX(k->narrow_vars, f->dims.at[i]->id + 1);
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].var)
            k->narrow_vars = MAX(k->narrow_vars, f->params.at[i].var->id + 1);
    k->use = NEWN(k->arena, uint8_t, f->params.n + 1);
    func_uses(f, k->use);
    str_init(&s, k->arena);
    diag_render(&k->build.diag, &s, k->ctx->color);
    k->warnings = s.s;
    for (int i = 0; k->request.unused && i < k->request.ngiven; i++)
        if (k->request.unused[i])
            vec_push(k->arena, &k->unused, k->request.given[i].name);
}

typedef struct {
    tl_kernel *k;
    const char *file, *text;
    tl_options o;
} CompileCall;

static void compile_work(void *arg)
{
    CompileCall *q = arg;
    tl_kernel *k = q->k;

    take_options(k, &q->o);
    if (!k->build.func) {
        take_text(k, q->file, q->text);
        build_open_arenas(&k->build, k->ctx->names);
    }
    compile(&k->build, &k->request);
    kernel_settle(k);
    k->workers = NULL;
    if (q->o.check_text && !q->o.stop_after)
        check_text(k);
    if (!q->o.no_build && !q->o.stop_after && k->request.spec.target->emit)
        jit(k);
    show_asked(k);
    k->workers = context_workers(k->ctx, q->o.threads);
}

tl_kernel *kernel_open(tl_context *c)
{
    Arena *a = arena_new();
    Recover r;
    tl_kernel *volatile k = NULL;

    if (!a)
        return NULL;
    if (recover_open(&r) == 0) {
        k = NEW(a, tl_kernel);
        k->arena = a;
        k->ctx = c;
        atomic_fetch_add(&c->users, 1);
        pthread_mutex_init(&k->lock, NULL);
        recover_close(&r);
    }
    if (!k)
        arena_free(a);
    return k;
}

tl_status tl_compile(tl_context *c, const char *file, const char *text, const tl_options *o,
                     tl_kernel **out)
{
    if (!c || !out)
        return call_null(c);
    CompileCall q = {.k = kernel_open(c), .file = file, .text = text};

    *out = NULL;
    if (!q.k) {
        say(c, "out of memory");
        return TL_EMEM;
    }
    if (o)
        memcpy(&q.o, o, o->size && o->size < sizeof q.o ? o->size : sizeof q.o);
    tl_status s = protect(c, &q.k->build.diag, compile_work, &q);
    if (s != TL_OK)
        tl_kernel_free(q.k);
    else
        *out = q.k;
    return s;
}

tl_kernel *kernel_begin(tl_context *c)
{
    tl_kernel *k = kernel_open(c);
    Recover r;

    if (k && recover_open(&r) == 0) {
        build_open_arenas(&k->build, c->names);
        k->build.ir = ir_new(k->build.arena, c->names, &k->build.diag, &op_words);
        k->request.file = "<python>";
        k->request.text = "";
        recover_close(&r);
        return k;
    }
    tl_kernel_free(k);
    return NULL;
}

tl_status kernel_finish(tl_kernel *k, const tl_options *o, Str *why)
{
    CompileCall q = {.k = k, .o = *o};
    Recover r;

    if (recover_open(&r) == 0) {
        compile_work(&q);
        recover_close(&r);
        return TL_OK;
    }
    Recover inner;
    if (recover_open(&inner) == 0) {
        failure_text(why, &k->build.diag, &r, false);
        recover_close(&inner);
    }
    return (tl_status)r.status;
}

void tl_kernel_free(tl_kernel *k)
{
    if (!k)
        return;
    tl_kernel_free(k->unaligned);
    tl_kernel_free(k->overlapping);
    built_free(&k->built);
    built_free(&k->twin);
    build_free(&k->build);
    pthread_mutex_destroy(&k->lock);
    tl_context *c = k->ctx;
    arena_free(k->arena);
    context_leave(c);
}

/* ---- look at it ------------------------------------------------------------------------------ */

const char *tl_kernel_name(const tl_kernel *k)
{
    if (!k)
        return "";
    return kernel_name(k);
}

int tl_kernel_nparam(const tl_kernel *k)
{
    if (!k)
        return 0;
    return k->build.tile->params.n;
}

tl_param tl_kernel_param(const tl_kernel *k, int i)
{
    tl_param r = {0};

    if (!k || i < 0 || i >= k->build.tile->params.n)
        return r;
    const Param *p = &k->build.tile->params.at[i];
    r.name = p->name;
    r.is_scalar = p->buf == NULL;
    r.dtype = dtype_name(p->buf ? p->buf->type : p->var->type);
    r.rank = p->buf ? p->buf->rank : 0;
    for (int d = 0; d < r.rank; d++)
        if (!expr_is_int(p->buf->shape[d], &r.shape[d]))
            r.shape[d] = -1;
    r.is_output = p->out;
    r.is_read = k->use[i] & PARAM_READ;
    r.is_written = k->use[i] & PARAM_WRITE;
    return r;
}

bool tl_kernel_from_cache(const tl_kernel *k)
{
    if (!k)
        return false;
    return k->built.module.from_cache;
}

bool tl_kernel_unkept(const tl_kernel *k)
{
    if (!k)
        return false;
    return k->built.module.unkept;
}

int tl_kernel_ndim(const tl_kernel *k)
{
    if (!k)
        return 0;
    return k->build.tile->dims.n;
}

const char *tl_kernel_dim(const tl_kernel *k, int i)
{
    if (!k)
        return NULL;
    return i >= 0 && i < k->build.tile->dims.n ? k->build.tile->dims.at[i]->name : NULL;
}

const char *tl_kernel_unused(const tl_kernel *k, int i)
{
    if (!k)
        return NULL;
    return i >= 0 && i < k->unused.n ? k->unused.at[i] : NULL;
}

int tl_kernel_threads(const tl_kernel *k)
{
    if (!k)
        return 0;
    return workers_size(k->workers);
}

static void kernel_text(tl_kernel *k, tl_text which, Str *out)
{
    Build *b = &k->build;

    switch (which) {
    case TL_TEXT_SOURCE:
        if (k->own_source)
            str_puts(out, k->own_source);
        else
            str_putn(out, b->source.s, b->source.n);
        break;
    case TL_TEXT_IR: print_func(out, b->func); break;
    case TL_TEXT_DUMP: str_putn(out, b->dump.s, b->dump.n); break;
    case TL_TEXT_PLANS:
        for (int i = 0; i < b->func->kernels.n; i++)
            print_plans(out, b->func->kernels.at[i]);
        if (jit_flags(k))
            str_printf(out, "flags: %s\n", jit_flags(k));
        break;
    case TL_TEXT_AUDIT:
        for (int i = 0; i < b->func->kernels.n; i++) {
            audit_body(b->func->kernels.at[i]);
            print_audit(out, b->func->kernels.at[i]);
        }
        break;
    case TL_TEXT_PROOFS:
    case TL_TEXT_PROOFS_HTML:
        print_proofs(out, b->func, which == TL_TEXT_PROOFS_HTML ? b->src.text : NULL);
        break;
    case TL_TEXT_TIME: time_text(b, out); break;
    case TL_TEXT_HEADER: bundle_header_text(k, out); break;
    case TL_TEXT_WARNINGS: str_puts(out, k->warnings); break;
    case TL_TEXT_RESOURCES: resources_text(k, out); break;
    case TL_TEXT_REPORT: str_putn(out, b->report.s, b->report.n); break;
    }
}

typedef struct {
    tl_kernel *k;
    tl_text which;
    Str out;
} TextCall;

static void text_work(void *arg)
{
    TextCall *q = arg;
    str_init(&q->out, q->k->arena);
    kernel_text(q->k, q->which, &q->out);
}

const char *tl_kernel_text(tl_kernel *k, tl_text which)
{
    if (!k)
        return "";
    TextCall q = {.k = k, .which = which};

    pthread_mutex_lock(&k->lock);
    tl_status s = protect(k->ctx, NULL, text_work, &q);
    pthread_mutex_unlock(&k->lock);
    return s == TL_OK ? q.out.s : "";
}

bool kernel_say(tl_kernel *k, tl_text which, Arena *a, Str *out)
{
    Recover r;

    pthread_mutex_lock(&k->lock);
    if (recover_open(&r) == 0) {
        str_init(out, a);
        kernel_text(k, which, out);
        recover_close(&r);
    }
    pthread_mutex_unlock(&k->lock);
    return r.status == STATUS_OK;
}

/* ---- layouts --------------------------------------------------------------------------------- */

typedef struct {
    tl_kernel *k;
    const char *buffer;
    bool svg;
    Str out;
} LayoutCall;

static const Layout *layout_of(Kernel *k, const Buffer *b)
{
    int64_t shape[RANK_MOST];
    const Layout *l = buffer_plan(k, b)->layout;

    if (l)
        return l;
    if (!buffer_static_shape(b, shape))
        recover_throw(STATUS_USER,
                      "the shape of '%s' is not known at compile time [tile-shape]", b->name);
    return layout_row_major(k->ir, b->rank, shape);
}

static void show_layout(LayoutCall *q, Kernel *k, const Buffer *b)
{
    const Layout *l = layout_of(k, b);

    if (q->svg) {
        bool shared = b->scope == MEM_SHARED;
        layout_svg(&q->out, l, b->name,
                   shared ? layout_banks(q->k->arena, l, k->machine, b->type) : NULL);
        return;
    }
    str_printf(&q->out, "%s  %s %s%s%s\n", b->name, dtype_name(b->type), mem_name(b->scope),
               l->name ? "  " : "", l->name ? l->name : "");
    layout_table(&q->out, l);
}

NORETURN static void no_such_buffer(LayoutCall *q)
{
    Func *f = q->k->build.func;
    Str s;

    str_init(&s, q->k->arena);
    for (int i = 0; i < f->kernels.n; i++)
        for (int j = 0; j < f->kernels.at[i]->buffers.n; j++)
            if (f->kernels.at[i]->buffers.at[j]->rank > 0)
                str_printf(&s, "%s%s", s.n ? ", " : "", f->kernels.at[i]->buffers.at[j]->name);
    recover_throw(STATUS_USER, "'%s' has no on-chip buffer '%s'; there %s %s [no-such-buffer]",
                  f->name, q->buffer, s.n ? "are" : "is", s.n ? s.s : "none");
}

static void layout_work(void *arg)
{
    LayoutCall *q = arg;
    Func *f = q->k->build.func;

    str_init(&q->out, q->k->arena);
    for (int i = 0; i < f->kernels.n; i++) {
        Kernel *k = f->kernels.at[i];
        for (int j = 0; j < k->buffers.n; j++)
            if (!strcmp(k->buffers.at[j]->name, q->buffer)) {
                show_layout(q, k, k->buffers.at[j]);
                return;
            }
    }
    no_such_buffer(q);
}

tl_status tl_kernel_layout(tl_kernel *k, const char *buffer, bool svg, const char **text)
{
    if (!k || !buffer || !text)
        return call_null(k ? k->ctx : NULL);
    LayoutCall q = {.k = k, .buffer = buffer, .svg = svg};

    pthread_mutex_lock(&k->lock);
    tl_status s = protect(k->ctx, NULL, layout_work, &q);
    pthread_mutex_unlock(&k->lock);
    *text = s == TL_OK ? q.out.s : NULL;
    return s;
}
