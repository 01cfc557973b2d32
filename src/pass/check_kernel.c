/* check_kernel.c -- reject what cannot be compiled, in the user's words.
 *
 * gives   FORM_CHECKED
 *
 * Operators check their own operands; here stand the rules about loops, scopes and what the target
 * can do at all. */
#include "isa/isa.h"
#include "pass/pass.h"
#include "pass/async_copy.h"

typedef struct Check {
    Kernel *k;
    const Stmt *parallel; /* innermost enclosing T.Parallel, or NULL */
    const Stmt *loop;     /* innermost enclosing loop of any kind */
    const struct Check *up;
} Check;

static void check_stmt(Check *c, const Stmt *s);

static void check_under(Check *c, const Stmt *parallel, const Stmt *loop, const Stmt *s)
{
    Check in = {c->k, parallel, loop, c};
    if (s)
        check_stmt(&in, s);
}

static bool uses_parallel(const Stmt *parallel, const Expr *e)
{
    return parallel && expr_uses_var(e, parallel->u.loop.var);
}

static void check_local(Check *c, const Stmt *s, const Buffer *b, const Expr *const *at, int n)
{
    if (b->scope != MEM_LOCAL)
        return;
    for (int d = 0; d < n; d++)
        if (uses_parallel(c->parallel, at[d])) {
            diag_error(c->k->diag, s->span,
                       "Local buffer '%s' is indexed by T.Parallel loop variable '%s', but it is "
                       "private to a thread [parallel-local]", b->name,
                       c->parallel->u.loop.var->name);
            diag_note(c->k->diag, b->span, "use T.alloc_fragment for a tile of the block");
            return;
        }
}

/* Which thread owns an element is settled before extents are known, so a nest of run-time extent
 * cannot be spread over the owners; by the variable alone it runs over all of the fragment
 * (lower_sugar). */
static void check_fragment(Check *c, const Stmt *s, const Buffer *b, const Expr *const *at, int n)
{
    if (b->scope != MEM_FRAGMENT)
        return;
    for (const Check *up = c; up; up = up->up)
        for (int d = 0; d < n && up->parallel; d++) {
            const Stmt *loop = up->parallel;
            int64_t from, shape;
            if (expr_is_const(loop->u.loop.extent) || !expr_uses_var(at[d], loop->u.loop.var) ||
                (at[d]->op == EX_VAR && expr_is_int(b->shape[d], &shape) &&
                 expr_is_int(loop->u.loop.min, &from) && from == 0))
                continue;
            diag_error(c->k->diag, s->span,
                       "the fragment '%s' is indexed by '%s', whose range is known at run time "
                       "only [fragment-extent]", b->name, loop->u.loop.var->name);
            diag_note(c->k->diag, loop->span,
                      "let this loop have a constant extent and test '%s' inside of it",
                      loop->u.loop.var->name);
            return;
        }
}

typedef struct {
    Check *c;
    const Stmt *s;
} AtStmt;

static bool see_load(const Expr *e, void *arg)
{
    AtStmt *a = arg;
    if (e->op == EX_LOAD) {
        check_local(a->c, a->s, e->u.buf, e->kid, expr_nindex(e));
        check_fragment(a->c, a->s, e->u.buf, e->kid, expr_nindex(e));
    }
    if (e->op == EX_MATH && e->u.fn >= MATH_ADD_RZ && e->u.fn <= MATH_ROOT_RD &&
        !kernel_on_warps(a->c->k))
        diag_error(a->c->k->diag, a->s->span,
                   "rounding modes other than 'rn' are not supported on this target "
                   "[unsupported-here]");
    if ((e->op == EX_FLOORDIV || e->op == EX_FLOORMOD) && expr_is_zero(e->kid[1]))
        diag_error(a->c->k->diag, a->s->span, "division by zero [divide-by-zero]");
    return true;
}

