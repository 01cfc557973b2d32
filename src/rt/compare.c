/* compare.c -- how far apart two results are, and how far apart they may be.
 *
 * Element x of `got` is right for y of `want` when |x - y| <= atol + rtol * |y|; infinities and
 * NaNs are right when both have them. */
#include <math.h>
#include "rt/rt.h"

/* One rounding of a result to its type, and sums taken in another order.  Integers are exact. */
static const struct {
    DType type;
    double tolerance;
} tolerances[] = {
    {DT_F64, 1e-9},   {DT_F32, 1e-4},   {DT_TF32, 2e-3},   {DT_F16, 2e-3},     {DT_BF16, 1.6e-2},
    {DT_E3M4, 0.0625}, {DT_E4M3, 0.125}, {DT_E4M3B11, 0.125}, {DT_E4M3FNUZ, 0.125}, {DT_E5M2, 0.25},
    {DT_E5M2FNUZ, 0.25}, {DT_E8M0, 1},  {DT_E2M3, 0.125},  {DT_E3M2, 0.25},    {DT_E2M1, 0.5},
    {DT_E2M1B, 0.5},
};

double dtype_tolerance(DType t)
{
    for (int i = 0; i < COUNT(tolerances); i++)
        if (tolerances[i].type == t)
            return tolerances[i].tolerance;
    return 0;
}

static bool is_right(double x, double y, double atol, double rtol)
{
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y);
    if (isinf(x) || isinf(y))
        return x == y;
    return fabs(x - y) <= atol + rtol * fabs(y);
}

static void note(Difference *d, double x, double y)
{
    if (x == y || (isnan(x) && isnan(y)))
        return;
    double far = fabs(x - y);
    if (isnan(far))
        far = INFINITY;
    d->max_abs = MAX(d->max_abs, far);
    if (y != 0)
        d->max_rel = MAX(d->max_rel, far / fabs(y));
}

void compare_arrays(DType t, const void *got, const void *want, int64_t n, double atol, double rtol,
                    Difference *d)
{
    *d = (Difference){.first_wrong = -1};
    for (int64_t i = 0; i < n; i++) {
        double x = 0, y = 0;
        int64_t p = 0, q = 0;
        num_load(t, got, i, &x, &p);
        num_load(t, want, i, &y, &q);
        bool right;
        if (dtype_is_float(t)) {
            right = is_right(x, y, atol, rtol);
        } else {
            uint64_t over = (uint64_t)p - (uint64_t)q, far = MIN(over, 0 - over); /* exactly */
            x = (double)p;
            y = (double)q;
            right = (double)far <= atol + rtol * fabs(y);
        }
        note(d, x, y);
        if (!right && d->nwrong++ == 0)
            d->first_wrong = i;
    }
}
