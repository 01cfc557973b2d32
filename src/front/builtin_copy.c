/* builtin_copy.c -- copies, fills and views.
 *
 * A buffer stands for all of it, a slice for its ranges; an element A[i, j] means "start here" and
 * takes its extents from the other side, tails aligned.  Extents of 1 drop out and the rest match
 * in order.  Where only the source has 1 and the numbers of longer extents differ, its element is
 * repeated along that dimension. */
#include "front/builtin.h"

typedef struct {
    Region src, dst;
    bool src_element, dst_element;
} Pair;

static const Expr **copy_exprs(Eval *ev, const Expr *const *from, int n)
{
    const Expr **to = NEWN(ev->arena, const Expr *, n + 1);
    for (int i = 0; i < n; i++)
        to[i] = from[i];
    return to;
}

/* The extents of `other`, tails aligned, for a region that is only a start. */
static void take_extents(BuiltinCall *c, int i, Region *r, const Region *other)
{
    const Expr *want[RANK_MOST];
    int n = 0, rank = r->buf->rank;
    bool all = other->buf->rank <= rank;
    for (int d = 0; d < other->buf->rank; d++)
        if (all || !region_extent_is(other, d, 1))
            n < RANK_MOST ? (void)(want[n++] = other->extent[d]) : (void)0;
    if (n > rank)
        arg_fail(c, i, "has %d dimensions, too few for the other side's extents %s [copy-shape]",
                 rank, extents_text(c->ev, other));
    r->extent = copy_exprs(c->ev, r->extent, rank);
    for (int d = 0; d < rank; d++)
        r->extent[d] = d < rank - n ? expr_int(c->ev->ir, 1) : want[d - (rank - n)];
}

static void check_whole(BuiltinCall *c, const Pair *p)
{
    const Buffer *a = p->src.buf, *b = p->dst.buf;
    bool same = a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++)
        same = expr_may_equal(a->shape[d], b->shape[d]);
    if (!same)
        call_fail(c, "'%s' %s and '%s' %s have different shapes; slice one of them [copy-shape]",
                  a->name, extents_text(c->ev, &p->src), b->name, extents_text(c->ev, &p->dst));
}

/* Reads both sides and gives the element sides their extents. */
static Pair copy_pair(BuiltinCall *c)
{
    Pair p;
    p.src = arg_region(c, 0, &p.src_element);
    p.dst = arg_region(c, 1, &p.dst_element);
    p.src_element |= p.src.buf->rank == 0;
    p.dst_element |= p.dst.buf->rank == 0;
    if (!p.src_element)
        region_check_range(c, 0, &p.src);
    if (!p.dst_element)
        region_check_range(c, 1, &p.dst);
    if (p.src_element && !p.dst_element && p.src.buf->rank > 0)
        take_extents(c, 0, &p.src, &p.dst);
    else if (p.dst_element && !p.src_element)
        take_extents(c, 1, &p.dst, &p.src);
    else if (c->arg[0].kind == V_BUFFER && c->arg[1].kind == V_BUFFER)
        check_whole(c, &p);
    return p;
}

static int nlong(const Region *r)
{
    int n = 0;
    for (int d = 0; d < r->buf->rank; d++)
        n += !region_extent_is(r, d, 1);
    return n;
}

/* dst[...] = src[...] with the source's short dimensions held still. */
static void emit_broadcast(BuiltinCall *c, const Pair *p)
{
    Ir *ir = c->ev->ir;
    const Expr *from[RANK_MOST], *to[RANK_MOST];
    Var *var[RANK_MOST];
    int rs = p->src.buf->rank, rd = p->dst.buf->rank;
    for (int d = 0; d < rd; d++) {
        var[d] = region_extent_is(&p->dst, d, 1) ? NULL : var_new(ir, "i", DT_I32, c->span);
        to[d] = var[d] ? expr_add(ir, p->dst.at[d], expr_var(ir, var[d])) : p->dst.at[d];
    }
    for (int d = 0; d < rs; d++) {
        int e = d + rd - rs;
        bool one = region_extent_is(&p->src, d, 1);
        if (!one && (e < 0 || !var[e] || !expr_may_equal(p->src.extent[d], p->dst.extent[e])))
            call_fail(c, "%s of '%s' does not fit %s of '%s' [copy-shape]",
                      extents_text(c->ev, &p->src), p->src.buf->name,
                      extents_text(c->ev, &p->dst), p->dst.buf->name);
        from[d] = one ? p->src.at[d] : expr_add(ir, p->src.at[d], expr_var(ir, var[e]));
    }
    const Expr *v = expr_cast(ir, p->dst.buf->type, expr_load(ir, p->src.buf, from, rs));
    const Stmt *s = stmt_store(ir, c->span, p->dst.buf, to, rd, v);
    for (int d = rd - 1; d >= 0; d--)
        if (var[d])
            s = stmt_for(ir, c->span, LOOP_PARALLEL, var[d], expr_int(ir, 0), p->dst.extent[d],
                         (Hints){0}, s);
    call_emit(c, s);
}

