/* lower_async_bulk.c -- what one thread issues and all wait for, bulk copies and MMAs into tensor
 * memory; of lower_async.
 *
 *     copy -> tile                    if first thread: arrive, so many bytes; the copies
 *     ...                    gives    ...
 *     what reads the tile             wait, this phase; the other phase is next
 *                                     what reads the tile
 *
 * Each copy has a barrier of its own.  The wait stands before the next statement of the block that
 * touches the tile, or at the end of the block.  A copy that is run once waits for phase 0; in a
 * loop the threads count.  An MMA of one thread is followed by an arrival for it; its wait stands
 * before what touches any of its tiles, or tells others that it may. */
#include "pass/async_copy.h"
#include "pass/body_uses.h"

typedef struct {
    Kernel *k;
    Ir *ir;
    int n;          /* copies so far */
    bool loop;      /* around the statement at hand */
    Builder starts; /* of the counts */
} Alone;

typedef struct {
    const Region *tile; /* what it touches; NULL: it has been waited for */
    int ntile;
    bool mma;
    Buffer *bar, *phase;
    Span at;
} Flight;

/* Neither the kernel waits for it itself, nor those that lower_warps told to. */
static bool is_mma_alone(Alone *x, const Stmt *s)
{
    return tile_does(s, TILE_MMA) && tile_plan(x->k, s)->how->by_commit &&
           !tile_plan(x->k, s)->left_open && !hint_int(s->u.tile.hints, "async", 0);
}

static bool is_alone(Alone *x, const Stmt *s)
{
    if (is_mma_alone(x, s))
        return true;
    if (!tile_does(s, TILE_FETCHES) || s->u.tile.narg > s->u.tile.op->narg)
        return false;
    const TilePlan *p = tile_plan(x->k, s);
    return p->how->bulk && !p->pipe && s->u.tile.region[1].buf->scope == MEM_SHARED;
}

static Flight flight_new(Alone *x, const Stmt *s)
{
    Ir *ir = x->ir;
    bool mma = is_mma_alone(x, s);

    x->n++;
    const char *name = arena_printf(ir->arena, "bar_%d", x->n);
    Flight f = {.tile = &s->u.tile.region[!mma], .ntile = mma ? s->u.tile.nregion : 1, .mma = mma,
                .bar = kernel_barriers(x->k, name, 1, 1, s->span), .at = s->span};
    if (x->loop) {
        f.phase = kernel_scalar(x->k, arena_printf(ir->arena, "bar_phase_%d", x->n), DT_I32,
                                s->span);
        build_add(&x->starts, scalar_set(x->k, s->span, f.phase, expr_int(ir, 0)));
    }
    return f;
}

/* The MMA, and an arrival for it. */
static const Stmt *start_mma(Alone *x, const Stmt *s, const Flight *f)
{
    Ir *ir = x->ir;
    Region *bar = NEW(ir->arena, Region);

    *bar = region_whole(ir, f->bar);
    return stmt_seq(ir, s, stmt_call(ir, s->span, INTRIN_ARRIVE, 0, NULL, 1, bar, "mma", NULL));
}

/* The copy, reporting to a barrier. */
static const Stmt *start(Alone *x, const Stmt *copy, Flight *f)
{
    Ir *ir = x->ir;
    int own = copy->u.tile.op->narg;
    const Expr *zero = expr_int(ir, 0), **arg = NEWN(ir->arena, const Expr *, own + 1);
    Stmt *s = NEW(ir->arena, Stmt);

    *f = flight_new(x, copy);
    if (f->mma)
        return start_mma(x, copy, f);
    for (int i = 0; i < own; i++)
        arg[i] = copy->u.tile.arg[i];
    arg[own] = expr_addr(ir, f->bar, &zero, 1);
    *s = *copy;
    s->u.tile.narg = own + 1;
    s->u.tile.arg = arg;
    return s;
}

static void wait_for(Alone *x, Builder *b, const Flight *f)
{
    Ir *ir = x->ir;
    Region *r = NEW(ir->arena, Region);
    const Expr **arg = NEWN(ir->arena, const Expr *, 1), *zero = expr_int(ir, 0);
    const Expr *one = expr_int(ir, 1);

    *r = region_whole(ir, f->bar);
    arg[0] = f->phase ? scalar_get(x->k, f->phase) : zero;
    build_add(b, stmt_call(ir, f->at, INTRIN_WAIT_PHASE, 1, arg, 1, r, NULL, NULL));
    if (f->phase)
        build_add(b, scalar_set(x->k, f->at, f->phase, expr_binary(ir, EX_BITXOR, arg[0], one)));
}

static bool tells_others(const Stmt *s, void *arg)
{
    (void)arg;
    return s->kind == ST_CALL && s->u.call.which != INTRIN_WAIT_PHASE &&
           strchr(intrin_table[s->u.call.which].effects, 'S') != NULL;
}

/* Must what is in flight have landed before s?  MMAs are done in their order. */
static bool needs(Alone *x, const Stmt *s, const Flight *f)
{
    if (f->mma && is_mma_alone(x, s))
        return false;
    for (int i = 0; i < f->ntile; i++)
        if (stmt_uses(s, f->tile[i].buf))
            return true;
    return stmt_leaves(s) || (f->mma && stmt_any(s, tells_others, NULL));
}

static const Stmt *walk(void *alone, const Stmt *s);

static const Stmt *walk_block(Alone *x, int n, const Stmt *const *list, Span at)
{
    VEC(Flight) flying = {0};
    Builder b;

    build_open(&b, x->ir, NULL);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < flying.n; j++)
            if (flying.at[j].tile && needs(x, list[i], &flying.at[j])) {
                wait_for(x, &b, &flying.at[j]);
                flying.at[j].tile = NULL;
            }
        if (is_alone(x, list[i])) {
            Flight f;
            build_add(&b, start(x, list[i], &f));
            vec_push(x->k->scratch, &flying, f);
        } else {
            build_add(&b, walk(x, list[i]));
        }
    }
    for (int j = 0; j < flying.n; j++)
        if (flying.at[j].tile)
            wait_for(x, &b, &flying.at[j]);
    return build_close(&b, at);
}

static const Stmt *walk(void *alone, const Stmt *s)
{
    Alone *x = alone;
    bool was = x->loop;

    if (s->kind == ST_BLOCK)
        return walk_block(x, s->u.block.n, s->u.block.list, s->span);
    if (is_alone(x, s))
        return walk_block(x, 1, &s, s->span);
    x->loop |= s->kind == ST_FOR || s->kind == ST_WHILE;
    s = stmt_map_kids(x->ir, s, walk, x);
    x->loop = was;
    return s;
}

static bool see_alone(const Stmt *s, void *arg)
{
    Alone *x = arg;
    x->n += is_alone(x, s);
    return true;
}

void lower_bulk_alone(Kernel *k)
{
    Alone x = {.k = k, .ir = k->ir};

    stmt_visit(k->body, see_alone, &x);
    if (x.n == 0)
        return;
    x.n = 0;
    build_open(&x.starts, k->ir, NULL);
    const Stmt *body = walk(&x, k->body);
    k->body = stmt_seq(k->ir, build_close(&x.starts, k->span), body);
}
