/* opencl.c -- OpenCL C through libOpenCL, found by dlopen.
 *
 * Tensors are shared virtual memory, which every driver of OpenCL 2 and most of OpenCL 3 has: an
 * address of the device is a number here, and a tensor may start in the middle of an allocation.
 * One device and one queue in order serve the process: the functions of a Gpu do not say which one
 * they are for. */
#include <dlfcn.h>
#include <stdlib.h>
#include "rt/one_queue.h"
#include "rt/text_module.h"
#include "target/opencl/rt/opencl.h"
#include "target/opencl/rt/cl.h"

enum { ARGS_MOST = 128, NOT_HELD = 1, OTHER = 2, FLAG_BYTES = 128 };

typedef struct {
    char *at;
    size_t size;
} Memory;

typedef struct { /* a kernel of a program */
    ClObject kernel;
    const Kernel *k;
    struct Program *of;
    bool flag;  /* its last argument: where threads leave the number of an assertion */
    bool looks; /* it may follow addresses that are in memory */
} Function;

typedef struct Program {
    TextModule m;
    ClObject program;
} Program;

typedef struct { /* a launch, kept to be repeated */
    Function *f;
    unsigned grid[3], block[3];
    uint64_t arg[ARGS_MOST];
} Dispatch;

static struct {
#define X(result, name, arguments) result(*name) arguments;
    CL_FUNCTIONS(X)
#undef X
    ClObject device, context, queue;
    char options[160]; /* of every program */
    pthread_mutex_t lock; /* of the list of allocations */
    VEC(Memory) memory;
    int *flag;      /* of assertions */
    const Program *asserts; /* was launched since the flag was looked at; NULL: none was */
    char error[1024]; /* what NOT_HELD and OTHER say */
} cl = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- errors ---------------------------------------------------------------------------------- */

