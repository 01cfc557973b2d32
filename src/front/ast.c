/* ast.c -- build nodes of the tree. */
#include "front/parse.h"

/* ---- building -------------------------------------------------------------------------------- */

Ast *ast_new(Parser *p, AstKind kind, Span span)
{
    Ast *e = NEW(p->arena, Ast);
    e->kind = kind;
    e->span = span;
    return e;
}

static int height(const Ast *e)
{
    return e ? e->height : 0;
}

static int func_height(const AstFunc *f)
{
    int h = height(f->body[0]->value);
    for (int i = 0; i < f->nparam; i++)
        h = MAX(h, height(f->params[i].value));
    return h;
}

Ast *ast_seal(Parser *p, Ast *e)
{
    int h = 0;

    for (int i = 0; i < e->nkid; i++)
        h = MAX(h, height(e->kid[i]));
    for (int i = 0; i < e->narg; i++)
        h = MAX(h, height(e->args[i].value));
    for (int i = 0; i < e->nfor; i++) {
        h = MAX(h, MAX(height(e->fors[i].target), height(e->fors[i].iter)));
        for (int j = 0; j < e->fors[i].ncond; j++)
            h = MAX(h, height(e->fors[i].conds[j]));
    }
    if (e->func)
        h = MAX(h, func_height(e->func));
    h += MAX(e->nfor, 1); /* each "for" is a loop in the next */
    if (h > DEPTH_MOST)
        FAIL(p, e->span, "this expression is more than %d operators deep [too-deep]", DEPTH_MOST);
    e->height = (short)MIN(h, DEPTH_MOST);
    return e;
}

Ast *ast_one(Parser *p, AstKind kind, TokenKind op, Span span, Ast *a)
{
    return ast_two(p, kind, op, span, a, NULL);
}

Ast *ast_two(Parser *p, AstKind kind, TokenKind op, Span span, Ast *a, Ast *b)
{
    Ast *e = ast_new(p, kind, span);
    e->op = op;
    e->nkid = b ? 2 : 1;
    e->kid = NEWN(p->arena, Ast *, 2);
    e->kid[0] = a;
    e->kid[1] = b;
    return ast_seal(p, e);
}

Ast *ast_kids(Parser *p, AstKind kind, Span span, const AstVec *kids)
{
    Ast *e = ast_new(p, kind, span);
    e->kid = kids->at;
    e->nkid = kids->n;
    return ast_seal(p, e);
}
