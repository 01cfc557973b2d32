/* emit_hopper.c -- bulk tensor copies and MMAs of warpgroups as CUDA C.
 *
 * An MMA has too many registers for a library of helpers: the wrapper of each shape in use is
 * written here, before the kernels.  Tensor maps are parameters, one per tensor and box. */
#include "target/cuda/emit.h"

enum { A, B, C };

static const Expr *num(Cuda *c, int64_t v)
{
    return expr_int(c->e.ir, v);
}

static const Expr *flat_offset(Cuda *c, const Region *r)
{
    Ir *ir = c->e.ir;
    const Layout *l = buffer_plan(c->e.k, r->buf)->layout;
    const Expr *at = r->at[0];

    if (l)
        at = layout_offset(ir, l, r->at);
    else
        for (int d = 1; d < r->buf->rank; d++)
            at = expr_add(ir, expr_mul(ir, at, r->buf->shape[d]), r->at[d]);
    return simplify(ir, c->e.facts, at);
}

void cuda_emit_place(Cuda *c, const Region *r)
{
    str_printf(c->e.out, "&%s[", buffer_name(&c->e, r->buf));
    emit_loose(&c->e, flat_offset(c, r));
    str_putc(c->e.out, ']');
}

/* ---- tensor maps ----------------------------------------------------------------------------- */

static bool same_map(const TensorMap *a, const TensorMap *b)
{
    if (a->buf != b->buf || a->rank != b->rank || a->swizzle != b->swizzle ||
        a->gaps != b->gaps ||
        a->im2col != b->im2col || a->lower != b->lower || a->upper != b->upper ||
        a->step != b->step)
        return false;
    return !memcmp(a->box, b->box, sizeof a->box);
}

static const Region *global_side(const Stmt *s)
{
    const Region *r = s->u.instr.region;
    return r[0].buf->scope == MEM_GLOBAL ? &r[0] : &r[1];
}

static const Region *shared_side(const Stmt *s)
{
    const Region *r = s->u.instr.region;
    return r[0].buf->scope == MEM_GLOBAL ? &r[1] : &r[0];
}

static bool is_im2col(const Stmt *s)
{
    return s->u.instr.isa->id == ISA_TMA_LOAD_IM2COL;
}

/* A box is channels of pixels, which lie where the corner of a filter may. */
static void walk_pixels(TensorMap *m, const Stmt *s)
{
    int64_t pad = 0, step = 1, reach = 0;

    expr_is_int(s->u.instr.arg[2], &pad);
    expr_is_int(s->u.instr.arg[3], &step);
    expr_is_int(s->u.instr.arg[4], &reach);
    m->im2col = true;
    m->lower = -(int)pad;
    m->upper = (int)(pad - reach);
    m->step = (int)step;
}

/* The map of a copy, added to the kernel's parameters the first time. */
static const TensorMap *map_of(Cuda *c, const Stmt *s)
{
    Ir *ir = c->e.ir;
    Kernel *k = c->e.k;
    const Region *global = global_side(s), *shared = shared_side(s);
    Buffer *b = global->buf;
    TensorMap m = {.buf = b, .rank = b->rank, .swizzle = buffer_panel_span(k, shared->buf),
                   .gaps = dtype_bits(b->type) < dtype_bits(shared->buf->type)};
    const Expr *stride = num(c, 1);

    for (int i = 0; i < b->rank; i++) {
        int d = b->rank - 1 - i;
        m.dim[i] = b->shape[d];
        m.stride[i] = b->stride ? b->stride[d] : stride;
        m.box[i] = (int)region_extent_int(global, d);
        stride = simplify(ir, c->e.facts, expr_mul(ir, stride, b->shape[d]));
    }
    if (is_im2col(s))
        walk_pixels(&m, s);
    for (int i = 0; i < k->launch.args.n; i++)
        if (k->launch.args.at[i].map && same_map(k->launch.args.at[i].map, &m))
            return k->launch.args.at[i].map;
    TensorMap *new = NEW(k->arena, TensorMap);
    *new = m;
    vec_push(k->arena, &k->launch.args, ((KernelArg){.map = new}));
    return new;
}

bool instr_is_bulk(const Stmt *s)
{
    const Isa *isa = s->u.instr.isa;
    return isa->proxy == PROXY_ASYNC && (isa->scope == BY_THREAD || isa->scope == BY_PAIR) &&
           isa->done != DONE_BY_COMMIT;
}

static bool is_run(const Stmt *s)
{
    return s->u.instr.isa->id == ISA_TMA_LOAD_RUN || s->u.instr.isa->id == ISA_TMA_STORE_RUN;
}

