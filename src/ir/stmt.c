/* stmt.c -- statements and what the user wrote beside them. */
#include "ir/ir.h"

const IntrinInfo intrin_table[INTRIN_COUNT] = {
#define INTRIN(id, name, narg, type, effects, simulate)                                            \
    {name, name, narg, #type, effects, QUEUE_NONE, QUEUE_NONE},
#define ASYNC(id, name, word, narg, effects, commits, waits, simulate)                             \
    {name, word, narg, "VOID", effects, QUEUE_##commits, QUEUE_##waits},
#include "ir/intrin.def"
#undef INTRIN
#undef ASYNC
};

static const char *const atomic_names[ATOMIC_COUNT] = {
    [ATOMIC_ADD] = "add", [ATOMIC_MAX] = "max",   [ATOMIC_MIN] = "min",
    [ATOMIC_OR] = "or",   [ATOMIC_AND] = "and",   [ATOMIC_XOR] = "xor",
    [ATOMIC_LOAD] = "load", [ATOMIC_STORE] = "store", [ATOMIC_EXCH] = "exch",
};

const char *atomic_name(AtomicOp op)
{
    return atomic_names[op];
}

static const char *const loop_names[LOOP_COUNT] = {
    [LOOP_SERIAL] = "serial", [LOOP_PARALLEL] = "parallel", [LOOP_PIPELINED] = "pipelined",
    [LOOP_UNROLL] = "unroll", [LOOP_VECTOR] = "vectorized",
};

const char *loop_name(LoopHow how)
{
    return loop_names[how];
}

const Hint *hint_find(Hints h, const char *name)
{
    for (int i = 0; i < h.n; i++) {
        if (strcmp(h.at[i].name, name) == 0)
            return &h.at[i];
    }
    return NULL;
}

int64_t hint_int(Hints h, const char *name, int64_t otherwise)
{
    const Hint *at = hint_find(h, name);
    int64_t v;
    return at && at->value && expr_is_int(at->value, &v) ? v : otherwise;
}

static Stmt *make(Ir *ir, Span at, StmtKind kind)
{
    Stmt *s = NEW(ir->arena, Stmt);
    s->kind = kind;
    s->span = at;
    return s;
}

static const Expr *const *exprs(Ir *ir, int n, const Expr *const *list)
{
    const Expr **copy = NEWN(ir->arena, const Expr *, n);
    for (int i = 0; i < n; i++)
        copy[i] = list[i];
    return copy;
}

static const Region *regions(Ir *ir, int n, const Region *list)
{
    Region *copy = NEWN(ir->arena, Region, n);
    for (int i = 0; i < n; i++)
        copy[i] = list[i];
    return copy;
}

/* Indices of an access: bools count as int32. */
static const Expr *const *places(Ir *ir, int n, const Expr *const *list)
{
    const Expr **copy = NEWN(ir->arena, const Expr *, n);
    for (int i = 0; i < n; i++)
        copy[i] = list[i]->type == DT_BOOL ? expr_cast(ir, DT_I32, list[i]) : list[i];
    return copy;
}

static int block_count(int n, const Stmt *const *list)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        const Stmt *s = list[i];
        if (s)
            count += s->kind == ST_BLOCK ? block_count(s->u.block.n, s->u.block.list) : 1;
    }
    return count;
}

static const Stmt **block_fill(const Stmt **to, int n, const Stmt *const *list)
{
    for (int i = 0; i < n; i++) {
        const Stmt *s = list[i];
        if (s && s->kind == ST_BLOCK)
            to = block_fill(to, s->u.block.n, s->u.block.list);
        else if (s)
            *to++ = s;
    }
    return to;
}

const Stmt *stmt_block(Ir *ir, Span at, int n, const Stmt *const *list)
{
    int count = block_count(n, list);
    const Stmt **flat = NEWN(ir->arena, const Stmt *, count);
    block_fill(flat, n, list);
    if (count == 1)
        return flat[0];
    Stmt *s = make(ir, at, ST_BLOCK);
    s->u.block.n = count;
    s->u.block.list = flat;
    return s;
}

const Stmt *stmt_seq(Ir *ir, const Stmt *a, const Stmt *b)
{
    if (!a || !b)
        return a ? a : b;
    return stmt_block(ir, span_join(a->span, b->span), 2, (const Stmt *[]){a, b});
}

