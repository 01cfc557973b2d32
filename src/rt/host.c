/* host.c -- the C compiler of this machine, what it makes, and threads that run it. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "rt/rt.h"

static const double compile_seconds = 120;
enum { FLAGS_MOST = 64, ALIGNMENT = 64, LARGE_PAGE = 2 << 20, WORTH_LARGE_PAGE = 256 << 10 };

/* ---- the compiler ---------------------------------------------------------------------------- */

/* CC may have words of its own: "gcc -O1", "ccache gcc". */
static const char *choose_compiler(Arena *a, const char *said, const char *const *names,
                                   const char *none, const char **words, const char **why)
{
    const char *wish = getenv(said);

    wish += wish ? strspn(wish, " \t") : 0;
    *words = "";
    if (wish && *wish) {
        const char *name = arena_strndup(a, wish, strcspn(wish, " \t"));
        const char *found = path_find(a, name);
        if (!found)
            *why = arena_printf(a, "%s names '%s', which is not an executable on PATH", said, name);
        *words = wish + strlen(name) + strspn(wish + strlen(name), " \t");
        return found;
    }
    for (int i = 0; names[i]; i++) {
        const char *found = path_find(a, names[i]);
        if (found)
            return found;
    }
    *why = none;
    return NULL;
}

enum { WORDS_MOST = 32 }; /* of CC */

/* Words of CC: those that lead to the compiler, as in "ccache gcc", or (flags) those from the first
 * flag on, which come after ours and so have the last word. */
static int own_words(Arena *a, const char *words, bool flags, const char **out, int n, int most)
{
    bool flag = false;

    for (const char *s = words ? words : ""; *s && n < most;) {
        size_t len = strcspn(s, " \t");
        flag |= *s == '-';
        if (flag == flags)
            out[n++] = arena_strndup(a, s, len);
        s += len + strspn(s + len, " \t");
    }
    return n;
}

Status compiler_find_named(Arena *a, Compiler *c, const char *said, const char *const *names,
                           const char *none, const char **why)
{
    ProcResult r;

    if (c->path)
        return STATUS_OK;
    const char *words, *path = choose_compiler(a, said, names, none, &words, why);
    if (!path)
        return STATUS_TOOL;
    words = arena_strdup(a, words);
    const char **argv = NEWN(a, const char *, WORDS_MOST + 3);
    int n = 0;
    argv[n++] = path;
    n = own_words(a, words, false, argv, n, n + WORDS_MOST);
    argv[n++] = "--version";
    Status s = proc_run(a, argv, NULL, 20, &r, why);
    if (s != STATUS_OK)
        return s;
    if (r.exit_code != 0) {
        *why = arena_printf(a, "%s --version failed:\n%s", path, r.out);
        return STATUS_TOOL;
    }
    c->version = arena_strndup(a, r.out, strcspn(r.out, "\n"));
    c->is_clang = strstr(c->version, "clang") != NULL;
    c->path = path;
    c->words = words;
    return STATUS_OK;
}

Status compiler_find(Arena *a, Compiler *c, const char **why)
{
    static const char *const names[] = {"cc", "gcc", "clang", NULL};
    return compiler_find_named(a, c, "CC", names,
                               "no C compiler: install gcc or clang, or set CC to one; the C text "
                               "itself needs none (--source)", why);
}

static const char *const common_flags[] = {
    "-std=gnu11",
    "-O3",
    "-fPIC",
    "-shared",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-fno-strict-aliasing",
    "-fopenmp-simd",
    "-fno-unswitch-loops", /* GCC makes no vectors of conditions in the loops that it leaves */
    "-w",
    "-fno-semantic-interposition",
};

/* What -ffast-math and its kin must not take: exp and its kin round by adding and taking away a
 * large number, infinities mask, and NaN tells of errors. */
static const char *const kept_flags[] = {"-fno-associative-math", "-fno-finite-math-only"};

/* Flags written for another compiler ("--use_fast_math") are none of ours. */
static bool is_ours(const char *flag)
{
    return flag[0] == '-' && flag[1] && strchr("DOfgm", flag[1]);
}

/* Linked with these by GCC 12, a library has the whole process take subnormal numbers for 0 once
 * it is loaded. */
static const char *known_as(const char *flag)
{
    bool fast = !strcmp(flag, "-ffast-math") || !strcmp(flag, "-funsafe-math-optimizations");
    return fast ? "-freciprocal-math" : !strcmp(flag, "-Ofast") ? "-O3" : flag;
}

static int split_words(Arena *a, const char *text, const char **out, int n, int most)
{
    while (text && n < most) {
        text += strspn(text, " \t\n");
        size_t len = strcspn(text, " \t\n");
        if (len == 0)
            break;
        out[n] = known_as(arena_strndup(a, text, len));
        n += is_ours(out[n]);
        text += len;
    }
    return n;
}

