/* mfma.c -- T.tvm_mfma: one instruction on slots that the caller has filled as it wants them. */
#include "front/builtin.h"
#include "isa/isa.h"

enum { SUFFIX, LAYOUTS, TYPES = 3, OPERANDS = 6, RESULT = 12, LANES = 64 };

/* A region of a fragment. */
static bool is_tile(BuiltinCall *c, int which)
{
    return which == MMA_C && c->arg[OPERANDS + 2 * which].kind == V_REGION;
}

static Region tile_of(BuiltinCall *c, const Mma *m)
{
    Region r = arg_tile(c, OPERANDS + 2 * MMA_C);

    if (r.buf->scope != MEM_FRAGMENT || r.buf->rank != 2 || region_const(&r, 0) != m->m ||
        region_const(&r, 1) != m->n)
        arg_fail(c, OPERANDS + 2 * MMA_C, "must be %d by %d elements of a fragment [argument-type]",
                 m->m, m->n);
    return r;
}

static Buffer *operand(BuiltinCall *c, int which)
{
    const Value *v = &c->arg[OPERANDS + 2 * which];

    if (is_tile(c, which))
        return arg_tile(c, OPERANDS + 2 * which).buf;
    return v->kind == V_EXPR && v->u.expr->op == EX_ADDR ? v->u.expr->u.buf
                                                         : arg_buffer(c, OPERANDS + 2 * which);
}

/* The row by its name and what the operands are of: two kinds of 8-bit floats share a name. */
static const Isa *named(BuiltinCall *c)
{
    const char *suffix = arg_text(c, SUFFIX);
    const Isa *isa;
    bool known = false;

    for (int i = 0; suffix && (isa = mma_row(i)) != NULL; i++) {
        const Mma *m = isa->mma;
        if (m->per || mma_warp(isa) != LANES || strcmp(m->own, suffix) != 0)
            continue;
        known = true;
        bool fits = true;
        for (int j = 0; j < 3; j++)
            fits &= m->type[j] == operand(c, j)->type;
        if (fits)
            return isa;
    }
    if (known)
        call_fail(c, "v_mfma_%s does not multiply %s by %s into %s [unsupported-here]", suffix,
                  dtype_name(operand(c, MMA_A)->type), dtype_name(operand(c, MMA_B)->type),
                  dtype_name(operand(c, MMA_C)->type));
    arg_fail(c, SUFFIX, "is no v_mfma that is known: \"%s\" [unsupported-here]",
             suffix ? suffix : "");
}

/* What the call says of its operands is what they are: "float16", or "float16x4" of four slots. */
static void check_said(BuiltinCall *c, int i, DType t, int64_t slots)
{
    int lanes = 1;

    if (arg_given(c, i) && (arg_dtype(c, i, &lanes) != t || (lanes > 1 && lanes != slots)))
        arg_fail(c, i, "must be %s or %sx%d, which the operand is [argument-type]", dtype_name(t),
                 dtype_name(t), (int)slots);
}

Value do_tvm_mfma(BuiltinCall *c)
{
    static const char *const row[] = {"row", NULL};
    Region *r = NEWN(c->ev->ir->arena, Region, 3);

    call_threads(c);
    arg_word(c, LAYOUTS, row, " [argument-type]");
    arg_word(c, LAYOUTS + 1, row, " [argument-type]");
    const Isa *isa = named(c);
    const Mma *m = isa->mma;
    const int64_t size[3] = {(int64_t)m->m * m->k, (int64_t)m->k * m->n, (int64_t)m->m * m->n};
    for (int i = 0; i < 3; i++) {
        int64_t n = size[i] / LANES;
        check_said(c, TYPES + i, m->type[i], n);
        r[i] = is_tile(c, i) ? tile_of(c, m)
                             : arg_slots(c, OPERANDS + 2 * i, dtype_bits(m->type[i]), n, n);
    }
    check_said(c, RESULT, m->type[MMA_C], size[MMA_C] / LANES);
    return call_emit(c, stmt_instr(c->ev->ir, c->span, isa, 3, r, 0, NULL, 0));
}

/* (target): of its text, or of the machine that is compiled for where it is what a program asked
 * for. */
Value do_is_gfx950(BuiltinCall *c)
{
    const Value *v = &c->arg[0];
    const char *name = v->kind == V_STR ? arg_text(c, 0) : call_machine(c)->name;

    if (v->kind != V_STR && v->kind != V_OPAQUE && v->kind != V_NONE && v->kind != V_FOREIGN)
        arg_fail(c, 0, "must be a target [argument-type]");
    return value_bool(name && strstr(name, "gfx950"));
}
