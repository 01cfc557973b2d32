/* cross.c -- kernels for CPUs of another kind: made by a cross compiler as programs, run by QEMU.
 *
 * A program gets its tensors by a file and leaves them there (device/cpu/remote.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../../../../device/cpu/remote.h"
#include "device_cpu.h"
#include "rt/driver.h"
#include "target/cpu/emit.h"
#include "target/cpu/rt/cpu.h"

static const double run_seconds = 600;
_Static_assert((int)TL_REMOTE_MOST >= (int)PARAMS_MOST, "all parameters have a place in the file");

/* The other kind. */
#if defined(__aarch64__)
#define KIND "x86-64"
#define CC_WORD "TILELANG_X86_64_CC"
static const char *const compilers[] = {"x86_64-linux-gnu-gcc", "x86_64-unknown-linux-gnu-gcc",
                                        NULL};
static const char *const emulators[] = {"qemu-x86_64-static", "qemu-x86_64"};
#define PACKAGE "gcc-x86-64-linux-gnu"
#else
#define KIND "aarch64"
#define CC_WORD "TILELANG_AARCH64_CC"
static const char *const compilers[] = {"aarch64-linux-gnu-gcc", "aarch64-unknown-linux-gnu-gcc",
                                        "aarch64-none-linux-gnu-gcc", NULL};
static const char *const emulators[] = {"qemu-aarch64-static", "qemu-aarch64"};
#define PACKAGE "gcc-aarch64-linux-gnu"
#endif

/* ---- building -------------------------------------------------------------------------------- */

static Status cross_find(Arena *a, Compiler *c, const char **why)
{
    return compiler_find_named(a, c, CC_WORD, compilers,
                               "no C compiler for " KIND " here: install " PACKAGE " (Debian's "
                               "name), or set " CC_WORD " to one; the C text itself needs none "
                               "(--source) [no-cross-compiler]", why);
}

static const char *const *cross_flags(Arena *a, const Compiler *c, const TargetSpec *spec,
                                      const char *extra, int *n)
{
    static const char *const left[] = {"-shared", "-fPIC", "-fno-semantic-interposition"};
    static const char *const more[] = {"-static", "-pthread", "-s"};
    const char *const *own = compiler_flags(a, c, spec, extra, n);
    const char **f = NEWN(a, const char *, *n + COUNT(more));
    int kept = 0;

    for (int i = 0; i < *n; i++) {
        bool goes = false;
        for (int j = 0; j < COUNT(left); j++)
            goes |= !strcmp(own[i], left[j]);
        if (!goes)
            f[kept++] = own[i];
    }
    for (int i = 0; i < COUNT(more); i++)
        f[kept++] = more[i];
    *n = kept;
    return f;
}

static Status make_program(Arena *a, const Compiler *c, const ModuleSpec *s,
                           const char *const *flags, int nflag, const char *dir, Module *out,
                           const char **why)
{
    const char *sources[] = {path_join(a, dir, "kernel.c"), path_join(a, dir, "program.c")};
    const char *program = path_join(a, dir, "kernel");
    Str text;

    str_init(&text, a);
    str_printf(&text, "%s%s%s%s", (const char *)device_cpu_abi_h, (const char *)device_cpu_pool_h,
               (const char *)device_cpu_remote_h, (const char *)device_cpu_program_h);
    Status st = file_write(a, sources[0], s->source, s->nsource, why);
    if (st == STATUS_OK)
        st = file_write(a, sources[1], text.s, text.n, why);
    if (st == STATUS_OK)
        st = compiler_run(a, c, flags, nflag, sources, COUNT(sources), program, why);
    if (st == STATUS_OK)
        st = file_read(a, program, &out->binary, &out->nbinary, why);
    return st;
}

static Status cross_run(Arena *a, const Compiler *c, const ModuleSpec *s, const char *const *flags,
                        int nflag, Module *out, const char **why)
{
    double start = now_seconds();
    char *dir = NULL;
    bool shared = false;

    *out = (Module){.log = ""};
    Status st = cache_open(a, &dir, &shared, why);
    if (st != STATUS_OK)
        return st;
    st = make_program(a, c, s, flags, nflag, dir, out, why);
    tree_remove(dir);
    out->seconds = now_seconds() - start;
    return st;
}

