/* region.c -- regions of buffers: their extents, and how two of them match. */
#include "ir/tile.h"

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

void tile_access(const Stmt *t, AccessFn *see, void *arg)
{
    const char *effects = t->u.tile.op->effects;

    if (!effects)
        t->u.tile.op->access(t, see, arg);
    for (int i = 0; effects && i < t->u.tile.nregion; i++)
        see(arg, &t->u.tile.region[i], access_of(effects[i]));
}