static bool see_map(const Stmt *s, void *arg)
{
    if (s->kind == ST_INSTR && instr_is_bulk(s) && !is_run(s))
        map_of(arg, s);
    return true;
}

static bool has_gaps(const Buffer *b)
{
    return b->scope == MEM_SHARED && buffer_root(b)->type == DT_E2M1B;
}

typedef struct {
    const Buffer *tile;
    bool gaps, threads; /* MMAs and loads of 4-bit elements touch it; others do, byte by byte */
    Span at;
} Gaps;

static bool see_load(const Expr *e, void *arg)
{
    Gaps *g = arg;

    g->threads |= (e->op == EX_LOAD || e->op == EX_ADDR) && buffer_root(e->u.buf) == g->tile;
    return true;
}

static bool see_gaps(const Stmt *s, void *arg)
{
    Gaps *g = arg;
    bool before = g->threads;

    for (int i = 0; s->kind == ST_INSTR && i < s->u.instr.nregion; i++) {
        const Region *r = s->u.instr.region;
        if (buffer_root(r[i].buf) != g->tile)
            continue;
        bool gaps = s->u.instr.isa->done == DONE_BY_COMMIT ||
                    (instr_is_bulk(s) && !is_run(s) && r[1].buf->type == DT_E2M1);
        g->gaps |= gaps;
        g->threads |= !gaps;
    }
    g->threads |= s->kind == ST_STORE && buffer_root(s->u.store.buf) == g->tile;
    stmt_visit_expr(s, see_load, g);
    if (!before && g->threads)
        g->at = s->span;
    return true;
}

/* MMAs read 16 elements of 4 bits in the first 8 of 16 bytes, as bulk copies bring them; threads
 * have each in a byte. */
static void check_gaps(Cuda *c, const Stmt *body)
{
    const Kernel *k = c->e.k;

    for (int i = 0; i < k->buffers.n; i++) {
        Gaps g = {.tile = k->buffers.at[i]};
        if (!has_gaps(g.tile) || g.tile->view_of)
            continue;
        stmt_visit(body, see_gaps, &g);
        if (g.gaps && g.threads)
            diag_fail(k->diag, g.at, "threads do not reach '%s', whose 4-bit elements lie as "
                      "MMAs read them; bulk copies fill it, from whole rows of 128 elements at "
                      "multiples of 32 bytes [unsupported-here]", g.tile->name);
    }
}

void cuda_collect_maps(Cuda *c, const Stmt *body)
{
    check_gaps(c, body);
    stmt_visit(body, see_map, c);
}

const char *map_name(Cuda *c, const TensorMap *m)
{
    return name_for(c->e.names, m, arena_printf(c->e.arena, "%s_map", m->buf->name));
}

/* The hardware swizzles by addresses: a box that starts within a pattern would land elsewhere. */
static void check_start(Cuda *c, const Stmt *s, const TensorMap *m)
{
    const Region *r = shared_side(s);
    Modular at = modular_of(c->e.facts, flat_offset(c, r));
    int64_t pattern = (int64_t)m->swizzle * 8, size = dtype_bits(r->buf->type) / 8;

    int64_t tile = buffer_plan(c->e.k, buffer_root(r->buf))->offset;
    BUG(m->swizzle && (at.base * size % pattern || at.coef * size % pattern || tile % pattern),
        "a box of '%s' at line %d does not start with a pattern", r->buf->name, (int)s->span.line);
}

/* What makes the word for the second level cache; NULL: it is told nothing. */
static const char *policy_of(const Stmt *s)
{
    int64_t n = 0;

    if (!is_im2col(s) && s->u.instr.narg > 1)
        expr_is_int(s->u.instr.arg[1], &n);
    return n == 1 ? "tl_evict_first" : n == 2 ? "tl_evict_last" : NULL;
}

