/* opt_vectorize.c -- loops over a thread's slots touch memory many elements at a time.
 *
 * needs   FORM_WIDTHS      offsets are final
 *
 *     for s in 16:                               for q in 2:
 *         A_s[f(s)] = A[g(s)]            ->          A_s[ramp(f(8q), 1, 8)] = A[ramp(g(8q), 1, 8)]
 *
 * The widest width is taken for which every access of memory is of consecutive elements that
 * start at a multiple of the width, at most 16 bytes, and no guard changes within a group.  The
 * iterations of such a loop are independent (hint "slots"): where neighbours in memory are not
 * neighbours among the slots, as in operands of MMAs, those 2 or 4 apart make a group.  Lanes may
 * share elements ([s // 2]) or read several whole runs of a tensor, and those that differ in a mask
 * read together what is inside of a tensor that nobody writes, where one of them wants it.  Tensors
 * start at multiples of 16 bytes: whoever launches the kernel sees to that. */
#include "pass/pass.h"
#include "pass/thread_nest.h"
#include "ir/config.h"

enum { APART_MOST = 4 };

typedef struct {
    Kernel *k;
    Ir *ir;
    Facts *facts;
    Var *slot;     /* of the loop at hand */
    const Expr *q; /* number of the group */
    int64_t width;
    int64_t apart; /* iterations from lane to lane */
    int64_t groups;
    int draws;     /* calls in its body that give a random number */
    Map drawn;     /* the name each gives -> the lanes' names */
    VEC(const Expr *) sure; /* loads that are made whatever a choice takes */
    bool bad;
    bool wide; /* some access of memory is */
    bool slots; /* inside of a loop over slots */
    Map inputs; /* tensors that are only read */
} Vectors;

static const Expr *num(Vectors *v, int64_t n)
{
    return expr_int(v->ir, n);
}

/* x in lane r of group q */
static const Expr *in_lane(Vectors *v, const Expr *x, int64_t r)
{
    Ir *ir = v->ir;
    const Expr *d = num(v, v->apart), *q = v->q;
    const Expr *s = expr_mul(ir, expr_floordiv(ir, q, d), num(v, v->width * v->apart));
    s = expr_add(ir, expr_add(ir, s, expr_floormod(ir, q, d)), num(v, r * v->apart));
    for (int i = 0; i < v->drawn.n; i++)
        x = expr_subst(ir, x, v->drawn.at[i].key, ((const Expr **)v->drawn.at[i].val)[r]);
    return simplify(ir, v->facts, expr_subst(ir, x, v->slot, expr_cast(ir, v->slot->type, s)));
}

static bool is_same(Vectors *v, const Expr *x)
{
    const Expr *first = in_lane(v, x, 0);
    for (int64_t r = 1; r < v->width; r++)
        if (in_lane(v, x, r) != first)
            return false;
    return true;
}

/* A wider number, of one that is within its type in all lanes: that number, else NULL. */
static const Expr *widened(Vectors *v, const Expr *x)
{
    const Expr *from = x->op == EX_CAST ? x->kid[0] : NULL;

    if (!from || !dtype_is_int((DType)x->type) || !dtype_is_int((DType)from->type) ||
        dtype_is_unsigned((DType)from->type) || dtype_bits(x->type) < dtype_bits(from->type))
        return NULL;
    Bounds fit = bounds_of_type((DType)from->type);
    for (int64_t r = 0; r < v->width; r++) {
        Bounds b = bounds_of(v->facts, in_lane(v, from, r));
        if (!bounds_known(b) || b.lo <= fit.lo || b.hi >= fit.hi)
            return NULL;
    }
    return from;
}

/* The same step from lane to lane; `wraps`: also where the number may become too large. */
static bool step_of(Vectors *v, const Expr *x, bool wraps, int64_t *step)
{
    const Expr *first = in_lane(v, x, 0);
    int64_t d, other = 0;
    bool even = true;

    *step = 0;
    for (int64_t r = 1; r < v->width && even; r++) {
        const Expr *by = simplify(v->ir, v->facts, expr_sub(v->ir, in_lane(v, x, r), first));
        even = expr_is_int(by, &d) && d % r == 0 && (r == 1 || d / r == *step);
        if (even)
            *step = d / r;
    }
    const Expr *from = even ? NULL : widened(v, x);
    if (from)
        return step_of(v, from, wraps, step);
    /* The simplifier does not take such a sum apart. */
    if (!even && wraps && x->op == EX_ADD && dtype_is_int((DType)x->type)) {
        even = step_of(v, x->kid[0], wraps, step) && step_of(v, x->kid[1], wraps, &other);
        *step += other;
    }
    return even;
}

/* x of lane 0, and the step; NULL: lanes differ by something else. */
static const Expr *is_run(Vectors *v, const Expr *x, bool wraps, int64_t *step)
{
    return step_of(v, x, wraps, step) ? in_lane(v, x, 0) : NULL;
}

static bool is_multiple(Vectors *v, const Expr *x)
{
    Modular m = modular_of(v->facts, x);
    return m.coef % v->width == 0 && m.base % v->width == 0;
}

