/* region.c -- regions, loop nests and scalars: what the operators' loops are made of. */
#include "isa/isa.h"
#include "op/op.h"
#include "target/target.h"

int64_t region_extent_int(const Region *r, int d)
{
    int64_t v;
    return expr_is_int(r->extent[d], &v) ? v : -1;
}

int64_t region_nelem(const Region *r)
{
    int64_t n = 1;
    for (int d = 0; d < r->buf->rank; d++) {
        int64_t e = region_extent_int(r, d);
        if (e < 0)
            return -1;
        n *= e;
    }
    return n;
}

int region_dims(const Region *r, int *dim)
{
    int n = 0;
    for (int d = 0; d < r->buf->rank; d++)
        if (region_extent_int(r, d) != 1)
            dim[n++] = d;
    return n;
}

void region_text(Str *out, const Region *r)
{
    str_printf(out, "'%s'[", r->buf->name);
    for (int d = 0; d < r->buf->rank; d++) {
        if (d)
            str_puts(out, ", ");
        print_expr(out, r->extent[d]);
    }
    str_putc(out, ']');
}

/* ---- matching two regions -------------------------------------------------------------------- */

static bool mismatch(Kernel *k, Span at, const Region *a, const Region *b, const char *why)
{
    Str ta, tb;
    str_init(&ta, k->arena);
    str_init(&tb, k->arena);
    region_text(&ta, a);
    region_text(&tb, b);
    diag_error(k->diag, at, "%s and %s do not match: %s [copy-shape]", ta.s, tb.s, why);
    return false;
}

/* Does an extent of n from the region's start stay inside dimension d?  Global memory is guarded,
 * so it always does there. */
static bool extent_fits(const Region *r, int d, int64_t n)
{
    int64_t start, shape;
    if (r->buf->scope == MEM_GLOBAL || !expr_is_int(r->buf->shape[d], &shape))
        return true;
    return !expr_is_int(r->at[d], &start) ? n <= shape : start + n <= shape;
}

/* Two whole tiles must agree; elsewhere the longer extent holds for both sides. */
static bool pair_extents(Kernel *k, Span at, const Region *a, int da, const Region *b, int db,
                         const Expr **extent)
{
    bool a_leads = mem_depth(a->buf->scope) >= mem_depth(b->buf->scope);
    *extent = a_leads ? a->extent[da] : b->extent[db];
    if (a->extent[da] == b->extent[db])
        return true;
    int64_t na = region_extent_int(a, da), nb = region_extent_int(b, db);
    if (na < 0 || nb < 0 || na == nb)
        return true;
    if (region_is_whole(a) && region_is_whole(b))
        return mismatch(k, at, a, b, "the tiles have different shapes");
    if (!extent_fits(a, da, MAX(na, nb)) || !extent_fits(b, db, MAX(na, nb)))
        return mismatch(k, at, a, b, "one side is longer than the other has room for");
    *extent = expr_int(k->ir, MAX(na, nb));
    return true;
}

bool region_match(Kernel *k, Span at, const Region *a, const Region *b, RegionMatch *m)
{
    int da[RANK_MOST], db[RANK_MOST];
    int na = region_dims(a, da), nb = region_dims(b, db);
    /* An element means "start here": it takes the other side's extents, tails aligned. */
    if (na == 0 && nb > 0 && a->buf->rank >= nb)
        for (na = 0; na < nb; na++)
            da[na] = a->buf->rank - nb + na;
    if (nb == 0 && na > 0 && b->buf->rank >= na)
        for (nb = 0; nb < na; nb++)
            db[nb] = b->buf->rank - na + nb;
    if (na != nb)
        return mismatch(k, at, a, b, "a different number of dimensions is longer than 1");
    m->n = na;
    for (int i = 0; i < na; i++) {
        m->dim[0][i] = da[i];
        m->dim[1][i] = db[i];
        if (!pair_extents(k, at, a, da[i], b, db[i], &m->extent[i]))
            return false;
    }
    return true;
}

void region_point(Ir *ir, const Region *r, const RegionMatch *m, int side, const Expr *const *vars,
                  const Expr **at)
{
    for (int d = 0; d < r->buf->rank; d++)
        at[d] = r->at[d];
    for (int i = 0; i < m->n; i++) {
        int d = m->dim[side][i];
        at[d] = expr_add(ir, r->at[d], vars[i]);
    }
}

const Expr *region_guard(Ir *ir, const Facts *f, const Buffer *b, const Expr *const *at)
{
    const Expr *guard = NULL;
    for (int d = 0; d < b->rank; d++) {
        const Expr *low = expr_binary(ir, EX_GE, at[d], expr_int(ir, 0));
        const Expr *high = expr_lt(ir, at[d], b->shape[d]);
        if (!prove_true(ir, f, low))
            guard = guard ? expr_and(ir, guard, low) : low;
        if (!prove_true(ir, f, high))
            guard = guard ? expr_and(ir, guard, high) : high;
    }
    return guard;
}

