/* prints.c -- T.print and printf: records in a buffer, which are read when the launch is over.
 *
 * A record is the number of its line (a comment of the text says which format and which strings
 * that is) and the words of its numbers.  What finds no room is lost, and counted. */
#include "target/webgpu/webgpu.h"

bool wgsl_is_print(const Stmt *s)
{
    return stmt_calls(s, INTRIN_EXTERN) && s->u.call.text && !strcmp(s->u.call.text, "printf") &&
           s->u.call.n && s->u.call.arg[0]->op == EX_STR;
}

/* C hands floats over as doubles; of these there are none. */
static const Stmt *print_floats(Ir *ir, const Stmt *s, void *arg)
{
    (void)arg;
    if (!wgsl_is_print(s))
        return s;
    const Expr **of = NEWN(ir->arena, const Expr *, s->u.call.n);
    for (int i = 0; i < s->u.call.n; i++) {
        const Expr *x = s->u.call.arg[i];
        bool made = x->op == EX_CAST && x->type == DT_F64 && x->kid[0]->type != DT_F64;
        of[i] = made ? expr_cast(ir, DT_F32, x->kid[0]) : x;
    }
    return stmt_call(ir, s->span, INTRIN_EXTERN, s->u.call.n, of, 0, NULL, s->u.call.text, NULL);
}

const Stmt *wgsl_print_floats(Ir *ir, const Stmt *body)
{
    return stmt_map(ir, body, print_floats, NULL);
}

static char kind_of(const Expr *x)
{
    if (x->op == EX_STR)
        return 's';
    if (dtype_is_float((DType)x->type))
        return 'f';
    bool wide = dtype_bits((DType)x->type) == 64;
    return x->type == DT_BOOL                     ? 'b'
           : dtype_is_unsigned((DType)x->type) ? (wide ? 'U' : 'u')
                                               : (wide ? 'I' : 'i');
}

/* "// tl_print 2 sif "%s: %lld %g\n" "name"" */
static void put_line(Wgsl *w, const Stmt *s)
{
    str_printf(&w->prints, "// tl_print %d ", ++w->nprint);
    for (int i = 1; i < s->u.call.n; i++)
        str_putc(&w->prints, kind_of(s->u.call.arg[i]));
    str_putc(&w->prints, '.');
    for (int i = 0; i < s->u.call.n; i++)
        if (s->u.call.arg[i]->op == EX_STR) {
            str_putc(&w->prints, ' ');
            emit_quoted(&w->prints, s->u.call.arg[i]->u.text);
        }
    str_putc(&w->prints, '\n');
}

static void put_word(Emit *e, const char *at, int i, const Expr *x, char kind, const char *part)
{
    emit_indent(e);
    str_printf(e->out, "atomicStore(&tl_printed[%s + %du], %s", at, i,
               kind == 'b' ? "select(0u, 1u, " : "bitcast<u32>(");
    emit_value(e, x);
    str_printf(e->out, "%s));\n", part);
}

void wgsl_print(Emit *e, const Stmt *s)
{
    Wgsl *w = wgsl_of(e);
    const char *at = name_for(e->names, NEW(e->arena, char), "line");
    int words = 1;

    put_line(w, s);
    for (int i = 1; i < s->u.call.n; i++) {
        char kind = kind_of(s->u.call.arg[i]);
        words += kind == 's' ? 0 : kind == 'I' || kind == 'U' ? 2 : 1;
    }
    emit_line(e, "let %s = tl_print_room(%du);", at, words);
    emit_line(e, "if (%s != 0u) {", at);
    e->indent++;
    emit_line(e, "atomicStore(&tl_printed[%s], %du);", at, w->nprint);
    words = 1;
    for (int i = 1; i < s->u.call.n; i++) {
        const Expr *x = s->u.call.arg[i];
        char kind = kind_of(x);
        bool wide = kind == 'I' || kind == 'U';
        for (int j = 0; kind != 's' && j <= wide; j++)
            put_word(e, at, words++, x, kind, !wide ? "" : j ? ".y" : ".x");
    }
    e->indent--;
    emit_line(e, "}");
}

void wgsl_declare_prints(const Wgsl *w, Str *out)
{
    if (w->nprint)
        str_printf(out, "%s@group(0) @binding(%d) var<storage, read_write> tl_printed: "
                   "array<atomic<u32>>;\n\n", w->prints.s, w->nbinding + (w->nassert > 0));
}