/* a < b in all lanes or in none: a goes up by lanes, and b - a is a multiple of the width. */
static bool is_even_bound(Vectors *v, const Expr *x)
{
    int64_t step = 0;

    if (x->op != EX_LT || !dtype_is_int((DType)x->kid[0]->type) || !is_same(v, x->kid[1]))
        return false;
    const Expr *a = is_run(v, x->kid[0], false, &step);
    return a && step == 1 &&
           is_multiple(v, simplify(v->ir, v->facts, expr_sub(v->ir, in_lane(v, x->kid[1], 0), a)));
}

/* A condition that is the same in all lanes, as of the first. */
static const Expr *even_cond(Vectors *v, const Expr *x)
{
    if (x->op == EX_AND) {
        const Expr *a = even_cond(v, x->kid[0]), *b = even_cond(v, x->kid[1]);
        return a && b ? expr_and(v->ir, a, b) : NULL;
    }
    return is_same(v, x) || is_even_bound(v, x) ? in_lane(v, x, 0) : NULL;
}

static bool in_memory(const Buffer *b)
{
    return b->scope == MEM_GLOBAL || b->scope == MEM_SHARED;
}

/* Of an element that goes with its neighbours. */
static int least_bits(const Vectors *v)
{
    return kernel_has(v->k, HAS_HALF_BYTES) ? 4 : 8;
}

/* The index of an access as a run of lanes; NULL: it is none, or memory that cannot be reached so.
 */
static const Expr *run_index(Vectors *v, const Buffer *b, const Expr *at)
{
    int64_t step = 0;
    /* A run of memory starts at a multiple of the width: no number becomes too large within it. */
    const Expr *first = is_run(v, at, in_memory(b), &step);
    int64_t bits = dtype_bits(b->type) * v->width;

    if (!first || (step != 1 && (in_memory(b) || v->apart == 1)))
        return NULL;
    if (in_memory(b)) {
        if (!buffer_is_aligned(b) || dtype_bits(b->type) < least_bits(v) || bits < 8 ||
            bits > v->k->machine->access_bytes * 8 || !is_multiple(v, first))
            return NULL;
        v->wide = true;
    }
    return expr_ramp(v->ir, first, expr_const(v->ir, (DType)first->type, step), (int)v->width);
}

static const Expr *vector_of(Vectors *v, const Expr *x);

static const Expr *lanes_of(Vectors *v, const Expr *x)
{
    return x->lanes == 1 ? expr_broadcast(v->ir, x, (int)v->width) : x;
}

/* Of a tensor that the kernel only reads: a run of lanes that is in it whatever a guard says. */
static bool may_read_run(Vectors *v, const Buffer *b, const Expr *at)
{
    int64_t size = buffer_static_size(b);

    if (b->scope != MEM_GLOBAL || b->stride || at->op != EX_RAMP || !map_has(&v->inputs, b))
        return false;
    return size > 0 && bounds_within(bounds_of(v->facts, at->kid[0]), 0, size - at->lanes);
}

static bool is_ordering(const Expr *x)
{
    return (x->op == EX_LT || x->op == EX_LE || x->op == EX_GT || x->op == EX_GE) &&
           dtype_is_int((DType)x->kid[0]->type);
}

/* What holds wherever the guard of some lane does. */
static const Expr *any_lane(Vectors *v, const Expr *x)
{
    const Expr *even = even_cond(v, x);
    int64_t a, b;

    if (even)
        return even;
    if (x->op == EX_AND)
        return expr_and(v->ir, any_lane(v, x->kid[0]), any_lane(v, x->kid[1]));
    if (is_ordering(x) && step_of(v, x->kid[0], false, &a) && step_of(v, x->kid[1], false, &b))
        return expr_binary(v->ir, EX_OR, in_lane(v, x, 0), in_lane(v, x, v->width - 1));
    return expr_bool(v->ir, true);
}

/* Lanes that differ in their guard are read together where one is wanted, and chosen one by one. */
static const Expr *vector_masked(Vectors *v, const Expr *x, const Expr *at)
{
    Ir *ir = v->ir;
    const Expr *guard = lanes_of(v, vector_of(v, x->kid[1]));
    const Expr *fill = lanes_of(v, vector_of(v, x->kid[2]));
    const Expr *any = simplify(ir, v->facts, any_lane(v, x->kid[1]));
    const Expr *load = expr_load(ir, x->u.buf, &at, 1);

    if (v->bad)
        return x;
    if (!expr_is_const(any))
        load = expr_load_guarded(ir, x->u.buf, &at, 1, lanes_of(v, any),
                                 lanes_of(v, expr_zero(ir, (DType)x->type)));
    return expr_select(ir, guard, load, fill);
}

/* A load of which several lanes use each element, as of [i // 2]: a narrower one, and who takes
 * what.  Registers are read lane by lane, whatever the index.  NULL: neither. */
