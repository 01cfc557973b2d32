/* wgmma.c -- T.gemm on the matrix instructions of Hopper's warpgroups.
 *
 *     C (M x N)   groups_m x groups_n parts, one per warpgroup, each in tiles of 64 x n; a tile
 *                 lies in the registers of the group as the instruction says
 *     A, B        read from shared memory through descriptors, in swizzled panels; A also from
 *                 registers (of 16 bits its layout is that of C), unless it is stored K x M
 *     E           of T.gemm_sp: which columns A holds, a word of each thread's per instruction
 *
 * One T.gemm becomes: settle registers, one instruction per tile and step of k, close the group,
 * wait (later, when the plan keeps MMAs in flight). */
#include "target/cuda/cuda.h"
#include "ir/config.h"

enum { A, B, C, E, GROUP = 128, ROWS = 64, N_MOST = 256 };

/* What can be multiplied: types of A and B by class, of C, k of one instruction. */
static const struct {
    DType a, b, c;
    int k;
} types[] = {
    {DT_F16, DT_F16, DT_F32, 16},   {DT_BF16, DT_BF16, DT_F32, 16}, {DT_F16, DT_F16, DT_F16, 16},
    {DT_TF32, DT_TF32, DT_F32, 8},  {DT_E4M3, DT_E4M3, DT_F32, 32}, {DT_E4M3, DT_E5M2, DT_F32, 32},
    {DT_E5M2, DT_E4M3, DT_F32, 32}, {DT_E5M2, DT_E5M2, DT_F32, 32}, {DT_I8, DT_I8, DT_I32, 32},
    {DT_U8, DT_U8, DT_I32, 32},     {DT_I8, DT_U8, DT_I32, 32},     {DT_U8, DT_I8, DT_I32, 32},
};

static int step_of(DType a, DType b, DType c)
{
    for (int i = 0; i < COUNT(types); i++)
        if (types[i].a == a && types[i].b == b && types[i].c == c)
            return types[i].k;
    return 0;
}

/* The k of one instruction; 0: there is none.  A sparse A fills twice as much of it. */
static int step_for(Kernel *k, const Stmt *t)
{
    const Region *r = t->u.tile.region;
    bool cuts = gemm_cuts(k, t), sparse = tile_does(t, TILE_SPARSE);
    int step = cuts ? step_of(DT_TF32, DT_TF32, r[C].buf->type)
                    : step_of(r[A].buf->type, r[B].buf->type, r[C].buf->type);

    return sparse ? 2 * step : step;
}

static const Isa *isa_for(const Stmt *t)
{
    bool bytes = dtype_bits(t->u.tile.region[A].buf->type) == 8;

    if (!tile_does(t, TILE_SPARSE))
        return isa_find("wgmma");
    return isa_find(bytes ? "wgmma.sp.bytes" : "wgmma.sp");
}

/* The widest instruction that divides the part; integers know fewer widths. */
static int64_t widest(int64_t part, DType c)
{
    for (int64_t n = MIN(part, N_MOST); n >= 8; n -= 8)
        if (part % n == 0 && n % 8 == 0 && (c != DT_I32 || n % 16 == 0 || n == 8 || n == 24))
            return n;
    return 0;
}

/* Rows first: a group's part of A is then read by nobody else. */
static bool split_groups(WgmmaPlan *p, int ngroup, int64_t policy, DType c)
{
    double best = 0;

    p->groups_m = 0;
    for (int gm = 1; gm <= ngroup; gm++) {
        int gn = ngroup / gm;
        if (gm * gn != ngroup || p->M % (gm * ROWS) || p->N % gn || !widest(p->N / gn, c))
            continue;
        double cost = policy == 2 ? gm : gn; /* full columns, else rows first */
        if (p->groups_m == 0 || cost < best) {
            best = cost;
            p->groups_m = gm;
            p->groups_n = gn;
        }
    }
    if (!p->groups_m)
        return false;
    p->part_m = p->M / p->groups_m;
    p->part_n = p->N / p->groups_n;
    p->n = (int)widest(p->part_n, c);
    return true;
}

