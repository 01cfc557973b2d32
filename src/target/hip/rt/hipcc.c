/* hipcc.c -- HIP becomes a code object through a clang or hiprtc.
 *
 * A clang needs no ROCm: nothing is included, and of its libraries only ocml.bc where a text calls
 * mathematical functions.  hiprtc is taken where no clang is. */
#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include "target/hip/rt/hip.h"

enum { OPTIONS_MOST = 40, WORDS_MOST = 48 };
static const double compile_seconds = 600;

/* ---- finding them ---------------------------------------------------------------------------- */

/* The last match in order of names. */
static const char *last_match(Arena *a, const char *pattern)
{
    const char *found = NULL;
    glob_t g;

    if (glob(pattern, 0, NULL, &g) != 0)
        return NULL;
    if (g.gl_pathc > 0)
        found = arena_strdup(a, g.gl_pathv[g.gl_pathc - 1]);
    globfree(&g);
    return found;
}

static const char *on_path(Arena *a, const char *name)
{
    const char *path = getenv("PATH");

    for (const char *s = path ? path : ""; *s;) {
        size_t n = strcspn(s, ":");
        const char *file = path_join(a, arena_strndup(a, s, n), name);
        if (file_exists(file))
            return file;
        s += n + (s[n] == ':');
    }
    return NULL;
}

static const char *rocm_file(Arena *a, const char *pattern)
{
    static const char *const roots[] = {"ROCM_PATH", "HIP_PATH"};
    const char *found = NULL;

    for (int i = 0; i < COUNT(roots) && !found; i++)
        if (getenv(roots[i]) && *getenv(roots[i]))
            found = last_match(a, path_join(a, getenv(roots[i]), pattern));
    if (!found)
        found = last_match(a, path_join(a, "/opt/rocm", pattern));
    return found ? found : last_match(a, path_join(a, "/opt/rocm-*", pattern));
}

/* Older ones lack instructions that texts name. */
static const char *find_clang(Arena *a)
{
    static const char *const names[] = {"amdclang++", "clang-22", "clang-21", "clang-20",
                                        "clang-19"};
    const char *said = getenv("TILELANG_HIP_CLANG"), *found = NULL;

    if (said && *said)
        return strchr(said, '/') ? said : on_path(a, said);
    found = rocm_file(a, "llvm/bin/clang++");
    for (int i = 0; i < COUNT(names) && !found; i++)
        found = on_path(a, names[i]);
    return found;
}

/* One that the process has already (PyTorch's, say) is the one whose memory callers hold. */
void *hip_library(Arena *a, const char *name)
{
    static const char *const after[] = {"", ".7", ".6", ".5"};
    const char *file;
    void *h = NULL;

    for (int load = 0; load < 2; load++)
        for (int i = 0; i < COUNT(after) && !h; i++)
            h = dlopen(arena_printf(a, "%s%s", name, after[i]),
                       RTLD_NOW | RTLD_LOCAL | (load ? 0 : RTLD_NOLOAD));
    if (!h && (file = rocm_file(a, arena_printf(a, "lib/%s*", name))))
        h = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    return h;
}

/* X(name, arguments): all must be there; 0 is success. */
#define HIPRTC_FUNCTIONS(X)                                                                        \
    X(hiprtcVersion, (int *major, int *minor))                                                     \
    X(hiprtcCreateProgram, (Handle * p, const char *text, const char *name, int nheader,           \
                            const char *const *headers, const char *const *names))                 \
    X(hiprtcDestroyProgram, (Handle * p))                                                          \
    X(hiprtcCompileProgram, (Handle p, int noption, const char *const *options))                   \
    X(hiprtcGetProgramLogSize, (Handle p, size_t * n))                                             \
    X(hiprtcGetProgramLog, (Handle p, char *log))                                                  \
    X(hiprtcGetCodeSize, (Handle p, size_t * n))                                                   \
    X(hiprtcGetCode, (Handle p, char *code))

typedef struct {
#define X(name, arguments) int(*name) arguments;
    HIPRTC_FUNCTIONS(X)
#undef X
} Hiprtc;

