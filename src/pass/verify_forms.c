/* verify_forms.c -- the definition of each form: what may no longer appear once it holds.
 *
 * CHECKED   operators have as many operands as they take
 * NORMAL    an index that is negative is outside, and does not count from the end: nothing to see
 * GRID      the grid has one to three dimensions, walked in panels of no negative width
 * HOW       every operator has a mechanism
 * ROLES     what is planned for a producer is a bulk copy, and belongs to a pipeline
 * STAGED    copies run ahead by no more than they may; tiles have as many stages
 * LAYOUTS   a fragment is spread over threads, other tiles are not, each in its own shape
 * NOGRID    nothing is left that only persistent blocks need
 * WARPS     a producer's copies stand in its role, and nothing else that fills its pipelines
 * NOPIPE    no pipelined loop
 * TOKENS    a bulk copy to shared memory names the barrier that hears of it
 * NOEPOCH   no operator on a reducer
 * LOOPS     no operator                            THREADS   no parallel loop
 * GUARDED   another guard would be of no use *     FLAT      an access has one index (verify.c)
 * PLACED    every shared buffer in use has its bytes inside the arena
 * SYNCED    no two threads touch an element with no barrier between (verify_synced.c) +
 * NOUNROLL  no explicit unroll left
 * WIDTHS    offsets are 32 or 64 bits wide         SPLIT     the host can work out the grid
 * SIMPLE    no branch on a constant, no empty loop, no sum with 0 or product with 1; simplifying
 *           once more changes nothing *
 *
 * What is marked * takes a proof: it is tried (verify_promise) right after the pass that gives the
 * form, or the runner's simplification that does, by running what makes it once more, where
 * --check-each asks for it; + the simulator's. */
#include "pass/verify.h"
#include "pass/async_copy.h"
#include "pass/plan_warps.h"

typedef struct {
    FormStmtFn *stmt;
    FormExprFn *expr;
    void (*kernel)(Verify *v);
} Form;

/* Without making one, which tile_plan and buffer_plan do. */
static const TilePlan *plan_of(Verify *v, const Stmt *s)
{
    static const TilePlan none = {.how = &mech_none};
    int id = s->u.tile.id;
    return id < v->k->tiles.n && v->k->tiles.at[id].how ? &v->k->tiles.at[id] : &none;
}

static const BufferPlan *buffer_of(Verify *v, const Buffer *b)
{
    static const BufferPlan none;
    return b->id < v->k->plans.n ? &v->k->plans.at[b->id] : &none;
}

/* ---- before lowering ------------------------------------------------------------------------- */

static void checked_stmt(Verify *v, const Stmt *s)
{
    int n = s->kind == ST_TILE ? s->u.tile.op->nregion : -1;

    if (n >= 0 && s->u.tile.nregion < n)
        offence(v, "%d operands where %d are taken", s->u.tile.nregion, n);
}

static void grid_kernel(Verify *v)
{
    const Kernel *k = v->k;

    if (k->ngrid < 1 || k->ngrid > 3)
        offence(v, "a grid of %d dimensions", k->ngrid);
    for (int d = 0; d < k->ngrid; d++)
        if (!k->grid[d] || !k->block[d])
            offence(v, "dimension %d of the grid is missing", d);
    if (k->swizzle_panel < 0)
        offence(v, "panels of %d", k->swizzle_panel);
}

/* ---- plans ----------------------------------------------------------------------------------- */

static void how_stmt(Verify *v, const Stmt *s)
{
    if (s->kind == ST_TILE && plan_of(v, s)->how == &mech_none)
        offence(v, "a tile operator without a mechanism");
}

static void roles_stmt(Verify *v, const Stmt *s)
{
    const TilePlan *p = s->kind == ST_TILE ? plan_of(v, s) : NULL;

    if (p && p->pipe && (!p->how->bulk || p->pipe < 1 || p->pipe >= PIPES_MOST))
        offence(v, "a producer's copy by %s into pipeline %d", p->how->name, p->pipe);
}

static void staged_stmt(Verify *v, const Stmt *s)
{
    const TilePlan *p = s->kind == ST_TILE ? plan_of(v, s) : NULL;

    if (p && (p->ahead < 0 || p->ahead > AHEAD_MOST))
        offence(v, "a copy %d iterations ahead", p->ahead);
}

static void staged_kernel(Verify *v)
{
    for (int i = 0; i < v->k->plans.n; i++)
        if (v->k->plans.at[i].stages < 0)
            offence(v, "a tile of %d stages", v->k->plans.at[i].stages);
}