static const Expr *vector_shared(Vectors *v, const Expr *x)
{
    int width = (int)v->width, each = 0;
    const Expr **lane = NEWN(v->ir->arena, const Expr *, width), *first = in_lane(v, x->kid[0], 0);
    int64_t by;

    for (int r = 0; r < width; r++)
        lane[r] = in_lane(v, x, r);
    if (!in_memory(x->u.buf))
        return expr_vector(v->ir, lane, width);
    for (int r = 1; r < width; r++) {
        const Expr *step = expr_sub(v->ir, in_lane(v, x->kid[0], r), first);
        if (!expr_is_int(simplify(v->ir, v->facts, step), &by))
            return NULL;
        each = by == 1 && !each ? r : each;
        if (by != (each ? r / each : 0))
            return NULL;
    }
    const Expr *guard = x->guarded ? even_cond(v, x->kid[1]) : NULL;
    if (each < 2 || width % each || (x->guarded && !guard) || !buffer_is_aligned(x->u.buf))
        return NULL;
    int n = width / each, bits = dtype_bits(x->u.buf->type) * n;
    Modular m = modular_of(v->facts, first);
    if (dtype_bits(x->u.buf->type) < 8 || bits > v->k->machine->access_bytes * 8 || m.coef % n ||
        m.base % n)
        return NULL;
    const Expr *at = expr_ramp(v->ir, first, expr_const(v->ir, (DType)first->type, 1), n);
    const Expr *run = expr_load(v->ir, x->u.buf, &at, 1);
    if (guard)
        run = expr_load_guarded(v->ir, x->u.buf, &at, 1, expr_broadcast(v->ir, guard, n),
                                expr_broadcast(v->ir, in_lane(v, x->kid[2], 0), n));
    for (int r = 0; r < width; r++)
        lane[r] = expr_lane(v->ir, run, r / each);
    return expr_vector(v->ir, lane, width);
}

/* A load of global memory in several runs that are as wide as an access may be each, as from
 * [i % 2 * 32 + i // 2]: one load a run, and who takes what.  NULL: it is none. */
static const Expr *vector_pieces(Vectors *v, const Expr *x)
{
    enum { LANES_MOST = 16 };
    int width = (int)v->width;
    int n = v->k->machine->access_bytes * 8 / (int)dtype_bits(x->u.buf->type);
    const Expr *first = in_lane(v, x->kid[0], 0), *run[LANES_MOST] = {0}, *lane[LANES_MOST];
    int64_t by[LANES_MOST] = {0};
    uint32_t used[LANES_MOST] = {0};

    if (x->u.buf->scope != MEM_GLOBAL || x->guarded || !buffer_is_aligned(x->u.buf) ||
        dtype_bits(x->u.buf->type) < 8 || width > LANES_MOST || n < 1 || n >= width || width % n)
        return NULL;
    Modular m = modular_of(v->facts, first);
    for (int r = 1; r < width; r++) {
        const Expr *step = expr_sub(v->ir, in_lane(v, x->kid[0], r), first);
        if (!expr_is_int(simplify(v->ir, v->facts, step), &by[r]))
            return NULL;
    }
    for (int r = 0; r < width; r++) { /* lanes of a run find the one that its first lane made */
        int64_t start = floor_div(by[r], n) * n;
        int o = 0;
        while (o < r && floor_div(by[o], n) * n != start)
            o++;
        used[o] |= 1u << (by[r] - start);
        const Expr *at = expr_add(v->ir, first, expr_const(v->ir, (DType)first->type, start));
        at = expr_ramp(v->ir, simplify(v->ir, v->facts, at),
                       expr_const(v->ir, (DType)first->type, 1), n);
        run[o] = run[o] ? run[o] : expr_load(v->ir, x->u.buf, &at, 1);
        lane[r] = expr_lane(v->ir, run[o], (int)(by[r] - start));
    }
    for (int o = 0; o < width; o++)
        if (used[o] && used[o] != (1u << n) - 1)
            return NULL;
    return m.coef % n || m.base % n ? NULL : expr_vector(v->ir, lane, width);
}

static const Expr *vector_load(Vectors *v, const Expr *x)
{
    const Expr *at = run_index(v, x->u.buf, x->kid[0]);
    const Expr *shared = at ? NULL : vector_shared(v, x);

    if (!at && !shared)
        shared = vector_pieces(v, x);

    if (shared)
        return shared;
    const Expr *guard = x->guarded ? even_cond(v, x->kid[1]) : NULL;

    if (at && x->guarded && !guard && may_read_run(v, x->u.buf, at))
        return vector_masked(v, x, at);
    if (!at || (x->guarded && !guard)) {
        v->bad = true;
        return x;
    }
    if (!x->guarded)
        return expr_load(v->ir, x->u.buf, &at, 1);
    return expr_load_guarded(v->ir, x->u.buf, &at, 1, lanes_of(v, guard),
                             lanes_of(v, vector_of(v, x->kid[2])));
}

/* Of a value: the loads that no choice in it can leave out. */
static void see_sure(Vectors *v, const Expr *x)
{
    bool may_stop = x->op == EX_IF || x->op == EX_AND || x->op == EX_OR;

    if (x->op == EX_LOAD && in_memory(x->u.buf))
        vec_push(v->ir->arena, &v->sure, x);
    for (int i = 0; i < (may_stop || x->op == EX_LOAD ? 1 : x->nkid); i++)
        if (x->op != EX_LOAD || !x->guarded)
            see_sure(v, x->kid[i]);
}

static bool is_sure(const Vectors *v, const Expr *load)
{
    for (int i = 0; i < v->sure.n; i++)
        if (v->sure.at[i] == load)
            return true;
    return false;
}

enum { RISK_LOAD = 1, RISK_DIVISION = 2 };

typedef struct {
    const Vectors *v;
    int found;
} Risks;

