/* emit_store.c -- stores of a thread: many elements at a time, pairs, copies in flight. */
#include <math.h>
#include "target/cuda/emit.h"
#include "ir/config.h"

/* The first of consecutive elements, or NULL. */
static const Expr *run_start(const Expr *at)
{
    int64_t stride;
    return at->op == EX_RAMP && expr_is_int(at->kid[1], &stride) && stride == 1 ? at->kid[0] : NULL;
}

/* Moves bits; float32 is shown as what it is. */
static const char *run_type(DType t, int lanes)
{
    if (t == DT_F32 && (lanes == 2 || lanes == 4))
        return lanes == 2 ? "float2" : "float4";
    switch (dtype_bits(t) * lanes) {
    case 8:
        return "uint8_t";
    case 16:
        return "uint16_t";
    case 32:
        return "uint32_t";
    case 64:
        return "uint2";
    case 128:
        return "uint4";
    default:
        return NULL;
    }
}

static const Expr *scalar_of(const Expr *x)
{
    return !x || x->lanes == 1 ? x : x->op == EX_BROADCAST ? x->kid[0] : NULL;
}

/* Memory that can be reached many elements at a time. */
static bool is_wide(const Buffer *b, const Expr *at)
{
    return !cuda_is_register(b) && b->scope != MEM_VAR && dtype_bits(b->type) >= 4 &&
           run_start(at) && run_type(b->type, at->lanes);
}

typedef struct {
    Cuda *c;
    const Expr *guard;       /* of the store; NULL: none */
    VEC(const Expr *) loads; /* wide ones */
    VEC(Buffer *) temps;     /* what they go to */
} Wide;

static Buffer *wide_temp(Wide *w, DType t, int lanes)
{
    Ir *ir = w->c->e.ir;
    const Expr *n = expr_int(ir, lanes);
    return buffer_new(ir, "v", t, MEM_LOCAL, 1, &n, NO_SPAN);
}

/* Whether a load stays in its buffer whichever thread reads it. */
static bool is_inside(const Emit *e, const Expr *x)
{
    const Buffer *b = x->u.buf;
    const Expr *at = x->kid[0];
    MemScope scope = buffer_root(b)->scope;

    if ((scope != MEM_SHARED && scope != MEM_GLOBAL) || (scope == MEM_GLOBAL && x->lanes > 1) ||
        (x->lanes > 1 && at->op != EX_RAMP))
        return scope != MEM_GLOBAL;
    const Layout *l = buffer_plan(e->k, b)->layout;
    int64_t size = l ? layout_size(l) : buffer_static_size(b);
    Bounds at_bounds = bounds_of(e->facts, x->lanes > 1 ? at->kid[0] : at);
    return size > 0 && bounds_within(at_bounds, 0, size - x->lanes);
}

/* The loads of a wide value come before the guard of the store that wants it, those that all lanes
 * share too: what reads a tensor or a tile keeps to it.  NULL: lanes differ, and each is read where
 * it is stored. */
static const Expr *keep_inside(Wide *w, Ir *ir, const Expr *x, const Expr *guard)
{
    if (!guard || (x->guarded && !scalar_of(x->kid[1])) || is_inside(&w->c->e, x))
        return x;
    if (!scalar_of(guard))
        return NULL;
    if (x->guarded) { /* what the store's guard implies is not in its own */
        const Expr *both = expr_and(ir, scalar_of(guard), scalar_of(x->kid[1]));
        return expr_load_guarded(ir, x->u.buf, &x->kid[0], 1, expr_broadcast(ir, both, x->lanes),
                                 x->kid[2]);
    }
    const Expr *zero = dtype_is_float((DType)x->type) ? expr_float(ir, (DType)x->type, 0)
                                                      : expr_const(ir, (DType)x->type, 0);
    return expr_load_guarded(ir, x->u.buf, &x->kid[0], 1,
                             expr_broadcast(ir, scalar_of(guard), x->lanes),
                             expr_broadcast(ir, zero, x->lanes));
}

