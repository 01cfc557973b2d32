/* device.c -- kernels on a device with memory of its own: code in the cache, modules, runs.
 *
 * The device's own context is used, which is also that of the program around us.  Tensors in host
 * memory are copied to the device and back; device pointers are used in place.  Launches are in
 * launch.c. */
#include <stdlib.h>
#include "rt/driver.h"

/* ---- the driver ------------------------------------------------------------------------------ */

const char *gpu_error(const Gpu *g, int r, char *room, size_t n)
{
    const char *text = NULL, *name = NULL;

    g->error_text(r, &text);
    g->error_name(r, &name);
    snprintf(room, n, "%s: %s", name ? name : "error", text ? text : "unknown to this driver");
    return room;
}

Status gpu_failed(const Gpu *g, int r, const char *what, char *text, size_t ntext)
{
    char room[200];

    snprintf(text, ntext, "%s: %s %s", what, gpu_error(g, r, room, sizeof room), g->tag);
    return STATUS_TOOL;
}

/* Ours for the time of a call; whoever called us gets his own back. */
static Handle gpu_enter(const Gpu *g)
{
    Handle before = NULL;

    g->context_get(&before);
    if (before != g->context)
        g->context_set(g->context);
    return before;
}

static void gpu_leave(const Gpu *g, Handle before)
{
    if (before && before != g->context)
        g->context_set(before);
}

int gpu_relax(const Gpu *g)
{
    int mode = CAPTURE_RELAXED;
    g->capture_mode(&mode);
    return mode;
}

void gpu_unrelax(const Gpu *g, int before)
{
    g->capture_mode(&before);
}

const char *gpu_name(const Gpu *g)
{
    return g->name;
}

const char *gpu_arch(const Gpu *g)
{
    return g->arch;
}

const GpuFacts *gpu_facts(const Gpu *g)
{
    return &g->facts;
}

/* ---- code: cached under the names the cache has for C ---------------------------------------- */

/* One file: the size of the binary in decimal and a newline, the binary, the assembly, then the log
 * after a zero byte. */
static void code_pack(const Module *c, Str *out)
{
    str_printf(out, "%zu\n", c->nbinary);
    str_putn(out, c->binary ? c->binary : "", c->nbinary);
    str_puts(out, c->assembly ? c->assembly : "");
    str_putn(out, "", 1);
    str_puts(out, c->log ? c->log : "");
}

static bool code_unpack(Arena *a, const char *path, Module *c)
{
    char *data, *end;
    size_t n;
    const char *why;

    if (file_read(a, path, &data, &n, &why) != STATUS_OK)
        return false;
    *c = (Module){.from_cache = true, .nbinary = (size_t)strtoull(data, &end, 10)};
    size_t head = (size_t)(end - data) + 1;
    if (*end != '\n' || head + c->nbinary > n)
        return false;
    c->binary = c->nbinary ? data + head : NULL;
    char *assembly = data + head + c->nbinary;
    const char *zero = memchr(assembly, 0, n - head - c->nbinary);
    c->assembly = *assembly ? assembly : NULL;
    c->log = zero ? zero + 1 : "";
    return true;
}

/* Whether the cache has it now. */
static bool code_publish(Arena *a, const CacheKey *key, const ModuleSpec *s, const Module *c)
{
    char *dir = NULL;
    bool shared = true, kept = false;
    const char *why;
    Str packed;

    str_init(&packed, a);
    code_pack(c, &packed);
    if (cache_open(a, &dir, &shared, &why) != STATUS_OK)
        return false;
    const char *code = path_join(a, dir, "kernel.so");
    if (shared &&
        file_write(a, path_join(a, dir, "kernel.c"), s->source, s->nsource, &why) == STATUS_OK &&
        file_write(a, code, packed.s, packed.n, &why) == STATUS_OK)
        kept = strcmp(cache_put(a, key, dir), code) != 0;
    tree_remove(dir);
    return kept;
}

