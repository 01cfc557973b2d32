/* emit_instr.c -- instructions of isa/ as calls of device/cuda/mma.h.
 *
 * Regions are logical: here the lane's own address or registers are worked out from the layout of
 * the buffer.  Registers must come out as constants, the same for every thread. */
#include "target/cuda/emit.h"

enum { WARP = 32 };

static const Expr *num(Cuda *c, int64_t v)
{
    return expr_int(c->e.ir, v);
}

static const Expr *lane(Cuda *c)
{
    return expr_floormod(c->e.ir, thread_index(c->e.k), num(c, WARP));
}

/* x // by % of * times; of 0: no remainder */
static const Expr *digit(Cuda *c, const Expr *x, int64_t by, int64_t of, int64_t times)
{
    Ir *ir = c->e.ir;
    const Expr *r = by == 1 ? x : expr_floordiv(ir, x, num(c, by));
    if (of)
        r = expr_floormod(ir, r, num(c, of));
    return times == 1 ? r : expr_mul(ir, r, num(c, times));
}

static const Expr *flat_offset(Cuda *c, const Buffer *b, const Expr *const *at)
{
    Ir *ir = c->e.ir;
    const Layout *l = buffer_plan(c->e.k, b)->layout;
    const Expr *r = at[0];

    if (l)
        r = layout_offset(ir, l, at);
    else
        for (int d = 1; d < b->rank; d++)
            r = expr_add(ir, expr_mul(ir, r, b->shape[d]), at[d]);
    return simplify(ir, c->e.facts, r);
}

/* The element (row, col) of the last two dimensions of a region. */
static const Expr *element(Cuda *c, const Region *r, const Expr *row, const Expr *col)
{
    const Expr *at[RANK_MOST];
    int lead = r->buf->rank - 2;

    for (int d = 0; d < lead; d++)
        at[d] = r->at[d];
    at[lead] = expr_add(c->e.ir, r->at[lead], row);
    at[lead + 1] = expr_add(c->e.ir, r->at[lead + 1], col);
    return flat_offset(c, r->buf, at);
}

/* A slot that is the same in every thread, by trying each. */
const Expr *cuda_same_slot(Cuda *c, const Expr *slot)
{
    Ir *ir = c->e.ir;
    Kernel *k = c->e.k;
    const Expr *first = NULL;

    if (!expr_uses_var(slot, k->thread[0]))
        return slot;
    for (int t = 0; t < k->threads[0]; t++) {
        const Expr *x = simplify(ir, c->e.facts, expr_subst(ir, slot, k->thread[0], num(c, t)));
        if (first && x != first)
            return NULL;
        first = x;
    }
    return first;
}

/* ---- registers ------------------------------------------------------------------------------- */

/* A pointer to 32-bit registers that hold elements from `slot` on. */
static void emit_registers(Cuda *c, const Buffer *b, const Expr *slot)
{
    Emit *e = &c->e;
    int64_t first = 0, per = 32 / dtype_bits(b->type);
    const char *name = buffer_name(e, b);

    if (!cuda_is_packed(c, b)) {
        str_printf(e->out, "(uint32_t *)&%s[", name);
        emit_loose(e, slot);
        str_putc(e->out, ']');
    } else if (expr_is_int(slot, &first) && first == 0) {
        str_puts(e->out, name);
    } else {
        str_printf(e->out, "%s + ", name);
        emit_index(e, simplify(e->ir, e->facts, expr_floordiv(e->ir, slot, num(c, per))));
    }
}

static const Expr *register_slot(Cuda *c, const Stmt *s, const Region *r)
{
    const Expr *slot = cuda_same_slot(c, flat_offset(c, r->buf, r->at));
    if (!slot)
        diag_fail(c->e.k->diag, s->span,
                  "the registers of '%s' differ between threads [unsupported-here]", r->buf->name);
    return slot;
}

/* ---- ldmatrix -------------------------------------------------------------------------------- */

/* Lane l gives the address of a row of eight: of which of the matrices, and which row. */
static void lane_row(Cuda *c, const char *name, bool pair, const Expr **row, const Expr **col)
{
    Ir *ir = c->e.ir;
    bool is_a = !strncmp(name, "ldmatrix.a", 10), trans = strstr(name, ".trans") != NULL;
    const Expr *l = lane(c), *high = digit(c, l, 16, 0, 8);

    if (is_a && !trans) { /* 16 x 16 of [m][k] */
        *row = digit(c, l, 1, 16, 1);
        *col = high;
    } else if (is_a) { /* of [k][m] */
        *row = expr_add(ir, digit(c, l, 1, 8, 1), high);
        *col = digit(c, l, 8, 2, 8);
    } else if (!trans) { /* 8 x 16 of [n][k]; a pair has the next eight n in the upper lanes */
        *row = pair ? expr_add(ir, digit(c, l, 1, 8, 1), high) : digit(c, l, 1, 8, 1);
        *col = digit(c, l, 8, 2, 8);
    } else { /* 16 x 8 of [k][n] */
        *row = digit(c, l, 1, 16, 1);
        *col = pair ? high : num(c, 0);
    }
}

