/* nvrtc.c -- CUDA C becomes a cubin and PTX through NVIDIA's run-time compiler, found by dlopen.
 *
 * No header of NVIDIA's is needed: the few functions are declared here as they are documented. */
#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "ir/config.h"
#include "target/cuda/rt/cuda.h"

typedef void *NvrtcProgram;

/* X(result, name, arguments): all must be there. */
#define NVRTC_FUNCTIONS(X)                                                                         \
    X(int, nvrtcVersion, (int *major, int *minor))                                                 \
    X(int, nvrtcCreateProgram,                                                                     \
      (NvrtcProgram * p, const char *text, const char *name, int nheader,                          \
       const char *const *headers, const char *const *names))                                      \
    X(int, nvrtcDestroyProgram, (NvrtcProgram * p))                                                \
    X(int, nvrtcCompileProgram, (NvrtcProgram p, int noption, const char *const *options))         \
    X(int, nvrtcGetProgramLogSize, (NvrtcProgram p, size_t * n))                                   \
    X(int, nvrtcGetProgramLog, (NvrtcProgram p, char *log))                                        \
    X(int, nvrtcGetCUBINSize, (NvrtcProgram p, size_t * n))                                        \
    X(int, nvrtcGetCUBIN, (NvrtcProgram p, char *cubin))                                           \
    X(int, nvrtcGetPTXSize, (NvrtcProgram p, size_t * n))                                          \
    X(int, nvrtcGetPTX, (NvrtcProgram p, char *ptx))                                               \
    X(const char *, nvrtcGetErrorString, (int result))

typedef struct {
#define X(result, name, arguments) result(*name) arguments;
    NVRTC_FUNCTIONS(X)
#undef X
} NvrtcApi;

enum { OPTIONS_MOST = 33 };

/* ---- finding it ------------------------------------------------------------------------------ */

