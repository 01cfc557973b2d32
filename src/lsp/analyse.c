/* analyse.c -- the child of a document: compiles every kernel of the text and says what it found.
 *
 * What a kernel needs and nobody gives (M, block_M, T.const) is taken from lines
 *     # tl: M=1024 block_M=64
 * of the text, or guessed by its name; a hint at the kernel says which values were guessed. */
#include <stdlib.h>
#include "api/public.h"
#include "lsp/lsp.h"

typedef struct {
    Arena *arena;
    const Document *doc;
    bool utf8;
    Source src;
    const char *target;
    tl_context *ctx;
    VEC(NameValue) said; /* by "# tl:" lines */
    Json publish, tiles, calls;
    VEC(Message) seen;
} Analysis;

/* ---- values for what has none ---------------------------------------------------------------- */

static void read_said(Analysis *n)
{
    static const char mark[] = "# tl:";

    for (const char *p = n->src.text; (p = strstr(p, mark)); ) {
        p += strlen(mark);
        size_t len = strcspn(p, "\n");
        char *line = arena_strndup(n->arena, p, len), *rest = NULL;
        for (char *w = strtok_r(line, " ,\t\r", &rest); w; w = strtok_r(NULL, " ,\t\r", &rest)) {
            char *eq = strchr(w, '=');
            if (!eq || eq == w)
                continue;
            *eq = 0;
            vec_push(n->arena, &n->said, ((NameValue){w, eq + 1}));
        }
        p += len;
    }
}

/* By parts of a name, in this order. */
static const struct { const char *part, *value; } guesses[] = {
    {"accum", "'float32'"}, {"dtype", "'float16'"}, {"type", "'float16'"}, {"thread", "128"},
    {"stage", "2"}, {"causal", "False"}, {"trans", "False"}, {"is_", "False"}, {"use_", "False"},
    {"enable", "False"}, {"block", "64"}, {"tile", "64"}, {"bm", "64"}, {"bn", "64"}, {"bk", "64"},
    {"batch", "2"}, {"head", "8"}, {"dim", "64"}, {"scale", "1.0"}, {"eps", "1e-5"},
    {"group", "1"}, {"", "256"}};

static const char *guess(Arena *a, const char *name)
{
    char *low = arena_strndup(a, name, strlen(name));
    int i = 0;

    for (char *p = low; *p; p++)
        *p = *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;
    while (!strstr(low, guesses[i].part))
        i++;
    return guesses[i].value;
}

typedef struct {
    Analysis *n;
    VEC(NameValue) given;
    Str guessed;
    bool knobs; /* parameters are among the guessed */
} Values;

/* True: it was guessed. */
static bool value_for(Values *v, const char *name, size_t len)
{
    Analysis *n = v->n;
    const char *word = arena_strndup(n->arena, name, len);

    for (int i = 0; i < v->given.n; i++)
        if (!strcmp(v->given.at[i].name, word))
            return false;
    const char *value = guess(n->arena, word);
    str_printf(&v->guessed, "%s%s=%s", v->guessed.n ? ", " : "", word, value);
    vec_push(n->arena, &v->given, ((NameValue){word, value}));
    return true;
}

static void values_of_text(Values *v, const char *p)
{
    while (*(p += strspn(p, ", \t"))) {
        size_t len = strcspn(p, ", \t");
        value_for(v, p, len);
        p += len;
    }
}

/* T.const("M, N") */
static void values_of_const(Values *v, const Ast *e)
{
    bool calls = e && e->kind == AST_CALL && e->kid[0]->kind == AST_ATTR;

    if (!calls || strcmp(e->kid[0]->name, "const"))
        return;
    for (int i = 0; i < e->narg; i++)
        if (e->args[i].value->kind == AST_STRING)
            values_of_text(v, e->args[i].value->str);
}

static bool declares(const AstFunc *f, const char *name)
{
    for (int i = 0; i < f->nbody; i++)
        if (f->body[i]->kind == AS_ANN && f->body[i]->targets[0]->kind == AST_NAME &&
            !strcmp(f->body[i]->targets[0]->name, name))
            return true;
    return false;
}