/* One element: to the block's own tile, or to that of another block of its cluster. */
static const Stmt *copy_element(BuiltinCall *c, const Region *src, const Expr *const *from,
                                const Region *dst, const Expr *const *to, const Expr *block)
{
    Ir *ir = c->ev->ir;

    if (!block)
        return stmt_store(ir, c->span, dst->buf, to, dst->buf->rank,
                          expr_cast(ir, dst->buf->type,
                                    expr_load(ir, src->buf, from, src->buf->rank)));
    const Expr *arg[3] = {expr_addr(ir, dst->buf, to, dst->buf->rank),
                          expr_addr(ir, src->buf, from, src->buf->rank), block};
    return stmt_call(ir, c->span, INTRIN_PEER_COPY, 3, arg, 0, NULL, NULL, NULL);
}

/* The copy as loops, one for each extent; the outermost has the hints. */
static const Stmt *copy_nest(BuiltinCall *c, const Pair *p, const RegionMatch *m,
                             const Expr *block, LoopHow how, Hints h)
{
    Ir *ir = c->ev->ir;
    const Region *r[2] = {&p->src, &p->dst};
    const Expr *at[2][RANK_MOST];
    Var *var[RANK_MOST];
    for (int side = 0; side < 2; side++)
        for (int d = 0; d < r[side]->buf->rank; d++)
            at[side][d] = r[side]->at[d];
    for (int i = 0; i < m->n; i++) {
        var[i] = var_new(ir, "i", DT_I32, c->span);
        for (int side = 0; side < 2; side++) {
            int d = m->dim[side][i];
            at[side][d] = expr_add(ir, r[side]->at[d], expr_var(ir, var[i]));
        }
    }
    const Stmt *s = copy_element(c, r[0], at[0], r[1], at[1], block);
    for (int i = m->n - 1; i >= 0; i--)
        s = stmt_for(ir, c->span, how, var[i], expr_int(ir, 0), m->extent[i],
                     i ? (Hints){0} : h, s);
    return s;
}

/* loop_layout= says which thread copies what. */
static void emit_loops(BuiltinCall *c, const Pair *p, const Layout *l, Hints h)
{
    RegionMatch m;
    if (!region_match(call_kernel(c), c->span, &p->src, &p->dst, &m))
        diag_throw(c->ev->diag);
    bool same = l->rank == m.n;
    for (int i = 0; same && i < m.n; i++)
        same = expr_may_equal(m.extent[i], expr_int(c->ev->ir, l->extent[i]));
    if (!same)
        call_fail(c, "loop_layout is of another shape than what is copied, %s of '%s' "
                  "[layout-shape]", extents_text(c->ev, &p->src), p->src.buf->name);
    call_emit(c, copy_nest(c, p, &m, NULL, LOOP_PARALLEL, h));
}

/* The hints of a copy as those of its loops. */
static Hints loop_hints(BuiltinCall *c, Hints h)
{
    static const char *const kept[] = {"loop_layout", "coalesced_width"};
    Hints own = {0};
    for (int i = 0; i < COUNT(kept); i++)
        if (hint_find(h, kept[i]))
            hints_add(c->ev, &own, *hint_find(h, kept[i]));
    if (hint_find(h, "async")) {
        hints_int(c->ev, &own, "prefer_async", 1);
        hints_int(c->ev, &own, "parallel_async_without_async_commit_wait", 1);
    }
    const Hint *prefer = hint_find(h, "prefer_instruction");
    if (prefer && !strcmp(prefer->text, "tma"))
        call_fail(c, "threads copy by a loop here, and no bulk copy does [copy-instruction]");
    if (hint_find(h, "eviction_policy"))
        diag_ignored(c->ev->diag, c->span, "eviction_policy",
                     "threads copy by a loop here, and only bulk copies have a policy [ignored]");
    return own;
}

