/* eval.c -- expressions: a walk over the tree, one typed value per node.
 *
 * Most nodes are of indices: leaves and operators of int32, which have a walk of their own. */
#include "sim/machine.h"

#include <math.h>

static int64_t eval_i32(Sim *m, const Expr *e);
static Value1 eval_node(Sim *m, const Expr *e);

/* The value of what is no float. */
static inline int64_t int_of(Sim *m, const Expr *e)
{
    if (e->op == EX_VAR)
        return m->value[e->u.var->id].i;
    if (e->op == EX_INT)
        return e->u.i;
    return e->type == DT_I32 ? eval_i32(m, e) : eval_node(m, e).i;
}

/* Floors, as num_binary does for any signs. */
static inline int64_t divide_i32(ExprOp op, int64_t a, int64_t b)
{
    if (a < 0 || b <= 0)
        return num_binary(op, DT_I32, a, b);
    return op == EX_FLOORDIV ? (uint32_t)a / (uint32_t)b : (uint32_t)a % (uint32_t)b;
}

#define BIT(op) ((uint64_t)1 << (op))

static inline bool is_binary(const Expr *e)
{
    const uint64_t all = BIT(EX_ADD) | BIT(EX_SUB) | BIT(EX_MUL) | BIT(EX_FLOORDIV) |
                         BIT(EX_FLOORMOD) | BIT(EX_TRUNCDIV) | BIT(EX_TRUNCMOD) | BIT(EX_MIN) |
                         BIT(EX_MAX) | BIT(EX_BITAND) | BIT(EX_BITOR) | BIT(EX_BITXOR) |
                         BIT(EX_SHL) | BIT(EX_SHR);
    return all >> e->op & 1;
}

/* A scalar whose type is int32, and no leaf. */
static int64_t eval_i32(Sim *m, const Expr *e)
{
    if (!is_binary(e))
        return eval_node(m, e).i;
    int64_t a = int_of(m, e->kid[0]), b = int_of(m, e->kid[1]);
    switch ((ExprOp)e->op) {
    case EX_ADD: return (int32_t)(a + b);
    case EX_SUB: return (int32_t)(a - b);
    case EX_MUL: return (int32_t)(a * b);
    case EX_FLOORDIV:
    case EX_FLOORMOD: return divide_i32(e->op, a, b);
    case EX_MIN: return a < b ? a : b;
    case EX_MAX: return a < b ? b : a;
    case EX_BITAND: return a & b;
    case EX_BITXOR: return a ^ b;
    default: return num_binary(e->op, DT_I32, a, b);
    }
}

static bool compare_i32(ExprOp op, int64_t a, int64_t b)
{
    switch (op) {
    case EX_EQ: return a == b;
    case EX_NE: return a != b;
    case EX_LT: return a < b;
    case EX_LE: return a <= b;
    case EX_GT: return a > b;
    default: return a >= b;
    }
}

void index_values(Sim *m, const Buffer *b, const Expr *const *e, int n, int64_t *at)
{
    for (int d = 0; d < n; d++) {
        at[d] = int_of(m, e[d]);
        if (m->sugar && at[d] < 0 && e[d]->op == EX_INT)
            at[d] += sim_mem(m, b)->shape[d];
    }
}

static Value1 outside_value(Sim *m, const Buffer *b)
{
    const Expr *safe = m->k ? buffer_plan(m->k, b)->safe : NULL;
    return safe ? value_cast(safe->type, b->type, eval(m, safe)) : (Value1){0};
}

static Value1 eval_load(Sim *m, const Expr *e)
{
    int64_t at[RANK_MOST];
    int n = e->nkid - (e->guarded ? 2 : 0);
    if (e->guarded && int_of(m, e->kid[n]) == 0) {
        if (m->o.stats)
            stats_access(m, sim_mem(m, e->u.buf), e, -1, 1);
        return eval(m, e->kid[n + 1]);
    }
    index_values(m, e->u.buf, e->kid, n, at);
    const SimMem *mem = sim_mem(m, e->u.buf);
    int64_t i = mem_offset(m, mem, at, n);
    if (m->o.stats)
        stats_access(m, mem, e, i, 1);
    return i < 0 ? outside_value(m, e->u.buf) : mem_get(m, mem, i);
}