static bool see_risk(const Expr *x, void *arg)
{
    Risks *r = arg;
    int64_t by;

    if (x->op == EX_LOAD && in_memory(x->u.buf) && !is_sure(r->v, x))
        r->found |= RISK_LOAD;
    if ((x->op == EX_FLOORDIV || x->op == EX_FLOORMOD || x->op == EX_TRUNCDIV ||
         x->op == EX_TRUNCMOD) && (!expr_is_int(x->kid[1], &by) || by == 0 || by == -1))
        r->found |= RISK_DIVISION;
    return true;
}

/* Why not both sides of a choice may be evaluated, whichever is taken. */
static int risks(const Vectors *v, const Expr *x)
{
    Risks r = {v, 0};
    expr_visit(x->kid[1], see_risk, &r);
    expr_visit(x->kid[2], see_risk, &r);
    return r.found;
}

static const Expr *guard_load(Ir *ir, const Expr *x, void *arg)
{
    const Expr *guard = arg;

    if (x->op != EX_LOAD || !in_memory(x->u.buf))
        return x;
    if (!x->guarded)
        return expr_load_guarded(ir, x->u.buf, x->kid, 1, guard, expr_zero(ir, (DType)x->type));
    return expr_load_guarded(ir, x->u.buf, x->kid, 1, expr_and(ir, guard, x->kid[1]), x->kid[2]);
}

/* Each side reads memory only where it is taken, or where it may whatever is taken. */
static const Expr *vector_choice(Vectors *v, const Expr *x)
{
    Ir *ir = v->ir;
    const Expr *cond = even_cond(v, x->kid[0]), *no = expr_unary(ir, EX_NOT, x->kid[0]), *side[2];

    if (!cond)
        cond = vector_of(v, x->kid[0]);
    if (v->bad || (risks(v, x) & RISK_DIVISION)) {
        v->bad = true;
        return x;
    }
    for (int i = 0; i < 2; i++)
        side[i] = lanes_of(v, vector_of(v, expr_map(ir, x->kid[i + 1], guard_load,
                                                    (void *)(i ? no : x->kid[0]))));
    return v->bad ? x : expr_select(ir, lanes_of(v, cond), side[0], side[1]);
}

/* All lanes of a value; a scalar where they agree. */
static const Expr *vector_of(Vectors *v, const Expr *x)
{
    const Expr *kid[4];
    int64_t step = 0;

    if (v->bad || is_same(v, x))
        return in_lane(v, x, 0);
    if (x->op == EX_VAR && map_has(&v->drawn, x->u.var))
        return expr_vector(v->ir, map_get(&v->drawn, x->u.var), (int)v->width);
    if (x->op == EX_LOAD)
        return vector_load(v, x);
    if (dtype_is_int((DType)x->type) && !expr_has_load(x)) {
        const Expr *first = is_run(v, x, false, &step);
        if (first)
            return expr_ramp(v->ir, first, expr_const(v->ir, (DType)x->type, step), (int)v->width);
    }
    if (x->op == EX_IF && risks(v, x))
        return vector_choice(v, x);
    if (x->op == EX_IF)
        x = expr_select(v->ir, x->kid[0], x->kid[1], x->kid[2]);
    bool parts = x->op == EX_BITCAST && dtype_bits(x->type) != dtype_bits(x->kid[0]->type);
    if (x->nkid == 0 || x->nkid > 3 || x->op == EX_ADDR || x->op == EX_EXTERN || parts) {
        v->bad = true;
        return x;
    }
    for (int i = 0; i < x->nkid; i++)
        kid[i] = lanes_of(v, vector_of(v, x->kid[i]));
    if (x->op == EX_BITCAST && !v->bad)
        return expr_bitcast(v->ir, (DType)x->type, (int)v->width, kid[0]);
    return v->bad ? x : expr_with_kids(v->ir, x, kid);
}

/* ---- statements ------------------------------------------------------------------------------ */

static const Stmt *vector_stmt(Vectors *v, const Stmt *s);
static const Stmt *vector_inner(Vectors *v, const Stmt *s);

static bool has_pairs(const Vectors *v, DType t)
{
    return (t == DT_F16 && kernel_has(v->k, HAS_HALF_PAIRS)) ||
           (t == DT_BF16 && kernel_has(v->k, HAS_BF16_PAIRS));
}

static const Stmt *vector_store(Vectors *v, const Stmt *s)
{
    const Expr *at = run_index(v, s->u.store.buf, s->u.store.at[0]);
    const Expr *guard = s->u.store.guard ? even_cond(v, s->u.store.guard) : NULL;

    if (!at || s->u.store.buf->rank == 0 || (s->u.store.guard && !guard)) {
        v->bad = true;
        return s;
    }
    see_sure(v, s->u.store.value);
    const Expr *value = lanes_of(v, vector_of(v, s->u.store.value));
    /* Registers take two narrow floats at a time. */
    DType t = s->u.store.buf->type;
    bool byte = kernel_has(v->k, HAS_BYTE_PAIRS) && (t == DT_E4M3 || t == DT_E5M2);
    DType from = value->op == EX_CAST ? (DType)value->kid[0]->type : t;
    bool pairs = (from == DT_F32 && (t == DT_F16 || t == DT_BF16 || byte)) ||
                 (byte && (from == DT_F16 || from == DT_BF16)) ||
                 (has_pairs(v, t) && value->type == t &&
                  (value->op == EX_ADD || value->op == EX_SUB || value->op == EX_MUL));
    if (!in_memory(s->u.store.buf) && v->width == 2 && v->apart == 1 && pairs &&
        is_multiple(v, at->kid[0]))
        v->wide = true;
    return stmt_store_as(v->ir, s, &at, 1, value, guard ? lanes_of(v, guard) : NULL);
}