static const Expr *take_wide(Ir *ir, const Expr *x, void *arg)
{
    Wide *w = arg;
    int i;

    if (x->op == EX_LOAD && x->nkid) {
        const Expr *inside = keep_inside(w, ir, x, w->guard);
        if (!inside)
            return x;
        x = inside;
    }
    if (x->op != EX_LOAD || x->lanes == 1 || !is_wide(x->u.buf, x->kid[0]) ||
        (x->guarded && !scalar_of(x->kid[1])))
        return x;
    for (i = 0; i < w->loads.n; i++)
        if (w->loads.at[i] == x)
            break;
    if (i == w->loads.n) {
        vec_push(ir->arena, &w->loads, x);
        vec_push(ir->arena, &w->temps, wide_temp(w, x->u.buf->type, x->lanes));
    }
    const Expr *at = expr_ramp(ir, expr_int(ir, 0), expr_int(ir, 1), x->lanes);
    return expr_load(ir, w->temps.at[i], &at, 1);
}

/* Where the storage has element `at`: two of 4 bits are one byte. */
static void emit_stored_at(Emit *e, const Buffer *b, const Expr *at)
{
    int each = dtype_bits(b->type) < 8 ? 8 / dtype_bits(b->type) : 1;
    const Expr *unit = expr_const(e->ir, (DType)at->type, each);

    str_printf(e->out, "&%s[", buffer_name(e, b));
    emit_loose(e, simplify(e->ir, e->facts, each > 1 ? expr_floordiv(e->ir, at, unit) : at));
    str_putc(e->out, ']');
}

static const char *space_of(Emit *e, const Buffer *b)
{
    const CudaText *as = cuda_of(e)->as;
    return as->space ? as->space(b) : "";
}

static void emit_wide_access(Emit *e, const char *type, const Buffer *b, const Expr *at, bool reads)
{
    str_printf(e->out, "*(%s%s%s *)", space_of(e, b), reads ? "const " : "", type);
    emit_stored_at(e, b, run_start(at));
}

static void emit_temp(Emit *e, const Buffer *b, int lanes)
{
    emit_line(e, "__align__(16) %s %s[%d];", c_storage_type(b->type), buffer_name(e, b),
              (int)(dtype_bits(b->type) < 8 ? dtype_bytes(b->type, lanes) : lanes));
}

/* Through the cache for constant data, where a pass config asks for it. */
static bool is_through_ldg(const Emit *e, const Expr *x)
{
    ConfigId id = x->guarded ? CONFIG_enable_lower_ldgstg_predicated : CONFIG_enable_lower_ldgstg;
    const Buffer *b = buffer_root(x->u.buf);
    return config_on(e->func, id) && e->say->ldg && b->scope == MEM_GLOBAL && e->written &&
           !map_has(e->written, b);
}

static bool fills_with_zero(const Expr *x)
{
    const Expr *fill = scalar_of(x->kid[2]);
    return fill &&
           (fill->op == EX_FLOAT ? fill->u.f == 0 && !signbit(fill->u.f) : expr_is_zero(fill));
}

/* What a wide load gives, as one value: guard ? loaded : zeros. */
static void emit_wide_value(Emit *e, const Expr *x)
{
    const char *type = run_type(x->u.buf->type, x->lanes);
    const CudaText *as = cuda_of(e)->as;

    if (x->guarded && as->load_or_zero && as->load_or_zero(e, x, type))
        return;
    if (x->guarded) {
        emit_index(e, scalar_of(x->kid[1]));
        str_puts(e->out, " ? ");
    }
    bool ldg = is_through_ldg(e, x);
    str_printf(e->out, ldg ? "%s(&" : "", e->say->ldg);
    emit_wide_access(e, type, x->u.buf, x->kid[0], true);
    str_puts(e->out, ldg ? ")" : "");
    if (x->guarded)
        str_printf(e->out, " : %s{}", type);
}

static void emit_wide_load(Wide *w, const Expr *x, const Buffer *temp)
{
    Emit *e = &w->c->e;
    const char *type = run_type(x->u.buf->type, x->lanes), *name = buffer_name(e, temp);

    emit_temp(e, temp, x->lanes);
    if (!x->guarded || fills_with_zero(x)) {
        emit_indent(e);
        str_printf(e->out, "*(%s%s *)%s = ", space_of(e, temp), type, name);
        emit_wide_value(e, x);
        str_puts(e->out, ";\n");
        return;
    }
    emit_guard(e, scalar_of(x->kid[1]));
    str_printf(e->out, "*(%s%s *)%s = ", space_of(e, temp), type, name);
    emit_wide_access(e, type, x->u.buf, x->kid[0], true);
    str_puts(e->out, ";\n");
    emit_line(e, "else {");
    e->indent++;
    for (int l = 0; l < x->lanes; l++) {
        emit_indent(e);
        emit_store(e, temp, expr_int(e->ir, l), lane_of(e->ir, x->kid[2], l));
    }
    e->indent--;
    emit_line(e, "}");
}

