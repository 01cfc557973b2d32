/* compile.c -- the spine: read this file first.
 *
 *     text --front--> tile form --pass.def, kernel by kernel--> lowered form --target--> text
 *
 * The tile form is kept: statements are immutable, so it costs a copy of a few structs.  It is what
 * the simulator runs to say what the kernel means. */
#include "api/api.h"
#include "target/print.h"

/* ---- memory ---------------------------------------------------------------------------------- */

void build_open_arenas(Build *b, Names *names)
{
    *b = (Build){.arena = arena_new(), .scratch = arena_new(), .names = names};
    if (!b->arena || !b->scratch) {
        build_free(b);
        recover_throw(STATUS_MEM, "out of memory");
    }
    diag_init(&b->diag, b->arena);
    str_init(&b->source, b->arena);
    str_init(&b->dump, b->arena);
    str_init(&b->report, b->arena);
}

void build_free(Build *b)
{
    arena_free(b->arena);
    arena_free(b->scratch);
    b->arena = b->scratch = NULL;
}

/* ---- the tile form, kept --------------------------------------------------------------------- */

static const Stmt *launch_copy(Ir *ir, const Stmt *s, void *arg)
{
    const Map *copies = arg;
    return s->kind == ST_LAUNCH ? stmt_launch(ir, s->span, map_get(copies, s->u.launch.kernel)) : s;
}

static Func *func_copy(const Func *f)
{
    Arena *a = f->ir->arena;
    Func *c = NEW(a, Func);
    Map copies;

    *c = *f;
    c->kernels.at = NEWN(a, Kernel *, f->kernels.n + 1);
    c->kernels.cap = f->kernels.n + 1;
    c->workspaces.cap = c->workspaces.n;
    map_init(&copies, a);
    for (int i = 0; i < f->kernels.n; i++) {
        c->kernels.at[i] = kernel_copy(c, f->kernels.at[i]);
        map_set(&copies, f->kernels.at[i], c->kernels.at[i]);
    }
    if (f->body)
        c->body = stmt_map(f->ir, f->body, launch_copy, &copies);
    return c;
}

/* ---- options that name passes ---------------------------------------------------------------- */

static int find_pass(const char *name)
{
    int n = pass_find(name);
    if (n < 0)
        recover_throw(STATUS_USER,
                      "no pass is called '%s'; tl dump --passes lists them [pass-unknown]", name);
    return n;
}

static uint64_t pass_set(Arena *a, const char *list, bool only_opt)
{
    uint64_t set = 0;

    for (const char *s = list; s && *s;) {
        size_t n = strcspn(s, ",");
        char *name = arena_strndup(a, s, n);
        s += n + (s[n] == ',');
        if (!strcmp(name, "tile") || !strcmp(name, "tile-form") || !strcmp(name, "program"))
            continue;
        if (!strcmp(name, "all")) {
            set = ~(uint64_t)0;
            continue;
        }
        int which = find_pass(name);
        if (only_opt && strncmp(name, "opt_", 4) != 0)
            recover_throw(STATUS_USER,
                          "only opt_ passes may be left out, not '%s' [pass-not-optional]", name);
        set |= (uint64_t)1 << which;
    }
    return set;
}

static PassOptions pass_options(Build *b, const Request *r)
{
    return (PassOptions){
        .out = &b->dump,
        .dump = pass_set(b->scratch, r->dump, false),
        .skip = pass_set(b->scratch, r->skip, true),
        .from = r->from ? find_pass(r->from) : -1,
        .stop_after = r->stop_after ? find_pass(r->stop_after) : -1,
        .seconds = b->pass_seconds,
        .dump_dir = r->dump_dir,
    };
}

static bool dumps_tile_form(const Request *r)
{
    return r->dump && (strstr(r->dump, "tile-form") || strstr(r->dump, "all") ||
                       !strcmp(r->dump, "tile") || !strncmp(r->dump, "tile,", 5));
}

/* ---- the steps ------------------------------------------------------------------------------- */

