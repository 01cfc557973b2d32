/* program.c -- a bundle that is a program: its numbers, tensors and launches as C. */
#include "target/program.h"

NORETURN static void program_refuse(Emit *e, const char *what)
{
    recover_throw(STATUS_TARGET, "'%s': the host part has %s, which a bundle for %s does not "
                  "[bundle-target]", e->func->name, what, ((const Program *)e)->whose);
}

static const char *host_type(DType t)
{
    return !dtype_is_float(t) ? "int64_t" : t == DT_F64 ? "double" : "float";
}

static bool see_unknown(const Expr *x, void *arg)
{
    bool plain = x->op == EX_VAR || (!dtype_is_float((DType)x->type) && x->op != EX_LOAD &&
                                     x->op != EX_MATH && x->op != EX_EXTERN && x->op != EX_ADDR &&
                                     x->op != EX_STR && x->op != EX_BITCAST);
    if (!plain)
        program_refuse(arg, "an expression of memory or floats");
    return true;
}

static bool refuse_unknown(Emit *e, const Stmt *s)
{
    const unsigned all = 1u << ST_BLOCK | 1u << ST_LET | 1u << ST_IF | 1u << ST_FOR |
                         1u << ST_ASSERT | 1u << ST_LAUNCH;

    if (!(all >> s->kind & 1))
        program_refuse(e, "another statement than launches, names, loops and conditions");
    if (s->kind != ST_BLOCK)
        stmt_visit_expr(s, see_unknown, e);
    return false;
}

static void put_failed(Emit *e, const Stmt *s)
{
    str_printf(e->out, "return tl_no(\"line %d: assertion failed\", 0);\n", s->span.line);
}

static void put_launch(Emit *e, const Stmt *s)
{
    ((const Program *)e)->kernel(e, s->u.launch.kernel);
}

static const Dialect host_dialect = {
    .name = "C",
    DIALECT_C,
    .value_type = host_type,
    .constant = "__attribute__((unused)) const $t $n = ",
    .bound_apart = true,
    .wide_ints = true,
    .own = refuse_unknown,
    .fail = put_failed,
    .tests_facts = true,
    .launch = put_launch,
};

void program_start(Program *p, const TargetBundle *b, Str *out)
{
    Func *f = b->func;

    p->e = (Emit){.func = f, .ir = f->ir, .spec = b->spec, .say = &host_dialect, .out = out,
                  .arena = b->arena, .names = names_of(b->arena), .facts = facts_new(f->ir)};
    name_for_c(p->e.names);
    name_reserve(p->e.names, "times");
}

const char *program_expr(Emit *e, const Expr *x)
{
    Str s, *out = e->out;

    expr_visit(x, see_unknown, e);
    str_init(&s, e->arena);
    e->out = &s;
    emit_index(e, x);
    e->out = out;
    return s.s;
}

int program_tensor(const Func *f, const Buffer *b)
{
    b = buffer_root(b);
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].buf == b)
            return i;
    for (int i = 0; i < f->workspaces.n; i++)
        if (f->workspaces.at[i] == b)
            return f->params.n + i;
    BUG(true, "'%s' is no parameter", b->name);
}

static const char *given_name(const Func *f, const Var *v)
{
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].var == v)
            return f->params.at[i].name;
    return v->name;
}

static void put_number(Emit *e, const Var *v, bool declares)
{
    if (declares)
        emit_line(e, "static %s %s;", host_type(v->type), var_name(e, v));
    else
        emit_line(e, "%s = (%s)tl_number(\"%s\");", var_name(e, v), host_type(v->type),
                  given_name(e->func, v));
}

void program_numbers(Emit *e, bool declares)
{
    const Func *f = e->func;

    for (int i = 0; i < f->dims.n; i++)
        put_number(e, f->dims.at[i], declares);
    for (int i = 0; i < f->params.n; i++) {
        bool dim = !f->params.at[i].var;
        for (int d = 0; d < f->dims.n; d++)
            dim |= f->dims.at[d] == f->params.at[i].var;
        if (!dim)
            put_number(e, f->params.at[i].var, declares);
    }
}

static const char *bytes_of(Emit *e, const Buffer *b)
{
    Str s;

    if (b->stride)
        program_refuse(e, "a tensor with strides");
    str_init(&s, e->arena);
    str_puts(&s, "(");
    for (int d = 0; d < b->rank; d++)
        str_printf(&s, "%s%s", d ? " * " : "", program_expr(e, b->shape[d]));
    str_printf(&s, "%s * %d + 7) / 8", b->rank ? "" : "1", dtype_bits(b->type));
    return s.s;
}

void program_tensors(Emit *e, const TargetBundle *b)
{
    const Func *f = e->func;

    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].buf)
            emit_line(e, "tl_tensor[%d] = tl_make(\"%s\", %s, %d);", i, f->params.at[i].name,
                      bytes_of(e, f->params.at[i].buf), b->use[i] & PARAM_READ);
    for (int i = 0; i < f->workspaces.n; i++)
        emit_line(e, "tl_tensor[%d] = tl_make(\"%s\", %s, 0);", f->params.n + i,
                  f->workspaces.at[i]->name, bytes_of(e, f->workspaces.at[i]));
}

void program_results(Emit *e, const TargetBundle *b)
{
    const Func *f = e->func;

    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].buf && (b->use[i] & PARAM_WRITE))
            emit_line(e, "tl_save(\"%s%s\", tl_tensor[%d], %s);", f->params.at[i].name,
                      b->use[i] & PARAM_READ ? "_out" : "", i,
                      bytes_of(e, f->params.at[i].buf));
}

void program_launches(Emit *e)
{
    const Func *f = e->func;

    emit_stmt(e, f->body);
    for (int i = 0; !f->body && i < f->kernels.n; i++)
        ((const Program *)e)->kernel(e, f->kernels.at[i]);
}