/* Types that an instruction makes two of at once. */
static const char *pair_name(Emit *e, DType t)
{
    if (cuda_of(e)->as->space)
        return NULL;
    if (t == DT_F16 || (t == DT_BF16 && e->spec->machine.level >= 80))
        return t == DT_F16 ? "f16" : "bf16";
    if (e->spec->machine.level >= 89 && (t == DT_E4M3 || t == DT_E5M2))
        return t == DT_E4M3 ? "e4m3fn" : "e5m2";
    return NULL;
}

/* Whether two floats may become narrow in one instruction and go to one register. */
static bool is_pairs(Emit *e, const Buffer *b, const Expr *at, const Expr *value, int n)
{
    const Expr *start = at->lanes == n ? run_start(at) : NULL;
    DType t = b->type;

    if (!start || n % 2 || value->op != EX_CAST || value->lanes != n || !pair_name(e, t))
        return false;
    DType from = (DType)value->kid[0]->type; /* halves are floats exactly */
    bool half = dtype_bits(t) == 8 && (from == DT_F16 || from == DT_BF16);
    Modular m = modular_of(e->facts, start);
    return (from == DT_F32 || half) && m.coef % 2 == 0 && m.base % 2 == 0;
}

static void emit_pairs(Emit *e, const Buffer *b, const Expr *at, const Expr *value, int n)
{
    DType t = b->type;
    const char *name = pair_name(e, t);

    for (int l = 0; l < n; l += 2) {
        emit_indent(e);
        str_printf(e->out, "*(uint%d_t *)&%s[", dtype_bits(t) * 2, buffer_name(e, b));
        emit_loose(e, lane_of(e->ir, at, l));
        str_printf(e->out, "] = tl_pack_%s(", name);
        emit_value(e, lane_of(e->ir, value->kid[0], l));
        str_puts(e->out, ", ");
        emit_value(e, lane_of(e->ir, value->kid[0], l + 1));
        str_puts(e->out, ");\n");
    }
}

/* "f16", "bf16": of which registers add and multiply two at once. */
static const char *sum_name(const Emit *e, DType t)
{
    if (t == DT_BF16)
        return e->spec->machine.has & HAS_BF16_PAIRS ? "bf16" : NULL;
    return t == DT_F16 && e->say->half_ops ? "f16" : NULL;
}

static bool is_half_sum(const Expr *x, DType t)
{
    return x->type == t && (x->op == EX_ADD || x->op == EX_SUB || x->op == EX_MUL);
}

/* Lanes l and l + 1 of halves in one register. */
static void emit_half_pair(Emit *e, DType t, const Expr *x, int l)
{
    const Expr *start = x->op == EX_LOAD && !x->guarded && cuda_is_register(x->u.buf) &&
                                x->u.buf->type == t && x->kid[0]->lanes > 1
                            ? run_start(x->kid[0]) : NULL;
    Modular m = start ? modular_of(e->facts, start) : (Modular){1, 1};
    const Expr *one = scalar_of(x);

    if (is_half_sum(x, t)) {
        str_printf(e->out, "tl_%s_%sx2(",
                   x->op == EX_ADD ? "add" : x->op == EX_SUB ? "sub" : "mul", sum_name(e, t));
        emit_half_pair(e, t, x->kid[0], l);
        str_puts(e->out, ", ");
        emit_half_pair(e, t, x->kid[1], l);
    } else if (one && one->op == EX_FLOAT) {
        unsigned bits = (unsigned)num_encode(t, one->u.f);
        str_printf(e->out, "(0x%04x%04xu", bits, bits);
    } else if (m.coef % 2 == 0 && m.base % 2 == 0) {
        str_printf(e->out, "*(const uint32_t *)(&%s[", buffer_name(e, x->u.buf));
        emit_loose(e, lane_of(e->ir, x->kid[0], l));
        str_putc(e->out, ']');
    } else {
        str_puts(e->out, "tl_join_f16(");
        emit_stored(e, t, one ? one : lane_of(e->ir, x, l));
        str_puts(e->out, ", ");
        emit_stored(e, t, one ? one : lane_of(e->ir, x, l + 1));
    }
    str_putc(e->out, ')');
}

