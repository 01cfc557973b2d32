/* builtin_gemm.c -- GEMMs on tiles; shapes and types are checked where written. */
#include "front/builtin.h"

typedef struct {
    Region r;
    int64_t rows, cols; /* of the last two dimensions, as stored */
} Operand;

/* LATER: what is a tensor stays one. */
typedef enum { IS_READ, IS_RESULT, IS_READ_LATER, IS_RESULT_LATER } OperandRole;

/* A part of a tensor goes through a tile of its own where the machine lets GEMMs name tensors. */
static bool is_staged(BuiltinCall *c, const Region *r, OperandRole role)
{
    return r->buf->scope == MEM_GLOBAL && role != IS_RESULT &&
           machine_has(call_machine(c), HAS_TENSOR_OPERANDS);
}

static void copy_region(BuiltinCall *c, Region from, Region to)
{
    Region r[2] = {from, to};
    call_emit(c, stmt_tile(c->ev->ir, c->span, &op_copy, 2, r, 0, NULL, NULL, (Hints){0}));
}

static Region own_tile(BuiltinCall *c, const Operand *o, MemScope scope)
{
    Ir *ir = c->ev->ir;
    const Expr *shape[] = {expr_int(ir, o->rows), expr_int(ir, o->cols)};
    Buffer *b = trace_buffer(c->ev, c->span, o->r.buf->type, scope, 2, shape);

    b->name = arena_printf(ir->arena, "%s_tile", o->r.buf->name);
    return region_whole(ir, b);
}

static Region staged(BuiltinCall *c, const Operand *o)
{
    Region r = own_tile(c, o, MEM_SHARED);

    copy_region(c, o->r, r);
    return r;
}

static Operand operand(BuiltinCall *c, int i, OperandRole role)
{
    bool is_result = role == IS_RESULT || role == IS_RESULT_LATER;
    Operand o = {.r = arg_tile(c, i)};
    const Region *r = &o.r;
    int n = r->buf->rank;
    MemScope s = r->buf->scope;
    bool stages = is_staged(c, r, role);
    if ((s == MEM_GLOBAL && !stages) || s == MEM_BARRIER || s == MEM_CLUSTER_BARRIER ||
        s == MEM_VAR)
        arg_fail(c, i, "must be a tile in shared memory or registers, but '%s' is in %s memory; "
                 "T.copy it first [gemm-scope]", r->buf->name, mem_name(s));
    if (is_result && r->buf->type == DT_BOOL)
        arg_fail(c, i, "cannot be bool [gemm-dtype]");
    for (int d = 0; d + 2 < n; d++)
        if (!region_extent_is(r, d, 1))
            arg_fail(c, i, "has extents %s; leading ones must be 1 [gemm-shape]",
                     extents_text(c->ev, r));
    if (n < 2)
        arg_fail(c, i, "must have 2 dimensions, not %d [gemm-shape]", n);
    o.rows = region_const(r, n - 2);
    o.cols = region_const(r, n - 1);
    if (o.rows < 0 || o.cols < 0)
        arg_fail(c, i, "has extents %s, which are not known at compile time [gemm-shape]",
                 extents_text(c->ev, r));
    if (stages && role == IS_READ)
        o.r = staged(c, &o);
    return o;
}

/* Each block of a pair has half of the columns of B. */
static void check_shapes(BuiltinCall *c, const Operand *a, const Operand *b, const Operand *out,
                         bool ta, bool tb, bool pair)
{
    long long am = ta ? a->cols : a->rows, ak = ta ? a->rows : a->cols;
    long long bk = tb ? b->cols : b->rows, bn = (tb ? b->rows : b->cols) * (pair ? 2 : 1);
    long long m = out->rows, n = out->cols;
    if (am == m && bn == n && ak == bk)
        return;
    const char *which = am != m ? "M" : bn != n ? "N" : "K";
    const char *flag = am == m && bk == n && bn == ak   ? "transpose_B"
                       : ak == m && am == bk && bn == n ? "transpose_A" : NULL;
    const char *hint = flag ? arena_printf(c->ev->arena, "; with %s=%s they would", flag,
                                           (flag[10] == 'A' ? ta : tb) ? "False" : "True") : "";
    call_fail(c, "%s does not agree: A%s is M=%lld, K=%lld, B%s is K=%lld, N=%lld, C is M=%lld, "
              "N=%lld%s [gemm-shape]", which, ta ? " (transposed)" : "", am, ak,
              tb ? " (transposed)" : "", bk, bn, m, n, hint);
}

