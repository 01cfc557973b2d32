/* emit.c -- kernels as Ascend C: statements as nodes, the scalar unit's part, the head of a kernel.
 */
#include "target/ascend/ascend.h"
#include "target/paste.h"
#include "device_ascend.h"
#include "device_cpu.h"
#include "device_metal.h"

enum { SLOT_BYTES = 32, L0_LEAST = 32 * 1024 };

NORETURN void ascend_refuse(Ascend *a, Span at, const char *what)
{
    diag_fail(a->k->diag, at, "%s has no meaning on target %s [unsupported-here]", what,
              a->e.spec->text);
}

const char *ascend_type(DType t)
{
    if (t == DT_F16)
        return "half";
    if (t == DT_BF16)
        return "bfloat16_t";
    if (t == DT_F64 || dtype_bits(t) < 8 || dtype_bits(t) > 64)
        return NULL;
    return t == DT_BOOL ? "uint8_t" : c_storage_type(t);
}

/* ---- the scalar unit's words ----------------------------------------------------------------- */

static const char *const math_f32[MATH_COUNT] = {
    [MATH_EXP] = "tl_exp",
    [MATH_FAST_EXP] = "tl_exp",
    [MATH_EXP2] = "tl_exp2",
    [MATH_EXP10] = "tl_exp10",
    [MATH_FAST_EXP10] = "tl_exp10",
    [MATH_LOG] = "tl_log",
    [MATH_FAST_LOG] = "tl_log",
    [MATH_LOG2] = "tl_log2",
    [MATH_FAST_LOG2] = "tl_log2",
    [MATH_LOG10] = "tl_log10",
    [MATH_FAST_LOG10] = "tl_log10",
    [MATH_SQRT] = "tl_sqrt",
    [MATH_RSQRT] = "tl_rsqrt",
    [MATH_RCP] = "tl_rcp_fn",
    [MATH_FAST_RCP] = "tl_rcp_fn",
    [MATH_SIGMOID] = "tl_sigmoid_fn",
    [MATH_TANH] = "tl_tanh",
    [MATH_FLOOR] = "tl_floor",
    [MATH_CEIL] = "tl_ceil",
    [MATH_TRUNC] = "tl_trunc",
    [MATH_ROUND] = "tl_rint",
    [MATH_NEARBYINT] = "tl_rint",
    [MATH_ROUND_AWAY] = "tl_round",
    [MATH_ABS] = "tl_abs",
    [MATH_ISNAN] = "tl_isnan_f32",
    [MATH_ISINF] = "tl_isinf",
    [MATH_ISFINITE] = "tl_isfinite",
    [MATH_MAX_NAN] = "tl_max_nan_f32",
    [MATH_MIN_NAN] = "tl_min_nan_f32",
};

static const char *const math_f64[MATH_COUNT] = {0};

/* What the scalar unit takes an element as: narrow floats are bits to it. */
static const char *bits_type(DType t)
{
    return t == DT_BOOL ? "uint8_t" : c_storage_type(t);
}

static bool is_bits(DType t)
{
    return t == DT_F16 || t == DT_BF16;
}

static bool is_written(const Ascend *a, const Buffer *b)
{
    return map_has(&a->u.written, buffer_root(b));
}

static void check_core(Ascend *a, const Buffer *b)
{
    int p = place_find(a, b);

    if (p >= 0 && a->places.at[p].space != IN_UB && a->places.at[p].space != IN_GM)
        ascend_refuse(a, b->span, "an element of a tile of the cube core");
}

static bool element(Emit *e, const Buffer *b, const Expr *at)
{
    Ascend *a = ascend_of(e);
    const char *name = buffer_name(e, b), *t = bits_type(b->type);

    check_core(a, b);
    if (dtype_bits(b->type) < 8)
        ascend_refuse(a, b->span, "an element of less than a byte");
    if (buffer_root(b)->scope == MEM_GLOBAL && is_written(a, b)) {
        a->slot = true;
        str_printf(e->out, "tl_fetch<%s>(%s, ", t, name);
        emit_loose(e, at);
        str_puts(e->out, ", tl_slot)");
        return true;
    }
    if (buffer_root(b)->scope == MEM_GLOBAL && is_bits(b->type))
        str_printf(e->out, "tl_as<%s>(%s)", t, name);
    else
        str_printf(e->out, is_bits(b->type) ? "%s.ReinterpretCast<uint16_t>()" : "%s", name);
    str_puts(e->out, ".GetValue(");
    emit_loose(e, at);
    str_putc(e->out, ')');
    return true;
}

