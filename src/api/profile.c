/* profile.c -- stamps of a profiled kernel, spans of the simulator's model, or samples of a CPU's
 * threads become a timeline.
 *
 * Blocks are processes, warps are threads; times are microseconds from the first stamp of all, or
 * cycles of the model. */
#include <limits.h>
#include "api/public.h"
#include "target/profile.h"

typedef enum { WORK_COPY, WORK_MATRIX, WORK_WAIT, WORK_COMPUTE, WORK_OTHER, WORK_COUNT } Work;
static const struct {
    const char *name, *color;
} work_table[WORK_COUNT] = {
    {"copy", "#4c78a8"}, {"matrix", "#54a24b"}, {"wait", "#e45756"}, {"compute", "#f2a93b"},
    {"other", "#dddddd"},
};

typedef struct {
    Work work;
    int line;
} Site;

typedef struct {
    int block, warp; /* block: of the sampled ones */
    int site;
    double from, to; /* microseconds */
} Span1;

typedef struct {
    int64_t block, sm;
    int warp;
    double first, last, sum[WORK_COUNT];
    bool seen;
} Lane;

typedef struct {
    tl_kernel *k;
    Arena *a;
    const char *symbol, *unit, *word; /* word: what a lane is */
    const char *role[2];
    int warps, own; /* own: warps of the first role, the rest is of the second: the producer's */
    int runs;
    Site site[PROFILE_SITES];
    Lane *lane;     /* [block * warps + warp] */
    VEC(Span1) spans;
    double ghz;
    bool model;
} Timeline;

/* ---- reading --------------------------------------------------------------------------------- */

static void read_sites(Timeline *t, const char *source)
{
    static const char mark[] = "/* tl_site ";
    int n, line;
    char work[16];

    for (const char *s = source; (s = strstr(s, mark)); s += sizeof mark - 1) {
        if (sscanf(s + sizeof mark - 1, "%d %15s line %d", &n, work, &line) != 3 || n < 0 ||
            n >= PROFILE_SITES)
            continue;
        t->site[n] = (Site){WORK_OTHER, line};
        for (int w = 0; w < WORK_OTHER; w++)
            if (!strcmp(work_table[w].name, work))
                t->site[n].work = (Work)w;
    }
}

static bool read_kernel(Timeline *t, const char *source)
{
    char line[200];

    snprintf(line, sizeof line, "/* tl_kernel %.120s warps ", t->symbol);
    const char *s = strstr(source, line);
    return s && sscanf(s + strlen(line), "%d own %d", &t->warps, &t->own) == 2;
}

static void read_lane(Timeline *t, const uint64_t *r, int block, int warp, double start)
{
    Lane *l = &t->lane[block * t->warps + warp];
    double base = (double)(r[0]) * 1e-3 - start;
    uint64_t clock = r[1] & (UINT64_MAX >> PROFILE_SHIFT), open = 0;
    int site = -1;

    *l = (Lane){.block = (int64_t)r[2], .sm = (int64_t)r[3], .warp = warp, .first = base,
                .last = base, .seen = true};
    for (int i = PROFILE_HEAD; i < PROFILE_RECORDS && r[i]; i++) {
        uint64_t at = r[i] >> PROFILE_SHIFT;
        int code = (int)(r[i] & ((1u << PROFILE_SHIFT) - 1));
        if (!(code & 1)) {
            site = code / 2;
            open = at;
            continue;
        }
        if (site != code / 2)
            continue;
        Span1 s = {block, warp, site, base + (double)(open - clock) / (t->ghz * 1e3),
                   base + (double)(at - clock) / (t->ghz * 1e3)};
        vec_push(t->a, &t->spans, s);
        l->sum[t->site[site].work] += s.to - s.from;
        l->last = s.to;
    }
}

static void read_trace(Timeline *t, const uint64_t *record)
{
    size_t each = PROFILE_RECORDS;
    uint64_t first = UINT64_MAX;

    for (int i = 0; i < PROFILE_BLOCKS * t->warps; i++)
        if (record[each * (size_t)i])
            first = MIN(first, record[each * (size_t)i]);
    t->lane = NEWN(t->a, Lane, PROFILE_BLOCKS * t->warps + 1);
    for (int b = 0; b < PROFILE_BLOCKS; b++)
        for (int w = 0; w < t->warps; w++) {
            const uint64_t *r = record + each * (size_t)(b * t->warps + w);
            if (r[0])
                read_lane(t, r, b, w, (double)first * 1e-3);
        }
}