static const Expr *num(Ir *ir, int64_t v)
{
    return expr_int(ir, v);
}

static const Expr *over(Ir *ir, const Expr *e, int64_t d)
{
    return d == 1 ? e : expr_floordiv(ir, e, num(ir, d));
}

static const Expr *within(Ir *ir, const Expr *e, int64_t d)
{
    return expr_floormod(ir, e, num(ir, d));
}

/* a * by + b */
static const Expr *next_to(Ir *ir, const Expr *a, int64_t by, const Expr *b)
{
    return expr_add(ir, expr_mul(ir, a, num(ir, by)), b);
}

/* Where wgmma keeps a rows x cols tile whose parts are part_m x part_n. */
static const Layout *group_layout(Ir *ir, const WgmmaPlan *p, int which, DType t, int64_t rows,
                                  int64_t cols, int64_t part_n)
{
    const Expr *i = expr_var(ir, layout_axis(ir, 0)), *j = expr_var(ir, layout_axis(ir, 1));
    int64_t extent[2] = {rows, cols};
    const Expr *group = next_to(ir, over(ir, i, p->part_m), cols / part_n, over(ir, j, part_n));
    LaneMap l = isa_lanes(p->isa, which, ROWS, (int)part_n, t);
    const Expr *lane, *slot;

    lane_holder_expr(ir, &l, i, j, &lane, &slot);
    slot = next_to(ir, over(ir, within(ir, i, p->part_m), ROWS), l.extent[LANE_SLOT], slot);
    return fragment_new(ir, 2, extent, next_to(ir, group, l.extent[LANE_LANE], lane), 1, 1, &slot);
}

/* How the groups share it, from the shapes alone. */
static bool wgmma_split(Kernel *k, ThreadGroup who, const Stmt *t, WgmmaPlan *p, const char **why)
{
    const Region *r = t->u.tile.region;
    int nthread = group_threads(k, who);
    DType c = r[C].buf->type;

    *p = (WgmmaPlan){.trans_a = tile_arg_int(t, 0, 0) != 0, .trans_b = tile_arg_int(t, 1, 0) != 0,
                     .sparse = tile_does(t, TILE_SPARSE), .isa = isa_for(t)};
    *why = "wgmma needs sm_90a";
    if (!isa_fits(p->isa, k->machine))
        return false;
    *why = "the pass config tl.disable_wgmma says so";
    if (config_on(k->func, CONFIG_disable_wgmma))
        return false;
    p->k = step_for(k, t);
    *why = "wgmma does not multiply these types";
    if (!p->k)
        return false;
    *why = "the result is not a whole fragment";
    if (r[C].buf->scope != MEM_FRAGMENT || !region_is_whole(&r[C]) || r[C].buf->rank != 2)
        return false;
    p->M = matrix_extent(&r[C], 1);
    p->N = matrix_extent(&r[C], 0);
    p->K = matrix_extent(&r[B], p->trans_b ? 0 : 1);
    *why = "the tile does not divide into 64 rows and steps of k over these warpgroups";
    if (nthread % GROUP || nthread == 0 || p->K % p->k ||
        !split_groups(p, nthread / GROUP, hint_int(t->u.tile.hints, "policy", 0), c))
        return false;
    p->a_in_registers = r[A].buf->scope == MEM_FRAGMENT;
    *why = "the result is annotated with another layout than the instruction's";
    const BufferPlan *plan = buffer_plan(k, r[C].buf);
    return !plan->pinned ||
           (plan->layout &&
            layout_is_equal(k->ir, plan->layout,
                            group_layout(k->ir, p, C, c, p->M, p->N, p->part_n)));
}