/* Scalars of a thread count and number things; other memory holds what the caller put there. */
static bool is_data(const Expr *e, void *arg)
{
    (void)arg;
    return (e->op == EX_LOAD && buffer_root(e->u.buf)->scope != MEM_VAR) || e->op == EX_EXTERN ||
           (e->op == EX_VAR && e->u.var->data) ||
           (e->op == EX_CAST && dtype_is_float((DType)e->kid[0]->type));
}

const Stmt *stmt_let(Ir *ir, Span at, Var *v, const Expr *value)
{
    Stmt *s = make(ir, at, ST_LET);

    v->data |= dtype_is_int(v->type) && expr_any(value, is_data, NULL);
    s->u.let.var = v;
    s->u.let.value = expr_cast(ir, v->type, value);
    return s;
}

const Stmt *stmt_store(Ir *ir, Span at, Buffer *b, const Expr *const *idx, int n, const Expr *value)
{
    return stmt_store_guarded(ir, at, b, idx, n, value, NULL);
}

const Stmt *stmt_store_guarded(Ir *ir, Span at, Buffer *b, const Expr *const *idx, int n,
                               const Expr *value, const Expr *guard)
{
    int lanes = 1;
    int64_t always;
    Stmt *s = make(ir, at, ST_STORE);
    s->u.store.buf = b;
    s->u.store.n = n;
    s->u.store.at = places(ir, n, idx);
    for (int i = 0; i < n; i++)
        lanes = MAX(lanes, idx[i]->lanes);
    value = expr_cast(ir, b->type, value);
    s->u.store.value = value->lanes == 1 ? expr_broadcast(ir, value, lanes) : value;
    if (guard)
        guard = expr_cast(ir, DT_BOOL, guard);
    s->u.store.guard = guard && expr_is_int(guard, &always) && always ? NULL : guard;
    return s;
}

const Stmt *stmt_store_as(Ir *ir, const Stmt *like, const Expr *const *idx, int n,
                          const Expr *value, const Expr *guard)
{
    const Stmt *s =
        stmt_store_guarded(ir, like->span, like->u.store.buf, idx, n, value, guard);
    return like->u.store.async ? stmt_store_async(ir, s, (Async)like->u.store.async) : s;
}

const Stmt *stmt_store_async(Ir *ir, const Stmt *store, Async how)
{
    Stmt *s = make(ir, store->span, ST_STORE);
    *s = *store;
    s->u.store.async = (uint8_t)how;
    return s;
}

const Stmt *stmt_for(Ir *ir, Span at, LoopHow how, Var *v, const Expr *min, const Expr *extent,
                     Hints h, const Stmt *body)
{
    Stmt *s = make(ir, at, ST_FOR);
    s->u.loop.var = v;
    s->u.loop.min = expr_cast(ir, v->type, min);
    s->u.loop.extent = expr_cast(ir, v->type, extent);
    s->u.loop.how = how;
    s->u.loop.hints = h;
    s->u.loop.body = body ? body : stmt_block(ir, at, 0, NULL);
    return s;
}

const Stmt *stmt_for_as(Ir *ir, const Stmt *loop, LoopHow how, const Stmt *body)
{
    return stmt_for(ir, loop->span, how, loop->u.loop.var, loop->u.loop.min, loop->u.loop.extent,
                    (Hints){0}, body);
}

const Stmt *stmt_while(Ir *ir, Span at, const Expr *cond, const Stmt *body)
{
    Stmt *s = make(ir, at, ST_WHILE);
    s->u.branch.cond = expr_cast(ir, DT_BOOL, cond);
    s->u.branch.then = body ? body : stmt_block(ir, at, 0, NULL);
    return s;
}

const Stmt *stmt_if(Ir *ir, Span at, const Expr *cond, const Stmt *then, const Stmt *orelse)
{
    Stmt *s = make(ir, at, ST_IF);
    s->u.branch.cond = expr_cast(ir, DT_BOOL, cond);
    s->u.branch.then = then ? then : stmt_block(ir, at, 0, NULL);
    s->u.branch.orelse = stmt_is_empty(orelse) ? NULL : orelse;
    return s;
}

const Stmt *stmt_simple(Ir *ir, Span at, StmtKind k)
{
    BUG(k != ST_BREAK && k != ST_CONTINUE, "a simple statement of kind %d", k);
    return make(ir, at, k);
}

