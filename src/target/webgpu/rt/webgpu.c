/* webgpu.c -- WGSL through wgpu-native, found by dlopen.
 *
 * There are no addresses on such a device.  A DevicePtr is the number of a buffer with a mark that
 * no address of the host has, and each tensor is a buffer of its own.  One device serves the
 * process: the functions of a Gpu do not say which one they are for. */
#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include "rt/one_queue.h"
#include "rt/runtime.h"
#include "rt/text_module.h"
#include "target/webgpu/rt/prints.h"
#include "target/webgpu/rt/wgpu.h"
#include "target/webgpu/webgpu.h"

enum { BUFFERS_MOST = 1 << 16, ARGS_MOST = 64, WORD = 4, UNIFORM_STEP = 16, OFFSET_BITS = 44 };
#define MARK ((DevicePtr)0xB << 60)

typedef struct {
    WgpuObject buffer;
    uint64_t size;
} Memory;

typedef struct { /* a kernel of a module */
    WgpuObject layout, pipeline;
    const Kernel *k;
    struct Program *of;
} Function;

typedef struct Program {
    TextModule m; /* its text has what assertions and prints say */
    WgpuObject shader;
    int flag;   /* its binding, where threads leave the number of an assertion; 0: there is none */
    int prints; /* likewise, of the lines that threads print */
    WgpuObject printed;
} Program;

typedef struct { /* a launch, kept to be repeated */
    Function *f;
    WgpuObject group;
    unsigned grid[3];
} Dispatch;

static struct {
#define X(result, name, arguments) result(*name) arguments;
    WGPU_FUNCTIONS(X)
#undef X
    WgpuObject instance, adapter, device, queue;
    WgpuLimits limits;
    Memory *memory;
    int nmemory;
    WgpuObject flag; /* of assertions */
    const Program *asserts; /* was launched since the flag was looked at; NULL: none was */
    bool failed;
    char error[4096];
} wg;