/* What is left to refuse it is the number of threads, where operands lie, and how. */
bool wgmma_suits(Kernel *k, const Stmt *t)
{
    const Region *r = t->u.tile.region;
    bool trans_a = tile_arg_int(t, 0, 0) != 0, trans_b = tile_arg_int(t, 1, 0) != 0;
    bool narrow = dtype_bits(r[A].buf->type) == 16;
    int64_t m = matrix_extent(&r[C], 1);
    int step = step_for(k, t);

    return isa_fits(isa_for(t), k->machine) &&
           !config_on(k->func, CONFIG_disable_wgmma) && step && m >= ROWS && m % ROWS == 0 &&
           matrix_extent(&r[B], trans_b ? 0 : 1) % step == 0 && (narrow || (!trans_a && trans_b)) &&
           (dtype_bits(r[A].buf->type) <= 16 || r[A].buf->scope == MEM_SHARED);
}

/* A of a fragment that is stored K x M: no lane holds a row of it as the instruction wants it, and
 * shared memory can be read either way. */
static bool is_staged(Kernel *k, const Stmt *t, const WgmmaPlan *p)
{
    const Region *a = &t->u.tile.region[A];

    return p->a_in_registers && p->trans_a && !p->sparse && dtype_bits(a->buf->type) == 16 &&
           region_is_whole(a) && a->buf->rank == 2 && !buffer_plan(k, a->buf)->pinned &&
           !hint_int(t->u.tile.hints, "async", 0);
}

bool wgmma_plan(Kernel *k, ThreadGroup who, const Stmt *t, WgmmaPlan *p, const char **why)
{
    const Region *r = t->u.tile.region;
    Buffer tile = *r[A].buf; /* of shared memory, once it is there */
    Region a = {&tile, r[A].at, r[A].extent};

    if (!wgmma_split(k, who, t, p, why))
        return false;
    *why = "A and E of a sparse product must be in shared memory";
    if (p->sparse && (p->a_in_registers || r[E].buf->scope != MEM_SHARED))
        return false;
    p->stages_a = is_staged(k, t, p);
    if (p->stages_a) {
        p->a_in_registers = false;
        tile.scope = MEM_SHARED;
    }
    if (p->a_in_registers) {
        *why = "A in registers must be a whole tile of at most 16 bits, and all of K in each group";
        if (dtype_bits(r[A].buf->type) > 16 || p->trans_a || !region_is_whole(&r[A]) ||
            r[A].buf->rank != 2 || p->groups_n != 1 || buffer_plan(k, r[A].buf)->pinned)
            return false;
    } else if (!panel_operand(k, &a, p->trans_a, 16, p->part_m, ROWS, why)) {
        return false;
    }
    if (!panel_operand(k, &r[B], !p->trans_b, 16, p->part_n, p->n, why))
        return false;
    *why = arena_printf(k->arena, "m64n%dk%d %s, %d x %d warpgroups of %lld x %lld", p->n, p->k,
                        p->a_in_registers ? "rs" : p->sparse ? "sparse" : "ss", p->groups_m,
                        p->groups_n, (long long)p->part_m, (long long)p->part_n);
    return true;
}

/* ---- layouts -------------------------------------------------------------------------------- */

void wgmma_infer(Infer *in, const Stmt *t)
{
    WgmmaPlan p;
    const char *why;
    const Region *r = t->u.tile.region;

    BUG(!wgmma_plan(in->k, in->group, t, &p, &why), "a GEMM planned for wgmma cannot be split: %s",
        why);
    infer_set(in, r[C].buf, group_layout(in->ir, &p, C, r[C].buf->type, p.M, p.N, p.part_n), t);
    if (p.a_in_registers)
        infer_set(in, r[A].buf, group_layout(in->ir, &p, A, r[A].buf->type, p.M, p.K, p.K), t);
    else
        panel_infer(in, t, &r[A]);
    panel_infer(in, t, &r[B]);
}

/* ---- lowering -------------------------------------------------------------------------------- */