/* Sums and products of halves, two at a time. */
static bool emit_half_pairs(Emit *e, const Buffer *b, const Expr *at, const Expr *value, int n)
{
    const Expr *start = at->lanes == n ? run_start(at) : NULL;

    if (!sum_name(e, b->type) || !start || n % 2 || value->lanes != n ||
        !is_half_sum(value, b->type))
        return false;
    Modular m = modular_of(e->facts, start);
    if (m.coef % 2 || m.base % 2)
        return false;
    e->converts = true;
    for (int l = 0; l < n; l += 2) {
        emit_indent(e);
        str_printf(e->out, "*(uint32_t *)&%s[", buffer_name(e, b));
        emit_loose(e, lane_of(e->ir, at, l));
        str_puts(e->out, "] = ");
        emit_half_pair(e, b->type, value, l);
        str_puts(e->out, ";\n");
    }
    return true;
}

static void emit_lanes(Emit *e, const Buffer *b, const Expr *at, const Expr *value,
                       const Expr *guard, int n)
{
    if (!guard && is_pairs(e, b, at, value, n)) {
        emit_pairs(e, b, at, value, n);
        return;
    }
    if (!guard && emit_half_pairs(e, b, at, value, n))
        return;
    for (int l = 0; l < n; l++) {
        emit_guard(e, guard ? lane_of(e->ir, guard, l) : NULL);
        emit_store(e, b, lane_of(e->ir, at, l), lane_of(e->ir, value, l));
    }
}

/* From memory to memory without a look at it. */
static bool is_wide_copy(const Stmt *s)
{
    const Buffer *b = s->u.store.buf;
    const Expr *at = s->u.store.at[0], *x = s->u.store.value, *guard = s->u.store.guard;

    return x->op == EX_LOAD && x->u.buf->type == b->type && x->lanes == at->lanes &&
           is_wide(b, at) && is_wide(x->u.buf, x->kid[0]) && (!guard || scalar_of(guard)) &&
           (!x->guarded || (scalar_of(x->kid[1]) && fills_with_zero(x)));
}

static bool emit_wide_copy(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    Buffer *b = s->u.store.buf;
    const Expr *at = s->u.store.at[0], *x = s->u.store.value, *guard = s->u.store.guard;

    if (!is_wide_copy(s))
        return false;
    const char *type = run_type(b->type, at->lanes);
    Wide w = {.c = c, .guard = guard};
    const Buffer *temp = guard && buffer_root(x->u.buf)->scope == MEM_GLOBAL
                             ? wide_temp(&w, b->type, at->lanes) : NULL;
    if (temp) /* or each copy of a loop would wait for its own load, behind a branch */
        emit_wide_load(&w, keep_inside(&w, e->ir, x, guard), temp);
    emit_guard(e, guard ? scalar_of(guard) : NULL);
    emit_wide_access(e, type, b, at, false);
    str_puts(e->out, " = ");
    if (temp)
        str_printf(e->out, "*(%sconst %s *)%s", space_of(e, temp), type, buffer_name(e, temp));
    else
        emit_wide_value(e, x);
    str_puts(e->out, ";\n");
    return true;
}

const char *cuda_emit_run(Cuda *c, const Expr *value, DType t)
{
    Emit *e = &c->e;
    Wide w = {.c = c};
    int lanes = value->lanes;

    value = expr_map(e->ir, value, take_wide, &w);
    for (int i = 0; i < w.loads.n; i++)
        emit_wide_load(&w, w.loads.at[i], w.temps.at[i]);
    const Buffer *temp = wide_temp(&w, t, lanes);
    const Expr *all = expr_ramp(e->ir, expr_int(e->ir, 0), expr_int(e->ir, 1), lanes);
    emit_temp(e, temp, lanes);
    emit_lanes(e, temp, all, value, NULL, lanes);
    return buffer_name(e, temp);
}

