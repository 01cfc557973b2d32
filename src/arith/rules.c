/* rules.c -- rewriting rules as text, read once per Ir into patterns.
 *
 * What linear forms and division cannot say: min and max, conditions, selects, bits.  A rule must
 *   1. hold for all integers (x y z), booleans (p q) and constants (c d) that satisfy `when`,
 *   2. shrink the expression or keep its size and move it toward the normal form,
 *   3. make no sum or product that `from` did not have, so that it holds for data that wraps too.
 * test/prove/rules.c tries every one by small numbers and, where z3 is there, for all numbers. */
#include "arith/arith.h"

const Rule rule_table[] = {
    /* min and max */
    {"min(max(x, y), x)", "x", NULL},
    {"max(min(x, y), x)", "x", NULL},
    {"min(min(x, y), x)", "min(x, y)", NULL},
    {"max(max(x, y), x)", "max(x, y)", NULL},
    {"min(max(x, y), max(x, z))", "max(x, min(y, z))", NULL},
    {"max(min(x, y), min(x, z))", "min(x, max(y, z))", NULL},
    {"min(x, y) + max(x, y)", "x + y", NULL},
    {"max(min(x, c), d)", "d", "c <= d"},
    {"min(max(x, c), d)", "d", "c >= d"},
    {"min(x, y) <= x", "True", NULL},
    {"max(x, y) >= x", "True", NULL},
    {"x <= max(x, y)", "True", NULL},
    {"min(x, y) < x", "y < x", NULL},
    {"x < max(x, y)", "x < y", NULL},
    {"min(x, y) == x", "x <= y", NULL},
    {"max(x, y) == x", "y <= x", NULL},
    {"min(x, c) < d", "x < d", "c >= d"},
    {"min(x, c) < d", "True", "c < d"},
    {"max(x, c) < d", "x < d", "c < d"},
    {"max(x, c) < d", "False", "c >= d"},
    {"min(x, c) >= d", "x >= d", "c >= d"},
    {"min(x, c) >= d", "False", "c < d"},
    {"max(x, c) >= d", "x >= d", "c < d"},
    {"max(x, c) >= d", "True", "c >= d"},
    /* conditions */
    {"p and not p", "False", NULL},
    {"p or not p", "True", NULL},
    {"p and (p or q)", "p", NULL},
    {"p or (p and q)", "p", NULL},
    {"not p and (p or q)", "not p and q", NULL},
    {"(p and q) or (p and not q)", "p", NULL},
    {"x < y and y < x", "False", NULL},
    {"x < c and x < d", "x < c", "c <= d"},
    {"x < c and x < d", "x < d", "c > d"},
    {"x >= c and x >= d", "x >= c", "c >= d"},
    {"x >= c and x >= d", "x >= d", "c < d"},
    {"x < c and x >= d", "False", "c <= d"},
    {"x < c or x < d", "x < d", "c <= d"},
    {"x < c or x < d", "x < c", "c > d"},
    {"x >= c or x >= d", "x >= d", "c >= d"},
    {"x >= c or x >= d", "x >= c", "c < d"},
    {"x < c or x >= d", "True", "c >= d"},
    {"x == c and x == d", "False", "c != d"},
    {"x != c and x == d", "x == d", "c != d"},
    {"x == c and x < d", "x == c", "c < d"},
    {"x == c and x < d", "False", "c >= d"},
    {"x == c and x >= d", "x == c", "c >= d"},
    {"x == c and x >= d", "False", "c < d"},
    {"p == True", "p", NULL},
    {"p == False", "not p", NULL},
    {"p != True", "not p", NULL},
    {"p != False", "p", NULL},
    {"p == p", "True", NULL},
    {"p != p", "False", NULL},
    /* selects */
    {"select(not p, x, y)", "select(p, y, x)", NULL},
    {"select(p, True, q)", "p or q", NULL},
    {"select(p, q, False)", "p and q", NULL},
    {"select(p, False, True)", "not p", NULL},
    {"select(p, select(p, x, y), z)", "select(p, x, z)", NULL},
    {"select(p, x, select(p, y, z))", "select(p, x, z)", NULL},
    {"select(x < y, x, y)", "min(x, y)", NULL},
    {"select(x <= y, x, y)", "min(x, y)", NULL},
    {"select(x < y, y, x)", "max(x, y)", NULL},
    {"select(x <= y, y, x)", "max(x, y)", NULL},
    {"select(x == y, x, y)", "y", NULL},
    {"select(x == y, y, x)", "x", NULL},
    /* bits */
    {"x & x", "x", NULL},
    {"x | x", "x", NULL},
    {"x ^ x", "0", NULL},
    {"x & 0", "0", NULL},
    {"x | 0", "x", NULL},
    {"x ^ 0", "x", NULL},
    {"(x ^ y) ^ y", "x", NULL},
    {"x ^ (x ^ y)", "y", NULL},
    {"(x & y) & y", "x & y", NULL},
    {"(x | y) | y", "x | y", NULL},
    {"(x & y) | y", "y", NULL},
    {"(x | y) & y", "y", NULL},
    {"(x ^ c) ^ d", "x ^ (c ^ d)", NULL},
    {"(x & c) & d", "x & (c & d)", NULL},
    {"(x | c) | d", "x | (c | d)", NULL},
    {"~(~x)", "x", NULL},
    {"x ^ y == 0", "x == y", NULL},
    /* values that need no arithmetic, for types whose sums may wrap */
    {"x // 1", "x", NULL},
    {"x % 1", "0", NULL},
    {"x * 1", "x", NULL},
    {"x + 0", "x", NULL},
    {"x - 0", "x", NULL},
    {"x * 0", "0", NULL},
    {"x - x", "0", NULL},
    {"x << 0", "x", NULL},
    {"x >> 0", "x", NULL},
    {"x % c % c", "x % c", "c != 0"},
};
const int rule_count = COUNT(rule_table);

