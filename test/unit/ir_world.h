/* ir_world.h -- an Ir to build things in, and text of what was built. */
#ifndef TL_TEST_IR_WORLD_H
#define TL_TEST_IR_WORLD_H

#include "op/op.h"
#include "test.h"

typedef struct {
    Arena *arena;
    Names *names;
    Diag diag;
    Ir *ir;
} World;

/* A target's own, for text that is read. */
static const Mech world_simd = {.name = "simd"};
static const Mech *const world_mechs[] = {&world_simd, NULL};

static inline void world_open(World *w)
{
    w->arena = arena_new();
    w->names = names_new();
    diag_init(&w->diag, w->arena);
    w->ir = ir_new(w->arena, w->names, &w->diag, &op_words);
    w->ir->mechs = world_mechs;
}

static inline void world_close(World *w)
{
    names_free(w->names);
    arena_free(w->arena);
}

static inline const char *text_of(World *w, const Expr *e)
{
    Str s;
    str_init(&s, w->arena);
    print_expr(&s, e);
    return s.s;
}

static inline const char *stmt_text(World *w, const Stmt *st)
{
    Str s;
    str_init(&s, w->arena);
    print_stmt(&s, w->ir, st, 0);
    return s.s;
}

static inline const char *func_text(World *w, const Func *f)
{
    Str s;
    str_init(&s, w->arena);
    print_func(&s, f);
    return s.s;
}

static inline Func *func_of(World *w, const char *text)
{
    Source *src = NEW(w->arena, Source);
    *src = (Source){"test.tile", text, strlen(text)};
    return func_read(w->ir, src);
}

static inline const Expr *var_of(World *w, const char *name, DType t)
{
    return expr_var(w->ir, var_new(w->ir, name, t, NO_SPAN));
}

/* The tag of the first error that `fn` throws, "bug" for our own fault, "" when it returns. */
static inline const char *thrown(World *w, void (*fn)(World *, void *), void *arg)
{
    Recover r;
    if (recover_open(&r) == 0) {
        fn(w, arg);
        recover_close(&r);
    }
    if (r.status == STATUS_OK)
        return "";
    if (r.status == STATUS_BUG)
        return arena_printf(w->arena, "bug: %s", r.text);
    return w->diag.list.n ? w->diag.list.at[0].tag : "?";
}

#endif