/* Does it read an array of the thread's own at a place that may be past its end? */
static bool leaves_own(const Expr *x, void *emit)
{
    const Emit *e = emit;
    int64_t step = 0;

    if (x->op != EX_LOAD || !x->nkid || buffer_root(x->u.buf)->scope == MEM_GLOBAL ||
        buffer_root(x->u.buf)->scope == MEM_SHARED || x->u.buf->scope == MEM_VAR)
        return false;
    const Expr *at = x->kid[0];
    int64_t size = buffer_static_size(x->u.buf);
    if (size <= 0 || (x->lanes > 1 && (at->op != EX_RAMP || !expr_is_int(at->kid[1], &step))))
        return false;
    int64_t reach = step * (x->lanes - 1);
    return !bounds_within(bounds_of(e->facts, x->lanes > 1 ? at->kid[0] : at), MAX(0, -reach),
                          size - 1 - MAX(0, reach));
}

/* Loads of consecutive elements first, each at once; then lane by lane; then one store.  What only
 * the guard keeps inside of an array of the thread's own is read under it, lane by lane. */
static void emit_store_wide(Cuda *c, const Stmt *s, int lanes)
{
    Emit *e = &c->e;
    Wide w = {.c = c, .guard = s->u.store.guard};
    Buffer *b = s->u.store.buf;
    const Expr *at = s->u.store.at[0], *guard = s->u.store.guard;

    if (emit_wide_copy(c, s))
        return;
    const Expr *value = expr_map(e->ir, s->u.store.value, take_wide, &w);
    for (int i = 0; i < w.loads.n; i++)
        emit_wide_load(&w, w.loads.at[i], w.temps.at[i]);
    if (at->lanes != lanes || !is_wide(b, at) || (guard && !scalar_of(guard)) ||
        (guard && expr_any(value, leaves_own, e))) {
        emit_lanes(e, b, at, value, guard, lanes);
        return;
    }
    const char *type = run_type(b->type, lanes);
    const Buffer *temp = wide_temp(&w, b->type, lanes);
    const Expr *all = expr_ramp(e->ir, expr_int(e->ir, 0), expr_int(e->ir, 1), lanes);
    emit_temp(e, temp, lanes);
    emit_lanes(e, temp, all, value, NULL, lanes);
    emit_guard(e, guard ? scalar_of(guard) : NULL);
    emit_wide_access(e, type, b, at, false);
    str_printf(e->out, " = *(%sconst %s *)%s;\n", space_of(e, temp), type, buffer_name(e, temp));
}

/* cp.async moves 4, 8 or 16 bytes as they are, or zeros.  From where to where; NULL: it cannot. */
static const Expr *async_ends(const Cuda *c, const Stmt *s, const Expr **from)
{
    const Buffer *b = s->u.store.buf;
    const Expr *at = s->u.store.at[0], *x = s->u.store.value, *guard = s->u.store.guard;
    int bits = dtype_bits(b->type) * x->lanes;

    if (c->e.spec->machine.level < 80 || x->op != EX_LOAD ||
        buffer_root(x->u.buf)->scope != MEM_GLOBAL ||
        x->u.buf->type != b->type || (bits != 32 && bits != 64 && bits != 128) ||
        (guard && !scalar_of(guard)) ||
        (x->guarded && (!scalar_of(x->kid[1]) || !fills_with_zero(x))))
        return NULL;
    const Expr *to = x->lanes == 1 ? at : run_start(at);
    *from = x->lanes == 1 ? x->kid[0] : run_start(x->kid[0]);
    return *from ? to : NULL;
}

static bool see_memory(const Expr *x, void *arg)
{
    if (x->op == EX_LOAD)
        *(bool *)arg = true;
    return true;
}

typedef struct {
    const Emit *e;
    bool yes;
} Strays;

static bool see_stray(const Expr *x, void *arg)
{
    Strays *w = arg;

    if (x->op == EX_LOAD && !x->guarded && !cuda_is_register(x->u.buf) &&
        x->u.buf->scope != MEM_VAR) {
        int64_t size = buffer_static_size(x->u.buf);
        w->yes |= size <= 0 || x->nkid != 1 || x->lanes > 1 ||
                  !bounds_within(bounds_of(w->e->facts, x->kid[0]), 0, size - 1);
    }
    return !w->yes;
}

/* Does an index read memory, and perhaps past its end? */
bool cuda_may_stray(const Emit *e, const Expr *at)
{
    Strays w = {e, false};
    expr_visit(at, see_stray, &w);
    return w.yes;
}

/* Where a guarded copy reads.  An argument is worked out whatever the guard says: an index that is
 * itself read past its tensor there has its address under the guard too. */