static Value1 eval_addr(Sim *m, const Expr *e)
{
    int64_t at[RANK_MOST];
    index_values(m, e->u.buf, e->kid, e->nkid, at);
    const SimMem *mem = sim_mem(m, e->u.buf);
    int64_t offset = 0;
    if (m->flat && e->nkid <= 1)
        offset = e->nkid ? at[0] : 0;
    else
        for (int d = 0; d < e->nkid; d++)
            offset += at[d] * mem->stride[d];
    return (Value1){.i = (int64_t)(intptr_t)(mem->data + dtype_bytes(mem->type, offset))};
}

static Value1 eval_math(Sim *m, const Expr *e)
{
    Value1 x[4];
    DType t[4];
    BUG(e->nkid > 4, "math function with %d arguments", e->nkid);
    for (int i = 0; i < e->nkid; i++) {
        t[i] = e->kid[i]->type;
        x[i] = eval(m, e->kid[i]);
    }
    return value_math(e->u.fn, e->type, t, x);
}

static void bitcast(const Expr *e, const Value1 *from, Value1 *to)
{
    const Expr *a = e->kid[0];
    char bytes[LANES_MOST * 8] = {0};
    for (int i = 0; i < a->lanes; i++)
        num_store(a->type == DT_HANDLE ? DT_U64 : a->type, bytes, i, from[i].f, from[i].i);
    for (int i = 0; i < e->lanes; i++)
        num_load(e->type == DT_HANDLE ? DT_U64 : e->type, bytes, i, &to[i].f, &to[i].i);
}

static Value1 eval_bitcast(Sim *m, const Expr *e)
{
    Value1 from[LANES_MOST], to[LANES_MOST] = {{0}};
    if (e->kid[0]->lanes == 1)
        from[0] = eval(m, e->kid[0]);
    else
        eval_lanes(m, e->kid[0], from);
    bitcast(e, from, to);
    return to[0];
}

static Value1 eval_lane(Sim *m, const Expr *e)
{
    Value1 v[LANES_MOST];
    int64_t i = eval(m, e->kid[1]).i;
    eval_lanes(m, e->kid[0], v);
    if (i < 0 || i >= e->kid[0]->lanes)
        sim_fail(m, m->at, "lane %lld of a vector of %d [out-of-bounds]", (long long)i,
                 e->kid[0]->lanes);
    return v[i];
}

static Value1 unary(const Expr *e, Value1 a)
{
    DType from = e->kid[0]->type;
    switch ((ExprOp)e->op) {
    case EX_NEG:
        if (dtype_is_float(from))
            return (Value1){.f = -a.f};
        return (Value1){.i = num_wrap(from, (int64_t)(0 - (uint64_t)a.i))};
    case EX_NOT: return (Value1){.i = dtype_is_float(from) ? a.f == 0 : a.i == 0};
    case EX_BITNOT: return (Value1){.i = from == DT_BOOL ? !a.i : num_wrap(from, ~a.i)};
    case EX_CAST: return value_cast(from, e->type, a);
    default: unreachable();
    }
}

static bool truth(const Expr *e, Value1 v)
{
    return dtype_is_float(e->type) ? v.f != 0 : v.i != 0;
}

/* The arm of a selection that is not taken: it is evaluated, so it may not read out of bounds, but
 * what it reads need not have been written. */
static void eval_unused(Sim *m, const Expr *e)
{
    bool checks = m->o.check_uninit;

    m->o.check_uninit = false;
    eval(m, e);
    m->o.check_uninit = checks;
}

static Value1 eval_binary(Sim *m, const Expr *e)
{
    Value1 a = eval(m, e->kid[0]);
    return value_binary(e->op, e->kid[0]->type, a, eval(m, e->kid[1]));
}

/* The value of a float. */
static inline double float_of(Sim *m, const Expr *e)
{
    return e->op == EX_LOAD  ? eval_load(m, e).f
           : e->op == EX_VAR ? m->value[e->u.var->id].f
                             : eval_node(m, e).f;
}

Value1 eval(Sim *m, const Expr *e)
{
    if (e->op == EX_VAR)
        return m->value[e->u.var->id];
    return e->type == DT_I32 && is_binary(e) ? (Value1){.i = eval_i32(m, e)} : eval_node(m, e);
}