static bool can_join(const Stmt *s)
{
    const Buffer *b = s->u.atomic.buf;
    return s->u.atomic.op == ATOMIC_ADD && !s->u.atomic.bind && s->u.atomic.n == 1 &&
           b->scope == MEM_GLOBAL &&
           (!s->u.atomic.order || strcmp(s->u.atomic.order, "relaxed") == 0) &&
           (b->type == DT_F32 || b->type == DT_F16 || b->type == DT_BF16);
}

/* Sums into neighbours of global memory: each stays atomic by itself. */
static const Stmt *vector_atomic(Vectors *v, const Stmt *s)
{
    const Expr *at = can_join(s) ? run_index(v, s->u.atomic.buf, s->u.atomic.at[0]) : NULL;

    if (!at) {
        v->bad = true;
        return s;
    }
    const Expr *value = lanes_of(v, vector_of(v, s->u.atomic.value));
    return stmt_atomic(v->ir, s->span, ATOMIC_ADD, s->u.atomic.buf, &at, 1, value,
                       s->u.atomic.order, NULL);
}

static bool may_read(const Expr *e, void *root)
{
    return e->op == EX_EXTERN || (e->op == EX_LOAD && buffer_root(e->u.buf) == root);
}

/* Something that the value reads is written. */
static bool is_moving(const Stmt *s, void *value)
{
    const Buffer *b = stmt_stores(s);
    return b && expr_any(value, may_read, buffer_root(b));
}

/* Is what statement i of the block names the same wherever the block uses it? */
static bool keeps_value(const Stmt *block, int i)
{
    const Expr *value = block->u.block.list[i]->u.let.value;

    if (!expr_has_load(value))
        return true;
    for (int j = i + 1; j < block->u.block.n; j++)
        if (stmt_any(block->u.block.list[j], is_moving, value))
            return false;
    return true;
}

static bool is_draw(const Stmt *s)
{
    return s->kind == ST_CALL && s->u.call.bind &&
           (s->u.call.which == INTRIN_RNG_RAND || s->u.call.which == INTRIN_RNG_FLOAT);
}

static bool see_draw(const Stmt *s, void *arg)
{
    *(int *)arg += is_draw(s);
    return true;
}

/* Random numbers are drawn lane after lane, as the loop drew them: all of its draws stand in this
 * block then, and their lanes are names of their own.  How many were added to list. */
static int draw_lanes(Vectors *v, const Stmt *s, const Stmt **list)
{
    int n = 0;

    for (int64_t r = 0; r < v->width; r++)
        for (int i = 0; i < s->u.block.n; i++) {
            const Stmt *t = s->u.block.list[i];
            if (!is_draw(t))
                continue;
            const Expr **lane = map_get(&v->drawn, t->u.call.bind);
            if (!lane)
                map_set(&v->drawn, t->u.call.bind,
                        lane = NEWN(v->ir->arena, const Expr *, v->width));
            Var *x = var_new(v->ir, t->u.call.bind->name, t->u.call.bind->type, t->span);
            lane[r] = expr_var(v->ir, x);
            list[n++] = stmt_call(v->ir, t->span, t->u.call.which, t->u.call.n, t->u.call.arg, 0,
                                  NULL, t->u.call.text, x);
        }
    v->bad |= n != v->draws * v->width;
    return n;
}

/* A name is put in where it is used: each lane has its own. */
static const Stmt *vector_block(Vectors *v, const Stmt *s)
{
    const Stmt **list = NEWN(v->ir->arena, const Stmt *, s->u.block.n * v->width);
    Map lets;
    int n = 0;

    map_init(&lets, v->ir->arena);
    for (int i = 0; i < s->u.block.n; i++) {
        const Stmt *t = s->u.block.list[i];
        if (is_draw(t) && !map_has(&v->drawn, t->u.call.bind))
            n += draw_lanes(v, s, list + n);
        if (stmt_is_fact(t) || is_draw(t))
            continue;
        if (t->kind == ST_LET && keeps_value(s, i)) {
            const Expr *value = expr_subst_map(v->ir, t->u.let.value, &lets, NULL);
            see_sure(v, value);
            map_set(&lets, t->u.let.var, (void *)value);
        } else {
            list[n++] = vector_inner(v, lets.n ? stmt_subst_map(v->ir, t, &lets, NULL) : t);
        }
    }
    return stmt_block(v->ir, s->span, n, list);
}

/* What is surely loaded in a statement is not for the next. */
static const Stmt *vector_inner(Vectors *v, const Stmt *s)
{
    int sure = v->sure.n;
    const Stmt *made = vector_stmt(v, s);
    v->sure.n = sure;
    return made;
}

/* What a block does, when that is one thing; facts do nothing. */
static const Stmt *only_step(const Stmt *block)
{
    const Stmt *found = NULL;

    for (int i = 0; i < block->u.block.n; i++) {
        if (stmt_is_fact(block->u.block.list[i]))
            continue;
        if (found)
            return NULL;
        found = block->u.block.list[i];
    }
    return found;
}

