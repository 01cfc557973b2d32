/* cutedsl.c -- CuTe DSL becomes machine code in a Python that has it; CUDA's driver runs that.
 *
 * The text builds itself (device/cutedsl, tl_build).  Its kernels take what those of the CUDA text
 * take, so from there on everything is as for target cuda. */
#include <stdlib.h>
#include <unistd.h>
#include "rt/driver.h"
#include "rt/runtime.h"
#include "target/cuda/rt/cuda.h"

enum { OPTIONS_MOST = 40 };
static const double compile_seconds = 600, look_seconds = 60;
extern const Runtime runtime_cuda, runtime_cutedsl;

/* ---- finding it ------------------------------------------------------------------------------ */

static const char look[] = "import importlib.util, os\n"
                           "import importlib.metadata as meta\n"
                           "at = os.path.dirname(importlib.util.find_spec('cutlass').origin)\n"
                           "os.stat(os.path.join(at, 'base_dsl'))\n"
                           "try:\n"
                           "    print('CuTe DSL ' + meta.version('nvidia-cutlass-dsl'))\n"
                           "except meta.PackageNotFoundError:\n"
                           "    print('CuTe DSL at ' + at)\n";

static const char no_python[] = "no Python with CuTe DSL here: `pip install "
                                "nvidia-cutlass-dsl==4.3.5` for a Python 3.12 and name "
                                "that in TILELANG_CUTEDSL_PYTHON, or run tools/cutedsl.sh; the "
                                "text itself needs none (--source) "
                                "[no-cutedsl]";

static bool has_dsl(Arena *a, const char *python, Compiler *c)
{
    const char *argv[] = {python, "-c", look, NULL}, *why = NULL;
    ProcResult r;

    if (proc_run(a, argv, NULL, look_seconds, &r, &why) != STATUS_OK || r.timed_out || r.exit_code)
        return false;
    *c = (Compiler){.path = python, .version = arena_strndup(a, r.out, strcspn(r.out, "\n"))};
    return true;
}

static Status find(Arena *a, Compiler *c, const char **why)
{
    static const char *const names[] = {"python3", "python3.12"};
    const char *said = getenv("TILELANG_CUTEDSL_PYTHON");

    if (c->path)
        return STATUS_OK;
    if (said && *said && has_dsl(a, said, c))
        return STATUS_OK;
    for (int i = 0; i < COUNT(names) && !(said && *said); i++)
        if (has_dsl(a, names[i], c))
            return STATUS_OK;
    *why = no_python;
    return STATUS_TOOL;
}

/* ---- running it ------------------------------------------------------------------------------ */

static const char *const *flags(Arena *a, const Compiler *c, const TargetSpec *spec,
                                const char *extra, int *n)
{
    const char **o = NEWN(a, const char *, OPTIONS_MOST);
    char *rest = NULL, *words = arena_strdup(a, extra ? extra : "");

    (void)c;
    *n = 0;
    o[(*n)++] = spec->arch;
    for (char *w = strtok_r(words, " ", &rest); w && *n < OPTIONS_MOST;
         w = strtok_r(NULL, " ", &rest))
        if (!(w[0] == '-' && w[1] && strchr("DUI", w[1]))) /* macros of C: there are none */
            o[(*n)++] = w;
    return o;
}

static Status run_python(Arena *a, const Compiler *c, const ModuleSpec *s, const char *const *flag,
                         int nflag, const char *dir, Module *out, const char **why)
{
    const char *argv[OPTIONS_MOST + 8], *file = path_join(a, dir, "tl_text.py");
    const char *made = path_join(a, dir, "kernel");
    size_t nassembly = 0;
    int n = 0;
    ProcResult r;

    argv[n++] = c->path;
    argv[n++] = file;
    argv[n++] = made;
    for (int i = 0; i < nflag; i++)
        argv[n++] = flag[i];
    argv[n] = NULL;
    Status st = file_write(a, file, s->source, s->nsource, why);
    if (st == STATUS_OK)
        st = proc_run(a, argv, NULL, compile_seconds, &r, why);
    if (st != STATUS_OK)
        return st;
    out->log = r.out;
    if (r.timed_out || r.exit_code != 0) {
        *why = arena_printf(a, "%s did not take '%s' (%s%d):\n%s", c->version, s->name,
                            r.timed_out ? "too slow, " : "exit ", r.exit_code, r.out);
        return STATUS_TOOL;
    }
    st = file_read(a, arena_printf(a, "%s.ptx", made), &out->assembly, &nassembly, why);
    if (st == STATUS_OK)
        st = file_read(a, arena_printf(a, "%s.cubin", made), &out->binary, &out->nbinary, why);
    return st;
}

static Status run(Arena *a, const Compiler *c, const ModuleSpec *s, const char *const *flag,
                  int nflag, Module *out, const char **why)
{
    double start = now_seconds();
    bool shared = false;
    char *dir = NULL;

    *out = (Module){0};
    Status st = cache_open(a, &dir, &shared, why);
    if (st != STATUS_OK)
        return st;
    st = run_python(a, c, s, flag, nflag, dir, out, why);
    tree_remove(dir);
    out->seconds = now_seconds() - start;
    return st;
}

static Status build(Arena *a, Compiler *c, const ModuleSpec *s, Module *out, const char **why)
{
    static const DeviceCompiler with = {find, flags, run};
    return device_build(a, c, s, &with, out, why);
}

/* ---- bundles: those of CUDA, but for the text ------------------------------------------------ */

/* By the version of the PTX, which the DSL's own number does not tell. */
static int toolkit_of(const Module *m)
{
    static const int minor_of_8[] = {0, 1, 2, 3, 4, 5, 7, 8, 9}; /* PTX 8.6 came with 12.7 */
    const char *at = m->assembly ? strstr(m->assembly, ".version ") : NULL;
    char *rest = "";
    long major = at ? strtol(at + strlen(".version "), &rest, 10) : 0;
    long minor = *rest == '.' ? strtol(rest + 1, NULL, 10) : 0;

    if (major == 8 && minor < COUNT(minor_of_8))
        minor = minor_of_8[minor];
    return major ? (int)((major + 4) * 1000 + minor * 10) : 0;
}

static void bundle_part(const TargetBundle *b, const Module *m, Str *out)
{
    cuda_bundle_part(b, m, "cute.py", "cubin", out); /* NAME.py calls the bundle */
}

static void bundle_row(const TargetBundle *b, const Module *m, Str *out)
{
    cuda_bundle_row(b, m, toolkit_of(m), out);
}

static const BundleHost bundle = {.text = cuda_bundle_text, .part = bundle_part, .row = bundle_row,
                                  .tell = cuda_bundle_tell, .rank = cuda_bundle_rank};

/* ---- the device is CUDA's -------------------------------------------------------------------- */

static Status open_gpu(Arena *a, Gpu **gpu, const char **why)
{
    return runtime_cuda.open(a, gpu, why);
}

static double peak(const Gpu *g, DType t)
{
    return runtime_cuda.peak(g, t);
}

const Runtime runtime_cutedsl = {
    .name = "cutedsl",
    .by_name = true,
    .compiler = "CuTe DSL",
    .language = "CuTe DSL",
    .ending = "py",
    .line_info = "--generate-line-info",
    .find = find,
    .build = build,
    .bundle = &bundle,
    .all_flags = flags,
    .open = open_gpu,
    .peak = peak,
    DEVICE_RUNS,
};
