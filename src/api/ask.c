/* ask.c -- the functions of tilelang.h that answer questions: targets, passes, cache, machine. */
#include "api/public.h"

typedef struct {
    tl_context *c;
    tl_kernel *k;
    const char *name; /* of a thing, a file, a dtype */
    int threads;
    int64_t n;
    double number;
    tl_target_facts *facts;
    Str out;
} AskCall;

/* One answer at a time per context; it lives until the next one. */
static tl_status ask(AskCall *q, void (*work)(void *), const char **text)
{
    arena_reset(q->c->answer, (ArenaMark){0});
    str_init(&q->out, q->c->answer);
    tl_status s = protect(q->c, NULL, work, q);
    if (text)
        *text = s == TL_OK ? q->out.s : NULL;
    return s;
}

/* why: not what it says before s is known, which the order of arguments would allow. */
static void machine_failed(Status s, const char *const *why)
{
    if (s != STATUS_OK)
        recover_throw(s, "%s", *why);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void put_target(const Target *t, Str *out)
{
    const TargetOption *o;

    str_printf(out, "%s: %s\n", t->name, t->doc);
    for (int i = 0; (o = target_option(t, i)); i++)
        str_printf(out, "    %-29s %s%s\n", o->word, o->take ? "" : "ignored: ", o->doc);
}

static void targets_work(void *arg)
{
    AskCall *q = arg;
    TargetSpec here;
    const char *why;

    for (int i = 0; i < target_count; i++)
        put_target(target_table[i], &q->out);
    if (!target_parse(q->c->answer, "auto", &here, &why))
        recover_throw(STATUS_TARGET, "%s", why);
    str_printf(&q->out, "\nhere: %s", here.text);
    if (here.target->tell)
        here.target->tell(&here, &q->out);
    str_putc(&q->out, '\n');
    Compiler cc = {0};
    if (compiler_find(q->c->answer, &cc, &why) == STATUS_OK)
        str_printf(&q->out, "compiler: %s (%s)\n", cc.path, cc.version);
    else
        str_printf(&q->out, "compiler: none (%s)\n", why);
    str_puts(&q->out, "\nof each target, here:\n");
    for (int i = 0; i < target_count; i++) {
        str_printf(&q->out, "    %-10s", target_table[i]->name);
        runtime_tell(q->c, target_table[i], &q->out);
        str_putc(&q->out, '\n');
    }
}

const char *tl_targets(tl_context *c)
{
    if (!c)
        return "";
    AskCall q = {.c = c};
    const char *text;
    return ask(&q, targets_work, &text) == TL_OK ? text : "";
}

enum { TARGET_BYTES = 400 }; /* of a device's name, or why there is none */

static void facts_work(void *arg)
{
    AskCall *q = arg;
    tl_target_facts *out = q->facts;
    char *here = arena_alloc(q->c->answer, TARGET_BYTES);
    TargetSpec s;
    const Target *t;
    const TargetOption *o;
    const char *why, *name = q->name;

    if (!name)
        name = device_target(q->c, here, TARGET_BYTES) ? here : "auto";
    if (!target_parse(q->c->answer, name, &s, &why))
        recover_throw(STATUS_TARGET, "%s", why);
    out->name = name;
    t = s.target;
    for (int i = 0; (o = target_option(t, i)); i++) {
        out->archs = out->archs || !strcmp(o->word, "-arch=");
        out->stamps = out->stamps || !strcmp(o->word, "-profile");
    }
    const Runtime *rt = runtime_find(t->runtime);
    out->samples = rt->sample && !rt->emulator;
    out->device = rt->open != NULL;
}

tl_status tl_target_ask(tl_context *c, const char *target, tl_target_facts *out)
{
    tl_target_facts got = {0};
    AskCall q = {.c = c, .name = target, .facts = &got};

    if (!c || !out)
        return call_null(c);
    tl_status s = ask(&q, facts_work, NULL);
    got.size = out->size;
    memcpy(out, &got, MIN(out->size, sizeof got));
    return s;
}

static void passes_work(void *arg)
{
    AskCall *q = arg;
    for (int i = 0; i < PASS_COUNT; i++)
        str_printf(&q->out, "%3d  %-17s %s\n%23s(%s)\n", i + 1, pass_table[i].name,
                   pass_table[i].doc, "", pass_table[i].why);
}

const char *tl_passes(tl_context *c)
{
    if (!c)
        return "";
    AskCall q = {.c = c};
    const char *text;
    return ask(&q, passes_work, &text) == TL_OK ? text : "";
}

static void explain_work(void *arg)
{
    AskCall *q = arg;
    if (!explain(q->c->answer, &q->out, q->name))
        recover_throw(STATUS_USER,
                      "nothing is known of '%s': give a name of the language (copy, T.gemm), "
                      "a pass, or the tag of a message [nothing-known]",
                      q->name);
}

tl_status tl_explain(tl_context *c, const char *name, const char **text)
{
    if (!c || !name || !text)
        return call_null(c);
    AskCall q = {.c = c, .name = name};
    return ask(&q, explain_work, text);
}

/* ---- kernels of a file ----------------------------------------------------------------------- */

static const char *kind_name(FunctionKind kind)
{
    switch (kind) {
    case FN_PRIM: return "prim_func";
    case FN_MACRO: return "macro";
    case FN_JIT: return "jit";
    case FN_INLINE: return "inline";
    default: return "function";
    }
}

typedef struct {
    AskCall *q;
    Build b;
} ListCall;

static void list_build(void *arg)
{
    ListCall *l = arg;
    AskCall *q = l->q;
    char *data;
    size_t n;
    const char *why;
    FuncInfo *info;

    build_open_arenas(&l->b, q->c->names);
    machine_failed(file_read(l->b.arena, q->name, &data, &n, &why), &why);
    l->b.src = (Source){q->name, data, n};
    l->b.ir = ir_new(l->b.arena, q->c->names, &l->b.diag, &op_words);
    int count = front_list(l->b.ir, &l->b.src, &info);
    for (int i = 0; i < count; i++) {
        const char *knobs = info[i].signature ? strchr(info[i].signature, '(') : NULL;
        str_printf(&q->out, "%s %s %s\n", info[i].name, kind_name(info[i].kind),
                   knobs ? knobs : "()");
    }
}

tl_status tl_list(tl_context *c, const char *file, const char **text)
{
    if (!c || !file || !text)
        return call_null(c);
    AskCall q = {.c = c, .name = file};
    ListCall l = {.q = &q};

    arena_reset(c->answer, (ArenaMark){0});
    str_init(&q.out, c->answer);
    tl_status s = protect(c, &l.b.diag, list_build, &l);
    build_free(&l.b);
    *text = s == TL_OK ? q.out.s : NULL;
    return s;
}

/* ---- the cache ------------------------------------------------------------------------------- */

static void cache_list_work(void *arg)
{
    AskCall *q = arg;
    const char *why = "";
    machine_failed(cache_list(q->c->answer, &q->out, &why), &why);
}

tl_status tl_cache_list(tl_context *c, const char **text)
{
    if (!c || !text)
        return call_null(c);
    AskCall q = {.c = c};
    return ask(&q, cache_list_work, text);
}

static void cache_clear_work(void *arg)
{
    AskCall *q = arg;
    const char *why = "";
    machine_failed(cache_clear(q->c->answer, &q->n, &why), &why);
}

tl_status tl_cache_clear(tl_context *c, int64_t *nremoved)
{
    if (!c || !nremoved)
        return call_null(c);
    AskCall q = {.c = c};
    tl_status s = ask(&q, cache_clear_work, NULL);
    *nremoved = q.n;
    return s;
}

static void cache_why_work(void *arg)
{
    AskCall *q = arg;
    const Runtime *rt = q->k->built.rt;
    Arena *a = q->c->answer;
    int nflag;

    if (!rt->all_flags)
        recover_throw(STATUS_USER, "kernels of target %s are not kept under their text "
                      "[unsupported-here]", q->k->request.spec.target->name);
    Compiler cc = context_compiler(q->c, rt);
    ModuleSpec s = jit_spec(q->k);
    const char *const *flags = rt->all_flags(a, &cc, s.spec, s.extra, &nflag);
    CacheKey key = cache_key(a, &cc, &s, flags, nflag);
    cache_why(a, &key, &q->out);
}

tl_status tl_cache_why(tl_context *c, tl_kernel *k, const char **text)
{
    if (!c || !k || !text)
        return call_null(c);
    AskCall q = {.c = c, .k = k};
    return ask(&q, cache_why_work, text);
}

/* ---- the machine ----------------------------------------------------------------------------- */

static void peak_work(void *arg)
{
    AskCall *q = arg;
    Arena *a = q->c->answer;
    TargetSpec here;
    Compiler cc = {0};
    DType t = DT_NONE;
    int lanes;
    const char *why = "";

    if (!target_parse(a, "auto", &here, &why))
        recover_throw(STATUS_TARGET, "%s", why);
    Workers *w = context_workers(q->c, q->threads);
    if (!q->name || dtype_parse(q->name, &t, &lanes))
        machine_failed(runtime_cpu.measure(a, &cc, &here, w, t, &q->number, &why), &why);
}

double tl_cpu_peak(tl_context *c, const char *dtype, int threads)
{
    if (!c)
        return 0;
    AskCall q = {.c = c, .name = dtype, .threads = threads};
    return ask(&q, peak_work, NULL) == TL_OK ? q.number : 0;
}

double tl_cpu_stream(tl_context *c, int threads)
{
    if (!c)
        return 0;
    AskCall q = {.c = c, .threads = threads};
    return ask(&q, peak_work, NULL) == TL_OK ? q.number : 0;
}

/* ---- bundles --------------------------------------------------------------------------------- */

typedef struct {
    const tl_bundle_part *parts;
    int n;
    tl_bundle_options options;
    const char *dir;
} BundleCall;

static void bundle_work(void *arg)
{
    BundleCall *q = arg;
    bundle_write(q->parts, q->n, &q->options, q->dir);
}

/* A kernel may be several parts: it is locked once. */
static bool is_first(const tl_bundle_part *parts, int i)
{
    for (int k = 0; k < i; k++)
        if (parts[k].kernel == parts[i].kernel)
            return false;
    return true;
}

tl_status tl_bundle_write(const tl_bundle_part *parts, int npart, const tl_bundle_options *o,
                          const char *dir)
{
    tl_kernel *k = parts && npart > 0 ? parts[0].kernel : NULL;
    BundleCall q = {.parts = parts, .n = npart, .dir = dir};

    for (int i = 0; k && i < npart; i++)
        if (!parts[i].kernel || parts[i].kernel->ctx != k->ctx)
            k = NULL;
    if (!k || !dir)
        return call_null(k ? k->ctx : NULL);
    if (o)
        memcpy(&q.options, o, MIN(o->size, sizeof q.options));
    for (int i = 0; i < npart; i++)
        if (is_first(parts, i))
            pthread_mutex_lock(&parts[i].kernel->lock);
    k->build.diag.list.n = k->build.diag.nerror = k->build.diag.nwarning = 0;
    tl_status s = protect(k->ctx, &k->build.diag, bundle_work, &q);
    for (int i = npart - 1; i >= 0; i--)
        if (is_first(parts, i))
            pthread_mutex_unlock(&parts[i].kernel->lock);
    return s;
}

tl_status tl_kernel_bundle(tl_kernel *k, const char *dir, const char *levels)
{
    tl_bundle_part one = {.kernel = k};
    tl_bundle_options o = {.size = sizeof o, .levels = levels};

    return tl_bundle_write(k ? &one : NULL, 1, &o, dir);
}

static void check_work(void *arg)
{
    AskCall *q = arg;
    q->number = bundle_check(q->c->answer, q->name, &q->out);
}

tl_status tl_bundle_check(tl_context *c, const char *dir, bool *runs, const char **text)
{
    if (!c || !dir || !runs || !text)
        return call_null(c);
    AskCall q = {.c = c, .name = dir};
    tl_status s = ask(&q, check_work, text);

    *runs = s == TL_OK && q.number != 0;
    return s;
}
