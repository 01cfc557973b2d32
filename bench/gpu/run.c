/* run.c -- rounds, ratios, the table and the file of make bench-gpu. */
#include <math.h>
#include <time.h>
#include <unistd.h>
#include "gpu.h"

/* ---- what was asked for ---------------------------------------------------------------------- */

typedef struct {
    const char *only, *match, *csv, *target;
    bool quick, tune, list, compile, launch, warm;
    int rounds;
    double graph_ms;
    tl_define set[16];
    int nset;
} Options;

static const char usage[] =
    "usage: bench-gpu [--only FAMILY,…] [--match TEXT] [--quick] [--rounds N] [--csv FILE]\n"
    "                 [--set NAME=VALUE]… [--target T] [--tune-peers] [--warm] [--list]\n"
    "                 [--compile] [--launch] [--graph-ms MS]\n"
    "families: gemm small odd other types attention memory launch compile\n";

static bool take_set(Options *o, char *word)
{
    char *equal = strchr(word, '=');

    if (!equal || o->nset == COUNT(o->set))
        return false;
    *equal = 0;
    o->set[o->nset++] = (tl_define){word, equal + 1};
    return true;
}

static bool take_options(Options *o, int argc, char **argv)
{
    *o = (Options){.target = "cuda", .rounds = 9, .graph_ms = 6};
    for (int i = 1; i < argc; i++) {
        const char *w = argv[i];
        char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(w, "--quick"))
            o->quick = true;
        else if (!strcmp(w, "--tune-peers"))
            o->tune = true;
        else if (!strcmp(w, "--list"))
            o->list = true;
        else if (!strcmp(w, "--compile"))
            o->compile = true;
        else if (!strcmp(w, "--launch"))
            o->launch = true;
        else if (!strcmp(w, "--warm"))
            o->warm = true;
        else if (!value)
            return false;
        else if (i++, !strcmp(w, "--only"))
            o->only = value;
        else if (!strcmp(w, "--match"))
            o->match = value;
        else if (!strcmp(w, "--csv"))
            o->csv = value;
        else if (!strcmp(w, "--target"))
            o->target = value;
        else if (!strcmp(w, "--rounds"))
            o->rounds = atoi(value);
        else if (!strcmp(w, "--graph-ms"))
            o->graph_ms = atof(value);
        else if (strcmp(w, "--set") || !take_set(o, value))
            return false;
    }
    if (o->rounds < 3 || o->rounds > ROUNDS_MOST)
        o->rounds = 9;
    return true;
}

static bool in_list(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *s = list; s && *s; s += strcspn(s, ","), s += *s == ',')
        if (strcspn(s, ",") == n && !strncmp(s, word, n))
            return true;
    return false;
}

static bool wanted(const Options *o, const Row *r)
{
    char name[96];

    row_name(r, name, sizeof name);
    return (!o->only || in_list(o->only, r->family)) && (!o->match || strstr(name, o->match)) &&
           (!o->quick || r->quick);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- one contest ----------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    Handle exec;
    double seconds[ROUNDS_MOST]; /* of one launch */
    double median, low, high;
} Contender;

typedef struct {
    const Options *o;
    const Row *row;
    tl_context *c;
    tl_kernel *k;
    int nt, nset, nlaunch;
    tl_tensor t[SETS_MOST][TENSORS_MOST];
    size_t nbytes[TENSORS_MOST];
    Contender at[CONTENDERS_MOST]; /* ours first */
    int n;
    Blas *blas;
    double compile_ms, load_ms, error, bytes;
    Weather weather;
} Contest;

static DevicePtr at(const Contest *q, int set, int i)
{
    return (DevicePtr)(uintptr_t)q->t[set][i].data;
}

static bool say_no(const Contest *q, const char *what)
{
    char name[96];
    const char *text = tl_message(q->c);

    row_name(q->row, name, sizeof name);
    printf("%-10s %-36s %s: %.*s\n", q->row->family, name, what,
           (int)(text ? strcspn(text, "\n") : 0), text ? text : "");
    fflush(stdout);
    return false;
}

