/* load.c -- a file, the function asked for, its knobs: into a Func.
 *
 * The module is run statement by statement.  Statements of the script around the kernels often need
 * the host (torch, argparse, files): what fails there is set aside, and the names it would have set
 * are opaque. */
#include "front/builtin.h"
#include "front/eval.h"
#include "ir/config.h"

/* ---- the module ------------------------------------------------------------------------------ */

static void forget(Eval *ev, Scope *s, const char *name, const Message *why)
{
    Value v = value_opaque(ev, name);
    if (scope_find(s, name))
        return;
    scope_set(ev, s, name, &v);
    map_set(&ev->failed, name_intern(ev->names, name, strlen(name)), why);
}

static void forget_target(Eval *ev, Scope *s, const Ast *t, const Message *why)
{
    if (t->kind == AST_NAME)
        forget(ev, s, t->name, why);
    for (int i = 0; (t->kind == AST_TUPLE || t->kind == AST_LIST) && i < t->nkid; i++)
        forget_target(ev, s, t->kid[i], why);
}

/* Names that a statement would have set, had it not failed. */
static void forget_names(Eval *ev, Scope *s, const AstStmt *st, const Message *why)
{
    for (int i = 0; i < st->ntarget; i++)
        forget_target(ev, s, st->targets[i], why);
    for (int i = 0; i < st->nname && (st->kind == AS_IMPORT || st->kind == AS_FROM); i++) {
        const char *name = st->names[i].alias ? st->names[i].alias : st->names[i].name;
        if (strcmp(name, "*"))
            forget(ev, s, name, why);
    }
    if (st->kind == AS_DEF || st->kind == AS_CLASS) {
        forget(ev, s, st->kind == AS_DEF ? st->func->name : st->name, why);
        return;
    }
    for (int i = 0; i < st->nbody; i++)
        forget_names(ev, s, st->body[i], why);
}

/* Errors are set aside only where the compilation does not depend on them. */
static void run_tolerant(Eval *ev, Scope *s, const AstStmt *st)
{
    Recover r;
    Diag *d = ev->diag;
    const int nmessage = d->list.n, nerror = d->nerror, nwarning = d->nwarning, nest = ev->nest;
    const int depth = ev->depth;
    Value result;
    if (recover_open(&r) == 0) {
        eval_stmt(ev, s, st, &result);
        recover_close(&r);
    }
    if (r.status == STATUS_OK)
        return;
    if (r.status != STATUS_USER)
        recover_throw(r.status, "%s", r.text);
    if (ev->steps > STEPS_MOST)
        diag_throw(d);
    Message *why = NEW(ev->arena, Message);
    if (d->list.n > nmessage)
        *why = d->list.at[nmessage];
    if (st->kind == AS_DEF && !ev->broken && why->text)
        ev->broken = why;
    d->list.n = nmessage;
    d->nerror = nerror;
    d->nwarning = nwarning;
    ev->nest = nest;
    ev->depth = depth;
    ev->trace = NULL;
    ev->loop = 0;
    forget_names(ev, s, st, why->text ? why : NULL);
}

/* A module may be imported from anywhere, so what is going on around it is put aside. */
Scope *run_module(Eval *ev, const AstModule *m)
{
    Scope *s = scope_new(ev, NULL);
    Trace *trace = ev->trace;
    char loop = ev->loop;
    s->is_module = true;
    ev->trace = NULL;
    ev->loop = 0;
    Value name = value_cstr(ev, "kernel"), file = value_cstr(ev, m->src->name);
    scope_set(ev, s, "__name__", &name);
    scope_set(ev, s, "__file__", &file);
    for (int i = 0; i < m->nbody; i++)
        run_tolerant(ev, s, m->body[i]);
    ev->trace = trace;
    ev->loop = loop;
    return s;
}

/* ---- which function -------------------------------------------------------------------------- */

static bool names_prim(const Ast *e)
{
    if (e->kind == AST_CALL)
        e = e->kid[0];
    return (e->kind == AST_ATTR || e->kind == AST_NAME) && !strcmp(e->name, "prim_func");
}

