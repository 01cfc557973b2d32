/* agree.c -- conditions that every thread finds the same, said so that validators see it.
 *
 * Barriers may stand where control flow is uniform.  That it is was proved (legalise_barriers.c);
 * validators prove it again, and take what is read from workgroup memory, or from a tensor that is
 * written, to differ between threads.  Such a condition is the first thread's (agree.wgsl). */
#include "pass/thread_nest.h"
#include "target/legalise.h"
#include "target/webgpu/webgpu.h"

typedef struct {
    Wgsl *w;
    Kernel *k;
    Vary vary, truly;  /* as validators see it; as it is */
    const Expr *first; /* is this the first thread? */
    bool any;
} Agree;

static bool is_doubted(Kernel *k, const Buffer *b)
{
    const Buffer *root = buffer_root(b);

    (void)k;
    return root->scope == MEM_FRAGMENT || root->scope == MEM_SHARED || root->for_all;
}

static bool is_spread(Kernel *k, const Buffer *b)
{
    (void)k;
    return buffer_root(b)->scope == MEM_FRAGMENT;
}

static void doubt(Agree *a, Buffer *tensor)
{
    if (tensor && map_has(&a->w->written, tensor))
        map_set(&a->vary.bufs, tensor, a);
}

static void learn(Agree *a)
{
    Func *f = a->w->e.func;

    vary_learn(&a->vary, a->k, is_doubted);
    for (int i = 0; i < f->params.n; i++)
        doubt(a, f->params.at[i].buf);
    for (int i = 0; i < f->workspaces.n; i++)
        doubt(a, f->workspaces.at[i]);
    vary_learn_again(&a->vary);
    vary_learn(&a->truly, a->k, is_spread);
}

static const Expr *agreed(Agree *a, const Expr *x)
{
    const Expr *arg[2] = {x, a->first};

    if (!vary_expr(&a->vary, x))
        return x;
    a->any = true;
    bool truth = x->type == DT_BOOL;
    return expr_extern(a->w->e.ir, (DType)x->type, truth ? "tl_agree" : "tl_agree_i32", arg, 2);
}

static bool meets(const Kernel *k, const Stmt *s)
{
    return legal_barrier_in(k, s) || wgsl_has_lanes(s);
}

static const Stmt *agree_on(Ir *ir, const Stmt *s, void *arg)
{
    Agree *a = arg;
    bool head = s->kind == ST_IF || s->kind == ST_WHILE || s->kind == ST_FOR;

    if (!head || !meets(a->k, s) || !vary_head(&a->vary, s))
        return s;
    if (vary_head(&a->truly, s) && wgsl_has_lanes(s))
        diag_fail(a->k->diag, s->span, "values between threads under a condition that differs "
                  "between them have no meaning on target %s [unsupported-here]",
                  a->w->e.spec->text);
    if (s->kind == ST_FOR)
        return stmt_for(ir, s->span, s->u.loop.how, s->u.loop.var, agreed(a, s->u.loop.min),
                        agreed(a, s->u.loop.extent), s->u.loop.hints, s->u.loop.body);
    const Expr *cond = agreed(a, s->u.branch.cond);
    return s->kind == ST_IF
               ? stmt_if(ir, s->span, cond, s->u.branch.then, s->u.branch.orelse)
               : stmt_while(ir, s->span, cond, s->u.branch.then);
}

static bool see_name(const Expr *x, void *uses)
{
    if (x->op == EX_VAR)
        map_set(&((Uses *)uses)->seen, x->u.var, uses);
    return true;
}

void wgsl_agree(Wgsl *w, Kernel *k, Uses *u)
{
    Ir *ir = w->e.ir;
    Agree a = {.w = w, .k = k};

    a.first = expr_binary(ir, EX_EQ, thread_in_block(k), expr_int(ir, 0));
    learn(&a);
    k->body = stmt_map(ir, k->body, agree_on, &a);
    if (!a.any)
        return;
    expr_visit(a.first, see_name, u);
    if (k->arena_bytes + (int64_t)sizeof(int32_t) > k->machine->shared_block)
        diag_fail(k->diag, k->span, "the tiles of this kernel take all %lld bytes, of which a "
                  "condition that threads agree on needs 4 [on-chip-bytes]",
                  (long long)k->machine->shared_block);
}