static bool is_of_tensor(const Expr *x, void *arg)
{
    (void)arg;
    return x->op == EX_LOAD && x->lanes > 1 && x->u.buf->scope == MEM_GLOBAL;
}

/* A condition around one wide store of what tensors hold is the store's guard: its loads are made
 * ahead of it, each where the condition holds, and not one behind the branch of the other. */
static const Stmt *fold_if(Vectors *v, const Stmt *s)
{
    const Stmt *then = s->u.branch.then, *one = then->kind == ST_BLOCK ? only_step(then) : then;

    if (s->u.branch.orelse || !one || one->kind != ST_STORE || one->u.store.async ||
        !in_memory(one->u.store.buf) || one->u.store.at[0]->lanes == 1 ||
        expr_has_load(s->u.branch.cond) || !expr_any(one->u.store.value, is_of_tensor, NULL))
        return s;
    int lanes = one->u.store.at[0]->lanes;
    const Expr *all = expr_broadcast(v->ir, s->u.branch.cond, lanes), *own = one->u.store.guard;
    if (own && own->op == EX_BROADCAST)
        all = expr_broadcast(v->ir, expr_and(v->ir, s->u.branch.cond, own->kid[0]), lanes);
    return own && own->op != EX_BROADCAST
               ? s : stmt_store_as(v->ir, one, one->u.store.at, one->u.store.n,
                                   one->u.store.value, all);
}

static const Stmt *vector_stmt(Vectors *v, const Stmt *s)
{
    if (v->bad)
        return s;
    if (s->kind == ST_STORE)
        return vector_store(v, s);
    if (s->kind == ST_ATOMIC)
        return vector_atomic(v, s);
    if (s->kind == ST_BLOCK)
        return vector_block(v, s);
    if (s->kind == ST_IF) {
        const Expr *cond = even_cond(v, s->u.branch.cond);
        const Stmt *orelse = s->u.branch.orelse;
        if (cond) {
            s = stmt_if(v->ir, s->span, cond, vector_inner(v, s->u.branch.then),
                        orelse ? vector_inner(v, orelse) : NULL);
            return v->groups > 1 ? fold_if(v, s) : s;
        }
    }
    v->bad = true;
    return s;
}

/* coalesced_width= is the most; less is told. */
static void check_width(Kernel *k, const Stmt *s, int64_t got)
{
    int64_t asked = hint_int(s->u.loop.hints, "coalesced_width", 0);
    if (asked)
        tell_width(k, s->span, asked, got);
}

static void report(const Vectors *v, const Stmt *loop)
{
    Str *out = config_report(v->k->func, CONFIG_enable_vectorize_planner_verbose);
    if (out)
        str_printf(out, "%s: line %d: %lld elements at a time\n", v->k->name,
                   (int)loop->span.line, (long long)v->width);
}

/* With lanes that are v->apart iterations apart; NULL: no width will do. */
static const Stmt *widest_apart(Vectors *v, const Stmt *s, int64_t n)
{
    Ir *ir = v->ir;
    int64_t all = v->k->machine->access_bytes * 8 / least_bits(v);
    int64_t most = hint_int(s->u.loop.hints, "coalesced_width", all);

    for (v->width = all; v->width > 1; v->width /= 2) {
        if (n % (v->width * v->apart) || v->width > most)
            continue;
        Var *q = var_new(ir, s->u.loop.var->name, s->u.loop.var->type, s->span);
        int mark = facts_mark(v->facts);
        facts_range(v->facts, q, num(v, 0), num(v, n / v->width));
        v->q = expr_var(ir, q);
        v->groups = n / v->width;
        v->bad = v->wide = false;
        v->sure.n = 0;
        map_init(&v->drawn, ir->arena);
        const Stmt *body = vector_stmt(v, s->u.loop.body);
        facts_pop(v->facts, mark);
        if (v->bad || !v->wide)
            continue;
        check_width(v->k, s, v->width);
        report(v, s);
        if (n == v->width)
            return stmt_subst(ir, body, q, expr_const(ir, q->type, 0));
        return stmt_for(ir, s->span, s->u.loop.how, q, num(v, 0), num(v, n / v->width),
                        s->u.loop.hints, body);
    }
    return NULL;
}

static const Stmt *widest(Vectors *v, const Stmt *s, int64_t n)
{
    const Stmt *found = NULL;

    v->slot = s->u.loop.var;
    v->draws = 0;
    stmt_visit(s, see_draw, &v->draws);
    for (v->apart = 1; !found && v->apart <= (v->draws ? 1 : APART_MOST); v->apart *= 2)
        found = widest_apart(v, s, n);
    if (!found)
        check_width(v->k, s, 1);
    return found ? found : s;
}

/* Does the store write what it also reads, maybe in another iteration? */
static bool reads_own(const Stmt *s)
{
    return stmt_holds_expr(s, may_read, buffer_root(s->u.store.buf));
}

/* Of what the store changes, anything but the element that it writes. */
static bool reads_other(const Expr *e, void *store)
{
    const Stmt *s = store;
    bool same = e->op == EX_LOAD && e->u.buf == s->u.store.buf && expr_nindex(e) == 1 &&
                e->kid[0] == s->u.store.at[0];

    return !same && may_read(e, (void *)buffer_root(s->u.store.buf));
}