typedef struct {
    Kernel *k;
    Ir *ir;
    const Stmt *t;
    WgmmaPlan p;
    const Expr *row0, *col0; /* of this group's part */
    Buffer *words;           /* of a sparse A: which elements it keeps */
} Wgmma;

/* ---- which elements a sparse A keeps: 16 bits are four groups of a row */

static int64_t word_of(const Wgmma *g, int64_t step, int64_t mi)
{
    return step * (g->p.part_m / ROWS) + mi;
}

static Region one_word(Wgmma *g, int64_t i)
{
    Ir *ir = g->ir;
    Region r = {g->words, NEWN(ir->arena, const Expr *, 1), NEWN(ir->arena, const Expr *, 1)};

    r.at[0] = num(ir, i);
    r.extent[0] = num(ir, 1);
    return r;
}

/* Element (row, col) of E, its bits as a word. */
static const Expr *meta_element(Wgmma *g, const Expr *row, const Expr *col)
{
    static const DType as[] = {DT_U8, DT_U16, DT_U32, DT_U32};
    const Region *of = &g->t->u.tile.region[E];
    int bits = dtype_bits(of->buf->type);
    Region r = matrix_piece(g->ir, of, tile_arg_int(g->t, 4, 0) != 0, row, col, 1, 1);
    const Expr *e = expr_load(g->ir, of->buf, r.at, of->buf->rank);

    return expr_cast(g->ir, DT_U32, expr_cast(g->ir, as[bits / 16], e));
}

/* The 16 bits at (row, col), of elements that are as many, or halves or twice that. */
static const Expr *meta_bits(Wgmma *g, const Expr *row, const Expr *col)
{
    Ir *ir = g->ir;
    int bits = dtype_bits(g->t->u.tile.region[E].buf->type);

    if (bits == 8) {
        const Expr *low = next_to(ir, col, 2, num(ir, 0)), *high = next_to(ir, col, 2, num(ir, 1));
        return expr_binary(ir, EX_BITOR, meta_element(g, row, low),
                           expr_binary(ir, EX_SHL, meta_element(g, row, high),
                                       expr_const(ir, DT_U32, 8)));
    }
    if (bits == 16)
        return meta_element(g, row, col);
    const Expr *shift = expr_mul(ir, within(ir, col, 2), num(ir, 16));
    const Expr *e = expr_binary(ir, EX_SHR, meta_element(g, row, over(ir, col, 2)),
                                expr_cast(ir, DT_U32, shift));
    return expr_binary(ir, EX_BITAND, e, expr_const(ir, DT_U32, 0xffff));
}

static const Stmt *load_word(Wgmma *g, const Expr *lane, int64_t step, int64_t mi)
{
    Ir *ir = g->ir;
    bool wide = dtype_bits(g->t->u.tile.region[A].buf->type) == 32;
    int64_t cols = g->p.k / (wide ? 2 : 4) / 4;
    LaneMap l = isa_lanes(g->p.isa, E, ROWS, (int)cols, DT_U16);
    const Expr *word = NULL, *to = num(ir, word_of(g, step, mi));

    for (int s = 0; s < l.extent[LANE_SLOT]; s++) {
        const Expr *at[2];
        lane_place_expr(ir, &l, lane, s, at);
        const Expr *row = expr_add(ir, expr_add(ir, g->row0, num(ir, mi * ROWS)), at[0]);
        const Expr *e = meta_bits(g, row, expr_add(ir, num(ir, step * cols), at[1]));
        if (s)
            e = expr_binary(ir, EX_SHL, e, expr_const(ir, DT_U32, 16 * s));
        word = word ? expr_binary(ir, EX_BITOR, word, e) : e;
    }
    return stmt_store(ir, g->t->span, g->words, &to, 1, word);
}