static bool is_float8(DType t)
{
    return dtype_is_float(t) && dtype_bits(t) <= 8;
}

static void check_types(BuiltinCall *c, DType a, DType b, DType out)
{
    bool mixed = (is_float8(a) && is_float8(b)) ||
                 (dtype_is_int(a) && dtype_is_int(b) && dtype_bits(a) == dtype_bits(b));
    if (a != b && !mixed)
        call_fail(c, "A is %s and B is %s; they must agree [gemm-dtype]", dtype_name(a),
                  dtype_name(b));
    if (!dtype_is_float(a) && !dtype_is_int(a))
        call_fail(c, "cannot multiply %s [gemm-dtype]", dtype_name(a));
    bool fits = dtype_is_float(a) ? dtype_is_float(out) && dtype_bits(out) >= 16
                                  : dtype_is_int(out) && dtype_bits(out) >= 32;
    if (!fits && !(dtype_is_int(a) && out == DT_F32))
        call_fail(c, "%s products cannot be accumulated in %s [gemm-dtype]", dtype_name(a),
                  dtype_name(out));
}

static void policy_hint(BuiltinCall *c, Hints *h, int i)
{
    int64_t p = arg_given(c, i) ? arg_int(c, i) : 0;
    if (p < 0 || p > 2)
        arg_fail(c, i, "must be a GemmWarpPolicy, not %lld [argument-type]", (long long)p);
    hints_int(c->ev, h, "policy", p);
}

/* Of two blocks that multiply together the first one issues what they do; both may come by. */
static const Expr *issuer(BuiltinCall *c, bool pair)
{
    if (!pair)
        return NULL;
    Value rank = call_intrin(c, INTRIN_BLOCK_RANK, 0, NULL, 0, NULL, NULL, DT_I32);
    return expr_binary(c->ev->ir, EX_EQ, rank.u.expr, expr_int(c->ev->ir, 0));
}

static void issue(BuiltinCall *c, const Expr *who, const Stmt *s)
{
    call_emit(c, who ? stmt_if(c->ev->ir, c->span, who, s, NULL) : s);
}

/* The hardware counts one arrival when the GEMMs are done, whoever issued them; of a pair one at
 * the barrier of each block. */
static void arrive_when_done(BuiltinCall *c, int i, const Expr *pair)
{
    if (!arg_given(c, i))
        return;
    bool is_element;
    Region bar = arg_region(c, i, &is_element);
    if (bar.buf->scope != MEM_BARRIER && bar.buf->scope != MEM_CLUSTER_BARRIER)
        arg_fail(c, i, "must be a barrier of T.alloc_barrier [argument-type]");
    call_threads(c);
    issue(c, pair, stmt_call(c->ev->ir, c->span, INTRIN_ARRIVE, 0, NULL, 1, &bar,
                             pair ? "mma_pair" : "mma", NULL));
}

/* What float32 operands count with at least; tfloat32 is what nothing said means. */
static void precision_hint(BuiltinCall *c, Hints *h, int i)
{
    if (!arg_given(c, i))
        return;
    int lanes;
    DType t = arg_dtype(c, i, &lanes);
    if ((t != DT_TF32 && t != DT_F32) || lanes != 1)
        arg_fail(c, i, "must be \"tf32\" or \"float32\", not %s [argument-type]", dtype_name(t));
    hints_text(c->ev, h, "precision", dtype_name(t));
}

static bool is_tensor(const Region *r)
{
    return r->buf->scope == MEM_GLOBAL;
}

/* So many elements along k of an operand, from one on. */
static Region part_of(BuiltinCall *c, const Operand *o, bool k_last, const Expr *from, int64_t n)
{
    Ir *ir = c->ev->ir;
    int rank = o->r.buf->rank, d = k_last ? rank - 1 : rank - 2;
    Region r = {o->r.buf, NEWN(ir->arena, const Expr *, rank), NEWN(ir->arena, const Expr *, rank)};

    for (int i = 0; i < rank; i++) {
        r.at[i] = o->r.at[i];
        if (i == d)
            r.at[i] = expr_add(ir, r.at[i], expr_cast(ir, r.at[i]->type, from));
        r.extent[i] = i == d ? expr_int(ir, n) : o->r.extent[i];
    }
    return r;
}