/* Between parts of fragments, each laid out for itself: a loop takes what other threads hold. */
static bool is_part_of_fragments(const Pair *p)
{
    return p->src.buf->scope == MEM_FRAGMENT && p->dst.buf->scope == MEM_FRAGMENT &&
           !(region_is_whole(&p->src) && region_is_whole(&p->dst));
}

static void emit_tile_copy(BuiltinCall *c, const Pair *p, int narg, const Expr *const *arg, Hints h)
{
    RegionMatch m;
    Region r[2] = {p->src, p->dst};

    if (!is_part_of_fragments(p)) {
        call_emit(c, stmt_tile(c->ev->ir, c->span, &op_copy, 2, r, narg, arg, NULL, h));
        return;
    }
    if (!region_match(call_kernel(c), c->span, &p->src, &p->dst, &m))
        diag_throw(c->ev->diag);
    call_emit(c, copy_nest(c, p, &m, NULL, LOOP_PARALLEL, loop_hints(c, h)));
}

void emit_region_copy(BuiltinCall *c, const Region *src, const Region *dst)
{
    emit_tile_copy(c, &(Pair){.src = *src, .dst = *dst}, 0, NULL, (Hints){0});
}

/* May an element be read after it was written?  Not where the places are apart in some dimension,
 * or the same in all. */
static bool may_overlap(Ir *ir, const Region *a, const Region *b)
{
    bool same = true;

    if (buffer_root(a->buf) != buffer_root(b->buf))
        return false;
    if (a->buf != b->buf)
        return true;
    for (int d = 0; d < a->buf->rank; d++) {
        const Expr *by = simplify(ir, facts_new(ir), expr_sub(ir, b->at[d], a->at[d]));
        int64_t step, n = region_extent_int(a, d), m = region_extent_int(b, d);
        if (!expr_is_int(by, &step)) {
            same &= n == 1 && m == 1;
            continue;
        }
        if ((n >= 0 && step >= n) || (m >= 0 && -step >= m))
            return false;
        same &= step == 0 && n == m;
    }
    return !same;
}

/* The block reads all of it before it writes: by way of a tile of its own. */
static bool emit_by_way(BuiltinCall *c, const Pair *p, Hints h)
{
    const Expr *shape[RANK_MOST];
    int n = 0;

    for (int d = 0; d < p->src.buf->rank; d++) {
        if (region_extent_int(&p->src, d) < 0)
            return false;
        if (!region_extent_is(&p->src, d, 1))
            shape[n++] = p->src.extent[d];
    }
    MemScope scope = p->src.buf->scope == MEM_LOCAL ? MEM_LOCAL : MEM_FRAGMENT;
    Buffer *own = trace_buffer(c->ev, c->span, p->src.buf->type, scope, n, shape);
    Pair in = *p, out = *p;
    in.dst = out.src = region_whole(c->ev->ir, own);
    emit_tile_copy(c, &in, 0, NULL, h);
    emit_tile_copy(c, &out, 0, NULL, h);
    return true;
}

static void emit_copy(BuiltinCall *c, const Pair *p, int narg, const Expr *const *arg, Hints h)
{
    Ir *ir = c->ev->ir;
    const Hint *by = hint_find(h, "loop_layout");
    if (by && by->layout) {
        emit_loops(c, p, by->layout, loop_hints(c, h));
        if (hint_find(h, "async"))
            call_intrin(c, INTRIN_COMMIT_COPIES, 0, NULL, 0, NULL, NULL, DT_NONE);
        return;
    }
    if ((p->src_element && p->dst_element) || p->src.buf->rank == 0 || p->dst.buf->rank == 0) {
        if (nlong(&p->src) > 0)
            arg_fail(c, 0, "has more than one element, the destination has one [copy-shape]");
        if (nlong(&p->dst) == 0) {
            const Expr *v = expr_load(ir, p->src.buf, p->src.at, p->src.buf->rank);
            call_emit(c, stmt_store(ir, c->span, p->dst.buf, p->dst.at, p->dst.buf->rank,
                                    expr_cast(ir, p->dst.buf->type, v)));
            return;
        }
    }
    if (nlong(&p->src) < nlong(&p->dst)) {
        emit_broadcast(c, p);
        return;
    }
    if (nlong(&p->src) > nlong(&p->dst))
        call_fail(c, "%s of '%s' does not fit %s of '%s' [copy-shape]",
                  extents_text(c->ev, &p->src), p->src.buf->name, extents_text(c->ev, &p->dst),
                  p->dst.buf->name);
    if (!may_overlap(ir, &p->src, &p->dst) || !emit_by_way(c, p, h))
        emit_tile_copy(c, p, narg, arg, h);
}