static const Stmt *load_words(Wgmma *g, const Expr *lane, int64_t steps, int64_t tiles_m)
{
    const Expr *n = num(g->ir, steps * tiles_m);
    const Stmt **list = NEWN(g->ir->arena, const Stmt *, steps * tiles_m);

    g->words = buffer_new(g->ir, "kept", DT_U32, MEM_LOCAL, 1, &n, g->t->span);
    vec_push(g->k->arena, &g->k->buffers, g->words);
    for (int64_t s = 0; s < steps; s++)
        for (int64_t i = 0; i < tiles_m; i++)
            list[word_of(g, s, i)] = load_word(g, lane, s, i);
    return stmt_block(g->ir, g->t->span, (int)(steps * tiles_m), list);
}

/* ---- the instructions */

static const Stmt *one_mma(Wgmma *g, int64_t step, int64_t mi, int64_t ni)
{
    Ir *ir = g->ir;
    const Region *of = g->t->u.tile.region;
    const WgmmaPlan *p = &g->p;
    Region *r = NEWN(ir->arena, Region, 4);
    int64_t ka = p->sparse ? p->k / 2 : p->k;
    const Expr *row = expr_add(ir, g->row0, num(ir, mi * ROWS));
    const Expr *col = expr_add(ir, g->col0, num(ir, ni * p->n)), *k0 = num(ir, step * p->k);
    const Expr **arg = NEWN(ir->arena, const Expr *, 3);

    r[A] = matrix_piece(ir, &of[A], p->trans_a, row, num(ir, step * ka), ROWS, ka);
    r[B] = matrix_piece(ir, &of[B], p->trans_b, k0, col, p->k, p->n);
    r[C] = matrix_piece(ir, &of[C], false, row, col, ROWS, p->n);
    arg[0] = expr_bool(ir, p->trans_a);
    arg[1] = expr_bool(ir, p->trans_b);
    arg[2] = gemm_clears(ir, g->t, step);
    if (p->sparse)
        r[E] = one_word(g, word_of(g, step, mi));
    return stmt_instr(ir, g->t->span, p->isa, p->sparse ? 4 : 3, r, 3, arg, g->t->u.tile.id);
}

static const Stmt *call(Wgmma *g, Intrin which)
{
    return stmt_call(g->ir, g->t->span, which, 0, NULL, 0, NULL, NULL, NULL);
}

const Stmt *wgmma_lower(Kernel *k, ThreadGroup who, const Stmt *t)
{
    Ir *ir = k->ir;
    Wgmma g = {.k = k, .ir = ir, .t = t};
    const char *why;
    int n = 0;

    BUG(!wgmma_split(k, who, t, &g.p, &why), "a GEMM planned for wgmma cannot be split: %s", why);
    const Expr *group = over(ir, thread_index(k, who), GROUP);
    g.row0 = expr_mul(ir, over(ir, group, g.p.groups_n), num(ir, g.p.part_m));
    g.col0 = expr_mul(ir, within(ir, group, g.p.groups_n), num(ir, g.p.part_n));
    int64_t tiles_m = g.p.part_m / ROWS, tiles_n = g.p.part_n / g.p.n, steps = g.p.K / g.p.k;
    const Stmt **list = NEWN(ir->arena, const Stmt *, tiles_m * tiles_n * steps + 4);
    if (g.p.sparse)
        list[n++] = load_words(&g, within(ir, thread_index(k, who), GROUP), steps, tiles_m);
    list[n++] = call(&g, INTRIN_SETTLE);
    for (int64_t s = 0; s < steps; s++)
        for (int64_t i = 0; i < tiles_m; i++)
            for (int64_t j = 0; j < tiles_n; j++)
                list[n++] = one_mma(&g, s, i, j);
    list[n++] = stmt_commit(ir, t->span, QUEUE_MMA);
    /* What the user waits for himself is left in flight. */
    int flying = tile_plan(k, t)->left_open;
    if (!hint_int(t->u.tile.hints, "async", 0))
        list[n++] = stmt_wait(ir, t->span, QUEUE_MMA, flying, !flying, &t->u.tile.region[C]);
    return stmt_block(ir, t->span, n, list);
}