static void load(Build *b, const Request *r)
{
    LoadRequest q = {.src = &b->src, .func = r->func, .given = r->given, .ngiven = r->ngiven,
                     .shapes = r->shapes, .nshape = r->nshape, .threads = r->threads,
                     .machine = &r->spec.machine, .unused = r->unused};

    b->src = (Source){r->file, r->text, r->ntext};
    b->diag.werror = r->werror;
    b->ir = ir_new(b->arena, b->names, &b->diag, &op_words);
    b->ir->mechs = r->spec.target->mechs;
    b->func = r->from ? func_read(b->ir, &b->src) : front_load(b->ir, &q);
    if (b->diag.nerror)
        diag_throw(&b->diag);
}

/* Those of the caller win over those of the file. */
static void take_configs(Build *b, const Request *r)
{
    for (int i = 0; i < r->nconfig; i++)
        config_set_text(b->ir, NO_SPAN, &b->func->hints, r->configs[i].name, r->configs[i].text);
    b->func->report = &b->report;
    b->func->proves = r->prove;
}

/* Words of a target that were taken and have no effect. */
static void tell_target(Build *b, const Request *r)
{
    const TargetOption *o;

    for (int i = 0; r->spec.ignored && (o = target_option(r->spec.target, i)); i++) {
        const char *word = arena_strndup(b->arena, o->word, strlen(o->word) - 1);
        if (!o->take && strstr(r->spec.ignored, word))
            diag_ignored(&b->diag, NO_SPAN, arena_printf(b->arena, "%s of the target", word),
                         "%s [ignored]", o->doc);
    }
}

/* What GEMMs of float32 see is part of the meaning: decided before that is kept. */
static bool cuts_float32(const Func *f, const TargetSpec *s)
{
    const char *asked = config_text(f, CONFIG_gemm_precision);

    return !(asked && !strcmp(asked, "float32")) && machine_has(&s->machine, HAS_CUT_FLOAT32);
}

static void mark_written(Func *f)
{
    uint8_t *use = NEWN(f->ir->arena, uint8_t, f->params.n + 1);

    func_uses(f, use);
    for (int i = 0; i < f->params.n; i++)
        f->params.at[i].written = f->params.at[i].buf && (use[i] & PARAM_WRITE);
}

/* An output that no kernel writes gives whatever lay in its memory. */
static void tell_unwritten(Build *b)
{
    const Func *f = b->func;

    for (int i = 0; i < f->params.n && f->kernels.n > 0; i++)
        if (f->params.at[i].out && !f->params.at[i].written)
            diag_warn(&b->diag, f->params.at[i].span,
                      "no kernel writes the output '%s': a call gives what lay in its memory "
                      "[output-unwritten]", f->params.at[i].name);
}

/* What was read or traced is for this target from here on; as it is now, with index arithmetic of
 * whole numbers, it is the meaning. */
static void aim(Build *b, const Request *r)
{
    Machine *machine = NEW(b->arena, Machine);
    bool anywhere = r->unaligned || config_on(b->func, CONFIG_unaligned_tensors);

    *machine = r->spec.machine;
    for (int i = 0; anywhere && i < b->func->params.n; i++)
        if (b->func->params.at[i].buf)
            b->func->params.at[i].buf->unaligned = true;
    for (int i = 0; i < b->func->kernels.n; i++) {
        Kernel *k = b->func->kernels.at[i];
        k->target = r->spec.target;
        k->machine = machine;
        k->cuts_float32 = cuts_float32(b->func, &r->spec);
        k->scratch = b->scratch;
    }
    b->func->may_overlap = r->overlap == OVERLAP_TAKEN;
    b->ir->mechs = r->spec.target->mechs;
    config_tell(b->func, machine, r->spec.target->lost);
    tell_flags(b->func, &r->spec);
    mark_written(b->func);
    func_find_shifts(b->func);
    tell_unwritten(b);
    for (int i = 0; i < b->func->kernels.n; i++)
        if (!(b->func->kernels.at[i]->form & FORM_NORMAL))
            pass_lower_exact(b->func->kernels.at[i]);
    b->tile = func_copy(b->func);
}