static void layout_hint(BuiltinCall *c, Hints *h, int i)
{
    if (!arg_given(c, i))
        return;
    const Layout *l = arg_layout(c, i);
    if (!layout_is_fragment(l))
        arg_fail(c, i, "must be a Fragment [argument-type]");
    hints_add(c->ev, h, (Hint){.name = "loop_layout", .layout = l});
}

void width_hint(BuiltinCall *c, Hints *h, int i)
{
    if (!arg_given(c, i))
        return;
    int64_t w = arg_int(c, i);
    if (w <= 0 || (w & (w - 1)))
        arg_fail(c, i, "must be a power of 2, not %lld [argument-type]", (long long)w);
    hints_int(c->ev, h, "coalesced_width", w);
}

static void eviction_hint(BuiltinCall *c, Hints *h, int i)
{
    static const char *const words[] = {"evict_normal", "evict_first", "evict_last", NULL};
    if (arg_given(c, i))
        hints_text(c->ev, h, "eviction_policy", arg_word(c, i, words, " [argument-type]"));
}

Value do_copy(BuiltinCall *c)
{
    static const char *const prefer[] = {"tma", "cp_async", "sync", NULL};
    Hints h = {0};
    call_kernel(c);
    Pair p = copy_pair(c);
    width_hint(c, &h, 2);
    if (arg_bool(c, 3))
        hints_int(c->ev, &h, "disable_tma", 1);
    eviction_hint(c, &h, 4);
    if (arg_given(c, 5))
        hints_text(c->ev, &h, "prefer_instruction", arg_word(c, 5, prefer, " [argument-type]"));
    notes_dict(c, 6, &h);
    layout_hint(c, &h, 7);
    emit_copy(c, &p, 0, NULL, h);
    return value_none();
}

Value do_async_copy(BuiltinCall *c)
{
    Hints h = {0};
    call_kernel(c);
    Pair p = copy_pair(c);
    if (p.src.buf->scope != MEM_GLOBAL || p.dst.buf->scope != MEM_SHARED)
        call_fail(c, "copies from global to shared memory, not from %s to %s [copy-scope]",
                  mem_name(p.src.buf->scope), mem_name(p.dst.buf->scope));
    if (p.src.buf->type != p.dst.buf->type)
        call_fail(c, "does not convert %s to %s [copy-type]", dtype_name(p.src.buf->type),
                  dtype_name(p.dst.buf->type));
    hints_int(c->ev, &h, "async", 1);
    width_hint(c, &h, 2);
    notes_dict(c, 3, &h);
    layout_hint(c, &h, 4);
    emit_copy(c, &p, 0, NULL, h);
    return value_none();
}

static const Expr *barrier_address(BuiltinCall *c, int i)
{
    bool is_element;
    Region r = arg_region(c, i, &is_element);
    if (r.buf->scope != MEM_BARRIER && r.buf->scope != MEM_CLUSTER_BARRIER)
        arg_fail(c, i, "must be a barrier of T.alloc_barrier, not '%s' [argument-type]",
                 r.buf->name);
    return expr_addr(c->ev->ir, r.buf, r.at, r.buf->rank);
}

/* The barrier goes along as argument 0: its address, for targets that complete on it.  A target
 * that copies at once has nothing left to announce. */
/* The first of every `group` threads copies what it names itself; only it and its group know. */
static void copy_by_leaders(BuiltinCall *c, const Pair *p, int64_t group)
{
    Ir *ir = c->ev->ir;
    Kernel *k = call_threads(c);
    RegionMatch match;

    if (group <= 0)
        arg_fail(c, 4, "must be positive, not %lld [argument-type]", (long long)group);
    if (!region_match(k, c->span, &p->src, &p->dst, &match))
        diag_throw(c->ev->diag);
    const Stmt *s = copy_nest(c, p, &match, NULL, LOOP_SERIAL, (Hints){0});
    const Expr *lane = expr_floormod(ir, flat_thread(c), expr_int(ir, group));
    call_emit(c, stmt_if(ir, c->span, expr_binary(ir, EX_EQ, lane, expr_int(ir, 0)), s, NULL));
}

