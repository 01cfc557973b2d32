/* emit_tensor.c -- tensor memory as CUDA C: columns for the block, MMAs, loads and stores of warps.
 *
 * A load has too many registers for a library of helpers: the wrapper of each width in use is
 * written here, before the kernels. */
#include "pass/plan_shared.h"
#include "target/cuda/emit.h"

enum { A, B, C, SA, SB, LANES = 128, SLOT_BYTES = 16 };

static const Expr *num(Cuda *c, int64_t v)
{
    return expr_int(c->e.ir, v);
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Two blocks that multiply together ask for columns together, and do the rest so too. */
static const char *pair_word(const Cuda *c)
{
    return c->pairs ? "_pair" : "";
}

/* One warp asks before the block meets for the first time. */
void cuda_tensor_ask(Cuda *c, const Kernel *k)
{
    if (k->tensor_columns)
        emit_line(&c->e, "if (threadIdx.x < 32 && threadIdx.y + threadIdx.z == 0) "
                  "tl_tensor_alloc%s(tl_shared + %lld, %d);", pair_word(c),
                  (long long)(k->arena_bytes - SLOT_BYTES), k->tensor_columns);
    if (k->tensor_columns)
        emit_line(&c->e, "tl_tensor_before_sync();");
}

/* A view is the same columns as long as its rows are those of the tile. */
static void check_view(const Kernel *k, const Buffer *b)
{
    const Buffer *root = buffer_root(b);
    int64_t shape[2][RANK_MOST] = {{0}};
    int last = b->rank - 1, own = root->rank - 1;
    bool known = buffer_static_shape(b, shape[0]) && buffer_static_shape(root, shape[1]);

    if (!known || !last || shape[0][last - 1] != shape[1][own - 1] ||
        shape[0][last] * dtype_bits(b->type) != shape[1][own] * dtype_bits(root->type))
        diag_fail(k->diag, b->span, "a view of '%s', which is in tensor memory, has other rows "
                  "than it [unsupported-here]", root->name);
}

void cuda_tensor_open(Cuda *c, Kernel *k, bool met)
{
    Emit *e = &c->e;

    if (!k->tensor_columns)
        return;
    if (!met)
        emit_line(e, "__syncthreads();");
    emit_line(e, "tl_tensor_after_sync();");
    emit_line(e, "const uint32_t tl_tensor = *(volatile uint32_t *)(tl_shared + %lld);",
              (long long)(k->arena_bytes - SLOT_BYTES));
    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        if (b->scope != MEM_TMEM || !map_has(&c->u.used, b))
            continue;
        if (b->view_of)
            check_view(k, b);
        emit_line(e, "const uint32_t %s = tl_tensor + %lld;", buffer_name(e, b),
                  (long long)buffer_plan(k, buffer_root(b))->offset);
    }
}