static bool has_prim_func(AstStmt *const *body, int n)
{
    for (int i = 0; i < n; i++) {
        const AstStmt *st = body[i];
        for (int k = 0; st->kind == AS_DEF && k < st->func->ndecorator; k++)
            if (names_prim(st->func->decorators[k]))
                return true;
        if (st->kind == AS_DEF ? has_prim_func(st->func->body, st->func->nbody)
                               : has_prim_func(st->body, st->nbody) ||
                                     has_prim_func(st->orelse, st->norelse))
            return true;
    }
    return false;
}

static bool opens_kernel(AstStmt *const *body, int n)
{
    for (int i = 0; i < n; i++) {
        const AstStmt *st = body[i];
        for (int k = 0; st->kind == AS_WITH && k < st->nitem; k++) {
            const Ast *e = st->items[k].context;
            if (e->kind == AST_CALL && e->kid[0]->name && strstr(e->kid[0]->name, "Kernel"))
                return true;
        }
        if (st->kind != AS_DEF && st->kind != AS_CLASS &&
            (opens_kernel(st->body, st->nbody) || opens_kernel(st->orelse, st->norelse)))
            return true;
    }
    return false;
}

static bool declares_tensors(const AstFunc *f)
{
    for (int i = 0; i < f->nbody; i++) {
        const AstStmt *st = f->body[i];
        if (st->kind == AS_ANN && !st->value)
            return true;
        if (st->kind == AS_ASSIGN && st->value->kind == AST_CALL && st->value->kid[0]->name &&
            !strcmp(st->value->kid[0]->name, "const"))
            return true;
    }
    return false;
}

/* Lazy: the call gives a prim_func.  Eager: the body is the kernel. */
static bool is_eager(const Function *fn)
{
    if (fn->kind != FN_JIT || has_prim_func(fn->ast->body, fn->ast->nbody))
        return false;
    return opens_kernel(fn->ast->body, fn->ast->nbody) || declares_tensors(fn->ast);
}

static bool is_kernel_like(const Value *v)
{
    if (v->kind == V_FUNC)
        return true;
    if (v->kind != V_FUNCTION)
        return false;
    const Function *fn = v->u.func;
    return fn->kind == FN_JIT || fn->kind == FN_PRIM || fn->kind == FN_TENSOR ||
           (fn->kind == FN_PLAIN && has_prim_func(fn->ast->body, fn->ast->nbody));
}

static Span first_line(const Source *src)
{
    return (Span){.src = src, .line = 1, .col = 1, .end_line = 1, .end_col = 1};
}

static const char *known_functions(Eval *ev, Scope *s, const char **all, int *n)
{
    Str b;
    str_init(&b, ev->arena);
    *n = 0;
    for (int i = 0; i < s->names.n; i++) {
        if (!s->names.at[i].key || !is_kernel_like(s->names.at[i].val))
            continue;
        str_printf(&b, "%s%s", *n ? ", " : "", (const char *)s->names.at[i].key);
        all[(*n)++] = s->names.at[i].key;
    }
    return b.n ? b.s : "none";
}

static Value find_function(Eval *ev, Scope *s, const LoadRequest *r)
{
    int n;
    const char **all = NEWN(ev->arena, const char *, s->names.n + 1);
    const char *list = known_functions(ev, s, all, &n);
    if (!r->func && n)
        return *scope_find(s, all[n - 1]);
    if (!n && ev->broken)
        diag_fail(ev->diag, ev->broken->span, "%s [%s]", ev->broken->text, ev->broken->tag);
    if (!r->func) {
        diag_error(ev->diag, first_line(r->src), "this file has no kernel: no @tilelang.jit, no "
                   "@T.prim_func [no-kernel-function]");
        for (int i = 0; i < MIN(ev->failed.n, 3); i++)
            note_failed(ev, ev->failed.at[i].key);
        diag_throw(ev->diag);
    }
    Value *v = scope_find(s, r->func);
    if (v && (is_kernel_like(v) || v->kind == V_FUNCTION))
        return *v;
    const char *near = nearest_name(r->func, all, n);
    if (near)
        diag_fail(ev->diag, first_line(r->src),
                  "there is no kernel '%s' in this file; did you mean "
                  "'%s'? [no-such-function]",
                  r->func, near);
    diag_fail(ev->diag, first_line(r->src), "there is no kernel '%s' in this file; there are: %s "
              "[no-such-function]", r->func, list);
}