const char *const *compiler_flags(Arena *a, const Compiler *c, const TargetSpec *spec,
                                  const char *extra, int *n)
{
    const char **f = NEWN(a, const char *, FLAGS_MOST);

    *n = 0;
    for (int i = 0; i < COUNT(common_flags); i++)
        f[(*n)++] = common_flags[i];
    *n = split_words(a, spec->cc_words, f, *n, FLAGS_MOST);
    (void)c;
    int own = *n;
    *n = split_words(a, extra, f, *n, FLAGS_MOST - COUNT(kept_flags));
    for (int i = 0; *n > own && i < COUNT(kept_flags); i++)
        f[(*n)++] = kept_flags[i];
    return f;
}

Status compiler_run(Arena *a, const Compiler *c, const char *const *flags, int nflag,
                    const char *const *sources, int nsource, const char *out, const char **why)
{
    const char **argv = NEWN(a, const char *, nflag + nsource + 6 + 2 * WORDS_MOST);
    int n = 0;
    ProcResult r;

    argv[n++] = c->path;
    n = own_words(a, c->words, false, argv, n, n + WORDS_MOST);
    for (int i = 0; i < nflag; i++)
        argv[n++] = flags[i];
    n = own_words(a, c->words, true, argv, n, n + WORDS_MOST);
    argv[n++] = "-o";
    argv[n++] = out;
    for (int i = 0; i < nsource; i++)
        argv[n++] = sources[i];
    argv[n++] = "-lm";
    Status s = proc_run(a, argv, NULL, compile_seconds, &r, why);
    if (s != STATUS_OK)
        return s;
    if (r.timed_out) {
        *why = arena_printf(a, "%s took more than %g s and was stopped", c->path, compile_seconds);
        return STATUS_TOOL;
    }
    if (r.exit_code == 0)
        return STATUS_OK;
    if (strstr(r.out, strerror(ENOSPC))) { /* of the text it says nothing */
        *why = arena_printf(a, "%s cannot write %s: %s; what it keeps meanwhile is in TMPDIR",
                            c->path, out, strerror(ENOSPC));
        return STATUS_IO;
    }
    *why = arena_printf(a, "%s failed (exit %d):\n%s", c->path, r.exit_code, r.out);
    return STATUS_TOOL;
}

/* ---- several files --------------------------------------------------------------------------- */

typedef struct {
    const Compiler *c;
    const char *const *flags;
    int nflag;
    const char *const *texts;
    const char *const *sources, *const *objects;
    atomic_bool failed;
} Files;

static void compile_file(void *arg, int64_t i, int worker)
{
    Files *f = arg;
    Arena *a = atomic_load(&f->failed) ? NULL : arena_new();
    const char *why;
    Recover r;

    (void)worker;
    if (!a)
        return;
    if (recover_open(&r) == 0) {
        if (file_write(a, f->sources[i], f->texts[i], strlen(f->texts[i]), &why) != STATUS_OK ||
            compiler_run(a, f->c, f->flags, f->nflag, &f->sources[i], 1, f->objects[i], &why) !=
                STATUS_OK)
            atomic_store(&f->failed, true);
        recover_close(&r);
    } else {
        atomic_store(&f->failed, true);
    }
    arena_free(a);
}

/* Side by side, as many as there are cores, then linked.  False: what is wrong is told best by
 * compiling the whole. */
static bool compile_files(Arena *a, const Compiler *c, const ModuleSpec *s,
                          const char *const *flags, int nflag, const char *dir, const char *out)
{
    const char *const *texts, *why;
    int n = s->files ? s->files(a, s, &texts) : 0;
    Pool *pool = n > 1 ? pool_new(MIN(n, cpu_count())) : NULL;

    if (!pool)
        return false;
    const char **sources = NEWN(a, const char *, n), **objects = NEWN(a, const char *, n);
    const char **more = NEWN(a, const char *, nflag + 1);
    memcpy(more, flags, (size_t)nflag * sizeof *flags);
    more[nflag] = "-c";
    for (int i = 0; i < n; i++) {
        sources[i] = path_join(a, dir, arena_printf(a, "part%d.c", i));
        objects[i] = path_join(a, dir, arena_printf(a, "part%d.o", i));
    }
    Files f = {.c = c, .flags = more, .nflag = nflag + 1, .texts = texts, .sources = sources,
               .objects = objects};
    pool_run(pool, n, compile_file, &f);
    pool_free(pool);
    bool done = !f.failed &&
                compiler_run(a, c, flags, nflag, objects, n, out, &why) == STATUS_OK;
    for (int i = 0; i < n; i++) { /* the folder becomes the entry of the cache */
        remove(sources[i]);
        remove(objects[i]);
    }
    return done;
}

/* ---- modules --------------------------------------------------------------------------------- */

static Status module_load(Arena *a, const char *path, Module *m, const char **why)
{
    m->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!m->handle) {
        *why = arena_printf(a, "cannot load a compiled kernel: %s", dlerror());
        return STATUS_TOOL;
    }
    void *symbol = dlsym(m->handle, "tl_entry");
    if (!symbol) {
        *why = "the compiled kernel has no entry";
        module_free(m);
        return STATUS_TOOL;
    }
    memcpy(&m->entry, &symbol, sizeof symbol);
    return STATUS_OK;
}