/* The bits of an element of a narrow type as they are. */
static bool put_bits(Emit *e, DType t, const Expr *x)
{
    if (x->op != EX_LOAD || x->u.buf->type != t || x->u.buf->scope == MEM_VAR || !narrow_name(t))
        return false;
    if (x->guarded) {
        str_puts(e->out, "(");
        emit_at(e, x->kid[1], false, OF_AND);
        str_puts(e->out, ") ? ");
    }
    element(e, x->u.buf, x->kid[0]);
    if (x->guarded) {
        str_puts(e->out, " : ");
        emit_stored(e, t, x->kid[2]);
    }
    return true;
}

static void store(Emit *e, const Stmt *s)
{
    Ascend *a = ascend_of(e);
    const Buffer *b = s->u.store.buf;
    const char *name = buffer_name(e, b), *t = bits_type(b->type);
    bool tensor = buffer_root(b)->scope == MEM_GLOBAL;

    emit_guard(e, s->u.store.guard);
    if (b->scope == MEM_VAR) {
        emit_store(e, b, NULL, s->u.store.value);
        return;
    }
    check_core(a, b);
    if (dtype_bits(b->type) < 8)
        ascend_refuse(a, b->span, "an element of less than a byte");
    a->slot |= tensor;
    if (tensor)
        str_printf(e->out, "tl_put<%s>(%s, ", t, name);
    else
        str_printf(e->out,
                   is_bits(b->type) ? "%s.ReinterpretCast<uint16_t>().SetValue(" : "%s.SetValue(",
                   name);
    emit_loose(e, s->u.store.at[0]);
    str_printf(e->out, ", (%s)(", t);
    if (!put_bits(e, b->type, s->u.store.value))
        emit_stored(e, b->type, s->u.store.value);
    str_puts(e->out, tensor ? "), tl_slot);\n" : "));\n");
}

/* ---- atomics --------------------------------------------------------------------------------- */

/* Of a tile: a block is one thread, and nobody comes between its load and its store. */
static const Stmt *plain_atomic(Ir *ir, const Stmt *s, void *arg)
{
    static const ExprOp op[ATOMIC_COUNT] = {
        [ATOMIC_ADD] = EX_ADD,   [ATOMIC_MAX] = EX_MAX,     [ATOMIC_MIN] = EX_MIN,
        [ATOMIC_OR] = EX_BITOR, [ATOMIC_AND] = EX_BITAND, [ATOMIC_XOR] = EX_BITXOR};
    (void)arg;

    if (s->kind != ST_ATOMIC || buffer_root(s->u.atomic.buf)->scope == MEM_GLOBAL)
        return s;
    Buffer *b = s->u.atomic.buf;
    AtomicOp how = s->u.atomic.op;
    Var *bind = s->u.atomic.bind;
    const Expr *old = expr_load(ir, b, s->u.atomic.at, s->u.atomic.n), *value = s->u.atomic.value;
    const Stmt *let = bind ? stmt_let(ir, s->span, bind, old) : NULL;

    if (how == ATOMIC_LOAD)
        return let;
    if (how != ATOMIC_STORE && how != ATOMIC_EXCH)
        value = expr_binary(ir, op[how], bind ? expr_var(ir, bind) : old, value);
    return stmt_seq(ir, let, stmt_store(ir, s->span, b, s->u.atomic.at, s->u.atomic.n, value));
}

static void atomic(Emit *e, const Stmt *s)
{
    static const char *const word[ATOMIC_COUNT] = {
        [ATOMIC_ADD] = "add", [ATOMIC_MAX] = "max", [ATOMIC_MIN] = "min"};
    Ascend *a = ascend_of(e);
    const Buffer *b = s->u.atomic.buf;
    const char *fn = word[s->u.atomic.op], *t = ascend_type(b->type);
    bool has = b->type == DT_F32 || b->type == DT_F16 || b->type == DT_BF16 || b->type == DT_I32 ||
               b->type == DT_I16 || b->type == DT_I8;

    if (!fn || !has || s->u.atomic.bind || buffer_root(b)->scope != MEM_GLOBAL)
        ascend_refuse(a, s->span,
                      "an atomic operation other than a sum, maximum or minimum into "
                      "global memory whose old value nobody wants");
    a->slot = true;
    emit_indent(e);
    str_printf(e->out, "tl_atomic_%s<%s>(%s, ", fn, t, buffer_name(e, b));
    emit_loose(e, s->u.atomic.at[0]);
    str_printf(e->out, ", (%s)(", t);
    emit_value(e, s->u.atomic.value);
    str_puts(e->out, "), tl_slot);\n");
}

static void call(Emit *e, const Stmt *s)
{
    ascend_refuse(ascend_of(e), s->span,
                  arena_printf(e->arena, "T.%s", intrin_table[s->u.call.which].word));
}

static void instr(Emit *e, const Stmt *s)
{
    ascend_refuse(ascend_of(e), s->span, "an instruction of another machine");
}