/* ---- knobs ----------------------------------------------------------------------------------- */

static Value read_value(Eval *ev, Scope *s, const NameValue *g)
{
    Source *src = NEW(ev->arena, Source);
    *src = (Source){.name = arena_printf(ev->arena, "%s=", g->name), .text = g->text,
                    .len = strlen(g->text)};
    Ast *e = parse_expression(ev->arena, ev->names, ev->diag, src);
    if (!e)
        diag_throw(ev->diag);
    DType t;
    int lanes;
    if (e->kind == AST_NAME && !scope_find(s, e->name)) /* a bare word: dtype=float16, op=max */
        return dtype_parse(e->name, &t, &lanes) ? value_dtype(t, lanes) : value_cstr(ev, e->name);
    return eval_expr(ev, s, e);
}

static void read_given(Eval *ev, Scope *s, const LoadRequest *r)
{
    ev->given = NEWN(ev->arena, Given, r->ngiven + 1);
    for (int i = 0; i < r->ngiven; i++)
        ev->given[ev->ngiven++] = (Given){.name = r->given[i].name,
                                          .value = read_value(ev, s, &r->given[i])};
}

const Given *given_find(Eval *ev, const char *name)
{
    for (int i = 0; i < ev->ngiven; i++)
        if (!strcmp(ev->given[i].name, name)) {
            ev->given[i].used = true;
            return &ev->given[i];
        }
    return NULL;
}

/* Whoever asked may want to keep it: a run-time value, not a knob. */
static bool keep_unused(Eval *ev, int i)
{
    bool *unused = ev->request ? ev->request->unused : NULL;
    if (unused)
        unused[i] = true;
    return unused != NULL;
}

static const char *nearest_parameter(Eval *ev, const AstFunc *f, const char *name)
{
    const char **names = NEWN(ev->arena, const char *, f->nparam + 1);
    int n = 0;

    for (int k = 0; k < f->nparam; k++)
        if (f->params[k].name)
            names[n++] = f->params[k].name;
    return nearest_name(name, names, n);
}

static void refuse_unused(Eval *ev, const Function *fn)
{
    const AstFunc *f = fn->ast;

    for (int i = 0; i < ev->ngiven; i++) {
        if (ev->given[i].used || keep_unused(ev, i))
            continue;
        const char *near = nearest_parameter(ev, f, ev->given[i].name);
        diag_fail(ev->diag, f->name_span, "%s has no parameter '%s'%s%s%s [no-such-parameter]",
                  function_signature(ev, fn), ev->given[i].name, near ? "; did you mean '" : "",
                  near ? near : "", near ? "'?" : "");
    }
}

/* Keywords for the call, out of what was given. */
static CallArgs knob_arguments(Eval *ev, const Function *fn)
{
    const AstFunc *f = fn->ast;
    CallArgs args = {.span = f->name_span};
    args.key = NEWN(ev->arena, const char *, ev->ngiven + 1);
    args.val = NEWN(ev->arena, Value, ev->ngiven + 1);
    args.key_spans = NEWN(ev->arena, Span, ev->ngiven + 1);
    bool rest = false;
    for (int k = 0; k < f->nparam; k++)
        rest = rest || f->params[k].star == 2;
    for (int i = 0; i < ev->ngiven; i++) {
        bool named = rest;
        for (int k = 0; k < f->nparam; k++)
            named = named || (f->params[k].name && !strcmp(f->params[k].name, ev->given[i].name));
        if (!named)
            continue;
        ev->given[i].used = true;
        args.key[args.nkey] = ev->given[i].name;
        args.val[args.nkey] = ev->given[i].value;
        args.key_spans[args.nkey++] = f->name_span;
    }
    return args;
}