/* stage= says how far copies run ahead of what computes, which all runs in the last stage. */
static void tell_stages(Check *c, const Stmt *s, const Hint *stage, int way)
{
    const Stmt *body = s->u.loop.body;
    int most = 0, at = 0;

    for (int i = 0; i < stage->nlist; i++)
        most = MAX(most, stage->list[i]);
    for (int i = 0; body->kind == ST_BLOCK && i < body->u.block.n; i++) {
        const Stmt *t = body->u.block.list[i];
        bool ahead = t->kind == ST_FOR || tile_does(t, TILE_FETCHES);
        if (!pipeline_counts(t, way))
            continue;
        if (at < stage->nlist && !ahead && stage->list[at] >= 0 && stage->list[at] < most)
            diag_ignored(c->k->diag, t->span, "the order of T.Pipelined",
                         "stage= of this statement is %d; only copies run ahead, and all else in "
                         "the last stage, %d [ignored]", stage->list[at], most);
        at++;
    }
}

static void check_schedule(Check *c, const Stmt *s)
{
    const Hint *order = hint_find(s->u.loop.hints, "order");
    const Hint *stage = hint_find(s->u.loop.hints, "stage");
    int n = order ? order->nlist : 0, way = n ? pipeline_counting(s->u.loop.body, n) : 0;
    int64_t stages = hint_int(s->u.loop.hints, "num_stages", 0);

    if (stages > 1 && kernel_has(c->k, HAS_ONE_THREAD))
        audit_note(c->k, AUDIT_IGNORED, s->span, "num_stages=%lld is ignored: this target runs one "
                   "iteration after the other", (long long)stages);
    if (n && stage && way >= 0 && kernel_on_warps(c->k))
        tell_stages(c, s, stage, way);
    if (!n || way >= 0)
        return;
    int statements = 0;
    while (pipeline_counting(s->u.loop.body, statements) < 0)
        statements++;
    diag_error(c->k->diag, s->span,
               "order and stage have %d entries each, the loop has %d statement%s "
               "[pipeline-order]",
               n, statements, statements == 1 ? "" : "s");
}

/* Does the nest around s do nothing but s, names for values aside? */
static bool is_all_of(const Stmt *body, const Stmt *s)
{
    if (body == s || !body)
        return true;
    if (body->kind != ST_BLOCK)
        return body->kind == ST_LET;
    for (int i = 0; i < body->u.block.n; i++)
        if (!is_all_of(body->u.block.list[i], s))
            return false;
    return true;
}

/* Iterations of a nest are counted in 32 bits. */
static void check_rounds(Check *c, const Stmt *s)
{
    int64_t most = INT32_MAX, n;

    for (const Stmt *in = s; stmt_is_nest(in);) {
        if (expr_is_int(in->u.loop.extent, &n) && n > 0) {
            if (n > most) {
                diag_error(c->k->diag, s->span,
                           "T.Parallel has more than 2^31 iterations here [bad-extent]");
                return;
            }
            most /= n;
        }
        in = in->u.loop.body;
    }
}

static void check_loop(Check *c, const Stmt *s)
{
    const Stmt *in = c->parallel;
    bool is_parallel = s->u.loop.how == LOOP_PARALLEL;

    if (is_parallel && !in)
        check_rounds(c, s);
    if (in && s->u.loop.how == LOOP_PIPELINED)
        diag_error(c->k->diag, s->span,
                   "T.Pipelined cannot stand inside T.Parallel [pipelined-in-parallel]");
    if (in && is_parallel && c->loop != in)
        diag_error(c->k->diag, s->span,
                   "T.Parallel inside T.Parallel must be directly nested [parallel-nesting]");
    else if (in && is_parallel && kernel_on_warps(c->k) &&
             !is_all_of(in->u.loop.body, s)) {
        diag_error(c->k->diag, s->span,
                   "T.Parallel inside T.Parallel must be all that the outer one does "
                   "[parallel-nesting]");
        diag_note(c->k->diag, in->span, "this is the outer loop");
    }
    if (s->u.loop.how == LOOP_VECTOR && !expr_is_const(s->u.loop.extent))
        diag_error(c->k->diag, s->span,
                   "T.vectorized needs a length known at compile time [vectorized-length]");
    check_schedule(c, s);
    check_under(c, is_parallel ? s : in, s, s->u.loop.body);
}