/* ---- telling --------------------------------------------------------------------------------- */

static const char *lane_name(const Timeline *t, int warp)
{
    bool second = warp >= t->own;
    return second ? arena_printf(t->a, "%s %d (%s)", t->word, warp, t->role[1])
                  : arena_printf(t->a, "%s %d", t->word, warp);
}

static bool has_roles(const Timeline *t)
{
    return t->own > 0 && t->own < t->warps;
}

static void put_names(const Timeline *t, Str *out)
{
    for (int i = 0; i < PROFILE_BLOCKS * t->warps; i++) {
        const Lane *l = &t->lane[i];
        if (!l->seen)
            continue;
        str_printf(out,
                   "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%lld,\"tid\":%d,\"args\":{"
                   "\"name\":\"%s\"}},\n",
                   (long long)l->block, l->warp, lane_name(t, l->warp));
        if (l->warp == 0)
            str_printf(out,
                       "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%lld,\"args\":{\"name\":"
                       "\"%s\"}},\n", (long long)l->block,
                       !strcmp(t->word, "warp")
                           ? arena_printf(t->a, "block %lld on SM %lld", (long long)l->block,
                                          (long long)l->sm)
                           : "threads of the kernel");
    }
}

static void put_trace(const Timeline *t, Str *out)
{
    for (int i = 0; i < t->spans.n; i++) {
        const Span1 *s = &t->spans.at[i];
        const Site *site = &t->site[s->site];
        str_printf(out,
                   "{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%lld,\"tid\":%d,"
                   "\"ts\":%.4f,\"dur\":%.4f,\"args\":{\"line\":%d}},\n",
                   work_table[site->work].name, work_table[site->work].name,
                   (long long)t->lane[s->block * t->warps + s->warp].block, s->warp, s->from,
                   s->to - s->from, site->line);
    }
}

/* ---- by line --------------------------------------------------------------------------------- */

typedef struct {
    int line;
    double all, sum[WORK_COUNT];
} LineTime;
typedef VEC(LineTime) LineTimes;

static int blocks_seen(const Timeline *t)
{
    int n = 0;
    for (int b = 0; b < PROFILE_BLOCKS; b++) {
        bool seen = false;
        for (int w = 0; w < t->warps; w++)
            seen |= t->lane[b * t->warps + w].seen;
        n += seen;
    }
    return MAX(n, 1);
}

/* Of all warps of a block, in the mean over the blocks and runs seen; by number of the line. */
static LineTimes line_times(const Timeline *t)
{
    LineTimes l = {0};
    double blocks = (double)blocks_seen(t) * t->runs;

    for (int i = 0; i < t->spans.n; i++) {
        const Span1 *s = &t->spans.at[i];
        const Site *site = &t->site[s->site];
        int at = 0;
        while (at < l.n && l.at[at].line < site->line)
            at++;
        if (at == l.n || l.at[at].line != site->line) {
            vec_push(t->a, &l, (LineTime){0});
            memmove(&l.at[at + 1], &l.at[at], sizeof(LineTime) * (size_t)(l.n - 1 - at));
            l.at[at] = (LineTime){.line = site->line};
        }
        l.at[at].all += (s->to - s->from) / blocks;
        l.at[at].sum[site->work] += (s->to - s->from) / blocks;
    }
    return l;
}

static void put_lines(const Timeline *t, Str *out)
{
    LineTimes l = line_times(t);
    double all = 0;

    for (int i = 0; i < l.n; i++)
        all += l.at[i].all;
    str_printf(out, "by line, all %ss of a %s\n  %-20s %8s    %%", t->word,
               t->runs > 1 ? "run" : "block", "line", "all");
    for (int w = 0; w < WORK_OTHER; w++)
        str_printf(out, " %8s", work_table[w].name);
    str_putc(out, '\n');
    for (int i = 0; i < l.n; i++) {
        const char *line = l.at[i].line ? arena_printf(t->a, "%d", l.at[i].line) : "-";
        str_printf(out, "  %-20s %8.2f %4.0f", line, l.at[i].all,
                   all > 0 ? 100 * l.at[i].all / all : 0);
        for (int w = 0; w < WORK_OTHER; w++)
            str_printf(out, " %8.2f", l.at[i].sum[w]);
        str_putc(out, '\n');
    }
}