/* Tensors come through tiles; two of them by parts of k, so that their tiles are small. */
static const Stmt *multiply(BuiltinCall *c, const Operand *a, const Operand *b, Region out,
                            const Expr *const arg[4], Hints h)
{
    enum { STEP = 32 };
    Ir *ir = c->ev->ir;
    const Operand *o[2] = {a, b};
    const Stmt *list[3];
    Region r[3] = {a->r, b->r, out};
    int64_t ta = 0, tb = 0;
    int n = 0;

    if (!is_tensor(&r[0]) && !is_tensor(&r[1]))
        return stmt_tile(ir, c->span, &op_gemm, 3, r, 4, arg, NULL, h);
    expr_is_int(arg[0], &ta);
    expr_is_int(arg[1], &tb);
    bool last[2] = {!ta, tb != 0};
    int64_t K = last[0] ? a->cols : a->rows, step = K;
    if (is_tensor(&r[0]) && is_tensor(&r[1]) && K % STEP == 0)
        step = STEP;
    Var *k = var_new(ir, "k", DT_I32, c->span);
    const Expr *at = expr_mul(ir, expr_var(ir, k), expr_int(ir, step));
    const Expr *first = expr_binary(ir, EX_EQ, expr_var(ir, k), expr_int(ir, 0));
    const Expr *own[4] = {arg[0], arg[1], step < K ? expr_and(ir, arg[2], first) : arg[2], arg[3]};
    for (int i = 0; i < 2; i++) {
        if (!is_tensor(&r[i]))
            continue;
        Operand x = *o[i];
        *(last[i] ? &x.cols : &x.rows) = step;
        Region to = own_tile(c, &x, MEM_SHARED);
        Region way[2] = {step < K ? part_of(c, o[i], last[i], at, step) : x.r, to};
        list[n++] = stmt_tile(ir, c->span, &op_copy, 2, way, 0, NULL, NULL, (Hints){0});
        r[i] = to;
    }
    list[n++] = stmt_tile(ir, c->span, &op_gemm, 3, r, 4, own, NULL, h);
    const Stmt *body = stmt_block(ir, c->span, n, list);
    return step == K ? body : stmt_for(ir, c->span, LOOP_SERIAL, k, expr_int(ir, 0),
                                       expr_int(ir, K / step), (Hints){0}, body);
}

Value gemm_call(BuiltinCall *c, GemmSlots s, Hints h)
{
    Ir *ir = c->ev->ir;
    call_kernel(c);
    Operand a = operand(c, 0, IS_READ_LATER), b = operand(c, 1, IS_READ_LATER);
    Operand out = operand(c, 2, IS_RESULT_LATER);
    bool ta = arg_bool(c, s.ta), tb = arg_bool(c, s.tb), pair = hint_int(h, "pair", 0) != 0;
    check_shapes(c, &a, &b, &out, ta, tb, pair);
    check_types(c, a.r.buf->type, b.r.buf->type, out.r.buf->type);
    int64_t k_pack = s.k_pack >= 0 ? arg_int(c, s.k_pack) : 1;
    if (k_pack != 1 && !machine_has(call_machine(c), HAS_PACKED_K)) {
        if (k_pack != 2)
            arg_fail(c, s.k_pack, "must be 1 or 2, not %lld [argument-type]", (long long)k_pack);
        diag_ignored(c->ev->diag, c->span, "k_pack", "how operands are loaded follows from the "
                     "matrix instruction here; only some GPUs leave it open [ignored]");
    }
    policy_hint(c, &h, s.policy);
    notes_dict(c, s.annotations, &h);
    const Expr *arg[4] = {expr_bool(ir, ta), expr_bool(ir, tb), arg_bool_expr(c, s.clear),
                          expr_int(ir, k_pack)};
    const Expr *who = issuer(c, pair);
    Region tensor = out.r;
    int64_t clears;
    if (is_tensor(&tensor))
        out.r = own_tile(c, &out, MEM_FRAGMENT);
    if (is_tensor(&tensor) && !(expr_is_int(arg[2], &clears) && clears))
        copy_region(c, tensor, out.r);
    issue(c, who, multiply(c, &a, &b, out.r, arg, h));
    if (is_tensor(&tensor))
        copy_region(c, out.r, tensor);
    if (s.mbar >= 0)
        arrive_when_done(c, s.mbar, who);
    return value_none();
}