void cuda_emit_tma(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    const Region *g = global_side(s);
    bool loads = s->u.instr.nregion > 2;
    const TensorMap *m = map_of(c, s);

    check_start(c, s, m);
    emit_indent(e);
    bool pixels = is_im2col(s);
    int narg = pixels ? 0 : s->u.instr.narg;
    bool many = narg == 1 || (narg > 1 && !expr_is_zero(s->u.instr.arg[0]));
    const char *policy = many ? NULL : policy_of(s);
    str_printf(e->out, "tl_tma_%s_%dd%s(", loads ? "load" : "store", g->buf->rank,
               s->u.instr.isa->scope == BY_PAIR ? "_pair" : pixels ? "_im2col" : many ? "_many"
               : policy ? "_hint" : "");
    cuda_emit_place(c, shared_side(s));
    str_printf(e->out, ", &%s", map_name(c, m));
    if (loads) {
        str_puts(e->out, ", ");
        cuda_emit_place(c, &s->u.instr.region[2]);
    }
    if (many) {
        str_puts(e->out, ", ");
        emit_loose(e, simplify(e->ir, e->facts, s->u.instr.arg[0]));
    }
    if (policy)
        str_printf(e->out, ", %s()", policy);
    for (int d = g->buf->rank - 1; d >= 0; d--) {
        str_puts(e->out, ", ");
        emit_loose(e, simplify(e->ir, e->facts, g->at[d]));
    }
    for (int i = 0; pixels && i < 2; i++) {
        str_puts(e->out, ", ");
        emit_loose(e, simplify(e->ir, e->facts, s->u.instr.arg[i]));
    }
    str_puts(e->out, ");\n");
}

/* Where a run of a tensor starts; it may be further than 32 bits reach. */
static void emit_tensor_address(Cuda *c, const Region *r)
{
    Ir *ir = c->e.ir;
    const Expr *stride = expr_const(ir, DT_I64, 1), *at = expr_const(ir, DT_I64, 0);

    for (int d = r->buf->rank - 1; d >= 0; d--) {
        const Expr *step = r->buf->stride ? expr_cast(ir, DT_I64, r->buf->stride[d]) : stride;
        at = expr_add(ir, at, expr_mul(ir, expr_cast(ir, DT_I64, r->at[d]), step));
        stride = expr_mul(ir, stride, expr_cast(ir, DT_I64, r->buf->shape[d]));
    }
    str_printf(c->e.out, "&%s[", buffer_name(&c->e, r->buf));
    emit_loose(&c->e, simplify(ir, c->e.facts, at));
    str_putc(c->e.out, ']');
}

void cuda_emit_bulk(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    const Region *g = global_side(s);
    bool loads = s->u.instr.nregion > 2;
    const char *policy = policy_of(s);

    emit_indent(e);
    str_printf(e->out, "tl_bulk_%s%s(", loads ? "load" : "store", policy ? "_hint" : "");
    cuda_emit_place(c, shared_side(s));
    str_puts(e->out, ", ");
    emit_tensor_address(c, g);
    str_printf(e->out, ", %lld", (long long)dtype_bytes(g->buf->type, region_nelem(g)));
    if (loads) {
        str_puts(e->out, ", ");
        cuda_emit_place(c, &s->u.instr.region[2]);
    }
    if (policy)
        str_printf(e->out, ", %s()", policy);
    str_puts(e->out, ");\n");
}

/* ---- MMAs ------------------------------------------------------------------------------------ */

static const struct {
    DType t;
    const char *ptx, *c;
} ptx_types[] = {
    {DT_F16, "f16", "uint32_t"}, {DT_BF16, "bf16", "uint32_t"}, {DT_TF32, "tf32", "uint32_t"},
    {DT_E4M3, "e4m3", "uint32_t"}, {DT_E5M2, "e5m2", "uint32_t"}, {DT_I8, "s8", "uint32_t"},
    {DT_U8, "u8", "uint32_t"}, {DT_F32, "f32", "float"}, {DT_I32, "s32", "int32_t"},
};

static const char *ptx_name(DType t)
{
    for (int i = 0; i < COUNT(ptx_types); i++)
        if (ptx_types[i].t == t)
            return ptx_types[i].ptx;
    unreachable();
}

static const char *register_type(DType t)
{
    for (int i = 0; i < COUNT(ptx_types); i++)
        if (ptx_types[i].t == t)
            return ptx_types[i].c;
    unreachable();
}

typedef struct {
    int64_t n, k;
    DType a, b, c;
    bool rs, trans_a, trans_b; /* the instruction's flags: k as rows */
    bool sparse;
} Shape;

/* float32 in memory is read as tfloat32. */
static DType operand_type(const Region *r)
{
    return r->buf->type == DT_F32 ? DT_TF32 : r->buf->type;
}

static Shape shape_of(const Stmt *s)
{
    const Region *r = s->u.instr.region;
    Shape h = {.a = operand_type(&r[A]), .b = operand_type(&r[B]), .c = r[C].buf->type};
    int64_t stored_km = 0, stored_nk = 0;

    expr_is_int(s->u.instr.arg[0], &stored_km);
    expr_is_int(s->u.instr.arg[1], &stored_nk);
    h.rs = r[A].buf->scope != MEM_SHARED;
    h.trans_a = stored_km != 0;
    h.trans_b = stored_nk == 0;
    h.n = region_extent_int(&r[C], r[C].buf->rank - 1);
    h.k = region_extent_int(&r[B], r[B].buf->rank - (stored_nk ? 1 : 2));
    h.sparse = s->u.instr.nregion > MMA_E;
    return h;
}