/* Of one warp of the role, in the mean over its warps, blocks and runs; false: there is none. */
static bool role_times(const Timeline *t, int role, double *all, double sum[WORK_COUNT], int *warps)
{
    int n = 0;

    memset(sum, 0, sizeof *sum * WORK_COUNT);
    *all = *warps = 0;
    for (int w = role ? t->own : 0; w < (role ? t->warps : MIN(t->own, t->warps)); w++) {
        bool seen = false;
        for (int b = 0; b < PROFILE_BLOCKS; b++) {
            const Lane *l = &t->lane[b * t->warps + w];
            if (!l->seen)
                continue;
            seen = true;
            n += t->runs;
            *all += l->last - l->first;
            for (int i = 0; i < WORK_COUNT; i++)
                sum[i] += l->sum[i];
        }
        *warps += seen;
    }
    *all /= MAX(n, 1);
    for (int i = 0; i < WORK_COUNT; i++)
        sum[i] /= MAX(n, 1);
    return n > 0;
}

static void put_split(Str *out, const char *name, double all, const double *sum)
{
    str_printf(out, "  %-20s %8.2f", name, all);
    for (int i = 0; i < WORK_OTHER; i++)
        str_printf(out, " %8.2f %4.0f", sum[i], all > 0 ? 100 * sum[i] / all : 0);
    str_putc(out, '\n');
}

static void put_roles(const Timeline *t, Str *out)
{
    double all, sum[WORK_COUNT];
    int warps;

    if (!has_roles(t))
        return;
    str_printf(out, "by role, one %s of it in the mean\n", t->word);
    for (int role = 0; role < 2; role++)
        if (role_times(t, role, &all, sum, &warps))
            put_split(out, arena_printf(t->a, "%s (%d)", t->role[role], warps), all, sum);
}

static void put_role_summary(const Timeline *t, Str *out)
{
    double all, sum[WORK_COUNT];
    int warps, n = 0;

    str_puts(out, ",\"roles\":[");
    for (int role = 0; role < 2; role++) {
        if (!role_times(t, role, &all, sum, &warps))
            continue;
        str_printf(out, "%s\n{\"role\":\"%s\",\"%ss\":%d", n++ ? "," : "",
                   has_roles(t) ? t->role[role] : t->word, t->word, warps);
        for (int w = 0; w < WORK_OTHER; w++)
            str_printf(out, ",\"%s\":%.4f", work_table[w].name, sum[w]);
        str_putc(out, '}');
    }
    str_putc(out, ']');
}

/* What another profile is compared with. */
static void put_summary(const Timeline *t, Str *out)
{
    LineTimes l = line_times(t);

    str_printf(out, "\"tilelang\":{\"kernel\":\"%s\",\"unit\":\"%s\",\"model\":%s,\"lines\":[",
               t->symbol, t->unit, t->model ? "true" : "false");
    for (int i = 0; i < l.n; i++) {
        str_printf(out, "%s\n{\"line\":%d", i ? "," : "", l.at[i].line);
        for (int w = 0; w < WORK_OTHER; w++)
            str_printf(out, ",\"%s\":%.4f", work_table[w].name, l.at[i].sum[w]);
        str_putc(out, '}');
    }
    str_putc(out, ']');
    put_role_summary(t, out);
    str_puts(out, "},\n");
}

static void put_json(const Timeline *t, Str *out)
{
    str_puts(out, "{\"displayTimeUnit\":\"ns\",");
    put_summary(t, out);
    str_puts(out, "\"traceEvents\":[\n");
    put_names(t, out);
    put_trace(t, out);
    str_printf(out,
               "{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":0,\"args\":{\"labels\":\"%s\"}}"
               "\n]}\n",
               t->symbol);
}