static int cluster_size(const Kernel *k)
{
    return k->cluster[0] * k->cluster[1] * k->cluster[2];
}

/* Blocks of a mask get one tile, so they must name the same part of the tensor. */
static void check_mask(BuiltinCall *c, int i, const Region *src)
{
    const Kernel *k = call_kernel(c);
    int64_t mask;

    if (!expr_is_int(arg_expr(c, i), &mask))
        arg_fail(c, i, "must be a constant [argument-type]");
    int n = cluster_size(k);
    if (mask <= 0 || mask >> n)
        arg_fail(c, i, "has bits for blocks that a cluster of %d does not have, or none "
                 "[cluster-mask]", n);
    for (int d = 0, step = 1; d < 3; step *= k->cluster[d++]) {
        int first = -1;
        bool differ = false;
        for (int rank = 0; rank < n; rank++)
            if (mask >> rank & 1) {
                int at = rank / step % k->cluster[d];
                differ |= first >= 0 && at != first;
                first = at;
            }
        for (int j = 0; differ && j < src->buf->rank; j++)
            if (k->block[d] && expr_uses_var(src->at[j], k->block[d]))
                arg_fail(c, i, "names blocks that copy different parts of '%s' [cluster-mask]",
                         src->buf->name);
    }
}

static void check_peer_copy(BuiltinCall *c, const Pair *p)
{
    const Buffer *src = p->src.buf, *dst = p->dst.buf;
    int64_t block;

    if (arg_given(c, 3))
        arg_fail(c, 3, "and dst_block= exclude each other [argument-count]");
    if (src->scope != MEM_SHARED || dst->scope != MEM_SHARED)
        call_fail(c, "to another block copies from shared to shared memory, not from %s to %s "
                  "[copy-scope]", mem_name(src->scope), mem_name(dst->scope));
    if (src->type != dst->type || dtype_bits(dst->type) < 8)
        call_fail(c, "to another block copies whole bytes of one type, not %s to %s [copy-type]",
                  dtype_name(src->type), dtype_name(dst->type));
    if (expr_is_int(arg_expr(c, 2), &block) &&
        (block < 0 || block >= cluster_size(call_kernel(c))))
        arg_fail(c, 2, "is a block that a cluster of %d does not have [cluster-mask]",
                 cluster_size(call_kernel(c)));
    if (arg_given(c, 5))
        diag_ignored(c->ev->diag, c->span, "eviction_policy",
                     "dst_block= has threads copy, and only bulk copies have a policy [ignored]");
}

/* Threads write into the tile of another block; then one of them arrives at its barrier. */
static void copy_to_block(BuiltinCall *c, const Pair *p, Hints h)
{
    Ir *ir = c->ev->ir;
    RegionMatch m;

    check_peer_copy(c, p);
    const Expr *block = arg_index(c, 2);
    if (!region_match(call_kernel(c), c->span, &p->src, &p->dst, &m))
        diag_throw(c->ev->diag);
    call_emit(c, copy_nest(c, p, &m, block, LOOP_PARALLEL, h));
    /* the other block may send the tile on by a bulk copy, and knows nothing of this write */
    call_emit(c, stmt_call(ir, c->span, INTRIN_FENCE_PROXY, 0, NULL, 0, NULL, "all", NULL));
    if (!arg_given(c, 4))
        return;
    call_threads(c);
    bool is_element;
    Region bar = arg_region(c, 4, &is_element);
    if (bar.buf->scope != MEM_BARRIER && bar.buf->scope != MEM_CLUSTER_BARRIER)
        arg_fail(c, 4, "must be a barrier of T.alloc_cluster_barrier, not '%s' [argument-type]",
                 bar.buf->name);
    call_emit(c, stmt_sync(ir, c->span));
    const Stmt *arrive = stmt_call(ir, c->span, INTRIN_ARRIVE, 1, &block, 1, &bar, NULL, NULL);
    call_emit(c, stmt_for(ir, c->span, LOOP_PARALLEL, var_new(ir, "i", DT_I32, c->span),
                          expr_int(ir, 0), expr_int(ir, 1), (Hints){0}, arrive));
}