/* A scalar; what eval_i32 does of int32 is not asked here. */
static Value1 eval_node(Sim *m, const Expr *e)
{
    switch ((ExprOp)e->op) {
    case EX_INT: return (Value1){.i = e->u.i, .f = dtype_is_float(e->type) ? (double)e->u.i : 0};
    case EX_FLOAT: return (Value1){.f = e->u.f};
    case EX_VAR: return m->value[e->u.var->id];
    case EX_LOAD: return eval_load(m, e);
    case EX_ADD:
    case EX_SUB:
    case EX_MUL:
        if (e->type == DT_F32 && e->lanes == 1) {
            double a = float_of(m, e->kid[0]), b = float_of(m, e->kid[1]);
            return (Value1){.f = (float)(e->op == EX_ADD   ? a + b
                                         : e->op == EX_SUB ? a - b
                                                           : a * b)};
        }
        return eval_binary(m, e);
    case EX_EQ:
    case EX_NE:
    case EX_LT:
    case EX_LE:
    case EX_GT:
    case EX_GE:
        if (e->kid[0]->type == DT_I32) {
            int64_t a = int_of(m, e->kid[0]);
            return (Value1){.i = compare_i32(e->op, a, int_of(m, e->kid[1]))};
        }
        return eval_binary(m, e);
    case EX_DIV:
    case EX_FLOORDIV:
    case EX_FLOORMOD:
    case EX_TRUNCDIV:
    case EX_TRUNCMOD:
    case EX_MIN:
    case EX_MAX:
    case EX_BITAND:
    case EX_BITOR:
    case EX_BITXOR:
    case EX_SHL:
    case EX_SHR: return eval_binary(m, e);
    case EX_NEG:
    case EX_NOT:
    case EX_BITNOT:
    case EX_CAST: return unary(e, eval(m, e->kid[0]));
    case EX_AND:
        return (Value1){.i = truth(e->kid[0], eval(m, e->kid[0])) &&
                             truth(e->kid[1], eval(m, e->kid[1]))};
    case EX_OR:
        return (Value1){.i = truth(e->kid[0], eval(m, e->kid[0])) ||
                             truth(e->kid[1], eval(m, e->kid[1]))};
    case EX_SELECT: {
        int taken = truth(e->kid[0], eval(m, e->kid[0])) ? 1 : 2;
        eval_unused(m, e->kid[3 - taken]);
        return eval(m, e->kid[taken]);
    }
    case EX_IF: return eval(m, e->kid[truth(e->kid[0], eval(m, e->kid[0])) ? 1 : 2]);
    case EX_BITCAST: return eval_bitcast(m, e);
    case EX_MATH: return eval_math(m, e);
    case EX_ADDR: return eval_addr(m, e);
    case EX_LANE: return eval_lane(m, e);
    case EX_EXTERN:
        sim_fail(m, m->at, "the simulator cannot call the C function '%s' [sim-extern]", e->u.text);
    case EX_STR: return (Value1){.i = (int64_t)(intptr_t)e->u.text};
    default: BUG(true, "vector operator %s where a scalar is wanted", expr_table[e->op].text);
    }
    return (Value1){0};
}

/* ---- vectors --------------------------------------------------------------------------------- */

/* Kid i as lanes: a scalar stands for all of them. */
static void kid_lanes(Sim *m, const Expr *e, int i, int lanes, Value1 *out)
{
    const Expr *a = e->kid[i];
    if (a->lanes > 1) {
        eval_lanes(m, a, out);
        return;
    }
    out[0] = eval(m, a);
    for (int l = 1; l < lanes; l++)
        out[l] = out[0];
}

/* A guard comes first, as in a scalar load: the index may itself read what is not there.  Without
 * any lane nothing else is worked out. */
static void load_lanes(Sim *m, const Expr *e, Value1 *out)
{
    int n = expr_nindex(e);
    Value1 index[RANK_MOST][LANES_MOST], guard[LANES_MOST];
    const SimMem *mem = sim_mem(m, e->u.buf);
    bool any = !e->guarded;
    if (e->guarded) {
        kid_lanes(m, e, n, e->lanes, guard);
        kid_lanes(m, e, n + 1, e->lanes, out);
    }
    for (int l = 0; e->guarded && l < e->lanes; l++)
        any |= guard[l].i != 0;
    for (int d = 0; any && d < n; d++)
        kid_lanes(m, e, d, e->lanes, index[d]);
    if (m->o.stats)
        stats_access(m, mem, e, e->guarded && guard[0].i == 0 ? -1 : index[0][0].i, e->lanes);
    for (int l = 0; l < e->lanes; l++) {
        int64_t at[RANK_MOST];
        if (e->guarded && guard[l].i == 0)
            continue;
        for (int d = 0; d < n; d++)
            at[d] = index[d][l].i;
        int64_t i = mem_offset(m, mem, at, n);
        out[l] = i < 0 ? outside_value(m, e->u.buf) : mem_get(m, mem, i);
    }
}

