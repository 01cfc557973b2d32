/* layout_laws.c -- the laws of layouts and fragments on random ones, fixed seed. */
#include "unit/expr_text.h"
#include "layout/layout.h"
#include "test.h"

enum { ROUNDS = 300 };

static uint64_t seed;

static int below(int n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int)((seed >> 33) % (uint64_t)n);
}

static const int64_t factors[] = {1, 2, 2, 3, 4, 4, 5, 8};

/* A random bijection: each axis cut into digits, all digits shuffled over the outputs, and now
 * and then a pair of equal powers of two xored. */
static const Layout *random_bijection(Ir *ir)
{
    int rank = 1 + below(3), ndigit = 0, nout = 1 + below(3);
    int64_t extent[3], size[12];
    const Expr *digit[12], *out[3];
    for (int d = 0; d < rank; d++) {
        int n = 1 + below(3);
        int64_t below_it = 1, part[3];
        extent[d] = 1;
        for (int k = 0; k < n; k++)
            extent[d] *= part[k] = factors[below(COUNT(factors))];
        const Expr *x = expr_var(ir, layout_axis(ir, d));
        for (int k = 0; k < n; k++) {
            size[ndigit] = part[k];
            digit[ndigit++] = expr_floormod(ir, expr_floordiv(ir, x, expr_int(ir, below_it)),
                                            expr_int(ir, part[k]));
            below_it *= part[k];
        }
    }
    for (int a = 0; a + 1 < ndigit; a++) {
        if (size[a] == size[a + 1] && (size[a] & (size[a] - 1)) == 0 && below(3) == 0)
            digit[a] = expr_binary(ir, EX_BITXOR, digit[a], digit[a + 1]);
    }
    for (int i = ndigit - 1; i > 0; i--) {
        int j = below(i + 1);
        const Expr *e = digit[i];
        int64_t n = size[i];
        digit[i] = digit[j];
        size[i] = size[j];
        digit[j] = e;
        size[j] = n;
    }
    for (int d = 0; d < nout; d++)
        out[d] = expr_int(ir, 0);
    for (int i = 0; i < ndigit; i++) {
        int d = below(nout);
        out[d] = expr_add(ir, expr_mul(ir, out[d], expr_int(ir, size[i])), digit[i]);
    }
    return layout_new(ir, rank, extent, nout, out);
}

static void values(const Layout *l, const int64_t *at, int64_t *out)
{
    int64_t offset = layout_eval(l, at);
    for (int d = l->nout - 1; d >= 0; d--) {
        out[d] = offset % l->out_extent[d];
        offset /= l->out_extent[d];
    }
}

TEST(inverse_gives_the_point_back)
{
    seed = 88172645463325252u;
    for (int round = 0; round < ROUNDS; round++) {
        Words w = words_new();
        const Layout *f = random_bijection(w.ir);
        CHECK(layout_is_injective(w.ir, f));
        const Layout *g = layout_inverse(w.ir, f);
        if (!g) {
            Str s;
            str_init(&s, w.arena);
            layout_print(&s, f);
            printf("no inverse: %s\n", s.s);
        }
        CHECK(g != NULL);
        int64_t at[RANK_MOST] = {0}, y[RANK_MOST], back[RANK_MOST];
        do {
            values(f, at, y);
            values(g, y, back);
            for (int d = 0; d < f->rank; d++)
                CHECK_INT(f->extent[d] == 1 ? 0 : back[d], at[d]);
        } while (layout_next(f, at));
        arena_free(w.arena);
        names_free(w.names);
    }
}

TEST(offset_is_the_evaluated_expression)
{
    seed = 521288629;
    for (int round = 0; round < ROUNDS; round++) {
        Words w = words_new();
        const Layout *f = random_bijection(w.ir);
        const Expr *var[3];
        for (int d = 0; d < 3; d++)
            var[d] = expr_var(w.ir, w.v[d]);
        const Expr *e = layout_offset(w.ir, f, var);
        int64_t at[RANK_MOST] = {0}, value[64];
        do {
            for (int d = 0; d < f->rank; d++)
                value[w.v[d]->id] = at[d];
            CHECK_INT(expr_eval(e, value), layout_eval(f, at));
        } while (layout_next(f, at));
        arena_free(w.arena);
    }
}

TEST(text_is_the_layout)
{
    seed = 88675123;
    for (int round = 0; round < ROUNDS; round++) {
        Words w = words_new();
        const Layout *f = random_bijection(w.ir);
        Str a, b;
        str_init(&a, w.arena);
        str_init(&b, w.arena);
        layout_print(&a, f);
        const Layout *g = layout_read(w.ir, a.s, NULL);
        CHECK(g != NULL);
        layout_print(&b, g);
        CHECK_TEXT(b.s, a.s);
        CHECK(layout_is_equal(w.ir, f, g));
        arena_free(w.arena);
    }
}

