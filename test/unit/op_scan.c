/* op_scan.c -- T.cumsum and T.cummax against plain loops. */
#include "tile_kit.h"

#include <math.h>

typedef struct {
    const char *kind;
    DType in, out;
    int64_t m, n;
    int dim;
    bool reverse, in_place;
    double slack;
} Case;

static void scan_run(const Case *c, bool lowered)
{
    Kit *t = kit_new(1, 1);
    void *a = kit_data(t, c->in, c->m * c->n, 21), *b = kit_data(t, c->out, c->m * c->n, 22);
    int64_t shape[2] = {c->m, c->n};
    Buffer *A = kit_tensor(t, "A", c->in, 2, shape, a), *B = kit_tensor(t, "B", c->out, 2, shape, b);
    Buffer *As = kit_tile(t, "A_s", c->in, MEM_SHARED, 2, shape);
    Buffer *Bs = c->in_place ? As : kit_tile(t, "B_s", c->out, MEM_SHARED, 2, shape);
    kit_copy(t, kit_whole(t, A), kit_whole(t, As));
    Region r[2] = {kit_whole(t, As), kit_whole(t, Bs)};
    const Expr *arg[2] = {kit_int(t, c->dim), expr_bool(t->ir, c->reverse)};
    kit_add(t, kit_op(t, &op_scan, 2, r, 2, arg, c->kind));
    kit_copy(t, kit_whole(t, Bs), kit_whole(t, B));
    if (lowered)
        kit_lower(t);
    kit_must_run(t);

    int d = c->dim < 0 ? c->dim + 2 : c->dim;
    int64_t lines = d ? c->m : c->n, len = d ? c->n : c->m;
    for (int64_t l = 0; l < lines; l++) {
        double run = c->kind[0] == 's' ? 0 : -INFINITY;
        for (int64_t i = 0; i < len; i++) {
            int64_t x = c->reverse ? len - 1 - i : i, at = d ? l * c->n + x : x * c->n + l;
            double v = kit_get(c->in, a, at);
            run = c->kind[0] == 's' ? run + v : v > run ? v : run;
            CHECK_NEAR(kit_get(c->out, b, at), run, c->slack * (1 + fabs(run)));
        }
    }
}

static void scan_case(Case c)
{
    for (int dim = -1; dim < 2; dim++)
        for (int reverse = 0; reverse < 2; reverse++)
            for (int lowered = 0; lowered < 2; lowered++) {
                c.dim = dim;
                c.reverse = reverse;
                scan_run(&c, lowered);
            }
}

TEST(running_sums)
{
    scan_case((Case){"sum", DT_F32, DT_F32, 5, 19, 0, 0, false, 1e-5});
    scan_case((Case){"sum", DT_F32, DT_F32, 5, 19, 0, 0, true, 1e-5});
    scan_case((Case){"sum", DT_I32, DT_I32, 7, 3, 0, 0, true, 0});
    scan_case((Case){"sum", DT_F16, DT_F32, 4, 9, 0, 0, false, 1e-5});
    scan_case((Case){"sum", DT_F16, DT_F16, 4, 9, 0, 0, false, 2e-3});
}

TEST(running_maxima)
{
    scan_case((Case){"max", DT_F32, DT_F32, 5, 19, 0, 0, false, 0});
    scan_case((Case){"max", DT_BF16, DT_BF16, 5, 19, 0, 0, true, 0});
    scan_case((Case){"max", DT_I32, DT_I32, 6, 6, 0, 0, false, 0});
}

TEST(one_element)
{
    scan_case((Case){"sum", DT_F32, DT_F32, 1, 1, 0, 0, true, 0});
}

static const char *scan_tag(const char *kind, int64_t dim, int64_t n)
{
    Kit *t = kit_new(1, 1);
    Buffer *A = kit_tile(t, "A", DT_F32, MEM_SHARED, SHAPE(4, 6));
    Buffer *B = kit_tile(t, "B", DT_F32, MEM_SHARED, 2, (int64_t[]){4, n});
    Region r[2] = {kit_whole(t, A), kit_whole(t, B)};
    const Expr *arg = kit_int(t, dim);
    kit_add(t, kit_op(t, &op_scan, 2, r, 1, &arg, kind));
    return kit_run(t);
}

TEST(wrong_scans_are_refused)
{
    CHECK_TEXT(scan_tag("sum", 2, 6), "reduce-dim");
    CHECK_TEXT(scan_tag("sum", 1, 5), "reduce-shape");
    CHECK_TEXT(scan_tag("min", 1, 6), "reduce-op");
    CHECK_TEXT(scan_tag("sum", 1, 6), "uninitialised");
}