static bool take_functions(void *handle, NvrtcApi *f)
{
    void *at;

#define X(result, name, arguments)                                                                 \
    if (!(at = dlsym(handle, #name)))                                                              \
        return false;                                                                              \
    memcpy(&f->name, &at, sizeof at);
    NVRTC_FUNCTIONS(X)
#undef X
    return true;
}

static void *try_open(Arena *a, const char *path, const char **found)
{
    void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (h)
        *found = arena_strdup(a, path);
    return h;
}

/* The last match in order of names: the newest version. */
static void *try_pattern(Arena *a, const char *pattern, const char **found)
{
    glob_t g;
    void *h = NULL;

    if (glob(pattern, 0, NULL, &g) != 0)
        return NULL;
    for (size_t i = g.gl_pathc; i > 0 && !h; i--)
        if (!strstr(g.gl_pathv[i - 1], "builtins") && !strstr(g.gl_pathv[i - 1], ".alt."))
            h = try_open(a, g.gl_pathv[i - 1], found);
    globfree(&g);
    return h;
}

/* PREFIX/lib/python3.x/site-packages/nvidia/…/lib of every folder on PATH with a python3, which is
 * where pip puts the wheel. */
static void *try_python(Arena *a, const char *ending, const char **found)
{
    const char *path = getenv("PATH"), *home = getenv("HOME");
    void *h = NULL;

    for (const char *s = path ? path : ""; *s && !h;) {
        size_t n = strcspn(s, ":");
        char *dir = arena_strndup(a, s, n);
        s += n + (s[n] == ':');
        if (!file_exists(path_join(a, dir, "python3")))
            continue;
        h = try_pattern(
            a, arena_printf(a, "%s/../lib/python3*/*-packages/nvidia/*/lib/%s", dir, ending),
            found);
    }
    if (!h && home)
        h = try_pattern(
            a,
            arena_printf(a, "%s/.local/lib/python3*/site-packages/nvidia/*/lib/%s", home, ending),
            found);
    return h;
}

/* Which NVRTC: the newest, or one that still knows sm_70, which 13 does not. */
typedef struct {
    const char *root;     /* in the environment, before CUDA_HOME and CUDA_PATH */
    const char *names[4]; /* for the loader, up to a NULL */
    const char *files;    /* in a folder */
    const char *memory;   /* where it is remembered */
    const char *none;
} Which;

static const Which newest = {
    "TILELANG_NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", NULL}, "libnvrtc.so.*",
    "nvrtc.txt",
    "no NVRTC here: install the CUDA toolkit or `pip install nvidia-cuda-nvrtc`, or "
    "set CUDA_HOME; the CUDA text itself needs none (--source) [no-nvrtc]"};

static const Which twelve = {
    "TILELANG_NVRTC12", {"libnvrtc.so.12", NULL}, "libnvrtc.so.12*", "nvrtc12.txt",
    "no NVRTC 12 here, and later ones do not know sm_70: `pip install nvidia-cuda-nvrtc-cu12`, or "
    "set TILELANG_NVRTC12 to the folder of its libnvrtc.so.12; the CUDA text itself needs none "
    "(--source) [no-nvrtc]"};

static void *open_library(Arena *a, const Which *w, const char **found)
{
    const char *const roots[] = {w->root, "TILELANG_NVRTC", "CUDA_HOME", "CUDA_PATH"};
    static const char *const folders[] = {"/lib64", "/lib", ""};
    void *h = NULL;

    for (int i = 0; i < COUNT(roots) && !h; i++) {
        const char *root = getenv(roots[i]);
        for (int j = 0; root && *root && j < COUNT(folders) && !h; j++)
            h = try_pattern(a, arena_printf(a, "%s%s/%s", root, folders[j], w->files), found);
    }
    for (int i = 0; w->names[i] && !h; i++)
        h = try_open(a, w->names[i], found);
    if (!h)
        h = try_pattern(a, arena_printf(a, "/usr/local/cuda/lib64/%s", w->files), found);
    if (!h)
        h = try_python(a, w->files, found);
    if (!h)
        h = try_pattern(a, arena_printf(a, "/usr/local/cuda-*/lib64/%s", w->files), found);
    return h;
}

/* Loading the library takes longer than a kernel out of the cache.  What it said is kept beside the
 * cache: the words that the search depends on, then the file with its size and time, then path and
 * version as the cache's keys have them. */
static const char *search_words(Arena *a)
{
    static const char *const names[] = {"TILELANG_NVRTC", "CUDA_HOME", "CUDA_PATH",
                                        "LD_LIBRARY_PATH", "PATH", "HOME", "TILELANG_NVRTC12"};
    Str s;
    char hex[33];

    str_init(&s, a);
    for (int i = 0; i < COUNT(names); i++)
        str_printf(&s, "%s=%s\n", names[i], getenv(names[i]) ? getenv(names[i]) : "");
    hash_hex(s.s, s.n, hex);
    return arena_strdup(a, hex);
}

static const char *file_facts(Arena *a, const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return "";
    return arena_printf(a, "%lld %lld.%09ld", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
                        st.st_mtim.tv_nsec);
}

static char *memory_path(Arena *a, const Which *w)
{
    return path_join(a, cache_root(a), w->memory);
}

static bool recall(Arena *a, const Which *w, Compiler *c)
{
    char *text, *line[5], *rest = NULL;
    size_t n;
    const char *why;

    if (file_read(a, memory_path(a, w), &text, &n, &why) != STATUS_OK)
        return false;
    for (int i = 0; i < COUNT(line); i++)
        if (!(line[i] = strtok_r(i ? NULL : text, "\n", &rest)))
            return false;
    if (strcmp(line[0], search_words(a)) || strcmp(line[2], file_facts(a, line[1])))
        return false;
    c->path = line[3];
    c->version = line[4];
    return true;
}

static void remember(Arena *a, const Which *w, const Compiler *c, void *handle)
{
    struct link_map *map = NULL;
    const char *why;

    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map || !map->l_name || !*map->l_name)
        return;
    char *text = arena_printf(a, "%s\n%s\n%s\n%s\n%s\n", search_words(a), map->l_name,
                              file_facts(a, map->l_name), c->path, c->version);
    if (dir_make(a, cache_root(a), &why) == STATUS_OK)
        file_write(a, memory_path(a, w), text, strlen(text), &why);
}

static Status find_which(Arena *a, const Which *w, Compiler *c, const char **why)
{
    NvrtcApi f;
    const char *found = NULL;
    int major = 0, minor = 0;

    if (c->path || recall(a, w, c))
        return STATUS_OK;
    void *h = open_library(a, w, &found);
    if (!h || !take_functions(h, &f)) {
        *why = w->none;
        return STATUS_TOOL;
    }
    f.nvrtcVersion(&major, &minor);
    c->version = arena_printf(a, "NVRTC %d.%d", major, minor);
    c->path = found;
    remember(a, w, c, h);
    return STATUS_OK;
}

Status nvrtc_find(Arena *a, Compiler *c, const char **why)
{
    return find_which(a, &newest, c, why);
}

Status nvrtc12_find(Arena *a, Compiler *c, const char **why)
{
    return find_which(a, &twelve, c, why);
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* Kernels of one text by as many threads as there are cores; older versions do not know it. */
static const char side_by_side[] = "--split-compile=0";

/* Flags of the user's that are given to NVRTC. */
bool nvrtc_knows(const char *word)
{
    static const char *const heads[] = {"-D", "-U", "-I"};
    static const char *const parts[] = {"fast_math", "fmad", "ftz", "maxrregcount", "prec-",
                                        "lineinfo", "ptxas-options"};

    for (int i = 0; i < COUNT(heads); i++)
        if (!strncmp(word, heads[i], strlen(heads[i])))
            return true;
    for (int i = 0; i < COUNT(parts); i++)
        if (strstr(word, parts[i]))
            return true;
    return !strcmp(word, side_by_side);
}

static int take_extra(Arena *a, const char *extra, const char **options, int n)
{
    while (extra && n < OPTIONS_MOST - 1) {
        extra += strspn(extra, " \t\n");
        size_t len = strcspn(extra, " \t\n");
        if (len == 0)
            break;
        const char *word = arena_strndup(a, extra, len);
        if (nvrtc_knows(word))
            options[n++] = word;
        extra += len;
    }
    return n;
}

/* What NVRTC keeps it gives back without the log, in which we look for what ptxas says; older
 * versions keep nothing and do not know the word.  The last flag. */
static const char no_cache[] = "--no-cache";

const char *const *nvrtc_flags(Arena *a, const Compiler *c, const TargetSpec *spec,
                               const char *extra, int *n)
{
    const char **o = NEWN(a, const char *, OPTIONS_MOST);

    (void)c;
    *n = 0;
    o[(*n)++] = arena_printf(a, "--gpu-architecture=%s", spec->arch);
    o[(*n)++] = "--std=c++17";
    o[(*n)++] = "-lineinfo";
    o[(*n)++] = "--ptxas-options=-v";
    *n = take_extra(a, extra, o, *n);
    o[(*n)++] = no_cache;
    return o;
}

/* Words that an older version does not know are left out, those first that came last. */
static int compile_program(Arena *a, const NvrtcApi *f, NvrtcProgram p, const char *const *flags,
                           int nflag)
{
    enum { INVALID_OPTION = 5 };
    const char **known = NEWN(a, const char *, nflag + 1);
    int n = 0, r = f->nvrtcCompileProgram(p, nflag, flags);

    if (r != INVALID_OPTION)
        return r;
    for (int i = 0; i < nflag; i++)
        if (strcmp(flags[i], side_by_side))
            known[n++] = flags[i];
    if (n < nflag)
        r = f->nvrtcCompileProgram(p, n, known);
    if (r == INVALID_OPTION && n > 0 && known[n - 1] == no_cache)
        r = f->nvrtcCompileProgram(p, n - 1, known);
    return r;
}

static Status take_results(Arena *a, const NvrtcApi *f, NvrtcProgram p, const ModuleSpec *s,
                           const char *const *flags, int nflag, Module *out, const char **why)
{
    size_t n = 0;
    int r = compile_program(a, f, p, flags, nflag);

    f->nvrtcGetProgramLogSize(p, &n);
    char *log = NEWN(a, char, n + 1);
    f->nvrtcGetProgramLog(p, log);
    out->log = log;
    if (r != 0) {
        *why = arena_printf(a, "NVRTC did not take '%s' (%s):\n%s", s->name,
                            f->nvrtcGetErrorString(r), log);
        return STATUS_TOOL;
    }
    if (f->nvrtcGetCUBINSize(p, &n) == 0 && n > 0) {
        out->binary = NEWN(a, char, n);
        out->nbinary = n;
        f->nvrtcGetCUBIN(p, out->binary);
    }
    n = 0;
    if (f->nvrtcGetPTXSize(p, &n) == 0 && n > 0) {
        out->assembly = NEWN(a, char, n + 1);
        f->nvrtcGetPTX(p, out->assembly);
    }
    return STATUS_OK;
}

static Status compile(Arena *a, const NvrtcApi *f, const ModuleSpec *s, const char *const *flags,
                      int nflag, Module *out, const char **why)
{
    NvrtcProgram p = NULL;
    Status st = STATUS_TOOL;
    /* A name of a root: NVRTC puts the current folder before others, into the machine code too. */
    const char *file = s->file ? s->file : arena_printf(a, "/%s.cu", s->name);
    int r = f->nvrtcCreateProgram(&p, s->source, file, 0, NULL, NULL);

    *out = (Module){0};
    if (r != 0)
        *why = arena_printf(a, "NVRTC: %s", f->nvrtcGetErrorString(r));
    else
        st = take_results(a, f, p, s, flags, nflag, out, why);
    if (p)
        f->nvrtcDestroyProgram(&p);
    return st;
}

/* ---- when it crashes ------------------------------------------------------------------------- */

typedef struct {
    Arena *a;
    const NvrtcApi *f;
    const ModuleSpec *s;
    const char *const *flags;
    int nflag;
    Module *out;
    const char **why;
    Status status;
    FILE *file; /* of a child: what it found */
} Call;

static void call_here(void *arg)
{
    Call *c = arg;
    c->status = compile(c->a, c->f, c->s, c->flags, c->nflag, c->out, c->why);
}

static void put_part(FILE *f, const void *at, size_t n)
{
    fwrite(&n, sizeof n, 1, f);
    fwrite(at, 1, n, f);
}

static int call_in_child(void *arg)
{
    Call *c = arg;
    call_here(c);
    const Module *m = c->out;

    if (c->status != STATUS_OK) {
        put_part(c->file, *c->why, strlen(*c->why));
    } else {
        put_part(c->file, m->log, strlen(m->log));
        put_part(c->file, m->binary, m->nbinary);
        put_part(c->file, m->assembly, m->assembly ? strlen(m->assembly) : 0);
    }
    return fflush(c->file) == 0 ? (int)c->status : (int)STATUS_TOOL;
}

static char *take_part(Arena *a, FILE *f, size_t *n)
{
    if (fread(n, sizeof *n, 1, f) != 1)
        return NULL;
    char *at = NEWN(a, char, *n + 1);
    return fread(at, 1, *n, f) == *n ? at : NULL;
}

/* In a process of its own; false when that crashed too. */
static bool compile_apart(Call *c)
{
    enum { SECONDS = 300 };
    int code = -1;
    size_t n;

    const char *dir = getenv("TMPDIR"), *path = path_temp(c->a, dir ? dir : "/tmp", "nvrtc");
    c->file = fopen(path, "w+x");
    if (c->file)
        remove(path); /* a file without a name: nothing is left of it */
    if (!c->file || proc_call(call_in_child, c, SECONDS, &code) != STATUS_OK ||
        (code != STATUS_OK && code != STATUS_TOOL)) {
        if (c->file)
            fclose(c->file);
        return false;
    }
    rewind(c->file);
    *c->out = (Module){0};
    c->status = (Status)code;
    if (c->status != STATUS_OK) {
        const char *said = take_part(c->a, c->file, &n);
        *c->why = said ? said : "NVRTC said nothing";
    } else {
        c->out->log = take_part(c->a, c->file, &n);
        c->out->binary = take_part(c->a, c->file, &c->out->nbinary);
        c->out->assembly = take_part(c->a, c->file, &n);
    }
    fclose(c->file);
    return true;
}

static const char *without_unrolling(Arena *a, const char *text)
{
    static const char word[] = "#pragma unroll\n";
    Str s;

    str_init(&s, a);
    for (const char *at; (at = strstr(text, word)); text = at + sizeof word - 2)
        str_putn(&s, text, (size_t)(at - text)); /* the line stays, empty */
    str_puts(&s, text);
    return s.s;
}

static const char avoided[] = "avoided: ";

/* NVRTC crashes on some texts.  It is done with in this process then, whose memory it may have
 * spoilt: what it compiles from now on it compiles in children, that text without its unrolling. */
static Status compile_safely(Arena *a, const NvrtcApi *f, const ModuleSpec *s,
                             const char *const *flags, int nflag, Module *out, const char **why)
{
    static _Atomic bool has_crashed;
    Call c = {a, f, s, flags, nflag, out, why, STATUS_TOOL, NULL};
    ModuleSpec plain = *s;

    if (!has_crashed && guard_call(call_here, &c) == 0)
        return c.status;
    if (has_crashed && compile_apart(&c))
        return c.status;
    has_crashed = true;
    plain.source = without_unrolling(a, s->source);
    c.s = &plain;
    if (!compile_apart(&c)) {
        *why = arena_printf(a, "NVRTC crashes on '%s', also without unrolled loops "
                            "[compiler-fault]", s->name);
        return STATUS_TOOL;
    }
    if (c.status == STATUS_OK)
        out->log = arena_printf(a, "%sNVRTC crashes on this kernel; it is compiled without "
                                "unrolled loops, and may be slow\n%s", avoided,
                                out->log ? out->log : "");
    return c.status;
}

/* The same text with an assembler that does less, or nothing, to it; what it was kept from goes
 * into the log. */
static Status compile_plainly(Arena *a, const NvrtcApi *f, const ModuleSpec *s,
                              const char *const *flags, int nflag, const char *fault,
                              Module *out, const char **why)
{
    static const char *const less[] = {"--ptxas-options=-O1", "--ptxas-options=-O0"};
    const char **plain = NEWN(a, const char *, nflag + 1), *left = fault;
    Status st = STATUS_OK;

    memcpy(plain + 1, flags, (size_t)nflag * sizeof *flags); /* the last flag stays the last */
    for (int i = 0; i < COUNT(less) && left && st == STATUS_OK; i++) {
        plain[0] = less[i];
        st = compile_safely(a, f, s, plain, nflag + 1, out, why);
        left = st == STATUS_OK ? sass_fault(out->binary, out->nbinary) : NULL;
    }
    if (left) {
        *why = arena_printf(a, "the assembler makes wrong code of '%s': %s [compiler-fault]",
                            s->name, left);
        return STATUS_TOOL;
    }
    out->log = arena_printf(a, "%sNVIDIA's assembler makes wrong code of this kernel (%s); it is "
                            "assembled with less optimisation, and may be slow\n%s", avoided, fault,
                            out->log ? out->log : "");
    return st;
}

Status nvrtc_run(Arena *a, const Compiler *c, const ModuleSpec *s, const char *const *flags,
                 int nflag, Module *out, const char **why)
{
    NvrtcApi f;
    double start = now_seconds();
    void *h = dlopen(c->path, RTLD_NOW | RTLD_LOCAL);

    *out = (Module){0};
    if (!h || !take_functions(h, &f)) {
        *why = newest.none;
        return STATUS_TOOL;
    }
    Status st = compile_safely(a, &f, s, flags, nflag, out, why);
    const char *fault = st == STATUS_OK ? sass_fault(out->binary, out->nbinary) : NULL;
    if (fault)
        st = compile_plainly(a, &f, s, flags, nflag, fault, out, why);
    out->seconds = now_seconds() - start;
    return st;
}

const char *nvrtc_avoided(const char *log, size_t *n)
{
    if (!log || strncmp(log, avoided, sizeof avoided - 1))
        return NULL;
    log += sizeof avoided - 1;
    *n = strcspn(log, "\n");
    return log;
}

/* ---- what ptxas says ------------------------------------------------------------------------- */

static int64_t number_before(const char *line, const char *end, const char *word)
{
    const char *at = memmem(line, (size_t)(end - line), word, strlen(word));

    while (at && at > line && at[-1] == ' ')
        at--;
    const char *start = at;
    while (start && start > line && start[-1] >= '0' && start[-1] <= '9')
        start--;
    return start && start < at ? strtoll(start, NULL, 10) : -1;
}

bool nvrtc_resources(const char *log, const char *kernel, KernelResources *r)
{
    char head[160];
    *r = (KernelResources){-1, -1, -1};

    snprintf(head, sizeof head, "Compiling entry function '%s'", kernel);
    const char *at = log ? strstr(log, head) : NULL;
    if (!at)
        return false;
    const char *end = strstr(at + 1, "Compiling entry function");
    if (!end)
        end = at + strlen(at);
    r->registers = number_before(at, end, "registers");
    int64_t stores = number_before(at, end, "bytes spill stores"),
            loads = number_before(at, end, "bytes spill loads");
    r->spill_bytes = stores < 0 ? -1 : stores + MAX(loads, 0);
    r->stack_bytes = number_before(at, end, "bytes stack frame");
    return r->registers >= 0;
}

/* The messages C7510 to C7515 and their likes, which ptxas gives as remarks. */
const char *nvrtc_serialized(const char *log, size_t *n)
{
    for (const char *line = log; line && *line;) {
        *n = strcspn(line, "\n");
        const char *code = memmem(line, *n, "(C75", 4);
        if (code && memmem(line, *n, "wgmma", 5) && memmem(line, *n, "serialized", 10))
            return line;
        line += *n + (line[*n] == '\n');
    }
    return NULL;
}

/* ---- for the record -------------------------------------------------------------------------- */

Status nvrtc_build(Arena *a, Compiler *c, const ModuleSpec *s, Module *out, const char **why)
{
    static const DeviceCompiler with = {nvrtc_find, nvrtc_flags, nvrtc_run};
    return device_build(a, c, s, &with, out, why);
}

Status nvrtc12_build(Arena *a, Compiler *c, const ModuleSpec *s, Module *out, const char **why)
{
    static const DeviceCompiler with = {nvrtc12_find, nvrtc_flags, nvrtc_run};
    return device_build(a, c, s, &with, out, why);
}

void nvrtc_wishes(const Func *f, Str *out)
{
    int64_t level = config_int(f, CONFIG_ptxas_register_usage_level);

    if (f->kernels.n > 1)
        str_printf(out, " %s", side_by_side);
    if (level >= 0)
        str_printf(out, " --ptxas-options=--register-usage-level=%d", (int)level);
}

void nvrtc_warn(Arena *a, const Module *m, const TargetSpec *spec,
                void (*tell)(void *arg, const char *text, bool grave), void *arg)
{
    size_t n;

    /* A warning means that our text, or C of the user's in it, is not what it should be. */
    for (const char *line = m->log; line && *line; line += n + (line[n] == '\n')) {
        n = strcspn(line, "\n");
        if (memmem(line, n, "are deprecated", 14))
            continue; /* of the architecture that was asked for */
        if (memmem(line, n, "warning", 7) ||
            (memmem(line, n, "(C75", 4) && !memmem(line, n, "serialized", 10)))
            tell(arg, arena_printf(a, "NVRTC: %.*s [compiler-warning]", (int)n, line), false);
    }
    const char *line = nvrtc_serialized(m->log, &n);
    /* Right, and slower than it should be; stamps of a profile may well be what stops them. */
    if (line && !spec->profile)
        tell(arg, arena_printf(a, "ptxas runs the matrix instructions of this kernel one after "
                               "the other: %.*s [wgmma-serialized]", (int)n, line), true);
    line = nvrtc_avoided(m->log, &n);
    if (line)
        tell(arg, arena_printf(a, "%.*s [compiler-fault]", (int)n, line), true);
}

void nvrtc_audit(const Module *m, Kernel *k)
{
    KernelResources r;

    if (!nvrtc_resources(m->log, k->launch.symbol, &r))
        return;
    if (r.spill_bytes > 0)
        audit_note(k, AUDIT_SPILL, k->span, "each thread of '%s' spills %lld bytes: %lld registers "
                   "do not suffice", k->launch.symbol, (long long)r.spill_bytes,
                   (long long)r.registers);
    else if (r.stack_bytes > 0)
        audit_note(k, AUDIT_STACK, k->span, "arrays of each thread of '%s' take %lld bytes of the "
                   "stack", k->launch.symbol, (long long)r.stack_bytes);
}

void nvrtc_tell(const Module *m, const TargetSpec *spec, const Kernel *k, Str *out)
{
    KernelResources r;
    const char *limit;
    int most, threads = kernel_launch_threads(k);
    bool told = nvrtc_resources(m->log, k->launch.symbol, &r);

    if (told)
        str_printf(out, ", %lld registers, %lld bytes spilled", (long long)r.registers,
                   (long long)MAX(r.spill_bytes, 0));
    int blocks = occupancy(&spec->machine, threads, told ? r.registers : -1, k->launch.shared_bytes,
                           &limit, &most);
    int warps = blocks * ((threads + kernel_warp(k) - 1) / kernel_warp(k));
    str_printf(out, ", %d block%s a multiprocessor (%d of %d warps, limited by %s)", blocks,
               blocks == 1 ? "" : "s", warps, most, limit);
}