const Stmt *stmt_tile(Ir *ir, Span at, const TileOp *op, int nregion, const Region *region,
                      int narg, const Expr *const *arg, const char *text, Hints h)
{
    Stmt *s = make(ir, at, ST_TILE);
    s->u.tile.op = op;
    s->u.tile.id = ir->ntile++;
    s->u.tile.nregion = nregion;
    s->u.tile.region = regions(ir, nregion, region);
    s->u.tile.narg = narg;
    s->u.tile.arg = exprs(ir, narg, arg);
    s->u.tile.text = text ? ir_name(ir, text) : NULL;
    s->u.tile.hints = h;
    return s;
}

const Stmt *stmt_atomic(Ir *ir, Span at, AtomicOp op, Buffer *b, const Expr *const *idx, int n,
                        const Expr *value, const char *order, Var *bind)
{
    Stmt *s = make(ir, at, ST_ATOMIC);
    s->u.atomic.op = op;
    s->u.atomic.buf = b;
    s->u.atomic.n = n;
    s->u.atomic.at = places(ir, n, idx);
    s->u.atomic.value = value ? expr_cast(ir, b->type, value) : NULL;
    s->u.atomic.order = order ? ir_name(ir, order) : NULL;
    s->u.atomic.bind = bind;
    if (bind)
        bind->data = true;
    return s;
}

const Expr *const *stmt_indices(const Stmt *s, int *n)
{
    *n = s->kind == ST_STORE ? s->u.store.n : s->kind == ST_ATOMIC ? s->u.atomic.n : 0;
    return s->kind == ST_STORE ? s->u.store.at : s->kind == ST_ATOMIC ? s->u.atomic.at : NULL;
}

const Stmt *stmt_reindex(Ir *ir, const Stmt *s, const Expr *const *idx, int n)
{
    return s->kind == ST_STORE
               ? stmt_store_as(ir, s, idx, n, s->u.store.value, s->u.store.guard)
               : stmt_atomic(ir, s->span, s->u.atomic.op, s->u.atomic.buf, idx, n,
                             s->u.atomic.value, s->u.atomic.order, s->u.atomic.bind);
}

const Stmt *stmt_call(Ir *ir, Span at, Intrin which, int n, const Expr *const *arg, int nregion,
                      const Region *region, const char *text, Var *bind)
{
    Stmt *s = make(ir, at, ST_CALL);
    s->u.call.which = which;
    s->u.call.n = n;
    s->u.call.arg = exprs(ir, n, arg);
    s->u.call.nregion = nregion;
    s->u.call.region = regions(ir, nregion, region);
    s->u.call.text = text ? ir_name(ir, text) : NULL;
    s->u.call.bind = bind;
    return s;
}

const Stmt *stmt_sync(Ir *ir, Span at)
{
    return stmt_call(ir, at, INTRIN_SYNC_THREADS, 0, NULL, 0, NULL, NULL, NULL);
}

const Stmt *stmt_commit(Ir *ir, Span at, Queue q)
{
    int which = 0;
    while (intrin_table[which].commits != q)
        which++;
    return stmt_call(ir, at, (Intrin)which, 0, NULL, 0, NULL, NULL, NULL);
}

const Stmt *stmt_wait(Ir *ir, Span at, Queue q, int64_t open, int nregion, const Region *region)
{
    const Expr *most = expr_int(ir, open);
    int which = 0;
    while (intrin_table[which].waits != q)
        which++;
    return stmt_call(ir, at, (Intrin)which, 1, &most, nregion, region, NULL, NULL);
}

bool stmt_commits(const Stmt *s, Queue q)
{
    return s->kind == ST_CALL && intrin_table[s->u.call.which].commits == q;
}

bool stmt_waits(const Stmt *s, Queue q)
{
    return s->kind == ST_CALL && intrin_table[s->u.call.which].waits == q;
}

const char *mark_name(CallMark m)
{
    static const char *const name[MARK_COUNT] = {NULL, "persistent", "groups", "added"};
    return name[m];
}

const Stmt *stmt_call_mark(Ir *ir, const Stmt *call, CallMark m)
{
    Stmt *s = make(ir, call->span, ST_CALL);
    *s = *call;
    s->u.call.mark = m;
    return s;
}

static bool has_order(const Stmt *s, const char *const *words)
{
    for (; s->u.atomic.order && *words; words++)
        if (!strcmp(s->u.atomic.order, *words))
            return true;
    return false;
}

bool atomic_releases(const Stmt *s)
{
    static const char *const words[] = {"release", "acq_rel", "seq_cst", NULL};
    return s->u.atomic.op != ATOMIC_LOAD && has_order(s, words);
}