static const Dialect dialect = {
    .name = "Ascend C",
    .lacks = LACK_F64,
    DIALECT_C,
    .value_type = c_value_type,
    .constant = "const $t $n = ",
    .math_f32 = math_f32,
    .math_f64 = math_f64,
    .nan_f32 = "tl_f32_bits(0x7fc00000u)",
    .inf_f32 = "tl_f32_bits(0x7f800000u)",
    .nan_f64 = "tl_f32_bits(0x7fc00000u)",
    .inf_f64 = "tl_f32_bits(0x7f800000u)",
    .popcount = {"tl_popcount", "tl_popcount64"},
    .ffs = {"tl_ffs", "tl_ffs64"},
    .element = element,
    .store = store,
    .atomic = atomic,
    .call = call,
    .instr = instr,
};

/* ---- statements as nodes --------------------------------------------------------------------- */

static void see_touch(void *arg, const Stmt *s, const Touch *t)
{
    void **two = arg;
    Ascend *a = two[0];
    int p = place_find(a, t->buf);

    (void)s;
    if (touch_reads(t))
        node_touch(a, two[1], p, false);
    if (touch_writes(t))
        node_touch(a, two[1], p, true);
}

static const char *text_of(Ascend *a, const Stmt *s)
{
    Str t, *out = a->e.out;

    str_init(&t, a->e.arena);
    a->e.out = &t;
    a->e.origin = NULL;
    emit_stmt(&a->e, s);
    a->e.out = out;
    return t.n ? t.s : NULL;
}

static bool taints(const Expr *x, void *arg)
{
    Ascend *a = arg;

    if (x->op == EX_VAR)
        return map_has(&a->tainted, x->u.var);
    if (x->op != EX_LOAD)
        return false;
    int p = place_find(a, x->u.buf);
    return p >= 0 ? a->places.at[p].space == IN_UB || is_written(a, x->u.buf)
                  : map_has(&a->tainted, x->u.buf);
}

bool ascend_needs_slot(const Expr *x, void *arg)
{
    (void)arg;
    return x->op == EX_MATH && dtype_is_float((DType)x->type) && x->u.fn != MATH_ABS &&
           x->u.fn != MATH_RCP && x->u.fn != MATH_FAST_RCP && x->u.fn != MATH_MAX_NAN &&
           x->u.fn != MATH_MIN_NAN && math_f32[x->u.fn];
}

/* A name that only the vector core can give a value: it reads UB, or asks the vector unit. */
static bool is_tainted(Ascend *a, const Expr *x)
{
    return expr_any(x, taints, a) || expr_any(x, ascend_needs_slot, a);
}

/* ---- what only the vector core knows ---- */

static void taint(Ascend *a, const void *what)
{
    if (!what || map_has(&a->tainted, what))
        return;
    map_set(&a->tainted, what, (void *)what);
    a->grew = true;
}

/* Names and variables that get their values from UB, or where it decides. */
static void find_tainted(Ascend *a, const Stmt *s, bool under)
{
    if (!s)
        return;
    switch (s->kind) {
    case ST_LET:
        if (under || is_tainted(a, s->u.let.value))
            taint(a, s->u.let.var);
        return;
    case ST_STORE:
        if (s->u.store.buf->scope == MEM_VAR &&
            (under || is_tainted(a, s->u.store.value) ||
             (s->u.store.guard && is_tainted(a, s->u.store.guard))))
            taint(a, s->u.store.buf);
        return;
    case ST_FOR:
        under |= is_tainted(a, s->u.loop.min) || is_tainted(a, s->u.loop.extent);
        if (under)
            taint(a, s->u.loop.var);
        break;
    case ST_IF:
    case ST_WHILE:
        under |= is_tainted(a, s->u.branch.cond);
        if (under && a->mixed && stmt_leaves(s))
            ascend_refuse(a, s->span,
                          "a loop of both cores that ends by what the vector core finds");
        break;
    case ST_ATOMIC:
        taint(a, s->u.atomic.bind);
        return;
    case ST_CALL:
        taint(a, s->u.call.bind);
        return;
    default:
        break;
    }
    for (int i = 0; i < stmt_nkid(s); i++)
        find_tainted(a, stmt_kid(s, i), under);
}

/* Of copies and stores that may be in flight elsewhere: here flags wait for them. */
static bool is_nothing(Intrin which)
{
    return which == INTRIN_COMMIT_COPIES || which == INTRIN_WAIT_COPIES ||
           which == INTRIN_COMMIT_STORES || which == INTRIN_WAIT_STORES ||
           which == INTRIN_FENCE_PROXY || which == INTRIN_PREFETCH || which == INTRIN_SYNC_THREADS;
}

