/* builtin_policy.c -- T.GemmWarpPolicy: how warps share a GEMM, asked by kernels that share it by
 * hand. */
#include "front/builtin.h"
#include <math.h>

enum { SQUARE, FULL_ROW, FULL_COL };

static Value policy(int64_t i)
{
    Value v = value_int(i);

    v.is_policy = true;
    return v;
}

static const char *const members[] = {"Square", "FullRow", "FullCol"};

/* T.GemmWarpPolicy.Square; V_UNBOUND: it has no such member. */
Value policy_member(const char *name)
{
    for (int i = 0; i < COUNT(members); i++)
        if (!strcmp(members[i], name))
            return policy(i);
    return (Value){.kind = V_UNBOUND};
}

/* Of a member. */
Value policy_attr(Eval *ev, const Value *v, const char *name)
{
    const char *row = arena_printf(ev->arena, "GemmWarpPolicy.%s", name);

    if (!strcmp(name, "value"))
        return value_int(v->u.i);
    if (!strcmp(name, "name"))
        return value_str(ev, members[v->u.i], strlen(members[v->u.i]));
    return builtin_find(row) ? method_of(ev, v, row) : policy_member(name);
}

static int64_t arg_policy(BuiltinCall *c, int i)
{
    int64_t p = arg_int(c, i);

    if (p < SQUARE || p > FULL_COL)
        arg_fail(c, i, "must be a GemmWarpPolicy, not %lld [argument-type]", (long long)p);
    return p;
}

Value do_policy(BuiltinCall *c)
{
    return policy(arg_policy(c, 0));
}

/* is_square, is_full_row, is_full_col */
Value do_policy_is(BuiltinCall *c)
{
    static const char *const asked[] = {"square", "full_row", "full_col"};

    return value_bool(strstr(c->b->name, asked[arg_policy(c, 0)]) != NULL);
}

/* How far the parts of warps are from the shape of the tile, where a warp has rows of 16 and
 * columns of 8; smaller is better. */
static double off_shape(int64_t M, int64_t N, int64_t rows, int64_t cols)
{
    double own = (double)(M * cols * 8) / (double)(N * rows * 16);

    return fabs(own - (double)M / (double)N);
}

/* (self, M, N, number of warps): warps along rows and along columns. */
Value do_policy_partition(BuiltinCall *c)
{
    int64_t p = arg_policy(c, 0), M = arg_int(c, 1), N = arg_int(c, 2), n = arg_int(c, 3);
    int64_t down = M / 16, across = N / 8, rows = 1, cols = 1;

    for (int i = 1; i <= 3; i++) {
        int64_t given = arg_int(c, i);
        if (given < 1)
            arg_fail(c, i, "must be at least 1, not %lld [argument-type]", (long long)given);
    }
    if (p == FULL_ROW) {
        rows = M % (n * 16) == 0 ? n : MAX(down, 1);
        cols = MAX(n / rows, 1);
    } else if (p == FULL_COL) {
        cols = N % (n * 8) == 0 ? n : MAX(across, 1);
        rows = MAX(n / cols, 1);
    } else {
        double best = INFINITY;
        for (int64_t m = 1; m <= MIN(down, n); m++)
            if (n % m == 0 && n / m <= across && off_shape(M, N, m, n / m) < best) {
                best = off_shape(M, N, m, n / m);
                rows = m;
                cols = n / m;
            }
    }
    Value pair[2] = {value_int(rows), value_int(cols)};
    return value_tuple(c->ev, pair, 2);
}

Value do_policy_of(BuiltinCall *c)
{
    int64_t rows = arg_int(c, 0), cols = arg_int(c, 1);

    return policy(rows > 1 && cols == 1 ? FULL_ROW : cols > 1 && rows == 1 ? FULL_COL : SQUARE);
}
