/* mma_lower.c -- a GEMM planned for the MMAs of warps becomes instructions.
 *
 *     per k step  B of the warp's part to registers, then strip by strip A, and one mma for every
 *                 tile of the strip
 *
 * Operands come by a row of load.def where its units lie together in memory and no edge is
 * crossed; otherwise each lane loads its own elements, zero past the edges.
 * Tiles that reach past C keep their accumulators apart (c_reg) for the time of the GEMM. */
#include "target/mma.h"
#include "op/op.h"

enum { A, B, C };

typedef struct {
    Kernel *k;
    Ir *ir;
    const Stmt *t;
    MmaPlan p;
    bool trans[2];     /* A is stored K x M, B N x K */
    const MmaLoad *load[2]; /* by the lanes together; NULL: each its own */
    const Expr *lane, *row0, *col0; /* of this warp's part */
    const Expr *step;  /* k of this step */
    bool tail;         /* the step goes past K */
    Buffer *reg[3];    /* of one thread */
    Buffer *scale[2];  /* words of scales, of the rows of A at hand and the columns of B */
    Buffer *high[2], *low[2]; /* of float32 operands */
    Buffer *wide[2];   /* one of each tile whose rows or columns interleave */
    Buffer *finite[2]; /* high, with 0 for infinities: 0 times one is no small correction */
    Builder out;
} Gemm;

static const Expr *num(Gemm *g, int64_t v)
{
    return expr_int(g->ir, v);
}

static const Expr *plus(Gemm *g, const Expr *a, int64_t b)
{
    return b ? expr_add(g->ir, a, num(g, b)) : a;
}

static Region part(Ir *ir, Buffer *b, int n, const Expr *const *at, const int64_t *extent)
{
    Region r = {b, NEWN(ir->arena, const Expr *, n), NEWN(ir->arena, const Expr *, n)};
    for (int d = 0; d < n; d++) {
        r.at[d] = at[d];
        r.extent[d] = expr_int(ir, extent[d]);
    }
    return r;
}

static void element_at(const Gemm *g, const Region *of, bool transposed, const Expr *row,
                       const Expr *col, const Expr **at)
{
    int lead = of->buf->rank - 2;

    for (int d = 0; d < lead; d++)
        at[d] = of->at[d];
    at[lead] = expr_add(g->ir, of->at[lead], transposed ? col : row);
    at[lead + 1] = expr_add(g->ir, of->at[lead + 1], transposed ? row : col);
}

/* A rows x cols piece of an operand at (row, col) of its logical matrix, which may be stored
 * transposed. */
static Region piece(Gemm *g, const Region *of, bool transposed, const Expr *row, const Expr *col,
                    int64_t rows, int64_t cols)
{
    int lead = of->buf->rank - 2;
    const Expr *at[RANK_MOST];
    int64_t extent[RANK_MOST];

    element_at(g, of, transposed, row, col, at);
    for (int d = 0; d < lead; d++)
        extent[d] = 1;
    extent[lead] = transposed ? cols : rows;
    extent[lead + 1] = transposed ? rows : cols;
    return part(g->ir, of->buf, of->buf->rank, at, extent);
}

static Region registers(Gemm *g, Buffer *b, int64_t from, int64_t n)
{
    const Expr *at = num(g, from);
    return part(g->ir, b, 1, &at, &n);
}

static bool is_ragged(const Gemm *g)
{
    return g->p.cut_m || g->p.cut_n;
}

static int64_t nslot(const Gemm *g, int which)
{
    return mma_lanes(g->p.mma, which).extent[LANE_SLOT];
}

/* Of the steps of k that are read together. */
static int64_t nread(const Gemm *g, int which)
{
    return which == C ? nslot(g, C) : nslot(g, which) * g->p.pack;
}

/* Row or column of a part where a tile of A or B starts: of interleaved tiles. */
static int64_t tile_start(const Gemm *g, int which, int64_t tile)
{
    int64_t size = which == A ? g->p.m : g->p.n, interleave = g->p.spread[which];

    return tile / interleave * interleave * size + tile % interleave;
}