/* By the scalar unit, as it is. */
static void scalar(Ascend *a, const Stmt *s)
{
    bool quiet = s->kind == ST_CALL && is_nothing(s->u.call.which);
    const char *text = quiet ? NULL : text_of(a, s);
    bool names = s->kind == ST_LET || (s->kind == ST_STORE && s->u.store.buf->scope == MEM_VAR);
    bool tainted = names && map_has(&a->tainted, s->kind == ST_LET ? (const void *)s->u.let.var
                                                                   : s->u.store.buf);

    a->slot |= stmt_any_expr(s, ascend_needs_slot, a);
    if (!text)
        return;
    Node *n = node_add(a, NODE_OP, 0, P_NONE, text);
    stmt_touches_all(s, see_touch, (void *[]){a, n});
    n->cores = tainted || !names ? VECTOR : 0;
    n->continues = s->kind == ST_CONTINUE;
    n->leaves = s->kind == ST_BREAK || n->continues;
    if (n->leaves)
        n->cores = 0;
    n->pipe = n->touch.n ? P_S : P_NONE;
}

static int cores_of(const NodeVec *v)
{
    int all = 0;

    for (int i = 0; i < v->n; i++)
        all |= v->at[i]->cores | cores_of(&v->at[i]->body) | cores_of(&v->at[i]->orelse);
    return all;
}

static void touch_head(Ascend *a, Node *n, const Expr *x)
{
    if (x->op == EX_LOAD)
        node_touch(a, n, place_find(a, x->u.buf), false);
    for (int i = 0; i < x->nkid; i++)
        touch_head(a, n, x->kid[i]);
    n->pipe = n->touch.n ? P_S : n->pipe;
}

static void build_into(Ascend *a, NodeVec *v, const Stmt *s)
{
    NodeVec *to = a->to;

    a->to = v;
    a->e.indent++;
    if (s)
        ascend_build(a, s);
    a->e.indent--;
    a->to = to;
}

/* A head that the cube core cannot know is the vector core's alone. */
static void close_head(Ascend *a, Node *n, Span at, bool tainted)
{
    n->cores = cores_of(&n->body) | cores_of(&n->orelse);
    if (tainted && (n->cores & CUBE))
        ascend_refuse(a, at, "a GEMM that depends on numbers the vector core computes");
    if (tainted)
        n->cores = VECTOR;
}

static const char *head_text(Ascend *a, const char *fmt, const char *x)
{
    Str s;

    str_init(&s, a->e.arena);
    str_indent(&s, a->e.indent * 4);
    str_printf(&s, fmt, x);
    return s.s;
}

static void build_loop(Ascend *a, const Stmt *s)
{
    Emit *e = &a->e;
    const char *v = var_name(e, s->u.loop.var), *t = c_value_type(s->u.loop.var->type);
    bool tainted = is_tainted(a, s->u.loop.extent) || is_tainted(a, s->u.loop.min);
    const Expr *end = simplify(e->ir, e->facts, expr_add(e->ir, s->u.loop.min, s->u.loop.extent));
    const char *head =
        arena_printf(e->arena, "for (%s %s = %s, %s_end = %s; %s < %s_end; %s++) {\n", t, v,
                     ascend_text(a, s->u.loop.min, true), v, ascend_text(a, end, true), v, v, v);
    Node *n = node_add(a, NODE_LOOP, 0, P_NONE, head_text(a, "%s", head));

    touch_head(a, n, s->u.loop.extent);
    touch_head(a, n, s->u.loop.min);
    n->once = bounds_of(e->facts, s->u.loop.extent).lo > 0;
    vec_push(e->arena, &a->loops, s->u.loop.var);
    build_into(a, &n->body, s->u.loop.body);
    a->loops.n--;
    close_head(a, n, s->span, tainted);
}

static void build_if(Ascend *a, const Stmt *s)
{
    Node *n = node_add(a, NODE_IF, 0, P_NONE,
                       head_text(a, "if (%s) {\n", ascend_text(a, s->u.branch.cond, false)));

    touch_head(a, n, s->u.branch.cond);
    build_into(a, &n->body, s->u.branch.then);
    if (!stmt_is_empty(s->u.branch.orelse))
        build_into(a, &n->orelse, s->u.branch.orelse);
    close_head(a, n, s->span, is_tainted(a, s->u.branch.cond));
    for (int i = 0; i < n->body.n; i++)
        n->leaves |= n->body.at[i]->leaves;
    for (int i = 0; i < n->orelse.n; i++)
        n->leaves |= n->orelse.at[i]->leaves;
}

static void build_while(Ascend *a, const Stmt *s)
{
    Node *n = node_add(a, NODE_LOOP, 0, P_NONE, head_text(a, "%s", "while (true) {\n"));
    NodeVec *to = a->to;

    a->to = &n->body;
    a->e.indent++;
    Node *test =
        node_add(a, NODE_OP, 0, P_NONE,
                 head_text(a, "if (!(%s)) break;\n", ascend_text(a, s->u.branch.cond, false)));
    touch_head(a, test, s->u.branch.cond);
    test->leaves = true;
    a->e.indent--;
    a->to = to;
    build_into(a, &n->body, s->u.branch.then);
    close_head(a, n, s->span, is_tainted(a, s->u.branch.cond));
}