/* ---- patterns -------------------------------------------------------------------------------- */

enum { NWILD = 7, CONST_FROM = 3, BOOL_FROM = 5 };
static const char *const wild_name[NWILD] = {"x", "y", "z", "c", "d", "p", "q"};

typedef struct {
    Var *wild[NWILD];
    struct { const Expr *from, *to, *when; } rule[COUNT(rule_table)];
    uint8_t first[EX_COUNT], count[EX_COUNT]; /* rules by the operator of `from`: into order */
    uint8_t order[COUNT(rule_table)];
} Rules;

typedef struct {
    const Rules *rules;
    const Expr *bound[NWILD];
} Match;

static Rules *rules_read(Ir *ir)
{
    Rules *r = NEW(ir->arena, Rules);
    for (int i = 0; i < NWILD; i++)
        r->wild[i] = var_new(ir, wild_name[i], i >= BOOL_FROM ? DT_BOOL : DT_I32, NO_SPAN);
    for (int i = 0; i < rule_count; i++) {
        const Rule *t = &rule_table[i];
        r->rule[i].from = expr_parse(ir, t->from, NULL, r->wild, NWILD);
        r->rule[i].to = expr_parse(ir, t->to, NULL, r->wild, NWILD);
        r->rule[i].when = t->when ? expr_parse(ir, t->when, NULL, r->wild, NWILD) : NULL;
        BUG(!r->rule[i].from || !r->rule[i].to || (t->when && !r->rule[i].when),
            "rule '%s' cannot be read", t->from);
    }
    int n = 0;
    for (int op = 0; op < EX_COUNT; op++) {
        r->first[op] = (uint8_t)n;
        for (int i = 0; i < rule_count; i++) {
            if (r->rule[i].from->op == op)
                r->order[n++] = (uint8_t)i;
        }
        r->count[op] = (uint8_t)(n - r->first[op]);
    }
    return r;
}

static int wild_index(const Rules *r, const Expr *p)
{
    for (int i = 0; p->op == EX_VAR && i < NWILD; i++) {
        if (r->wild[i] == p->u.var)
            return i;
    }
    return -1;
}

static bool is_commutative(ExprOp op)
{
    switch (op) {
    case EX_ADD:
    case EX_MUL:
    case EX_MIN:
    case EX_MAX:
    case EX_EQ:
    case EX_NE:
    case EX_AND:
    case EX_OR:
    case EX_BITAND:
    case EX_BITOR:
    case EX_BITXOR:
        return true;
    default:
        return false;
    }
}

static bool bind(Match *m, int w, const Expr *e)
{
    if (m->bound[w])
        return m->bound[w] == e;
    if (w >= BOOL_FROM ? e->type != DT_BOOL : !dtype_is_int((DType)e->type))
        return false;
    if (w >= CONST_FROM && w < BOOL_FROM && e->op != EX_INT)
        return false;
    m->bound[w] = e;
    return true;
}

static bool match(Match *m, const Expr *p, const Expr *e)
{
    int w = wild_index(m->rules, p);
    if (w >= 0)
        return e->lanes == 1 && bind(m, w, e);
    if (p->op != e->op || p->nkid != e->nkid || e->lanes != 1 ||
        (p->type == DT_BOOL) != (e->type == DT_BOOL) || dtype_is_float((DType)e->type))
        return false;
    if (p->op == EX_INT)
        return p->u.i == e->u.i;
    Match before = *m;
    bool same = true;
    for (int i = 0; i < p->nkid && same; i++)
        same = match(m, p->kid[i], e->kid[i]);
    if (same || !is_commutative((ExprOp)p->op))
        return same;
    *m = before;
    return match(m, p->kid[0], e->kid[1]) && match(m, p->kid[1], e->kid[0]);
}

static const Expr *build(Ir *ir, const Match *m, const Expr *p, DType t)
{
    int w = wild_index(m->rules, p);
    const Expr *kid[3];
    if (w >= 0)
        return m->bound[w];
    if (p->op == EX_INT)
        return expr_const(ir, p->type == DT_BOOL ? DT_BOOL : t, p->u.i);
    for (int i = 0; i < p->nkid; i++)
        kid[i] = build(ir, m, p->kid[i], t);
    if (p->nkid == 3)
        return expr_select(ir, kid[0], kid[1], kid[2]);
    return p->nkid == 2 ? expr_binary(ir, (ExprOp)p->op, kid[0], kid[1])
                        : expr_unary(ir, (ExprOp)p->op, kid[0]);
}

/* The integer type the rule works in. */
static DType working_type(const Match *m)
{
    for (int i = 0; i < BOOL_FROM; i++) {
        if (m->bound[i])
            return (DType)m->bound[i]->type;
    }
    return DT_I32;
}

static bool applies(Ir *ir, const Match *m, const Expr *when, DType t)
{
    int64_t v;
    if (!when)
        return true;
    return expr_is_int(build(ir, m, when, t), &v) && v;
}

const Expr *rules_apply(Ir *ir, const Expr *e)
{
    if (e->nkid == 0 || e->nkid > 3 || e->lanes != 1)
        return e;
    if (!ir->rules)
        ir->rules = rules_read(ir);
    const Rules *r = ir->rules;
    for (int i = 0; i < r->count[e->op]; i++) {
        int n = r->order[r->first[e->op] + i];
        Match m = {.rules = r};
        if (!match(&m, r->rule[n].from, e))
            continue;
        DType t = working_type(&m);
        if (applies(ir, &m, r->rule[n].when, t))
            return build(ir, &m, r->rule[n].to, t);
    }
    return e;
}
