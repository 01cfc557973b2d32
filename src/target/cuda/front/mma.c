/* mma.c -- GEMMs and MMAs by the name of their instruction. */
#include "front/builtin.h"

Value do_wgmma_gemm(BuiltinCall *c)
{
    Hints h = {0};
    hints_int(c->ev, &h, "async", 1);
    hints_text(c->ev, &h, "instruction", "wgmma");
    return gemm_call(c, (GemmSlots){3, 4, 5, 6, -1, -1, 7}, h);
}

Value do_tcgen05_gemm(BuiltinCall *c)
{
    Hints h = {0};
    pair_hint(c, &h, 8);
    hints_int(c->ev, &h, "async", 1);
    hints_text(c->ev, &h, "instruction", "tcgen05");
    return gemm_call(c, (GemmSlots){3, 4, 5, 6, -1, 7, 9}, h);
}

Value do_tcgen05_gemm_blockscaled(BuiltinCall *c)
{
    Hints h = {0};
    if (arg_int(c, 8) != 0)
        arg_fail(c, 8, "must be 0: the GEMM is waited for at a barrier [unsupported-here]");
    pair_hint(c, &h, 13);
    hints_int(c->ev, &h, "async", 1);
    hints_text(c->ev, &h, "instruction", "tcgen05");
    return scaled_gemm_call(c, (ScaledSlots){-1, 7, 9, 10, -1, -1}, h);
}

/* ---- one instruction ------------------------------------------------------------------------- */

/* Words of callers for types of operands, PTX's words, and bits. */
static const struct {
    const char *said, *ptx;
    int bits;
} operand_types[] = {
    {"fp16", "f16", 16},      {"float16", "f16", 16},     {"bf16", "bf16", 16},
    {"bfloat16", "bf16", 16}, {"tf32", "tf32", 32},       {"fp32", "f32", 32},
    {"float32", "f32", 32},   {"fp64", "f64", 64},        {"float64", "f64", 64},
    {"int8", "s8", 8},        {"uint8", "u8", 8},         {"int4", "s4", 4},
    {"uint4", "u4", 4},       {"int32", "s32", 32},       {"e4m3", "e4m3", 8},
    {"e5m2", "e5m2", 8},      {"float8_e4m3fn", "e4m3", 8}, {"float8_e5m2", "e5m2", 8},
};

static int operand_type(BuiltinCall *c, int i)
{
    const char *said = arg_text(c, i);
    for (int t = 0; said && t < COUNT(operand_types); t++)
        if (!strcmp(operand_types[t].said, said))
            return t;
    arg_fail(c, i, "is no type of an operand [argument-type]");
}

/* T.ptx_mma: mma.sync on slots that the caller has filled as the instruction wants them. */
Value do_ptx_mma(BuiltinCall *c)
{
    enum { SHAPE = 1, A_TYPE = 4, A = 7, LANES = 32 };
    Ir *ir = c->ev->ir;
    int m, n, k, t[3];
    const char *shape = arg_text(c, SHAPE);
    static const char *const row[] = {"row", NULL}, *const col[] = {"col", NULL};

    call_threads(c);
    if (!shape || sscanf(shape, "m%dn%dk%d", &m, &n, &k) != 3)
        arg_fail(c, SHAPE, "must be a shape such as \"m16n8k16\" [argument-type]");
    arg_word(c, 2, row, " [argument-type]");
    arg_word(c, 3, col, " [argument-type]");
    for (int i = 0; i < 3; i++)
        t[i] = operand_type(c, A_TYPE + i);
    const char *name = arena_printf(ir->arena, "mma.m%dn%dk%d.%s.%s.%s", m, n, k,
                                    operand_types[t[2]].ptx, operand_types[t[0]].ptx,
                                    operand_types[t[1]].ptx);
    const Isa *isa = ir->words->isa_find(name);
    if (!isa)
        call_fail(c, "there is no instruction %s [unsupported-here]", name);
    int64_t size[3] = {(int64_t)m * k, (int64_t)k * n, (int64_t)m * n};
    Region *r = NEWN(ir->arena, Region, 3);
    for (int i = 0; i < 3; i++)
        r[i] = arg_slots(c, A + 2 * i, operand_types[t[i]].bits, size[i] / LANES, 1);
    return call_emit(c, stmt_instr(ir, c->span, isa, 3, r, 0, NULL, 0));
}