/* x[i] = f(x[i]): each iteration has an element of its own. */
static bool stays_in_place(Vectors *v, const Stmt *loop, const Stmt *s)
{
    Var *var = loop->u.loop.var;
    int64_t coef = 0;
    const Expr *base = NULL;

    return s->u.store.buf->rank > 0 && !stmt_holds_expr(s, reads_other, s) &&
           affine_of(v->ir, s->u.store.at[0], &var, 1, &coef, &base) && coef != 0;
}

/* Stores to several buffers, none of which the body reads: one after the other for all lanes is the
 * same as lane by lane. */
static bool writes_apart(const Stmt *body)
{
    if (body->kind != ST_BLOCK)
        return false;
    for (int i = 0; i < body->u.block.n; i++) {
        const Stmt *s = body->u.block.list[i];
        if (s->kind != ST_STORE && s->kind != ST_LET && !stmt_is_fact(s))
            return false;
        if (s->kind != ST_STORE)
            continue;
        for (int j = 0; j < body->u.block.n; j++) {
            const Stmt *t = body->u.block.list[j];
            const Buffer *b = buffer_root(s->u.store.buf);
            if ((j != i && t->kind == ST_STORE && buffer_root(t->u.store.buf) == b) ||
                stmt_holds_expr(t, may_read, b))
                return false;
        }
    }
    return true;
}

/* Are the iterations independent? */
static bool is_free(Vectors *v, const Stmt *loop)
{
    const Stmt *s = loop->u.loop.body, *one;

    if (hint_find(loop->u.loop.hints, "slots"))
        return true;
    while (s->kind == ST_BLOCK && (one = only_step(s)))
        s = one;
    if (loop->u.loop.how != LOOP_VECTOR)
        return false;
    if (s->kind != ST_STORE)
        return writes_apart(s);
    return s->u.store.async || !reads_own(s) || stays_in_place(v, loop, s);
}

/* ---- neighbours written out: T.atomic_addx2, x4 ---------------------------------------------- */

/* Does it add, or go by, something of the tensor that it changes? */
static bool adds_own(const Stmt *atomic)
{
    return stmt_holds_expr(atomic, may_read, buffer_root(atomic->u.atomic.buf));
}

static bool is_next(Vectors *v, const Stmt *a, const Stmt *b, int64_t by)
{
    int64_t d;
    return b->kind == ST_ATOMIC && can_join(b) && b->u.atomic.buf == a->u.atomic.buf &&
           b->u.atomic.at[0]->lanes == 1 && a->u.atomic.order == b->u.atomic.order &&
           !adds_own(b) &&
           expr_is_int(simplify(v->ir, v->facts,
                                expr_sub(v->ir, b->u.atomic.at[0], a->u.atomic.at[0])), &d) &&
           d == by;
}

/* How many from list[0] on are one run that starts where it may. */
static int atomic_run(Vectors *v, const Stmt *const *list, int n)
{
    int64_t most = 1;
    const Stmt *a = list[0];

    if (a->kind != ST_ATOMIC || !can_join(a) || a->u.atomic.at[0]->lanes != 1 ||
        !buffer_is_aligned(a->u.atomic.buf) || adds_own(a))
        return 1;
    while (most < n && most < kernel_access(v->k, a->u.atomic.buf->type) &&
           is_next(v, a, list[most], most))
        most++;
    for (v->width = 1; v->width * 2 <= most;)
        v->width *= 2;
    while (v->width > 1 && !is_multiple(v, a->u.atomic.at[0]))
        v->width /= 2;
    return (int)v->width;
}

static const Expr *run_from(Vectors *v, const Expr *first, int n)
{
    return expr_ramp(v->ir, first, expr_const(v->ir, (DType)first->type, 1), n);
}

/* Values that are neighbours of memory themselves are read together. */
static const Expr *join_values(Vectors *v, const Expr *const *value, int n)
{
    const Expr *a = value[0];
    int64_t d;
    bool run = a->op == EX_LOAD && !a->guarded && a->nkid == 1 && in_memory(a->u.buf) &&
               buffer_is_aligned(a->u.buf) && is_multiple(v, a->kid[0]);

    for (int i = 1; i < n && run; i++) {
        const Expr *b = value[i];
        run = b->op == EX_LOAD && !b->guarded && b->u.buf == a->u.buf && b->nkid == 1 &&
              expr_is_int(simplify(v->ir, v->facts, expr_sub(v->ir, b->kid[0], a->kid[0])), &d) &&
              d == i;
    }
    if (!run)
        return expr_vector(v->ir, value, n);
    const Expr *at = run_from(v, a->kid[0], n);
    return expr_load(v->ir, a->u.buf, &at, 1);
}

static const Stmt *join_atomics(Vectors *v, const Stmt *const *list, int n)
{
    const Expr **value = NEWN(v->ir->arena, const Expr *, n);
    const Expr *at = run_from(v, list[0]->u.atomic.at[0], n);

    for (int i = 0; i < n; i++)
        value[i] = list[i]->u.atomic.value;
    return stmt_atomic(v->ir, list[0]->span, ATOMIC_ADD, list[0]->u.atomic.buf, &at, 1,
                       join_values(v, value, n), list[0]->u.atomic.order, NULL);
}