/* Of a dump from between passes no second one can be made. */
static bool is_whole(const Request *r)
{
    return !r->stop_after && (!r->from || !strcmp(r->from, pass_table[0].name));
}

/* A kernel that took tensors for apart has a second one, for calls that pass a tensor it writes
 * twice. */
static bool needs_second(const Func *f)
{
    bool relies = false, writes = false;
    int ntensor = 0;

    if (f->may_overlap)
        return false;
    for (int i = 0; i < f->params.n; i++) {
        writes |= f->params.at[i].written;
        ntensor += f->params.at[i].buf != NULL;
    }
    for (int i = 0; i < f->kernels.n; i++)
        relies |= f->kernels.at[i]->relies_apart;
    return relies && writes && ntensor > 1;
}

/* Beside it: it is not shown, and has nothing to say that the first has not said. */
static void lower_second(Build *b, const Request *r)
{
    PassOptions o = {.skip = pass_set(b->scratch, r->skip, true), .from = -1, .stop_after = -1};
    int ndiag = b->diag.list.n, nwarning = b->diag.nwarning;
    Func *f = func_copy(b->tile);

    f->may_overlap = true;
    f->report = NULL;
    for (int i = 0; i < f->kernels.n; i++) {
        Kernel *k = f->kernels.at[i];
        k->name = ir_name(f->ir, arena_printf(b->arena, "%s_overlap", k->name));
    }
    pass_run_all(f, &o);
    b->diag.list.n = ndiag;
    b->diag.nwarning = nwarning;
    b->func->overlapping = f;
}

/* The same without guards: `tl prove` says what they cost.  It is not shown, and where it cannot be
 * made nothing is said of that. */
static void lower_unguarded(Build *b, const Request *r)
{
    PassOptions o = {.skip = pass_set(b->scratch, r->skip, true), .from = -1, .stop_after = -1};
    int ndiag = b->diag.list.n, nwarning = b->diag.nwarning;
    Func *f = func_copy(b->tile);
    Recover frame;

    f->proves = false;
    f->report = NULL;
    config_set_text(b->ir, NO_SPAN, &f->hints, "tl.disable_safe_memory_legalize", "1");
    if (recover_open(&frame) == 0) {
        pass_run_all(f, &o);
        recover_close(&frame);
        b->func->unguarded = f;
    } else if (frame.status != STATUS_USER)
        recover_throw(frame.status, "%s", frame.text);
    b->diag.list.n = ndiag;
    b->diag.nwarning = nwarning;
    b->diag.nerror = 0;
}

/* A tensor program as the text that was compiled; what became of it as comments. */
static void print_program(Build *b)
{
    const char *s = b->func->explain;
    if (!b->func->tiles)
        recover_throw(STATUS_USER, "'%s' is a kernel, not a tensor program [not-a-program]",
                      b->func->name);
    str_puts(&b->dump, b->func->tiles);
    for (const char *end; *s; s = end + 1) {
        end = strchr(s, '\n');
        str_printf(&b->dump, "# %.*s\n", (int)(end - s), s);
    }
}

static void lower(Build *b, const Request *r)
{
    PassOptions o = pass_options(b, r);

    if (config_on(b->func, CONFIG_enable_dump_ir) && !r->is_second) {
        const char *folder = config_text(b->func, CONFIG_dump_ir_path);
        o.dump = ~(uint64_t)0;
        o.dump_dir = folder ? folder : "dump_ir";
    }
    if (config_on(b->func, CONFIG_ast_print_enable))
        print_func(&b->report, b->tile);
    if (dumps_tile_form(r) && !r->dump_dir)
        print_func(&b->dump, b->tile);
    if (r->dump && !strcmp(r->dump, "program"))
        print_program(b);
    if (r->check_each || r->check_text)
        b->checker = checker_new(b);
    if (r->check_each) {
        o.check_arg = b->checker;
        o.check = checker_see;
    }
    pass_run_all(b->func, &o);
    if (is_whole(r) && needs_second(b->func)) {
        b->func->leaves_overlap = r->overlap == OVERLAP_LEFT;
        if (r->overlap == OVERLAP_BESIDE)
            lower_second(b, r);
    }
    if (r->prove && !r->stop_after && !r->from)
        lower_unguarded(b, r);
}