static void emit_ldmatrix_as(Cuda *c, const Stmt *s, bool pair)
{
    Emit *e = &c->e;
    const char *name = s->u.instr.isa->name;
    const Region *to = &s->u.instr.region[0], *from = &s->u.instr.region[1];
    const Expr *row, *col;

    lane_row(c, name, pair, &row, &col);
    str_indent(e->out, e->indent * 4);
    str_printf(e->out, "tl_ldmatrix_%s%s(",
               pair || !strncmp(name, "ldmatrix.a", 10) ? "x4" : "x2",
               strstr(name, ".trans") ? "_trans" : "");
    emit_registers(c, to->buf, register_slot(c, s, to));
    str_printf(e->out, ", &%s[", buffer_name(e, from->buf));
    emit_loose(e, element(c, from, row, col));
    str_puts(e->out, "]);\n");
}

static void emit_ldmatrix(Cuda *c, const Stmt *s)
{
    emit_ldmatrix_as(c, s, false);
}

static bool is_further(Cuda *c, const Expr *a, const Expr *b, int64_t by)
{
    return simplify(c->e.ir, c->e.facts, expr_sub(c->e.ir, b, a)) == num(c, by);
}

/* Two tiles of B side by side, to registers one after the other: one instruction loads both. */
bool cuda_emit_pair(Cuda *c, const Stmt *s, const Stmt *t)
{
    enum { SLOTS = 4, COLUMNS = 8 };

    if (s->kind != ST_INSTR || t->kind != ST_INSTR || s->u.instr.isa != t->u.instr.isa ||
        strncmp(s->u.instr.isa->name, "ldmatrix.b", 10))
        return false;
    const Region *a = s->u.instr.region, *b = t->u.instr.region;
    int n = strstr(s->u.instr.isa->name, ".trans") ? a[1].buf->rank - 1 : a[1].buf->rank - 2;
    if (a[0].buf != b[0].buf || a[1].buf != b[1].buf || a[0].buf->rank != 1 ||
        !is_further(c, a[0].at[0], b[0].at[0], SLOTS))
        return false;
    for (int d = 0; d < a[1].buf->rank; d++)
        if (!is_further(c, a[1].at[d], b[1].at[d], d == n ? COLUMNS : 0))
            return false;
    emit_ldmatrix_as(c, s, true);
    return true;
}

/* ---- mma ------------------------------------------------------------------------------------- */

static void emit_operand(Cuda *c, const Stmt *s, int i)
{
    emit_registers(c, s->u.instr.region[i].buf, register_slot(c, s, &s->u.instr.region[i]));
}

/* C of m16n8: (l//4 + 8*(s//2), l%4*2 + s%2) in four slots, one after the other. */
static void emit_mma(Cuda *c, const Stmt *s, const char *fn)
{
    Emit *e = &c->e;
    const Region *r = &s->u.instr.region[2];
    const Expr *l = lane(c), *first = NULL;

    for (int i = 0; i < 4; i++) {
        const Expr *row = expr_add(e->ir, digit(c, l, 4, 0, 1), num(c, i / 2 * 8));
        const Expr *col = expr_add(e->ir, digit(c, l, 1, 4, 2), num(c, i % 2));
        const Expr *slot = cuda_same_slot(c, element(c, r, row, col));
        if (i == 0)
            first = slot;
        if (!slot || simplify(e->ir, e->facts, expr_sub(e->ir, slot, first)) != num(c, i))
            diag_fail(e->k->diag, s->span,
                      "the layout of '%s' is not that of the matrix instruction "
                      "[unsupported-here]",
                      r->buf->name);
    }
    str_indent(e->out, e->indent * 4);
    str_printf(e->out, "%s(&%s[", fn, buffer_name(e, r->buf));
    emit_loose(e, first);
    str_puts(e->out, "], ");
    emit_operand(c, s, 0);
    str_puts(e->out, ", ");
    emit_operand(c, s, 1);
    str_puts(e->out, ");\n");
}

static void emit_mma_f16(Cuda *c, const Stmt *s)
{
    emit_mma(c, s, "tl_mma_m16n8k16_f16");
}

static void emit_mma_bf16(Cuda *c, const Stmt *s)
{
    emit_mma(c, s, "tl_mma_m16n8k16_bf16");
}

static const struct {
    const char *isa;
    int sm; /* the first architecture that has it */
    void (*emit)(Cuda *c, const Stmt *s);
} instr_table[] = {
    {"ldmatrix.a", 75, emit_ldmatrix},          {"ldmatrix.a.trans", 75, emit_ldmatrix},
    {"ldmatrix.b", 75, emit_ldmatrix},          {"ldmatrix.b.trans", 75, emit_ldmatrix},
    {"mma.m16n8k16.f32.f16", 80, emit_mma_f16}, {"mma.m16n8k16.f32.bf16", 80, emit_mma_bf16},
};

void cuda_emit_instr(Cuda *c, const Stmt *s)
{
    if (cuda_emit_hopper(c, s))
        return;
    for (int i = 0; i < COUNT(instr_table); i++) {
        if (strcmp(instr_table[i].isa, s->u.instr.isa->name))
            continue;
        if (c->e.spec->sm < instr_table[i].sm)
            cuda_refuse(c, s, arena_printf(c->e.arena, "the instruction %s", s->u.instr.isa->name));
        instr_table[i].emit(c, s);
        return;
    }
    BUG(true, "no CUDA for the instruction %s", s->u.instr.isa->name);
}