/* One tile for several blocks of the cluster: where it pays the copy of a pipelined loop is shared
 * out between them (plan_cluster), as any other that they have in common. */
Value do_copy_cluster(BuiltinCall *c)
{
    Hints h = {0};
    call_kernel(c);
    Pair p = copy_pair(c);
    if (arg_given(c, 2)) {
        width_hint(c, &h, 6);
        notes_dict(c, 7, &h);
        layout_hint(c, &h, 8);
        copy_to_block(c, &p, h);
        return value_none();
    }
    if (!arg_given(c, 3))
        call_fail(c, "needs cluster_mask= or dst_block= [argument-count]");
    if (arg_given(c, 4))
        arg_fail(c, 4, "goes with dst_block= [argument-count]");
    if (p.src.buf->scope != MEM_GLOBAL || p.dst.buf->scope != MEM_SHARED)
        call_fail(c, "copies from global to shared memory, not from %s to %s [copy-scope]",
                  mem_name(p.src.buf->scope), mem_name(p.dst.buf->scope));
    check_mask(c, 3, &p.src);
    hints_add(c->ev, &h, (Hint){.name = "cluster_mask", .value = arg_expr(c, 3)});
    eviction_hint(c, &h, 5);
    width_hint(c, &h, 6);
    notes_dict(c, 7, &h);
    layout_hint(c, &h, 8);
    emit_copy(c, &p, 0, NULL, h);
    return value_none();
}

Value do_tma_copy(BuiltinCall *c)
{
    Hints h = {0};
    call_kernel(c);
    Pair p = copy_pair(c);
    if (arg_given(c, 4) && !machine_has(call_machine(c), HAS_THREADS)) {
        copy_by_leaders(c, &p, arg_int(c, 4));
        return value_none();
    }
    const Expr *barrier = arg_given(c, 2) ? barrier_address(c, 2) : NULL;
    if (!barrier && p.src.buf->scope == MEM_GLOBAL)
        call_fail(c, "a load needs barrier= [argument-count]");
    hints_int(c->ev, &h, "async", 1);
    hints_text(c->ev, &h, "prefer_instruction", "tma");
    if (arg_given(c, 3)) {
        check_mask(c, 3, &p.src);
        hints_add(c->ev, &h, (Hint){.name = "cluster_mask", .value = arg_expr(c, 3)});
    }
    if (arg_given(c, 4))
        hints_int(c->ev, &h, "leader_scope_threads", arg_int(c, 4));
    eviction_hint(c, &h, 5);
    notes_dict(c, 6, &h);
    emit_copy(c, &p, barrier != NULL, &barrier, h);
    return value_none();
}

Value do_transpose(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    Hints h = {0};
    call_kernel(c);
    Region r[2] = {arg_tile(c, 0), arg_tile(c, 1)};
    int a = r[0].buf->rank, b = r[1].buf->rank;
    if (a < 2 || b < 2)
        call_fail(c, "needs tiles of 2 dimensions, not %d and %d [copy-shape]", a, b);
    if (!expr_may_equal(r[0].extent[a - 2], r[1].extent[b - 1]) ||
        !expr_may_equal(r[0].extent[a - 1], r[1].extent[b - 2]))
        call_fail(c, "%s is not the transpose of %s [copy-shape]", extents_text(c->ev, &r[1]),
                  extents_text(c->ev, &r[0]));
    notes_dict(c, 2, &h);
    return call_emit(c, stmt_tile(ir, c->span, &op_transpose, 2, r, 0, NULL, NULL, h));
}

Value do_im2col(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    Hints h = {0};
    const Expr *arg[6];
    call_kernel(c);
    Region r[2] = {arg_tile(c, 0), arg_tile(c, 1)};
    if (r[0].buf->rank != 4)
        arg_fail(c, 0, "must be an NHWC tensor of 4 dimensions, not %d [copy-shape]",
                 r[0].buf->rank);
    arg[0] = arg_index(c, 2);
    arg[1] = arg_index(c, 3);
    for (int i = 2; i < 6; i++) {
        int64_t n = arg_int(c, i + 2);
        if (n < (i == 5 ? 0 : 1))
            arg_fail(c, i + 2, "must be positive, not %lld [argument-type]", (long long)n);
        arg[i] = expr_int(ir, n);
    }
    eviction_hint(c, &h, 8);
    notes_dict(c, 9, &h);
    return call_emit(c, stmt_tile(ir, c->span, &op_im2col, 2, r, 6, arg, NULL, h));
}

