/* text.h -- what the files of the text form share: print.c, dump.c, read.c; private to ir/. */
#ifndef TL_IR_TEXT_H
#define TL_IR_TEXT_H

#include "ir/ir.h"

/* How tightly operators bind, loosest first: as in Python, but comparisons do not chain. */
enum {
    PREC_IF = 1, PREC_OR, PREC_AND, PREC_NOT, PREC_COMPARE, PREC_BITOR, PREC_BITXOR, PREC_BITAND,
    PREC_SHIFT, PREC_ADD, PREC_MUL, PREC_UNARY, PREC_ATOM, PREC_PARENS,
};
int text_precedence(ExprOp op);
const char *text_form(int bit); /* "CHECKED", …; NULL past the last */

bool is_letter(char c); /* that names begin with */
enum { TEXT_INDENT = 4 };

typedef struct {
    Str *out;
    const IrWords *words; /* NULL: for an expression alone */
    NameTable *names;   /* of Vars and Buffers */
    NameTable *kernels; /* theirs are apart */
    const Source *src; /* spans of this file are printed without its name */
    bool whole;        /* spans, and kernels inside launches */
    Map seen;          /* Vars, Buffers and Kernels declared so far */
    VEC(const Buffer *) bufs; /* declared so far, in order */
    Map asked;                /* Vars printed so far, and in order: */
    VEC(const Var *) vars;
} Printer;

void printer_init(Printer *p, Str *out, const Ir *ir, const Source *src, bool whole);
void put_string(Str *out, const char *s);
void put_line_end(Printer *p, Span at); /* the span, a newline */
void put_expr(Printer *p, const Expr *e, int prec);
void put_list(Printer *p, int n, const Expr *const *e);
void put_float(Str *out, DType t, double v);
void put_text(Printer *p, const char *word, const char *text); /* nothing for NULL */
void put_layout(Printer *p, const Layout *l);
void put_hints(Printer *p, Hints h);
void put_var(Printer *p, const Var *v, bool with_type);
void put_body(Printer *p, const Stmt *s, int indent);
void put_kernel(Printer *p, const Kernel *k, int indent); /* dump.c: what follows its name */
const char *var_text(Printer *p, const Var *v);
const char *buf_text(Printer *p, const Buffer *b);
const char *kernel_text(Printer *p, const Kernel *k);

#endif
