/* ldmatrix.c -- T.ptx_ldmatrix: rows of shared memory distributed to the lanes of a warp.
 *
 * Lane 8 * i + r names where row r of matrix i starts: 8 rows of 16 bytes, of which every lane gets
 * 32 bits: the words of lane l are those of row l / 4, or with trans the elements of column l / 4.
 * Where the starts of a warp are seen to be matrices side by side or one below the other, it is the
 * instruction that T.gemm uses.  Else they are exchanged by a shuffle and the elements read one by
 * one, at their places under the tile's layout, which means the same on every target; where there
 * is the instruction, that is told. */
#include "front/builtin.h"
#include "arith/arith.h"
#include "isa/isa.h"

enum { LANES = 32, ROWS = 8, MATRICES = 4, WORD_BITS = 32, ROW_BITS = 128 };

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

/* ---- by the instruction ---------------------------------------------------------------------- */

/* Where the matrices of a warp start, from its lane 0 on. */
typedef struct {
    const Expr *at[RANK_MOST]; /* of lane 0 */
    int64_t down[MATRICES], across[MATRICES];
} Starts;

static const Expr *without_names(BuiltinCall *c, const Expr *e)
{
    for (const Expr *before = NULL; before != e;) {
        before = e;
        e = expr_subst_map(c->ev->ir, e, &c->ev->trace->lets, NULL);
    }
    return e;
}

static const Expr *at_lane(Ir *ir, const Expr *e, Var *thread, int lane)
{
    const Expr *t = expr_var(ir, thread), *n = expr_int(ir, LANES);
    t = expr_add(ir, expr_mul(ir, expr_floordiv(ir, t, n), n), expr_int(ir, lane));
    return simplify(ir, NULL, expr_subst(ir, e, thread, t));
}

/* a - b, where that is a number. */
static bool distance(const Expr *a, const Expr *b, int64_t *n)
{
    Linear l = {0};

    linear_expr(&l, a, 1);
    linear_expr(&l, b, -1);
    *n = l.base;
    return l.n == 0 && !l.bad;
}

/* Are the rows of each matrix consecutive rows of the tile? */
static bool find_starts(BuiltinCall *c, const Ldmatrix *x, Starts *s)
{
    Ir *ir = c->ev->ir;
    Kernel *k = call_kernel(c);
    const Buffer *b = x->from->u.buf;
    const Expr *of[RANK_MOST];
    int lead = b->rank - 2;
    int64_t zero;

    if (lead < 0 || k->threads[1] > 1 || k->threads[2] > 1 || k->threads[0] % LANES)
        return false;
    if (expr_is_int(x->from_offset, &zero) && zero == 0)
        memcpy(of, x->from->kid, (size_t)b->rank * sizeof *of);
    else
        spread(ir, b, flat_index(ir, x->from, x->from_offset), of);
    Var *thread = flat_thread(c)->u.var;
    for (int d = 0; d < b->rank; d++) {
        of[d] = without_names(c, of[d]);
        s->at[d] = at_lane(ir, of[d], thread, 0);
        for (int lane = 0; lane < x->num * ROWS; lane++) {
            int64_t n, row = lane % ROWS, matrix = lane / ROWS;
            if (!distance(at_lane(ir, of[d], thread, lane), s->at[d], &n))
                return false;
            if (row == 0 && d >= lead)
                (d == lead ? s->down : s->across)[matrix] = n;
            else if (n != (d == lead ? s->down[matrix] + row : d > lead ? s->across[matrix] : 0))
                return false;
        }
    }
    return true;
}

/* Are they `down` matrices below each other by `across` side by side, those of a column
 * (down_first) or of a row following each other? */
static bool stand(const Starts *s, int64_t num, int64_t down, bool down_first, int unit)
{
    int64_t across = num / down;

    for (int64_t i = 0; i < num; i++) {
        int64_t row = down_first ? i % down : i / across, col = down_first ? i / down : i % across;
        if (s->down[i] != row * ROWS || s->across[i] != col * unit)
            return false;
    }
    return true;
}