static void put_origin(Ascend *a, const Stmt *s)
{
    const Origin *o = s->kind == ST_BLOCK || s->kind == ST_LET ? NULL : origin_find(a->k, s->span);

    if (o && o != a->e.origin)
        node_add(a, NODE_OP, 0, P_NONE, head_text(a, "// %s\n", o->text));
    if (o)
        a->e.origin = o;
}

void ascend_build(Ascend *a, const Stmt *s)
{
    const Origin *origin = a->e.origin;

    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n; i++)
            ascend_build(a, s->u.block.list[i]);
        return;
    case ST_FOR:
        put_origin(a, s);
        origin = a->e.origin;
        if (cube_clears(a, s) || vector_loop(a, s))
            break;
        if (s->u.loop.how == LOOP_VECTOR)
            scalar(a, s);
        else
            build_loop(a, s);
        break;
    case ST_IF:
        build_if(a, s);
        return;
    case ST_WHILE:
        build_while(a, s);
        return;
    case ST_INSTR:
        put_origin(a, s);
        cube_instr(a, s);
        return;
    case ST_ROLE:
        ascend_refuse(a, s->span, "a role of some threads");
    case ST_ASSERT:
        if (!stmt_is_fact(s))
            ascend_refuse(a, s->span, "an assertion");
        return;
    default:
        scalar(a, s);
    }
    a->e.origin = origin;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void place_tiles(Ascend *a, Kernel *k)
{
    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        if (!map_has(&a->u.used, b) || b->view_of || b->scope == MEM_VAR)
            continue;
        if (b->pointer)
            ascend_refuse(a, b->span, "a tensor over an address");
        if (b->scope != MEM_SHARED && b->scope != MEM_FRAGMENT && b->scope != MEM_LOCAL &&
            b->scope != MEM_REDUCER)
            ascend_refuse(a, b->span, "a barrier or memory of another machine");
        if (!ascend_type(b->type))
            ascend_refuse(a, b->span, arena_printf(a->e.arena, "%s", dtype_name(b->type)));
        Place p = {.buf = b,
                   .name = buffer_name(&a->e, b),
                   .type = b->type,
                   .space = IN_UB,
                   .bytes = (stored_elems(k, b) * dtype_bits(b->type) / 8 + BLOCK_BYTES - 1) /
                            BLOCK_BYTES * BLOCK_BYTES};
        if (cube_is_operand(k, b))
            p.space = IN_L1;
        else if (cube_is_result(k, b))
            p.space = IN_L0C;
        place_add(a, &p);
    }
}

static void place_tensors(Ascend *a, Kernel *k)
{
    for (int i = 0; i < k->launch.args.n; i++) {
        const Buffer *b = k->launch.args.at[i].buf;
        if (!b)
            continue;
        if (!ascend_type(b->type))
            ascend_refuse(a, b->span, arena_printf(a->e.arena, "%s", dtype_name(b->type)));
        place_add(
            a, &(Place){.buf = b, .name = buffer_name(&a->e, b), .space = IN_GM, .type = b->type});
    }
}

static bool has_instr(const Stmt *s, void *arg)
{
    (void)arg;
    return s->kind == ST_INSTR;
}

/* Names for the extents of the grid, so that a launch hands over what they are made of. */
static const Stmt *with_grid(Ascend *a, Kernel *k, Var *size[3])
{
    Ir *ir = a->e.ir;
    const Stmt *s = k->body;

    for (int d = k->ngrid - 2; d >= 0; d--) {
        size[d] = var_new(ir, "grid", DT_I32, k->span);
        s = stmt_seq(ir, stmt_let(ir, k->span, size[d], expr_cast(ir, DT_I32, k->grid[d])), s);
    }
    return s;
}

/* A launch has one number of blocks. */
static void check_grid(Ascend *a, const Kernel *k)
{
    enum { BLOCKS_MOST = 65535 };
    int64_t all = 1, n;

    for (int d = 0; d < k->ngrid; d++)
        if (expr_is_int(k->grid[d], &n) && n > 0 && (all = MIN(all, INT32_MAX) * n) > BLOCKS_MOST)
            ascend_refuse(a, k->span, "a grid of more than 65535 blocks");
}

/* And for the dimensions of tensors that instructions reach, which clip them. */
static const Stmt *with_shapes(Ascend *a, const Stmt *body)
{
    Ir *ir = a->e.ir;
    const Stmt *s = body;

    for (int i = 0; i < a->e.func->params.n; i++) {
        const Buffer *b = a->e.func->params.at[i].buf;
        for (int d = 0; b && stmt_any(body, has_instr, NULL) && d < b->rank; d++)
            if (!expr_is_const(b->shape[d]))
                s = stmt_seq(ir,
                             stmt_let(ir, a->k->span, var_new(ir, "size", DT_I64, a->k->span),
                                      expr_cast(ir, DT_I64, b->shape[d])),
                             s);
    }
    return s;
}

