/* cube.c -- GEMMs of the cube core: L1 to L0A and L0B, Mmad, L0C out; hand-overs between the cores.
 *
 * The cores of a block see each other's tiles through global memory alone.  Each hand-over has a
 * flag number: one core waits until its place is free, writes it, and sets the flag; the other
 * waits, reads, and sets the flag of the same number back.  The place is free to begin with, and
 * the last flag is waited for at the end, so that none is left set. */
#include "target/ascend/ascend.h"

enum { A, B, C };
enum { TRANS_A, TRANS_B, CLEAR };
enum { L0_BYTES = 32 * 1024, CHUNK_BYTES = 16 * 1024 };

static int64_t round_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}
static int bytes_of(DType t)
{
    return dtype_bits(t) / 8;
}

/* ---- who is the cube's ----------------------------------------------------------------------- */

typedef struct {
    const Buffer *b;
    bool operand, result, other;
} Roles;

static void see(void *arg, const Stmt *s, const Touch *t)
{
    Roles *r = arg;

    if (buffer_root(t->buf) != r->b)
        return;
    bool zero =
        s->kind == ST_STORE && expr_is_zero(s->u.store.value) && !s->u.store.guard && !t->expr;
    if (s->kind != ST_INSTR || t->buf->view_of) {
        r->operand = false;
        r->other |= !zero;
        return;
    }
    int i = (int)(t->region - s->u.instr.region);
    bool gemm = s->u.instr.isa->id == ISA_CUBE_GEMM;
    r->operand |= gemm && i != C && !r->other;
    r->result |= gemm && i == C;
    r->other |= gemm && i != C && !r->operand;
}

static bool has_role(Kernel *k, const Buffer *b, bool result)
{
    Roles r = {.b = b};
    stmt_touches_all(k->body, see, &r);
    return !r.other && (result ? r.result && !r.operand : r.operand && !r.result);
}

bool cube_is_operand(Kernel *k, const Buffer *b)
{
    Roles r = {.b = b};
    stmt_touches_all(k->body, see, &r);
    return has_role(k, b, false) && !r.result;
}