/* Nobody touches them any more. */
void cuda_tensor_close(Cuda *c, const Kernel *k)
{
    Emit *e = &c->e;

    if (!k->tensor_columns)
        return;
    emit_line(e, "tl_tensor_before_sync();");
    emit_line(e, c->pairs ? "tl_cluster_arrive(), tl_cluster_wait();" : "__syncthreads();");
    emit_line(e, "tl_tensor_after_sync();");
    emit_line(e, "if (threadIdx.x < 32 && threadIdx.y + threadIdx.z == 0) "
              "tl_tensor_free%s(tl_tensor, %d);", pair_word(c), k->tensor_columns);
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* Rows are lanes, every 16 of 64 rows the first of 32; rows past the lanes are columns further. */
static void emit_tensor_address(Cuda *c, const Region *r)
{
    Emit *e = &c->e;
    Ir *ir = e->ir;
    const Buffer *b = r->buf;
    int64_t rows = 0, cols = 0, row = b->rank - 2;

    expr_is_int(b->shape[row], &rows);
    expr_is_int(b->shape[row + 1], &cols);
    int64_t each = tensor_in_column(e->k, b), width = (cols + each - 1) / each;
    const Expr *block = num(c, 0), *lane = r->at[row];
    for (int d = 0; d < row; d++)
        block = expr_add(ir, expr_mul(ir, block, b->shape[d]), r->at[d]);
    block = expr_mul(ir, block, num(c, (rows + LANES - 1) / LANES));
    if (rows > LANES) {
        block = expr_add(ir, block, expr_floordiv(ir, lane, num(c, LANES)));
        lane = expr_floormod(ir, lane, num(c, LANES));
    }
    const Expr *at = expr_add(ir, expr_mul(ir, block, num(c, width)),
                              expr_floordiv(ir, r->at[row + 1], num(c, each)));
    lane = expr_mul(ir, lane, num(c, (int64_t)(rows < LANES ? 2 : 1) << 16));
    at = simplify(ir, e->facts, expr_add(ir, lane, at));
    str_puts(e->out, buffer_name(e, b));
    if (expr_is_zero(at))
        return;
    str_puts(e->out, " + ");
    emit_index(e, at);
}

/* ---- MMAs ------------------------------------------------------------------------------------ */

/* Work on tensor memory is all of one block, or all of two together. */
static void check_alone(Cuda *c, const Stmt *s)
{
    if (c->pairs && s->u.instr.isa->scope != BY_PAIR)
        diag_fail(c->e.k->diag, s->span, "this is for one block, and others of the kernel are for "
                  "two together (use_2cta=True) [cluster-pair]");
}

/* Rows of the instruction: those of both blocks. */
static int64_t rows_of(const Cuda *c, const Region *r)
{
    return region_extent_int(r, r->buf->rank - 2) * (c->pairs ? 2 : 1);
}

/* The kind of an MMA, and the number by which it knows a type. */
static const struct {
    DType t;
    const char *kind;
    unsigned code;
} operand_types[] = {
    {DT_F16, "f16", 0}, {DT_BF16, "f16", 1}, {DT_TF32, "tf32", 2}, {DT_E4M3, "f8f6f4", 0},
    {DT_E5M2, "f8f6f4", 1}, {DT_U8, "i8", 0}, {DT_I8, "i8", 1}, {DT_E2M1B, "f8f6f4", 5},
};

static int operand_type(DType t)
{
    for (int i = 0; i < COUNT(operand_types); i++)
        if (operand_types[i].t == (t == DT_F32 ? DT_TF32 : t))
            return i;
    unreachable();
}

/* The instruction descriptor: types of C, A and B, which are stored with k as rows, n and m. */
static unsigned what_of(const Region *r, bool trans_a, bool trans_b, int64_t m, int64_t n)
{
    DType c = r[C].buf->type;
    unsigned result = c == DT_F16 ? 0 : c == DT_F32 ? 1 : 2;

    return result << 4 | operand_types[operand_type(r[A].buf->type)].code << 7 |
           operand_types[operand_type(r[B].buf->type)].code << 10 | (unsigned)trans_a << 15 |
           (unsigned)trans_b << 16 | (unsigned)(n / 8) << 17 | (unsigned)(m / 16) << 24;
}

/* What an MMA with scales is called, and the numbers by which it knows types of operands. */
static const struct {
    int per; /* scales in a step of k */
    const char *name;
    DType t;
    unsigned code;
} scaled_types[] = {
    {1, "mxf8f6f4", DT_E4M3, 0}, {1, "mxf8f6f4", DT_E5M2, 1}, {2, "mxf4", DT_E2M1, 1},
    {4, "mxf4nvf4", DT_E2M1, 1}, {1, "mxf8f6f4", DT_E2M1B, 5},
};

static int scaled_type(DType t, int64_t per)
{
    for (int i = 0; i < COUNT(scaled_types); i++)
        if (scaled_types[i].t == t && scaled_types[i].per == per)
            return i;
    unreachable();
}

/* Its descriptor has the first bytes of the words of scales, and their type, in place of that of C:
 * e8m0, or where there are four in a step e4m3. */
static void emit_scaled_what(Cuda *c, const Stmt *s, int64_t per)
{
    const Region *r = s->u.instr.region;
    int64_t km = 0, nk = 0, byte;
    int last = r[C].buf->rank - 1;
    static const int shift[2] = {29, 4};

    expr_is_int(s->u.instr.arg[0], &km);
    expr_is_int(s->u.instr.arg[1], &nk);
    unsigned what = scaled_types[scaled_type(r[A].buf->type, per)].code << 7 |
                    scaled_types[scaled_type(r[B].buf->type, per)].code << 10 |
                    (unsigned)(km != 0) << 15 | (unsigned)(nk == 0) << 16 |
                    (unsigned)(region_extent_int(&r[C], last) / 8) << 17 |
                    (unsigned)(per < 4) << 23 |
                    (unsigned)(rows_of(c, &r[C]) / 16) << 24;
    for (int i = 0; i < 2; i++)
        if (expr_is_int(s->u.instr.arg[3 + i], &byte))
            what |= (unsigned)byte << shift[i];
    str_printf(c->e.out, "0x%xu", what);
    for (int i = 0; i < 2; i++)
        if (!expr_is_int(s->u.instr.arg[3 + i], &byte)) {
            str_puts(c->e.out, " | (uint32_t)");
            emit_parens(&c->e, s->u.instr.arg[3 + i]);
            str_printf(c->e.out, " << %d", shift[i]);
        }
}

static void emit_adds(Emit *e, const Expr *clears)
{
    int64_t clear;

    if (expr_is_int(clears, &clear)) {
        str_printf(e->out, "%d", !clear);
        return;
    }
    str_puts(e->out, "!");
    emit_parens(e, clears);
}

void cuda_emit_tensor_scaled(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    const Region *r = s->u.instr.region;
    int64_t km = 0, nk = 0, per = 0;

    expr_is_int(s->u.instr.arg[0], &km);
    expr_is_int(s->u.instr.arg[1], &nk);
    expr_is_int(s->u.instr.arg[5], &per);
    emit_indent(e);
    check_alone(c, s);
    str_printf(e->out, "tl_tcgen05_%s%s(", scaled_types[scaled_type(r[A].buf->type, per)].name,
               pair_word(c));
    emit_tensor_address(c, &r[C]);
    str_puts(e->out, ", ");
    cuda_emit_descriptor(c, s, &r[A], km != 0);
    str_puts(e->out, ", ");
    cuda_emit_descriptor(c, s, &r[B], nk == 0);
    str_puts(e->out, ", ");
    emit_scaled_what(c, s, per);
    for (int i = SA; i <= SB; i++) {
        str_puts(e->out, ", ");
        emit_tensor_address(c, &r[i]);
    }
    str_puts(e->out, ", ");
    emit_adds(e, s->u.instr.arg[2]);
    str_puts(e->out, ");\n");
}

/* Words of scales: 32 rows of 16 bytes one after the other, without a swizzle. */
void cuda_emit_tensor_spread(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    const Region *r = s->u.instr.region;

    emit_indent(e);
    check_alone(c, s);
    str_printf(e->out, "tl_tensor_spread%s(", pair_word(c));
    emit_tensor_address(c, &r[1]);
    str_puts(e->out, ", tl_tensor_matrix(");
    cuda_emit_place(c, &r[0]);
    str_puts(e->out, ", 0, 128, 0));\n");
}

void cuda_emit_tensor_mma(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    const Region *r = s->u.instr.region;
    int64_t stored_km = 0, stored_nk = 0;
    bool ts = r[A].buf->scope == MEM_TMEM;

    expr_is_int(s->u.instr.arg[0], &stored_km);
    expr_is_int(s->u.instr.arg[1], &stored_nk);
    int last = r[C].buf->rank - 1;
    emit_indent(e);
    check_alone(c, s);
    str_printf(e->out, "tl_tcgen05_%s%s%s(", operand_types[operand_type(r[A].buf->type)].kind,
               ts ? "_ts" : "", pair_word(c));
    emit_tensor_address(c, &r[C]);
    str_puts(e->out, ", ");
    if (ts)
        emit_tensor_address(c, &r[A]);
    else
        cuda_emit_descriptor(c, s, &r[A], stored_km != 0);
    str_puts(e->out, ", ");
    cuda_emit_descriptor(c, s, &r[B], stored_nk == 0);
    str_printf(e->out, ", 0x%xu, ",
               what_of(r, stored_km != 0, stored_nk == 0, rows_of(c, &r[C]),
                       region_extent_int(&r[C], last)));
    emit_adds(e, s->u.instr.arg[2]);
    str_puts(e->out, ");\n");
}

/* ---- rows of warps --------------------------------------------------------------------------- */

static void put_registers(Str *out, int from, int n)
{
    str_putc(out, '{');
    for (int i = 0; i < n; i++)
        str_printf(out, "%s%%%d", i ? (i % 16 ? ", " : ", \"\n        \"") : "", from + i);
    str_putc(out, '}');
}

/* packs: a register has the lower halves of two columns. */
static const char *move_wrapper(Cuda *c, bool loads, bool packs, int n)
{
    Str *out = &c->e.decls;
    const char *how = !packs ? "" : loads ? ".pack::16b" : ".unpack::16b";
    const char *name = arena_printf(c->e.arena, "tl_tensor_%s%s_x%d", loads ? "load" : "store",
                                    packs ? "_halves" : "", n);

    if (map_has(&c->e.routines, name))
        return name;
    map_set(&c->e.routines, name, (void *)name);
    str_printf(out, "TL_DEVICE void %s(%suint32_t *r, uint32_t at)\n{\n", name,
               loads ? "" : "const ");
    str_printf(out, "    asm volatile(\"tcgen05.%s.sync.aligned.32x32b.x%d%s.b32 \"\n        \"",
               loads ? "ld" : "st", n, how);
    if (!loads)
        str_puts(out, "[%0], ");
    put_registers(out, !loads, n);
    if (loads)
        str_printf(out, ", [%%%d]", n);
    str_printf(out, "; tcgen05.wait::%s.sync.aligned;\"\n        :", loads ? "ld" : "st");
    str_puts(out, loads ? "" : " : \"r\"(at),\n         ");
    for (int i = 0; i < n; i++)
        str_printf(out, "%s \"%sr\"(r[%d])", i ? (i % 8 ? "," : ",\n         ") : "",
                   loads ? "=" : "", i);
    str_puts(out, loads ? "\n        : \"r\"(at) : \"memory\");\n}\n\n" : " : \"memory\");\n}\n\n");
    return name;
}

/* The first register of this lane's row; the others follow. */
static void emit_own_registers(Cuda *c, const Stmt *s, const Region *r)
{
    Emit *e = &c->e;
    Ir *ir = e->ir;
    int row = r->buf->rank - 2;
    int64_t lanes = region_extent_int(r, row);
    const Expr *lane = expr_floormod(ir, thread_in_block(e->k), num(c, e->k->machine->lanes));
    const Expr *at[RANK_MOST];

    for (int d = 0; d < r->buf->rank; d++)
        at[d] = r->at[d];
    at[row] = expr_add(ir, at[row], lanes < 32 ? expr_floormod(ir, lane, num(c, lanes)) : lane);
    const Layout *l = buffer_plan(e->k, r->buf)->layout;
    const Expr *slot = cuda_same_slot(c, simplify(ir, e->facts, layout_offset(ir, l, at)));

    if (!slot)
        diag_fail(e->k->diag, s->span,
                  "the registers of '%s' differ between threads [unsupported-here]", r->buf->name);
    cuda_emit_registers(c, r->buf, slot);
}

void cuda_emit_tensor_move(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    bool loads = s->u.instr.isa->id == ISA_TENSOR_LOAD;
    const Region *regs = &s->u.instr.region[loads ? 0 : 1];
    const Region *tensor = &s->u.instr.region[loads ? 1 : 0];
    int64_t bits = region_extent_int(regs, regs->buf->rank - 1) * dtype_bits(regs->buf->type);

    emit_indent(e);
    bool packs = dtype_bits(regs->buf->type) == 16 && tensor_in_column(e->k, tensor->buf) == 1;
    str_printf(e->out, "%s(", move_wrapper(c, loads, packs, (int)(bits / 32)));
    emit_own_registers(c, s, regs);
    str_puts(e->out, ", ");
    emit_tensor_address(c, tensor);
    str_puts(e->out, ");\n");
}