/* From the text to a loaded kernel, without the cache; then the same from it. */
static bool compile_row(Contest *q)
{
    Recipe recipe;
    tl_options o = TL_OPTIONS_INIT;

    row_recipe(q->row, &recipe);
    for (int i = 0; i < q->o->nset; i++)
        recipe_set(&recipe, q->o->set[i].name, q->o->set[i].value);
    o.target = q->o->target;
    o.func = recipe.func;
    o.defines = recipe.defines;
    o.ndefine = recipe.n;
    o.no_cache = true;
    o.allow_unused = q->o->nset > 0;
    double start = now();
    if (tl_compile(q->c, recipe.file, NULL, &o, &q->k) != TL_OK ||
        tl_kernel_load(q->k) != TL_OK)
        return say_no(q, "does not compile");
    q->compile_ms = (now() - start) * 1e3;
    return true;
}

/* Normal numbers: one period of them, which is no power of two, over and over. */
static bool fill_tensor(Contest *q, int i, DevicePtr p, uint64_t seed)
{
    const int64_t period = 4194301;
    tl_tensor *t = &q->t[0][i];
    int64_t n = 1;

    for (int d = 0; d < t->rank; d++)
        n *= t->shape[d];
    int64_t first = n < period ? n : period;
    size_t size = (size_t)tl_dtype_bytes(t->dtype, 1);
    tl_tensor host = {.dtype = t->dtype, .rank = 1, .shape = {first}};
    host.data = malloc((size_t)first * size + 64);
    bool ok = host.data && tl_fill_random(q->c, &host, seed) == TL_OK &&
              cuda_upload(p, host.data, (size_t)first * size);
    free(host.data);
    for (int64_t have = first; ok && have < n;) {
        int64_t more = have < n - have ? have : n - have;
        ok = cuda_copy(p + (size_t)have * size, p, (size_t)more * size);
        have += more;
    }
    return ok;
}

static bool make_tensors(Contest *q)
{
    const double cold = 160e6;
    double each = 0;
    bool ok = true;

    q->nt = tl_kernel_nparam(q->k);
    if (q->nt > TENSORS_MOST || tl_kernel_solve(q->k, NULL, 0, q->t[0], q->nt) != TL_OK)
        return say_no(q, "arguments");
    for (int i = 0; i < q->nt; i++) {
        int64_t n = 1;
        for (int d = 0; d < q->t[0][i].rank; d++)
            n *= q->t[0][i].shape[d];
        q->nbytes[i] = (size_t)tl_dtype_bytes(q->t[0][i].dtype, n);
        each += (double)q->nbytes[i];
    }
    q->nset = q->o->warm || each > cold ? 1 : (int)(cold / each) + 1;
    if (q->nset > SETS_MOST)
        q->nset = SETS_MOST;
    for (int s = 0; s < q->nset && ok; s++)
        for (int i = 0; i < q->nt && ok; i++) {
            tl_param p = tl_kernel_param(q->k, i);
            DevicePtr d = cuda_alloc(q->nbytes[i]);
            q->t[s][i] = q->t[0][i];
            q->t[s][i].data = (void *)(uintptr_t)d;
            ok = d && (p.is_output || !p.is_read ? cuda_fill(d, 0xFF, q->nbytes[i])
                       : s == 0 ? fill_tensor(q, i, d, 17 + (uint64_t)i)
                                : cuda_copy(d, at(q, 0, i), q->nbytes[i]));
        }
    q->bytes = tl_kernel_bytes(q->k, q->t[0], q->nt);
    return ok || say_no(q, "memory");
}

static bool launch_ours(void *arg, int i)
{
    Contest *q = arg;
    return tl_kernel_launch(q->k, q->t[i % q->nset], q->nt, cuda_stream()) == TL_OK;
}

static bool launch_blas(void *arg, int i)
{
    Contest *q = arg;
    int s = i % q->nset;
    return blas_run(q->blas, at(q, s, 0), at(q, s, 1), at(q, s, 2), cuda_stream());
}