/* Every warp of the first block that was seen, over that block's own time. */
static void put_svg(const Timeline *t, Str *out)
{
    enum { LEFT = 130, WIDE = 1400, ROW = 18, TOP = 44 };
    int block = 0, rows = 0;
    double first = 1e30, last = 0;

    while (block < PROFILE_BLOCKS - 1 && !t->lane[block * t->warps].seen)
        block++;
    for (int w = 0; w < t->warps; w++) {
        const Lane *l = &t->lane[block * t->warps + w];
        if (!l->seen)
            continue;
        rows = w + 1;
        first = MIN(first, l->first);
        last = MAX(last, l->last);
    }
    double scale = last > first ? WIDE / (last - first) : 1;
    str_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
               "font-family=\"sans-serif\" font-size=\"11\">\n"
               "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
               "<text x=\"8\" y=\"16\" font-size=\"13\">%s, block %lld: %.2f %s</text>\n",
               LEFT + WIDE + 20, TOP + rows * ROW + 24, t->symbol,
               (long long)t->lane[block * t->warps].block, last - first, t->unit);
    for (int w = 0; w < WORK_OTHER; w++)
        str_printf(out, "<rect x=\"%d\" y=\"24\" width=\"12\" height=\"12\" fill=\"%s\"/>"
                   "<text x=\"%d\" y=\"34\">%s</text>\n", LEFT + 90 * w, work_table[w].color,
                   LEFT + 90 * w + 16, work_table[w].name);
    for (int w = 0; w < rows; w++)
        str_printf(out, "<text x=\"8\" y=\"%d\">%s</text>\n<rect x=\"%d\" y=\"%d\" width=\"%d\" "
                   "height=\"%d\" fill=\"#f0f0f0\"/>\n", TOP + w * ROW + 12, lane_name(t, w), LEFT,
                   TOP + w * ROW, WIDE, ROW - 3);
    for (int i = 0; i < t->spans.n; i++) {
        const Span1 *s = &t->spans.at[i];
        if (s->block != block)
            continue;
        str_printf(out, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\"><title>"
                   "%s, line %d: %.3f %s</title></rect>\n", LEFT + (s->from - first) * scale,
                   TOP + s->warp * ROW, MAX((s->to - s->from) * scale, 0.05), ROW - 3,
                   work_table[t->site[s->site].work].color,
                   work_table[t->site[s->site].work].name, t->site[s->site].line, s->to - s->from,
                   t->unit);
    }
    str_puts(out, "</svg>\n");
}

static void put_table(const Timeline *t, Str *out)
{
    str_printf(out, "%s: %s of each %s, mean over the %s seen\n  %-20s %8s", t->symbol, t->unit,
               t->word, t->runs > 1 ? "runs" : "blocks", "", "all");
    for (int w = 0; w < WORK_OTHER; w++)
        str_printf(out, " %8s    %%", work_table[w].name);
    str_putc(out, '\n');
    for (int w = 0; w < t->warps; w++) {
        double all = 0, sum[WORK_COUNT] = {0};
        int n = 0;
        for (int b = 0; b < PROFILE_BLOCKS; b++) {
            const Lane *l = &t->lane[b * t->warps + w];
            if (!l->seen)
                continue;
            n += t->runs;
            all += l->last - l->first;
            for (int i = 0; i < WORK_COUNT; i++)
                sum[i] += l->sum[i];
        }
        if (n == 0 || all <= 0)
            continue;
        for (int i = 0; i < WORK_COUNT; i++)
            sum[i] /= n;
        put_split(out, lane_name(t, w), all / n, sum);
    }
    put_roles(t, out);
}

/* ---- the entry ------------------------------------------------------------------------------- */

typedef struct {
    tl_kernel *k;
    const tl_tensor *args;
    int narg;
    Str json, svg, table;
    char text[480];
} ProfileCall;

static void check(Status s, const ProfileCall *q)
{
    if (s != STATUS_OK)
        recover_throw(s, "%s", q->text);
}

