/* builtin.c -- the table of T.names, and the binding of a call's arguments to a row's signature. */
#include "front/builtin.h"

#include <stdlib.h>

const Builtin builtin_table[] = {
#define BUILTIN(name, signature, handler, group, cpu, doc)                                         \
    {name, signature, do_##handler, doc, group, cpu},
#include "front/builtin.def"
#undef BUILTIN
};
const int builtin_count = COUNT(builtin_table);

const Builtin *builtin_find(const char *name)
{
    for (int i = 0; i < builtin_count; i++)
        if (builtin_table[i].name[0] == name[0] && !strcmp(builtin_table[i].name, name))
            return &builtin_table[i];
    return NULL;
}

/* ---- signatures ------------------------------------------------------------------------------ */

enum { PARAM_MOST = 24 };

typedef struct {
    const char *name;
    int len;
    int star;        /* 1 *name, 2 **name */
    bool kwonly;
    const char *def; /* text of the default, NULL if there is none */
    int deflen;
} SigParam;

static const char *skip_blank(const char *s)
{
    while (*s == ' ')
        s++;
    return s;
}

/* The end of one parameter: a comma outside quotes and brackets, or the end of the text. */
static const char *param_end(const char *s)
{
    int depth = 0;
    char quote = 0;
    for (; *s; s++) {
        if (quote) {
            if (*s == quote)
                quote = 0;
        } else if (*s == '"' || *s == '\'') {
            quote = *s;
        } else if (*s == '(' || *s == '[' || *s == '{') {
            depth++;
        } else if (*s == ')' || *s == ']' || *s == '}') {
            depth--;
        } else if (*s == ',' && depth == 0) {
            break;
        }
    }
    return s;
}

static int parse_signature(const char *s, SigParam *out)
{
    int n = 0;
    bool kwonly = false;
    for (s = skip_blank(s); *s;) {
        const char *end = param_end(s);
        SigParam p = {.kwonly = kwonly};
        while (*s == '*') {
            p.star++;
            s++;
        }
        const char *stop = s;
        while (stop < end && *stop != '=' && *stop != ' ')
            stop++;
        p.name = s;
        p.len = (int)(stop - s);
        if (stop < end && *stop == '=') {
            p.def = stop + 1;
            p.deflen = (int)(end - p.def);
        }
        if (p.star)
            kwonly = true;
        if (p.len > 0) {
            BUG(n == PARAM_MOST, "signature with more than %d parameters", PARAM_MOST);
            out[n++] = p;
        }
        s = skip_blank(*end ? end + 1 : end);
    }
    return n;
}

static bool text_is(const char *s, int n, const char *word)
{
    return (int)strlen(word) == n && !memcmp(s, word, (size_t)n);
}

/* Defaults are literals: None, True, False, numbers, strings and the empty tuple, list and dict. */
static Value default_value(Eval *ev, const char *s, int n)
{
    if (text_is(s, n, "None"))
        return value_none();
    if (text_is(s, n, "True") || text_is(s, n, "False"))
        return value_bool(s[0] == 'T');
    if (text_is(s, n, "()"))
        return value_seq(ev, V_TUPLE, NULL, 0);
    if (text_is(s, n, "[]"))
        return value_seq(ev, V_LIST, NULL, 0);
    if (text_is(s, n, "{}"))
        return value_seq(ev, V_DICT, NULL, 0);
    if (s[0] == '"' || s[0] == '\'')
        return value_str(ev, s + 1, (size_t)n - 2);
    char *end;
    long long i = strtoll(s, &end, 0);
    if (end == s + n)
        return value_int(i);
    double f = strtod(s, &end);
    BUG(end != s + n, "default '%.*s' in a signature is not a literal", n, s);
    return value_float(f);
}

static bool is_language(const Builtin *b)
{
    return b >= builtin_table && b < builtin_table + builtin_count;
}

/* How the user spells the row: T.copy, tilelang.layout.make_linear_layout, Layout.inverse, len. */
static const char *title_of(Arena *a, const Builtin *b)
{
    if (!is_language(b))
        return b->name;
    if (!strncmp(b->name, "layout.", 7))
        return arena_printf(a, "tilelang.%s", b->name);
    return strncmp(b->name, "tilelang.", 9) ? arena_printf(a, "T.%s", b->name) : b->name;
}

/* ---- binding --------------------------------------------------------------------------------- */

typedef struct {
    Eval *ev;
    const Builtin *b;
    Span span;
    SigParam param[PARAM_MOST];
    int n, rest, kwrest; /* rest, kwrest: index of *name and **name, -1 if there is none */
    Value *arg;
    Span *arg_span;
    Value *restv;
    int nrest;
} Binder;

static int find_param(const Binder *k, const char *name)
{
    for (int i = 0; i < k->n; i++)
        if (!k->param[i].star && text_is(k->param[i].name, k->param[i].len, name))
            return i;
    return -1;
}

static int positional_most(const Binder *k)
{
    int most = 0;
    while (most < k->n && !k->param[most].star && !k->param[most].kwonly)
        most++;
    return most;
}

static void bind_positional(Binder *k, const Value *self, const CallArgs *args)
{
    int npos = args->n + (self != NULL), most = positional_most(k);
    if (npos > most && k->rest < 0) {
        Span at = args->n ? args->spans[MAX(most - (self != NULL), 0)] : k->span;
        diag_fail(k->ev->diag, at, "%s takes %s%d positional argument%s, not %d [argument-count]",
                  title_of(k->ev->arena, k->b), most ? "at most " : "", most - (self != NULL),
                  most - (self != NULL) == 1 ? "" : "s", args->n);
    }
    k->restv = NEWN(k->ev->arena, Value, npos + 1);
    for (int i = 0; i < npos; i++) {
        int from = i - (self != NULL);
        const Value *v = from < 0 ? self : &args->at[from];
        if (i < most) {
            k->arg[i] = *v;
            k->arg_span[i] = from < 0 ? k->span : args->spans[from];
        } else {
            k->restv[k->nrest++] = *v;
        }
    }
}

/* num_stages for stages: the end of a name after an underscore, or its beginning before one. */
static const char *longer_name(const char *key, const char *const *names, int n)
{
    size_t len = strlen(key);

    for (int i = 0; i < n && len > 2; i++) {
        size_t all = strlen(names[i]);
        if (all > len && ((names[i][all - len - 1] == '_' && !strcmp(names[i] + all - len, key)) ||
                          (names[i][len] == '_' && !strncmp(names[i], key, len))))
            return names[i];
    }
    return NULL;
}

NORETURN static void unknown_keyword(Binder *k, const char *key, Span at)
{
    const char *names[PARAM_MOST];
    int n = 0;
    for (int i = 0; i < k->n; i++)
        if (!k->param[i].star)
            names[n++] = arena_strndup(k->ev->arena, k->param[i].name, (size_t)k->param[i].len);
    const char *near = longer_name(key, names, n), *title = title_of(k->ev->arena, k->b);
    if (!near)
        near = nearest_name(key, names, n);
    if (near)
        diag_fail(k->ev->diag, at, "%s has no argument '%s'; did you mean '%s'? [argument-name]",
                  title, key, near);
    Str all;
    str_init(&all, k->ev->arena);
    for (int i = 0; i < n; i++)
        str_printf(&all, "%s%s", i ? ", " : "", names[i]);
    diag_fail(k->ev->diag, at, "%s has no argument '%s'; it has %s [argument-name]", title, key,
              n ? all.s : "none");
}

static void bind_keywords(Binder *k, const CallArgs *args)
{
    Value *extra = NEWN(k->ev->arena, Value, 2 * args->nkey + 1);
    int nextra = 0;
    for (int i = 0; i < args->nkey; i++) {
        Span at = args->key_spans ? args->key_spans[i] : k->span;
        int p = find_param(k, args->key[i]);
        if (p < 0 && k->kwrest >= 0) {
            extra[nextra++] = value_str(k->ev, args->key[i], strlen(args->key[i]));
            extra[nextra++] = args->val[i];
            continue;
        }
        if (p < 0)
            unknown_keyword(k, args->key[i], at);
        if (k->arg[p].kind != V_UNBOUND)
            diag_fail(k->ev->diag, at, "%s: argument '%s' is given twice [argument-name]",
                      title_of(k->ev->arena, k->b), args->key[i]);
        k->arg[p] = args->val[i];
        k->arg_span[p] = at;
    }
    if (k->kwrest >= 0)
        k->arg[k->kwrest] = value_seq(k->ev, V_DICT, extra, nextra);
}

static void bind_defaults(Binder *k)
{
    for (int i = 0; i < k->n; i++) {
        const SigParam *p = &k->param[i];
        if (k->arg[i].kind != V_UNBOUND || p->star)
            continue;
        if (!p->def)
            diag_fail(k->ev->diag, k->span, "%s: argument '%.*s' is missing [argument-count]",
                      title_of(k->ev->arena, k->b), p->len, p->name);
        k->arg[i] = default_value(k->ev, p->def, p->deflen);
    }
}

/* T.call_extern("f", x, dtype="int32"): a dtype given by name goes before the positional ones. */
static CallArgs dtype_first(Eval *ev, const CallArgs *args)
{
    CallArgs r = *args;
    r.nkey = 0;
    r.at = NEWN(ev->arena, Value, args->n + 2);
    r.spans = NEWN(ev->arena, Span, args->n + 2);
    r.key = NEWN(ev->arena, const char *, args->nkey + 1);
    r.val = NEWN(ev->arena, Value, args->nkey + 1);
    r.key_spans = NEWN(ev->arena, Span, args->nkey + 1);
    for (int i = 0; i < args->nkey; i++) {
        Span at = args->key_spans ? args->key_spans[i] : args->span;
        bool first = !strcmp(args->key[i], "dtype");
        *(first ? &r.at[0] : &r.val[r.nkey]) = args->val[i];
        *(first ? &r.spans[0] : &r.key_spans[r.nkey]) = at;
        r.key[r.nkey] = args->key[i];
        r.nkey += !first;
    }
    for (int i = 0; i < args->n; i++) {
        r.at[i + 1] = args->at[i];
        r.spans[i + 1] = args->spans[i];
    }
    r.n++;
    return r;
}

static bool names_dtype(const Builtin *b, const CallArgs *args)
{
    if (strncmp(b->signature, "dtype, ", 7) || !strstr(b->signature, ", *") || !args->n)
        return false;
    for (int i = 0; i < args->nkey; i++)
        if (!strcmp(args->key[i], "dtype"))
            return true;
    return false;
}

Value builtin_call(Eval *ev, Span at, const Builtin *b, const Value *self, const CallArgs *args)
{
    static const CallArgs none;
    CallArgs swapped;
    if (!args)
        args = &none;
    if (names_dtype(b, args)) {
        swapped = dtype_first(ev, args);
        args = &swapped;
    }
    Binder k = {.ev = ev, .b = b, .span = at, .rest = -1, .kwrest = -1};
    k.n = parse_signature(b->signature, k.param);
    for (int i = 0; i < k.n; i++) {
        if (k.param[i].star == 1)
            k.rest = i;
        else if (k.param[i].star == 2)
            k.kwrest = i;
    }
    k.arg = NEWN(ev->arena, Value, k.n + 1); /* zeroed: V_UNBOUND */
    k.arg_span = NEWN(ev->arena, Span, k.n + 1);
    for (int i = 0; i < k.n; i++)
        k.arg_span[i] = at;
    bind_positional(&k, self, args);
    bind_keywords(&k, args);
    bind_defaults(&k);
    if (k.rest >= 0)
        k.arg[k.rest] = value_seq(ev, V_TUPLE, k.restv, k.nrest);
    BuiltinCall c = {.ev = ev, .b = b, .span = at, .arg = k.arg, .arg_span = k.arg_span,
                     .narg = k.n, .rest = k.restv, .nrest = k.nrest};
    return b->run(&c);
}

/* ---- the call -------------------------------------------------------------------------------- */

const char *call_title(const BuiltinCall *c)
{
    return title_of(c->ev->arena, c->b);
}

const char *call_what(const BuiltinCall *c, int i)
{
    SigParam p[PARAM_MOST];
    int n = parse_signature(c->b->signature, p);
    BUG(i >= n, "%s has no argument %d", c->b->name, i);
    return arena_printf(c->ev->arena, "%s: '%.*s'", call_title(c), p[i].len, p[i].name);
}

bool call_has(const BuiltinCall *c, const char *param)
{
    SigParam p[PARAM_MOST];
    int n = parse_signature(c->b->signature, p);
    bool found = false;
    for (int i = 0; i < n; i++)
        found |= text_is(p[i].name, p[i].len, param);
    return found;
}

void call_fail(const BuiltinCall *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *text = arena_vprintf(c->ev->arena, fmt, ap);
    va_end(ap);
    diag_fail(c->ev->diag, c->span, "%s: %s", call_title(c), text);
}

void arg_fail(const BuiltinCall *c, int i, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *text = arena_vprintf(c->ev->arena, fmt, ap);
    va_end(ap);
    diag_fail(c->ev->diag, c->arg_span[i], "%s %s", call_what(c, i), text);
}

Kernel *call_kernel(const BuiltinCall *c)
{
    trace_need_kernel(c->ev, c->span, call_title(c));
    return c->ev->trace->kernel;
}

Kernel *call_threads(const BuiltinCall *c)
{
    Kernel *k = call_kernel(c);
    k->uses_threads = true;
    return k;
}

Value call_emit(const BuiltinCall *c, const Stmt *s)
{
    trace_emit(c->ev, s);
    return value_none();
}

Value call_intrin(const BuiltinCall *c, Intrin which, int n, const Expr *const *arg, int nregion,
                  const Region *region, const char *text, DType bind)
{
    Ir *ir = c->ev->ir;
    Var *v = bind == DT_NONE ? NULL : var_new(ir, intrin_table[which].name, bind, c->span);
    call_emit(c, stmt_call(ir, c->span, which, n, arg, nregion, region, text, v));
    return v ? value_expr(c->ev, expr_var(ir, v)) : value_none();
}

Value do_unsupported(BuiltinCall *c)
{
    diag_fail(c->ev->diag, c->span, "%s is not supported: %s [unsupported-here]", call_title(c),
              c->b->cpu);
}