static Status cross_build(Arena *a, Compiler *c, const ModuleSpec *s, Module *out,
                          const char **why)
{
    static const DeviceCompiler with = {cross_find, cross_flags, cross_run};
    return device_build(a, c, s, &with, out, why);
}

/* ---- running --------------------------------------------------------------------------------- */

static Status cross_load(Arena *a, Gpu *g, Func *f, const Module *code, Loaded **out,
                         const char **why)
{
    (void)g;
    (void)why;
    *out = NEW(a, Loaded);
    **out = (Loaded){.func = f, .code = code};
    return STATUS_OK;
}

static void cross_unload(Loaded *l)
{
    (void)l;
}

static bool overlap(const char *a, int64_t na, const char *b, int64_t nb)
{
    return a < b + nb && b < a + na;
}

/* One region for tensors that overlap; where it lies here at from[]. */
static void add_tensor(tl_remote *h, const char **from, int tensor, const char *data, int64_t n)
{
    int i = 0;

    while (i < h->nregion && !overlap(from[i], h->nbytes[i], data, n))
        i++;
    if (i == h->nregion) {
        h->nregion++;
        from[i] = data;
        h->nbytes[i] = n;
    }
    const char *first = MIN(from[i], data), *end = MAX(from[i] + h->nbytes[i], data + n);
    for (int t = 0; t < tensor; t++)
        h->start[t] += h->region[t] == i ? from[i] - first : 0;
    from[i] = first;
    h->nbytes[i] = end - first;
    h->region[tensor] = i;
    h->start[tensor] = data - first;
}

/* What a tensor that came later made one of two. */
static void join_regions(tl_remote *h, const char **from)
{
    for (int i = 0; i < h->nregion; i++)
        for (int j = i + 1; j < h->nregion; j++) {
            if (!overlap(from[i], h->nbytes[i], from[j], h->nbytes[j]))
                continue;
            const char *first = MIN(from[i], from[j]);
            const char *end = MAX(from[i] + h->nbytes[i], from[j] + h->nbytes[j]);
            for (int t = 0; t < h->ntensor; t++) {
                bool of_j = h->region[t] == j;
                if (of_j || h->region[t] == i)
                    h->start[t] += (of_j ? from[j] : from[i]) - first;
                h->region[t] = of_j ? i : h->region[t] - (h->region[t] > j);
            }
            from[i] = first;
            h->nbytes[i] = end - first;
            h->nregion--;
            for (int k = j; k < h->nregion; k++) {
                from[k] = from[k + 1];
                h->nbytes[k] = h->nbytes[k + 1];
            }
            i = -1; /* once more */
            break;
        }
}

static void fill_head(const Loaded *l, const Run *r, tl_remote *h, const char **from)
{
    const Func *f = l->func;
    enum { ALIGN = 64 };
    int64_t at = (int64_t)sizeof *h;

    *h = (tl_remote){.nthread = workers_size(r->workers), .reps = 1};
    if (r->timing) {
        h->warmup = r->timing->warmup;
        h->reps = MAX(r->timing->reps, 1);
    }
    for (int i = 0; i < f->params.n; i++) {
        if (!f->params.at[i].buf)
            continue;
        int t = (int)h->ntensor++;
        int64_t n = arg_span_bytes(&r->args[i]);
        h->region[t] = -1;
        if (r->b->tensor[t] && n > 0)
            add_tensor(h, from, t, r->b->tensor[t], n);
    }
    join_regions(h, from);
    for (int i = 0; i < h->nregion; i++) {
        at = (at + ALIGN - 1) / ALIGN * ALIGN;
        h->offset[i] = at;
        at += h->nbytes[i];
    }
    h->seconds = (at + ALIGN - 1) / ALIGN * ALIGN;
    int nvalue = f->dims.n;
    for (int i = 0; i < f->params.n; i++)
        nvalue += f->params.at[i].var != NULL;
    memcpy(h->value, r->b->value, (size_t)MIN(nvalue, 2 * TL_REMOTE_MOST) * sizeof h->value[0]);
}

static const char *find_emulator(Arena *a)
{
    const char *found = NULL;

    for (int i = 0; i < COUNT(emulators) && !found; i++)
        found = path_find(a, emulators[i]);
    return found;
}

