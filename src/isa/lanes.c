/* lanes.c -- which lane holds which element of a register operand, from the text of its row:
 *
 *     "g8 q4, c r e -> r g, c q e"
 *
 * The lane and the slot, then the row and the column: each is a number, and the letters are its
 * digits, the most significant first.  A letter is the same digit wherever it stands.  A digit has
 * the size beside it; `e` without one has as many values as elements fill 32 bits, any other the
 * ones that are left of its row or column.  A lane's digit that no row or column has tells copies
 * of the same elements apart.  Here lane 13 is g 3, q 1; its slot 2 of a 16 x 16 operand of 16 bits
 * is c 0, r 1, e 0: row 1*8 + 3, column 0*8 + 1*2 + 0.
 *
 * A row of 64 lanes, 32 x 32 results: "h2 j32, b a4 -> b h a, j". */
#include "isa/isa.h"

int mma_each(DType t)
{
    return MAX(32 / dtype_bits(t), 1);
}

static int digit_of(LaneMap *m, char name)
{
    int i = 0;

    while (i < m->n && m->digit[i].name != name)
        i++;
    BUG(i == LANE_DIGITS, "too many digits in a lane map");
    m->digit[i].name = name;
    m->n = MAX(m->n, i + 1);
    return i;
}

typedef struct {
    int n, digit[LANE_DIGITS]; /* the most significant first */
} Number;

/* Up to a comma, an arrow or the end; returns what follows. */
static const char *read_number(LaneMap *m, const char *p, Number *of)
{
    of->n = 0;
    for (; *p && *p != ',' && *p != '-'; p++) {
        int size = 0;
        if (*p == ' ')
            continue;
        BUG(*p < 'a' || *p > 'z' || of->n == LANE_DIGITS, "a lane map that goes on with '%s'", p);
        int i = of->digit[of->n++] = digit_of(m, *p);
        while (p[1] >= '0' && p[1] <= '9')
            size = size * 10 + *++p - '0';
        m->digit[i].size = MAX(m->digit[i].size, size);
    }
    return p + (*p == '-') + (*p != 0);
}

/* The digit without a size has what the others leave of the extent. */
static void fill_up(LaneMap *m, const Number *of, int extent)
{
    int known = 1, open = -1;

    for (int i = 0; i < of->n; i++) {
        int d = of->digit[i];
        if (m->digit[d].size)
            known *= m->digit[d].size;
        else
            open = d;
    }
    if (open >= 0)
        m->digit[open].size = MAX(extent / known, 1);
}

LaneMap lane_map(const char *text, int rows, int cols, DType t)
{
    LaneMap m = {0};
    Number part[4];

    for (int i = 0; i < 4; i++)
        text = read_number(&m, text, &part[i]);
    for (int i = 0; i < m.n; i++)
        if (m.digit[i].name == 'e' && !m.digit[i].size)
            m.digit[i].size = mma_each(t);
    fill_up(&m, &part[LANE_ROW], rows);
    fill_up(&m, &part[LANE_COL], cols);
    for (int i = 0; i < 4; i++) {
        m.extent[i] = 1;
        for (int j = part[i].n - 1; j >= 0; j--) {
            m.digit[part[i].digit[j]].step[i] = m.extent[i];
            m.extent[i] *= m.digit[part[i].digit[j]].size;
        }
    }
    return m;
}

LaneMap isa_lanes(const Isa *isa, int region, int rows, int cols, DType t)
{
    BUG(!isa->lanes[region], "%s does not say which lanes hold operand %d", isa->name, region);
    return lane_map(isa->lanes[region], rows, cols, t);
}

/* From two of the numbers to the other two. */
static void convert(const LaneMap *m, int from, const int *in, int to, int *out)
{
    out[0] = out[1] = 0;
    for (int i = 0; i < m->n; i++) {
        const int *step = m->digit[i].step;
        int side = step[from] == 0;
        int v = step[from + side] ? in[side] / step[from + side] % m->digit[i].size : 0;
        out[0] += v * step[to];
        out[1] += v * step[to + 1];
    }
}

void lane_place(const LaneMap *m, int lane, int slot, int at[2])
{
    convert(m, LANE_LANE, (int[]){lane, slot}, LANE_ROW, at);
}

int lane_holder(const LaneMap *m, int row, int col, int *slot)
{
    int own[2];

    convert(m, LANE_ROW, (int[]){row, col}, LANE_LANE, own);
    *slot = own[1];
    return own[0];
}

int64_t lane_step(const LaneMap *m, int which, int64_t span)
{
    int n = m->extent[LANE_ROW + which];
    return n > 1 && span > n ? (span - 1) / (n - 1) : 1;
}

/* ---- the same over expressions --------------------------------------------------------------- */

/* A digit of x, which is below `below`; 0: of any size. */
static const Expr *digit_expr(Ir *ir, const Expr *x, int step, int size, int below)
{
    if (step > 1)
        x = expr_floordiv(ir, x, expr_int(ir, step));
    return step * size == below ? x : expr_floormod(ir, x, expr_int(ir, size));
}

static const Expr *add_times(Ir *ir, const Expr *sum, const Expr *x, int times)
{
    if (times > 1)
        x = expr_mul(ir, x, expr_int(ir, times));
    return times && sum ? expr_add(ir, sum, x) : times ? x : sum;
}

void lane_place_expr(Ir *ir, const LaneMap *m, const Expr *lane, int slot, const Expr *at[2])
{
    int own[2];

    lane_place(m, 0, slot, own);
    for (int d = 0; d < 2; d++) {
        at[d] = NULL;
        for (int i = 0; i < m->n; i++) {
            const int *step = m->digit[i].step;
            if (step[LANE_LANE] && step[LANE_ROW + d])
                at[d] = add_times(ir, at[d], digit_expr(ir, lane, step[LANE_LANE], m->digit[i].size,
                                                        m->extent[LANE_LANE]),
                                  step[LANE_ROW + d]);
        }
        at[d] = !at[d] ? expr_int(ir, own[d])
                : own[d] ? expr_add(ir, at[d], expr_int(ir, own[d]))
                         : at[d];
    }
}

void lane_holder_expr(Ir *ir, const LaneMap *m, const Expr *row, const Expr *col,
                      const Expr **lane, const Expr **slot)
{
    *lane = *slot = NULL;
    for (int i = 0; i < m->n; i++) {
        const int *step = m->digit[i].step;
        bool across = step[LANE_COL] > 0;
        if (!across && !step[LANE_ROW])
            continue;
        const Expr *x = digit_expr(ir, across ? col : row, step[LANE_ROW + across],
                                   m->digit[i].size, 0);
        *lane = add_times(ir, *lane, x, step[LANE_LANE]);
        *slot = add_times(ir, *slot, x, step[LANE_SLOT]);
    }
}