/* Elements that both surely have; false also where that is not known. */
static bool regions_meet(Ir *ir, const Region *a, const Region *b, bool *same)
{
    *same = a->buf == b->buf;
    if (buffer_root(a->buf) != buffer_root(b->buf))
        return false;
    if (!*same)
        return region_is_whole(a) && region_is_whole(b);
    for (int d = 0; d < a->buf->rank; d++) {
        int64_t n = region_extent_int(a, d), m = region_extent_int(b, d), by;
        if (!expr_is_int(simplify(ir, NULL, expr_sub(ir, b->at[d], a->at[d])), &by) || n < 0 ||
            m < 0 || by >= n || -by >= m)
            return false;
        *same &= by == 0 && n == m;
    }
    return true;
}

/* An operator reads and writes in parts, and in an order of its own.  Copies have been made so that
 * they read first; element by element a tile may take its own place. */
static void check_apart(Check *c, const Stmt *s)
{
    const Region *r = s->u.tile.region;
    int out = tile_does(s, TILE_MMA) ? 2 : 1;
    bool same;

    for (int i = 0; i < s->u.tile.nregion; i++)
        if (i != out && out < s->u.tile.nregion && !tile_does(s, TILE_COPIES) &&
            regions_meet(c->k->ir, &r[i], &r[out], &same) &&
            (!same || tile_does(s, TILE_MMA))) {
            diag_error(c->k->diag, s->span, "T.%s reads elements of '%s' that it writes; give the "
                       "result a tile of its own [tile-overlap]", s->u.tile.op->name,
                       r[i].buf->name);
            return;
        }
}

static void check_tile(Check *c, const Stmt *s)
{
    const TileOp *op = s->u.tile.op;

    if (c->parallel && !tile_does(s, TILE_ITERATES)) {
        diag_error(c->k->diag, s->span,
                   "T.%s works on whole tiles and cannot stand inside T.Parallel "
                   "[tile-in-parallel]",
                   op->name);
        diag_note(c->k->diag, c->parallel->span, "this is the parallel loop");
        return;
    }
    if (!c->parallel && op->epoch == EPOCH_ADDS)
        diag_error(c->k->diag, s->span,
                   "T.reducer_update stands outside any T.Parallel: it is not said how "
                   "often the block does it [reducer-outside]");
    if (op->check)
        op->check(c->k, s);
    check_apart(c, s);
}

static void check_call(Check *c, const Stmt *s)
{
    if (c->parallel && s->u.call.which == INTRIN_SYNC_GRID)
        diag_error(c->k->diag, s->span,
                   "T.sync_grid inside T.Parallel stands under a condition or a loop, or what was "
                   "read before it is used after it; part the loop, and keep such values in a "
                   "fragment [sync-in-parallel]");
    bool shuffle = s->u.call.which == INTRIN_SHFL || s->u.call.which == INTRIN_SHFL_XOR ||
                   s->u.call.which == INTRIN_SHFL_DOWN || s->u.call.which == INTRIN_SHFL_UP;
    int64_t width;
    if (shuffle && s->u.call.n > 2 && s->u.call.arg[2] && expr_is_int(s->u.call.arg[2], &width) &&
        width > kernel_warp(c->k))
        diag_error(c->k->diag, s->span,
                   "this is done among %lld lanes, and a warp of %s has %d [unsupported-here]",
                   (long long)width, c->k->machine->name, kernel_warp(c->k));
}

