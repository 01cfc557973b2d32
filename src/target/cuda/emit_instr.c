/* emit_instr.c -- instructions of isa/ as calls of device/cuda/mma.h.
 *
 * Regions are logical: here the lane's own address or registers are worked out from the layout of
 * the buffer.  Registers must come out as constants, the same for every thread. */
#include "target/cuda/emit.h"

static const Expr *num(Cuda *c, int64_t v)
{
    return expr_int(c->e.ir, v);
}

const Expr *cuda_lane(Cuda *c)
{
    return expr_floormod(c->e.ir, thread_in_block(c->e.k), num(c, c->e.k->machine->lanes));
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

const Expr *cuda_element(Cuda *c, const Region *r, const Expr *row, const Expr *col)
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

void cuda_emit_registers(Cuda *c, const Buffer *b, const Expr *slot)
{
    Emit *e = &c->e;
    int bits = dtype_bits(b->type);
    int64_t first = 0;
    const char *name = buffer_name(e, b);

    if (!cuda_is_packed(c, b)) {
        str_printf(e->out, bits == 64 ? "&%s[" : "(uint32_t *)&%s[", name);
        emit_loose(e, bits < 8 ? simplify(e->ir, e->facts, digit(c, slot, 8 / bits, 0, 1)) : slot);
        str_putc(e->out, ']');
    } else if (expr_is_int(slot, &first) && first == 0) {
        str_puts(e->out, name);
    } else {
        str_printf(e->out, "%s + ", name);
        emit_index(e, simplify(e->ir, e->facts, digit(c, slot, 32 / bits, 0, 1)));
    }
}

const Expr *cuda_register_slot(Cuda *c, const Stmt *s, const Region *r)
{
    const Expr *slot = cuda_same_slot(c, flat_offset(c, r->buf, r->at));
    if (!slot)
        diag_fail(c->e.k->diag, s->span,
                  "the registers of '%s' differ between threads [unsupported-here]", r->buf->name);
    return slot;
}

/* ---- ldmatrix, stmatrix ---------------------------------------------------------------------- */

/* Lane l gives the address of row l % 8 of matrix l // 8; matrix i becomes register i: the lowest
 * digit of the slots above the elements of a register says whether they go down or across. */
static int lane_row(Cuda *c, const Stmt *s, bool *trans, const Expr **row, const Expr **col)
{
    const Region *from = &s->u.instr.region[1];
    bool down_first = false;
    int lead = from->buf->rank - 2, unit = 128 / dtype_bits(from->buf->type);
    int rows = (int)region_extent_int(from, lead), cols = (int)region_extent_int(from, lead + 1);
    int down = rows / 8, across = cols / unit, n = down * across;
    const Expr *matrix = digit(c, cuda_lane(c), 8, n < 4 ? n : 0, 1), *down_by, *across_by;
    LaneMap l = isa_lanes(s->u.instr.isa, 0, rows, cols, from->buf->type);

    for (int i = 0; i < l.n; i++)
        if (l.digit[i].step[LANE_SLOT]) /* the digits in their order, the elements last */
            *(l.digit[i].name == 'e' ? trans : &down_first) = l.digit[i].step[LANE_ROW] > 0;
    if (down_first) {
        down_by = digit(c, matrix, 1, down, 8);
        across_by = digit(c, matrix, down, 0, unit);
    } else {
        across_by = digit(c, matrix, 1, across, unit);
        down_by = digit(c, matrix, across, 0, 8);
    }
    *row = expr_add(c->e.ir, digit(c, cuda_lane(c), 1, 8, 1), down_by);
    *col = across_by;
    return n;
}

void cuda_emit_address(Cuda *c, const Buffer *b, const Expr *at)
{
    Emit *e = &c->e;
    int bits = dtype_bits(b->type);
    const Expr *bytes = bits < 8 ? digit(c, at, 8 / bits, 0, 1) : digit(c, at, 1, 0, bits / 8);

    str_printf(e->out, "tl_shared_at(%s, ", buffer_name(e, b));
    emit_loose(e, simplify(e->ir, e->facts, bytes));
    str_putc(e->out, ')');
}

static void emit_ldmatrix(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    const Region *to = &s->u.instr.region[0], *from = &s->u.instr.region[1];
    const Layout *l = buffer_plan(e->k, from->buf)->layout;
    const Expr *row, *col;
    bool trans = false;
    int n = lane_row(c, s, &trans, &row, &col), bits = dtype_bits(from->buf->type);

    if (l && layout_vector_width(l, from->buf->rank - 1, bits, 16) * bits != 128)
        diag_fail(e->k->diag, s->span, "ldmatrix reads rows of 16 bytes, which do not lie together "
                  "under the layout of '%s' [unsupported-here]", from->buf->name);

    emit_indent(e);
    str_printf(e->out, "tl_ldmatrix_x%d%s(", n, trans ? "_trans" : "");
    cuda_emit_registers(c, to->buf, cuda_register_slot(c, s, to));
    str_puts(e->out, ", ");
    cuda_emit_address(c, from->buf, cuda_element(c, from, row, col));
    str_puts(e->out, ");\n");
}

/* 16 x 16: the matrices down the rows first. */
static void emit_stmatrix(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    const Region *to = &s->u.instr.region[0], *from = &s->u.instr.region[1];

    emit_indent(e);
    str_puts(e->out, "tl_stmatrix_x4(");
    const Expr *row = digit(c, cuda_lane(c), 1, 16, 1), *col = digit(c, cuda_lane(c), 16, 0, 8);
    cuda_emit_address(c, to->buf, cuda_element(c, to, row, col));
    str_puts(e->out, ", ");
    cuda_emit_registers(c, from->buf, cuda_register_slot(c, s, from));
    str_puts(e->out, ");\n");
}

/* ---- mma ------------------------------------------------------------------------------------- */

/* The first of the registers of an operand.  Those of a fragment must be where the instruction has
 * them: one after the other, the same in every thread. */
const Expr *cuda_operand_slot(Cuda *c, const Stmt *s, int which)
{
    Emit *e = &c->e;
    const Region *r = &s->u.instr.region[which];
    LaneMap l = mma_lanes(s->u.instr.isa, which);
    const Expr *first = NULL;

    if (r->buf->rank == 1)
        return cuda_register_slot(c, s, r);
    for (int i = 0; i < l.extent[LANE_SLOT]; i++) {
        const Expr *at[2];
        lane_place_expr(e->ir, &l, cuda_lane(c), i, at);
        for (int d = 0; d < 2; d++) {
            int64_t step = lane_step(&l, d, region_extent_int(r, r->buf->rank - 2 + d));
            at[d] = step > 1 ? expr_mul(e->ir, at[d], num(c, step)) : at[d];
        }
        const Expr *slot = cuda_same_slot(c, cuda_element(c, r, at[0], at[1]));
        if (i == 0)
            first = slot;
        if (!slot || simplify(e->ir, e->facts, expr_sub(e->ir, slot, first)) != num(c, i))
            diag_fail(e->k->diag, s->span,
                      "the layout of '%s' is not that of the matrix instruction "
                      "[unsupported-here]",
                      r->buf->name);
    }
    return first;
}

/* 32-bit registers of an operand; of 64 bits, as many as elements. */
static int nregister(const Isa *isa, int which)
{
    return mma_lanes(isa, which).extent[LANE_SLOT] / mma_each(isa->mma->type[which]);
}

static void put_list(Str *out, int from, int n)
{
    str_puts(out, "{");
    for (int i = 0; i < n; i++)
        str_printf(out, "%s%%%d", i ? ", " : "", from + i);
    str_puts(out, "}");
}

static const char *register_type(DType t)
{
    return t == DT_F64 ? "double" : t == DT_F32 ? "float" : t == DT_I32 ? "int32_t" : "uint32_t";
}

static char constraint(DType t)
{
    return t == DT_F64 ? 'd' : t == DT_F32 ? 'f' : 'r';
}

/* The device function of a row, once per text. */
static void declare_mma(Cuda *c, const char *name, const Isa *isa)
{
    static const char *const arg[] = {"a", "b", "c"};
    Emit *e = &c->e;
    Str *o = &e->decls;
    const Mma *m = isa->mma;
    int na = nregister(isa, MMA_A), nb = nregister(isa, MMA_B), nc = nregister(isa, MMA_C);
    const char *in = m->type[MMA_A] == DT_F64 ? "double" : "uint32_t";

    if (map_has(&e->routines, name))
        return;
    map_set(&e->routines, name, e);
    str_printf(o, "TL_DEVICE void %s(%s *c, const %s *a, const %s *b%s)\n{\n", name,
               register_type(m->type[MMA_C]), in, in,
               m->per ? ", uint32_t scale_a, uint32_t scale_b" : "");
    str_puts(o, "    asm(\"mma.sync.aligned.");
    if (m->own && !m->per)
        str_printf(o, "%s.row.col.", m->own);
    else
        str_printf(o, "m%dn%dk%d.row.col.", m->m, m->n, m->k);
    if (m->per)
        str_printf(o, "kind::%s.block_scale.scale_vec::%dX.", m->own, m->per);
    str_printf(o, "%s.%s.%s.%s%s \"\n        \"", m->word[MMA_C], m->word[MMA_A], m->word[MMA_B],
               m->word[MMA_C],
               !m->per ? "" : m->scale == DT_E4M3 ? ".ue4m3" : ".ue8m0");
    put_list(o, 0, nc);
    str_puts(o, ", ");
    put_list(o, nc, na);
    str_puts(o, ", ");
    put_list(o, nc + na, nb);
    str_puts(o, ", ");
    put_list(o, 0, nc);
    if (m->per) /* scales are in the lowest bytes, of the first threads of each four */
        str_printf(o, ", %%%d, {0, 0}, %%%d, {0, 0}", nc + na + nb, nc + na + nb + 1);
    str_puts(o, ";\"\n        : ");
    for (int i = 0; i < nc; i++)
        str_printf(o, "%s\"+%c\"(c[%d])", i ? ", " : "", constraint(m->type[MMA_C]), i);
    str_puts(o, "\n        : ");
    for (int which = MMA_A; which <= MMA_B; which++)
        for (int i = 0; i < nregister(isa, which); i++)
            str_printf(o, "%s\"%c\"(%s[%d])", which || i ? ", " : "",
                       m->type[MMA_A] == DT_F64 ? 'd' : 'r', arg[which], i);
    str_puts(o, m->per ? ", \"r\"(scale_a), \"r\"(scale_b));\n}\n\n" : ");\n}\n\n");
}

void cuda_emit_product(Cuda *c, const Stmt *s, const char *name)
{
    Emit *e = &c->e;
    const Buffer *acc = s->u.instr.region[MMA_C].buf;

    emit_indent(e);
    str_printf(e->out, "%s(", name);
    const Expr *slot = cuda_operand_slot(c, s, MMA_C);
    if (dtype_bits(acc->type) < 32) {
        cuda_emit_registers(c, acc, slot);
    } else {
        str_printf(e->out, "&%s[", buffer_name(e, acc));
        emit_loose(e, slot);
        str_putc(e->out, ']');
    }
    for (int which = MMA_A; which <= MMA_B; which++) {
        str_puts(e->out, ", ");
        cuda_emit_registers(c, s->u.instr.region[which].buf, cuda_operand_slot(c, s, which));
    }
    for (int i = MMA_SA; i < s->u.instr.nregion; i++) {
        str_printf(e->out, ", %s[", buffer_name(e, s->u.instr.region[i].buf));
        emit_loose(e, s->u.instr.region[i].at[0]);
        str_putc(e->out, ']');
    }
    str_puts(e->out, ");\n");
}

static void emit_mma(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    const Mma *m = s->u.instr.isa->mma;
    const char *name = arena_printf(e->arena, "tl_mma_m%dn%dk%d_%s_%s_%s", m->m, m->n, m->k,
                                    m->word[MMA_C], m->word[MMA_A], m->word[MMA_B]);

    if (m->per)
        name = arena_printf(e->arena, "%s_scaled%d", name, m->per);
    declare_mma(c, name, s->u.instr.isa);
    cuda_emit_product(c, s, name);
}

typedef void EmitFn(Cuda *c, const Stmt *s);
static EmitFn *const instr_table[ISA_COUNT] = {
    [ISA_LDMATRIX_A] = emit_ldmatrix, [ISA_LDMATRIX_A_TRANS] = emit_ldmatrix,
    [ISA_LDMATRIX_B] = emit_ldmatrix, [ISA_LDMATRIX_B_TRANS] = emit_ldmatrix,
    [ISA_STMATRIX] = emit_stmatrix,   [ISA_MMA] = emit_mma,
    [ISA_WGMMA] = cuda_emit_wgmma,    [ISA_WGMMA_SP] = cuda_emit_wgmma,
    [ISA_WGMMA_SP_BYTES] = cuda_emit_wgmma,
    [ISA_TENSOR_MMA] = cuda_emit_tensor_mma, [ISA_TENSOR_MMA_PAIR] = cuda_emit_tensor_mma,
    [ISA_TENSOR_MMA_SCALED] = cuda_emit_tensor_scaled,
    [ISA_TENSOR_MMA_SCALED_PAIR] = cuda_emit_tensor_scaled,
    [ISA_TENSOR_SPREAD] = cuda_emit_tensor_spread,
    [ISA_TENSOR_SPREAD_PAIR] = cuda_emit_tensor_spread,
    [ISA_TENSOR_LOAD] = cuda_emit_tensor_move, [ISA_TENSOR_STORE] = cuda_emit_tensor_move,
    [ISA_TMA_LOAD] = cuda_emit_tma,   [ISA_TMA_LOAD_IM2COL] = cuda_emit_tma,
    [ISA_TMA_LOAD_PAIR] = cuda_emit_tma,
    [ISA_TMA_STORE] = cuda_emit_tma,
    [ISA_TMA_LOAD_RUN] = cuda_emit_bulk, [ISA_TMA_STORE_RUN] = cuda_emit_bulk,
};

void cuda_emit_instr(Emit *e, const Stmt *s)
{
    Cuda *c = cuda_of(e);
    const Isa *isa = s->u.instr.isa;

    BUG(!instr_table[isa->id], "no CUDA for the instruction %s", isa->name);
    if (!isa_fits(isa, &c->e.spec->machine))
        cuda_refuse(c, s, arena_printf(c->e.arena, "the instruction %s", isa->name));
    instr_table[isa->id](c, s);
}