static const struct {
    int r;
    const char *name, *text;
} errors[] = {
    {CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND", "no device"},
    {-2, "CL_DEVICE_NOT_AVAILABLE", "the device is there and cannot be used"},
    {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE", "no memory for it"},
    {-5, "CL_OUT_OF_RESOURCES", "the device gave up: out of resources, or a fault of the kernel"},
    {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY", "out of memory"},
    {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE", "its compiler did not take the text"},
    {-46, "CL_INVALID_KERNEL_NAME", "no such kernel in the text"},
    {-52, "CL_INVALID_KERNEL_ARGS", "arguments are missing"},
    {-54, "CL_INVALID_WORK_GROUP_SIZE", "more threads than the device takes for this kernel"},
};

static int error_text(int r, const char **text)
{
    *text = r == NOT_HELD || r == OTHER ? cl.error : "an error of OpenCL";
    for (int i = 0; i < COUNT(errors); i++)
        if (errors[i].r == r)
            *text = errors[i].text;
    return 0;
}

static int error_name(int r, const char **name)
{
    static char number[32];

    snprintf(number, sizeof number, "OpenCL error %d", r);
    *name = r == NOT_HELD ? "assertion" : r == OTHER ? "OpenCL" : number;
    for (int i = 0; i < COUNT(errors); i++)
        if (errors[i].r == r)
            *name = errors[i].name;
    return 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int memory_find(const char *p)
{
    for (int i = 0; i < cl.memory.n; i++)
        if (p >= cl.memory.at[i].at && p < cl.memory.at[i].at + cl.memory.at[i].size)
            return i;
    return -1;
}

static bool memory_add(Memory m)
{
    Memory *more = realloc(cl.memory.at, (size_t)(cl.memory.n + 1) * sizeof *more);

    if (!more)
        return false;
    cl.memory.at = more;
    cl.memory.at[cl.memory.n++] = m;
    return true;
}

static int mem_alloc(DevicePtr *p, size_t n)
{
    size_t size = (n + 127) / 128 * 128 + 128; /* words behind the last element are its own */
    char *at = cl.SVMAlloc(cl.context, CL_MEM_READ_WRITE, size, 0);

    if (!at)
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    pthread_mutex_lock(&cl.lock);
    bool added = memory_add((Memory){at, size});
    pthread_mutex_unlock(&cl.lock);
    if (!added) {
        cl.SVMFree(cl.context, at);
        return CL_OUT_OF_HOST_MEMORY;
    }
    *p = (DevicePtr)(uintptr_t)at;
    return 0;
}

static int mem_free(DevicePtr p)
{
    char *at = (char *)(uintptr_t)p;

    cl.Finish(cl.queue); /* launches may still use it */
    pthread_mutex_lock(&cl.lock);
    int i = memory_find(at);
    if (i >= 0)
        cl.memory.at[i] = cl.memory.at[--cl.memory.n];
    pthread_mutex_unlock(&cl.lock);
    if (i >= 0)
        cl.SVMFree(cl.context, at);
    return 0;
}

static int mem_set(DevicePtr p, unsigned char value, size_t n, Handle stream)
{
    (void)stream;
    return n ? cl.EnqueueSVMMemFill(cl.queue, (void *)(uintptr_t)p, &value, 1, n, 0, NULL, NULL)
             : 0;
}

static int copy(void *to, const void *from, size_t n)
{
    return n ? cl.EnqueueSVMMemcpy(cl.queue, CL_TRUE, to, from, n, 0, NULL, NULL) : 0;
}

static int copy_in(DevicePtr to, const void *from, size_t n)
{
    return copy((void *)(uintptr_t)to, from, n);
}

static int copy_over(DevicePtr to, DevicePtr from, size_t n)
{
    return copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, n);
}

static int take_assertion(const Program *p, int number)
{
    int n;
    const char *says = text_assertion(&p->m, (unsigned)number, &n);

    snprintf(cl.error, sizeof cl.error, "%.*s", n, says);
    return NOT_HELD;
}

/* What has run since the last time must have held what it says. */
static int look_at_flag(void)
{
    const Program *p = cl.asserts;
    int number = 0, r;

    cl.asserts = NULL;
    if (!p)
        return 0;
    r = copy(&number, cl.flag, sizeof number);
    if (r || !number)
        return r;
    mem_set((DevicePtr)(uintptr_t)cl.flag, 0, sizeof number, NULL);
    return take_assertion(p, number);
}

static int synchronize(void)
{
    int r = cl.Finish(cl.queue), failed = look_at_flag();
    return r ? r : failed;
}

static int copy_out(void *to, DevicePtr from, size_t n)
{
    int r = look_at_flag();
    return r ? r : copy(to, (const void *)(uintptr_t)from, n);
}

static bool owner(const Gpu *g, DevicePtr p, int *device)
{
    *device = g->device;
    pthread_mutex_lock(&cl.lock);
    int i = memory_find((const char *)(uintptr_t)p);
    pthread_mutex_unlock(&cl.lock);
    return i >= 0;
}

/* ---- programs -------------------------------------------------------------------------------- */

static bool has_extension(const char *name)
{
    char all[8192] = "";

    cl.GetDeviceInfo(cl.device, CL_DEVICE_EXTENSIONS, sizeof all - 1, all, NULL);
    for (const char *at = all; (at = strstr(at, name)); at++) {
        size_t n = strlen(name);
        if ((at == all || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
            return true;
    }
    return false;
}

/* What the text asks for is there, or a sentence says what is not. */
static int check_extensions(const char *text)
{
    static const char head[] = "#pragma OPENCL EXTENSION ";

    for (const char *at = text; (at = strstr(at, head));) {
        char name[64];
        at += sizeof head - 1;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, " "), at);
        if (has_extension(name))
            continue;
        snprintf(cl.error, sizeof cl.error, "the device has no %s, which the kernel needs", name);
        return OTHER;
    }
    return 0;
}

/* The first line of the module's text: "// options: -x -y". */
static void options_of(const char *text, char *out, size_t n)
{
    static const char head[] = "// options:";
    size_t skip = !strncmp(text, head, sizeof head - 1) ? sizeof head - 1 : strlen(text);

    snprintf(out, n, "%s%.*s", cl.options, (int)strcspn(text + skip, "\n"), text + skip);
}

static int build_program(Program *p, char *log, size_t nlog)
{
    const char *text = p->m.text;
    char options[512];
    int32_t r = 0;

    p->program = cl.CreateProgramWithSource(cl.context, 1, &text, NULL, &r);
    if (!p->program)
        return r;
    options_of(text, options, sizeof options);
    r = cl.BuildProgram(p->program, 1, &cl.device, options, NULL, NULL);
    size_t n = 0;
    if (r && !cl.GetProgramBuildInfo(p->program, cl.device, CL_PROGRAM_BUILD_LOG, 0, NULL, &n)) {
        char *all = calloc(1, n + 1);
        if (all)
            cl.GetProgramBuildInfo(p->program, cl.device, CL_PROGRAM_BUILD_LOG, n, all, NULL);
        snprintf(log, nlog, "%s", all ? all : "");
        free(all);
    }
    return r;
}

static int module_load(const Gpu *g, Handle *module, const Module *code, char *log, size_t nlog)
{
    Program *p = calloc(1, sizeof *p);

    (void)g;
    if (!p || !(p->m.text = strdup(code->assembly))) {
        free(p);
        return CL_OUT_OF_HOST_MEMORY;
    }
    *module = p;
    int r = check_extensions(p->m.text);
    return r ? r : build_program(p, log, nlog);
}

static int module_unload(Handle module)
{
    Program *p = module;
    Function *fn = p->m.fn;

    cl.Finish(cl.queue);
    for (int i = 0; i < p->m.nfn; i++)
        if (fn[i].kernel)
            cl.ReleaseKernel(fn[i].kernel);
    if (p->program)
        cl.ReleaseProgram(p->program);
    if (cl.asserts == p)
        cl.asserts = NULL;
    text_free(&p->m);
    return 0;
}

static bool follows_addresses(const Kernel *k)
{
    for (int i = 0; i < k->buffers.n; i++)
        if (k->buffers.at[i]->pointer)
            return true;
    return false;
}

/* Has the kernel the flag for its last argument?  Its head in the text says so. */
static bool has_flag(const char *text, const char *symbol)
{
    char head[512];

    snprintf(head, sizeof head, "__kernel void %.480s(", symbol);
    const char *at = strstr(text, head), *end = at ? strstr(at, ")\n") : NULL;
    return end && memmem(at, (size_t)(end - at), "TL_FLAG", 7);
}

static int make_kernel(TextModule *m, void *fn, const Kernel *k)
{
    Program *p = (Program *)m;
    Function *f = fn;
    int32_t r = 0;
    size_t most = 0;
    size_t threads = (size_t)kernel_launch_threads(k);

    *f = (Function){.k = k, .of = p, .flag = has_flag(m->text, k->launch.symbol),
                    .looks = follows_addresses(k)};
    f->kernel = cl.CreateKernel(p->program, k->launch.symbol, &r);
    if (!f->kernel)
        return r;
    r = cl.GetKernelWorkGroupInfo(f->kernel, cl.device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most,
                                  &most, NULL);
    if (r == 0 && most < threads) {
        snprintf(cl.error, sizeof cl.error, "'%s' has blocks of %zu threads; the device takes %zu "
                 "of it", k->launch.symbol, threads, most);
        return OTHER;
    }
    return r;
}

static Status load(Arena *a, Gpu *g, Func *f, const Module *code, Loaded **out, const char **why)
{
    static const TextKernels how = {.language = "OpenCL", .args_most = ARGS_MOST - 1,
                                    .size = sizeof(Function), .no_memory = CL_OUT_OF_HOST_MEMORY,
                                    .make = make_kernel};
    return text_load(&how, a, g, f, code, out, why);
}

/* ---- launches -------------------------------------------------------------------------------- */

/* A kernel that finds addresses in memory is told of all there are. */
static int tell_addresses(const Function *f)
{
    int r = 0;

    pthread_mutex_lock(&cl.lock);
    void **at = calloc((size_t)cl.memory.n + 1, sizeof *at);
    for (int i = 0; at && i < cl.memory.n; i++)
        at[i] = cl.memory.at[i].at;
    if (at && cl.memory.n)
        r = cl.SetKernelExecInfo(f->kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS,
                                 (size_t)cl.memory.n * sizeof *at, at);
    pthread_mutex_unlock(&cl.lock);
    free(at);
    return r;
}

static int take_flag(void)
{
    DevicePtr at = 0;
    int r = cl.flag ? 0 : mem_alloc(&at, FLAG_BYTES);

    if (at) {
        cl.flag = (int *)(uintptr_t)at;
        r = mem_set(at, 0, FLAG_BYTES, NULL);
    }
    return r;
}

static int set_arguments(const Dispatch *d)
{
    const Function *f = d->f;
    int n = f->k->launch.args.n, r = f->looks ? tell_addresses(f) : 0;

    for (int i = 0; i < n && r == 0; i++) {
        const KernelArg *a = &f->k->launch.args.at[i];
        r = a->var ? cl.SetKernelArg(f->kernel, (uint32_t)i, opencl_scalar_bytes(a->var->type),
                                     &d->arg[i])
                   : cl.SetKernelArgSVMPointer(f->kernel, (uint32_t)i,
                                               (const void *)(uintptr_t)d->arg[i]);
    }
    if (f->flag && r == 0)
        r = take_flag();
    if (f->flag && r == 0)
        r = cl.SetKernelArgSVMPointer(f->kernel, (uint32_t)n, cl.flag);
    return r;
}

static int run_one(const Dispatch *d)
{
    size_t all[3], group[3];
    int r = set_arguments(d);

    for (int i = 0; i < 3; i++) {
        group[i] = d->block[i];
        all[i] = (size_t)d->grid[i] * d->block[i];
    }
    if (d->f->flag)
        cl.asserts = d->f->of;
    return r ? r
             : cl.EnqueueNDRangeKernel(cl.queue, d->f->kernel, 3, NULL, all, group, 0, NULL, NULL);
}

static int run_list(const void *launches, int n)
{
    const Dispatch *list = launches;
    int r = 0;

    for (int i = 0; i < n && r == 0; i++)
        r = run_one(&list[i]);
    return r;
}

static OneQueue queue = {.synchronize = synchronize, .run = run_list, .size = sizeof(Dispatch),
                         .no_memory = CL_OUT_OF_HOST_MEMORY};

static int launch_kernel(const Gpu *g, const DeviceLaunch *l)
{
    Dispatch d = {.f = l->f};
    int r;

    (void)g;
    memcpy(d.grid, l->grid, sizeof d.grid);
    memcpy(d.block, l->block, sizeof d.block);
    for (int i = 0; i < d.f->k->launch.args.n; i++)
        memcpy(&d.arg[i], l->params[i], sizeof d.arg[i]);
    return queue_keep(&queue, &d, &r) ? r : run_one(&d);
}

static int stream_create(Handle *stream, unsigned flags)
{
    (void)flags;
    *stream = &queue;
    return 0;
}

static int context_get(Handle *context)
{
    *context = &cl;
    return 0;
}

/* ---- the library and its device -------------------------------------------------------------- */

static bool take_functions(void *h)
{
    void *at;

#define X(result, name, arguments)                                                                 \
    if (!(at = dlsym(h, "cl" #name)))                                                              \
        return false;                                                                              \
    memcpy(&cl.name, &at, sizeof at);
    CL_FUNCTIONS(X)
#undef X
    return true;
}

static uint64_t device_number(ClObject device, uint32_t what)
{
    uint64_t v = 0;

    cl.GetDeviceInfo(device, what, sizeof v, &v, NULL);
    return v;
}

/* A GPU before an accelerator before a CPU; of those whose name has the word, if one is said. */
static ClObject find_device(const char *word)
{
    enum { MOST = 16 };
    static const uint64_t types[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR,
                                     CL_DEVICE_TYPE_CPU};
    ClObject platform[MOST], device[MOST];
    uint32_t nplatform = 0, n;

    if (cl.GetPlatformIDs(MOST, platform, &nplatform) != CL_SUCCESS)
        return NULL;
    for (int t = 0; t < COUNT(types); t++)
        for (uint32_t i = 0; i < MIN(nplatform, MOST); i++) {
            n = 0;
            if (cl.GetDeviceIDs(platform[i], types[t], MOST, device, &n) != CL_SUCCESS)
                continue;
            for (uint32_t d = 0; d < MIN(n, MOST); d++) {
                char name[256] = "";
                cl.GetDeviceInfo(device[d], CL_DEVICE_NAME, sizeof name - 1, name, NULL);
                if (!word || !*word || strstr(name, word))
                    return device[d];
            }
        }
    return NULL;
}

/* Quotients and roots are rounded once where the device can. */
static void choose_options(void)
{
    char version[128] = "";
    uint64_t floats = device_number(cl.device, CL_DEVICE_SINGLE_FP_CONFIG);

    cl.GetDeviceInfo(cl.device, CL_DEVICE_VERSION, sizeof version - 1, version, NULL);
    int major = strlen(version) > 7 ? version[7] - '0' : 1; /* "OpenCL 3.0 …" */
    snprintf(cl.options, sizeof cl.options, "-cl-std=%s%s",
             major >= 3   ? "CL3.0"
             : major == 2 ? "CL2.0"
                          : "CL1.2",
             floats & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
                 ? " -cl-fp32-correctly-rounded-divide-sqrt"
                 : "");
}

static const char *open_device(void)
{
    int32_t r = 0;

    cl.device = find_device(getenv("TILELANG_OPENCL_DEVICE"));
    if (!cl.device)
        return "libOpenCL is here and has no device: install a driver, such as pocl-opencl-icd, "
               "which is one for CPUs [no-opencl-device]";
    if (!device_number(cl.device, CL_DEVICE_SVM_CAPABILITIES))
        return "the OpenCL device has no shared virtual memory, which tensors are kept in "
               "[no-opencl-device]";
    cl.context = cl.CreateContext(NULL, 1, &cl.device, NULL, NULL, &r);
    if (cl.context)
        cl.queue = cl.CreateCommandQueue(cl.context, cl.device, 0, &r);
    if (!cl.queue)
        return "the OpenCL device gives no queue [no-opencl-device]";
    choose_options();
    return NULL;
}

static const Gpu gpu_record = {
    .tag = "[opencl-failed]",
    .context = &cl,
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

/* What OpenCL does not tell, its memory's speed, is as target.c has it: 50 GB/s. */
static void describe(Gpu *g)
{
    char name[sizeof g->name] = "";
    uint64_t local = device_number(cl.device, CL_DEVICE_LOCAL_MEM_SIZE);

    cl.GetDeviceInfo(cl.device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    snprintf(g->name, sizeof g->name, "%s", name);
    snprintf(g->arch, sizeof g->arch, "local%dk", (int)(local / 1024));
    g->facts = (GpuFacts){
        .units = (int)device_number(cl.device, CL_DEVICE_MAX_COMPUTE_UNITS),
        .clock_khz = (int)device_number(cl.device, CL_DEVICE_MAX_CLOCK_FREQUENCY) * 1000,
        .l2_bytes = (int)device_number(cl.device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE),
        .memory_khz = 3125000,
        .memory_bits = 64,
        .shared_block = (int)local,
    };
}

static Status opencl_open(Arena *a, Gpu **gpu, const char **why)
{
    const char *said = getenv("TILELANG_OPENCL");

    if (*gpu)
        return STATUS_OK;
    if (!cl.queue) {
        void *h = dlopen(said && *said ? said : "libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!h || !take_functions(h)) {
            *why = "no libOpenCL here (or one older than OpenCL 2): this machine can build for "
                   "OpenCL but not run there; Debian's ocl-icd-libopencl1 and pocl-opencl-icd are "
                   "one, TILELANG_OPENCL says where [no-opencl]";
            return STATUS_TOOL;
        }
        const char *bad = open_device();
        if (bad) {
            *why = bad;
            return STATUS_TOOL;
        }
    }
    Gpu *g = NEW(a, Gpu);
    *g = gpu_record;
    describe(g);
    *gpu = g;
    return STATUS_OK;
}

/* ---- building: the text is what the driver takes --------------------------------------------- */

static Status find(Arena *a, Compiler *c, const char **why)
{
    (void)a;
    (void)why;
    *c = (Compiler){.path = "libOpenCL", .version = "libOpenCL"};
    return STATUS_OK;
}

static Status build(Arena *a, Compiler *c, const ModuleSpec *s, Module *out, const char **why)
{
    (void)c;
    (void)why;
    *out = (Module){.assembly = arena_printf(a, "// options: %s\n%.*s", s->extra ? s->extra : "",
                                             (int)s->nsource, s->source),
                    .log = ""};
    return STATUS_OK;
}

/* Of clBuildProgram; what else a driver takes is its own. */
static bool knows(const char *flag)
{
    static const char *const heads[] = {"-D", "-I", "-cl-"};

    for (int i = 0; i < COUNT(heads); i++)
        if (!strncmp(flag, heads[i], strlen(heads[i])))
            return true;
    return !strcmp(flag, "-w") || !strcmp(flag, "-Werror");
}

extern const Runtime runtime_opencl;
const Runtime runtime_opencl = {
    .name = "opencl",
    .compiler = "OpenCL",
    .language = "OpenCL C",
    .ending = "cl",
    .fast_math = "-cl-denorms-are-zero",
    .line_info = "",
    .by_name = true,
    .find = find,
    .build = build,
    .knows = knows,
    .bundle = &opencl_bundle,
    .open = opencl_open,
    .peak = device_peak_unknown,
    .load = load,
    DEVICE_RUNS_BUT_LOAD,
};
