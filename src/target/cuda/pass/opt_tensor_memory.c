/* opt_tensor_memory.c -- results of MMAs move to tensor memory.
 *
 *     gemm(A, B, C)            copy(C, Ct)                 unless the first of them surely clears,
 *                                                          or nothing has given C a value
 *     ...            gives     gemm(A, B, Ct) ...
 *     gemm(A, B, C)            copy(Ct, C)
 *
 * C is a fragment, Ct a tile of tensor memory beside it.  The copies stand around the largest part
 * of the body, a run of statements or a whole loop, that uses C for such MMAs alone.  Clears before
 * it are folded into the first MMA.  A fragment as operand A is copied to tensor memory before its
 * MMA.  Which MMAs: those that a row of the target with Mech.by_commit suits, while there are
 * columns left.  Before all that, shared tiles of 4-bit elements that copies fill and such MMAs
 * alone read get a byte for each, as they are multiplied. */
#include "pass/pass.h"
#include "pass/body_uses.h"
#include "pass/plan_how.h"
#include "pass/plan_shared.h"

enum { A, B, C };

typedef struct {
    Kernel *k;
    Ir *ir;
    const Mech *mech;
    Buffer *from, *to;  /* the fragment at hand, and its tile of tensor memory */
    bool given;         /* it may have been given a value before what is walked now */
    int64_t columns;    /* left */
} Tensor;

static bool suits(const Tensor *x, const Stmt *s)
{
    const Region *r = s->u.tile.region;
    return tile_does(s, TILE_MMA) && mech_does(x->mech, s->u.tile.op) && x->mech->suits(x->k, s) &&
           region_is_whole(&r[C]) && r[C].buf->rank == 2;
}

static bool is_mma_on(const Tensor *x, const Stmt *s)
{
    return suits(x, s) && s->u.tile.region[C].buf == x->from && stmt_uses(s, x->from) == 1;
}

typedef struct {
    const Tensor *x;
    int n;
} Count;

static bool count_mma(const Stmt *s, void *arg)
{
    Count *c = arg;
    c->n += is_mma_on(c->x, s);
    return true;
}

/* Its MMAs of C; 0: it has none, or uses C for something else too. */
static int only_mmas(const Tensor *x, const Stmt *s)
{
    Count c = {x, 0};

    stmt_visit(s, count_mma, &c);
    return c.n == stmt_uses(s, x->from) ? c.n : 0;
}

static Buffer *tensor_new(Tensor *x, const Buffer *like)
{
    return kernel_buffer(x->k, arena_printf(x->ir->arena, "%s_t", like->name), like->type,
                         MEM_TMEM, like->rank, like->shape, like->span);
}

static const Stmt *copy(Tensor *x, Buffer *from, Buffer *to, Span at)
{
    Region r[2] = {region_whole(x->ir, from), region_whole(x->ir, to)};
    return stmt_tile(x->ir, at, &op_copy, 2, r, 0, NULL, NULL, (Hints){0});
}

/* ---- around ---------------------------------------------------------------------------------- */

static bool surely_runs(const Tensor *x, const Stmt *loop)
{
    return bounds_of(kernel_facts(x->k), loop->u.loop.extent).lo > 0;
}

/* Does the first MMA of it overwrite C, and surely run? */
static bool clears_first(const Tensor *x, const Stmt *s, const Stmt *loop)
{
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n; i++) {
            if (stmt_uses(s->u.block.list[i], x->from))
                return clears_first(x, s->u.block.list[i], loop);
            if (stmt_leaves(s->u.block.list[i]))
                return false;
        }
        return false;
    case ST_FOR:
        return surely_runs(x, s) && clears_first(x, s->u.loop.body, s);
    case ST_TILE: {
        const Expr *clear = s->u.tile.narg > 2 ? s->u.tile.arg[2] : NULL;
        int64_t v;
        if (clear && expr_is_int(clear, &v))
            return v != 0;
        return clear && loop && clear->op == EX_EQ && clear->kid[0]->op == EX_VAR &&
               clear->kid[0]->u.var == loop->u.loop.var && clear->kid[1] == loop->u.loop.min;
    }
    default: return false;
    }
}

/* Nobody can wait for an MMA whose result is a fragment but where that is used. */
static Hints without_async(Ir *ir, Hints h)
{
    Hint *list = NEWN(ir->arena, Hint, h.n + 1);
    int n = 0;

    for (int i = 0; i < h.n; i++)
        if (strcmp(h.at[i].name, "async") != 0)
            list[n++] = h.at[i];
    return (Hints){list, n};
}

