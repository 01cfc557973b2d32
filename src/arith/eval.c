/* eval.c -- expressions as numbers: by the tree for one point, by a short program for many.
 *
 * Values are mathematical integers in int64 (they wrap at 64 bits).  A program has one register
 * per distinct subtree: arguments first, then constants, then results in order. */
#include "arith/arith.h"

static int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* What index expressions are made of, at once; num_binary says the same of all others. */
static inline int64_t apply(ExprOp op, int64_t a, int64_t b, int64_t c)
{
    switch (op) {
    case EX_ADD: return wrap_add(a, b);
    case EX_SUB: return (int64_t)((uint64_t)a - (uint64_t)b);
    case EX_MUL: return wrap_mul(a, b);
    case EX_FLOORDIV: return b == 0 ? 0 : floor_div(a, b);
    case EX_FLOORMOD: return b == 0 ? 0 : floor_mod(a, b);
    case EX_MIN: return MIN(a, b);
    case EX_MAX: return MAX(a, b);
    case EX_EQ: return a == b;
    case EX_LT: return a < b;
    case EX_GE: return a >= b;
    case EX_AND: return a && b;
    case EX_BITXOR: return a ^ b;
    case EX_NEG: return (int64_t)(0 - (uint64_t)a);
    case EX_NOT: return !a;
    case EX_BITNOT: return ~a;
    case EX_SELECT:
    case EX_IF: return a ? b : c;
    case EX_CAST: return a;
    default: return num_binary(op, DT_I64, a, b);
    }
}

static bool is_known(const Expr *e)
{
    return e->nkid <= 3 && e->lanes == 1 && e->op >= EX_ADD && e->op <= EX_CAST && e->op != EX_DIV;
}

int64_t expr_eval(const Expr *e, const int64_t *values)
{
    int64_t k[3] = {0};
    if (e->op == EX_INT)
        return e->u.i;
    if (e->op == EX_VAR)
        return values[e->u.var->id];
    BUG(!is_known(e), "expr_eval of '%s'", expr_table[e->op].text);
    for (int i = 0; i < e->nkid; i++)
        k[i] = expr_eval(e->kid[i], values);
    int64_t r = apply((ExprOp)e->op, k[0], k[1], k[2]);
    return e->op == EX_CAST && dtype_is_int((DType)e->type) ? num_wrap((DType)e->type, r) : r;
}

/* ---- programs -------------------------------------------------------------------------------- */

enum { DIV_SHIFT = EX_COUNT, MOD_MASK, WRAP, REGS_FEW = 96 };

typedef struct {
    uint16_t op;
    uint16_t a, b, c; /* registers */
    int64_t number;   /* of DIV_SHIFT and MOD_MASK; the type of WRAP */
} Step;

struct ExprCode {
    int narg, nconst, nstep, nresult;
    const int64_t *constant;
    const Step *step;
    const uint16_t *result;
};

typedef struct {
    Ir *ir;
    Map where; /* Expr -> register + 1 */
    VEC(int64_t) constants;
    VEC(Step) steps;
    int narg;
} Maker;

static void collect_constants(Maker *m, const Expr *e)
{
    if (e->op == EX_INT && !map_has(&m->where, e)) {
        vec_push(m->ir->arena, &m->constants, e->u.i);
        map_set(&m->where, e, (void *)(intptr_t)(m->narg + m->constants.n));
    }
    for (int i = 0; i < e->nkid; i++)
        collect_constants(m, e->kid[i]);
}

static int emit(Maker *m, const Expr *e)
{
    int64_t c;
    intptr_t known = (intptr_t)map_get(&m->where, e);
    if (known)
        return (int)known - 1;
    BUG(!is_known(e), "expr_compile of '%s'", expr_table[e->op].text);
    Step s = {.op = e->op};
    s.a = (uint16_t)emit(m, e->kid[0]);
    if (e->nkid > 1)
        s.b = (uint16_t)emit(m, e->kid[1]);
    if (e->nkid > 2)
        s.c = (uint16_t)emit(m, e->kid[2]);
    bool power = e->nkid == 2 && expr_is_int(e->kid[1], &c) && c > 0 && (c & (c - 1)) == 0;
    if (power && e->op == EX_FLOORDIV) {
        s.op = DIV_SHIFT;
        s.number = __builtin_ctzll((unsigned long long)c);
    } else if (power && e->op == EX_FLOORMOD) {
        s.op = MOD_MASK;
        s.number = c - 1;
    } else if (e->op == EX_CAST && dtype_is_int((DType)e->type)) {
        s.op = WRAP;
        s.number = e->type;
    }
    vec_push(m->ir->arena, &m->steps, s);
    int reg = m->narg + m->constants.n + m->steps.n - 1;
    BUG(reg > UINT16_MAX - 1, "an index expression with %d parts", reg);
    map_set(&m->where, e, (void *)(intptr_t)(reg + 1));
    return reg;
}

