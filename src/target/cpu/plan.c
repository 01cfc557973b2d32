/* plan.c -- how the CPU does copies and GEMMs.
 *
 * A GEMM runs on register-blocked microkernels (device/cpu/gemm.h) that take their operands
 * through strides, pack B as they go and so do not care where it came from.  A tile that is only
 * filled by one T.copy from a tensor and only read by GEMMs need not exist: the GEMM reads
 * the tensor ("view"), with its extents clipped where the copy would have filled with zeros. */
#include "pass/body_uses.h"
#include "target/cpu/emit.h"
#include "target/cpu/pass/rows.h"

enum { A, B, C, PACK };

/* ---- what mechanism for a GEMM? -------------------------------------------------------------- */

static bool is_narrow_float(DType t)
{
    return dtype_is_float(t) && t != DT_F64 && cpu_can_pack(t);
}

/* Of two tiles of one type that the machine sums GEMMs of. */
static bool has_bytes(const Stmt *t)
{
    return t->u.tile.region[A].buf->type == DT_I8 && t->u.tile.region[B].buf->type == DT_I8 &&
           t->u.tile.region[C].buf->type == DT_I32;
}

static bool has_bf16(const Stmt *t)
{
    return t->u.tile.region[A].buf->type == DT_BF16 && t->u.tile.region[B].buf->type == DT_BF16 &&
           is_narrow_float(t->u.tile.region[C].buf->type);
}

static bool can_amx(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    (void)k, (void)who;
    *why = "tile registers; dot products where the tiles are small";
    return has_bytes(t) || has_bf16(t);
}

static bool can_mmla(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    (void)k, (void)who;
    *why = "products of two rows and two columns";
    return has_bytes(t) || has_bf16(t);
}

static bool can_bf16dot(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    (void)k, (void)who;
    *why = "bfloat16 dot products";
    return has_bf16(t);
}

static bool can_vnni(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    (void)k, (void)who;
    *why = "8-bit dot products";
    return has_bytes(t);
}

static bool can_simd(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    DType a = t->u.tile.region[A].buf->type, b = t->u.tile.region[B].buf->type;
    DType c = t->u.tile.region[C].buf->type;
    bool bytes = dtype_bits(a) == 8 && dtype_is_int(a) && dtype_bits(b) == 8 && dtype_is_int(b);

    (void)k, (void)who;
    if (is_narrow_float(a) && is_narrow_float(b) && is_narrow_float(c))
        *why = c == DT_F32 ? "f32 microkernel"
                           : "f32 microkernel, result rounded to the accumulator";
    else if (a == DT_F64 && b == DT_F64 && c == DT_F64)
        *why = "f64 microkernel";
    else if (bytes && c == DT_I32)
        *why = "8-bit elements, widened";
    else {
        *why = "no microkernel for these types";
        return false;
    }
    return true;
}

bool cpu_has_microkernel(const Stmt *gemm)
{
    const char *why;
    return can_simd(NULL, (ThreadGroup){0, 0}, gemm, &why); /* what others can do, it can */
}

/* ---- may this copy be a view? ---------------------------------------------------------------- */

typedef struct {
    const Stmt *copy;
    const Buffer *tile;
    bool ok;
    bool after; /* the copy came by */
} Look;

static void look_access(void *arg, const Region *r, Access a)
{
    Look *l = arg;
    (void)a;
    if (r->buf != l->tile && buffer_root(r->buf) == l->tile)
        l->ok = false; /* through a view of the tile */
}

static bool look_load(const Expr *e, void *arg)
{
    Look *l = arg;
    if ((e->op == EX_LOAD || e->op == EX_ADDR) && buffer_root(e->u.buf) == l->tile)
        l->ok = false;
    return true;
}

static bool mentions(const Stmt *s, const Buffer *b)
{
    for (int i = 0; i < s->u.tile.nregion; i++)
        if (buffer_root(s->u.tile.region[i].buf) == b)
            return true;
    return false;
}

