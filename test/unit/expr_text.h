/* expr_text.h -- for tests: expressions from text over a few named variables, and back. */
#ifndef TL_TEST_EXPR_TEXT_H
#define TL_TEST_EXPR_TEXT_H

#include "op/op.h"

enum { TEXT_VARS = 8 };

typedef struct {
    Arena *arena;
    Names *names;
    Diag diag;
    Ir *ir;
    Facts *f;
    Var *v[TEXT_VARS]; /* i j k l m n x y */
} Words;

static inline Words words_new(void)
{
    static const char *const name[TEXT_VARS] = {"i", "j", "k", "l", "m", "n", "x", "y"};
    Words w = {.arena = arena_new(), .names = names_new()};
    diag_init(&w.diag, w.arena);
    w.ir = ir_new(w.arena, w.names, NULL, &op_words);
    w.f = facts_new(w.ir);
    for (int i = 0; i < TEXT_VARS; i++)
        w.v[i] = var_new(w.ir, name[i], DT_I32, NO_SPAN);
    return w;
}

static inline const Expr *words_read(Words *w, const char *text)
{
    const Expr *e = expr_parse(w->ir, text, NULL, w->v, TEXT_VARS);
    BUG(!e, "cannot read '%s'", text);
    return e;
}

static inline Var *words_var(Words *w, char name)
{
    for (int i = 0; i < TEXT_VARS; i++) {
        if (w->v[i]->name[0] == name)
            return w->v[i];
    }
    return NULL;
}

/* v in [lo, hi) */
static inline void words_range(Words *w, char v, int64_t lo, int64_t hi)
{
    facts_range(w->f, words_var(w, v), expr_int(w->ir, lo), expr_int(w->ir, hi - lo));
}

static inline void words_assume(Words *w, const char *text)
{
    facts_assume(w->f, words_read(w, text));
}

static inline const char *words_text(Words *w, const Expr *e)
{
    Str s;
    str_init(&s, w->arena);
    print_expr(&s, e);
    return s.s;
}

static inline const char *words_simple(Words *w, const char *text)
{
    return words_text(w, simplify(w->ir, w->f, words_read(w, text)));
}

#endif