static void check_layout(Verify *v, const Buffer *b)
{
    const Layout *l = buffer_of(v, b)->layout;
    int64_t shape[RANK_MOST];

    if (!l || b->view_of || !buffer_static_shape(b, shape))
        return;
    if (b->scope != MEM_FRAGMENT && layout_is_fragment(l))
        offence(v, "'%s' is spread over threads", b->name);
    bool same = l->rank == b->rank;
    for (int d = 0; same && d < b->rank; d++)
        same = l->extent[d] == shape[d];
    if (!same)
        offence(v, "the layout of '%s' is not one of its shape", b->name);
}

static void layouts_kernel(Verify *v)
{
    for (int i = 0; i < v->k->buffers.n; i++)
        check_layout(v, v->k->buffers.at[i]);
}

static void layouts_stmt(Verify *v, const Stmt *s)
{
    const Kernel *k = v->k;

    for (int i = 0; s->kind == ST_TILE && i < s->u.tile.nregion; i++) {
        const Buffer *b = s->u.tile.region[i].buf;
        if (b->scope == MEM_FRAGMENT && !b->view_of && kernel_on_warps(k) && b->rank &&
            !buffer_of(v, b)->layout)
            offence(v, "'%s' has no layout", b->name);
    }
}

/* ---- what lowering takes away ---------------------------------------------------------------- */

static void nogrid_stmt(Verify *v, const Stmt *s)
{
    if (s->kind == ST_CALL && s->u.call.mark == MARK_PERSISTENT)
        offence(v, "a call that only persistent blocks need");
}

static void pipes_stmt(Verify *v, const Stmt *s)
{
    if (s->kind == ST_TILE && plan_of(v, s)->pipe && !v->role)
        offence(v, "a producer's copy outside of its role");
}

static void nopipe_stmt(Verify *v, const Stmt *s)
{
    if (s->kind == ST_FOR && s->u.loop.how == LOOP_PIPELINED)
        offence(v, "a pipelined loop");
}

static void tokens_stmt(Verify *v, const Stmt *s)
{
    if (s->kind == ST_TILE && plan_of(v, s)->how->bulk && s->u.tile.nregion > 1 &&
        s->u.tile.region[1].buf->scope == MEM_SHARED && s->u.tile.narg <= s->u.tile.op->narg)
        offence(v, "a bulk copy without a barrier");
}

static void noepoch_stmt(Verify *v, const Stmt *s)
{
    for (int i = 0; s->kind == ST_TILE && i < s->u.tile.nregion; i++)
        if (s->u.tile.region[i].buf->scope == MEM_REDUCER)
            offence(v, "an operator on a reducer");
}

static void loops_stmt(Verify *v, const Stmt *s)
{
    if (s->kind == ST_TILE)
        offence(v, "a tile operator");
}

static void threads_stmt(Verify *v, const Stmt *s)
{
    if (stmt_is_nest(s))
        offence(v, "a parallel loop");
}

static void placed_kernel(Verify *v)
{
    for (int i = 0; i < v->k->buffers.n; i++) {
        const Buffer *b = v->k->buffers.at[i];
        const BufferPlan *p = buffer_of(v, b);
        int64_t end = b->scope == MEM_TMEM && v->k->tensor_columns ? v->k->tensor_columns
                                                                   : v->k->arena_bytes;
        if (p->placed && (p->offset < 0 || p->offset + p->nbytes > end))
            offence(v, "'%s' lies outside of the arena", b->name);
    }
}

static void nounroll_stmt(Verify *v, const Stmt *s)
{
    if (s->kind == ST_FOR && s->u.loop.how == LOOP_UNROLL &&
        hint_int(s->u.loop.hints, "explicit", 0) == 1)
        offence(v, "a loop to be unrolled");
}

static void check_width(Verify *v, int n, const Expr *const *at)
{
    for (int i = 0; i < n; i++)
        if (dtype_bits(at[i]->type) < 32)
            offence(v, "an offset of type %s", dtype_name(at[i]->type));
}

static void widths_stmt(Verify *v, const Stmt *s)
{
    if (s->kind == ST_STORE)
        check_width(v, s->u.store.n, s->u.store.at);
}

static void widths_expr(Verify *v, const Expr *e)
{
    if (e->op == EX_LOAD || e->op == EX_ADDR)
        check_width(v, expr_nindex(e), e->kid);
}