static void put_list(Str *out, int from, int n)
{
    str_putc(out, '{');
    for (int i = 0; i < n; i++)
        str_printf(out, "%s%%%d", i ? (i % 16 ? ", " : ", \"\n        \"") : "", from + i);
    str_putc(out, '}');
}

/* One wrapper: the accumulators, then A (registers or a descriptor), B, whether to add to C. */
static void write_wrapper(Cuda *c, const Shape *h, const char *name)
{
    Str *out = &c->e.decls;
    int nc = (int)(h->c == DT_F16 ? h->n / 4 : h->n / 2), na = h->rs ? 4 : 1;
    const char *ct = register_type(h->c);
    bool is_float = dtype_is_float(h->c), transposes = dtype_bits(h->a) == 16;

    str_printf(out, "TL_DEVICE void %s(%s *c, %s, uint64_t b, %sint32_t add)\n{\n", name, ct,
               h->rs ? "const uint32_t *a" : "uint64_t a", h->sparse ? "uint32_t kept, " : "");
    str_printf(out, "    asm volatile(\"{ .reg .pred p; setp.ne.b32 p, %%%d, 0;\\n\"\n",
               nc + na + 1 + h->sparse);
    str_printf(out, "        \"wgmma.mma_async%s.sync.aligned.m64n%lldk%lld",
               h->sparse ? ".sp" : "", (long long)h->n, (long long)h->k);
    str_printf(out, ".%s.%s.%s \"\n        \"", ptx_name(h->c), ptx_name(h->a), ptx_name(h->b));
    put_list(out, 0, nc);
    str_puts(out, ", ");
    if (h->rs)
        put_list(out, nc, 4);
    else
        str_printf(out, "%%%d", nc);
    str_printf(out, ", %%%d", nc + na);
    if (h->sparse) /* the words of the first two of every four lanes */
        str_printf(out, ", %%%d, 0", nc + na + 1);
    str_printf(out, ", p%s", is_float ? ", 1, 1" : "");
    if (transposes && !h->rs)
        str_printf(out, ", %d", h->trans_a);
    if (transposes)
        str_printf(out, ", %d", h->trans_b);
    str_puts(out, "; }\"\n        :");
    for (int i = 0; i < nc; i++)
        str_printf(out, "%s \"+%s\"(c[%d])", i ? (i % 8 ? "," : ",\n         ") : "",
                   h->c == DT_F32 ? "f" : "r", i);
    str_puts(out, "\n        :");
    for (int i = 0; i < na; i++)
        str_printf(out, h->rs ? " \"r\"(a[%d])," : " \"l\"(a),", i);
    str_printf(out, " \"l\"(b),%s \"r\"(add));\n}\n\n", h->sparse ? " \"r\"(kept)," : "");
}

static const char *wrapper(Cuda *c, const Shape *h)
{
    const char *name = arena_printf(
        c->e.arena, "tl_wgmma%s_m64n%lldk%lld_%s_%s_%s%s%s%s", h->sparse ? "_sp" : "",
        (long long)h->n, (long long)h->k, ptx_name(h->c), ptx_name(h->a), ptx_name(h->b),
        h->rs ? "_rs" : "", h->trans_a ? "_ta" : "", h->trans_b ? "_tb" : "");
    if (!map_has(&c->e.routines, name)) {
        map_set(&c->e.routines, name, (void *)name);
        write_wrapper(c, h, name);
    }
    return name;
}

/* The offset without its constant part, and that part in units of 16 bytes. */
static const Expr *split_offset(Cuda *c, const Region *r, int64_t *units)
{
    const Expr *at = flat_offset(c, r), *rest;
    int64_t bits = dtype_bits(r->buf->type), unit = 16 * 8;
    Linear l = {0};

    *units = 0;
    linear_expr(&l, at, 1);
    if (l.bad || l.base < 0 || l.base * bits % unit)
        return at;
    int64_t base = l.base;
    l.base = 0;
    rest = linear_make(c->e.ir, &l, (DType)at->type);
    *units = rest ? base * bits / unit : 0;
    return rest ? rest : at;
}

/* tl_matrix(address, leading offset, stride offset, swizzle, steps): what the hardware reads.  The
 * address is its lowest field, in units of 16 bytes: steps within a tile are added to it. */