Status device_build(Arena *a, Compiler *c, const ModuleSpec *s, const DeviceCompiler *with,
                    Module *out, const char **why)
{
    int nflag;
    Status st = with->find(a, c, why);

    *out = (Module){0};
    if (st != STATUS_OK)
        return st;
    const char *const *flags = with->flags(a, c, s->spec, s->extra, &nflag);
    CacheKey key = cache_key(a, c, s, flags, nflag);
    const char *path = s->no_cache ? NULL : cache_get(a, &key);
    const char *warning = s->no_cache ? NULL : cache_complaint(a, &key);
    bool unpacked = path && code_unpack(a, path, out);
    if (path && !unpacked)
        cache_drop(a, &key);
    if (!unpacked)
        st = with->run(a, c, s, flags, nflag, out, why);
    out->warning = warning;
    if (st == STATUS_OK && !unpacked && !s->no_cache)
        out->unkept = !code_publish(a, &key, s, out);
    return st;
}

/* ---- modules --------------------------------------------------------------------------------- */

static Status find_kernels(Arena *a, Loaded *m, const char **why)
{
    Gpu *g = m->gpu;
    Func *f = m->func;
    char room[200];

    for (int i = 0; i < f->kernels.n; i++) {
        Kernel *k = f->kernels.at[i];
        int cluster = MAX(k->cluster[0], 1) * MAX(k->cluster[1], 1) * MAX(k->cluster[2], 1);
        int r = g->module_function(&m->kernel[i], m->module, k->launch.symbol);
        if (r == 0)
            r = g->function_prepare(g, m->kernel[i], k->launch.shared_bytes, cluster);
        if (r != 0) {
            *why = arena_printf(a, "kernel '%s' (%lld bytes of shared memory): %s %s",
                                k->launch.symbol, (long long)k->launch.shared_bytes,
                                gpu_error(g, r, room, sizeof room), g->tag);
            return STATUS_TOOL;
        }
    }
    return STATUS_OK;
}

static Status load_code(Arena *a, Loaded *m, const Module *code, const char **why)
{
    enum { LOG_BYTES = 2048 };
    Gpu *g = m->gpu;
    char room[200];
    char *log = NEWN(a, char, LOG_BYTES);
    int r = g->module_load(g, &m->module, code, log, LOG_BYTES);

    if (r == 0)
        return STATUS_OK;
    *why = arena_printf(a, "'%s' does not load on %s (%s): %s%s%s %s", m->func->name, g->name,
                        g->arch, gpu_error(g, r, room, sizeof room), *log ? ": " : "", log, g->tag);
    return STATUS_TOOL;
}

Status gpu_load(Arena *a, Gpu *g, Func *f, const Module *code, Loaded **out,
                const char **why)
{
    Loaded *m = NEW(a, Loaded);

    *m = (Loaded){.gpu = g, .func = f, .code = code};
    m->kernel = NEWN(a, Handle, f->kernels.n + 1);
    m->tensor = NEWN(a, DeviceMemory, f->params.n + 1);
    m->value = NEWN(a, int64_t, f->ir->nvar + 1);
    for (int i = 0; i < STREAMS_MOST; i++)
        m->stream[i].work = NEWN(a, DeviceMemory, f->workspaces.n + 1);
    Handle context = gpu_enter(g);
    int mode = gpu_relax(g);
    Status s = load_code(a, m, code, why);
    if (s == STATUS_OK)
        s = find_kernels(a, m, why);
    gpu_unrelax(g, mode);
    gpu_leave(g, context);
    if (s == STATUS_OK)
        *out = m;
    else
        gpu_unload(m);
    return s;
}

static void release(Gpu *g, DeviceMemory *d)
{
    if (d->at)
        g->mem_free(d->at);
    *d = (DeviceMemory){0};
}

void gpu_unload(Loaded *m)
{
    if (!m)
        return;
    Handle context = gpu_enter(m->gpu);
    for (int i = 0; i < m->func->params.n; i++)
        release(m->gpu, &m->tensor[i]);
    for (int s = 0; s < m->nstream; s++) {
        for (int i = 0; i < m->func->workspaces.n; i++)
            release(m->gpu, &m->stream[s].work[i]);
        release(m->gpu, &m->stream[s].grid);
    }
    for (int i = 0; i < m->nretired; i++)
        m->gpu->mem_free(m->retired[i]);
    free(m->retired);
    plan_free(m->plan);
    map_cache_free(m->maps);
    if (m->module)
        m->gpu->module_unload(m->module);
    gpu_leave(m->gpu, context);
    *m = (Loaded){0};
}

/* ---- how many blocks fit --------------------------------------------------------------------- */