static void check_jump(Check *c, const Stmt *s)
{
    const char *word = s->kind == ST_BREAK ? "break" : "continue";

    if (!c->loop)
        diag_error(c->k->diag, s->span, "'%s' outside a loop [break-outside]", word);
    else if (c->parallel && s->kind == ST_BREAK && c->loop == c->parallel)
        diag_error(c->k->diag, s->span,
                   "'break' has no meaning in T.Parallel: its iterations have no order "
                   "[break-parallel]");
    else if (c->loop->kind == ST_FOR && c->loop->u.loop.how == LOOP_PIPELINED &&
             s->kind == ST_BREAK && kernel_on_warps(c->k))
        diag_error(c->k->diag, s->span,
                   "'break' in T.Pipelined cannot be pipelined [break-parallel]");
}

/* Instructions written by hand: of whole warps of a GPU that has them, or of one thread. */
static void check_instr(Check *c, const Stmt *s)
{
    const Isa *isa = s->u.instr.isa;

    if (!kernel_on_warps(c->k) || !isa_fits(isa, c->k->machine))
        diag_error(c->k->diag, s->span,
                   "%s is an instruction of %s and later; %s is for every target "
                   "[unsupported-here]", isa->name, isa_level(c->k->scratch, isa),
                   isa->scope == BY_THREAD ? "T.copy" : "T.gemm");
    if (c->parallel)
        diag_error(c->k->diag, s->span,
                   "%s is of all threads of a warp, or of one, and stands in a T.Parallel "
                   "[tile-in-parallel]", isa->name);
}

static void check_stmt(Check *c, const Stmt *s)
{
    AtStmt at = {c, s};

    if (s->kind != ST_BLOCK)
        stmt_visit_expr(s, see_load, &at);
    for (int i = 0; s->kind != ST_FOR && i < stmt_nkid(s); i++)
        if (s->kind == ST_BLOCK)
            check_stmt(c, stmt_kid(s, i));
        else
            check_under(c, c->parallel, s->kind == ST_WHILE ? s : c->loop, stmt_kid(s, i));
    switch (s->kind) {
    case ST_FOR:
        check_loop(c, s);
        break;
    case ST_TILE:
        check_tile(c, s);
        break;
    case ST_CALL:
        check_call(c, s);
        break;
    case ST_STORE:
        check_local(c, s, s->u.store.buf, s->u.store.at, s->u.store.n);
        check_fragment(c, s, s->u.store.buf, s->u.store.at, s->u.store.n);
        break;
    case ST_INSTR:
        check_instr(c, s);
        break;
    case ST_BREAK:
    case ST_CONTINUE:
        check_jump(c, s);
        break;
    default:
        break;
    }
}

static void check_scopes(Kernel *k)
{
    for (int i = 0; i < k->buffers.n && kernel_on_warps(k); i++)
        if (k->buffers.at[i]->scope == MEM_TMEM && !kernel_has(k, HAS_TENSOR_MEMORY))
            diag_error(k->diag, k->buffers.at[i]->span, "target %s has no tensor memory "
                       "[unsupported-here]", k->machine->text);
}

/* Plans of such a tile would count past what fits an integer. */
static void check_sizes(Kernel *k)
{
    int64_t shape[RANK_MOST];

    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        if (b->view_of || b->scope == MEM_GLOBAL || b->scope == MEM_VAR ||
            !buffer_static_shape(b, shape))
            continue;
        int64_t n = buffer_static_size(b);
        if (n < 0 || n > (int64_t)1 << 30)
            diag_error(k->diag, b->span, "'%s' is too large for any memory [on-chip-bytes]",
                       b->name);
    }
}

void pass_check_kernel(Kernel *k)
{
    Check c = {k, NULL, NULL, NULL};
    if (hint_find(k->hints, "entry_name") && !kernel_has(k, HAS_OWN_TEXT)) {
        diag_error(k->diag, k->span, "a kernel given as text of another target cannot be "
                   "compiled for %s [unsupported-here]", k->target->name);
        return;
    }
    check_scopes(k);
    check_sizes(k);
    check_stmt(&c, k->body);
}