static Status run_program(Arena *a, const Run *r, const char *program, const char *file)
{
    const char *argv[] = {find_emulator(a), program, file, NULL}, *why = "";
    ProcResult p;

    if (!argv[0]) {
        snprintf(r->text, r->ntext, "this kernel is built for " KIND ", and there is no QEMU here "
                 "to run it: install qemu-user-static (Debian's name) [no-emulator]");
        return STATUS_TOOL;
    }
    Status st = proc_run(a, argv, NULL, run_seconds, &p, &why);
    if (st != STATUS_OK) {
        snprintf(r->text, r->ntext, "%s", why);
        return st;
    }
    fputs(p.out, stdout);
    if (p.exit_code == 0)
        return STATUS_OK;
    snprintf(r->text, r->ntext, "the kernel %s under %s (exit code %d) [kernel-failed]",
             p.timed_out ? "took too long" : "ended", emulators[0], p.exit_code);
    return STATUS_USER;
}

/* From the file to where the tensors are. */
static Status take_results(const Loaded *l, const Run *r, const char *const *from,
                           const char *file)
{
    const tl_remote *h = (const tl_remote *)(const void *)file;

    if (l->func->leaves_overlap && h->code == ENTRY_OVERLAP) {
        *r->overlaps = true;
        return STATUS_USER;
    }
    for (int i = 0; i < h->nregion; i++)
        memcpy((char *)(uintptr_t)from[i], file + h->offset[i], (size_t)h->nbytes[i]);
    if (r->seconds)
        memcpy(r->seconds, file + h->seconds, (size_t)h->reps * sizeof *r->seconds);
    if (!h->code)
        return STATUS_OK;
    snprintf(r->text, r->ntext, "%.255s", h->text[0] ? h->text : "the kernel gave up "
             "[kernel-failed]");
    return STATUS_USER;
}

static Status run_by_file(Arena *a, const Loaded *l, const Run *r, const char *dir)
{
    const char *program = path_join(a, dir, "kernel"), *path = path_join(a, dir, "run"), *why = "";
    const char **from = NEWN(a, const char *, TL_REMOTE_MOST);
    tl_remote *h = NEW(a, tl_remote);

    fill_head(l, r, h, from);
    size_t n = (size_t)(h->seconds + h->reps * (int64_t)sizeof(double));
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    char *file = fd >= 0 && ftruncate(fd, (off_t)n) == 0
                     ? mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                     : MAP_FAILED;
    Status st = STATUS_IO;
    if (file == MAP_FAILED)
        snprintf(r->text, r->ntext, "%s: %s", path, strerror(errno));
    else if ((st = file_write(a, program, l->code->binary, l->code->nbinary, &why)) != STATUS_OK)
        snprintf(r->text, r->ntext, "%s", why);
    else {
        memcpy(file, h, sizeof *h);
        for (int i = 0; i < h->nregion; i++)
            memcpy(file + h->offset[i], from[i], (size_t)h->nbytes[i]);
        chmod(program, 0700);
        st = run_program(a, r, program, path);
        if (st == STATUS_OK)
            st = take_results(l, r, from, file);
    }
    if (file != MAP_FAILED)
        munmap(file, n);
    if (fd >= 0)
        close(fd);
    return st;
}

static Status run_here(Loaded *l, const Run *r)
{
    Arena *a = arena_new();
    char *dir = NULL;
    const char *why = "out of memory";
    bool shared = false;

    r->text[0] = 0;
    Status st = a ? cache_open(a, &dir, &shared, &why) : STATUS_MEM;
    if (st == STATUS_OK) {
        st = run_by_file(a, l, r, dir);
        tree_remove(dir);
    } else {
        snprintf(r->text, r->ntext, "%s", why);
    }
    arena_free(a);
    return st;
}

const Runtime runtime_cross = {
    .name = "cross",
    .by_name = true,
    .emulator = "QEMU",
    .compiler = "the C compiler for " KIND,
    .language = "C",
    .ending = "c",
    .fast_math = "",
    .line_info = "-g",
    .find = cross_find,
    .build = cross_build,
    .all_flags = cross_flags,
    .load = cross_load,
    .unload = cross_unload,
    .run = run_here,
};