static bool launch_copy(void *arg, int i)
{
    Contest *q = arg;
    int s = i % q->nset;
    return cuda_copy_kernel(at(q, s, q->nt - 1), at(q, s, 0), q->nbytes[0], cuda_stream());
}

static void add(Contest *q, const char *name, Handle exec)
{
    if (exec && q->n < CONTENDERS_MOST)
        q->at[q->n++] = (Contender){.name = name, .exec = exec};
}

static bool enter_ours(Contest *q)
{
    double once = -1;

    if (!launch_ours(q, 0) || !cuda_sync("our kernel"))
        return say_no(q, "does not run");
    q->error = check_row(q->c, q->row, q->t[0], q->nt);
    Handle exec = cuda_capture(2, launch_ours, q);
    if (exec && cuda_time_graph(exec) > 0)
        once = cuda_time_graph(exec) / 2;
    cuda_graph_free(exec);
    if (once <= 0)
        return say_no(q, "cannot be captured");
    double n = q->o->graph_ms * 1e-3 / once;
    q->nlaunch = n < 4 ? 4 : n > 400 ? 400 : (int)n;
    exec = cuda_capture(q->nlaunch, launch_ours, q);
    add(q, "ours", exec);
    return exec != NULL;
}

static void enter_peers(Contest *q, PeerHook *hook)
{
    const char *why = "", *names[CONTENDERS_MOST];
    void *graphs[CONTENDERS_MOST];
    DevicePtr address[SETS_MOST * TENSORS_MOST];
    PeerAsk ask = {.op = op_name(q->row->op), .dtype = q->row->dtype, .out = q->row->out,
                   .nt = q->row->nt, .causal = q->row->causal, .ntensor = q->nt, .nset = q->nset,
                   .nlaunch = q->nlaunch, .address = address};

    if (q->row->op == OP_GEMM && (q->blas = blas_open(q->row, q->o->tune, &why))) {
        if (launch_blas(q, 0) && cuda_sync("cuBLASLt"))
            add(q, "cublasLt", cuda_capture(q->nlaunch, launch_blas, q));
    }
    if (q->row->op >= OP_COPY)
        add(q, "copy", cuda_capture(q->nlaunch, launch_copy, q));
    memcpy(ask.d, q->row->d, sizeof ask.d);
    for (int i = 0; i < q->nt; i++) {
        memcpy(ask.shape[i], q->t[0][i].shape, sizeof ask.shape[i]);
        ask.rank[i] = q->t[0][i].rank;
        ask.dtypes[i] = q->t[0][i].dtype;
        for (int s = 0; s < q->nset; s++)
            address[s * q->nt + i] = at(q, s, i);
    }
    int n = hook ? hook(&ask, names, graphs, CONTENDERS_MOST - q->n) : 0;
    for (int i = 0; i < n; i++)
        add(q, names[i], cuda_instantiate(graphs[i]));
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double median_of(const double *x, int n, double *low, double *high)
{
    double s[ROUNDS_MOST];

    memcpy(s, x, (size_t)n * sizeof *s);
    qsort(s, (size_t)n, sizeof *s, by_value);
    if (low)
        *low = s[n / 10];
    if (high)
        *high = s[n - 1 - n / 10];
    return n % 2 ? s[n / 2] : (s[n / 2 - 1] + s[n / 2]) / 2;
}

/* In turn, each round the other way round. */
static bool play(Contest *q)
{
    int rounds = q->o->rounds;

    for (int r = -1; r < rounds; r++)
        for (int j = 0; j < q->n; j++) {
            int i = r & 1 ? q->n - 1 - j : j;
            double s = cuda_time_graph(q->at[i].exec);
            if (s <= 0)
                return false;
            if (r >= 0)
                q->at[i].seconds[r] = s / q->nlaunch;
        }
    for (int i = 0; i < q->n; i++)
        q->at[i].median = median_of(q->at[i].seconds, rounds, &q->at[i].low, &q->at[i].high);
    cuda_start_graph(q->at[0].exec);
    cuda_start_graph(q->at[0].exec);
    q->weather = cuda_weather();
    return cuda_sync("the last graphs");
}

static int strongest(const Contest *q)
{
    int best = 0;
    for (int i = 1; i < q->n; i++)
        if (!strcmp(q->at[i].name, "copy"))
            return i; /* these rows are judged by its bandwidth */
    for (int i = 1; i < q->n; i++)
        if (best == 0 || q->at[i].median < q->at[best].median)
            best = i;
    return best;
}

/* A copy moves each byte twice; others what they must: for them bandwidths are compared. */
static double ratio(const Contest *q, int peer)
{
    double r[ROUNDS_MOST];
    double work = !strcmp(q->at[peer].name, "copy") ? q->bytes / (2.0 * (double)q->nbytes[0]) : 1;

    for (int i = 0; i < q->o->rounds; i++)
        r[i] = q->at[peer].seconds[i] / q->at[0].seconds[i] * work;
    return median_of(r, q->o->rounds, NULL, NULL);
}

/* ---- telling --------------------------------------------------------------------------------- */

typedef struct {
    char family[16];
    double log_sum, least;
    int n, nwrong;
} Family;

static Family families[16];
static int nfamily;

static void count_family(const char *name, double value, bool wrong)
{
    int i = 0;

    while (i < nfamily && strcmp(families[i].family, name))
        i++;
    if (i == COUNT(families))
        return;
    if (i == nfamily) {
        nfamily++;
        snprintf(families[i].family, sizeof families[i].family, "%s", name);
    }
    Family *f = &families[i];
    f->nwrong += wrong;
    if (value <= 0)
        return;
    f->log_sum += log(value);
    f->least = f->n == 0 || value < f->least ? value : f->least;
    f->n++;
}

static const char head[] = "family     row                                   TFLOP/s     GB/s"
                           "       us  ±%  peer          TFLOP/s  ratio   MHz    W  compile  check\n";

static void tell(Contest *q, FILE *csv)
{
    char name[96], peers[256] = "";
    int best = strongest(q);
    const Contender *us = &q->at[0], *them = &q->at[best];
    double flops = row_flops(q->row), r = best ? ratio(q, best) : 0;
    bool wrong = !(q->error <= 1);

    row_name(q->row, name, sizeof name);
    double rate = best && !strcmp(them->name, "copy") ? 0 : flops / them->median * 1e-12;
    printf("%-10s %-36s %8.1f %8.0f %8.1f %3.0f  %-12s %8.1f %6.3f %5d %4d %5.0f ms  %s\n",
           q->row->family, name, flops / us->median * 1e-12, q->bytes / us->median * 1e-9,
           us->median * 1e6, 50 * (us->high - us->low) / us->median, best ? them->name : "-",
           best ? rate : 0, r, q->weather.clock_mhz, q->weather.watts, q->compile_ms,
           wrong ? "WRONG" : "ok");
    fflush(stdout);
    for (int i = 1; i < q->n; i++) {
        size_t n = strlen(peers);
        snprintf(peers + n, sizeof peers - n, "%s%s=%.3f", i > 1 ? ";" : "", q->at[i].name,
                 q->at[i].median * 1e6);
    }
    if (csv)
        fprintf(csv, "%s,%s,%s,%.3f,%.3f,%.3f,%.2f,%.1f,%s,%.4f,%s,%d,%d,%d,%.1f,%d,%d,%.3g,%s\n",
                q->row->family, name, q->row->dtype, us->median * 1e6, us->low * 1e6,
                us->high * 1e6, flops / us->median * 1e-12, q->bytes / us->median * 1e-9,
                best ? them->name : "", r, peers, q->weather.clock_mhz, q->weather.watts,
                q->weather.celsius, q->compile_ms, q->nset, q->nlaunch, q->error,
                wrong ? "wrong" : "ok");
    count_family(q->row->family, wrong ? 0 : r, wrong);
}

static void end_contest(Contest *q)
{
    for (int i = 0; i < q->n; i++)
        cuda_graph_free(q->at[i].exec);
    for (int s = 0; s < q->nset; s++)
        for (int i = 0; i < q->nt; i++)
            cuda_free(at(q, s, i));
    blas_close(q->blas);
    tl_kernel_free(q->k);
}

static void run_row(const Options *o, const Row *row, tl_context *c, PeerHook *hook, FILE *csv)
{
    Contest *q = calloc(1, sizeof *q);

    if (!q)
        return;
    q->o = o;
    q->row = row;
    q->c = c;
    bool ok = compile_row(q) && make_tensors(q) && enter_ours(q);
    if (ok) {
        enter_peers(q, hook);
        ok = play(q);
    }
    if (ok)
        tell(q, csv);
    else
        count_family(row->family, 0, true);
    end_contest(q);
    free(q);
}

/* ---- the cost of a launch -------------------------------------------------------------------- */

static const char five[] =
    "import tilelang.language as T\n"
    "@T.prim_func\n"
    "def five(A: T.Tensor((1024,), 'float32'), B: T.Tensor((1024,), 'float32'),\n"
    "         C: T.Tensor((1024,), 'float32'), D: T.Tensor((1024,), 'float32'),\n"
    "         E: T.Tensor((1024,), 'float32')):\n"
    "    with T.Kernel(1, threads=128) as bx:\n"
    "        for i in T.Parallel(1024):\n"
    "            E[i] = A[i] + B[i] + C[i] + D[i]\n";

static double time_calls(tl_kernel *k, const tl_tensor *t, const DevicePtr *address, int n)
{
    cuda_sync("launches");
    double start = now();
    for (int i = 0; i < n; i++)
        if (k ? tl_kernel_launch(k, t, 5, cuda_stream()) != TL_OK
              : !cuda_bare_launch(address, cuda_stream()))
            return -1;
    double s = (now() - start) / n;
    cuda_sync("launches");
    return s;
}

static const char two_steps[] =
    "import tilelang.language as T\n"
    "@T.prim_func\n"
    "def two(X: T.Tensor((4096,), 'float32'), Y: T.Tensor((4096,), 'float32')):\n"
    "    W = T.alloc_global((4096,), 'float32')\n"
    "    with T.Kernel(32, threads=128) as bx:\n"
    "        for i in T.Parallel(128):\n"
    "            W[bx * 128 + i] = X[bx * 128 + i] + 1\n"
    "    with T.Kernel(32, threads=128) as bx:\n"
    "        for i in T.Parallel(128):\n"
    "            Y[bx * 128 + i] = W[bx * 128 + i] * 2\n";

typedef struct {
    tl_kernel *k;
    tl_tensor t[2];
} Two;

static bool launch_two(void *arg, int i)
{
    Two *q = arg;
    (void)i;
    return tl_kernel_launch(q->k, q->t, 2, cuda_stream()) == TL_OK;
}

/* The very first launch, with its loading and its temporaries, while a graph is being captured. */
static void check_capture(const Options *o, tl_context *c)
{
    tl_options t = TL_OPTIONS_INIT;
    Two q = {NULL, {{.dtype = "float32", .rank = 1, .shape = {4096}},
                    {.dtype = "float32", .rank = 1, .shape = {4096}}}};
    DevicePtr p[2] = {cuda_alloc(16384), cuda_alloc(16384)};
    float y = 0;

    t.target = o->target;
    for (int i = 0; i < 2; i++) {
        q.t[i].data = (void *)(uintptr_t)p[i];
        cuda_fill(p[i], 0, 16384);
    }
    Handle exec = tl_compile(c, "two.py", two_steps, &t, &q.k) == TL_OK
                      ? cuda_capture(1, launch_two, &q)
                      : NULL;
    bool ok = exec && cuda_time_graph(exec) > 0 && cuda_download(&y, p[1] + 16380, sizeof y);
    printf("launch     first one inside a capture, with temporaries: %s%s\n",
           ok && y == 2 ? "ok" : "WRONG ", ok ? "" : tl_message(c));
    cuda_graph_free(exec);
    cuda_free(p[0]);
    cuda_free(p[1]);
    tl_kernel_free(q.k);
}

/* Few enough calls in a row that the queue never fills. */
static void bench_launch(const Options *o, tl_context *c, FILE *csv)
{
    enum { ROUNDS = 41, CALLS = 200 };
    tl_options t = TL_OPTIONS_INIT;
    tl_kernel *k = NULL;
    tl_tensor args[5] = {{0}}, other[5];
    DevicePtr address[5];
    double bare[ROUNDS], same[ROUNDS], fresh[ROUNDS];

    t.target = o->target;
    if (tl_compile(c, "five.py", five, &t, &k) != TL_OK) {
        printf("launch: %s\n", tl_message(c));
        return;
    }
    for (int i = 0; i < 5; i++) {
        address[i] = cuda_alloc(8192);
        args[i] = (tl_tensor){.dtype = "float32", .rank = 1, .shape = {1024},
                              .data = (void *)(uintptr_t)address[i]};
        cuda_fill(address[i], 0, 8192);
        other[i] = args[i];
        other[i].data = (void *)(uintptr_t)(address[i] + 4096);
    }
    for (int r = 0; r < ROUNDS; r++) {
        bare[r] = time_calls(NULL, NULL, address, CALLS);
        same[r] = time_calls(k, args, address, CALLS);
        double start = now();
        for (int i = 0; i < CALLS; i++)
            tl_kernel_launch(k, i % 2 ? args : other, 5, cuda_stream());
        fresh[r] = (now() - start) / CALLS;
    }
    double b = median_of(bare, ROUNDS, NULL, NULL) * 1e6, s = median_of(same, ROUNDS, NULL, NULL) * 1e6,
           f = median_of(fresh, ROUNDS, NULL, NULL) * 1e6;
    printf("launch     5 tensors, checks on: bare %.2f us, ours %.2f us (+%.2f), "
           "new addresses each time %.2f us (+%.2f)\n", b, s, s - b, f, f - b);
    if (csv)
        fprintf(csv, "launch,5 tensors,float32,%.3f,,,,,bare,%.4f,bare=%.3f;new=%.3f,,,,,,,,ok\n", s,
                b / s, b, f);
    for (int i = 0; i < 5; i++)
        cuda_free(address[i]);
    tl_kernel_free(k);
}

/* ---- the time to compile, in fresh processes ------------------------------------------------- */

/* The child's part: one kernel, context already there; milliseconds, cold or from the cache. */
static int compile_once(const Options *o, const char *which)
{
    tl_context *c = tl_open();
    tl_gpu gpu;
    tl_kernel *k = NULL;
    tl_options t = TL_OPTIONS_INIT;
    Recipe recipe;
    int row = atoi(which + 1);

    if (!c || !tl_gpu_info(c, &gpu) || row < 0 || row >= row_count)
        return 1;
    row_recipe(&row_table[row], &recipe);
    t.target = o->target;
    t.func = recipe.func;
    t.defines = recipe.defines;
    t.ndefine = recipe.n;
    t.no_cache = *which == 'c';
    double start = now();
    bool ok = tl_compile(c, recipe.file, NULL, &t, &k) == TL_OK && tl_kernel_load(k) == TL_OK;
    printf("%.3f\n", ok ? (now() - start) * 1e3 : -1.0);
    return ok ? 0 : 1;
}

static double ask_child(const char *self, const char *target, char how, int row)
{
    char command[1200];
    double ms = -1;

    snprintf(command, sizeof command, "'%s' --target '%s' --compile-one %c%d", self, target, how,
             row);
    FILE *f = popen(command, "r");
    if (!f || fscanf(f, "%lf", &ms) != 1)
        ms = -1;
    if (f)
        pclose(f);
    return ms;
}

static void bench_compile(const Options *o, FILE *csv)
{
    enum { TIMES = 5 };
    char self[1024];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    int done = 0;

    self[n > 0 ? n : 0] = 0;
    if (getenv("BENCH_GPU_EXE"))
        snprintf(self, sizeof self, "%s", getenv("BENCH_GPU_EXE"));
    for (int i = 0; i < row_count && done < 3; i++) {
        const Row *r = &row_table[i];
        bool take = (r->op == OP_GEMM && r->d[0] == 4096 && r->d[1] == 4096 && r->nt && done == 0) ||
                    (r->op == OP_ATTENTION && r->d[4] == 128);
        if (!take)
            continue;
        double cold[TIMES], cached[TIMES];
        char name[96];
        row_name(r, name, sizeof name);
        ask_child(self, o->target, 'w', i);
        for (int j = 0; j < TIMES; j++) {
            cold[j] = ask_child(self, o->target, 'c', i);
            cached[j] = ask_child(self, o->target, 'w', i);
        }
        double a = median_of(cold, TIMES, NULL, NULL), b = median_of(cached, TIMES, NULL, NULL);
        printf("compile    %-36s %.0f ms cold, %.1f ms from the cache\n", name, a, b);
        if (csv)
            fprintf(csv, "compile,%s,%s,%.1f,,,,,,,cached_ms=%.2f,,,,%.1f,,,,ok\n", name, r->dtype,
                    a * 1e3, b, a);
        done++;
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static FILE *open_csv(const Options *o)
{
    FILE *f = o->csv ? fopen(o->csv, "w") : NULL;

    if (o->csv && !f)
        fprintf(stderr, "bench-gpu: cannot write %s\n", o->csv);
    if (f)
        fputs("family,row,dtype,us,us_p10,us_p90,tflops,gbytes_s,peer,ratio,peers_us,clock_mhz,"
              "watts,celsius,compile_ms,sets,launches,error,check\n", f);
    return f;
}

static void tell_families(void)
{
    printf("\n%-10s %5s %9s %8s %6s\n", "family", "rows", "geomean", "least", "wrong");
    for (int i = 0; i < nfamily; i++) {
        const Family *f = &families[i];
        printf("%-10s %5d %9.3f %8.3f %6d\n", f->family, f->n,
               f->n ? exp(f->log_sum / f->n) : 0.0, f->least, f->nwrong);
    }
}

int bench_gpu(int argc, char **argv, PeerHook *hook)
{
    Options o;
    tl_gpu gpu;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 5 && !strcmp(argv[3], "--compile-one")) {
        o = (Options){.target = argv[2]};
        return compile_once(&o, argv[4]);
    }
    if (!take_options(&o, argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    for (int i = 0; o.list && i < row_count; i++) {
        char name[96];
        row_name(&row_table[i], name, sizeof name);
        if (wanted(&o, &row_table[i]))
            printf("%-10s %s\n", row_table[i].family, name);
    }
    if (o.list)
        return 0;
    tl_context *c = tl_open();
    if (!c || !cuda_open() || !tl_gpu_info(c, &gpu))
        return 3;
    Weather w = cuda_weather();
    printf("%s (%s, %d multiprocessors, %.2f GHz, %.0f GB/s), driver %d, %d rounds of graphs, "
           "%s; idle %d MHz %d W %d C\n\n", gpu.name, gpu.arch, gpu.nsm, gpu.clock_ghz,
           gpu.memory_gbytes, gpu.driver, o.rounds,
           o.warm ? "tensors stay warm" : "tensors rotate over 160 MB", w.clock_mhz, w.watts,
           w.celsius);
    FILE *csv = open_csv(&o);
    if (!o.only || strcmp(o.only, "launch"))
        fputs(head, stdout);
    for (int i = 0; i < row_count; i++)
        if (wanted(&o, &row_table[i]))
            run_row(&o, &row_table[i], c, hook, csv);
    if (o.launch || !o.only || in_list(o.only, "launch")) {
        check_capture(&o, c);
        bench_launch(&o, c, csv);
    }
    if (o.compile || (!o.only && !o.quick) || in_list(o.only, "compile"))
        bench_compile(&o, csv);
    tell_families();
    if (csv)
        fclose(csv);
    tl_close(c);
    return 0;
}
