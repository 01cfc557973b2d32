/* bulk.c -- bulk copies of consecutive bytes: cp.async.bulk without a tensor map.
 *
 * Where both ends are one run of memory there is nothing to describe to the hardware: an address, a
 * number of bytes.  It takes whole units of 16 bytes that start at multiples of 16, and knows no
 * bounds: the copy has to be provably inside the tensor.  Rows that no tensor map takes (strides
 * that are no multiples of 16 bytes, more than 5 dimensions) can be such runs, and vectors are. */
#include "target/cuda/cuda.h"

enum { SRC, DST, UNIT = 16, LEAST_STORED = 1024 };

/* The region that the match means on one side: an element may stand for a start. */
static Region spelled_out(Ir *ir, const Stmt *t, const RegionMatch *m, int side)
{
    const Region *of = &t->u.tile.region[side];
    int rank = of->buf->rank;
    Region r = {of->buf, of->at, NEWN(ir->arena, const Expr *, MAX(rank, 1))};

    for (int d = 0; d < rank; d++)
        r.extent[d] = expr_int(ir, 1);
    for (int i = 0; i < m->n; i++)
        r.extent[m->dim[side][i]] = m->extent[i];
    return r;
}

static bool is_one(const Expr *e)
{
    int64_t n;
    return expr_is_int(e, &n) && n == 1;
}

/* Whole dimensions behind, one part of a dimension, single elements ahead. */
static bool is_run(const Facts *f, Ir *ir, const Region *r)
{
    const Expr *stride = expr_int(ir, 1);
    bool whole = true;

    for (int d = r->buf->rank - 1; d >= 0; d--) {
        if (r->buf->stride && simplify(ir, f, r->buf->stride[d]) != stride && !is_one(r->extent[d]))
            return false;
        if (!whole && !is_one(r->extent[d]))
            return false;
        whole = whole && expr_is_zero(r->at[d]) && r->extent[d] == r->buf->shape[d];
        stride = simplify(ir, f, expr_mul(ir, stride, r->buf->shape[d]));
    }
    return true;
}

static const Expr *offset_of(Ir *ir, const Facts *f, const Region *r)
{
    const Expr *stride = expr_int(ir, 1), *at = expr_int(ir, 0);

    for (int d = r->buf->rank - 1; d >= 0; d--) {
        const Expr *step = r->buf->stride ? r->buf->stride[d] : stride;
        at = expr_add(ir, at, expr_mul(ir, r->at[d], step));
        stride = expr_mul(ir, stride, r->buf->shape[d]);
    }
    return simplify(ir, f, at);
}

static bool is_inside(Ir *ir, const Facts *f, const Region *r)
{
    for (int d = 0; d < r->buf->rank; d++) {
        const Expr *end = expr_add(ir, r->at[d], r->extent[d]);
        if (!prove_true(ir, f, expr_binary(ir, EX_GE, r->at[d], expr_zero(ir, r->at[d]->type))) ||
            !prove_true(ir, f, expr_binary(ir, EX_LE, end, r->buf->shape[d])))
            return false;
    }
    return true;
}

static int64_t nbytes_of(const Region *r)
{
    int64_t n = dtype_bits(r->buf->type) / 8;
    for (int d = 0; d < r->buf->rank; d++)
        n *= MAX(region_extent_int(r, d), 0);
    return n;
}

static bool starts_at_unit(Ir *ir, const Facts *f, const Region *r)
{
    int64_t size = dtype_bits(r->buf->type) / 8;
    Modular m = modular_of(f, offset_of(ir, f, r));
    return m.coef * size % UNIT == 0 && m.base * size % UNIT == 0;
}

/* Between global and shared memory, of one type. */
static bool is_between(Kernel *k, const Stmt *t, const char **why)
{
    const Buffer *src = t->u.tile.region[SRC].buf, *dst = t->u.tile.region[DST].buf;
    bool loads = dst->scope == MEM_SHARED;
    const Buffer *global = loads ? src : dst, *shared = loads ? dst : src;

    *why = "bulk copies need sm_90";
    if (k->machine->level < 90)
        return false;
    *why = "not between global and shared memory";
    if (global->scope != MEM_GLOBAL || shared->scope != MEM_SHARED || shared->view_of)
        return false;
    *why = "the tensor is behind a pointer, or may start anywhere";
    if (!tma_has_address(global))
        return false;
    *why = "the element type changes on the way, or has fewer than 8 bits";
    if (src->type != dst->type || dtype_bits(src->type) < 8 || src->type == DT_HANDLE)
        return false;
    *why = "the layout of the tile is annotated";
    return !buffer_plan(k, shared)->pinned;
}

bool bulk_plan(Kernel *k, const Stmt *t, const char **why)
{
    Ir *ir = k->ir;
    RegionMatch m;
    Region r[2];

    if (!is_between(k, t, why))
        return false;
    bool loads = t->u.tile.region[DST].buf->scope == MEM_SHARED;
    *why = "the slices have different shapes";
    if (!region_match(k, t->span, &t->u.tile.region[SRC], &t->u.tile.region[DST], &m) || m.n == 0)
        return false;
    for (int i = 0; i < m.n; i++)
        if (i && (m.dim[SRC][i] < m.dim[SRC][i - 1] || m.dim[DST][i] < m.dim[DST][i - 1]))
            return false;
    const Facts *f = body_facts(k);
    for (int side = SRC; side <= DST; side++) {
        r[side] = spelled_out(ir, t, &m, side);
        *why = "it is not one run of memory";
        if (!is_run(f, ir, &r[side]))
            return false;
        *why = "it does not start and end at multiples of 16 bytes";
        if (!starts_at_unit(ir, f, &r[side]) || nbytes_of(&r[side]) % UNIT ||
            nbytes_of(&r[side]) <= 0)
            return false;
        *why = "it may reach past the end of the tensor";
        if (!is_inside(ir, f, &r[side]))
            return false;
    }
    const Buffer *tensor = r[loads ? SRC : DST].buf;
    if (!tma_is_asked(t) && !tma_is_alone(k, t, tensor, loads, why))
        return false;
    *why = "too few bytes for one thread to store them all";
    if (!tma_is_asked(t) && !loads && nbytes_of(&r[SRC]) < LEAST_STORED)
        return false;
    *why = "one run of memory";
    return true;
}

const Stmt *bulk_lower(Kernel *k, ThreadGroup who, const Stmt *t)
{
    Ir *ir = k->ir;
    bool loads = t->u.tile.region[DST].buf->scope == MEM_SHARED;
    const Stmt **list = NEWN(ir->arena, const Stmt *, 4);
    Region *r = NEWN(ir->arena, Region, 3);
    RegionMatch m;
    int n = 0;

    BUG(!region_match(k, t->span, &t->u.tile.region[SRC], &t->u.tile.region[DST], &m),
        "a planned run does not match");
    r[0] = spelled_out(ir, t, &m, DST);
    r[1] = spelled_out(ir, t, &m, SRC);
    if (loads)
        r[2] = tma_barrier(ir, t);
    if (loads && !tile_plan(k, t)->pipe)
        list[n++] = tma_announce(k, t);
    const Expr **arg = NEWN(ir->arena, const Expr *, 2);
    arg[0] = expr_int(ir, 0);
    arg[1] = tma_policy(ir, t);
    list[n++] = stmt_instr(ir, t->span, isa_find(loads ? "tma.load.run" : "tma.store.run"),
                           loads ? 3 : 2, r, arg[1] ? 2 : 0, arg, t->u.tile.id);
    return tma_issue(k, t, tma_first(k, who, t), n, list);
}