static bool is_multiple(const Expr *e, int unit)
{
    Modular m = modular_of(NULL, e);
    return m.coef % unit == 0 && m.base % unit == 0;
}

/* By the row of isa.def whose registers come in this order. */
static const Stmt *one_instruction(BuiltinCall *c, const Ldmatrix *x)
{
    static const char *const names[2][2] = {{"ldmatrix.b", "ldmatrix.a"},
                                            {"ldmatrix.a.trans", "ldmatrix.b.trans"}};
    Ir *ir = c->ev->ir;
    Buffer *from = x->from->u.buf, *to = x->to->u.buf;
    int bits = dtype_bits(from->type), unit = ROW_BITS / bits, last = from->rank - 1;
    int64_t columns, down = 1;
    bool down_first = false;
    Starts s;

    if (to->rank != 1 || last < 1 || !expr_is_int(from->shape[last], &columns) || columns % unit ||
        !find_starts(c, x, &s) || !is_multiple(s.at[last], unit))
        return NULL;
    while (down <= x->num && !stand(&s, x->num, down, down_first, unit)) {
        down = down_first ? 2 * down : down;
        down_first = !down_first;
    }
    const Expr *slot = flat_index(ir, x->to, x->to_offset);
    if (down > x->num || !is_multiple(without_names(c, slot), WORD_BITS / bits))
        return NULL;
    Region *r = NEWN(ir->arena, Region, 2);
    r[0] = (Region){to, NEWN(ir->arena, const Expr *, 1), NEWN(ir->arena, const Expr *, 1)};
    r[1] = (Region){from, NEWN(ir->arena, const Expr *, from->rank),
                    NEWN(ir->arena, const Expr *, from->rank)};
    r[0].at[0] = slot;
    r[0].extent[0] = expr_int(ir, x->num * (WORD_BITS / bits));
    for (int d = 0; d < from->rank; d++) {
        r[1].at[d] = s.at[d];
        r[1].extent[d] = expr_int(ir, d == last ? x->num / down * unit
                                      : d == last - 1 ? down * ROWS : 1);
    }
    const Isa *isa = ir->words->isa_find(names[x->trans][down_first]);
    return stmt_instr(ir, c->span, isa, 2, r, 0, NULL, 0);
}

/* ---- element by element ---------------------------------------------------------------------- */

static void by_elements(BuiltinCall *c, const Ldmatrix *x)
{
    Ir *ir = c->ev->ir;
    int each = WORD_BITS / dtype_bits(x->from->u.buf->type);
    const Expr *lane = expr_floormod(ir, flat_thread(c), expr_int(ir, LANES));
    const Expr *row = expr_floordiv(ir, lane, expr_int(ir, 4));
    const Expr *part = expr_mul(ir, expr_floormod(ir, lane, expr_int(ir, 4)), expr_int(ir, each));
    const Expr *start = expr_cast(ir, DT_I32, flat_index(ir, x->from, x->from_offset));

    for (int64_t i = 0; i < x->num; i++) {
        const Expr *first = expr_int(ir, i * ROWS);
        const Expr *own = x->trans ? NULL : start_of(c, start, expr_add(ir, first, row));
        for (int e = 0; e < each; e++) {
            const Expr *along = expr_add(ir, part, expr_int(ir, e));
            const Expr *at = own ? own : start_of(c, start, expr_add(ir, first, along));
            store_element(c, x, i * each + e, expr_add(ir, at, own ? along : row));
        }
    }
}

Value do_ptx_ldmatrix(BuiltinCall *c)
{
    Kernel *k = call_threads(c);
    const Machine *on = call_machine(c);
    Ldmatrix x;

    take(c, &x);
    check(c, &x);
    if (on && isa_fits(c->ev->ir->words->isa_find("ldmatrix.a"), on)) {
        const Stmt *s = one_instruction(c, &x);
        if (s)
            return call_emit(c, s);
        audit_note(k, AUDIT_MMA, c->span, "T.ptx_ldmatrix is done by shuffles and by loads of "
                   "single elements, since its rows are not seen to be matrices side by side");
    }
    by_elements(c, &x);
    return value_none();
}
