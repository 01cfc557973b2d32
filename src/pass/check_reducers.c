/* check_reducers.c -- the life of a reducer: init, updates, finalize, in this order and scope.
 *
 * part of check_kernel
 *
 * Between T.reducer_init and T.finalize_reducer a reducer holds parts that mean nothing by
 * themselves, so nobody else may read or write it.  Reducers of the older spelling (filled by
 * T.clear, finalized in place, then read by their own name) are left alone as long as they are
 * finalized at all. */
#include "pass/pass.h"

typedef struct Scope {
    const struct Scope *outer;
    const Stmt *at; /* loop or branch */
    bool orelse;
} Scope;

typedef struct {
    Kernel *k;
    const Buffer *buf;
    bool in_place;     /* has a finalize without a tile to put the result in */
    const Stmt *final; /* any finalize */
    const Stmt *init;  /* the one that is open */
    const Stmt *last;  /* the last init or update, for a reducer never finalized */
    bool updated;      /* since init */
    bool found;
    const Scope *where;
} Life;

static bool is_of(const Life *l, const Stmt *s, TileEpoch what)
{
    return tile_epoch(s) == what && buffer_root(s->u.tile.region[0].buf) == l->buf;
}

/* ---- what the kernel does with it at all ----------------------------------------------------- */

static bool see_use(const Stmt *s, void *arg)
{
    Life *l = arg;
    if (is_of(l, s, EPOCH_OPENS) || is_of(l, s, EPOCH_ADDS))
        l->last = s;
    if (is_of(l, s, EPOCH_CLOSES)) {
        l->final = s;
        l->in_place |= s->u.tile.nregion < 2;
    }
    return true;
}

static bool is_load_of(const Expr *e, void *root)
{
    return e->op == EX_LOAD && buffer_root(e->u.buf) == root;
}

/* Itself, not what is inside of it. */
static bool reads(const Life *l, const Stmt *s)
{
    return stmt_holds_expr(s, is_load_of, l->buf);
}

/* Regions of its own operators are what they are for; of all others they are not. */
static void check_access(Life *l, const Stmt *s)
{
    const char *how = NULL;

    if (s->kind == ST_BLOCK || is_of(l, s, EPOCH_OPENS) || is_of(l, s, EPOCH_CLOSES))
        return;
    if (reads(l, s))
        how = "read of";
    if ((s->kind == ST_STORE && buffer_root(s->u.store.buf) == l->buf) ||
        (is_of(l, s, EPOCH_ADDS) && hint_find(s->u.tile.hints, "store")))
        how = "store to";
    for (int i = 0; s->kind == ST_TILE && !is_of(l, s, EPOCH_ADDS) &&
                    i < s->u.tile.nregion; i++)
        if (buffer_root(s->u.tile.region[i].buf) == l->buf)
            how = tile_does(s, TILE_FILLS) ? "store to" : "read of";
    if (how)
        diag_error(l->k->diag, s->span,
                   "illegal %s reducer '%s': until T.finalize_reducer gave its result away it "
                   "holds parts; T.reducer_init and T.reducer_update write it [reducer-access]",
                   how, l->buf->name);
}

/* ---- in order -------------------------------------------------------------------------------- */

/* All loops and branches around init are around final too; no loop is around final alone. */
static bool is_within(const Scope *init, const Scope *final)
{
    for (; final != init; final = final->outer)
        if (!final || final->at->kind != ST_IF)
            return false;
    return true;
}

static void follow(Life *l, const Stmt *s, const Scope *in);

static void follow_under(Life *l, const Stmt *at, bool orelse, const Stmt *body, const Scope *in)
{
    Scope *here = NEW(l->k->ir->arena, Scope);

    *here = (Scope){in, at, orelse};
    if (body)
        follow(l, body, here);
}

static void follow_tile(Life *l, const Stmt *s, const Scope *in)
{
    if (is_of(l, s, EPOCH_OPENS)) {
        if (l->init && !l->updated && l->where == in)
            diag_error(l->k->diag, s->span, "double T.reducer_init of '%s': nothing was added "
                       "since the first [reducer-order]", l->buf->name);
        l->init = s;
        l->where = in;
        l->updated = false;
    } else if (is_of(l, s, EPOCH_ADDS)) {
        if (!l->init)
            diag_error(l->k->diag, s->span, "T.reducer_update of '%s' before T.reducer_init "
                       "[reducer-order]", l->buf->name);
        l->updated = true;
    } else if (is_of(l, s, EPOCH_CLOSES)) {
        if (!l->init)
            diag_error(l->k->diag, s->span, "T.finalize_reducer of '%s' before T.reducer_init "
                       "[reducer-order]", l->buf->name);
        else if (!is_within(l->where, in)) {
            diag_error(l->k->diag, s->span, "T.finalize_reducer of '%s' is not in the scope of "
                       "its T.reducer_init [reducer-order]", l->buf->name);
            diag_note(l->k->diag, l->init->span, "this is the init");
        }
        l->updated = true;
    }
}

static void follow(Life *l, const Stmt *s, const Scope *in)
{
    if (l->k->diag->nerror)
        return;
    check_access(l, s);
    if (s->kind == ST_TILE)
        follow_tile(l, s, in);
    bool scope = s->kind == ST_WHILE || s->kind == ST_IF ||
                 (s->kind == ST_FOR && s->u.loop.how != LOOP_PARALLEL);
    for (int i = 0; i < stmt_nkid(s); i++)
        if (scope)
            follow_under(l, s, i > 0, stmt_kid(s, i), in);
        else
            follow(l, stmt_kid(s, i), in);
}

/* The older spelling: what comes before the finalize adds to parts that start from the neutral
 * value, so a product with the part or a quotient of it means nothing. */
static bool see_update(const Stmt *s, void *arg)
{
    Life *l = arg;

    if (is_of(l, s, EPOCH_CLOSES))
        l->found = true;
    if (l->found || s->kind != ST_STORE || buffer_root(s->u.store.buf) != l->buf || !reads(l, s))
        return true;
    const Expr *e = s->u.store.value;
    while (e->op == EX_CAST)
        e = e->kid[0];
    bool wrong = e->op == EX_MUL || e->op == EX_DIV || e->op == EX_FLOORDIV ||
                 e->op == EX_FLOORMOD || e->op == EX_SHL || e->op == EX_SHR ||
                 (e->op == EX_MATH && (e->nkid == 1 || e->u.fn == MATH_POW));
    if (wrong)
        diag_error(l->k->diag, s->span,
                   "this does not bring a part into the %s of reducer '%s' [reducer-access]",
                   l->buf->reducer, l->buf->name);
    return true;
}

void pass_check_reducers(Kernel *k)
{
    for (int i = 0; i < k->buffers.n && k->diag->nerror == 0; i++) {
        Life l = {.k = k, .buf = k->buffers.at[i]};
        if (l.buf->scope != MEM_REDUCER || l.buf->view_of)
            continue;
        stmt_visit(k->body, see_use, &l);
        if (l.last && !l.final)
            diag_error(k->diag, l.last->span, "reducer '%s' is never finalized: nobody gets its "
                       "result [reducer-order]", l.buf->name);
        else if (l.final && !l.in_place)
            follow(&l, k->body, NULL);
        else if (l.final)
            stmt_visit(k->body, see_update, &l);
    }
}
