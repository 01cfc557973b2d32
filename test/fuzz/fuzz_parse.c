/* fuzz_parse.c -- the parser on any bytes: it ends, and a file without errors has a tree that is
 * not too deep, lies within the file, and is the same the second time. */
#include "../ast.h"
#include "fuzz.h"

static void check_kids(const Fuzz *f, const Ast *e, int above);

static void check_expr(const Fuzz *f, const Ast *e, int above)
{
    if (!e)
        return;
    HOLD(e->height < above && e->height > 0);
    HOLD(e->span.src == &f->src && e->span.line >= 1 && e->span.col >= 1);
    HOLD((size_t)e->span.end_line <= f->src.len + 1);
    check_kids(f, e, e->height);
}

static void check_kids(const Fuzz *f, const Ast *e, int above)
{
    for (int i = 0; i < e->nkid; i++)
        check_expr(f, e->kid[i], above);
    for (int i = 0; i < e->narg; i++)
        check_expr(f, e->args[i].value, above);
    for (int i = 0; i < e->nfor; i++) {
        check_expr(f, e->fors[i].target, above);
        check_expr(f, e->fors[i].iter, above);
        for (int j = 0; j < e->fors[i].ncond; j++)
            check_expr(f, e->fors[i].conds[j], above);
    }
    if (e->func)
        check_expr(f, e->func->body[0]->value, above);
}

static void check_body(const Fuzz *f, AstStmt *const *body, int n, int depth)
{
    HOLD(depth <= DEPTH_MOST + 200);
    for (int i = 0; i < n; i++) {
        const AstStmt *s = body[i];
        for (int j = 0; j < s->ntarget; j++)
            check_expr(f, s->targets[j], DEPTH_MOST + 1);
        check_expr(f, s->value, DEPTH_MOST + 1);
        check_expr(f, s->annotation, DEPTH_MOST + 1);
        check_expr(f, s->message, DEPTH_MOST + 1);
        check_body(f, s->body, s->nbody, depth + 1);
        check_body(f, s->orelse, s->norelse, depth + 1);
        check_body(f, s->final, s->nfinal, depth + 1);
        for (int j = 0; j < s->nhandler; j++)
            check_body(f, s->handlers[j].body, s->handlers[j].nbody, depth + 1);
        if (s->kind == AS_DEF)
            check_body(f, s->func->body, s->func->nbody, depth + 1);
    }
}

static void parse_twice(Fuzz *f)
{
    Str out[2];

    for (int i = 0; i < 2; i++) {
        const AstModule *m = parse_module(f->arena, f->names, &f->diag, &f->src);
        if (f->diag.nerror)
            return;
        check_body(f, m->body, m->nbody, 0);
        str_init(&out[i], f->arena);
        ast_print_module(&out[i], m);
    }
    HOLD(out[0].n == out[1].n && memcmp(out[0].s, out[1].s, out[0].n) == 0);
}

static void parse_one(Fuzz *f)
{
    const Ast *e = parse_expression(f->arena, f->names, &f->diag, &f->src);
    HOLD((e == NULL) == (f->diag.nerror > 0));
    if (e)
        check_expr(f, e, DEPTH_MOST + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_run(data, size, parse_twice);
    fuzz_run(data, size, parse_one);
    return 0;
}
