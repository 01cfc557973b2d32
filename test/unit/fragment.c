/* fragment.c -- tests of layouts over threads, at sizes that divide nothing. */
#include "unit/expr_text.h"
#include "layout/layout.h"
#include "test.h"

TEST(linear_is_the_rule_of_the_language)
{
    static const int64_t shape[][2] = {{64, 32}, {7, 13}, {1, 1}, {3, 100}, {128, 96}};
    static const int64_t threads[] = {1, 32, 48, 128, 512};
    for (int s = 0; s < COUNT(shape); s++) {
        for (int t = 0; t < COUNT(threads); t++) {
            for (int64_t v = 1; v <= 8; v *= 2) {
                Words w = words_new();
                int64_t n = threads[t], at[2] = {0};
                const Layout *l = fragment_linear(w.ir, 2, shape[s], n, v);
                do {
                    int64_t flat = at[0] * shape[s][1] + at[1];
                    CHECK_INT(fragment_eval_thread(l, at, 0), flat / v % n);
                    CHECK_INT(layout_eval(l, at), flat / v / n * v + flat % v);
                } while (layout_next(l, at));
                CHECK(layout_is_injective(w.ir, l));
                CHECK_INT(l->nthread, n);
                arena_free(w.arena);
            }
        }
    }
}

TEST(replicated)
{
    Words w = words_new();
    int64_t extent[1] = {5}, at[1] = {3};
    const Layout *l = fragment_replicated(w.ir, 1, extent, 96);
    for (int64_t r = 0; r < 96; r++)
        CHECK_INT(fragment_eval_thread(l, at, r), r);
    CHECK_INT(fragment_slots(l), 5);
    CHECK(!fragment_is_equal(w.ir, l, fragment_linear(w.ir, 1, extent, 96, 1)));
    CHECK(layout_is_injective(w.ir, l));
}

/* mma.m16n8k16's accumulator, repeated over warps and slots. */
TEST(repeat)
{
    Words w = words_new();
    int64_t extent[2] = {16, 8}, warps[2] = {2, 2}, times[2] = {2, 4};
    const Expr *thread = expr_parse(w.ir, "i % 8 * 4 + j // 2", NULL,
                                    (Var *[]){layout_axis(w.ir, 0), layout_axis(w.ir, 1)}, 2);
    const Expr *slot = expr_parse(w.ir, "i // 8 * 2 + j % 2", NULL,
                                  (Var *[]){layout_axis(w.ir, 0), layout_axis(w.ir, 1)}, 2);
    const Layout *base = fragment_new(w.ir, 2, extent, thread, 1, 1, &slot);
    CHECK_INT(base->nthread, 32);
    CHECK_INT(fragment_slots(base), 4);
    const Layout *block = fragment_repeat(w.ir, base, warps, true, true);
    CHECK_INT(block->nthread, 128);
    CHECK_INT(fragment_slots(block), 4);
    const Layout *all = fragment_repeat(w.ir, block, times, false, true);
    CHECK_INT(all->extent[0], 64);
    CHECK_INT(all->extent[1], 64);
    CHECK_INT(fragment_slots(all), 32);
    CHECK(layout_is_injective(w.ir, all));
    int64_t at[2] = {33, 17}, in[2] = {1, 1};
    CHECK_INT(fragment_eval_thread(all, at, 0), fragment_eval_thread(block, in, 0));
}

TEST(replicate_and_condense)
{
    Words w = words_new();
    int64_t extent[1] = {24}, at[1] = {0};
    const Layout *l = fragment_linear(w.ir, 1, extent, 8, 1);
    const Layout *r = fragment_replicate(w.ir, l, 4);
    CHECK_INT(r->rep, 4);
    CHECK_INT(r->nthread, 32);
    for (at[0] = 0; at[0] < 24; at[0]++) {
        for (int64_t k = 0; k < 4; k++)
            CHECK_INT(fragment_eval_thread(r, at, k), at[0] % 8 + 8 * k);
    }
    CHECK(fragment_condense(w.ir, r)->rep == 4);
    const Expr *rep = expr_var(w.ir, layout_rep(w.ir)), *zero = expr_int(w.ir, 0);
    const Expr *thread = expr_floordiv(w.ir, rep, expr_int(w.ir, 4)); /* each replica four times */
    const Layout *many = fragment_new(w.ir, 1, extent, thread, 12, 1, &zero);
    CHECK_INT(fragment_condense(w.ir, many)->rep, 3);
    thread = expr_floormod(w.ir, rep, expr_int(w.ir, 4));
    many = fragment_new(w.ir, 1, extent, thread, 12, 1, &zero);
    const Layout *few = fragment_condense(w.ir, many);
    CHECK_INT(few->rep, 4);
    CHECK(fragment_is_equal(w.ir, many, few));
}

/* Every thread that holds part of a row holds its result, at a slot no other row has. */
TEST(reduce_keeps_the_threads)
{
    static const int64_t shape[][2] = {{64, 64}, {7, 13}, {33, 100}, {1, 5}, {128, 1}};
    static const int64_t threads[] = {32, 128, 512};
    for (int s = 0; s < COUNT(shape); s++) {
        for (int t = 0; t < COUNT(threads); t++) {
            for (int dim = 0; dim < 2; dim++) {
                Words w = words_new();
                const Layout *l = fragment_linear(w.ir, 2, shape[s], threads[t], 2);
                const Layout *r = fragment_reduce(w.ir, l, dim);
                int64_t at[2] = {0};
                CHECK_INT(r->rank, 1);
                CHECK_INT(r->extent[0], shape[s][1 - dim]);
                CHECK(layout_is_injective(w.ir, r));
                bool *held = NEWN(w.arena, bool, r->extent[0] * r->nthread);
                do
                    held[at[1 - dim] * r->nthread + fragment_eval_thread(l, at, 0)] = true;
                while (layout_next(l, at));
                for (int64_t y = 0; y < r->extent[0]; y++) {
                    for (int64_t k = 0; k < r->rep; k++) {
                        int64_t th = fragment_eval_thread(r, &y, k);
                        CHECK(held[y * r->nthread + th]);
                        CHECK(th < r->nthread);
                    }
                    int64_t n = 0, distinct = 0;
                    for (int64_t th = 0; th < r->nthread; th++) {
                        n += held[y * r->nthread + th];
                        bool any = false;
                        for (int64_t k = 0; k < r->rep; k++)
                            any |= fragment_eval_thread(r, &y, k) == th;
                        distinct += any;
                    }
                    CHECK_INT(distinct, n);
                }
                arena_free(w.arena);
            }
        }
    }
}

TEST(reduced_slots_are_dense)
{
    Words w = words_new();
    int64_t extent[2] = {64, 128};
    const Layout *r = fragment_reduce(w.ir, fragment_linear(w.ir, 2, extent, 32, 4), 1);
    CHECK_INT(r->rep, 32);
    CHECK_INT(fragment_slots(r), 64);
    r = fragment_reduce(w.ir, fragment_linear(w.ir, 2, extent, 128, 4), 1);
    CHECK_INT(fragment_slots(r), 16);
}