static void put_blocks(Ascend *a, Kernel *k, Var *const size[3], Str *out)
{
    const char *from = "tl_block";

    a->e.out = out;
    if (k->ngrid > 1 || map_has(&a->u.seen, k->block[0]) || a->mixed)
        emit_line(&a->e, "const int32_t tl_block = (int32_t)GetBlockIdx();");
    for (int d = 0; d + 1 < k->ngrid; d++)
        emit_line(&a->e, "const int32_t %s = %s;", var_name(&a->e, size[d]),
                  ascend_text(a, expr_cast(a->e.ir, DT_I32, k->grid[d]), true));
    for (int d = 0; d < k->ngrid; d++) {
        const char *v = var_name(&a->e, k->block[d]);
        if (d + 1 == k->ngrid && (k->ngrid > 1 || map_has(&a->u.seen, k->block[d])))
            emit_line(&a->e, "const int32_t %s = %s;", v, from);
        else if (d + 1 < k->ngrid)
            emit_line(&a->e, "const int32_t %s = %s %% %s;", v, from, var_name(&a->e, size[d]));
        if (d + 1 < k->ngrid)
            from = arena_printf(a->e.arena, "%s / %s", from, var_name(&a->e, size[d]));
    }
}

/* Buffers of a memory, one behind the other. */
static void put_space(Ascend *a, Space space)
{
    static const struct {
        char letter;
        const char *type;
    } views[] = {{'f', "float"},   {'i', "int32_t"},  {'h', "half"},   {'b', "bfloat16_t"},
                 {'m', "uint8_t"}, {'w', "uint16_t"}, {'c', "int8_t"}, {'u', "uint8_t"}};
    const SpaceInfo *in = &ascend_space[space];
    int64_t at = 0;
    Emit *e = &a->e;

    for (int i = 0; i < a->places.n; i++) {
        Place *p = &a->places.at[i];
        if (p->space != space || !p->used || p->queued)
            continue;
        p->offset = at;
        at += (p->bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
    }
    int64_t slot = at;
    if (space == IN_UB && a->slot)
        at += SLOT_BYTES;
    int64_t all = at;
    for (int i = 0; i < a->places.n; i++)
        if (a->places.at[i].space == space && a->places.at[i].queued)
            all += 2 * a->places.at[i].bytes;
    if (all > in->bytes)
        diag_fail(a->k->diag, a->k->span,
                  "the tiles of this kernel and their temporaries take %lld "
                  "bytes of %s, which has %lld; smaller tiles fit [on-chip-bytes]",
                  (long long)all, in->name, (long long)in->bytes);
    if (at > 0) {
        emit_line(e, "TBuf<TPosition::%s> tl_%s;", in->position, in->name);
        emit_line(e, "tl_pipe.InitBuffer(tl_%s, %lld);", in->name, (long long)at);
    }
    for (int i = 0; i < a->places.n; i++) {
        const Place *p = &a->places.at[i];
        if (p->space != space || !p->used)
            continue;
        const char *t = p->buf || p->type != DT_BOOL ? ascend_type(p->type) : NULL;
        if (p->queued) {
            emit_line(e, "TQue<TPosition::%s, 2> %s_queue;", in->position, p->name);
            emit_line(e, "tl_pipe.InitBuffer(%s_queue, 2, %lld);", p->name, (long long)p->bytes);
            emit_line(e, "LocalTensor<%s> %s;", t, p->name);
            continue;
        }
        for (int v = 0; v < COUNT(views); v++)
            if (p->views >> v & 1)
                emit_line(e, "const LocalTensor<%s> %s%c = tl_%s.GetWithOffset<%s>(%lld, %lld);",
                          views[v].type, p->name, views[v].letter, in->name, views[v].type,
                          (long long)p->bytes / (v < 2             ? 4
                                                 : v < 4 || v == 5 ? 2
                                                                   : 1),
                          (long long)p->offset);
        if (!p->views)
            emit_line(e, "const LocalTensor<%s> %s = tl_%s.GetWithOffset<%s>(%lld, %lld);", t,
                      p->name, in->name, t, (long long)p->bytes * 8 / dtype_bits(p->type),
                      (long long)p->offset);
    }
    if (space == IN_UB && a->slot)
        emit_line(e, "const LocalTensor<float> tl_slot = tl_UB.GetWithOffset<float>(8, %lld);",
                  (long long)slot);
}

static void put_views(Ascend *a, Kernel *k, bool global)
{
    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i], *root = buffer_root(b);
        if (!b->view_of || !map_has(&a->u.used, b) || (root->scope == MEM_GLOBAL) != global)
            continue;
        const char *t = ascend_type(b->type), *name = buffer_name(&a->e, b);
        if (!t)
            ascend_refuse(a, b->span, arena_printf(a->e.arena, "%s", dtype_name(b->type)));
        if (global)
            emit_line(&a->e, "const GlobalTensor<%s> %s = tl_as<%s>(%s);", t, name, t,
                      buffer_name(&a->e, root));
        else if (place_find(a, b) >= 0 && a->places.at[place_find(a, b)].space == IN_UB)
            emit_line(&a->e, "const LocalTensor<%s> %s = %s.ReinterpretCast<%s>();", t, name,
                      buffer_name(&a->e, root), t);
    }
}

