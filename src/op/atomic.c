/* atomic.c -- T.atomic_add, _max, _min on tiles: dst[...] op= value, element by element.
 *
 * Meaning   each element is one atomic read-modify-write; outside a global buffer it is dropped.
 * Layout    asks for none.
 * Lowering  a parallel nest of ST_ATOMIC. */
#include "op/op.h"
#include "ir/config.h"
#include "sim/sim.h"

enum { SCALAR };

/* With two regions the value comes first; with one, it is an argument. */
static const Region *value_region(const Stmt *t)
{
    return t->u.tile.nregion > 1 ? &t->u.tile.region[0] : NULL;
}

static const Region *target_region(const Stmt *t)
{
    return &t->u.tile.region[t->u.tile.nregion - 1];
}

static bool find_op(const Stmt *t, AtomicOp *op)
{
    static const struct { const char *name; AtomicOp op; } word[] = {
        {"add", ATOMIC_ADD}, {"max", ATOMIC_MAX}, {"min", ATOMIC_MIN},
    };
    for (int i = 0; t->u.tile.text && i < COUNT(word); i++)
        if (strcmp(t->u.tile.text, word[i].name) == 0) {
            *op = word[i].op;
            return true;
        }
    return false;
}

static void atomic_check(Kernel *k, const Stmt *t)
{
    RegionMatch m;
    AtomicOp op;
    const Buffer *b = target_region(t)->buf;
    if (!find_op(t, &op)) {
        diag_error(k->diag, t->span, "there is no tile atomic '%s' [tile-operand]",
                   t->u.tile.text ? t->u.tile.text : "");
        return;
    }
    if (b->scope != MEM_GLOBAL && b->scope != MEM_SHARED)
        diag_error(k->diag, t->span,
                   "atomics need global or shared memory; '%s' is %s [atomic-scope]", b->name,
                   mem_name(b->scope));
    if (value_region(t))
        region_match(k, t->span, value_region(t), target_region(t), &m);
    else if (t->u.tile.narg < 1 || t->u.tile.arg[SCALAR] == NULL)
        diag_error(k->diag, t->span, "an atomic needs a value [tile-operand]");
}

static void atomic_access(const Stmt *t, AccessFn *see, void *arg)
{
    if (value_region(t))
        see(arg, value_region(t), ACC_READ);
    see(arg, target_region(t), (Access)(ACC_READ | ACC_WRITE | ACC_REDUCE));
}

static void self_match(const Region *r, RegionMatch *m)
{
    m->n = region_dims(r, m->dim[1]);
    for (int i = 0; i < m->n; i++)
        m->extent[i] = r->extent[m->dim[1][i]];
}

static void match_of(Kernel *k, const Stmt *t, RegionMatch *m)
{
    if (value_region(t) == NULL)
        self_match(target_region(t), m);
    else if (!region_match(k, t->span, value_region(t), target_region(t), m))
        diag_throw(k->diag);
}

static const Stmt *atomic_lower(Kernel *k, const Stmt *t)
{
    const Region *src = value_region(t), *dst = target_region(t);
    const Expr *from[RANK_MOST], *to[RANK_MOST], *value, *guard = NULL;
    RegionMatch m;
    AtomicOp op = ATOMIC_ADD;
    Nest n;
    find_op(t, &op);
    match_of(k, t, &m);
    nest_open(k, &n, m.n, m.extent);
    Facts *f = kernel_facts(k);
    nest_facts(k, &n, f);
    region_point(k->ir, dst, &m, 1, n.at, to);
    if (src) {
        region_point(k->ir, src, &m, 0, n.at, from);
        value = expr_load(k->ir, src->buf, from, src->buf->rank);
    } else {
        value = t->u.tile.arg[SCALAR];
    }
    if (dst->buf->scope == MEM_GLOBAL && !config_on(k->func, CONFIG_disable_safe_memory_legalize))
        guard = region_guard(k->ir, f, dst->buf, to);
    const Hint *order = hint_find(t->u.tile.hints, "memory_order");
    const Stmt *s = stmt_atomic(k->ir, t->span, op, dst->buf, to, dst->buf->rank,
                                expr_cast(k->ir, dst->buf->type, value),
                                order ? order->text : NULL, NULL);
    if (guard)
        s = stmt_if(k->ir, t->span, guard, s, NULL);
    return nest_close(k, t->span, &n, LOOP_PARALLEL, s);
}

static void atomic_simulate(Sim *m, const Stmt *t)
{
    static const ExprOp combine[] = {
        [ATOMIC_ADD] = EX_ADD, [ATOMIC_MAX] = EX_MAX, [ATOMIC_MIN] = EX_MIN};
    const Region *src = value_region(t);
    RegionMatch match;
    AtomicOp op = ATOMIC_ADD;
    find_op(t, &op);
    match_of(sim_kernel(m), t, &match);
    SimRegion to = sim_region(m, t, target_region(t)), from = {0};
    if (src)
        from = sim_region(m, t, src);
    DType type = to.buf->type;
    int64_t at[RANK_MOST] = {0}, extent[RANK_MOST], si[RANK_MOST] = {0}, di[RANK_MOST] = {0};
    for (int i = 0; i < match.n; i++) {
        extent[i] = sim_int(m, match.extent[i]);
        if (extent[i] <= 0)
            return;
    }
    Value1 scalar = {0};
    if (!src)
        scalar = value_cast(t->u.tile.arg[SCALAR]->type, type, sim_value(m, t->u.tile.arg[SCALAR]));
    do {
        Value1 v = scalar, old;
        for (int i = 0; i < match.n; i++) {
            di[match.dim[1][i]] = at[i];
            if (src)
                si[match.dim[0][i]] = at[i];
        }
        if (!sim_inside(&to, di))
            continue;
        if (src) {
            sim_get(m, t, &from, si, &v);
            v = value_cast(src->buf->type, type, v);
        }
        sim_get(m, t, &to, di, &old);
        sim_put(m, t, &to, di, value_binary(combine[op], type, old, v));
    } while (sim_next(match.n, extent, at));
}

const TileOp op_atomic = {
    .name = "atomic",
    .id = OP_atomic,
    .traits = TILE_BY_ELEMENT,
    .params = "value: region or scalar, dst: region",
    .doc = "combine a tile into memory, each element atomically",
    .nregion = -1,
    .check = atomic_check,
    .access = atomic_access,
    .infer = infer_nothing,
    .lower = atomic_lower,
    .simulate = atomic_simulate,
};