/* In a library of their own, or in the HIP runtime's. */
static bool open_hiprtc(Arena *a, Hiprtc *f)
{
    void *h = hip_library(a, "libhiprtc.so"), *at;

    if (!h && !(h = hip_library(a, "libamdhip64.so")))
        return false;
#define X(name, arguments)                                                                         \
    if (!(at = dlsym(h, #name)))                                                                   \
        return false;                                                                              \
    memcpy(&f->name, &at, sizeof at);
    HIPRTC_FUNCTIONS(X)
#undef X
    return true;
}

static bool find_hiprtc(Arena *a, Compiler *c)
{
    int major = 0, minor = 0;
    Hiprtc f;

    if (!open_hiprtc(a, &f))
        return false;
    f.hiprtcVersion(&major, &minor);
    *c = (Compiler){.path = "hiprtc", .version = arena_printf(a, "hiprtc %d.%d", major, minor)};
    return true;
}

static const char *find_ocml(Arena *a)
{
    static const char *const patterns[] = {
        "/usr/lib/*/amdgcn/bitcode/ocml.bc", "/usr/lib/clang/*/amdgcn/bitcode/ocml.bc",
        "/usr/lib/amdgcn/bitcode/ocml.bc", "/usr/lib/llvm-*/lib/clang/*/*/amdgcn/bitcode/ocml.bc",
        "/usr/amdgcn/bitcode/ocml.bc"};
    const char *said = getenv("TILELANG_OCML");
    const char *found = said && *said ? said : rocm_file(a, "amdgcn/bitcode/ocml.bc");

    for (int i = 0; i < COUNT(patterns) && !found; i++)
        found = last_match(a, patterns[i]);
    return found;
}

static const char no_compiler[] =
    "no compiler for AMD GPUs here: install ROCm or clang-19 with lld, or set TILELANG_HIP_CLANG; "
    "the HIP text itself needs none (--source) [no-hip-compiler]";

Status hipcc_find(Arena *a, Compiler *c, const char **why)
{
    const char *argv[] = {NULL, "--version", NULL};
    ProcResult r;

    if (c->path)
        return STATUS_OK;
    argv[0] = find_clang(a);
    if (!argv[0] && find_hiprtc(a, c))
        return STATUS_OK;
    if (!argv[0]) {
        *why = no_compiler;
        return STATUS_TOOL;
    }
    if (proc_run(a, argv, NULL, 60, &r, why) != STATUS_OK)
        return STATUS_TOOL;
    *c = (Compiler){.path = argv[0], .is_clang = true,
                    .version = arena_strndup(a, r.out, strcspn(r.out, "\n"))};
    return STATUS_OK;
}

/* ---- running them ---------------------------------------------------------------------------- */

const char *const *hipcc_flags(Arena *a, const Compiler *c, const TargetSpec *spec,
                               const char *extra, int *n)
{
    (void)c;
    const char **o = NEWN(a, const char *, OPTIONS_MOST);
    char *rest = NULL, *words = arena_strdup(a, extra ? extra : "");

    *n = 0;
    o[(*n)++] = arena_printf(a, "--offload-arch=%s", spec->arch);
    o[(*n)++] = "-O3";
    o[(*n)++] = "-std=c++17";
    o[(*n)++] = "-fno-strict-aliasing"; /* elements are moved as words */
    for (char *w = strtok_r(words, " ", &rest); w && *n < OPTIONS_MOST;
         w = strtok_r(NULL, " ", &rest))
        o[(*n)++] = w;
    return o;
}

/* ocml, ockl for printf, and the constants that they read, as far as they are beside it. */
static int link_library(Arena *a, const char *arch, const char **argv, int n)
{
    const char *ocml = find_ocml(a);
    const char *const names[] = {
        "ocml", "ockl", "oclc_daz_opt_off", "oclc_finite_only_off", "oclc_unsafe_math_off",
        "oclc_correctly_rounded_sqrt_on", "oclc_wavefrontsize64_on", "oclc_abi_version_500",
        arena_printf(a, "oclc_isa_version_%s", arch + strlen("gfx")), "oclc_isa_version_90a"};
    bool version = false;

    for (int i = 0; ocml && i < COUNT(names); i++) {
        size_t folder = (size_t)(strrchr(ocml, '/') + 1 - ocml);
        const char *file = arena_printf(a, "%.*s%s.bc", (int)folder, ocml, names[i]);
        bool is_version = strstr(names[i], "_isa_");
        if (!file_exists(file) || (is_version && version))
            continue;
        version |= is_version;
        argv[n++] = "-Xclang";
        argv[n++] = "-mlink-builtin-bitcode";
        argv[n++] = "-Xclang";
        argv[n++] = file;
    }
    return n;
}

/* What clang needs beside: no headers, no libraries but one; -Wall says where a text is odd. */
static Status run_clang(Arena *a, const Compiler *c, const ModuleSpec *s, const char *const *flags,
                        int nflag, const char *dir, Module *out, const char **why)
{
    static const char *const always[] = {
        "-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "--no-gpu-bundle-output",
        "-Wall", "-Wextra", "-Wno-unused-function", "-Wno-unused-variable",
        "-fuse-cuid=none", /* a hash of the file's path would be in the code */
        /* clang 19 crashes at -O3 on some kernels with it */
        "-mllvm", "-enable-post-misched=0"};
    const char *argv[OPTIONS_MOST + COUNT(always) + WORDS_MOST];
    const char *object = path_join(a, dir, "k.co");
    const char *file = path_join(a, dir, arena_printf(a, "%s.hip", s->name));
    int n = 0;
    ProcResult r;

    argv[n++] = c->path;
    for (int i = 0; i < COUNT(always); i++)
        argv[n++] = always[i];
    for (int i = 0; i < nflag; i++)
        argv[n++] = flags[i];
    if (strstr(s->source, "__ocml_") || strstr(s->source, "printf("))
        n = link_library(a, s->spec->arch, argv, n);
    argv[n++] = file;
    argv[n++] = "-o";
    argv[n++] = object;
    argv[n] = NULL;
    Status st = file_write(a, file, s->source, s->nsource, why);
    if (st == STATUS_OK)
        st = proc_run(a, argv, NULL, compile_seconds, &r, why);
    if (st != STATUS_OK)
        return st;
    out->log = r.out;
    if (r.timed_out || r.exit_code != 0) {
        *why = arena_printf(a, "%s did not take '%s' (%s%d):\n%s", c->path, s->name,
                            r.timed_out ? "too slow, " : "exit ", r.exit_code, r.out);
        return STATUS_TOOL;
    }
    return file_read(a, object, &out->binary, &out->nbinary, why);
}

static Status run_hiprtc(Arena *a, const Compiler *c, const ModuleSpec *s,
                         const char *const *flags, int nflag, Module *out, const char **why)
{
    Handle p = NULL;
    Hiprtc f;
    size_t n = 0;

    (void)c;
    if (!open_hiprtc(a, &f)) {
        *why = no_compiler;
        return STATUS_TOOL;
    }
    int r = f.hiprtcCreateProgram(&p, s->source, arena_printf(a, "%s.hip", s->name), 0, NULL, NULL);
    if (r == 0)
        r = f.hiprtcCompileProgram(p, nflag, flags);
    if (p && f.hiprtcGetProgramLogSize(p, &n) == 0 && n > 0) {
        char *log = NEWN(a, char, n + 1);
        f.hiprtcGetProgramLog(p, log);
        out->log = log;
    }
    if (r == 0 && f.hiprtcGetCodeSize(p, &n) == 0) {
        out->binary = NEWN(a, char, n);
        out->nbinary = n;
        r = f.hiprtcGetCode(p, out->binary);
    }
    if (p)
        f.hiprtcDestroyProgram(&p);
    if (r != 0)
        *why = arena_printf(a, "hiprtc did not take '%s' (%d):\n%s", s->name, r,
                            out->log ? out->log : "");
    return r == 0 ? STATUS_OK : STATUS_TOOL;
}

static Status run(Arena *a, const Compiler *c, const ModuleSpec *s, const char *const *flags,
                  int nflag, Module *out, const char **why)
{
    double start = now_seconds();
    bool shared = false;
    char *dir = NULL;
    Status st;

    *out = (Module){0};
    if (!c->is_clang) {
        st = run_hiprtc(a, c, s, flags, nflag, out, why);
    } else if ((st = cache_open(a, &dir, &shared, why)) == STATUS_OK) {
        st = run_clang(a, c, s, flags, nflag, dir, out, why);
        tree_remove(dir);
    }
    out->seconds = now_seconds() - start;
    return st;
}

Status hipcc_build(Arena *a, Compiler *c, const ModuleSpec *s, Module *out, const char **why)
{
    static const DeviceCompiler with = {hipcc_find, hipcc_flags, run};
    return device_build(a, c, s, &with, out, why);
}

/* ---- what they say --------------------------------------------------------------------------- */

/* A warning means that our text, or C of the user's in it, is not what it should be. */
void hipcc_warn(Arena *a, const Module *m, const TargetSpec *spec,
                void (*tell)(void *arg, const char *text, bool grave), void *arg)
{
    size_t n;

    (void)spec;
    for (const char *line = m->log; line && *line; line += n + (line[n] == '\n')) {
        n = strcspn(line, "\n");
        if (memmem(line, n, "warning: ", 9))
            tell(arg, arena_printf(a, "clang: %.*s [compiler-warning]", (int)n, line), false);
    }
}

void hipcc_audit(const Module *m, Kernel *k)
{
    HipResources r;

    if (hip_resources(m->binary, m->nbinary, k->launch.symbol, &r) && r.spilled > 0)
        audit_note(k, AUDIT_SPILL, k->span, "each thread of '%s' spills %lld registers: %lld do "
                   "not suffice", k->launch.symbol, (long long)r.spilled, (long long)r.vgprs);
}

void hipcc_tell(const Module *m, const TargetSpec *spec, const Kernel *k, Str *out)
{
    int most, threads = kernel_launch_threads(k);
    const char *limit;
    HipResources r;
    bool told = hip_resources(m->binary, m->nbinary, k->launch.symbol, &r);
    int64_t shared = k->launch.shared_bytes + (told ? MAX(r.shared_bytes, 0) : 0);

    if (told)
        str_printf(out, ", %lld registers (%lld of them accumulators), %lld spilled",
                   (long long)r.vgprs, (long long)MAX(r.agprs, 0), (long long)MAX(r.spilled, 0));
    int blocks = occupancy(&spec->machine, threads, told ? r.vgprs : -1, shared, &limit, &most);
    int waves = blocks * ((threads + kernel_warp(k) - 1) / kernel_warp(k));
    str_printf(out, ", %d block%s a compute unit (%d of %d waves, limited by %s)", blocks,
               blocks == 1 ? "" : "s", waves, most, limit);
}