/* ---- nests ----------------------------------------------------------------------------------- */

void nest_open(Kernel *k, Nest *n, int nloop, const Expr *const *extent)
{
    static const char *const name[RANK_MOST] = {"i", "j", "l", "m", "n", "o", "p", "q"};
    memset(n, 0, sizeof *n);
    n->n = nloop;
    for (int i = 0; i < nloop; i++) {
        n->extent[i] = extent[i];
        n->var[i] = var_new(k->ir, name[i], DT_I32, NO_SPAN);
        n->at[i] = expr_var(k->ir, n->var[i]);
    }
}

/* On threads a nest of no loops is one iteration, run by those who hold what it uses. */
const Stmt *nest_close(Kernel *k, Span at, const Nest *n, LoopHow how, const Stmt *body)
{
    if (n->n == 0 && how == LOOP_PARALLEL && kernel_on_warps(k) && !stmt_is_private(body)) {
        const Expr *one = expr_int(k->ir, 1);
        Nest alone;
        nest_open(k, &alone, 1, &one);
        return nest_close(k, at, &alone, how, body);
    }
    for (int i = n->n - 1; i >= 0; i--)
        body = stmt_for(k->ir, at, how, n->var[i], n->min[i] ? n->min[i] : expr_int(k->ir, 0),
                        n->extent[i], (Hints){0}, body);
    return body;
}

void nest_facts(Kernel *k, const Nest *n, Facts *f)
{
    for (int i = 0; i < n->n; i++)
        facts_range(f, n->var[i], n->min[i] ? n->min[i] : expr_int(k->ir, 0), n->extent[i]);
}

/* ---- the kernel around an operator ----------------------------------------------------------- */

Facts *kernel_facts(Kernel *k)
{
    Facts *f = facts_new(k->ir);
    const Expr *zero = expr_int(k->ir, 0);
    if (k->func)
        for (int i = 0; i < k->func->dims.n; i++)
            facts_assume(f, expr_binary(k->ir, EX_GE, expr_var(k->ir, k->func->dims.at[i]), zero));
    facts_kernel(f, k);
    return f;
}

typedef struct {
    bool own, shared;
} Writes;

static void note_write(Writes *w, const Buffer *b)
{
    bool own = b->scope == MEM_LOCAL || b->scope == MEM_VAR || b->scope == MEM_DESCRIPTOR;
    *(own ? &w->own : &w->shared) = true;
}

static void see_access(void *arg, const Region *r, Access a)
{
    if (a & (ACC_WRITE | ACC_REDUCE))
        note_write(arg, r->buf);
}

static bool see_write(const Stmt *s, void *arg)
{
    Writes *w = arg;
    switch (s->kind) {
    case ST_STORE: note_write(w, s->u.store.buf); break;
    case ST_ATOMIC: note_write(w, s->u.atomic.buf); break;
    case ST_TILE:
        if (s->u.tile.op->id == OP_copy && s->u.tile.region[0].buf->scope == MEM_LOCAL)
            w->own = true;
        else
            s->u.tile.op->access(s, see_access, w);
        break;
    case ST_INSTR:
        for (int i = 0; i < s->u.instr.nregion; i++)
            if (s->u.instr.isa->effects[i] == 'a')
                note_write(w, s->u.instr.region[i].buf);
        break;
    default: break;
    }
    return !w->shared;
}

bool stmt_is_private(const Stmt *s)
{
    Writes w = {0};
    stmt_visit(s, see_write, &w);
    return w.own && !w.shared;
}

Buffer *kernel_scalar(Kernel *k, const char *name, DType t, Span at)
{
    Buffer *b = buffer_new(k->ir, name, t, MEM_VAR, 0, NULL, at);
    vec_push(k->arena, &k->buffers, b);
    return b;
}

const Expr *scalar_get(Kernel *k, Buffer *b)
{
    return expr_load(k->ir, b, NULL, 0);
}

const Stmt *scalar_set(Kernel *k, Span at, Buffer *b, const Expr *value)
{
    return stmt_store(k->ir, at, b, NULL, 0, expr_cast(k->ir, b->type, value));
}

DType accumulate_type(DType t)
{
    return dtype_is_float(t) && dtype_bits(t) < 32 ? DT_F32 : t;
}

const Expr *safe_value(Kernel *k, const Buffer *b, DType t)
{
    const Expr *safe = buffer_plan(k, b)->safe;
    return safe ? expr_cast(k->ir, t, safe) : expr_zero(k->ir, t);
}

int64_t tile_arg_int(const Stmt *t, int i, int64_t otherwise)
{
    int64_t v;
    if (i >= t->u.tile.narg || t->u.tile.arg[i] == NULL)
        return otherwise;
    return expr_is_int(t->u.tile.arg[i], &v) ? v : otherwise;
}