static const Stmt *put_tensor(Ir *ir, const Stmt *s, void *arg)
{
    Tensor *x = arg;
    Region *r;
    Stmt *c;

    if (!is_mma_on(x, s))
        return s;
    c = NEW(ir->arena, Stmt);
    r = NEWN(ir->arena, Region, 3);
    *c = *s;
    memcpy(r, s->u.tile.region, sizeof *r * 3);
    r[C] = region_whole(ir, x->to);
    c->u.tile.region = r;
    c->u.tile.hints = without_async(ir, s->u.tile.hints);
    return c;
}

static void wrap(Tensor *x, Builder *out, const Stmt *s)
{
    if (x->given && !clears_first(x, s, NULL))
        build_add(out, copy(x, x->from, x->to, s->span));
    build_add(out, stmt_map(x->ir, s, put_tensor, x));
    build_add(out, copy(x, x->to, x->from, s->span));
    x->given = true;
}

/* A loop that may run no iteration, after a clear: its first MMA overwrites, and without one
 * the fragment stays as it is. */
static bool wrap_cleared(Tensor *x, Builder *out, const Stmt *const *list, int i)
{
    Ir *ir = x->ir;
    const Stmt *s = list[i], *loop = NULL;
    int before = i - 1;

    while (before >= 0 && !stmt_uses(list[before], x->from))
        before--;
    if (before >= 0 && is_zero_fill(list[before]) && s->kind == ST_FOR)
        loop = mma_clearing_loop(x->k, s, x->from);
    if (!loop)
        return false;
    const Expr *runs = expr_binary(ir, EX_GT, s->u.loop.extent,
                                   expr_zero(ir, s->u.loop.var->type));
    build_add(out, stmt_map(ir, loop, put_tensor, x));
    build_add(out, stmt_if(ir, s->span, runs, copy(x, x->to, x->from, s->span), NULL));
    return true;
}

static const Stmt *walk(Tensor *x, const Stmt *s);

/* Runs of statements, from the first MMA to the last that nothing else comes between. */
static const Stmt *walk_block(Tensor *x, const Stmt *s)
{
    int n = s->u.block.n;
    const Stmt *const *list = s->u.block.list;
    Builder out;

    build_open(&out, x->ir, NULL);
    for (int i = 0; i < n; i++) {
        int end = i, j = i;
        for (; j < n && (only_mmas(x, list[j]) || !stmt_uses(list[j], x->from)); j++)
            end = only_mmas(x, list[j]) ? j + 1 : end;
        if (!only_mmas(x, list[i])) {
            build_add(&out, walk(x, list[i]));
            x->given |= stmt_uses(list[i], x->from) != 0;
            continue;
        }
        if (end - i != 1 || !wrap_cleared(x, &out, list, i))
            wrap(x, &out, stmt_block(x->ir, list[i]->span, end - i, list + i));
        i = end - 1;
    }
    return build_close(&out, s->span);
}

static const Stmt *walk(Tensor *x, const Stmt *s)
{
    Stmt *c;

    if (!s || !stmt_uses(s, x->from))
        return s;
    if (s->kind == ST_BLOCK)
        return walk_block(x, s);
    if (only_mmas(x, s)) {
        Builder out;
        build_open(&out, x->ir, NULL);
        wrap(x, &out, s);
        return build_close(&out, s->span);
    }
    c = NEW(x->ir->arena, Stmt);
    *c = *s;
    x->given |= s->kind == ST_FOR || s->kind == ST_WHILE;
    if (s->kind == ST_FOR) {
        c->u.loop.body = walk(x, s->u.loop.body);
    } else if (s->kind == ST_WHILE || s->kind == ST_IF) {
        c->u.branch.then = walk(x, s->u.branch.then);
        c->u.branch.orelse = walk(x, s->u.branch.orelse);
    } else if (s->kind == ST_ROLE) {
        c->u.role.body = walk(x, s->u.role.body);
    }
    return c;
}

/* ---- which ----------------------------------------------------------------------------------- */

static bool see_mma(const Stmt *s, void *arg)
{
    Tensor *x = arg;
    const Region *r = s->kind == ST_TILE ? s->u.tile.region : NULL;

    if (!x->from && tile_does(s, TILE_MMA) && suits(x, s) && r[C].buf->scope == MEM_FRAGMENT &&
        !r[C].buf->view_of && !buffer_plan(x->k, r[C].buf)->pinned &&
        tensor_columns(x->k, r[C].buf) <= x->columns)
        x->from = r[C].buf;
    return true;
}

/* What plan_how will choose, so that clears before it are folded into it: tensor memory is cleared
 * by storing to it otherwise. */
static bool plan_mma(const Stmt *s, void *arg)
{
    Tensor *x = arg;

    if (is_mma_on(x, s))
        tile_plan(x->k, s)->how = x->mech;
    return true;
}