static void values_of_func(Values *v, const AstFunc *f, bool factory)
{
    for (int i = 0; factory && i < f->nparam; i++) {
        const AstParam *p = &f->params[i];
        if (p->name && !p->value && !p->star && !declares(f, p->name))
            v->knobs |= value_for(v, p->name, strlen(p->name));
    }
    for (int i = 0; i < f->nbody; i++) {
        values_of_const(v, f->body[i]->value);
        if (f->body[i]->kind == AS_DEF)
            values_of_func(v, f->body[i]->func, false);
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

static bool is_known(Analysis *n, const Message *m)
{
    for (int i = 0; i < n->seen.n; i++)
        if (n->seen.at[i].span.line == m->span.line && n->seen.at[i].span.col == m->span.col &&
            !strcmp(n->seen.at[i].text, m->text))
            return true;
    vec_push(n->arena, &n->seen, *m);
    return false;
}

static bool is_here(const Analysis *n, Span at)
{
    return at.src && at.line > 0 && !strcmp(at.src->name, n->src.name);
}

static Span file_start(const Analysis *n)
{
    return (Span){&n->src, 1, 1, 1, 1};
}

static void put_related(Analysis *n, const Message *m)
{
    Json *j = &n->publish;

    json_object(j, NULL);
    json_object(j, "location");
    json_string(j, "uri", n->doc->uri);
    put_range(j, "range", n->utf8, n->src.text, n->src.len, m->span);
    json_end(j, '}');
    json_string(j, "message", m->text);
    json_end(j, '}');
}

/* list[0] with the notes after it. */
static void put_message(Analysis *n, const Message *m, int nnote, Span otherwise, int severity)
{
    Json *j = &n->publish;
    Str text;

    str_init(&text, n->arena);
    str_puts(&text, m->text);
    for (int i = 1; i <= nnote; i++)
        if (!is_here(n, m[i].span))
            str_printf(&text, "\nnote: %s", m[i].text);
    json_object(j, NULL);
    put_range(j, "range", n->utf8, n->src.text, n->src.len,
              is_here(n, m->span) ? m->span : otherwise);
    json_int(j, "severity", severity);
    json_string(j, "source", "tl");
    if (m->tag)
        json_string(j, "code", m->tag);
    json_string(j, "message", text.s);
    json_array(j, "relatedInformation");
    for (int i = 1; i <= nnote; i++)
        if (is_here(n, m[i].span))
            put_related(n, &m[i]);
    json_end(j, ']');
    json_end(j, '}');
}

/* guessed: an error may be of the values, and is shown as a warning. */
static void put_messages(Analysis *n, const Diag *d, Span otherwise, bool guessed)
{
    for (int i = 0, next; i < d->list.n; i = next) {
        const Message *m = &d->list.at[i];
        for (next = i + 1; next < d->list.n && d->list.at[next].kind == DIAG_NOTE;)
            next++;
        if (m->kind != DIAG_NOTE && !is_known(n, m))
            put_message(n, m, next - i - 1, otherwise, m->kind == DIAG_ERROR && !guessed ? 1 : 2);
    }
}

static void put_failure(Analysis *n, const Recover *r, Span at)
{
    Message m = {DIAG_ERROR, at, r->text, r->status == STATUS_BUG ? "internal" : NULL};

    put_message(n, &m, 0, at, 1);
}

/* ---- facts ----------------------------------------------------------------------------------- */

/* A line of the plans: "  copy A, As (line 16): tma, …" or "  As: shared float16[…], …". */
static void put_fact(Analysis *n, char *line, int32_t from, int32_t to)
{
    char *colon = strstr(line, ": "), *at = strstr(line, " (line ");
    int in = at && at < colon ? atoi(at + strlen(" (line ")) : 0;

    if (!colon || strncmp(line, "  ", 2))
        return;
    *colon = 0;
    Json *j = in ? &n->calls : &n->tiles;
    json_object(j, NULL);
    if (in)
        *at = 0;
    json_string(j, in ? "what" : "name", line + 2);
    json_int(j, in ? "line" : "from", in ? in : from);
    if (!in)
        json_int(j, "to", to);
    json_string(j, "text", colon + 2);
    json_end(j, '}');
}

static void put_facts(Analysis *n, const Func *f, int32_t from, int32_t to)
{
    for (int i = 0; i < f->kernels.n; i++) {
        Str plans;
        char *rest = NULL;
        str_init(&plans, n->arena);
        print_plans(&plans, f->kernels.at[i]);
        for (char *l = strtok_r(plans.s, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest))
            put_fact(n, l, from, to);
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void make_request(Analysis *n, tl_kernel *k, const char *func, const Values *v)
{
    Request *r = &k->request;
    const char *why;

    *r = (Request){.file = n->src.name, .text = n->src.text, .ntext = n->src.len, .func = func,
                   .given = v->given.at, .ngiven = v->given.n,
                   .unused = NEWN(n->arena, bool, v->given.n + 1)};
    if (!target_parse(n->arena, n->target, &r->spec, &why))
        recover_throw(STATUS_TARGET, "%s", why);
    spec_from_device(n->ctx, n->arena, &r->spec);
}

static void say_guesses(Analysis *n, const Values *v, Span at)
{
    if (!v->guessed.n)
        return;
    Message m = {DIAG_NOTE, at, arena_printf(n->arena, "looked at with %s, by their names; a line "
                 "'# tl: NAME=VALUE …' says otherwise", v->guessed.s), "guessed"};
    put_message(n, &m, 0, at, 4);
}

static void look_at_kernel(Analysis *n, const FuncInfo *info, const AstFunc *f)
{
    Values v = {.n = n};
    tl_kernel *k = kernel_open(n->ctx);
    Span at = f ? f->name_span : file_start(n);
    Recover r;

    if (!k)
        return;
    str_init(&v.guessed, n->arena);
    for (int i = 0; i < n->said.n; i++)
        vec_push(n->arena, &v.given, n->said.at[i]);
    if (f)
        values_of_func(&v, f, info->kind != FN_PRIM);
    if (recover_open(&r) == 0) {
        make_request(n, k, info->name, &v);
        build_open_arenas(&k->build, n->ctx->names);
        compile(&k->build, &k->request);
        put_messages(n, &k->build.diag, at, false);
        put_facts(n, k->build.func, f ? f->span.line : 1, f ? func_last_line(f) : INT32_MAX);
        recover_close(&r);
    } else if (k->build.arena && k->build.diag.nerror && r.status != STATUS_BUG)
        put_messages(n, &k->build.diag, at, v.knobs);
    else
        put_failure(n, &r, at);
    say_guesses(n, &v, at);
}

static const AstFunc *func_named(const Outline *o, const char *name)
{
    const Bound *b = NULL;

    for (int i = 0; i < o->n; i++)
        if (o->at[i].func && o->at[i].to == INT32_MAX && !strcmp(o->at[i].name, name))
            b = &o->at[i];
    return b ? b->func : NULL;
}

/* Editors show us all Python there is. */
static bool has_kernels(const Outline *o)
{
    for (int i = 0; i < o->n; i++)
        if (o->at[i].module && !strncmp(o->at[i].module, "tilelang", 8))
            return true;
    return false;
}

static void look_at_text(Analysis *n)
{
    Outline o = outline(n->arena, n->ctx->names, &n->src);
    FuncInfo *info = NULL;
    Diag diag;
    Recover r;
    volatile int count = 0;

    if (!has_kernels(&o))
        return;
    diag_init(&diag, n->arena);
    if (recover_open(&r) == 0) {
        Ir *ir = ir_new(n->arena, n->ctx->names, &diag, &op_words);
        count = front_list(ir, &n->src, &info);
        recover_close(&r);
    } else if (!diag.nerror)
        put_failure(n, &r, file_start(n));
    put_messages(n, &diag, file_start(n), false);
    for (int i = 0; i < count; i++)
        look_at_kernel(n, &info[i], func_named(&o, info[i].name));
}

static void open_list(Analysis *n, Json *j, Str *out)
{
    str_init(out, n->arena);
    json_open(j, out);
    json_array(j, NULL);
}

void analyse(const Document *d, bool utf8, const char *target, Str *out)
{
    Arena *a = out->arena;
    Analysis n = {.arena = a, .doc = d, .utf8 = utf8, .target = target, .ctx = tl_open(),
                  .src = {uri_path(a, d->uri), d->text, d->n}};
    Str publish, tiles, calls;

    if (!n.ctx)
        return;
    open_list(&n, &n.publish, &publish);
    open_list(&n, &n.tiles, &tiles);
    open_list(&n, &n.calls, &calls);
    read_said(&n);
    look_at_text(&n);
    json_end(&n.publish, ']');
    json_end(&n.tiles, ']');
    json_end(&n.calls, ']');
    str_printf(out, "%zu\n%s{\"tiles\": %s, \"calls\": %s}", publish.n, publish.s, tiles.s,
               calls.s);
    tl_close(n.ctx);
}
