/* build.c -- collects statements in the order they are made. */
#include "ir/ir.h"

void build_open(Builder *b, Ir *ir, Builder *outer)
{
    *b = (Builder){.ir = ir, .outer = outer};
}

void build_add(Builder *b, const Stmt *s)
{
    if (s)
        vec_push(b->ir->arena, &b->list, s);
}

const Stmt *build_close(Builder *b, Span at)
{
    return stmt_block(b->ir, at, b->list.n, b->list.at);
}