Value do_gemm(BuiltinCall *c)
{
    Hints h = {0};
    precision_hint(c, &h, 10);
    return gemm_call(c, (GemmSlots){3, 4, 5, 6, 7, 8, 9}, h);
}

Value do_mma(BuiltinCall *c)
{
    Hints h = {0};
    hints_text(c->ev, &h, "instruction", "mma");
    return gemm_call(c, (GemmSlots){3, 4, 5, 6, -1, -1, 7}, h);
}

bool arg_pair(BuiltinCall *c, int i)
{
    if (!arg_bool(c, i))
        return false;
    const int *n = call_kernel(c)->cluster;
    if (n[0] != 2 || n[1] > 1 || n[2] > 1)
        arg_fail(c, i, "needs a cluster of two blocks, T.ClusterKernel(…, cluster_dims=2), not of "
                 "%d x %d x %d [cluster-pair]", MAX(n[0], 1), MAX(n[1], 1), MAX(n[2], 1));
    return true;
}

void pair_hint(BuiltinCall *c, Hints *h, int i)
{
    if (arg_pair(c, i))
        hints_int(c->ev, h, "pair", 1);
}

/* ---- scales of blocks along k ---------------------------------------------------------------- */

static ScalesWhere scales_where(BuiltinCall *c, int i, const Region scale[2])
{
    static const char *const words[] = {"rowmajor", "blockscaled_chunk_kmajor", NULL};

    if (scale[0].buf->scope == MEM_TMEM || scale[1].buf->scope == MEM_TMEM)
        return SCALES_LANES;
    return i >= 0 && arg_given(c, i) && arg_word(c, i, words, " [argument-type]") == words[1]
               ? SCALES_CHUNKS : SCALES_ROWS;
}

Value scaled_gemm_call(BuiltinCall *c, ScaledSlots s, Hints h)
{
    enum { SFA = 3, SFB, TRANS_A, TRANS_B };
    Ir *ir = c->ev->ir;
    call_kernel(c);
    Operand a = operand(c, 0, IS_READ), b = operand(c, 1, IS_READ), out = operand(c, 2, IS_RESULT);
    bool ta = arg_bool(c, TRANS_A), tb = arg_bool(c, TRANS_B);
    Region r[5] = {a.r, b.r, out.r, arg_tile(c, SFA), arg_tile(c, SFB)};
    bool pair = hint_int(h, "pair", 0) != 0;
    check_shapes(c, &a, &b, &out, ta, tb, pair);
    check_types(c, a.r.buf->type, b.r.buf->type, out.r.buf->type);
    for (int i = 1; i <= 2; i++)
        if (arg_int(c, s.k_start + i) < 1)
            arg_fail(c, s.k_start + i, "must be a number of elements, not %lld [argument-type]",
                     (long long)arg_int(c, s.k_start + i));
    if (s.policy >= 0)
        policy_hint(c, &h, s.policy);
    if (s.annotations >= 0)
        notes_dict(c, s.annotations, &h);
    const Expr *arg[7] = {expr_bool(ir, ta), expr_bool(ir, tb), arg_bool_expr(c, s.clear),
                          arg_index(c, s.k_start), expr_int(ir, arg_int(c, s.k_start + 1)),
                          expr_int(ir, arg_int(c, s.k_start + 2)),
                          expr_int(ir, scales_where(c, s.sf_layout, &r[SFA]))};
    const Expr *who = issuer(c, pair);
    issue(c, who, stmt_tile(ir, c->span, &op_gemm_scaled, 5, r, 7, arg, NULL, h));
    if (s.mbar >= 0)
        arrive_when_done(c, s.mbar, who);
    return value_none();
}

Value do_gemm_blockscaled(BuiltinCall *c)
{
    Hints h = {0};
    pair_hint(c, &h, 13);
    return scaled_gemm_call(c, (ScaledSlots){7, 8, 12, 9, 14, 15}, h);
}

Value do_mma_gemm_blockscaled(BuiltinCall *c)
{
    Hints h = {0};
    hints_text(c->ev, &h, "instruction", "mma");
    return scaled_gemm_call(c, (ScaledSlots){7, 8, -1, 9, 12, -1}, h);
}