static void tell_kernel(ProfileCall *q, const Kernel *n)
{
    tl_kernel *k = q->k;
    const char *source = k->own_source ? k->own_source : k->build.source.s;
    Timeline *t = NEW(k->arena, Timeline);
    const Runtime *rt;
    const char *array = arena_printf(k->arena, "tl_trace_%s", n->launch.symbol);

    *t = (Timeline){.k = k, .a = k->arena, .symbol = n->launch.symbol, .unit = "us",
                    .word = "warp", .role = {"consumer", "producer"}, .runs = 1};
    t->ghz = gpu_facts(context_device(k->ctx, &rt))->clock_khz * 1e-6;
    if (!read_kernel(t, source))
        recover_throw(STATUS_USER, "'%s' was not compiled with -profile [not-profiled]", t->symbol);
    read_sites(t, source);
    size_t count = (size_t)PROFILE_BLOCKS * (size_t)t->warps * PROFILE_RECORDS;
    uint64_t *record = NEWN(k->arena, uint64_t, count);
    check(k->built.rt->array(k->built.loaded, array, record, count * sizeof *record, q->text,
                             sizeof q->text), q);
    read_trace(t, record);
    put_json(t, &q->json);
    put_svg(t, &q->svg);
    put_table(t, &q->table);
    put_lines(t, &q->table);
}

/* ---- spans of others ------------------------------------------------------------------------- */

static int site_of(Timeline *t, int *nsite, Work w, int line)
{
    for (int i = 0; i < *nsite; i++)
        if (t->site[i].work == w && t->site[i].line == line)
            return i;
    if (*nsite == PROFILE_SITES)
        return PROFILE_SITES - 1;
    t->site[*nsite] = (Site){w, line};
    return (*nsite)++;
}

static void take_span(Timeline *t, int *nsite, const SimSpan *s)
{
    static const Work work[] = {[SIM_NOTHING] = WORK_OTHER, [SIM_COPY] = WORK_COPY,
                                [SIM_MATRIX] = WORK_MATRIX, [SIM_WAIT] = WORK_WAIT,
                                [SIM_COMPUTE] = WORK_COMPUTE};
    Lane *l = &t->lane[s->block * t->warps + s->warp];
    Span1 n = {s->block, s->warp, site_of(t, nsite, work[s->work], s->line), s->from, s->to};

    if (!l->seen)
        *l = (Lane){.block = s->block, .warp = s->warp, .seen = true};
    l->last = MAX(l->last, s->to);
    l->sum[work[s->work]] += s->to - s->from;
    vec_push(t->a, &t->spans, n);
}

/* Texts in `a`; of no spans: there are no threads. */
void profile_tell(tl_kernel *k, const ProfileSpans *s, Arena *a, ProfileTexts *out)
{
    Timeline *t = NEW(a, Timeline);
    Str json, svg, table;
    int nsite = 0;

    if (s->all.n == 0)
        recover_throw(STATUS_USER, "'%s' has no threads to be timed: the model is for GPUs "
                      "[not-profiled]", k->build.func->name);
    *t = (Timeline){.k = k, .a = a, .symbol = k->build.func->kernels.at[0]->name,
                    .unit = s->unit, .word = s->lane, .role = {s->role[0], s->role[1]},
                    .runs = s->runs, .model = s->model, .own = INT_MAX};
    for (int i = 0; i < s->all.n; i++) {
        t->warps = MAX(t->warps, s->all.at[i].warp + 1);
        if (s->all.at[i].producer)
            t->own = MIN(t->own, s->all.at[i].warp);
    }
    t->lane = NEWN(a, Lane, PROFILE_BLOCKS * t->warps + 1);
    for (int i = 0; i < s->all.n; i++)
        take_span(t, &nsite, &s->all.at[i]);
    str_init(&json, a);
    str_init(&svg, a);
    str_init(&table, a);
    str_puts(&table, s->head);
    put_json(t, &json);
    put_svg(t, &svg);
    put_table(t, &table);
    put_lines(t, &table);
    *out = (ProfileTexts){json.s, svg.s, table.s};
}