void module_free(Module *m)
{
    if (m->handle)
        dlclose(m->handle);
    m->handle = NULL;
    m->entry = NULL;
}

/* Build in a folder of our own, publish it when it is beside the cache, load, and leave nothing
 * behind that no entry owns. */
static Status build_in(Arena *a, const Compiler *c, const CacheKey *key, const ModuleSpec *s,
                       const char *const *flags, int nflag, const char *dir, bool shared, Module *m,
                       const char **why)
{
    const char *source = path_join(a, dir, "kernel.c"), *out = path_join(a, dir, "kernel.so");
    Status st = file_write(a, source, s->source, s->nsource, why);
    double start = now_seconds();

    if (st == STATUS_OK && !compile_files(a, c, s, flags, nflag, dir, out))
        st = compiler_run(a, c, flags, nflag, &source, 1, out, why);
    m->seconds = now_seconds() - start;
    m->compiled = st == STATUS_OK;
    if (st == STATUS_OK) {
        const char *at = shared && !s->no_cache ? cache_put(a, key, dir) : out;
        m->unkept = !s->no_cache && !strcmp(at, out);
        st = module_load(a, at, m, why);
    }
    tree_remove(dir);
    return st;
}

/* A cache on a full or read-only disk must not stop anybody: the second try is elsewhere. */
static Status build_fresh(Arena *a, const Compiler *c, const CacheKey *key, const ModuleSpec *s,
                          const char *const *flags, int nflag, Module *m, const char **why)
{
    char *dir = NULL;
    bool shared = true;
    Status st = cache_open(a, &dir, &shared, why);

    if (st == STATUS_OK)
        st = build_in(a, c, key, s, flags, nflag, dir, shared, m, why);
    if (st != STATUS_IO || !shared)
        return st;
    shared = false;
    st = cache_open(a, &dir, &shared, why);
    return st == STATUS_OK ? build_in(a, c, key, s, flags, nflag, dir, shared, m, why) : st;
}

static const char *const *module_flags(Arena *a, const Compiler *c, const ModuleSpec *s, int *n)
{
    if (!s->flags)
        return compiler_flags(a, c, s->spec, s->extra, n);
    for (*n = 0; s->flags[*n]; (*n)++)
        ;
    return s->flags;
}

Status module_build(Arena *a, Compiler *c, const ModuleSpec *s, Module *m, const char **why)
{
    int nflag;

    *m = (Module){0};
    Status st = compiler_find(a, c, why);
    if (st != STATUS_OK)
        return st;
    const char *const *flags = module_flags(a, c, s, &nflag);
    CacheKey key = cache_key(a, c, s, flags, nflag);
    if (!s->no_cache) {
        const char *path = cache_get(a, &key), *ignored;
        m->warning = cache_complaint(a, &key);
        m->from_cache = path && module_load(a, path, m, &ignored) == STATUS_OK;
        if (m->from_cache)
            return STATUS_OK;
        if (path)
            cache_drop(a, &key); /* all its bytes are there, and it cannot be loaded */
    }
    return build_fresh(a, c, &key, s, flags, nflag, m, why);
}

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct {
    char *at;
    int64_t nbytes;
    char pad[48]; /* a worker's own cache line */
} Scratch;

struct Workers {
    Pool *pool;
    int n;
    Scratch *scratch; /* by worker; only its holder touches it */
};

Workers *workers_new(int nthread)
{
    Workers *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->pool = pool_new(nthread > 0 ? nthread : cpu_count());
    w->n = w->pool ? pool_size(w->pool) : 0;
    w->scratch = calloc((size_t)w->n + 1, sizeof *w->scratch);
    if (w->pool && w->scratch)
        return w;
    workers_free(w);
    return NULL;
}

void workers_free(Workers *w)
{
    if (!w)
        return;
    for (int i = 0; w->scratch && i < w->n; i++)
        free(w->scratch[i].at);
    free(w->scratch);
    if (w->pool)
        pool_free(w->pool);
    free(w);
}

int workers_size(const Workers *w)
{
    return w->n;
}

Pool *workers_pool(Workers *w)
{
    return w->pool;
}

/* Packed operands are walked over and over: large pages keep them within reach of the first level
 * of address translation.  Small tiles are not worth a large page. */
char *workers_scratch(Workers *w, int worker, int64_t nbytes)
{
    Scratch *s = &w->scratch[worker];

    if (nbytes <= s->nbytes)
        return s->at;
    int64_t align = nbytes >= WORTH_LARGE_PAGE ? LARGE_PAGE : ALIGNMENT;
    int64_t room = (nbytes + align - 1) / align * align;
    free(s->at);
    s->at = aligned_alloc((size_t)align, (size_t)room);
    s->nbytes = s->at ? room : 0;
    if (s->at && align == LARGE_PAGE)
        madvise(s->at, (size_t)room, MADV_HUGEPAGE);
    return s->at;
}