int occupancy(const Machine *m, int threads, int64_t registers, int64_t shared_bytes,
              const char **limit, int *warps_most)
{
    int warps = (threads + m->lanes - 1) / m->lanes, unit = m->regs_step * m->lanes;

    *warps_most = m->threads_unit / m->lanes;
    int64_t by_warps = *warps_most / MAX(warps, 1), by_blocks = m->blocks_unit;
    int64_t each = (MAX(registers, 1) * m->lanes + unit - 1) / unit * unit;
    int64_t by_registers = registers > 0 ? m->regs_unit / (each * MAX(warps, 1)) : by_warps;
    int64_t step = MAX(m->shared_step, 1);
    int64_t shared = (shared_bytes + m->shared_own + step - 1) / step * step;
    int64_t by_shared = shared ? m->shared_unit / shared : by_blocks;
    int64_t n = MIN(MIN(by_warps, by_blocks), MIN(by_registers, by_shared));

    *limit = n == by_shared && by_shared < by_warps         ? "shared memory"
             : n == by_registers && by_registers < by_warps ? "registers"
             : n == by_warps                                ? "threads"
                                                            : "blocks";
    return (int)n;
}

/* ---- one run with tensors wherever they are -------------------------------------------------- */

typedef struct {
    Loaded *m;
    DevicePtr *tensor; /* by parameter */
    char *text;
    size_t ntext;
} CopyCall;

static Status reserve(CopyCall *q, DeviceMemory *d, int64_t nbytes)
{
    Gpu *g = q->m->gpu;

    if (nbytes <= d->nbytes)
        return STATUS_OK;
    release(g, d);
    int r = g->mem_alloc(&d->at, (size_t)nbytes);
    if (r != 0)
        return gpu_failed(g, r, "memory on the GPU", q->text, q->ntext);
    d->nbytes = nbytes;
    return STATUS_OK;
}

static bool is_on_device(Gpu *g, const void *p)
{
    int device;
    return g->owner(g, (DevicePtr)(uintptr_t)p, &device);
}

/* From the first element to behind the last: strides may leave holes. */
int64_t arg_span_bytes(const SimArg *a)
{
    int64_t last = 0, n = 1;
    bool strided = false;

    for (int d = 0; d < a->rank; d++) {
        strided |= a->stride[d] != 0;
        n *= a->shape[d];
        last += (a->shape[d] - 1) * a->stride[d];
    }
    return n == 0 ? 0 : dtype_bytes(a->type, strided ? last + 1 : n);
}

static Status copy_in(CopyCall *q, const SimArg *args)
{
    Gpu *g = q->m->gpu;
    Func *f = q->m->func;

    for (int i = 0; i < f->params.n; i++) {
        if (!f->params.at[i].buf)
            continue;
        DevicePtr from = (DevicePtr)(uintptr_t)args[i].data;
        bool there = is_on_device(g, args[i].data);
        if (there && from % TENSOR_ALIGN == 0) {
            q->tensor[i] = from;
            continue;
        }
        int64_t n = arg_span_bytes(&args[i]);
        Status s = reserve(q, &q->m->tensor[i], MAX(n, 1));
        if (s != STATUS_OK)
            return s;
        DevicePtr to = q->tensor[i] = q->m->tensor[i].at;
        int r = n == 0  ? 0
                : there ? g->copy_over(to, from, (size_t)n)
                        : g->copy_in(to, args[i].data, (size_t)n);
        if (r != 0)
            return gpu_failed(g, r, "copying to the GPU", q->text, q->ntext);
    }
    return STATUS_OK;
}

static Status copy_out(CopyCall *q, const SimArg *args, const uint8_t *use)
{
    Gpu *g = q->m->gpu;
    Func *f = q->m->func;

    for (int i = 0; i < f->params.n; i++) {
        if (!f->params.at[i].buf || !(use[i] & 2) || q->tensor[i] != q->m->tensor[i].at)
            continue;
        int64_t n = arg_span_bytes(&args[i]);
        DevicePtr to = (DevicePtr)(uintptr_t)args[i].data;
        int r = n == 0 ? 0
                : is_on_device(g, args[i].data)
                    ? g->copy_over(to, q->tensor[i], (size_t)n)
                    : g->copy_out(args[i].data, q->tensor[i], (size_t)n);
        if (r != 0)
            return gpu_failed(g, r, "copying from the GPU", q->text, q->ntext);
    }
    return STATUS_OK;
}

