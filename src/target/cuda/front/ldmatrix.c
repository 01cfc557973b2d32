/* ldmatrix.c -- T.ptx_ldmatrix: rows of shared memory distributed to the lanes of a warp.
 *
 * Lane 8 * i + r names where row r of matrix i starts: 8 rows of 16 bytes, of which every lane gets
 * 32 bits: the words of lane l are those of row l / 4, or with trans the elements of column l / 4.
 * The starts are exchanged by a shuffle and the elements read one by one, at their places under
 * the tile's layout, so that it means the same on every target.  T.gemm uses the instruction; where
 * there is one, that is told. */
#include "front/builtin.h"
#include "isa/isa.h"

enum { LANES = 32, ROWS = 8, WORD_BITS = 32 };

typedef struct {
    const Expr *to, *from; /* addresses of elements */
    const Expr *to_offset, *from_offset;
    bool trans;
    int64_t num;
} Ldmatrix;

static const Expr *flat_index(Ir *ir, const Expr *p, const Expr *offset)
{
    const Buffer *b = p->u.buf;
    const Expr *at = expr_int(ir, 0);
    for (int d = 0; d < b->rank; d++)
        at = expr_add(ir, expr_mul(ir, at, b->shape[d]), p->kid[d]);
    return expr_add(ir, at, offset);
}

static void spread(Ir *ir, const Buffer *b, const Expr *flat, const Expr **at)
{
    for (int d = b->rank - 1; d >= 0; d--) {
        at[d] = d ? expr_floormod(ir, flat, b->shape[d]) : flat;
        flat = expr_floordiv(ir, flat, b->shape[d]);
    }
}

static const Expr *address_arg(BuiltinCall *c, int i, const char *what)
{
    const Expr *p = rest_expr(c, i);
    if (p->op != EX_ADDR || p->u.buf->stride)
        call_fail(c, "%s must be the address of an element [argument-type]", what);
    return p;
}

static bool flag_arg(BuiltinCall *c, int i)
{
    int64_t yes;
    const Value *v = &c->rest[i];
    if (v->kind == V_BOOL || v->kind == V_INT)
        return v->u.i != 0;
    if (!expr_is_int(rest_expr(c, i), &yes))
        call_fail(c, "trans must be known at compile time [argument-type]");
    return yes != 0;
}

/* (trans, num, from, to), or (dtype, trans, num, ".b16", to, offset, from, offset) as it was. */
static void take(BuiltinCall *c, Ldmatrix *x)
{
    Ir *ir = c->ev->ir;
    bool old = c->nrest == 8;

    if (c->nrest != 4 && !old)
        call_fail(c, "takes trans, num and two addresses, or the eight arguments of before; not %d "
                  "[argument-count]", c->nrest);
    x->trans = flag_arg(c, old);
    x->num = to_int(c->ev, c->span, &c->rest[old ? 2 : 1], "T.ptx_ldmatrix: num");
    x->from = address_arg(c, old ? 6 : 2, "the source");
    x->to = address_arg(c, old ? 4 : 3, "the destination");
    x->from_offset = old ? rest_expr(c, 7) : expr_int(ir, 0);
    x->to_offset = old ? rest_expr(c, 5) : expr_int(ir, 0);
}

static void check(BuiltinCall *c, const Ldmatrix *x)
{
    const Buffer *from = x->from->u.buf, *to = x->to->u.buf;

    if (x->num != 1 && x->num != 2 && x->num != 4)
        call_fail(c, "num must be 1, 2 or 4, not %lld [argument-type]", (long long)x->num);
    if (from->scope != MEM_SHARED || to->scope != MEM_LOCAL)
        call_fail(c, "goes from shared memory to an array of T.alloc_local, not from '%s' to '%s' "
                  "[argument-type]", from->name, to->name);
    if (from->type != to->type || (dtype_bits(from->type) != 8 && dtype_bits(from->type) != 16))
        call_fail(c, "moves elements of 8 or 16 bits of one type, not %s to %s [argument-type]",
                  dtype_name(from->type), dtype_name(to->type));
    if (x->trans && dtype_bits(from->type) != 16)
        call_fail(c, "transposes elements of 16 bits, not %s [argument-type]",
                  dtype_name(from->type));
}

static const Expr *start_of(BuiltinCall *c, const Expr *start, const Expr *lane)
{
    const Expr *arg[3] = {start, lane, expr_int(c->ev->ir, LANES)};
    return call_intrin(c, INTRIN_SHFL, 3, arg, 0, NULL, NULL, DT_I32).u.expr;
}

static void store_element(BuiltinCall *c, const Ldmatrix *x, int64_t slot, const Expr *flat)
{
    Ir *ir = c->ev->ir;
    Buffer *from = x->from->u.buf, *to = x->to->u.buf;
    const Expr *at[RANK_MOST], *into[RANK_MOST];
    const Expr *place = flat_index(ir, x->to, expr_add(ir, x->to_offset, expr_int(ir, slot)));

    spread(ir, from, flat, at);
    spread(ir, to, place, into);
    call_emit(c, stmt_store(ir, c->span, to, into, to->rank,
                            expr_load(ir, from, at, from->rank)));
}

Value do_ptx_ldmatrix(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    Ldmatrix x;

    Kernel *k = call_threads(c);
    const Machine *on = call_machine(c);
    take(c, &x);
    check(c, &x);
    if (on && isa_fits(ir->words->isa_find("ldmatrix.a"), on))
        audit_note(k, AUDIT_MMA, c->span, "T.ptx_ldmatrix is done by shuffles and by loads of single "
                   "elements, not by ldmatrix, which T.gemm uses");
    int each = WORD_BITS / dtype_bits(x.from->u.buf->type);
    const Expr *lane = expr_floormod(ir, flat_thread(c), expr_int(ir, LANES));
    const Expr *row = expr_floordiv(ir, lane, expr_int(ir, 4));
    const Expr *part = expr_mul(ir, expr_floormod(ir, lane, expr_int(ir, 4)), expr_int(ir, each));
    const Expr *start = expr_cast(ir, DT_I32, flat_index(ir, x.from, x.from_offset));

    for (int64_t i = 0; i < x.num; i++) {
        const Expr *first = expr_int(ir, i * ROWS);
        const Expr *own = x.trans ? NULL : start_of(c, start, expr_add(ir, first, row));
        for (int e = 0; e < each; e++) {
            const Expr *along = expr_add(ir, part, expr_int(ir, e));
            const Expr *at = own ? own : start_of(c, start, expr_add(ir, first, along));
            store_element(c, &x, i * each + e, expr_add(ir, at, own ? along : row));
        }
    }
    return value_none();
}