static void simple_stmt(Verify *v, const Stmt *s)
{
    int64_t n;

    if (s->kind == ST_IF && expr_is_const(s->u.branch.cond))
        offence(v, "a branch on a constant");
    if (s->kind == ST_FOR && expr_is_int(s->u.loop.extent, &n) && n <= 0)
        offence(v, "a loop of %lld iterations", (long long)n);
}

static void simple_expr(Verify *v, const Expr *e)
{
    int64_t n;

    if (dtype_is_float(e->type) || e->nkid < 2 || !expr_is_splat(e->kid[1], &n))
        return;
    if ((n == 0 && (e->op == EX_ADD || e->op == EX_SUB)) ||
        (n == 1 && (e->op == EX_MUL || e->op == EX_FLOORDIV || e->op == EX_FLOORMOD)))
        offence(v, "arithmetic that changes nothing");
}

static void split_kernel(Verify *v)
{
    for (int d = 0; d < v->k->ngrid; d++)
        if (expr_has_load(v->k->grid[d]))
            offence(v, "a grid that depends on memory");
}

static const Form form_table[] = {
    [FORM_BIT_CHECKED] = {.stmt = checked_stmt},
    [FORM_BIT_GRID] = {.kernel = grid_kernel},
    [FORM_BIT_HOW] = {.stmt = how_stmt},
    [FORM_BIT_ROLES] = {.stmt = roles_stmt},
    [FORM_BIT_STAGED] = {.stmt = staged_stmt, .kernel = staged_kernel},
    [FORM_BIT_LAYOUTS] = {.stmt = layouts_stmt, .kernel = layouts_kernel},
    [FORM_BIT_NOGRID] = {.stmt = nogrid_stmt},
    [FORM_BIT_WARPS] = {.stmt = pipes_stmt},
    [FORM_BIT_NOPIPE] = {.stmt = nopipe_stmt},
    [FORM_BIT_TOKENS] = {.stmt = tokens_stmt},
    [FORM_BIT_NOEPOCH] = {.stmt = noepoch_stmt},
    [FORM_BIT_LOOPS] = {.stmt = loops_stmt},
    [FORM_BIT_THREADS] = {.stmt = threads_stmt},
    [FORM_BIT_PLACED] = {.kernel = placed_kernel},
    [FORM_BIT_SYNCED] = {.kernel = verify_synced},
    [FORM_BIT_NOUNROLL] = {.stmt = nounroll_stmt},
    [FORM_BIT_WIDTHS] = {.stmt = widths_stmt, .expr = widths_expr},
    [FORM_BIT_SPLIT] = {.kernel = split_kernel},
    [FORM_BIT_SIMPLE] = {.stmt = simple_stmt, .expr = simple_expr},
};

void verify_forms_kernel(Verify *v)
{
    for (int i = 0; i < COUNT(form_table); i++) {
        const Form *f = &form_table[i];
        if (!(v->k->form >> i & 1))
            continue;
        if (f->stmt)
            v->form_stmt[v->nform_stmt++] = f->stmt;
        if (f->expr)
            v->form_expr[v->nform_expr++] = f->expr;
        if (f->kernel)
            f->kernel(v);
    }
}

/* ---- promises -------------------------------------------------------------------------------- */

static bool count_guard(const Expr *e, void *arg)
{
    *(int *)arg += e->op == EX_LOAD && e->guarded;
    return true;
}

static bool count_stmt(const Stmt *s, void *arg)
{
    *(int *)arg += s->kind == ST_STORE && s->u.store.guard;
    stmt_visit_expr(s, count_guard, arg);
    return true;
}

/* Of the body as it is, or as the pass would leave it; nothing is changed. */
static int guards_after(Kernel *k, void (*pass)(Kernel *k))
{
    Kernel was = *k;
    int nwarning = k->diag->nwarning, nlist = k->diag->list.n;
    int n = 0;

    if (pass)
        pass(k);
    stmt_visit(k->body, count_stmt, &n);
    *k = was;
    k->diag->nwarning = nwarning;
    k->diag->list.n = nlist;
    return n;
}

static bool is_simple(Kernel *k)
{
    Kernel was = *k;

    simplify_kernel(k);
    bool same = k->body == was.body;
    *k = was;
    return same;
}

void verify_promise(Kernel *k, uint32_t gives, const char *after)
{
    BUG(gives & FORM_SIMPLE && !is_simple(k), "after %s of %s: more can be simplified", after,
        k->name);
    BUG(gives & FORM_GUARDED && guards_after(k, pass_lower_guards) != guards_after(k, NULL),
        "after %s of %s: an access still wants a guard", after, k->name);
}