const ExprCode *expr_compile(Ir *ir, Var *const *vars, int nvar, const Expr *const *e, int n)
{
    Maker m = {.ir = ir, .narg = nvar};
    map_init(&m.where, ir->arena);
    for (int i = 0; i < nvar; i++)
        map_set(&m.where, expr_var(ir, vars[i]), (void *)(intptr_t)(i + 1));
    for (int i = 0; i < n; i++)
        collect_constants(&m, e[i]);
    uint16_t *result = NEWN(ir->arena, uint16_t, n);
    for (int i = 0; i < n; i++)
        result[i] = (uint16_t)emit(&m, e[i]);
    ExprCode *c = NEW(ir->arena, ExprCode);
    *c = (ExprCode){nvar, m.constants.n, m.steps.n, n, m.constants.at, m.steps.at, result};
    return c;
}

static void run(const ExprCode *c, int64_t *r, int64_t *result)
{
    int64_t *out = r + c->narg + c->nconst;
    for (int i = 0; i < c->nstep; i++) {
        const Step *s = &c->step[i];
        switch (s->op) {
        case DIV_SHIFT:
            out[i] = r[s->a] >> s->number;
            break;
        case MOD_MASK:
            out[i] = r[s->a] & s->number;
            break;
        case EX_ADD:
            out[i] = wrap_add(r[s->a], r[s->b]);
            break;
        case EX_MUL:
            out[i] = wrap_mul(r[s->a], r[s->b]);
            break;
        case EX_BITXOR:
            out[i] = r[s->a] ^ r[s->b];
            break;
        case WRAP:
            out[i] = num_wrap((DType)s->number, r[s->a]);
            break;
        default:
            out[i] = apply((ExprOp)s->op, r[s->a], r[s->b], r[s->c]);
            break;
        }
    }
    for (int i = 0; i < c->nresult; i++)
        result[i] = r[c->result[i]];
}

/* The same for EXPR_LANES points side by side: one decision per step for all of them. */
#define EACH_LANE(value)                                                                           \
    for (int l = 0; l < EXPR_LANES; l++)                                                           \
        out[l] = (value)
#define LANES_OF(op)                                                                               \
    case op: EACH_LANE(apply(op, a[l], b[l], c[l])); break

static void run_step(const Step *s, int64_t (*r)[EXPR_LANES], int64_t *out)
{
    const int64_t *a = r[s->a], *b = r[s->b], *c = r[s->c];
    int64_t n = s->number;

    switch (s->op) {
    case DIV_SHIFT: EACH_LANE(a[l] >> n); break;
    case MOD_MASK: EACH_LANE(a[l] & n); break;
    LANES_OF(EX_ADD);
    LANES_OF(EX_SUB);
    LANES_OF(EX_MUL);
    LANES_OF(EX_BITXOR);
    LANES_OF(EX_EQ);
    LANES_OF(EX_LT);
    LANES_OF(EX_GE);
    LANES_OF(EX_AND);
    case WRAP: EACH_LANE(num_wrap((DType)n, a[l])); break;
    default: EACH_LANE(apply((ExprOp)s->op, a[l], b[l], c[l])); break;
    }
}

void expr_run_lanes(const ExprCode *c, int64_t (*arg)[EXPR_LANES], int64_t (*result)[EXPR_LANES])
{
    int nreg = c->narg + c->nconst + c->nstep;
    int64_t few[REGS_FEW][EXPR_LANES], many[nreg > REGS_FEW ? nreg : 1][EXPR_LANES];
    int64_t(*r)[EXPR_LANES] = nreg > REGS_FEW ? many : few;

    memcpy(r, arg, sizeof *r * (size_t)c->narg);
    for (int i = 0; i < c->nconst; i++)
        for (int l = 0; l < EXPR_LANES; l++)
            r[c->narg + i][l] = c->constant[i];
    for (int i = 0; i < c->nstep; i++)
        run_step(&c->step[i], r, r[c->narg + c->nconst + i]);
    for (int i = 0; i < c->nresult; i++)
        memcpy(result[i], r[c->result[i]], sizeof *r);
}

void expr_run(const ExprCode *c, const int64_t *arg, int64_t *result)
{
    int64_t few[REGS_FEW], many[c->narg + c->nconst + c->nstep > REGS_FEW
                                    ? c->narg + c->nconst + c->nstep : 1];
    int64_t *r = c->narg + c->nconst + c->nstep > REGS_FEW ? many : few;
    for (int i = 0; i < c->narg; i++)
        r[i] = arg[i];
    for (int i = 0; i < c->nconst; i++)
        r[c->narg + i] = c->constant[i];
    run(c, r, result);
}