static void look_tile(Look *l, const Stmt *s)
{
    if (s == l->copy) {
        l->after = true;
        return;
    }
    tile_access(s, look_access, l);
    if (!mentions(s, l->tile))
        return;
    if (!tile_is_gemm(s) || !l->after || s->u.tile.region[C].buf == l->tile ||
        !cpu_has_microkernel(s))
        l->ok = false;
    for (int i = 0; i < 2 && tile_is_gemm(s); i++)
        if (s->u.tile.region[i].buf == l->tile && !region_is_whole(&s->u.tile.region[i]))
            l->ok = false;
}

static void look_stmt(Look *l, const Stmt *s)
{
    stmt_visit_expr(s, look_load, l);
    switch (s->kind) {
    case ST_TILE: look_tile(l, s); break;
    case ST_STORE:
    case ST_ATOMIC:
        l->ok = false;
        break;
    case ST_CALL:
        for (int i = 0; i < s->u.call.nregion; i++)
            if (buffer_root(s->u.call.region[i].buf) == l->tile)
                l->ok = false;
        break;
    default: break;
    }
}

/* Nobody writes it: a tensor behind a pointer may be any, and who has an address may write. */
static bool stays(Kernel *k, const Buffer *tensor)
{
    const BufferUses *n = buffer_uses(k, tensor);
    return !n->writes && !n->addresses && !body_writes_by_pointer(k);
}

/* In the list of statements that holds the copy, at any depth. */
static bool all_inside(const BodyPath *all, const Stmt *copy)
{
    const Stmt *s = all ? all->stmt : NULL;

    if (s == copy)
        return true;
    for (int i = 0; s && s->kind == ST_BLOCK && i < s->u.block.n; i++)
        if (s->u.block.list[i] == copy)
            return true;
    return false;
}

static void look_uses(Kernel *k, Look *l)
{
    const BufferUses *n = buffer_uses(k, l->tile);

    l->ok = l->ok && all_inside(n->all, l->copy);
    for (int i = 0; i < n->by.n && l->ok; i++)
        look_stmt(l, n->by.at[i]);
}

/* Starts are known not to be negative, fixed dimensions are in bounds, exactly two dimensions
 * move. */
bool cpu_region_can_be_viewed(Kernel *k, const Region *src)
{
    const Facts *f = body_facts(k);
    Ir *ir = k->ir;
    int moving = 0;

    for (int d = 0; d < src->buf->rank; d++) {
        int64_t extent;
        if (expr_has_load(src->at[d]) || !expr_is_int(src->extent[d], &extent))
            return false;
        if (bounds_of(f, src->at[d]).lo < 0)
            return false;
        if (extent != 1)
            moving++;
        else if (!prove_true(ir, f, expr_lt(ir, src->at[d], src->buf->shape[d])))
            return false;
    }
    return moving == 2;
}

