/* parse.c -- integer expressions in Python's spelling: rules and layouts are written so.
 *
 *     or  <  and  <  not  <  == != < <= > >=  <  |  <  ^  <  &  <  << >>  <  + -  <  * // %  <  - ~
 *     min(a, b)   max(a, b)   select(p, a, b)   True   False   names   integers */
#include <ctype.h>
#include <stdlib.h>
#include "arith/arith.h"

enum { NEST_MOST = 200 };

typedef struct {
    Ir *ir;
    const char *p;
    Var *const *vars;
    int nvar;
    int nest;
    bool bad;
} Parser;

typedef struct {
    const char *text;
    ExprOp op;
    int level;
} Operator;

/* Longer spellings before their beginnings. */
static const Operator operators[] = {
    {"or", EX_OR, 0},        {"and", EX_AND, 1},      {"==", EX_EQ, 2},  {"!=", EX_NE, 2},
    {"<<", EX_SHL, 6},       {">>", EX_SHR, 6},       {"<=", EX_LE, 2},  {">=", EX_GE, 2},
    {"<", EX_LT, 2},         {">", EX_GT, 2},         {"|", EX_BITOR, 3}, {"^", EX_BITXOR, 4},
    {"&", EX_BITAND, 5},     {"+", EX_ADD, 7},        {"-", EX_SUB, 7},  {"*", EX_MUL, 8},
    {"//", EX_FLOORDIV, 8},  {"%", EX_FLOORMOD, 8},
};
enum { LEVEL_NOT = 2, LEVEL_UNARY = 9 };

static const Expr *parse_level(Parser *p, int level);

static void skip_space(Parser *p)
{
    while (*p->p == ' ' || *p->p == '\t')
        p->p++;
}

static bool accept(Parser *p, const char *word)
{
    size_t n = strlen(word);
    skip_space(p);
    if (strncmp(p->p, word, n) != 0)
        return false;
    if (isalpha((unsigned char)word[0]) && (isalnum((unsigned char)p->p[n]) || p->p[n] == '_'))
        return false;
    p->p += n;
    return true;
}

static const Expr *fail(Parser *p)
{
    p->bad = true;
    return expr_int(p->ir, 0);
}

static const Expr *parse_call(Parser *p, int n, ExprOp op)
{
    const Expr *arg[3];
    if (!accept(p, "("))
        return fail(p);
    for (int i = 0; i < n; i++) {
        if (i > 0 && !accept(p, ","))
            return fail(p);
        arg[i] = parse_level(p, 0);
    }
    if (!accept(p, ")") || p->bad)
        return fail(p);
    return n == 3 ? expr_select(p->ir, arg[0], arg[1], arg[2])
                  : expr_binary(p->ir, op, arg[0], arg[1]);
}

static const Expr *parse_name(Parser *p)
{
    const char *start = p->p;
    while (isalnum((unsigned char)*p->p) || *p->p == '_')
        p->p++;
    size_t n = (size_t)(p->p - start);
    for (int i = 0; i < p->nvar; i++) {
        if (strlen(p->vars[i]->name) == n && strncmp(p->vars[i]->name, start, n) == 0)
            return expr_var(p->ir, p->vars[i]);
    }
    p->p = start;
    return fail(p);
}

static const Expr *parse_primary(Parser *p)
{
    skip_space(p);
    if (isdigit((unsigned char)*p->p)) {
        char *end;
        long long v = strtoll(p->p, &end, 10);
        p->p = end;
        return expr_int(p->ir, v);
    }
    if (accept(p, "(")) {
        const Expr *e = parse_level(p, 0);
        return accept(p, ")") ? e : fail(p);
    }
    if (accept(p, "min"))
        return parse_call(p, 2, EX_MIN);
    if (accept(p, "max"))
        return parse_call(p, 2, EX_MAX);
    if (accept(p, "select"))
        return parse_call(p, 3, EX_SELECT);
    if (accept(p, "True") || accept(p, "true"))
        return expr_bool(p->ir, true);
    if (accept(p, "False") || accept(p, "false"))
        return expr_bool(p->ir, false);
    return isalpha((unsigned char)*p->p) || *p->p == '_' ? parse_name(p) : fail(p);
}

static const Expr *parse_unary(Parser *p)
{
    if (accept(p, "-"))
        return expr_unary(p->ir, EX_NEG, parse_level(p, LEVEL_UNARY));
    if (accept(p, "~"))
        return expr_unary(p->ir, EX_BITNOT, parse_level(p, LEVEL_UNARY));
    return parse_primary(p);
}

static const Operator *accept_operator(Parser *p, int level)
{
    skip_space(p);
    for (int i = 0; i < COUNT(operators); i++) {
        const char *at = p->p;
        if (operators[i].level == level && accept(p, operators[i].text)) {
            bool cut = (level == 2 && p->p - at == 1 && *p->p == at[0]) ||
                       (at[0] == '*' && *p->p == '*');
            if (!cut)
                return &operators[i];
            p->p = at;
        }
    }
    return NULL;
}

static const Expr *parse_binary(Parser *p, int level)
{
    const Expr *a = parse_level(p, level + 1);
    const Operator *o;
    while (!p->bad && (o = accept_operator(p, level))) {
        const Expr *b = parse_level(p, level + 1);
        if (p->bad)
            break;
        a = expr_binary(p->ir, o->op, a, b);
    }
    return a;
}

static const Expr *parse_level(Parser *p, int level)
{
    const Expr *e;
    if (p->bad || ++p->nest > NEST_MOST * (LEVEL_UNARY + 1))
        return fail(p);
    if (level >= LEVEL_UNARY)
        e = parse_unary(p);
    else if (level == LEVEL_NOT && accept(p, "not"))
        e = expr_unary(p->ir, EX_NOT, parse_level(p, LEVEL_NOT));
    else
        e = parse_binary(p, level);
    p->nest--;
    return e;
}

const Expr *expr_parse(Ir *ir, const char *text, const char **end, Var *const *vars, int nvar)
{
    Parser p = {ir, text, vars, nvar, 0, false};
    const Expr *e = parse_level(&p, 0);
    skip_space(&p);
    if (end)
        *end = p.p;
    else if (*p.p)
        return NULL;
    return p.bad ? NULL : e;
}