static Value fill(BuiltinCall *c, const Value *value, Span at, int annotations)
{
    Ir *ir = c->ev->ir;
    Hints h = {0};
    call_kernel(c);
    Region r = arg_tile(c, 0);
    warn_lossy(c->ev, at, r.buf->type, value);
    const Expr *v = cast_value(c->ev, at, r.buf->type, 1, value,
                               arena_printf(c->ev->arena, "%s: 'value'", call_title(c)));
    if (r.buf->rank == 0) {
        call_emit(c, stmt_store(ir, c->span, r.buf, NULL, 0, v));
        return value_none();
    }
    if (r.buf->scope == MEM_BARRIER || r.buf->scope == MEM_CLUSTER_BARRIER)
        arg_fail(c, 0, "is a barrier [argument-type]");
    notes_dict(c, annotations, &h);
    return call_emit(c, stmt_tile(ir, c->span, &op_fill, 1, &r, 1, &v, NULL, h));
}

Value do_fill(BuiltinCall *c)
{
    return fill(c, &c->arg[1], c->arg_span[1], 2);
}

Value do_clear(BuiltinCall *c)
{
    Value zero = value_int(0);
    return fill(c, &zero, c->span, 1);
}

/* ---- prefetches ------------------------------------------------------------------------------ */

enum { LINE_BYTES = 128 };

static const Stmt *prefetch_at(const BuiltinCall *c, const Buffer *b, const Expr *const *at)
{
    Ir *ir = c->ev->ir;
    const Expr *p = expr_addr(ir, (Buffer *)b, at, b->rank), *inside = NULL;
    for (int d = 0; d < b->rank; d++) {
        const Expr *in = expr_lt(ir, at[d], expr_cast(ir, (DType)at[d]->type, b->shape[d]));
        inside = inside ? expr_and(ir, inside, in) : in;
    }
    const Stmt *s = stmt_call(ir, c->span, INTRIN_PREFETCH, 1, &p, 0, NULL, NULL, NULL);
    return inside ? stmt_if(ir, c->span, inside, s, NULL) : s;
}

/* A region is asked for line by line, by all threads of the block. */
static const Stmt *prefetch_lines(BuiltinCall *c, const Region *r)
{
    Ir *ir = c->ev->ir;
    Var *var[RANK_MOST];
    const Expr *at[RANK_MOST];
    int last = r->buf->rank - 1;
    int64_t step = MAX(LINE_BYTES * 8 / dtype_bits(r->buf->type), 1);

    for (int d = 0; d <= last; d++) {
        var[d] = var_new(ir, d < last ? "r" : "line", DT_I32, c->span);
        const Expr *i = expr_mul(ir, expr_var(ir, var[d]), expr_int(ir, d < last ? 1 : step));
        at[d] = expr_add(ir, r->at[d], i);
    }
    const Stmt *s = prefetch_at(c, r->buf, at);
    for (int d = last; d >= 0; d--) {
        const Expr *n = r->extent[d];
        if (d == last)
            n = expr_ceildiv(ir, n, expr_int(ir, step));
        s = stmt_for(ir, c->span, LOOP_PARALLEL, var[d], expr_int(ir, 0), n, (Hints){0}, s);
    }
    return s;
}

Value do_prefetch(BuiltinCall *c)
{
    bool element;

    call_kernel(c);
    Region r = arg_region(c, 0, &element);
    if (r.buf->scope != MEM_GLOBAL)
        arg_fail(c, 0, "must be a tensor in global memory, not '%s' [argument-type]", r.buf->name);
    return call_emit(c, element || r.buf->rank == 0 ? prefetch_at(c, r.buf, r.at)
                                                    : prefetch_lines(c, &r));
}

/* ---- views ----------------------------------------------------------------------------------- */

static int64_t bit_count(DType t, int n, const Expr *const *shape)
{
    int64_t all = dtype_bits(t);
    for (int d = 0; d < n; d++) {
        int64_t k;
        if (!expr_is_int(shape[d], &k))
            return -1;
        all *= k;
    }
    return all;
}