static Status run_there(CopyCall *q, const Run *r)
{
    Loaded *m = q->m;
    int64_t nbytes[PARAMS_MOST] = {0};
    Status s = copy_in(q, r->args);

    for (int i = 0; i < m->func->params.n; i++)
        nbytes[i] = m->func->params.at[i].buf ? arg_span_bytes(&r->args[i]) : 0;
    if (s == STATUS_OK)
        s = r->timing ? gpu_time(m, r->b, (uint64_t *)q->tensor, nbytes, r->timing, r->seconds,
                                 q->text, q->ntext)
                      : gpu_start(m, r->b, (uint64_t *)q->tensor, NULL, q->text, q->ntext);
    int failed = s == STATUS_OK ? m->gpu->synchronize() : 0;
    if (failed)
        s = gpu_failed(m->gpu, failed, m->func->kernels.n ? m->func->kernels.at[0]->launch.symbol
                                                          : m->func->name, q->text, q->ntext);
    return s == STATUS_OK ? copy_out(q, r->args, r->use) : s;
}

Status gpu_run(Loaded *m, const Run *r)
{
    DevicePtr tensor[PARAMS_MOST] = {0};
    CopyCall q = {m, tensor, r->text, r->ntext};

    r->text[0] = 0;
    if (r->narg > PARAMS_MOST) {
        snprintf(r->text, r->ntext, "%d parameters; a GPU kernel takes %d [argument-count]",
                 r->narg, PARAMS_MOST);
        return STATUS_USER;
    }
    Handle context = gpu_enter(m->gpu);
    Status s = run_there(&q, r);
    gpu_leave(m->gpu, context);
    return s;
}

/* ---- one launch with tensors on the device --------------------------------------------------- */

/* Nothing is asked of the driver about an address that was seen in the same place last time. */
bool gpu_takes(Loaded *m, int param, const void *data, char *text, size_t ntext)
{
    DevicePtr p = (DevicePtr)(uintptr_t)data;
    const char *name = m->func->params.at[param].name;
    int device;

    if (!m->gpu->owner(m->gpu, p, &device)) {
        snprintf(text, ntext,
                 "argument '%s' is not in memory of the GPU; tl_kernel_run copies what is not "
                 "[argument-device]",
                 name);
        return false;
    }
    if (device != m->gpu->device) {
        snprintf(text, ntext, "argument '%s' is on GPU %d; the kernel runs on GPU %d "
                 "[argument-device]", name, device, m->gpu->device);
        return false;
    }
    const Buffer *b = m->func->params.at[param].buf;
    unsigned each = b->unaligned ? (unsigned)dtype_bytes(b->type, 1) : TENSOR_ALIGN;
    if (p % each) {
        snprintf(text, ntext,
                 "argument '%s' starts at address 0x%llx; its kernel needs a multiple of %u bytes "
                 "[argument-alignment]",
                 name, p, each);
        return false;
    }
    return true;
}

void *gpu_module_enter(const Loaded *m)
{
    return gpu_enter(m->gpu);
}

void gpu_module_leave(const Loaded *m, void *before)
{
    gpu_leave(m->gpu, before);
}

Status gpu_array(Loaded *m, const char *name, void *to, size_t n, char *text, size_t ntext)
{
    Gpu *g = m->gpu;
    DevicePtr at = 0;
    size_t have = 0;

    BUG(!g->module_array, "modules here have no arrays of their own");
    Handle context = gpu_enter(g);
    int r = g->module_array(&at, &have, m->module, name);

    if (r == 0 && to)
        r = g->copy_out(to, at, MIN(n, have));
    else if (r == 0)
        r = g->mem_set(at, 0, MIN(n, have), NULL);
    if (r == 0)
        r = g->synchronize();
    gpu_leave(g, context);
    return r ? gpu_failed(g, r, name, text, ntext) : STATUS_OK;
}

/* ---- where there is no compiler -------------------------------------------------------------- */

bool device_knows_no_flag(const char *flag)
{
    (void)flag;
    return false;
}

Status device_takes_text(Arena *a, Compiler *c, const ModuleSpec *s, Module *out, const char **why)
{
    (void)c;
    (void)why;
    *out = (Module){.assembly = arena_strndup(a, s->source, s->nsource), .log = ""};
    return STATUS_OK;
}

double device_peak_unknown(const Gpu *g, DType t)
{
    (void)g;
    (void)t;
    return 0;
}