/* ---- operands -------------------------------------------------------------------------------- */

static bool is_transposed(const Gemm *g, int which)
{
    return which == A ? g->trans[A] : which == B && g->trans[B];
}

/* Its units lie together and start where the hardware wants them, and none is cut. */
static const MmaLoad *find_load(Gemm *g, int which)
{
    const Region *r = &g->t->u.tile.region[which];
    const Buffer *b = r->buf;
    int bits = dtype_bits(b->type), last = b->rank - 1;
    bool along_k = which == A ? !g->trans[A] : g->trans[B];
    const MmaLoad *load = mma_load_find(g->p.mma, which, along_k, g->k->machine);
    const Layout *l = buffer_plan(g->k, b)->layout;
    int64_t shape[RANK_MOST];

    if (!load || g->p.pack > 1 || b->scope != MEM_SHARED || !buffer_static_shape(b, shape) ||
        (which == A ? g->p.cut_m : g->p.cut_n))
        return NULL;
    int unit = load->unit / bits;
    bool wide = l ? layout_vector_width(l, last, bits, load->unit / 8) == unit
                  : shape[last] % unit == 0;
    Modular m = modular_of(body_facts(g->k), r->at[last]);
    return wide && m.coef % unit == 0 && m.base % unit == 0 ? load : NULL;
}

static void load_together(Gemm *g, int which, int64_t slot, const Expr *row, const Expr *col,
                          int64_t rows, int64_t cols)
{
    Region *r = NEWN(g->ir->arena, Region, 2);

    r[0] = registers(g, g->reg[which], slot, rows * cols / g->p.lanes);
    r[1] = piece(g, &g->t->u.tile.region[which], is_transposed(g, which), row, col, rows, cols);
    build_add(&g->out, stmt_instr(g->ir, g->t->span, isa_row(g->load[which]->id), 2, r, 0, NULL,
                                  g->t->u.tile.id));
}

/* The element of a slot of this lane, in the tile at (row, col).  Steps of k that are read together
 * share their k so that the slots of a lane are neighbours; slots go on through them. */
static void slot_at(Gemm *g, int which, int slot, const Expr *row, const Expr *col,
                    const Expr *at[2])
{
    LaneMap l = mma_lanes(g->p.mma, which);
    int along = which == A, across = !along, interleave = which == C ? 1 : g->p.spread[which];

    if (g->p.pack > 1 && which != C) {
        lane_place_expr(g->ir, &l, g->lane, 0, at);
        at[along] = plus(g, expr_mul(g->ir, at[along], num(g, g->p.pack)), slot);
    } else {
        lane_place_expr(g->ir, &l, g->lane, slot, at);
    }
    if (interleave > 1)
        at[across] = expr_mul(g->ir, at[across], num(g, interleave));
    at[0] = expr_add(g->ir, row, at[0]);
    at[1] = expr_add(g->ir, col, at[1]);
}

static const Expr *both(Ir *ir, const Expr *a, const Expr *b)
{
    return a && b ? expr_and(ir, a, b) : a ? a : b;
}

/* Which of the elements exist; NULL: all do. */
static const Expr *inside(Gemm *g, int which, const Expr *const at[2])
{
    Ir *ir = g->ir;
    int64_t rows = which == B ? g->p.K : g->p.M, cols = which == A ? g->p.K : g->p.N;
    bool cut_row = which == B ? g->tail : g->p.cut_m;
    bool cut_col = which == A ? g->tail : g->p.cut_n;

    return both(ir, cut_row ? expr_lt(ir, at[0], num(g, rows)) : NULL,
                cut_col ? expr_lt(ir, at[1], num(g, cols)) : NULL);
}