static void emit(Build *b, const Request *r)
{
    for (int i = 0; i < b->func->kernels.n; i++) {
        const Kernel *k = b->func->kernels.at[i];
        uint32_t missing = r->spec.target->emits & ~k->form;
        BUG(missing, "'%s' is not in the form that target %s emits: bits %#x are missing", k->name,
            r->spec.target->name, missing);
    }
    r->spec.target->emit(b->func, &r->spec, &b->source);
    if (config_on(b->func, CONFIG_emit_line_directives))
        repeat_line_directives(&b->source);
    if (b->diag.nerror)
        diag_throw(&b->diag);
}

/* However an emitter ends, the simulator runs what was lowered, not what was made of it for a
 * language: a choice that reads both of its sides, say, would be a race there. */
static void keep_bodies(const Func *f, const Stmt **body, bool put_back)
{
    for (int i = 0; i < f->kernels.n; i++) {
        Kernel *k = f->kernels.at[i];
        if (put_back)
            k->body = body[i];
        else
            body[i] = k->body;
    }
}

/* The simulator needs no text: what a target cannot say in its language is no error there. */
static void emit_if_it_can(Build *b, const Request *r)
{
    int ndiag = b->diag.list.n, nwarning = b->diag.nwarning;
    Recover frame;

    if (recover_open(&frame) == 0) {
        emit(b, r);
        recover_close(&frame);
        return;
    }
    if (frame.status != STATUS_USER)
        recover_throw(frame.status, "%s", frame.text);
    b->diag.list.n = ndiag;
    b->diag.nwarning = nwarning;
    b->diag.nerror = 0;
    b->source.n = 0;
}

void compile(Build *b, const Request *r)
{
    double start = now_seconds();
    if (!b->func) /* a host traced it already */
        load(b, r);
    take_configs(b, r);
    tell_target(b, r);
    aim(b, r);
    b->load_seconds = now_seconds() - start;

    lower(b, r);
    if (r->stop_after)
        return;

    start = now_seconds();
    const Stmt **lowered = NEWN(b->arena, const Stmt *, b->func->kernels.n + 1);
    keep_bodies(b->func, lowered, false);
    (runtime_find(r->spec.runtime)->simulates ? emit_if_it_can : emit)(b, r);
    keep_bodies(b->func, lowered, true);
    b->emit_seconds = now_seconds() - start;
}

/* ---- --time ---------------------------------------------------------------------------------- */

void time_text(const Build *b, Str *out)
{
    double total = b->load_seconds + b->emit_seconds + b->cc_seconds;

    for (int i = 0; i < PASS_COUNT; i++)
        total += b->pass_seconds[i];
    str_printf(out, "%10.3f ms  read and trace\n", b->load_seconds * 1e3);
    for (int i = 0; i < PASS_COUNT; i++)
        if (b->pass_seconds[i] > 0)
            str_printf(out, "%10.3f ms  %s\n", b->pass_seconds[i] * 1e3, pass_table[i].name);
    str_printf(out, "%10.3f ms  emit\n", b->emit_seconds * 1e3);
    str_printf(out, "%10.3f ms  C compiler%s\n", b->cc_seconds * 1e3,
               b->cc_seconds > 0 ? "" : " (not run)");
    str_printf(out, "%10.3f ms  total; %.1f KiB of arena\n", total * 1e3,
               (double)(arena_bytes(b->arena) + arena_bytes(b->scratch)) / 1024);
}