static void clear_work(void *arg)
{
    ProfileCall *q = arg;
    Func *f = q->k->build.func;
    const Runtime *rt = q->k->built.rt;

    if (!q->k->request.spec.profile || !q->k->built.rt->array)
        recover_throw(STATUS_USER, "'%s' was not compiled with -profile [not-profiled]", f->name);
    built_load(q->k, &q->k->built);
    for (int i = 0; i < f->kernels.n; i++) {
        const char *array =
            arena_printf(q->k->arena, "tl_trace_%s", f->kernels.at[i]->launch.symbol);
        check(rt->array(q->k->built.loaded, array, NULL, SIZE_MAX, q->text, sizeof q->text), q);
    }
}

static void tell_work(void *arg)
{
    ProfileCall *q = arg;
    Func *f = q->k->build.func;

    str_init(&q->json, q->k->arena);
    str_init(&q->svg, q->k->arena);
    str_init(&q->table, q->k->arena);
    if (f->kernels.n > 0) /* one picture: of the first kernel */
        tell_kernel(q, f->kernels.at[0]);
}

static tl_status profile_gpu(tl_kernel *k, const tl_tensor *args, int narg, ProfileTexts *out)
{
    ProfileCall q = {.k = k, .args = args, .narg = narg};

    pthread_mutex_lock(&k->lock);
    tl_status s = protect(k->ctx, NULL, clear_work, &q);
    pthread_mutex_unlock(&k->lock);
    if (s == TL_OK)
        s = tl_kernel_run(k, args, narg);
    if (s != TL_OK)
        return s;
    pthread_mutex_lock(&k->lock);
    s = protect(k->ctx, NULL, tell_work, &q);
    pthread_mutex_unlock(&k->lock);
    *out = (ProfileTexts){q.json.s, q.svg.s, q.table.s};
    return s;
}

/* A sampler has one handler for its signal. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

typedef struct {
    tl_kernel *k;
    const tl_tensor *args;
    int narg;
    ProfileTexts *out;
    tl_status status; /* of the kernel's own runs */
} SampleCall;

static int run_again(void *arg)
{
    SampleCall *q = arg;
    return tl_kernel_run(q->k, q->args, q->narg);
}

static void sample_work(void *arg)
{
    SampleCall *q = arg;
    const Func *f = q->k->build.func;
    const Runtime *rt = q->k->built.rt;
    Arena *a = q->k->ctx->answer;
    ProfileSpans s;

    if (rt->emulator)
        recover_throw(STATUS_USER, "'%s' is run here by %s, whose times say nothing; tl profile "
                      "wants a machine that the code is for [not-profiled]", f->name, rt->emulator);
    if (!rt->sample)
        recover_throw(STATUS_USER, "'%s' has no code that runs here [not-profiled]", f->name);
    if (kernel_that_runs(q->k, q->args, q->narg) != q->k)
        recover_throw(STATUS_USER, "tensors of the call overlap, and another kernel takes it than "
                      "the one of '%s' that is shown; make a copy [not-profiled]", f->name);
    q->status = (tl_status)rt->sample(a, f, &q->k->built.module, run_again, q, &s);
    if (q->status == TL_OK)
        profile_tell(q->k, &s, a, q->out);
}

/* Runs it for a while; texts until the context is asked again. */
static tl_status profile_samples(tl_kernel *k, const tl_tensor *args, int narg, ProfileTexts *out)
{
    SampleCall q = {.k = k, .args = args, .narg = narg, .out = out};

    pthread_mutex_lock(&one_at_a_time);
    arena_reset(k->ctx->answer, (ArenaMark){0});
    tl_status s = protect(k->ctx, NULL, sample_work, &q);
    pthread_mutex_unlock(&one_at_a_time);
    return s == TL_OK ? q.status : s;
}

tl_status tl_kernel_profile(tl_kernel *k, const tl_tensor *args, int narg, const char **json,
                            const char **svg, const char **table)
{
    ProfileTexts t = {0};

    if (!k || (narg > 0 && !args))
        return call_null(k ? k->ctx : NULL);
    bool threads = machine_has(&k->request.spec.machine, HAS_THREADS);
    tl_status s = threads ? profile_gpu(k, args, narg, &t) : profile_samples(k, args, narg, &t);
    if (json)
        *json = t.json;
    if (svg)
        *svg = t.svg;
    if (table)
        *table = t.table;
    return s;
}