static void need_knobs(Eval *ev, const Function *fn, const CallArgs *args)
{
    Str missing;
    str_init(&missing, ev->arena);
    for (int i = 0; i < fn->ast->nparam; i++) {
        const AstParam *p = &fn->ast->params[i];
        bool given = p->star || !p->name || fn->defaults[i].kind != V_UNBOUND;
        for (int k = 0; k < args->nkey && !given; k++)
            given = !strcmp(args->key[k], p->name);
        if (!given)
            str_printf(&missing, "%s%s", missing.n ? ", " : "", p->name);
    }
    if (missing.n)
        diag_fail(ev->diag, fn->ast->name_span, "%s needs values for: %s; give them as NAME=VALUE "
                  "[missing-parameter]", function_signature(ev, fn), missing.s);
}

/* ---- options of @tilelang.jit ---------------------------------------------------------------- */

static void mark_output(Eval *ev, Span at, Func *f, int64_t i)
{
    int64_t k = i < 0 ? i + f->params.n : i;
    if (k < 0 || k >= f->params.n)
        diag_fail(ev->diag, at, "out_idx %lld: the function has %d parameters [out-idx]",
                  (long long)i, f->params.n);
    Param *p = &f->params.at[k];
    if (!p->buf)
        diag_fail(ev->diag, at, "out_idx %lld is the scalar '%s', not a tensor [out-idx]",
                  (long long)i, p->name);
    if (p->out)
        diag_fail(ev->diag, at, "out_idx %lld: the output '%s' is named twice [out-idx]",
                  (long long)i, p->name);
    p->out = p->buf->is_output = true;
}

void mark_outputs(Eval *ev, Span at, Func *f, const Value *out_idx)
{
    if (out_idx->kind == V_NONE || out_idx->kind == V_OPAQUE)
        return;
    if (out_idx->kind != V_LIST && out_idx->kind != V_TUPLE) {
        mark_output(ev, at, f, to_int(ev, at, out_idx, "out_idx"));
        return;
    }
    for (int i = 0; i < out_idx->u.seq->n; i++)
        mark_output(ev, at, f, to_int(ev, at, &out_idx->u.seq->at[i], "out_idx"));
}

static const char *config_name(const Value *key)
{
    return key->kind == V_STR || key->kind == V_OPAQUE ? key->u.s.text : NULL;
}

/* Words of a list, with blanks between; NULL: one is no str. */
static const char *config_words(Eval *ev, const Value *list)
{
    Str words;
    str_init(&words, ev->arena);
    for (int i = 0; i < list->u.seq->n; i++) {
        const char *word = config_name(&list->u.seq->at[i]);
        if (!word)
            return NULL;
        str_printf(&words, "%s%s", i ? " " : "", word);
    }
    return words.s;
}

static void add_config(Eval *ev, Span at, Hints *h, const char *name, const Value *v)
{
    ConfigKind kind = CONFIG_TEXT;
    int64_t number = 0;
    const char *text = NULL;

    if (v->kind == V_BOOL || v->kind == V_INT) {
        kind = v->kind == V_BOOL ? CONFIG_FLAG : CONFIG_NUMBER;
        number = v->u.i;
    } else if (v->kind == V_DICT) {
        kind = CONFIG_TABLE;
        text = "";
    } else if (value_is_seq(v)) {
        kind = CONFIG_WORDS;
        text = config_words(ev, v);
    } else {
        text = config_name(v);
    }
    if (kind != CONFIG_FLAG && kind != CONFIG_NUMBER && !text)
        diag_fail(ev->diag, at, "the pass config '%s' is given %s [config-value]", name,
                  value_kind_name(v));
    config_set(ev->ir, at, h, name, kind, number, text);
}

/* None is as good as nothing. */
void hints_configs(Eval *ev, Span at, Hints *h, const Value *dict)
{
    for (int i = 0; i + 1 < dict->u.seq->n; i += 2) {
        const char *name = config_name(&dict->u.seq->at[i]);
        if (!name)
            diag_fail(ev->diag, at, "a pass config is named by a str or PassConfigKey, not by %s "
                      "[config-value]", value_kind_name(&dict->u.seq->at[i]));
        if (dict->u.seq->at[i + 1].kind != V_NONE)
            add_config(ev, at, h, name, &dict->u.seq->at[i + 1]);
    }
}