static void ramp_lanes(Sim *m, const Expr *e, Value1 *out)
{
    int64_t base = eval(m, e->kid[0]).i, stride = eval(m, e->kid[1]).i;
    for (int l = 0; l < e->lanes; l++)
        out[l] = (Value1){.i = num_wrap(e->type, base + l * stride)};
}

static void binary_lanes(Sim *m, const Expr *e, Value1 *out)
{
    Value1 b[LANES_MOST];
    kid_lanes(m, e, 0, e->lanes, out);
    kid_lanes(m, e, 1, e->lanes, b);
    for (int l = 0; l < e->lanes; l++)
        out[l] = value_binary(e->op, e->kid[0]->type, out[l], b[l]);
}

static void math_lanes(Sim *m, const Expr *e, Value1 *out)
{
    Value1 x[3][LANES_MOST];
    DType t[3];
    for (int i = 0; i < e->nkid && i < 3; i++) {
        t[i] = e->kid[i]->type;
        kid_lanes(m, e, i, e->lanes, x[i]);
    }
    for (int l = 0; l < e->lanes; l++) {
        Value1 arg[3] = {x[0][l], e->nkid > 1 ? x[1][l] : x[0][l], e->nkid > 2 ? x[2][l] : x[0][l]};
        out[l] = value_math(e->u.fn, e->type, t, arg);
    }
}

static void choose_lanes(Sim *m, const Expr *e, Value1 *out)
{
    Value1 c[LANES_MOST], b[LANES_MOST];
    kid_lanes(m, e, 0, e->lanes, c);
    kid_lanes(m, e, 1, e->lanes, out);
    kid_lanes(m, e, 2, e->lanes, b);
    for (int l = 0; l < e->lanes; l++)
        if (!truth(e->kid[0], c[l]))
            out[l] = b[l];
}

void eval_lanes(Sim *m, const Expr *e, Value1 *out)
{
    BUG(e->lanes > LANES_MOST, "vector of %d lanes", e->lanes);
    if (e->lanes == 1) {
        out[0] = eval(m, e);
        return;
    }
    switch ((ExprOp)e->op) {
    case EX_RAMP: ramp_lanes(m, e, out); break;
    case EX_BROADCAST: kid_lanes(m, e, 0, e->lanes, out); break;
    case EX_VECTOR:
        for (int l = 0; l < e->lanes; l++)
            out[l] = eval(m, e->kid[l]);
        break;
    case EX_LOAD: load_lanes(m, e, out); break;
    case EX_MATH: math_lanes(m, e, out); break;
    case EX_SELECT:
    case EX_IF: choose_lanes(m, e, out); break;
    case EX_NEG:
    case EX_NOT:
    case EX_BITNOT:
    case EX_CAST:
        kid_lanes(m, e, 0, e->lanes, out);
        for (int l = 0; l < e->lanes; l++)
            out[l] = unary(e, out[l]);
        break;
    case EX_BITCAST: {
        Value1 from[LANES_MOST];
        eval_lanes(m, e->kid[0], from);
        bitcast(e, from, out);
        break;
    }
    case EX_INT:
    case EX_FLOAT:
        for (int l = 0; l < e->lanes; l++)
            out[l] =
                (Value1){.i = e->op == EX_INT ? e->u.i : 0, .f = e->op == EX_FLOAT ? e->u.f : 0};
        break;
    default: binary_lanes(m, e, out);
    }
}

/* ---- what operators see ---------------------------------------------------------------------- */

Value1 sim_value(Sim *m, const Expr *e)
{
    return eval(m, e);
}

int64_t sim_int(Sim *m, const Expr *e)
{
    Value1 v = eval(m, e);
    return dtype_is_float(e->type) ? (int64_t)v.f : v.i;
}

bool sim_is_true(Sim *m, const Expr *e)
{
    return truth(e, eval(m, e));
}
