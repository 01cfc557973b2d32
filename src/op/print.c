/* print.c -- T.print: a buffer element by element, a value, or only a message.
 *
 * Lowering  calls of printf, one line each.  The simulator writes the same lines. */
#include "op/op.h"
#include "sim/sim.h"

enum { VALUE };

static void print_check(Kernel *k, const Stmt *t)
{
    if (t->u.tile.nregion > 1)
        diag_error(k->diag, t->span, "print takes one buffer [tile-operand]");
    if (t->u.tile.nregion == 1 && t->u.tile.region[0].buf->type == DT_HANDLE)
        diag_error(k->diag, t->span, "print cannot show handles [tile-operand]");
}

static const Expr *value_of(const Stmt *t)
{
    return t->u.tile.narg > VALUE ? t->u.tile.arg[VALUE] : NULL;
}

static const char *message(const Stmt *t)
{
    return t->u.tile.text ? t->u.tile.text : "";
}

static const char *value_format(DType t)
{
    return dtype_is_float(t) ? "%g" : dtype_is_unsigned(t) ? "%llu" : "%lld";
}

/* What a C function with "..." takes. */
static const Expr *promoted(Ir *ir, const Expr *e)
{
    return expr_cast(ir,
                     dtype_is_float(e->type)      ? DT_F64
                     : dtype_is_unsigned(e->type) ? DT_U64
                                                  : DT_I64,
                     e);
}

static const char *line_format(Arena *a, const Stmt *t)
{
    if (t->u.tile.nregion)
        return arena_printf(a, "msg='%%s' BlockIdx=(%%lld, %%lld, %%lld): buffer=%s, index=%%lld, "
                            "dtype=%s value=%s\n", t->u.tile.region[0].buf->name,
                            dtype_name(t->u.tile.region[0].buf->type),
                            value_format(t->u.tile.region[0].buf->type));
    if (value_of(t))
        return arena_printf(a, "msg='%%s' BlockIdx=(%%lld, %%lld, %%lld): dtype=%s value=%s\n",
                            dtype_name(value_of(t)->type), value_format(value_of(t)->type));
    return "%s\n";
}

static const Stmt *print_line(Kernel *k, const Stmt *t, const Expr *index, const Expr *value)
{
    Ir *ir = k->ir;
    const Expr *arg[8];
    int n = 0;
    arg[n++] = expr_str(ir, line_format(ir->arena, t));
    arg[n++] = expr_str(ir, message(t));
    for (int d = 0; value && d < 3; d++)
        arg[n++] = promoted(ir, k->block[d] ? expr_var(ir, k->block[d]) : expr_int(ir, 0));
    if (index)
        arg[n++] = promoted(ir, index);
    if (value)
        arg[n++] = promoted(ir, value);
    return stmt_call(ir, t->span, INTRIN_EXTERN, n, arg, 0, NULL, ir_name(ir, "printf"), NULL);
}

static const Stmt *print_lower(Kernel *k, const Stmt *t)
{
    Ir *ir = k->ir;
    if (t->u.tile.nregion == 0)
        return print_line(k, t, NULL, value_of(t));
    const Region *r = &t->u.tile.region[0];
    const Expr *at[RANK_MOST], *index = expr_int(ir, 0);
    Nest n;
    nest_open(k, &n, r->buf->rank, r->extent);
    for (int d = 0; d < r->buf->rank; d++) {
        at[d] = expr_add(ir, r->at[d], n.at[d]);
        index = expr_add(ir, expr_mul(ir, index, r->extent[d]), n.at[d]);
    }
    const Expr *v = expr_load(ir, r->buf, at, r->buf->rank);
    return nest_close(k, t->span, &n, LOOP_SERIAL, print_line(k, t, index, v));
}

static void put_line(Sim *m, const Stmt *t, int64_t index, DType type, Value1 v)
{
    Kernel *k = sim_kernel(m);
    char line[1024], value[64];
    long long block[3];
    for (int d = 0; d < 3; d++)
        block[d] = k->block[d] ? (long long)sim_int(m, expr_var(k->ir, k->block[d])) : 0;
    if (dtype_is_float(type))
        snprintf(value, sizeof value, "%g", v.f);
    else
        snprintf(value, sizeof value, value_format(type), (long long)v.i);
    if (t->u.tile.nregion)
        snprintf(line, sizeof line,
                 "msg='%s' BlockIdx=(%lld, %lld, %lld): buffer=%s, index=%lld, dtype=%s value=%s\n",
                 message(t), block[0], block[1], block[2], t->u.tile.region[0].buf->name,
                 (long long)index, dtype_name(type), value);
    else
        snprintf(line, sizeof line, "msg='%s' BlockIdx=(%lld, %lld, %lld): dtype=%s value=%s\n",
                 message(t), block[0], block[1], block[2], dtype_name(type), value);
    sim_print(m, line);
}

static void print_simulate(Sim *m, const Stmt *t)
{
    if (t->u.tile.nregion == 0) {
        const Expr *e = value_of(t);
        if (e) {
            put_line(m, t, 0, e->type, sim_value(m, e));
            return;
        }
        sim_print(m, message(t));
        sim_print(m, "\n");
        return;
    }
    SimRegion r = sim_region(m, t, &t->u.tile.region[0]);
    int64_t at[RANK_MOST] = {0}, index = 0;
    if (sim_region_empty(&r))
        return;
    do {
        Value1 v;
        sim_get(m, t, &r, at, &v);
        put_line(m, t, index++, r.buf->type, v);
    } while (sim_next(r.rank, r.extent, at));
}

const TileOp op_print = {
    .name = "print",
    .id = OP_print,
    .traits = TILE_WALKS | TILE_ITERATES | TILE_SAYS,
    .params = "buf: region, value: scalar",
    .doc = "write a buffer, a value or a message, a line for each element",
    .nregion = -1,
    .check = print_check,
    .effects = "r",
    .infer = infer_nothing,
    .lower = print_lower,
    .simulate = print_simulate,
};