void cuda_emit_guarded_from(Emit *e, const Expr *x, const Expr *from)
{
    bool apart = x->guarded && cuda_may_stray(e, from);

    if (apart) {
        emit_index(e, scalar_of(x->kid[1]));
        str_puts(e->out, " ? ");
    }
    emit_stored_at(e, x->u.buf, from);
    if (apart)
        str_printf(e->out, " : %s", buffer_name(e, x->u.buf));
}

static bool emit_async(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    const Expr *x = s->u.store.value, *guard = s->u.store.guard, *from = NULL;
    const Expr *to = async_ends(c, s, &from);

    if (!to)
        return false;
    emit_guard(e, guard ? scalar_of(guard) : NULL);
    str_printf(e->out, "tl_cp_async%s%s<%d>(", x->guarded ? "_or_zero" : "",
               c->where ? "_where" : "", dtype_bits(x->u.buf->type) * x->lanes / 8);
    cuda_emit_address(c, s->u.store.buf, to);
    str_puts(e->out, ", ");
    cuda_emit_guarded_from(e, x, from);
    if (x->guarded) {
        str_puts(e->out, ", ");
        emit_loose(e, scalar_of(x->kid[1]));
    }
    str_printf(e->out, c->where ? ", %s);\n" : ");\n", c->where);
    return true;
}

typedef struct {
    const Cuda *c;
    bool no;
} OnlyCopies;

static bool see_copy(const Stmt *s, void *arg)
{
    OnlyCopies *o = arg;
    const Expr *from = NULL;

    if (s->kind == ST_BLOCK || s->kind == ST_FOR)
        return true;
    const Expr *to = s->kind == ST_STORE && s->u.store.async ? async_ends(o->c, s, &from) : NULL;
    if (!to) {
        o->no = true;
        return false;
    }
    expr_visit(to, see_memory, &o->no); /* an address read where the condition fails */
    expr_visit(from, see_memory, &o->no);
    if (s->u.store.guard)
        expr_visit(s->u.store.guard, see_memory, &o->no);
    if (s->u.store.value->guarded)
        expr_visit(s->u.store.value->kid[1], see_memory, &o->no);
    return true;
}

static bool see_own_load(const Expr *x, void *copies)
{
    OnlyCopies *o = copies;

    for (int d = 0; x->op == EX_LOAD && d < x->nkid; d++)
        for (int t = 0; t < 3; t++)
            o->no |= expr_uses_var(x->kid[d], o->c->e.k->thread[t]);
    return true;
}

/* Where each thread reads what decides for it, the branch is one: a predicate of each copy would be
 * a branch around each. */
bool cuda_is_where(Cuda *c, const Stmt *s)
{
    OnlyCopies o = {c, s->u.branch.orelse != NULL || c->where};

    expr_visit(s->u.branch.cond, see_own_load, &o);
    stmt_visit(s->u.branch.then, see_copy, &o);
    return !o.no;
}

void cuda_emit_where(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;

    c->where = name_for(e->names, s, "more");
    emit_indent(e);
    str_printf(e->out, "const bool %s = ", c->where);
    emit_loose(e, s->u.branch.cond);
    str_puts(e->out, ";\n");
    emit_stmt(&c->e, s->u.branch.then);
    c->where = NULL;
}

/* The other half of the byte may be another thread's. */
static void emit_half_byte(Emit *e, const Stmt *s)
{
    str_printf(e->out, "tl_share_nibble(%s, ", buffer_name(e, s->u.store.buf));
    emit_loose(e, s->u.store.at[0]);
    str_puts(e->out, ", ");
    emit_stored(e, s->u.store.buf->type, s->u.store.value);
    str_puts(e->out, ");\n");
}

void cuda_emit_store(Emit *e, const Stmt *s)
{
    Cuda *c = cuda_of(e);
    int lanes = MAX(s->u.store.at[0]->lanes, s->u.store.value->lanes);

    if (s->u.store.async && emit_async(c, s))
        return;
    if (lanes > 1) {
        emit_store_wide(c, s, lanes);
        return;
    }
    emit_guard(e, s->u.store.guard);
    MemScope scope = buffer_root(s->u.store.buf)->scope;
    bool shared = scope == MEM_GLOBAL || scope == MEM_SHARED;
    if (dtype_bits(s->u.store.buf->type) == 4 && shared)
        emit_half_byte(e, s);
    else
        emit_store(e, s->u.store.buf, s->u.store.at[0], s->u.store.value);
}