bool atomic_acquires(const Stmt *s)
{
    static const char *const words[] = {"acquire", "consume", "acq_rel", "seq_cst", NULL};
    return s->u.atomic.op != ATOMIC_STORE && has_order(s, words);
}

static bool looks(const Stmt *s, void *arg)
{
    (void)arg;
    return s->kind == ST_ATOMIC && s->u.atomic.op == ATOMIC_LOAD;
}

static bool is_break(const Stmt *s, void *arg)
{
    (void)arg;
    return s->kind == ST_BREAK;
}

static bool polls(const Stmt *s, void *arg)
{
    if (s->kind == ST_WHILE)
        return stmt_any(s->u.branch.then, looks, arg);
    return s->kind == ST_FOR && stmt_any(s->u.loop.body, is_break, arg) &&
           stmt_any(s->u.loop.body, looks, arg);
}

static bool takes_over(const Stmt *s, void *arg)
{
    (void)arg;
    return stmt_calls(s, INTRIN_CLC_TRY);
}

bool stmt_polls(const Stmt *body)
{
    return stmt_any(body, polls, NULL) && !stmt_any(body, takes_over, NULL);
}

const Stmt *stmt_assert(Ir *ir, Span at, const Expr *cond, const char *text)
{
    Stmt *s = make(ir, at, ST_ASSERT);
    s->u.check.cond = expr_cast(ir, DT_BOOL, cond);
    s->u.check.text = text ? ir_name(ir, text) : NULL;
    return s;
}

bool stmt_is_fact(const Stmt *s)
{
    return s->kind == ST_ASSERT && s->u.check.text && !strcmp(s->u.check.text, "assume");
}

bool store_is_read(const Stmt *store, const Expr *e)
{
    if (e->op != EX_LOAD || e->u.buf != store->u.store.buf || e->guarded ||
        e->nkid != store->u.store.n)
        return false;
    return !memcmp(e->kid, store->u.store.at, sizeof e->kid[0] * (size_t)e->nkid);
}

const Stmt *stmt_instr(Ir *ir, Span at, const Isa *isa, int nregion, const Region *region, int narg,
                       const Expr *const *arg, int tile)
{
    Stmt *s = make(ir, at, ST_INSTR);
    s->u.instr.isa = isa;
    s->u.instr.nregion = nregion;
    s->u.instr.region = regions(ir, nregion, region);
    s->u.instr.narg = narg;
    s->u.instr.arg = exprs(ir, narg, arg);
    s->u.instr.tile = tile;
    return s;
}

const char *const role_name[ROLE_COUNT] = {"ws", "producer", "issuer", "consumer", "collective"};

const Stmt *stmt_role(Ir *ir, Span at, RoleKind kind, int n, const int *groups, const Stmt *body)
{
    Stmt *s = make(ir, at, ST_ROLE);
    int *copy = NEWN(ir->arena, int, n);
    for (int i = 0; i < n; i++)
        copy[i] = groups[i];
    s->u.role.kind = kind;
    s->u.role.nthread = n;
    s->u.role.thread = copy;
    s->u.role.body = body ? body : stmt_block(ir, at, 0, NULL);
    return s;
}

const Stmt *stmt_with_body(Ir *ir, const Stmt *s, const Stmt *body)
{
    if (s->kind == ST_FOR)
        return stmt_for(ir, s->span, s->u.loop.how, s->u.loop.var, s->u.loop.min,
                        s->u.loop.extent, s->u.loop.hints, body);
    if (s->kind == ST_WHILE)
        return stmt_while(ir, s->span, s->u.branch.cond, body);
    BUG(s->kind != ST_ROLE, "a statement without a body of its own");
    return stmt_role(ir, s->span, s->u.role.kind, s->u.role.nthread, s->u.role.thread, body);
}

const Stmt *stmt_launch(Ir *ir, Span at, Kernel *k)
{
    Stmt *s = make(ir, at, ST_LAUNCH);
    s->u.launch.kernel = k;
    return s;
}

const Stmt *stmt_eval(Ir *ir, Span at, const Expr *e)
{
    Stmt *s = make(ir, at, ST_EVAL);
    s->u.eval = e;
    return s;
}

bool stmt_is_empty(const Stmt *s)
{
    return !s || (s->kind == ST_BLOCK && s->u.block.n == 0);
}