static bool can_view(Kernel *k, const Stmt *copy)
{
    const Region *src = &copy->u.tile.region[0], *dst = &copy->u.tile.region[1];
    const Buffer *t = dst->buf;

    if (k->func->may_overlap)
        return false;
    if (src->buf->scope != MEM_GLOBAL || src->buf->view_of || src->buf->pointer || t->view_of)
        return false;
    if ((t->scope != MEM_SHARED && t->scope != MEM_FRAGMENT) || t->type != src->buf->type ||
        t->rank != 2 || !region_is_whole(dst) || buffer_plan(k, src->buf)->safe || k->uses_threads)
        return false;
    if (!cpu_region_can_be_viewed(k, src))
        return false;
    Look l = {.copy = copy, .tile = t, .ok = stays(k, src->buf)};
    look_uses(k, &l);
    return l.ok && l.after;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static bool can_leave(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    bool copy = tile_does(t, TILE_COPIES);
    (void)who;

    if (copy && can_view(k, t))
        *why = "only GEMMs read this tile; they read the tensor";
    else if (copy && accum_lives_in_tensor(k, t))
        *why = "the accumulator lives in the tensor it is stored to";
    else if (!copy && accum_clear_folds(k, t))
        *why = "the first GEMM overwrites the tile";
    else {
        if (copy && tensor_streams(k, t->u.tile.region[1].buf))
            *why = "the operator's own loops; the tensor is large and stored past the "
                   "caches";
        return false;
    }
    return true;
}

static void plan_view(Kernel *k, ThreadGroup who, const Stmt *t)
{
    (void)who;
    if (tile_does(t, TILE_COPIES))
        k->relies_apart = true;
}

static void warn_narrow(Kernel *k, ThreadGroup who, const Stmt *t)
{
    DType c = t->u.tile.region[C].buf->type;
    (void)who;

    if (c == DT_F16 || c == DT_BF16)
        diag_warn(k->diag, t->span, "this GEMM accumulates in %s and loses precision with every "
                  "step; use a float32 accumulator [narrow-accumulator]", dtype_name(c));
}

static void warn_slow(Kernel *k, ThreadGroup who, const Stmt *t)
{
    warn_narrow(k, who, t);
    diag_warn(k->diag, t->span, "no fast path for %s x %s -> %s on the CPU; plain loops are used "
              "[slow-gemm]", dtype_name(t->u.tile.region[A].buf->type),
              dtype_name(t->u.tile.region[B].buf->type), dtype_name(t->u.tile.region[C].buf->type));
}

/* ---- lowering -------------------------------------------------------------------------------- */

typedef struct {
    Kernel *k;
    const Buffer *tile;
    const Stmt *copy;
} Find;

static void find_view(const Stmt *s, Find *f)
{
    if (tile_does(s, TILE_COPIES) && s->u.tile.region[1].buf == f->tile &&
        tile_plan(f->k, s)->how == &cpu_view)
        f->copy = s;
}

static Region operand(Kernel *k, const Region *r)
{
    Find f = {k, r->buf, NULL};
    const BufferUses *n = buffer_uses(k, r->buf);
    for (int i = 0; i < n->by.n; i++)
        find_view(n->by.at[i], &f);
    return f.copy ? f.copy->u.tile.region[0] : *r;
}

static int64_t round_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

/* Room for packed copies of both operands and, for narrow accumulators, a float tile. */
static int64_t pack_bytes(const Region *a, const Region *c)
{
    int64_t size = a->buf->type == DT_F64 ? 8 : 4;
    int rank = c->buf->rank;
    int64_t rows = region_extent_int(c, rank - 2), cols = region_extent_int(c, rank - 1);
    int64_t k = region_nelem(a) / MAX(rows, 1);
    /* The widest strip is 64 columns; groups of 8-bit elements round k to 64. */
    int64_t bytes = (cols + 64) * round_up(k, 64) * size;

    bytes += (rows + 16) * (round_up(k, 64) + 64) * size;
    if (c->buf->type != DT_F32 && c->buf->type != DT_F64 && c->buf->type != DT_I32)
        bytes += round_up(rows, 16) * round_up(cols, 64) * 4;
    return bytes + 256;
}

/* Whether the next iteration of the loop multiplies the rows of B below these: they can be fetched
 * early. */
static const Expr *rows_follow(Kernel *k, const Stmt *t, const Region *b)
{
    Ir *ir = k->ir;
    const BodyPath *p = path_loop(body_path(k, t->u.tile.id));
    const Stmt *loop = p ? p->stmt : NULL;
    int64_t step, extent, moved = 0;

    if (!loop || b->buf->scope != MEM_GLOBAL)
        return expr_bool(ir, false);
    const Expr *var = expr_var(ir, loop->u.loop.var);
    const Expr *next = expr_add(ir, var, expr_const(ir, var->type, 1));
    for (int d = 0; d < b->buf->rank; d++) {
        const Expr *then = expr_subst(ir, b->at[d], loop->u.loop.var, next);
        const Expr *diff = simplify(ir, kernel_facts(k), expr_sub(ir, then, b->at[d]));
        if (!expr_is_int(diff, &step) || !expr_is_int(b->extent[d], &extent) ||
            (step && step != extent))
            return expr_bool(ir, false);
        moved += step != 0;
    }
    const Expr *end = expr_add(ir, loop->u.loop.min, loop->u.loop.extent);
    return moved == 1 ? expr_lt(ir, next, end) : expr_bool(ir, false);
}

static const Stmt *lower_gemm(Kernel *k, ThreadGroup who, const Stmt *t)
{
    Ir *ir = k->ir;
    (void)who;

    Region *r = NEWN(ir->arena, Region, 4);
    r[A] = operand(k, &t->u.tile.region[A]);
    r[B] = operand(k, &t->u.tile.region[B]);
    const Region *home = accum_home(k, t->u.tile.region[C].buf);
    r[C] = home ? *home : t->u.tile.region[C];
    const Expr *n = expr_int(ir, pack_bytes(&t->u.tile.region[A], &t->u.tile.region[C]));
    Buffer *pack = buffer_new(ir, "pack", DT_U8, MEM_SHARED, 1, &n, t->span);
    vec_push(k->arena, &k->buffers, pack);
    r[PACK] = region_whole(ir, pack);
    const Expr **arg = NEWN(ir->arena, const Expr *, 4);
    for (int i = 0; i < 3; i++)
        arg[i] = i < t->u.tile.narg && t->u.tile.arg[i] ? t->u.tile.arg[i] : expr_bool(ir, false);
    const Expr *first = accum_clears_when(k, t);
    if (first)
        arg[2] = expr_is_zero(arg[2]) ? first : expr_binary(ir, EX_OR, arg[2], first);
    arg[3] = rows_follow(k, t, &r[B]);
    return stmt_instr(ir, t->span, isa_find("cpu.gemm"), 4, r, 4, arg, t->u.tile.id);
}

static const Stmt *lower_view(Kernel *k, ThreadGroup who, const Stmt *t)
{
    (void)who;
    return stmt_block(k->ir, t->span, 0, NULL);
}

/* ---- the rows, best first -------------------------------------------------------------------- */

const Mech cpu_view = {.name = "view", .ops = OPS(copy) | OPS(fill), .can = can_leave,
                       .plan = plan_view, .lower = lower_view};

const Mech cpu_amx = {.name = "amx", .ops = OPS(gemm), .needs = HAS_TILE_REGS, .can = can_amx,
                      .plan = warn_narrow, .lower = lower_gemm, .overwrites = true};

static const Mech bf16dot = {.name = "bf16dot", .ops = OPS(gemm), .needs = HAS_BF16_DOTS,
                             .can = can_bf16dot, .plan = warn_narrow, .lower = lower_gemm,
                             .overwrites = true};

static const Mech vnni = {.name = "vnni", .ops = OPS(gemm), .needs = HAS_BYTE_DOTS,
                          .can = can_vnni, .lower = lower_gemm, .overwrites = true};

static const Mech mmla = {.name = "mmla", .ops = OPS(gemm), .needs = HAS_PAIR_DOTS,
                          .can = can_mmla, .plan = warn_narrow, .lower = lower_gemm,
                          .overwrites = true};

static const Mech sdot = {.name = "sdot", .ops = OPS(gemm), .needs = HAS_SIGNED_DOTS,
                          .can = can_vnni, .lower = lower_gemm, .overwrites = true};

static const Mech simd = {.name = "simd", .ops = OPS(gemm), .can = can_simd, .plan = warn_narrow,
                          .lower = lower_gemm, .overwrites = true};

static const Mech scalar = {.name = "scalar", .ops = OPS(gemm), .plan = warn_slow,
                            .own_loops = true};

const Mech *const cpu_mechs[] = {&cpu_view, &cpu_amx, &mmla, &bf16dot, &vnni, &sdot,
                                  &simd, &scalar, NULL};