static WgpuText text_of(const char *s)
{
    return (WgpuText){s, strlen(s)};
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void take_error(WgpuText m)
{
    if (!wg.failed) /* the first says what was wrong */
        snprintf(wg.error, sizeof wg.error, "%.*s", (int)m.length, m.data);
    wg.failed = true;
}

static void on_error(const WgpuObject *device, uint32_t type, WgpuText m, void *one, void *two)
{
    (void)device;
    (void)type;
    (void)one;
    (void)two;
    take_error(m);
}

/* 0: nothing went wrong since the last one asked. */
static int result(void)
{
    bool failed = wg.failed;

    wg.failed = false;
    return failed;
}

static int error_text(int r, const char **text)
{
    *text = r ? wg.error : "";
    return 0;
}

static int error_name(int r, const char **name)
{
    *name = r ? "wgpu" : "success";
    return 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint64_t rounded(uint64_t n, uint64_t step)
{
    return (n + step - 1) / step * step;
}

static WgpuObject make_buffer(uint64_t n, uint64_t usage)
{
    WgpuBufferWish wish = {.usage = usage, .size = n};
    return wg.DeviceCreateBuffer(wg.device, &wish);
}

static Memory *memory_of(DevicePtr p)
{
    uint64_t i = (p & ~MARK) >> OFFSET_BITS;

    if ((p & (DevicePtr)0xF << 60) != MARK || i >= (uint64_t)wg.nmemory || !wg.memory[i].buffer)
        return NULL;
    return &wg.memory[i];
}

static uint64_t offset_of(DevicePtr p)
{
    return p & (((DevicePtr)1 << OFFSET_BITS) - 1);
}

static int mem_alloc(DevicePtr *p, size_t n)
{
    int i = 0;

    while (i < wg.nmemory && wg.memory[i].buffer)
        i++;
    if (i == BUFFERS_MOST) {
        take_error(text_of("too many tensors"));
        return result();
    }
    if (i == wg.nmemory) {
        Memory *more = realloc(wg.memory, (size_t)(wg.nmemory + 1) * sizeof *more);
        if (!more) {
            take_error(text_of("out of memory"));
            return result();
        }
        wg.memory = more;
        wg.nmemory++;
    }
    uint64_t size = rounded(n ? n : 1, UNIFORM_STEP);
    wg.memory[i] = (Memory){make_buffer(size, WGPU_STORAGE | WGPU_COPY_SRC | WGPU_COPY_DST), size};
    int r = result();
    if (r) {
        if (wg.memory[i].buffer)
            wg.BufferRelease(wg.memory[i].buffer);
        wg.memory[i].buffer = NULL;
        return r;
    }
    *p = MARK | (DevicePtr)i << OFFSET_BITS;
    return 0;
}

static int mem_free(DevicePtr p)
{
    Memory *m = memory_of(p);

    if (m) {
        wg.BufferRelease(m->buffer);
        *m = (Memory){0};
    }
    return 0;
}

static void submit(WgpuObject encoder)
{
    WgpuObject commands = wg.CommandEncoderFinish(encoder, NULL);

    wg.QueueSubmit(wg.queue, 1, &commands);
    wg.CommandBufferRelease(commands);
    wg.CommandEncoderRelease(encoder);
}

/* Whole words; bytes behind the last are zeros, which tensors are padded with. */
static void write_bytes(WgpuObject buffer, uint64_t at, const void *from, size_t n)
{
    unsigned char tail[WORD] = {0};
    size_t whole = n / WORD * WORD;

    if (whole)
        wg.QueueWriteBuffer(wg.queue, buffer, at, from, whole);
    if (n > whole) {
        memcpy(tail, (const char *)from + whole, n - whole);
        wg.QueueWriteBuffer(wg.queue, buffer, at + whole, tail, WORD);
    }
}

static int mem_set(DevicePtr p, unsigned char value, size_t n, Handle stream)
{
    Memory *m = memory_of(p);

    (void)stream;
    if (value == 0) {
        WgpuObject e = wg.DeviceCreateCommandEncoder(wg.device, NULL);
        wg.CommandEncoderClearBuffer(e, m->buffer, offset_of(p), rounded(n, WORD));
        submit(e);
        return result();
    }
    void *bytes = malloc(n);
    if (!bytes)
        take_error(text_of("out of memory"));
    else
        write_bytes(m->buffer, offset_of(p), memset(bytes, value, n), n);
    free(bytes);
    return result();
}

static int copy_in(DevicePtr to, const void *from, size_t n)
{
    write_bytes(memory_of(to)->buffer, offset_of(to), from, n);
    return result();
}

static int copy_over(DevicePtr to, DevicePtr from, size_t n)
{
    WgpuObject e = wg.DeviceCreateCommandEncoder(wg.device, NULL);

    wg.CommandEncoderCopyBufferToBuffer(e, memory_of(from)->buffer, offset_of(from),
                                        memory_of(to)->buffer, offset_of(to), rounded(n, WORD));
    submit(e);
    return result();
}

static void on_map(uint32_t status, WgpuText message, void *one, void *two)
{
    (void)two;
    if (status != WGPU_SUCCESS)
        take_error(message);
    *(bool *)one = true;
}

static void read_bytes(void *to, WgpuObject from, uint64_t at, size_t n)
{
    uint64_t size = rounded(n, WORD);
    bool done = false;
    WgpuObject stage = make_buffer(size, WGPU_MAP_READ | WGPU_COPY_DST);
    WgpuObject e = wg.DeviceCreateCommandEncoder(wg.device, NULL);

    wg.CommandEncoderCopyBufferToBuffer(e, from, at, stage, 0, size);
    submit(e);
    wg.BufferMapAsync(stage, WGPU_MAP_READ, 0, size,
                      (WgpuMapAnswer){.mode = WGPU_ANSWER_ANY_TIME, .callback = on_map,
                                      .one = &done});
    for (int i = 0; i < 100 && !done; i++)
        wg.DevicePoll(wg.device, true, NULL);
    const void *there = done && !wg.failed ? wg.BufferGetConstMappedRange(stage, 0, size) : NULL;
    if (there)
        memcpy(to, there, n);
    else
        take_error(text_of("the buffer could not be read"));
    wg.BufferUnmap(stage);
    wg.BufferRelease(stage);
}

/* What has run since the last time must have held what it says. */
static void look_at_flag(void)
{
    static const unsigned zero;
    const Program *p = wg.asserts;
    unsigned number = 0;
    int n;

    wg.asserts = NULL;
    if (!p || wg.failed)
        return;
    read_bytes(&number, wg.flag, 0, sizeof number);
    if (!number || wg.failed)
        return;
    wg.QueueWriteBuffer(wg.queue, wg.flag, 0, &zero, sizeof zero);
    const char *says = text_assertion(&p->m, number, &n);
    take_error((WgpuText){says, (size_t)n});
}

/* The lines of a launch, once it is over: they are few, and somebody waits for them. */
static void look_at_prints(const Program *p)
{
    const size_t size = PRINT_WORDS * WORD;
    uint32_t *word = wg.failed ? NULL : calloc(PRINT_WORDS, sizeof *word);

    if (!word)
        return;
    read_bytes(word, p->printed, 0, size);
    if (!wg.failed && word[0]) {
        prints_show(p->m.text, word);
        memset(word, 0, size);
        wg.QueueWriteBuffer(wg.queue, p->printed, 0, word, size);
    }
    free(word);
}

static int synchronize(void)
{
    wg.DevicePoll(wg.device, true, NULL);
    look_at_flag();
    return result();
}

static int copy_out(void *to, DevicePtr from, size_t n)
{
    look_at_flag();
    read_bytes(to, memory_of(from)->buffer, offset_of(from), n);
    return result();
}

/* ---- programs -------------------------------------------------------------------------------- */

/* The number of a binding that the text has by that name; 0: it has none. */
static int binding_of(const char *text, const char *name)
{
    char last[64];

    snprintf(last, sizeof last, ") var<storage, read_write> %s:", name);
    const char *at = strstr(text, last), *number = at;
    while (at && number[-1] != '(')
        number--;
    return at ? atoi(number) : 0;
}

/* Where the text has its flag of assertions, and what it prints. */
static void find_flag(Program *p, const char *text)
{
    p->flag = binding_of(text, "tl_failed");
    p->prints = binding_of(text, "tl_printed");
    if (p->prints)
        p->printed = make_buffer(PRINT_WORDS * WORD, WGPU_STORAGE | WGPU_COPY_SRC | WGPU_COPY_DST);
    if (p->flag && !wg.flag)
        wg.flag = make_buffer(WORD, WGPU_STORAGE | WGPU_COPY_SRC | WGPU_COPY_DST);
}

/* Of as many threads as the text was written for, and of no other number.  wgpu-native 29 does not
 * tell: then the kernel finds out. */
static bool has_subgroups(const char *text)
{
    static const char head[] = "\nenable subgroups; // of ";
    const char *at = strstr(text, head);
    WgpuAdapterInfo info = {0};
    char why[160];

    if (!at)
        return true;
    unsigned n = (unsigned)atoi(at + sizeof head - 1);
    wg.AdapterGetInfo(wg.adapter, &info);
    if (!wg.AdapterHasFeature(wg.adapter, WGPU_FEATURE_SUBGROUPS))
        snprintf(why, sizeof why, "the adapter has no subgroups, which -subgroup= asks for");
    else if (!info.subgroup_most || (info.subgroup_least == n && info.subgroup_most == n))
        return true;
    else
        snprintf(why, sizeof why, "the kernel is for subgroups of %u threads (-subgroup=); those "
                 "of the adapter have %u to %u", n, info.subgroup_least, info.subgroup_most);
    take_error(text_of(why));
    return false;
}

/* naga of wgpu 29 has subgroups, and takes no line that says so: it becomes a comment. */
static char *text_for_naga(const char *text)
{
    char *s = strdup(text), *at = s ? strstr(s, "\nenable subgroups;") : NULL;

    if (at)
        memcpy(at + 1, "//", 2);
    return s;
}

static int module_load(const Gpu *g, Handle *module, const Module *code, char *log, size_t nlog)
{
    char *own = text_for_naga(code->assembly);
    WgpuWgsl text = {.chain = {.type = WGPU_WGSL}, .code = text_of(own ? own : "")};
    WgpuNamed wish = {.next = &text.chain};
    Program *p = own ? calloc(1, sizeof *p) : NULL;

    (void)g;
    (void)log; /* what is wrong is in the error's text */
    (void)nlog;
    if (!p || !(p->m.text = strdup(code->assembly))) {
        free(p);
        free(own);
        return 1;
    }
    if (strstr(code->assembly, "\nenable f16;") &&
        !wg.AdapterHasFeature(wg.adapter, WGPU_FEATURE_F16))
        take_error(text_of("the adapter has no shader-f16, which -f16 asks for"));
    else if (has_subgroups(code->assembly))
        p->shader = wg.DeviceCreateShaderModule(wg.device, &wish);
    free(own);
    find_flag(p, code->assembly);
    *module = p;
    return result();
}

static int module_unload(Handle module)
{
    Program *p = module;
    const Function *fn = p->m.fn;

    for (int i = 0; i < p->m.nfn; i++) {
        wg.ComputePipelineRelease(fn[i].pipeline);
        wg.BindGroupLayoutRelease(fn[i].layout);
    }
    if (p->shader)
        wg.ShaderModuleRelease(p->shader);
    if (wg.asserts == p)
        wg.asserts = NULL;
    if (p->printed)
        wg.BufferRelease(p->printed);
    text_free(&p->m);
    return 0;
}

static bool has_scalars(const Kernel *k)
{
    if (wgsl_has_first(k))
        return true;
    for (int i = 0; i < k->launch.args.n; i++)
        if (k->launch.args.at[i].var)
            return true;
    return false;
}

static WgpuObject make_layout(const Kernel *k, const Program *p)
{
    WgpuLayoutEntry entry[ARGS_MOST + 3] = {0};
    WgpuGroupLayoutWish wish = {.entry = entry};

    if (has_scalars(k))
        entry[wish.n++] = (WgpuLayoutEntry){.visibility = WGPU_COMPUTE,
                                            .buffer = {.type = WGPU_BIND_UNIFORM}};
    for (int i = 0; i < k->launch.args.n; i++) {
        const KernelArg *a = &k->launch.args.at[i];
        if (a->buf)
            entry[wish.n++] = (WgpuLayoutEntry){
                .binding = (uint32_t)a->slot,
                .visibility = WGPU_COMPUTE,
                .buffer = {.type = a->written ? WGPU_BIND_STORAGE : WGPU_BIND_READ}};
    }
    for (int i = 0; i < 2; i++) {
        int binding = i ? p->prints : p->flag;
        if (binding)
            entry[wish.n++] = (WgpuLayoutEntry){.binding = (uint32_t)binding,
                                                .visibility = WGPU_COMPUTE,
                                                .buffer = {.type = WGPU_BIND_STORAGE}};
    }
    return wg.DeviceCreateBindGroupLayout(wg.device, &wish);
}

/* Pipelines are made here: bindings are told by what the emitter left in Kernel.launch. */
static int make_kernel(TextModule *m, void *fn, const Kernel *k)
{
    Program *p = (Program *)m;
    Function *f = fn;

    f->k = k;
    f->of = p;
    f->layout = make_layout(k, p);
    WgpuPipelineLayoutWish all = {.n = 1, .group = &f->layout};
    WgpuPipelineWish wish = {.layout = wg.DeviceCreatePipelineLayout(wg.device, &all),
                             .compute = {.module = p->shader, .entry = text_of(k->launch.symbol)}};
    f->pipeline = wg.DeviceCreateComputePipeline(wg.device, &wish);
    wg.PipelineLayoutRelease(wish.layout);
    return result();
}

static Status load(Arena *a, Gpu *g, Func *f, const Module *code, Loaded **out, const char **why)
{
    static const TextKernels how = {.language = "WebGPU", .args_most = ARGS_MOST,
                                    .size = sizeof(Function), .no_memory = 1, .make = make_kernel};
    return text_load(&how, a, g, f, code, out, why);
}

/* ---- launches -------------------------------------------------------------------------------- */

/* Scalars as words of a uniform, in the order of the arguments; behind them the first block. */
static WgpuObject make_scalars(const Kernel *k, void *const *params, unsigned first, uint64_t *size)
{
    uint32_t word[2 * ARGS_MOST + UNIFORM_STEP / WORD] = {0};
    int n = 0;

    for (int i = 0; i < k->launch.args.n; i++) {
        const Var *v = k->launch.args.at[i].var;
        if (!v)
            continue;
        int words = dtype_bits(v->type) == 64 ? 2 : 1;
        memcpy(&word[n], params[i], sizeof *word * (size_t)words);
        n += words;
    }
    if (wgsl_has_first(k))
        word[n++] = first;
    *size = rounded((uint64_t)n * WORD, UNIFORM_STEP);
    WgpuObject b = make_buffer(*size, WGPU_UNIFORM | WGPU_COPY_DST);
    wg.QueueWriteBuffer(wg.queue, b, 0, word, *size);
    return b;
}

static WgpuObject make_group(const Function *f, void *const *params, unsigned first)
{
    const Kernel *k = f->k;
    WgpuGroupEntry entry[ARGS_MOST + 3] = {0};
    WgpuGroupWish wish = {.layout = f->layout, .entry = entry};
    WgpuObject scalars = NULL;
    uint64_t size;

    if (has_scalars(k)) {
        scalars = make_scalars(k, params, first, &size);
        entry[wish.n++] = (WgpuGroupEntry){.buffer = scalars, .size = size};
    }
    for (int i = 0; i < k->launch.args.n; i++) {
        DevicePtr at;
        if (!k->launch.args.at[i].buf)
            continue;
        memcpy(&at, params[i], sizeof at);
        const Memory *m = memory_of(at);
        entry[wish.n++] = (WgpuGroupEntry){.binding = (uint32_t)k->launch.args.at[i].slot,
                                           .buffer = m->buffer, .offset = offset_of(at),
                                           .size = m->size - offset_of(at)};
    }
    if (f->of->flag)
        entry[wish.n++] = (WgpuGroupEntry){.binding = (uint32_t)f->of->flag, .buffer = wg.flag,
                                           .size = WORD};
    if (f->of->prints)
        entry[wish.n++] = (WgpuGroupEntry){.binding = (uint32_t)f->of->prints,
                                           .buffer = f->of->printed, .size = PRINT_WORDS * WORD};
    WgpuObject group = wg.DeviceCreateBindGroup(wg.device, &wish);
    if (scalars)
        wg.BufferRelease(scalars);
    return group;
}

/* Launches, in one pass. */
static int run_list(const void *launches, int n)
{
    const Dispatch *list = launches;
    WgpuObject e = wg.DeviceCreateCommandEncoder(wg.device, NULL);
    WgpuObject pass = wg.CommandEncoderBeginComputePass(e, NULL);

    for (int i = 0; i < n; i++) {
        if (list[i].f->of->flag)
            wg.asserts = list[i].f->of;
        wg.ComputePassEncoderSetPipeline(pass, list[i].f->pipeline);
        wg.ComputePassEncoderSetBindGroup(pass, 0, list[i].group, 0, NULL);
        wg.ComputePassEncoderDispatchWorkgroups(pass, list[i].grid[0], list[i].grid[1],
                                                list[i].grid[2]);
    }
    wg.ComputePassEncoderEnd(pass);
    wg.ComputePassEncoderRelease(pass);
    submit(e);
    for (int i = 0; i < n; i++)
        if (list[i].f->of->prints)
            look_at_prints(list[i].f->of);
    return result();
}

static void drop_launch(void *launch)
{
    wg.BindGroupRelease(((Dispatch *)launch)->group);
}

static OneQueue queue = {.synchronize = synchronize, .run = run_list, .drop = drop_launch,
                         .size = sizeof(Dispatch), .no_memory = 1};

/* Of blocks from `first` on in x, as many as a dispatch takes. */
static int launch_from(const DeviceLaunch *l, unsigned first)
{
    Dispatch d = {.f = l->f,
                  .grid = {MIN(l->grid[0] - first, DISPATCH_MOST), l->grid[1], l->grid[2]}};
    int r;

    d.group = make_group(d.f, l->params, first);
    if (wg.failed)
        return result();
    if (queue_keep(&queue, &d, &r))
        return r;
    r = run_list(&d, 1);
    drop_launch(&d);
    return r;
}

static int launch_kernel(const Gpu *g, const DeviceLaunch *l)
{
    int r = 0;

    (void)g;
    for (unsigned first = 0; r == 0 && first < l->grid[0]; first += DISPATCH_MOST)
        r = launch_from(l, first);
    return r;
}

static int stream_create(Handle *stream, unsigned flags)
{
    (void)flags;
    *stream = &queue;
    return 0;
}

static int context_get(Handle *context)
{
    *context = &wg;
    return 0;
}

static bool owner(const Gpu *g, DevicePtr p, int *device)
{
    *device = g->device;
    return memory_of(p) != NULL;
}

/* ---- the library and its device -------------------------------------------------------------- */

static void *try_pattern(const char *pattern)
{
    glob_t found;
    void *h = NULL;

    if (glob(pattern, 0, NULL, &found) != 0)
        return NULL;
    for (size_t i = 0; i < found.gl_pathc && !h; i++)
        h = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
    globfree(&found);
    return h;
}

/* What the environment names, the linker finds, or pip's wgpu has inside. */
static void *open_library(Arena *a)
{
    const char *said = getenv("TILELANG_WGPU"), *path = getenv("PATH");

    if (said && *said)
        return try_pattern(strstr(said, ".so")
                               ? said
                               : arena_printf(a, "%s/libwgpu_native*.so", said));
    void *h = dlopen("libwgpu_native.so", RTLD_NOW | RTLD_LOCAL);
    for (const char *s = path ? path : ""; *s && !h;) {
        size_t n = strcspn(s, ":");
        h = try_pattern(arena_printf(a, "%.*s/../lib/python3*/*-packages/wgpu/resources/"
                                     "libwgpu_native*.so", (int)n, s));
        s += n + (s[n] == ':');
    }
    return h;
}

static bool take_functions(void *h)
{
    void *at;

#define X(result, name, arguments)                                                                 \
    if (!(at = dlsym(h, "wgpu" #name)))                                                            \
        return false;                                                                              \
    memcpy(&wg.name, &at, sizeof at);
    WGPU_FUNCTIONS(X)
#undef X
    return true;
}

static void on_answer(uint32_t status, WgpuObject object, WgpuText message, void *one, void *two)
{
    (void)two;
    if (status == WGPU_SUCCESS)
        *(WgpuObject *)one = object;
    else
        take_error(message);
}

static WgpuAnswer answer_to(WgpuObject *to)
{
    return (WgpuAnswer){.mode = WGPU_ANSWER_ANY_TIME, .callback = on_answer, .one = to};
}

/* All that the adapter offers is asked for: kernels are written for the default limits unless the
 * words of the target say otherwise. */
static bool open_device(void)
{
    static const uint32_t wished[] = {WGPU_FEATURE_F16, WGPU_FEATURE_SUBGROUPS};
    uint32_t feature[COUNT(wished)];
    WgpuDeviceWish wish = {.feature = feature, .limits = &wg.limits,
                           .error = {.callback = on_error}};
    WgpuAdapterOptions options = {.power = WGPU_POWER_HIGH};

    WgpuInstanceExtras extras = {.chain = {.type = WGPU_INSTANCE_EXTRAS},
                                 .backends = WGPU_BACKENDS};

    wg.instance = wg.CreateInstance(&(WgpuInstanceWish){.next = &extras.chain});
    wg.InstanceRequestAdapter(wg.instance, &options, answer_to(&wg.adapter));
    if (!wg.adapter)
        return false;
    wg.AdapterGetLimits(wg.adapter, &wg.limits);
    wg.limits.next = NULL;
    for (int i = 0; i < COUNT(wished); i++)
        if (wg.AdapterHasFeature(wg.adapter, wished[i]))
            feature[wish.nfeature++] = wished[i];
    wg.AdapterRequestDevice(wg.adapter, &wish, answer_to(&wg.device));
    if (!wg.device)
        return false;
    wg.queue = wg.DeviceGetQueue(wg.device);
    return true;
}

static const Gpu gpu_record = {
    .tag = "[webgpu-failed]",
    .context = &wg,
    .arch = "wgsl",
    .error_text = error_text,
    .error_name = error_name,
    .context_get = context_get,
    .synchronize = synchronize,
    .module_unload = module_unload,
    .module_function = text_function,
    .mem_alloc = mem_alloc,
    .mem_free = mem_free,
    .mem_set = mem_set,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .copy_over = copy_over,
    .stream_create = stream_create,
    .module_load = module_load,
    ONE_QUEUE,
    .owner = owner,
    .launch = launch_kernel,
};

static void describe(Gpu *g)
{
    WgpuAdapterInfo info = {0};

    wg.AdapterGetInfo(wg.adapter, &info);
    snprintf(g->name, sizeof g->name, "%.*s", (int)MIN(info.device.length, 90), info.device.data);
    g->facts = (GpuFacts){.driver = (int)(wg.GetVersion() >> 24) * 1000,
                          .shared_block = (int)wg.limits.workgroup_bytes};
}

static Status webgpu_open(Arena *a, Gpu **gpu, const char **why)
{
    if (*gpu)
        return STATUS_OK;
    void *h = wg.device ? NULL : open_library(a);
    if (!wg.device && (!h || !take_functions(h))) {
        *why = "no wgpu-native here (libwgpu_native.so): this machine can build for WebGPU but not "
               "run there; `pip install wgpu` has one, TILELANG_WGPU says where [no-wgpu]";
        return STATUS_TOOL;
    }
    if (wg.GetVersion() >> 24 != WGPU_ABI) {
        *why = arena_printf(a, "wgpu-native here is version %d; this program knows version %d "
                            "[no-wgpu]", (int)(wg.GetVersion() >> 24), WGPU_ABI);
        return STATUS_TOOL;
    }
    if (!wg.device && !open_device()) {
        result();
        *why = arena_printf(a, "wgpu finds no adapter (%s) [no-webgpu-device]",
                            *wg.error ? wg.error : "none installed");
        return STATUS_TOOL;
    }
    Gpu *g = NEW(a, Gpu);
    *g = gpu_record;
    describe(g);
    *gpu = g;
    return STATUS_OK;
}

/* ---- building: the text is what runs --------------------------------------------------------- */

static Status find(Arena *a, Compiler *c, const char **why)
{
    (void)a;
    (void)why;
    *c = (Compiler){.path = "wgpu", .version = "wgpu"};
    return STATUS_OK;
}

extern const Runtime runtime_webgpu;
const Runtime runtime_webgpu = {
    .name = "webgpu",
    .compiler = "wgpu",
    .language = "WGSL",
    .ending = "wgsl",
    .fast_math = "",
    .line_info = "",
    .by_name = true,
    .find = find,
    .build = device_takes_text,
    .knows = device_knows_no_flag,
    .open = webgpu_open,
    .peak = device_peak_unknown,
    .load = load,
    DEVICE_RUNS_BUT_LOAD,
};