/* 2:4 sparse A: half the columns are stored; E says where they stand. */
Value do_gemm_sp(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    Hints h = {0};
    call_kernel(c);
    Operand a = operand(c, 0, IS_READ), b = operand(c, 2, IS_READ), out = operand(c, 3, IS_RESULT);
    Region e = arg_tile(c, 1);
    bool ta = arg_bool(c, 4), te = arg_bool(c, 5), tb = arg_bool(c, 6);
    Operand full = a;
    *(ta ? &full.rows : &full.cols) *= 2;
    check_shapes(c, &full, &b, &out, ta, tb, false);
    check_types(c, a.r.buf->type, b.r.buf->type, out.r.buf->type);
    if (!dtype_is_int(e.buf->type))
        arg_fail(c, 1, "must hold integers, not %s [gemm-dtype]", dtype_name(e.buf->type));
    if (arg_int(c, 9) != 1)
        arg_fail(c, 9, "must be 1: operands of sparse GEMMs are not packed [unsupported-here]");
    if (arg_int(c, 10) != 0)
        arg_fail(c, 10, "must be 0: the GEMM is waited for where it stands [unsupported-here]");
    policy_hint(c, &h, 7);
    notes_dict(c, 11, &h);
    Region r[4] = {a.r, b.r, out.r, e};
    const Expr *arg[5] = {expr_bool(ir, ta), expr_bool(ir, tb), arg_bool_expr(c, 8),
                          expr_int(ir, arg_int(c, 9)), expr_bool(ir, te)};
    return call_emit(c, stmt_tile(ir, c->span, &op_gemm_sp, 4, r, 5, arg, NULL, h));
}

/* ---- T.dp4a ---------------------------------------------------------------------------------- */

/* Element i of what starts at the region, along its last dimension. */
static const Expr *lane_of(BuiltinCall *c, const Region *r, int i)
{
    Ir *ir = c->ev->ir;
    const Expr *at[RANK_MOST];
    int n = r->buf->rank;
    for (int d = 0; d < n; d++)
        at[d] = r->at[d];
    if (n > 0)
        at[n - 1] = expr_add(ir, at[n - 1], expr_int(ir, i));
    return expr_load(ir, r->buf, at, n);
}

Value do_dp4a(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    bool is_element;
    Region a = arg_region(c, 0, &is_element), b = arg_region(c, 1, &is_element);
    Region out = arg_region(c, 2, &is_element);
    DType ta = a.buf->type, tb = b.buf->type;
    if (ta != DT_I8 || tb != DT_I8 || out.buf->type != DT_I32)
        diag_fail(c->ev->diag, c->span, "%s requires int8, int8 and int32, not %s, %s and %s "
                  "[dp4a-dtype]", call_title(c), dtype_name(ta), dtype_name(tb),
                  dtype_name(out.buf->type));
    call_kernel(c);
    const Expr *sum = expr_load(ir, out.buf, out.at, out.buf->rank);
    for (int i = 0; i < 4; i++)
        sum = expr_add(ir, sum, expr_mul(ir, expr_cast(ir, out.buf->type, lane_of(c, &a, i)),
                                         expr_cast(ir, out.buf->type, lane_of(c, &b, i))));
    return call_emit(c, stmt_store(ir, c->span, out.buf, out.at, out.buf->rank, sum));
}

/* ---- slots of a thread ----------------------------------------------------------------------- */

Region arg_slots(const BuiltinCall *c, int i, int bits, int64_t n, int64_t each)
{
    Ir *ir = c->ev->ir;
    const Value *v = &c->arg[i];
    const Expr *addr = v->kind == V_EXPR && v->u.expr->op == EX_ADDR ? v->u.expr : NULL;
    Region r = {addr ? addr->u.buf : arg_buffer(c, i), NEWN(ir->arena, const Expr *, 1),
                NEWN(ir->arena, const Expr *, 1)};

    if (r.buf->scope != MEM_LOCAL || r.buf->rank != 1 || dtype_bits(r.buf->type) != bits)
        arg_fail(c, i, "must be of T.alloc_local, with one dimension and elements of %d bits "
                 "[argument-type]", bits);
    r.at[0] = expr_mul(ir, arg_index(c, i + 1), expr_int(ir, each));
    if (addr && addr->nkid)
        r.at[0] = expr_add(ir, addr->kid[0], r.at[0]);
    r.extent[0] = expr_int(ir, n);
    return r;
}