void cuda_emit_descriptor(Cuda *c, const Stmt *s, const Region *r, bool k_rows)
{
    Emit *e = &c->e;
    int span = buffer_panel_span(e->k, r->buf);
    bool tensor = machine_has(&e->spec->machine, HAS_TENSOR_MEMORY); /* other words for swizzles */
    int code = span == 128 ? 1 : span == 64 ? 2 : 3;
    int64_t rows = 0, units;

    if (span <= 0)
        diag_fail(e->k->diag, s->span,
                  "the layout of '%s' is not one that %s reads [unsupported-here]",
                  r->buf->name, s->u.instr.isa->name);
    expr_is_int(r->buf->shape[r->buf->rank - 2], &rows);
    const Expr *at = split_offset(c, r, &units);
    int each = MAX(8 / dtype_bits(r->buf->type), 1); /* elements of a byte */
    if (each > 1)
        at = simplify(e->ir, e->facts, expr_floordiv(e->ir, at, num(c, each)));
    str_printf(e->out, "tl_%smatrix(&%s[", tensor ? "tensor_" : "", buffer_name(e, r->buf));
    emit_loose(e, at);
    str_printf(e->out, "], %lld, %d, %d", (long long)(k_rows ? rows * span : 16), 8 * span,
               tensor ? 2 * code : code);
    if (units)
        str_printf(e->out, ", %lld", (long long)units);
    str_putc(e->out, ')');
}

static const Expr *slot_of(Cuda *c, const Stmt *s, const Region *r)
{
    const Expr *slot = cuda_same_slot(c, flat_offset(c, r));
    if (!slot)
        diag_fail(c->e.k->diag, s->span,
                  "the registers of '%s' differ between threads [unsupported-here]", r->buf->name);
    return slot;
}

/* A thread's first element of a tile of 64 rows, as the lanes of the instruction hold it. */
static Region own_part(Cuda *c, const Stmt *s, int which)
{
    Ir *ir = c->e.ir;
    const Region *r = &s->u.instr.region[which];
    int cols = (int)region_extent_int(r, r->buf->rank - 1);
    LaneMap l = isa_lanes(s->u.instr.isa, which, 64, cols, r->buf->type);
    Region own = {r->buf, NEWN(ir->arena, const Expr *, 2), r->extent};
    const Expr *t = expr_floormod(ir, thread_in_block(c->e.k), num(c, l.extent[LANE_LANE]));

    lane_place_expr(ir, &l, t, 0, own.at);
    for (int d = 0; d < 2; d++)
        own.at[d] = expr_add(ir, r->at[d], own.at[d]);
    return own;
}

static void emit_registers(Cuda *c, const Stmt *s, int which)
{
    Emit *e = &c->e;
    const Region *r = &s->u.instr.region[which];
    Region own = own_part(c, s, which);
    const Expr *slot = slot_of(c, s, &own);

    if (dtype_bits(r->buf->type) == 32) {
        str_printf(e->out, "&%s[", buffer_name(e, r->buf));
        emit_loose(e, slot);
        str_putc(e->out, ']');
    } else if (cuda_is_packed(c, r->buf)) {
        str_printf(e->out, "%s + ", buffer_name(e, r->buf));
        emit_index(e, simplify(e->ir, e->facts, expr_floordiv(e->ir, slot, num(c, 2))));
    } else {
        str_printf(e->out, "(uint32_t *)&%s[", buffer_name(e, r->buf));
        emit_loose(e, slot);
        str_putc(e->out, ']');
    }
}

void cuda_emit_wgmma(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    const Region *r = s->u.instr.region;
    Shape h = shape_of(s);
    int64_t clear = 0;

    emit_indent(e);
    str_printf(e->out, "%s(", wrapper(c, &h));
    emit_registers(c, s, C);
    str_puts(e->out, ", ");
    if (h.rs)
        emit_registers(c, s, A);
    else
        cuda_emit_descriptor(c, s, &r[A], h.trans_a);
    str_puts(e->out, ", ");
    cuda_emit_descriptor(c, s, &r[B], h.trans_b);
    str_puts(e->out, ", ");
    if (h.sparse) {
        str_printf(e->out, "%s[", buffer_name(e, r[MMA_E].buf));
        emit_loose(e, flat_offset(c, &r[MMA_E]));
        str_puts(e->out, "], ");
    }
    if (expr_is_int(s->u.instr.arg[2], &clear)) {
        str_printf(e->out, "%d", !clear);
    } else {
        str_puts(e->out, "!");
        emit_parens(e, s->u.instr.arg[2]);
    }
    str_puts(e->out, ");\n");
}