static const Expr *load_element(Gemm *g, int which, const Expr *const logical[2])
{
    const Region *of = &g->t->u.tile.region[which];
    const Expr *at[RANK_MOST], *guard = inside(g, which, logical);

    element_at(g, of, is_transposed(g, which), logical[0], logical[1], at);
    return guard ? expr_load_guarded(g->ir, of->buf, at, of->buf->rank, guard,
                                     expr_zero(g->ir, of->buf->type))
                 : expr_load(g->ir, of->buf, at, of->buf->rank);
}

/* Each lane its own elements of a tile. */
static void load_slots(Gemm *g, int which, int64_t first, const Expr *row, const Expr *col)
{
    for (int s = 0; s < nread(g, which); s++) {
        const Expr *logical[2], *to = num(g, first + s);
        slot_at(g, which, s, row, col, logical);
        build_add(&g->out, stmt_store(g->ir, g->t->span, g->reg[which], &to, 1,
                                      load_element(g, which, logical)));
    }
}

/* The same of interleaved tiles: one element of each in one access, then to its registers. */
static void load_turns(Gemm *g, int which, int64_t first, const Expr *row, const Expr *col)
{
    Ir *ir = g->ir;
    Buffer *wide = g->wide[which];

    for (int s = 0; s < nread(g, which); s++) {
        Var *v = var_new(ir, "v", DT_I32, g->t->span);
        const Expr *logical[2], *at = expr_var(ir, v), *interleave = num(g, g->p.spread[which]);
        slot_at(g, which, s, row, col, logical);
        logical[which == B] = expr_add(ir, logical[which == B], at);
        const Stmt *load =
            stmt_store(ir, g->t->span, wide, &at, 1, load_element(g, which, logical));
        build_add(&g->out, stmt_for(ir, g->t->span, LOOP_VECTOR, v, num(g, 0), interleave,
                                    (Hints){0}, load));
        for (int i = 0; i < g->p.spread[which]; i++) {
            const Expr *from = num(g, i), *to = num(g, first + i * nread(g, which) + s);
            build_add(&g->out, stmt_store(ir, g->t->span, g->reg[which], &to, 1,
                                          expr_load(ir, wide, &from, 1)));
        }
    }
}

static void set_slot(Gemm *g, Buffer *b, const Expr *at, const Expr *value)
{
    build_add(&g->out,
              stmt_store(g->ir, g->t->span, b, &at, 1, expr_cast(g->ir, DT_TF32, value)));
}

/* Slots of float32 as two tfloat32 each.  Where the high part is no number the low one is 0. */
static void split_slots(Gemm *g, int which, int64_t first, int64_t n)
{
    Ir *ir = g->ir;

    for (int64_t s = first; g->p.thrice && s < first + n; s++) {
        const Expr *at = num(g, s), *x = expr_load(ir, g->reg[which], &at, 1);
        const Expr *high = expr_cast(ir, DT_F32, expr_load(ir, g->high[which], &at, 1));
        const Expr *ok = expr_math(ir, MATH_ISFINITE, &high, 1), *zero = expr_zero(ir, DT_F32);
        set_slot(g, g->high[which], at, x);
        set_slot(g, g->finite[which], at, expr_select(ir, ok, high, zero));
        set_slot(g, g->low[which], at, expr_select(ir, ok, expr_sub(ir, x, high), zero));
    }
}

/* B of n tiles of the part, of as many at once as an instruction brings. */
static void load_b(Gemm *g, int64_t first, int64_t n)
{
    int64_t slots = nread(g, B), bits = g->p.k * dtype_bits(g->reg[B]->type);
    const MmaLoad *load = g->tail ? NULL : g->load[B];

    for (int64_t j = 0; j < n;) {
        const Expr *col = plus(g, g->col0, tile_start(g, B, first + j));
        int64_t many = g->p.spread[B];
        if (many > 1) {
            load_turns(g, B, j * slots, g->step, col);
        } else if (load) {
            while (many * 2 * (bits / load->unit) <= load->units && j + many * 2 <= n)
                many *= 2;
            load_together(g, B, j * slots, g->step, col, g->p.k, many * g->p.n);
        } else {
            load_slots(g, B, j * slots, g->step, col);
        }
        j += many;
    }
    split_slots(g, B, 0, n * slots);
}

