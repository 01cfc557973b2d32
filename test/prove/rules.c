/* rules.c -- every rule of arith/rules.c holds: for all small numbers, and for all by z3. */
#include "arith/z3.h"
#include "unit/expr_text.h"
#include "test.h"

enum { NWILD = 7, LIMIT = 9 };

typedef struct {
    Words w;
    Var *wild[NWILD];
    const Expr *from, *to, *when;
    bool used[NWILD];
} Trial;

static bool has_var(const Expr *e, const Var *v)
{
    return e && expr_uses_var(e, v);
}

static Trial trial_of(const Rule *r)
{
    static const char *const name[NWILD] = {"x", "y", "z", "c", "d", "p", "q"};
    Trial t = {.w = words_new()};
    for (int i = 0; i < NWILD; i++)
        t.wild[i] = var_new(t.w.ir, name[i], i < 5 ? DT_I32 : DT_BOOL, NO_SPAN);
    t.from = expr_parse(t.w.ir, r->from, NULL, t.wild, NWILD);
    t.to = expr_parse(t.w.ir, r->to, NULL, t.wild, NWILD);
    t.when = r->when ? expr_parse(t.w.ir, r->when, NULL, t.wild, NWILD) : NULL;
    CHECK(t.from && t.to && (!r->when || t.when));
    for (int i = 0; i < NWILD; i++)
        t.used[i] =
            has_var(t.from, t.wild[i]) || has_var(t.to, t.wild[i]) || has_var(t.when, t.wild[i]);
    return t;
}

static void try_all(const Trial *t, const Rule *r, int i, int64_t *value)
{
    if (i == NWILD) {
        if (t->when && !expr_eval(t->when, value))
            return;
        if (expr_eval(t->from, value) != expr_eval(t->to, value)) {
            printf("%s -> %s fails at", r->from, r->to);
            for (int v = 0; v < NWILD; v++)
                printf(" %s=%lld", t->wild[v]->name, (long long)value[t->wild[v]->id]);
            printf("\n");
            CHECK(false);
        }
        return;
    }
    int low = !t->used[i] ? 0 : i < 5 ? -LIMIT : 0, high = !t->used[i] ? 0 : i < 5 ? LIMIT : 1;
    for (int v = low; v <= high; v++) {
        value[t->wild[i]->id] = v;
        try_all(t, r, i + 1, value);
    }
}

TEST(every_rule_holds_for_small_numbers)
{
    for (int i = 0; i < rule_count; i++) {
        int64_t value[64] = {0};
        Trial t = trial_of(&rule_table[i]);
        try_all(&t, &rule_table[i], 0, value);
    }
}

TEST(a_wrong_rule_would_be_found)
{
    int64_t value[64] = {0};
    Rule wrong = {"x // c // d", "x // (c * d)", "c != 0 and d != 0"};
    Trial t = trial_of(&wrong);
    value[t.wild[0]->id] = 0;
    bool found = false;
    for (int x = -LIMIT; x <= LIMIT; x++) {
        for (int c = -LIMIT; c <= LIMIT; c++) {
            for (int d = -LIMIT; d <= LIMIT; d++) {
                value[t.wild[0]->id] = x;
                value[t.wild[3]->id] = c;
                value[t.wild[4]->id] = d;
                if (c && d && expr_eval(t.from, value) != expr_eval(t.to, value))
                    found = true;
            }
        }
    }
    CHECK(found);
}

TEST(no_rule_grows)
{
    for (int i = 0; i < rule_count; i++) {
        Trial t = trial_of(&rule_table[i]);
        CHECK(t.to->size <= t.from->size);
    }
}

static bool has_bits(const Expr *e)
{
    if (e->op >= EX_BITAND && e->op <= EX_SHR)
        return true;
    for (int i = 0; i < e->nkid; i++) {
        if (has_bits(e->kid[i]))
            return true;
    }
    return false;
}

TEST(every_rule_holds_by_z3)
{
    if (!z3_present())
        test_skip("libz3 is not here");
    for (int i = 0; i < rule_count; i++) {
        Trial t = trial_of(&rule_table[i]);
        if (has_bits(t.from) || has_bits(t.to))
            continue; /* over integers, not bit vectors: small numbers cover those */
        const Expr *same = expr_binary(t.w.ir, EX_EQ, t.from, t.to);
        if (t.when)
            same = expr_binary(t.w.ir, EX_OR, expr_unary(t.w.ir, EX_NOT, t.when), same);
        bool holds = z3_prove(NULL, same) == PROOF_YES;
        if (!holds)
            printf("%s -> %s\n", rule_table[i].from, rule_table[i].to);
        CHECK(holds);
    }
}