bool cube_is_result(Kernel *k, const Buffer *b)
{
    return has_role(k, b, true);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static Node *put(Ascend *a, int core, Pipe p, const char *fmt, ...) PRINTF(4, 5);
static Node *put(Ascend *a, int core, Pipe p, const char *fmt, ...)
{
    Str s;
    va_list ap;

    str_init(&s, a->e.arena);
    str_indent(&s, a->e.indent * 4);
    va_start(ap, fmt);
    str_vprintf(&s, fmt, ap);
    va_end(ap);
    str_putc(&s, '\n');
    return node_add(a, NODE_OP, core, p, s.s);
}

/* ---- tensors --------------------------------------------------------------------------------- */

static const Expr *stride_of(Ir *ir, const Buffer *b, int d)
{
    const Expr *r = expr_const(ir, DT_I64, 1);

    for (int i = d + 1; i < b->rank; i++)
        r = expr_mul(ir, r, expr_cast(ir, DT_I64, b->shape[i]));
    return r;
}

static const char *start_of(Ascend *a, const Region *r)
{
    Ir *ir = a->e.ir;
    const Expr *at = expr_const(ir, DT_I64, 0);

    for (int d = 0; d < r->buf->rank; d++)
        at = expr_add(ir, at,
                      expr_mul(ir, expr_cast(ir, DT_I64, r->at[d]), stride_of(ir, r->buf, d)));
    return ascend_text(a, simplify(ir, a->e.facts, at), true);
}

static const char *clipped(Ascend *a, const Region *r, int d)
{
    Ir *ir = a->e.ir;
    const Expr *left = expr_sub(ir, r->buf->shape[d], r->at[d]);
    return ascend_text(a, simplify(ir, a->e.facts, expr_min(ir, r->extent[d], left)), true);
}

/* ---- tiles ----------------------------------------------------------------------------------- */

typedef struct {
    int64_t rows, cols, c0, bytes;
} Slab; /* in L1 */

static Slab slab_of(const Region *r)
{
    int last = r->buf->rank - 1;
    Slab s = {region_extent_int(r, last - 1), region_extent_int(r, last), 0, 0};

    s.c0 = BLOCK_BYTES / bytes_of(r->buf->type);
    s.bytes = round_up(s.rows, ROW_16) * round_up(s.cols, s.c0) * bytes_of(r->buf->type);
    return s;
}

/* Which one of several, and the tile's name with it. */
static const char *slab_text(Ascend *a, const Region *r)
{
    Ir *ir = a->e.ir;
    const Expr *which = expr_int(ir, 0);
    Slab s = slab_of(r);
    const char *name = buffer_name(&a->e, r->buf);

    for (int d = 0; d < r->buf->rank - 2; d++)
        which = expr_add(ir, expr_mul(ir, which, r->buf->shape[d]), r->at[d]);
    which = simplify(ir, a->e.facts, which);
    if (expr_is_zero(which))
        return name;
    return arena_printf(a->e.arena, "%s[(%s) * %lld]", name, ascend_text(a, which, true),
                        (long long)s.bytes / bytes_of(r->buf->type));
}

static void grow_place(Ascend *a, const Region *r)
{
    Place *p = &a->places.at[place_find(a, r->buf)];
    int64_t n = slab_of(r).bytes;

    for (int d = 0; d < r->buf->rank - 2; d++) {
        int64_t m = 1;
        expr_is_int(r->buf->shape[d], &m);
        n *= m;
    }
    p->bytes = MAX(p->bytes, n);
}

/* ---- hand-overs ------------------------------------------------------------------------------ */

/* A place in global memory for each block. */
static const char *workspace(Ascend *a, DType t, int64_t n)
{
    Ir *ir = a->e.ir;
    const Expr *all = expr_const(ir, DT_I64, n);

    for (int d = 0; d < a->k->ngrid; d++)
        all = expr_mul(ir, all, expr_cast(ir, DT_I64, a->k->grid[d]));
    Buffer *b = buffer_new(ir, "work", t, MEM_GLOBAL, 1, &all, a->k->span);
    b->is_workspace = true;
    vec_push(ir->arena, &a->e.func->workspaces, b);
    vec_push(a->k->arena, &a->k->launch.args, ((KernelArg){.buf = b}));
    return arena_printf(a->e.arena, "%s[(int64_t)tl_block * %lld]", buffer_name(&a->e, b),
                        (long long)n);
}

static int new_flag(Ascend *a, Span at)
{
    if (a->nflag == CORE_FLAGS)
        ascend_refuse(a, at, "a kernel whose cores hand over more than 11 tiles");
    return a->nflag++;
}

/* The place is free: the reader says so once before all, the writer hears the last word. */
static void free_first(Ascend *a, int flag, int reader, const char *pipe)
{
    NodeVec *to = a->to;
    int indent = a->e.indent;

    a->e.indent = 2;
    a->to = &a->first;
    put(a, reader, P_NONE, "CrossCoreSetFlag<2, PIPE_%s>(%d);", pipe, flag);
    a->to = &a->last;
    put(a, CUBE + VECTOR - reader, P_NONE, "CrossCoreWaitFlag(%d);", flag);
    a->to = to;
    a->e.indent = indent;
}

/* A tile that the vector core made, in L1: the name of it there. */
static int bring(Ascend *a, const Stmt *s, const Region *r)
{
    Slab l = slab_of(r);
    const Buffer *b = r->buf;
    int from = place_find(a, b), flag = new_flag(a, s->span);
    const char *work = workspace(a, b->type, l.rows * l.cols), *t = ascend_type(b->type);
    Place p = {.name = arena_printf(a->e.arena, "tl_l1_%d", flag),
               .space = IN_L1,
               .bytes = l.bytes,
               .type = b->type,
               .used = true};
    int place = place_add(a, &p);

    free_first(a, flag, CUBE, "MTE2");
    put(a, VECTOR, P_NONE, "CrossCoreWaitFlag(%d);", flag);
    Node *n = put(a, VECTOR, P_MTE3, "DataCopyPad(%s, %s, DataCopyExtParams{1, %lld, 0, 0, 0});",
                  work, buffer_name(&a->e, b), (long long)l.rows * l.cols * bytes_of(b->type));
    node_touch(a, n, from, false);
    put(a, VECTOR, P_NONE, "CrossCoreSetFlag<2, PIPE_MTE3>(%d);", flag);
    put(a, CUBE, P_NONE, "CrossCoreWaitFlag(%d);", flag);
    n = put(a, CUBE, P_MTE2, "tl_load_tile<%s>(%s, %s, %lld, %lld, %lld, %lld, %lld);", t, p.name,
            work, (long long)l.rows, (long long)l.cols, (long long)l.cols, (long long)l.rows,
            (long long)l.cols);
    node_touch(a, n, place, true);
    put(a, CUBE, P_NONE, "CrossCoreSetFlag<2, PIPE_MTE2>(%d);", flag);
    return place;
}

/* The product, from L0C to the vector core's tile, some rows at a time. */
static void hand_back(Ascend *a, const Stmt *s, int product, int64_t m, int64_t n)
{
    const Buffer *b = s->u.instr.region[C].buf;
    int to = place_find(a, b), flag = new_flag(a, s->span);
    const char *work = workspace(a, b->type, m * n), *t = ascend_type(b->type);
    int64_t rows = MAX(1, MIN(m, CHUNK_BYTES / (n * 4))), clear = 0;
    const Expr *clears = s->u.instr.arg[CLEAR];
    bool fixed = expr_is_int(clears, &clear);
    char view = b->type == DT_F32 ? 'f' : 'i';

    free_first(a, flag, VECTOR, "MTE2");
    put(a, CUBE, P_NONE, "CrossCoreWaitFlag(%d);", flag);
    Node *x = put(a, CUBE, P_FIX, "tl_store_tile<%s, %s>(%s, %s, %lld, %lld, %lld, %lld, NoQuant);",
                  t, t, work, a->places.at[product].name, (long long)m, (long long)n,
                  (long long)round_up(m, ROW_16), (long long)n);
    node_touch(a, x, product, false);
    put(a, CUBE, P_NONE, "CrossCoreSetFlag<2, PIPE_FIX>(%d);", flag);
    put(a, VECTOR, P_NONE, "CrossCoreWaitFlag(%d);", flag);
    int temp = temp_take(a, rows * n * 4);
    const char *name = temp_name(a, temp, view), *dst = buffer_name(&a->e, b);
    if (!fixed)
        put(a, VECTOR, P_NONE, "const bool tl_clear%d = %s;", flag, ascend_text(a, clears, false));
    for (int64_t r = 0; r < m; r += rows) {
        long long count = (long long)(MIN(rows, m - r) * n), at = (long long)(r * n);
        x = put(a, VECTOR, P_MTE2,
                "DataCopyPad(%s, %s[%lld], DataCopyExtParams{1, %lld, 0, 0, 0}, "
                "DataCopyPadExtParams<%s>{false, 0, 0, 0});",
                name, work, at, count * 4, t);
        node_touch(a, x, temp, true);
        if (fixed && clear)
            x = put(a, VECTOR, P_V, "DataCopy(%s[%lld], %s, %lld);", dst, at, name, count);
        else if (fixed)
            x = put(a, VECTOR, P_V, "Add(%s[%lld], %s[%lld], %s, %lld);", dst, at, dst, at, name,
                    count);
        else
            x = put(a, VECTOR, P_V, "tl_add_to(%s[%lld], %s, %lld, tl_clear%d);", dst, at, name,
                    count, flag);
        node_touch(a, x, temp, false);
        if (!fixed || !clear)
            node_touch(a, x, to, false);
        node_touch(a, x, to, true);
    }
    temp_give(a, temp);
    put(a, VECTOR, P_NONE, "CrossCoreSetFlag<2, PIPE_MTE2>(%d);", flag);
}

/* ---- GEMMs ----------------------------------------------------------------------------------- */

static bool flag_of(const Stmt *s, int i)
{
    int64_t v = 0;
    return expr_is_int(s->u.instr.arg[i], &v) && v;
}

typedef struct {
    int64_t m, n, k, step; /* step: of k that L0A and L0B hold */
    bool trans[2];
    int place[2];
    const char *name[2];
    DType type;
} Gemm;

static void add_product(Ascend *a, const Gemm *g, int acc, const char *zero)
{
    const char *t = ascend_type(g->type), *name = a->places.at[acc].name;
    bool once = g->step >= g->k;
    NodeVec *to = a->to;
    static const char *const letter[] = {"a", "b"};
    const char *from = once ? "0" : "tl_k";
    const char *n = once ? arena_printf(a->e.arena, "%lld", (long long)g->k)
                         : arena_printf(a->e.arena, "tl_min_i32(%lld, %lld - tl_k)",
                                        (long long)g->step, (long long)g->k);

    Str head;
    str_init(&head, a->e.arena);
    str_indent(&head, a->e.indent * 4);
    if (once)
        str_puts(&head, "{\n");
    else
        str_printf(&head, "for (int32_t tl_k = 0; tl_k < %lld; tl_k += %lld) {\n", (long long)g->k,
                   (long long)g->step);
    Node *loop = node_add(a, once ? NODE_IF : NODE_LOOP, CUBE, P_NONE, head.s);
    loop->once = true;
    a->to = &loop->body;
    a->e.indent++;
    for (int i = A; i <= B; i++) {
        put(a, CUBE, P_NONE, "LocalTensor<%s> tl_%s = tl_l0%s.AllocTensor<%s>();", t, letter[i],
            letter[i], t);
        Node *x = put(a, CUBE, P_MTE1, "tl_load_%s<%s, %s>(tl_%s, %s, %lld, %lld, %s, %s);",
                      letter[i], t, g->trans[i] ? "true" : "false", letter[i], g->name[i],
                      (long long)round_up(i == A ? g->m : g->n, ROW_16),
                      (long long)round_up(g->k, ROW_16), from, n);
        node_touch(a, x, g->place[i], false);
        put(a, CUBE, P_NONE, "tl_l0%s.EnQue(tl_%s);", letter[i], letter[i]);
    }
    for (int i = A; i <= B; i++)
        put(a, CUBE, P_NONE, "tl_%s = tl_l0%s.DeQue<%s>();", letter[i], letter[i], t);
    Node *x = put(a, CUBE, P_M, "tl_mmad(%s, tl_a, tl_b, %lld, %lld, %s, %s);", name,
                  (long long)round_up(g->m, ROW_16), (long long)round_up(g->n, ROW_16), n, zero);
    node_touch(a, x, acc, false);
    node_touch(a, x, acc, true);
    put(a, CUBE, P_NONE, "%s = false;", zero);
    for (int i = A; i <= B; i++)
        put(a, CUBE, P_NONE, "tl_l0%s.FreeTensor(tl_%s);", letter[i], letter[i]);
    a->e.indent--;
    a->to = to;
}

static void gemm(Ascend *a, const Stmt *s)
{
    const Region *r = s->u.instr.region;
    Gemm g = {.m = region_extent_int(&r[C], 0),
              .n = region_extent_int(&r[C], 1),
              .trans = {flag_of(s, TRANS_A), flag_of(s, TRANS_B)},
              .type = r[A].buf->type};
    int es = bytes_of(g.type), c0 = BLOCK_BYTES / es, acc = place_find(a, r[C].buf);
    Slab l = slab_of(&r[A]);

    g.k = g.trans[A] ? l.rows : l.cols;
    int64_t wide = round_up(MAX(g.m, g.n), ROW_16), step = L0_BYTES / (wide * es);
    step = MAX(step / MAX(c0, ROW_16), 1) * MAX(c0, ROW_16);
    g.step = MIN(step, round_up(g.k, MAX(c0, ROW_16)));
    a->l0[A] = MAX(a->l0[A], round_up(g.m, ROW_16) * g.step * es);
    a->l0[B] = MAX(a->l0[B], round_up(g.n, ROW_16) * g.step * es);
    for (int i = A; i <= B; i++) {
        int p = place_find(a, r[i].buf);
        bool own = a->places.at[p].space == IN_L1;
        if (own)
            grow_place(a, &r[i]);
        g.place[i] = own ? p : bring(a, s, &r[i]);
        g.name[i] = own ? slab_text(a, &r[i]) : a->places.at[g.place[i]].name;
    }
    bool here = a->places.at[acc].space == IN_L0C;
    int64_t bytes = round_up(g.m, ROW_16) * round_up(g.n, ROW_16) * 4;
    if (!here) {
        Place p = {.name = arena_printf(a->e.arena, "tl_c%d", a->places.n),
                   .space = IN_L0C,
                   .bytes = bytes,
                   .type = r[C].buf->type,
                   .used = true};
        acc = place_add(a, &p);
    }
    a->places.at[acc].bytes = MAX(a->places.at[acc].bytes, bytes);
    const char *zero = arena_printf(a->e.arena, "%s_zero", a->places.at[acc].name);
    if (!here)
        put(a, CUBE, P_NONE, "%s = true;", zero);
    else if (!expr_is_zero(s->u.instr.arg[CLEAR]))
        put(a, CUBE, P_NONE, "%s = %s || %s;", zero, zero,
            ascend_text(a, s->u.instr.arg[CLEAR], false));
    add_product(a, &g, acc, zero);
    if (!here)
        hand_back(a, s, acc, g.m, g.n);
}

/* ---- copies ---------------------------------------------------------------------------------- */

static void fill(Ascend *a, const Region *src, const Region *dst)
{
    int dim[RANK_MOST];
    Slab l = slab_of(dst);

    region_dims(src, dim);
    grow_place(a, dst);
    Node *n = put(
        a, CUBE, P_MTE2, "tl_load_tile<%s>(%s, %s[%s], %s, %s, %s, %lld, %lld);",
        ascend_type(dst->buf->type), slab_text(a, dst), buffer_name(&a->e, src->buf),
        start_of(a, src), clipped(a, src, dim[0]), clipped(a, src, dim[1]),
        ascend_text(a, simplify(a->e.ir, a->e.facts, stride_of(a->e.ir, src->buf, dim[0])), true),
        (long long)l.rows, (long long)l.cols);
    node_touch(a, n, place_find(a, src->buf), false);
    node_touch(a, n, place_find(a, dst->buf), true);
}

/* Of an accumulator that nothing was added to, zeros. */
static void empty(Ascend *a, const Region *src, const Region *dst)
{
    int dim[RANK_MOST], acc = place_find(a, src->buf);
    int64_t m = region_extent_int(src, 0), n = region_extent_int(src, 1);
    DType to = dst->buf->type;
    const char *name = a->places.at[acc].name;

    region_dims(dst, dim);
    Node *none = put(a, CUBE, P_NONE, "if (%s_zero) {", name);
    NodeVec *list = a->to;
    none->kind = NODE_IF;
    a->to = &none->body;
    a->e.indent++;
    Node *z = put(a, CUBE, P_M, "tl_zero_tile(%s, tl_l0a, tl_l0b, %lld, %lld);", name,
                  (long long)round_up(m, ROW_16), (long long)round_up(n, ROW_16));
    node_touch(a, z, acc, true);
    a->e.indent--;
    a->to = list;
    Node *x = put(
        a, CUBE, P_FIX, "tl_store_tile<%s, %s>(%s[%s], %s, %s, %s, %lld, %s, %s);", ascend_type(to),
        ascend_type(src->buf->type), buffer_name(&a->e, dst->buf), start_of(a, dst), name,
        clipped(a, dst, dim[0]), clipped(a, dst, dim[1]), (long long)round_up(m, ROW_16),
        ascend_text(a, simplify(a->e.ir, a->e.facts, stride_of(a->e.ir, dst->buf, dim[0])), true),
        to == src->buf->type ? "NoQuant"
        : to == DT_F16       ? "F322F16"
                             : "F322BF16");
    node_touch(a, x, acc, false);
    node_touch(a, x, place_find(a, dst->buf), true);
    for (int i = 0; i < a->loops.n; i++) {
        bool used = false;
        for (int d = 0; d < dst->buf->rank; d++)
            used |= expr_uses_var(dst->at[d], a->loops.at[i]);
        x->touch.at[x->touch.n - 1].again |= !used;
    }
}

/* What mech.c took for the cube's must be so. */
static void check_place(Ascend *a, const Stmt *s, const Buffer *b, Space space)
{
    int p = place_find(a, b);

    if (p < 0 || a->places.at[p].space != space)
        ascend_refuse(a, s->span, "a tile of the cube that other statements touch");
}

void cube_instr(Ascend *a, const Stmt *s)
{
    const Region *r = s->u.instr.region;

    if (s->u.instr.isa->id == ISA_CUBE_COPY && r[0].buf->scope == MEM_GLOBAL)
        check_place(a, s, r[1].buf, IN_L1);
    else if (s->u.instr.isa->id == ISA_CUBE_COPY)
        check_place(a, s, r[0].buf, IN_L0C);

    if (s->u.instr.isa->id == ISA_CUBE_GEMM)
        gemm(a, s);
    else if (s->u.instr.isa->id == ISA_CUBE_COPY && r[0].buf->scope == MEM_GLOBAL)
        fill(a, &r[0], &r[1]);
    else if (s->u.instr.isa->id == ISA_CUBE_COPY)
        empty(a, &r[0], &r[1]);
    else
        ascend_refuse(a, s->span, "an instruction of another machine");
}

typedef struct {
    const Buffer *b;
    bool only;
} Cleared;

static bool see_cleared(const Stmt *s, void *arg)
{
    Cleared *c = arg;

    if (s->kind == ST_BLOCK || s->kind == ST_FOR)
        return true;
    if (s->kind != ST_STORE || (c->b && c->b != s->u.store.buf))
        c->only = false;
    else
        c->b = s->u.store.buf;
    return false;
}

bool cube_clears(Ascend *a, const Stmt *loop)
{
    Cleared c = {NULL, true};

    stmt_visit(loop, see_cleared, &c);
    int p = c.b && c.only && c.b->scope != MEM_VAR ? place_find(a, c.b) : -1;
    if (p < 0 || a->places.at[p].space != IN_L0C)
        return false;
    put(a, CUBE, P_NONE, "%s_zero = true;", a->places.at[p].name);
    return true;
}