static const Stmt *guarded_atomic(const Stmt *s)
{
    if (s->kind != ST_IF || s->u.branch.orelse)
        return NULL;
    s = s->u.branch.then;
    if (s->kind == ST_BLOCK)
        s = only_step(s);
    return s && s->kind == ST_ATOMIC && can_join(s) ? s : NULL;
}

/* How many from list[0] on are atomics under one condition, which none of them changes. */
static int guard_run(const Stmt *const *list, int n)
{
    int run = 0;

    const Stmt *a;

    while (run < n && (a = guarded_atomic(list[run])) &&
           list[run]->u.branch.cond == list[0]->u.branch.cond &&
           !stmt_any(a, is_moving, list[run]->u.branch.cond))
        run++;
    return run;
}

/* The condition of elements that stand side by side is asked once. */
static const Stmt *join_guards(Vectors *v, const Stmt *const *list, int n)
{
    const Stmt **body = NEWN(v->ir->arena, const Stmt *, n);

    for (int i = 0; i < n; i++)
        body[i] = guarded_atomic(list[i]);
    return stmt_if(v->ir, list[0]->span, list[0]->u.branch.cond,
                   stmt_block(v->ir, list[0]->span, n, body), NULL);
}

static const Stmt *walk(void *vectors, const Stmt *s);

static const Stmt *walk_block(Vectors *v, const Stmt *s)
{
    Ir *ir = v->ir;
    const Stmt **list = NEWN(ir->arena, const Stmt *, s->u.block.n);
    int n = 0, mark = facts_mark(v->facts);

    for (int i = 0; i < s->u.block.n;) {
        const Stmt *const *rest = &s->u.block.list[i];
        int left = s->u.block.n - i, guards = guard_run(rest, left);
        int run = guards > 1 ? guards : atomic_run(v, rest, left);
        list[n++] = guards > 1 ? walk(v, join_guards(v, rest, run))
                    : run > 1  ? join_atomics(v, rest, run)
                               : walk(v, rest[0]);
        if (list[n - 1]->kind == ST_LET)
            facts_let(v->facts, list[n - 1]->u.let.var, list[n - 1]->u.let.value);
        if (stmt_is_fact(list[n - 1]) && !expr_has_load(list[n - 1]->u.check.cond))
            facts_assume(v->facts, list[n - 1]->u.check.cond);
        i += run;
    }
    facts_pop(v->facts, mark);
    return stmt_block(ir, s->span, n, list);
}

static const Stmt *walk(void *vectors, const Stmt *s)
{
    Vectors *v = vectors;
    int64_t n, min;

    int mark = facts_mark(v->facts);
    if (s->kind == ST_BLOCK)
        return walk_block(v, s);
    if (s->kind == ST_FOR) {
        if (is_free(v, s) && expr_is_int(s->u.loop.extent, &n) &&
            expr_is_int(s->u.loop.min, &min) && min == 0) {
            const Stmt *wide = widest(v, s, n);
            if (wide != s)
                return wide;
        }
        facts_range(v->facts, s->u.loop.var, s->u.loop.min, s->u.loop.extent);
    }
    bool slots = v->slots;
    v->slots |= s->kind == ST_FOR && hint_find(s->u.loop.hints, "slots");
    s = stmt_map_kids(v->ir, s, walk, v);
    v->slots = slots;
    facts_pop(v->facts, mark);
    return slots && s->kind == ST_IF ? fold_if(v, s) : s;
}

/* What chooses between a load and a number becomes the guard of the load; registers may be read
 * whatever is chosen. */
static const Expr *fold_choice(Ir *ir, const Expr *x, void *arg)
{
    (void)arg;
    if (x->op != EX_IF || x->kid[1]->op != EX_LOAD || !expr_is_const(x->kid[2]) ||
        !in_memory(x->kid[1]->u.buf))
        return x;
    const Expr *load = x->kid[1], *guard = x->kid[0];
    int n = expr_nindex(load);
    if (load->guarded && load->kid[n + 1] != x->kid[2])
        return x;
    if (load->guarded)
        guard = expr_and(ir, guard, load->kid[n]);
    return expr_load_guarded(ir, load->u.buf, load->kid, n, guard, x->kid[2]);
}

static void see_written(void *arg, const Stmt *s, const Touch *t)
{
    (void)s;
    if (t->how & (ACC_WRITE | ACC_ADDRESS))
        map_set(arg, buffer_root(t->buf), t->buf);
}

static void find_inputs(Vectors *v)
{
    Map written;
    const Func *f = v->k->func;

    map_init(&v->inputs, v->ir->arena);
    map_init(&written, v->ir->arena);
    stmt_touches_all(v->k->body, see_written, &written);
    for (int i = 0; f && i < f->params.n; i++) {
        const Buffer *b = f->params.at[i].buf;
        if (b && !f->params.at[i].out && !map_has(&written, buffer_root(b)))
            map_set(&v->inputs, b, (void *)b);
    }
}

void pass_opt_vectorize(Kernel *k)
{
    Vectors v = {.k = k, .ir = k->ir, .facts = kernel_facts(k), .apart = 1};
    map_init(&v.drawn, k->ir->arena);
    if (config_on(k->func, CONFIG_disable_vectorize))
        return;
    find_inputs(&v);
    k->body = stmt_map_expr(k->ir, k->body, fold_choice, NULL);
    k->body = walk(&v, k->body);
}