/* A fragment as A, once its MMA is one into tensor memory. */
static const Stmt *stage_operand(Ir *ir, const Stmt *s, void *arg)
{
    Tensor *x = arg;
    const Region *a = s->kind == ST_TILE ? &s->u.tile.region[A] : NULL;

    if (!tile_does(s, TILE_MMA) || s->u.tile.region[C].buf->scope != MEM_TMEM ||
        a->buf->scope != MEM_FRAGMENT)
        return s;
    Buffer *to = tensor_new(x, a->buf);
    Region *r = NEWN(ir->arena, Region, 3);
    Stmt *c = NEW(ir->arena, Stmt);
    *c = *s;
    memcpy(r, s->u.tile.region, sizeof *r * 3);
    r[A] = region_whole(ir, to);
    c->u.tile.region = r;
    return stmt_seq(ir, copy(x, a->buf, to, s->span), c);
}

/* ---- operands of 4 bits ---------------------------------------------------------------------- */

typedef struct {
    Tensor *x;
    const Buffer *tile; /* whose uses are counted */
    const Map *bytes;   /* tiles that have them now */
    int uses;
    bool unfit;
} Bytes;

static bool count_operand(const Stmt *s, void *arg)
{
    Bytes *b = arg;
    const Region *r = s->kind == ST_TILE ? s->u.tile.region : NULL;
    bool fills = r && tile_does(s, TILE_COPIES) && r[0].buf->scope == MEM_GLOBAL &&
                 r[0].buf->type == b->tile->type && r[1].buf == b->tile;
    bool multiplies = tile_does(s, TILE_MMA) && !tile_does(s, TILE_SCALED) && r[C].buf != b->tile;
    if (fills || (multiplies && !suits(b->x, s)))
        b->uses += stmt_uses(s, b->tile);
    return true;
}

static bool fits_bytes(const Stmt *s, void *arg)
{
    Bytes *b = arg;
    const Region *r = s->kind == ST_TILE ? s->u.tile.region : NULL;

    if (tile_does(s, TILE_MMA) && (map_has(b->bytes, r[A].buf) || map_has(b->bytes, r[B].buf)))
        b->unfit |= !suits(b->x, s) || r[C].buf->scope != MEM_FRAGMENT;
    return !b->unfit;
}

/* All of them or none: both operands of an MMA have to be so. */
static void give_bytes(Tensor *x)
{
    Kernel *k = x->k;
    const Stmt *body = k->body;
    Map to, bytes;
    int n = k->buffers.n;

    map_init(&to, k->scratch);
    map_init(&bytes, k->scratch);
    for (int i = 0; i < n; i++) {
        Buffer *b = k->buffers.at[i];
        Bytes uses = {.x = x, .tile = b};
        if (b->scope != MEM_SHARED || b->type != DT_E2M1 || b->view_of ||
            buffer_plan(k, b)->pinned || buffer_uses(k, b)->viewed)
            continue;
        stmt_visit(body, count_operand, &uses);
        if (!uses.uses || uses.uses != stmt_uses(body, b))
            continue;
        Buffer *wide = kernel_buffer(k, b->name, DT_E2M1B, MEM_SHARED, b->rank, b->shape, b->span);
        map_set(&to, b, wide);
        map_set(&bytes, wide, b);
    }
    if (!to.n)
        return;
    Bytes fit = {.x = x, .bytes = &bytes};
    k->body = stmt_subst_map(x->ir, body, NULL, &to);
    stmt_visit(k->body, fits_bytes, &fit);
    int64_t most = kernel_shared_most(k);
    if (fit.unfit || (most && shared_estimate(k, LIVE_LEAST, NULL, NULL) > most))
        k->body = body, k->buffers.n = n;
}

static const Mech *tensor_mech(const Kernel *k)
{
    for (const Mech *const *m = k->target->mechs; m && *m; m++)
        if ((*m)->by_commit && (*m)->suits && kernel_has(k, (*m)->needs))
            return *m;
    return NULL;
}

void pass_opt_tensor_memory(Kernel *k)
{
    Tensor x = {.k = k, .ir = k->ir, .mech = tensor_mech(k)};

    if (!x.mech || k->uses_threads || kernel_block_threads(k) % machine_group(k->machine))
        return;
    give_bytes(&x);
    for (;;) {
        x.from = NULL;
        x.columns = tensor_columns_left(k);
        stmt_visit(k->body, see_mma, &x);
        if (!x.from)
            break;
        x.to = tensor_new(&x, x.from);
        x.given = false;
        stmt_visit(k->body, plan_mma, &x);
        pass_opt_fold_clears(k);
        k->body = walk(&x, k->body);
        k->body = stmt_map(k->ir, k->body, stage_operand, &x);
    }
}