/* Operands of Mmad, two buffers each; accumulators know whether they are zero. */
static void put_l0(Ascend *a)
{
    static const char letter[] = {'a', 'b'};
    static const Space of[] = {IN_L0A, IN_L0B};

    for (int i = 0; i < 2; i++) {
        emit_line(&a->e, "TQue<TPosition::%s, 2> tl_l0%c;", ascend_space[of[i]].position,
                  letter[i]);
        emit_line(&a->e, "tl_pipe.InitBuffer(tl_l0%c, 2, %lld);", letter[i],
                  (long long)MAX(a->l0[i], L0_LEAST));
    }
    for (int i = 0; i < a->places.n; i++)
        if (a->places.at[i].space == IN_L0C)
            emit_line(&a->e, "bool %s_zero = false;", a->places.at[i].name);
}

static void put_core(Ascend *a, Kernel *k, int core, Str *out)
{
    static const Space of[2][4] = {{IN_L1, IN_L0A, IN_L0B, IN_L0C}, {IN_UB, IN_UB, IN_UB, IN_UB}};

    a->e.out = out;
    for (int i = 0; i < (core == CUBE ? 4 : 1); i++)
        put_space(a, of[core == VECTOR][i]);
    if (core == CUBE)
        put_l0(a);
    if (core == VECTOR)
        put_views(a, k, false);
    pipes_print(a, core, out);
}

static void put_head(Ascend *a, Kernel *k, int cores, Str *out)
{
    Emit *e = &a->e;

    str_printf(out, "extern \"C\" __global__ __aicore__ void %s(", k->launch.symbol);
    for (int i = 0; i < k->launch.args.n; i++) {
        const KernelArg *x = &k->launch.args.at[i];
        if (x->buf)
            str_printf(out, "%sGM_ADDR %s_gm", i ? ", " : "", buffer_name(e, x->buf));
        else
            str_printf(out, "%s%s %s", i ? ", " : "", c_value_type(x->var->type),
                       var_name(e, x->var));
    }
    str_puts(out, ")\n{\n");
    e->out = out;
    emit_line(e, "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_%s);",
              cores == CUBE     ? "AIC_ONLY"
              : cores == VECTOR ? "AIV_ONLY"
                                : "MIX_AIC_1_1");
    emit_line(e, "TPipe tl_pipe;");
    for (int i = 0; i < k->launch.args.n; i++) {
        const Buffer *b = k->launch.args.at[i].buf;
        if (!b)
            continue;
        const char *t = ascend_type(b->type), *name = buffer_name(e, b);
        emit_line(e, "GlobalTensor<%s> %s;", t, name);
        emit_line(e, "%s.SetGlobalBuffer((__gm__ %s *)%s_gm);", name, t, name);
    }
    put_views(a, k, true);
    for (int i = 0; i < k->buffers.n; i++)
        if (k->buffers.at[i]->scope == MEM_VAR && map_has(&a->u.used, k->buffers.at[i]))
            emit_line(e, "%s %s = 0;", c_value_type(k->buffers.at[i]->type),
                      buffer_name(e, k->buffers.at[i]));
}

typedef struct {
    uint8_t *reads, *writes;
} Cores;

static void see_cores(const NodeVec *v, const Cores *c)
{
    for (int i = 0; i < v->n; i++) {
        const Node *n = v->at[i];
        for (int j = 0; j < n->touch.n; j++)
            (n->touch.at[j].writes ? c->writes : c->reads)[n->touch.at[j].place] |=
                (uint8_t)n->cores;
        see_cores(&n->body, c);
        see_cores(&n->orelse, c);
    }
}

/* A tensor that one core writes the other may not touch: nothing orders them. */
static void check_cores(Ascend *a, const NodeVec *program)
{
    Cores c = {NEWN(a->e.arena, uint8_t, a->places.n + 1),
               NEWN(a->e.arena, uint8_t, a->places.n + 1)};

    see_cores(program, &c);
    for (int i = 0; i < a->places.n; i++) {
        int other = c.writes[i] | c.reads[i];
        if (a->places.at[i].space == IN_GM && c.writes[i] && other == (CUBE | VECTOR))
            ascend_refuse(a, a->places.at[i].buf->span,
                          "a tensor that both cores of a block touch "
                          "and one writes");
    }
}