Value make_view(const BuiltinCall *c, Buffer *b, int n, const Expr *const *shape, DType t)
{
    bool strided = !strcmp(c->b->name, "view") && arg_given(c, 3);
    int64_t had = bit_count(b->type, b->rank, (const Expr *const *)b->shape);
    int64_t want = bit_count(t, n, shape);
    if (had >= 0 && want >= 0 && had != want)
        call_fail(c, "'%s' has %lld bits, the view asks for %lld [view-size]", b->name,
                  (long long)had, (long long)want);
    if (b->stride && !strided)
        call_fail(c, "'%s' has strides of its own; only contiguous storage can be viewed "
                  "[view-size]", b->name);
    Buffer *v = derived_buffer(c, t, b->scope, n, shape);
    v->view_of = b;
    return value_buffer(v);
}

static int view_shape(BuiltinCall *c, int i, const Expr **shape)
{
    Value v[RANK_MOST];
    int n = to_shape(c->ev, c->arg_span[i], &c->arg[i], v, call_what(c, i));
    for (int d = 0; d < n; d++)
        shape[d] = to_expr(c->ev, c->arg_span[i], &v[d], call_what(c, i));
    return n;
}

Value do_reshape(BuiltinCall *c)
{
    const Expr *shape[RANK_MOST];
    Buffer *b = arg_buffer(c, 0);
    int n = view_shape(c, 1, shape);
    return make_view(c, b, n, shape, b->type);
}

static const Expr *span_of(Ir *ir, const Buffer *b)
{
    const Expr *n = expr_int(ir, 1), *one = n;
    for (int d = 0; d < b->rank; d++)
        n = b->stride ? expr_add(ir, n, expr_mul(ir, expr_sub(ir, b->shape[d], one), b->stride[d]))
                      : expr_mul(ir, n, b->shape[d]);
    return n;
}

/* strides=, in elements of the view: it must not reach past the storage that it shows. */
static Value view_strides(BuiltinCall *c, Value v)
{
    Buffer *b = v.u.buf;
    const Buffer *root = buffer_root(b);
    const Expr *stride[RANK_MOST];
    int64_t k, has, wants;

    if (!arg_given(c, 3))
        return v;
    if (b->scope != MEM_GLOBAL)
        arg_fail(c, 3, "are for tensors in global memory; the compiler lays out '%s' by itself "
                 "[view-size]", root->name);
    int n = view_shape(c, 3, stride);
    if (n != b->rank)
        arg_fail(c, 3, "must be %d numbers, one for each dimension, not %d [view-size]", b->rank,
                 n);
    b->stride = NEWN(c->ev->ir->arena, const Expr *, n + 1);
    for (int d = 0; d < n; d++) {
        if (expr_is_int(stride[d], &k) && k < 0)
            arg_fail(c, 3, "must not be negative: %lld [view-size]", (long long)k);
        b->stride[d] = stride[d];
    }
    if (expr_is_int(span_of(c->ev->ir, root), &has) && expr_is_int(span_of(c->ev->ir, b), &wants) &&
        wants * dtype_bits(b->type) > has * dtype_bits(root->type))
        arg_fail(c, 3, "reach %lld elements far, past the end of '%s' [view-size]",
                 (long long)wants, root->name);
    return v;
}

/* Without a shape the last dimension stretches or shrinks with the width of the new type. */
Value do_view(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    const Expr *shape[RANK_MOST];
    Buffer *b = arg_buffer(c, 0);
    int lanes = MAX(b->lanes, 1), n = buffer_shown_rank(b);
    int from = dtype_bits(b->type) * lanes;
    DType t = arg_given(c, 2) ? arg_dtype(c, 2, &lanes) : b->type;
    int to = dtype_bits(t) * lanes;

    if (arg_given(c, 1)) {
        n = view_shape(c, 1, shape);
    } else {
        for (int d = 0; d < n; d++)
            shape[d] = b->shape[d];
        if (n > 0 && from != to)
            shape[n - 1] = expr_floordiv(ir, expr_mul(ir, b->shape[n - 1], expr_int(ir, from)),
                                         expr_int(ir, to));
    }
    if (lanes == 1)
        return view_strides(c, make_view(c, b, n, shape, t));
    if (b->scope != MEM_LOCAL || n == RANK_MOST)
        arg_fail(c, 2, "is a vector; only arrays of T.alloc_local hold those [argument-type]");
    shape[n++] = expr_int(ir, lanes);
    Value v = make_view(c, b, n, shape, t);
    v.u.buf->lanes = lanes;
    return v;
}