TEST(fragments_hold_every_element_once_per_replica)
{
    seed = 5783321;
    for (int round = 0; round < ROUNDS; round++) {
        Words w = words_new();
        int rank = 1 + below(3);
        int64_t extent[3], nthread = 32 << below(5), width = 1 << below(4);
        for (int d = 0; d < rank; d++)
            extent[d] = 1 + below(24);
        const Layout *l = fragment_linear(w.ir, rank, extent, nthread, width);
        CHECK(layout_is_injective(w.ir, l));
        int dim = below(rank);
        const Layout *r = fragment_reduce(w.ir, l, dim);
        CHECK(layout_is_injective(w.ir, r));
        const Layout *c = fragment_condense(w.ir, r);
        CHECK(c->rep <= r->rep && fragment_is_equal(w.ir, c, r));
        const Layout *two = fragment_replicate(w.ir, l, 2);
        CHECK(layout_is_injective(w.ir, two) && !fragment_is_equal(w.ir, l, two));
        arena_free(w.arena);
        names_free(w.names);
    }
}

/* Every (thread, slot) that the guard lets by is where its element says; all elements come by. */
static void check_turn(Ir *ir, const Layout *l)
{
    const Expr *at[RANK_MOST + 1], *guard;
    int n = l->rank + (l->rep > 1);
    int64_t seen = 0;
    CHECK(fragment_inverse(ir, l, at, &guard));
    Var *vars[2] = {layout_axis(ir, 0), layout_axis(ir, 1)};
    at[n] = guard ? guard : expr_bool(ir, true);
    const ExprCode *code = expr_compile(ir, vars, 2, at, n + 1);
    for (int64_t t = 0; t < l->nthread; t++) {
        for (int64_t s = 0; s < fragment_slots(l); s++) {
            int64_t arg[2] = {t, s}, r[RANK_MOST + 2];
            expr_run(code, arg, r);
            if (!r[n])
                continue;
            seen++;
            for (int d = 0; d < l->rank; d++)
                CHECK(r[d] >= 0 && r[d] < l->extent[d]);
            CHECK_INT(fragment_eval_thread(l, r, l->rep > 1 ? r[l->rank] : 0), t);
            CHECK_INT(layout_eval(l, r), s);
        }
    }
    CHECK_INT(seen, layout_points(l) * l->rep);
}

TEST(fragments_turn_round)
{
    seed = 90210;
    for (int round = 0; round < ROUNDS; round++) {
        Words w = words_new();
        int rank = 1 + below(3);
        int64_t extent[3], nthread = 32 * (1 + below(8)), width = 1 << below(3);
        for (int d = 0; d < rank; d++)
            extent[d] = 1 + below(24);
        extent[rank - 1] *= width;
        check_turn(w.ir, fragment_linear(w.ir, rank, extent, nthread, width));
        const Layout *l = fragment_rows_best(w.ir, rank, extent, nthread, width, 32);
        CHECK(layout_is_injective(w.ir, l));
        check_turn(w.ir, l);
        if (rank > 1 && l->extent[rank - 1] >= 64)
            check_turn(w.ir, fragment_reduce(w.ir, l, rank - 1));
        arena_free(w.arena);
        names_free(w.names);
    }
}

/* Results of a 16 x 8 instruction over warps, of tiles that are not multiples of it, some read
 * backwards. */
static const Layout *instruction_tile(Ir *ir, int64_t m, int64_t n, int64_t part_m, int64_t part_n,
                                      int backwards)
{
    int64_t extent[2] = {m, n}, warps_n = (n + part_n - 1) / part_n;
    char *i = backwards & 1 ? arena_printf(ir->arena, "(%lld - i)", (long long)m - 1) : "i";
    char *j = backwards & 2 ? arena_printf(ir->arena, "(%lld - j)", (long long)n - 1) : "j";
    Var *vars[2] = {var_new(ir, "i", DT_I32, NO_SPAN), var_new(ir, "j", DT_I32, NO_SPAN)};
    const char *text[2] = {
        arena_printf(ir->arena, "(%s // %lld * %lld + %s // %lld) * 32 + %s %% 8 * 4 + %s // 2 %% 4",
                     i, (long long)part_m, (long long)warps_n, j, (long long)part_n, i, j),
        arena_printf(ir->arena,
                     "%s %% %lld // 16 * %lld + %s %% %lld // 8 * 4 + %s // 8 %% 2 * 2 + %s %% 2",
                     i, (long long)part_m, (long long)part_n / 2, j, (long long)part_n, i, j)};
    const Expr *e[2];

    for (int k = 0; k < 2; k++) {
        e[k] = expr_parse(ir, text[k], NULL, vars, 2);
        CHECK(e[k] != NULL);
        for (int d = 0; d < 2; d++)
            e[k] = expr_subst(ir, e[k], vars[d], expr_var(ir, layout_axis(ir, d)));
    }
    return fragment_new(ir, 2, extent, e[0], 1, 1, &e[1]);
}

TEST(tiles_of_instructions_turn_round)
{
    seed = 424242;
    for (int round = 0; round < ROUNDS; round++) {
        Words w = words_new();
        int64_t part_m = 16 << below(3), part_n = 8 << below(3);
        int64_t m = 1 + below((int)(part_m * (1 + below(3)))), n = 1 + below((int)part_n * 2);
        check_turn(w.ir, instruction_tile(w.ir, m, n, part_m, part_n, below(4)));
        arena_free(w.arena);
        names_free(w.names);
    }
}