static void apply_options(Eval *ev, const Function *fn, Func *f)
{
    Value *opt, key;
    if (fn->options.kind != V_DICT)
        return;
    key = value_cstr(ev, "out_idx");
    opt = dict_find(ev, &fn->options, &key);
    if (opt)
        mark_outputs(ev, fn->ast->name_span, f, opt);
    key = value_cstr(ev, "pass_configs");
    opt = dict_find(ev, &fn->options, &key);
    if (opt && opt->kind == V_DICT)
        hints_configs(ev, fn->ast->name_span, &f->hints, opt);
    key = value_cstr(ev, "compile_flags");
    opt = dict_find(ev, &fn->options, &key);
    if (opt)
        hints_flags(ev, &f->hints, opt);
}

static void refuse_out_idx(Eval *ev, const Function *fn)
{
    Value key = value_cstr(ev, "out_idx");
    Value *opt = fn->options.kind == V_DICT ? dict_find(ev, &fn->options, &key) : NULL;
    if (opt && opt->kind != V_NONE)
        diag_fail(ev->diag, fn->ast->name_span, "out_idx has no meaning here: '%s' returns its "
                  "outputs, made by T.empty [out-idx-eager]", fn->ast->name);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static Func *load_function(Eval *ev, Function *fn);

/* What a factory gave: a prim_func, or another kernel function whose knobs have defaults.  A
 * function that only uses the kernel it makes stands for that kernel. */
static Func *as_func(Eval *ev, const Function *fn, const Value *v)
{
    if (v->kind == V_FUNC)
        return v->u.irfunc;
    if (is_kernel_like(v) && ++ev->depth < CALLS_MOST) {
        Func *f = load_function(ev, v->u.func);
        ev->depth--;
        return f;
    }
    if ((v->kind == V_NONE || v->kind == V_OPAQUE) && fn->kind == FN_PLAIN && ev->last)
        return ev->last;
    diag_fail(ev->diag, fn->ast->name_span, "'%s' gives %s, not a @T.prim_func [not-a-kernel]",
              fn->ast->name, value_kind_name(v));
}

static Func *load_function(Eval *ev, Function *fn)
{
    if (fn->kind == FN_TENSOR) {
        Func *program = tensor_load(ev, fn);
        refuse_unused(ev, fn);
        return program;
    }
    if (fn->kind == FN_PRIM) {
        refuse_unused(ev, fn);
        Func *f = trace_function(ev, fn, NULL);
        apply_options(ev, fn, f);
        return f;
    }
    CallArgs args = knob_arguments(ev, fn);
    Func *f;
    if (is_eager(fn)) {
        refuse_out_idx(ev, fn);
        f = trace_function(ev, fn, &args);
        refuse_unused(ev, fn);
    } else {
        refuse_unused(ev, fn);
        need_knobs(ev, fn, &args);
        Function plain = *fn;
        plain.kind = FN_PLAIN;
        ev->last = NULL;
        Value v = call_function(ev, fn->ast->name_span, &plain, NULL, &args);
        f = as_func(ev, fn, &v);
    }
    apply_options(ev, fn, f);
    f->known_as = fn->ast->name;
    return f;
}

static Eval *eval_new(Ir *ir)
{
    Eval *ev = NEW(ir->arena, Eval);
    ev->arena = ir->arena;
    ev->names = ir->names;
    ev->diag = ir->diag;
    ev->ir = ir;
    map_init_text(&ev->dynamic, ir->arena);
    map_init_text(&ev->modules, ir->arena);
    map_init_text(&ev->failed, ir->arena);
    return ev;
}

static Scope *load_module(Eval *ev, const Source *src)
{
    AstModule *m = parse_module(ev->arena, ev->names, ev->diag, src);
    if (ev->diag->nerror)
        diag_throw(ev->diag);
    ev->globals = run_module(ev, m);
    return ev->globals;
}

Func *front_load(Ir *ir, const LoadRequest *r)
{
    Eval *ev = eval_new(ir);
    ev->request = r;
    Scope *s = load_module(ev, r->src);
    Value v = find_function(ev, s, r);
    read_given(ev, s, r);
    Func *f;
    if (v.kind == V_FUNC) {
        f = v.u.irfunc;
        for (int i = 0; i < ev->ngiven; i++)
            if (!keep_unused(ev, i))
                diag_fail(ev->diag, f->span, "'%s' has no parameters to give [no-such-parameter]",
                          f->name);
    } else {
        f = load_function(ev, v.u.func);
    }
    if (ir->diag->nerror)
        diag_throw(ir->diag);
    return f;
}

int front_list(Ir *ir, const Source *src, FuncInfo **out)
{
    Eval *ev = eval_new(ir);
    Scope *s = load_module(ev, src);
    VEC(FuncInfo) all = {0};
    for (int i = 0; i < s->names.n; i++) {
        const Value *v = s->names.at[i].val;
        if (!s->names.at[i].key || !is_kernel_like(v))
            continue;
        FuncInfo info = {.name = s->names.at[i].key, .kind = FN_PRIM, .signature = ""};
        if (v->kind == V_FUNCTION) {
            info.kind = v->u.func->kind;
            info.signature = function_signature(ev, v->u.func);
        }
        vec_push(ir->arena, &all, info);
    }
    *out = all.at;
    return all.n;
}

/* ---- functions of a host language ------------------------------------------------------------ */

void front_look(Ir *ir, const Source *src, FuncLook *out)
{
    const AstFunc *f = parse_def(ir, src);
    Function fn = {.ast = f, .kind = FN_JIT};
    *out = (FuncLook){.eager = is_eager(&fn), .makes = has_prim_func(f->body, f->nbody),
                      .stores = stores_items(f->body, f->nbody)};
    out->name = NEWN(ir->arena, const char *, f->nparam + 1);
    out->declared = NEWN(ir->arena, bool, f->nparam + 1);
    for (int i = 0; i < f->nparam; i++) {
        if (!f->params[i].name)
            continue;
        out->declared[out->nparam] = declared_in_body(f, f->params[i].name);
        out->name[out->nparam++] = f->params[i].name;
    }
}

Eval *front_eval(Ir *ir, const TraceRequest *r)
{
    Eval *ev = eval_new(ir);
    LoadRequest *q = NEW(ir->arena, LoadRequest);
    *q = (LoadRequest){.src = r->src, .shapes = r->shapes, .nshape = r->nshape,
                       .machine = r->machine};
    ev->request = q;
    ev->host = r->host;
    ev->host_data = r->host_data;
    return ev;
}

/* Keywords of a call that name neither a parameter nor a T.const. */
static void refuse_keywords(Eval *ev, const Function *fn)
{
    for (int i = 0; i < ev->ngiven; i++) {
        const char *name = ev->given[i].name;
        if (ev->given[i].used)
            continue;
        const char *near = nearest_parameter(ev, fn->ast, name);
        diag_fail(ev->diag, fn->ast->name_span,
                  "%s() got an unexpected keyword argument '%s'%s%s%s [argument-name]",
                  fn->ast->name, name, near ? "; did you mean '" : "", near ? near : "",
                  near ? "'?" : "");
    }
}

Func *front_trace(Eval *ev, const TraceRequest *r)
{
    ev->given = NEWN(ev->arena, Given, r->nkey + 1);
    for (int i = 0; i < r->nkey; i++)
        ev->given[ev->ngiven++] = (Given){.name = r->key[i], .value = r->val[i]};
    Value v = front_define(ev, r->src, r->kind, r->host_data);
    ev->globals = v.u.func->closure;
    CallArgs args = knob_arguments(ev, v.u.func);
    Func *f = trace_function(ev, v.u.func, &args);
    refuse_keywords(ev, v.u.func);
    if (ev->diag->nerror)
        diag_throw(ev->diag);
    return f;
}
