/* loop.c -- loops that choose elements of a thread's own arrays are unrolled.
 *
 * An array that is only ever indexed by constants is registers to every compiler; one that a loop
 * indexes is memory to most of them.  On PoCL a GEMM was five times as fast.  Where a thread has
 * more than registers hold they are memory in any case, and PoCL takes minutes to find that out:
 * attention with 128 x 128 tiles by 128 threads. */
#include "target/legalise.h"
#include "target/opencl/opencl.h"

enum {
    COPIES_MOST = 256, /* statements in place of one loop */
    WORDS_MOST = 256,  /* of 32 bits that a thread has for itself: no GPU has more registers */
};

typedef struct {
    const Kernel *k;
    const Var *v;
    bool own;   /* an array of the thread is indexed by v */
    bool meets; /* threads synchronise */
} Look;

static bool is_own(const Buffer *b)
{
    MemScope scope = buffer_root(b)->scope;
    return scope == MEM_FRAGMENT || scope == MEM_LOCAL;
}

static bool look_expr(const Expr *x, void *arg)
{
    Look *l = arg;

    if (x->op == EX_LOAD && is_own(x->u.buf) && x->nkid)
        l->own |= expr_uses_var(x->kid[0], l->v);
    return !l->own;
}

static bool look_stmt(const Stmt *s, void *arg)
{
    Look *l = arg;

    if (s->kind == ST_STORE && is_own(s->u.store.buf))
        l->own |= expr_uses_var(s->u.store.at[0], l->v);
    l->meets |= legal_meets(l->k, s) ||
                (s->kind == ST_CALL && strchr(intrin_table[s->u.call.which].effects, 'S'));
    stmt_visit_expr(s, look_expr, l);
    return true;
}

/* Statements of all iterations. */
static int64_t copies(const Stmt *s)
{
    int64_t n = 0, times = 1;

    if (!s)
        return 0;
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n && n <= COPIES_MOST; i++)
            n += copies(s->u.block.list[i]);
        return n;
    case ST_FOR:
        expr_is_int(s->u.loop.extent, &times);
        return MAX(times, 1) > COPIES_MOST ? COPIES_MOST + 1 : times * copies(s->u.loop.body);
    case ST_IF:
        return copies(s->u.branch.then) + copies(s->u.branch.orelse);
    case ST_STORE:
        return s->u.store.at[0]->lanes;
    default:
        return 1;
    }
}

static bool fits_registers(Kernel *k)
{
    int64_t bytes = 0;

    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        if (is_own(b) && !b->view_of)
            bytes += dtype_bytes(b->type, stored_elems(k, b));
    }
    return bytes <= WORDS_MOST * 4;
}

void cl_loop(Emit *e, const Stmt *s)
{
    Look l = {.k = e->k, .v = s->u.loop.var};
    int64_t min, n;
    bool fixed = expr_is_int(s->u.loop.min, &min) && expr_is_int(s->u.loop.extent, &n);

    if (fixed)
        stmt_visit(s->u.loop.body, look_stmt, &l);
    bool unrolls = fixed && l.own && !l.meets && n > 1 && copies(s) <= COPIES_MOST &&
                   fits_registers(e->k);
    emit_loop(e, s, unrolls ? "#pragma unroll" : NULL, emit_stmt);
}