/* The i-th tile of the part; of interleaved tiles the first brings all. */
static void load_a(Gemm *g, int64_t i, const Expr *row)
{
    if ((g->p.a_in_registers && !g->p.thrice) || i % g->p.spread[A])
        return;
    if (g->p.spread[A] > 1)
        load_turns(g, A, 0, row, g->step);
    else if (g->load[A] && !g->tail)
        load_together(g, A, 0, row, g->step, g->p.m, g->p.k);
    else
        load_slots(g, A, 0, row, g->step);
    split_slots(g, A, 0, nslot(g, A));
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The word of scales that this lane gives for a tile of rows of A, or columns of B. */
static void load_scale(Gemm *g, int which, int64_t slot, const Expr *first)
{
    Ir *ir = g->ir;
    const Expr *at[2], *to = num(g, slot);

    if (!g->p.mma->mma->per)
        return;
    LaneMap l = mma_lanes(g->p.mma, MMA_SA + which);
    lane_place_expr(ir, &l, g->lane, 0, at);
    const Expr *k = expr_mul(ir, at[1], num(g, g->p.k / g->p.mma->mma->words));
    build_add(&g->out, stmt_store(ir, g->t->span, g->scale[which], &to, 1,
                                  scaled_bytes(ir, g->t, which, expr_add(ir, first, at[0]),
                                               expr_add(ir, g->step, k), num(g, 0))));
}

/* n: the number of the tile of columns, in registers. */
static void multiply_by(Gemm *g, Region a, Region b, Region c, int64_t n)
{
    Region *r = NEWN(g->ir->arena, Region, 5);
    bool scaled = g->p.mma->mma->per > 0;

    r[A] = a;
    r[B] = b;
    r[C] = c;
    if (scaled) {
        r[MMA_SA] = registers(g, g->scale[A], 0, 1);
        r[MMA_SB] = registers(g, g->scale[B], n, 1);
    }
    build_add(&g->out, stmt_instr(g->ir, g->t->span, g->p.mma, scaled ? 5 : 3, r, 0, NULL,
                                  g->t->u.tile.id));
}

/* From the first to the last of n that are interleaved with others. */
static int64_t span_of(int64_t n, int interleave)
{
    return (n - 1) * interleave + 1;
}

/* Tile (mi, ni) of the part, whose B is the at-th in registers; one step of those read together. */
static void multiply(Gemm *g, const Expr *row, int64_t mi, int64_t ni, int64_t at, int step)
{
    const Region *of = g->t->u.tile.region;
    int64_t tile = mi * (g->p.part_n / g->p.n) + ni, na = nslot(g, A), nb = nslot(g, B);
    Region c = is_ragged(g)
                   ? registers(g, g->reg[C], tile * nslot(g, C), nslot(g, C))
                   : piece(g, &of[C], false, row, plus(g, g->col0, tile_start(g, B, ni)),
                           span_of(g->p.m, g->p.spread[A]), span_of(g->p.n, g->p.spread[B]));
    int64_t a_at = mi % g->p.spread[A] * nread(g, A) + step * na;
    int64_t b_at = at * nread(g, B) + step * nb;

    if (g->p.thrice) { /* what is small first */
        multiply_by(g, registers(g, g->low[A], 0, na), registers(g, g->finite[B], at * nb, nb), c,
                    at);
        multiply_by(g, registers(g, g->finite[A], 0, na), registers(g, g->low[B], at * nb, nb), c,
                    at);
        multiply_by(g, registers(g, g->high[A], 0, na), registers(g, g->high[B], at * nb, nb), c,
                    at);
    } else {
        multiply_by(g, g->p.a_in_registers
                           ? piece(g, &of[A], false, row, g->step, g->p.m, g->p.k)
                           : registers(g, g->reg[A], a_at, na),
                    registers(g, g->reg[B], b_at, nb), c, at);
    }
}

/* Tiles of B in registers at a time: all of the part, unless each takes three times as many. */
static int64_t group_of(const Gemm *g)
{
    int64_t n = g->p.part_n / g->p.n;
    return g->p.thrice ? MIN(n, 4) : n;
}

/* One k step of a warp: columns of B, then strip by strip of A against them. */
static const Stmt *one_step(Gemm *g, const Expr *step, bool tail)
{
    int64_t tiles_m = g->p.part_m / g->p.m, tiles_n = g->p.part_n / g->p.n, many = group_of(g);

    build_open(&g->out, g->ir, NULL);
    g->step = step;
    g->tail = tail;
    for (int64_t first = 0; first < tiles_n; first += many) {
        int64_t n = MIN(many, tiles_n - first);
        load_b(g, first, n);
        for (int64_t j = 0; j < n; j++)
            load_scale(g, B, j, plus(g, g->col0, tile_start(g, B, first + j)));
        for (int64_t i = 0; i < tiles_m; i++) {
            const Expr *row = plus(g, g->row0, tile_start(g, A, i));
            load_a(g, i, row);
            load_scale(g, A, 0, row);
            for (int s = 0; s < g->p.pack; s++)
                for (int64_t j = 0; j < n; j++)
                    multiply(g, row, i, first + j, j, s);
        }
    }
    return build_close(&g->out, g->t->span);
}

static const Stmt *all_steps(Gemm *g)
{
    Ir *ir = g->ir;
    int64_t each = g->p.k * g->p.pack, whole = g->p.K / each;
    const Stmt *s = NULL;

    if (whole > 0) {
        Var *kk = var_new(ir, "kk", DT_I32, g->t->span);
        const Expr *step = expr_mul(ir, expr_var(ir, kk), num(g, each));
        s = stmt_for(ir, g->t->span, LOOP_UNROLL, kk, num(g, 0), num(g, whole), (Hints){0},
                     one_step(g, step, false));
    }
    if (g->p.K % each)
        s = stmt_seq(ir, s, one_step(g, num(g, whole * each), true));
    return s;
}

/* The accumulators of tiles that reach past C, from C or back. */
static const Stmt *move_ragged(Gemm *g, bool back)
{
    const Region *of = &g->t->u.tile.region[C];
    int64_t tiles_m = g->p.part_m / g->p.m, tiles_n = g->p.part_n / g->p.n;

    build_open(&g->out, g->ir, NULL);
    for (int64_t tile = 0; tile < tiles_m * tiles_n; tile++) {
        const Expr *row = plus(g, g->row0, tile / tiles_n * g->p.m);
        const Expr *col = plus(g, g->col0, tile % tiles_n * g->p.n);
        if (!back) {
            load_slots(g, C, tile * nslot(g, C), row, col);
            continue;
        }
        for (int s = 0; s < nslot(g, C); s++) {
            const Expr *logical[2], *at[RANK_MOST], *from = num(g, tile * nslot(g, C) + s);
            slot_at(g, C, s, row, col, logical);
            element_at(g, of, false, logical[0], logical[1], at);
            build_add(&g->out, stmt_store_guarded(g->ir, g->t->span, of->buf, at, of->buf->rank,
                                                  expr_load(g->ir, g->reg[C], &from, 1),
                                                  inside(g, C, logical)));
        }
    }
    return build_close(&g->out, g->t->span);
}

static Buffer *register_buffer(Gemm *g, const char *name, DType type, int64_t n)
{
    const Expr *shape = num(g, n);
    Buffer *b = buffer_new(g->ir, name, type, MEM_LOCAL, 1, &shape, g->t->span);
    vec_push(g->k->arena, &g->k->buffers, b);
    return b;
}

static void make_registers(Gemm *g)
{
    const Region *r = g->t->u.tile.region;
    int64_t tiles_n = g->p.part_n / g->p.n, tiles_m = g->p.part_m / g->p.m;
    int64_t na = nread(g, A) * g->p.spread[A], nb = group_of(g) * nread(g, B);

    if (!g->p.a_in_registers || g->p.thrice)
        g->reg[A] = register_buffer(g, "a_reg", r[A].buf->type, na);
    g->reg[B] = register_buffer(g, "b_reg", r[B].buf->type, nb);
    for (int i = A; i <= B; i++)
        if (g->p.spread[i] > 1)
            g->wide[i] = register_buffer(g, i == A ? "a_wide" : "b_wide", r[i].buf->type,
                                         g->p.spread[i]);
    for (int i = A; i <= B && g->p.thrice; i++) {
        int64_t n = i == A ? na : nb;
        g->high[i] = register_buffer(g, i == A ? "a_high" : "b_high", DT_TF32, n);
        g->low[i] = register_buffer(g, i == A ? "a_low" : "b_low", DT_TF32, n);
        g->finite[i] = register_buffer(g, i == A ? "a_finite" : "b_finite", DT_TF32, n);
    }
    if (g->p.mma->mma->per) {
        g->scale[A] = register_buffer(g, "a_scale", DT_U32, 1);
        g->scale[B] = register_buffer(g, "b_scale", DT_U32, group_of(g));
    }
    if (is_ragged(g))
        g->reg[C] = register_buffer(g, "c_reg", r[C].buf->type, tiles_m * tiles_n * nslot(g, C));
}

/* The accumulator set to zero first where the statement says so. */
static const Stmt *clear_first(Gemm *g, const Stmt *s)
{
    const Stmt *t = g->t;
    const Expr *clear = t->u.tile.narg > 2 ? t->u.tile.arg[2] : NULL;

    if (!clear || expr_is_zero(clear))
        return s;
    const Expr *zero = expr_zero(g->ir, t->u.tile.region[C].buf->type);
    const Stmt *fill =
        stmt_tile(g->ir, t->span, &op_fill, 1, &t->u.tile.region[C], 1, &zero, NULL, (Hints){0});
    fill = op_fill.lower(g->k, fill);
    return stmt_seq(g->ir, stmt_if(g->ir, t->span, clear, fill, NULL), s);
}

const Stmt *mma_lower(Kernel *k, ThreadGroup who, const Stmt *t)
{
    Ir *ir = k->ir;
    Gemm g = {.k = k, .ir = ir, .t = t};
    const char *why;

    BUG(!mma_plan(k, who, t, &g.p, &why), "a GEMM planned for warps cannot be split");
    g.trans[A] = tile_arg_int(t, 0, 0) != 0;
    g.trans[B] = tile_arg_int(t, 1, 0) != 0;
    const Expr *thread = thread_index(k, who);
    const Expr *warp = expr_floordiv(ir, thread, num(&g, g.p.lanes));
    int used = g.p.warps_m * g.p.warps_n * g.p.lanes;
    g.lane = expr_floormod(ir, thread, num(&g, g.p.lanes));
    g.row0 = expr_mul(ir, expr_floordiv(ir, warp, num(&g, g.p.warps_n)), num(&g, g.p.part_m));
    g.col0 = expr_mul(ir, expr_floormod(ir, warp, num(&g, g.p.warps_n)), num(&g, g.p.part_n));
    for (int i = A; i <= B; i++)
        g.load[i] = find_load(&g, i);
    make_registers(&g);

    const Stmt *s = all_steps(&g);
    if (is_ragged(&g))
        s = stmt_seq(ir, move_ragged(&g, false), stmt_seq(ir, s, move_ragged(&g, true)));
    if (used < group_threads(k, who))
        s = stmt_if(ir, t->span, expr_lt(ir, thread, num(&g, used)), s, NULL);
    return clear_first(&g, s);
}