static void emit_kernel(Ascend *a, Kernel *k)
{
    Emit *e = &a->e;
    Var *size[3] = {NULL};
    Str *out = e->out;

    e->k = a->k = k;
    if (k->uses_threads)
        ascend_refuse(a, k->span, "a kernel written thread by thread");
    if (k->cluster[0] * k->cluster[1] * k->cluster[2] > 1)
        ascend_refuse(a, k->span, "a cluster of blocks");
    check_grid(a, k);
    legalise(e);
    const Stmt *legal = k->body = stmt_map(e->ir, k->body, plain_atomic, NULL);
    k->body = with_shapes(a, with_grid(a, k, size));
    emit_know_ranges(e, k);
    uses_collect(&a->u, e, k, k->body);
    k->body = legal;
    if (a->u.together || a->u.random)
        ascend_refuse(a, k->span, "blocks that wait for each other, or random numbers,");
    k->launch.symbol = name_for(e->names, k, k->name);
    uses_launch(&a->u, k);
    k->launch.shared_bytes = 0;
    a->places.n = a->program.n = a->loops.n = a->free_temps.n = a->nflag = a->nscalar = 0;
    a->first.n = a->last.n = 0;
    a->l0[0] = a->l0[1] = 0;
    a->slot = false;
    map_init(&a->place_of, e->arena);
    map_init(&a->tainted, e->arena);
    place_tiles(a, k);
    place_tensors(a, k);
    a->mixed = stmt_any(k->body, has_instr, NULL);
    do {
        a->grew = false;
        find_tainted(a, k->body, false);
    } while (a->grew);
    e->indent = a->mixed ? 2 : 1;
    a->to = &a->program;
    ascend_build(a, k->body);
    pipes_queue(a);
    for (int i = 0; i < a->program.n; i++)
        vec_push(e->arena, &a->first, a->program.at[i]);
    for (int i = 0; i < a->last.n; i++)
        vec_push(e->arena, &a->first, a->last.at[i]);
    a->program = a->first;
    a->first = (NodeVec){0};
    int cores = cores_of(&a->program);
    check_cores(a, &a->program);
    cores = cores ? cores : VECTOR;
    e->indent = 1;
    put_head(a, k, cores, out);
    put_blocks(a, k, size, out);
    for (int core = CUBE; core <= VECTOR; core++) {
        if (!(cores & core))
            continue;
        if (a->mixed)
            emit_line(e, "if ASCEND_IS_AI%c {", core == CUBE ? 'C' : 'V');
        e->indent += a->mixed;
        put_core(a, k, core, out);
        e->indent -= a->mixed;
        if (a->mixed)
            emit_line(e, "}");
    }
    e->indent = 0;
    e->out = out;
    emit_line(e, "}\n");
    k->threads[0] = cores == (CUBE | VECTOR) ? 2 : 1;
    k->threads[1] = k->threads[2] = 1;
}

static const char *const taken[] = {
#define WORD(w) #w,
#include "target/ascend/words.def"
#undef WORD
};

/* Functions of device/, which run on the device: they say so. */
static void put_helpers(Str *out, const char *text)
{
    static const char head[] = "static inline ";

    for (const char *s; (s = strstr(text, head)); text = s + sizeof head - 1) {
        str_putn(out, text, (size_t)(s - text));
        str_printf(out, "%s%s", s == text || s[-1] == '\n' ? "__aicore__ " : "", head);
    }
    str_puts(out, text);
}

void ascend_emit(Func *f, const TargetSpec *spec, Str *out)
{
    static const unsigned char *const file[] = {device_metal_scalar_h, device_cpu_convert_h, NULL};
    Arena *m = f->ir->arena;
    Str body, helpers;
    Ascend a = {.e = {.func = f,
                      .ir = f->ir,
                      .spec = spec,
                      .say = &dialect,
                      .out = &body,
                      .arena = m,
                      .names = names_of(m)}};

    str_init(&body, m);
    str_init(&helpers, m);
    str_init(&a.e.decls, m);
    map_init_text(&a.e.routines, m);
    name_for_c(a.e.names);
    for (int i = 0; i < COUNT(taken); i++)
        name_reserve(a.e.names, taken[i]);
    for (int i = 0; i < f->kernels.n; i++)
        emit_kernel(&a, f->kernels.at[i]);
    device_paste(m, file, (const unsigned char *)"", body.s ? body.s : "", &helpers);
    str_printf(out,
               "/* %s, made by tilelang for %s */\n#include <kernel_operator.h>\n"
               "using namespace AscendC;\n\n%s",
               f->name, spec->text, (const char *)device_ascend_helper_h);
    put_helpers(out, helpers.s ? helpers.s : "");
    str_printf(out, "\n/* ---- kernels ---- */\n\n%s", body.s ? body.s : "");
}
