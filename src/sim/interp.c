/* interp.c -- statements: runs any form of a kernel's body, and the host statements around it. */
#include "sim/machine.h"

static Flow exec_block(Sim *m, const Stmt *s)
{
    for (int i = 0; i < s->u.block.n; i++) {
        Flow f = exec(m, s->u.block.list[i]);
        if (f != FLOW_NEXT)
            return f;
    }
    return FLOW_NEXT;
}

static void store_lanes(Sim *m, const Stmt *s, int lanes)
{
    Value1 index[RANK_MOST][LANES_MOST], value[LANES_MOST], guard[LANES_MOST];
    const Expr *v = s->u.store.value, *g = s->u.store.guard;
    DType to = s->u.store.buf->type;
    bool any = !g;
    if (g)
        eval_lanes(m, g, guard);
    for (int l = 0; g && l < g->lanes; l++)
        any |= guard[l].i != 0;
    if (!any) /* what is not stored is not worked out */
        return;
    for (int d = 0; d < s->u.store.n; d++) {
        eval_lanes(m, s->u.store.at[d], index[d]);
        for (int l = 1; s->u.store.at[d]->lanes == 1 && l < lanes; l++)
            index[d][l] = index[d][0];
    }
    eval_lanes(m, v, value);
    for (int l = 1; v->lanes == 1 && l < lanes; l++)
        value[l] = value[0];
    SimMem *mem = sim_mem(m, s->u.store.buf);
    if (m->o.stats) {
        bool off = g && guard[0].i == 0;
        stats_access(m, mem, s, off ? -1 : index[0][0].i, lanes);
    }
    for (int l = 0; l < lanes; l++) {
        int64_t at[RANK_MOST];
        if (g && guard[g->lanes == 1 ? 0 : l].i == 0)
            continue;
        for (int d = 0; d < s->u.store.n; d++)
            at[d] = index[d][l].i;
        int64_t i = mem_offset(m, mem, at, s->u.store.n);
        if (i < 0)
            continue;
        Value1 x = value_cast(v->type, to, value[l]);
        s->u.store.async ? copy_issue(m, mem, i, x) : mem_put(m, mem, i, x);
    }
    copy_issued(m, s);
}

static void exec_store(Sim *m, const Stmt *s)
{
    int64_t at[RANK_MOST];
    const Expr *v = s->u.store.value, *g = s->u.store.guard;
    int lanes = v->lanes;
    for (int d = 0; d < s->u.store.n; d++)
        lanes = MAX(lanes, s->u.store.at[d]->lanes);
    if (lanes > 1) {
        store_lanes(m, s, lanes);
        return;
    }
    if (g && eval(m, g).i == 0) {
        if (m->o.stats)
            stats_access(m, sim_mem(m, s->u.store.buf), s, -1, 1);
        return;
    }
    index_values(m, s->u.store.buf, s->u.store.at, s->u.store.n, at);
    SimMem *mem = sim_mem(m, s->u.store.buf);
    int64_t i = mem_offset(m, mem, at, s->u.store.n);
    if (m->o.stats)
        stats_access(m, mem, s, i, 1);
    if (i >= 0) { /* what is not stored is not worked out */
        Value1 value = value_cast(v->type, s->u.store.buf->type, eval(m, v));
        s->u.store.async ? copy_issue(m, mem, i, value) : mem_put(m, mem, i, value);
    }
    copy_issued(m, s);
}

/* ---- loops ----------------------------------------------------------------------------------- */

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

/* Iterations of a parallel loop may come in any order; a seed picks one: i -> (i * step + first) %
 * n. */
static void permutation(const Sim *m, const Var *v, int64_t n, int64_t *first, int64_t *step)
{
    uint64_t h = hash_mix(m->o.seed, (uint64_t)v->id + 1);
    *first = (int64_t)(h % (uint64_t)n);
    *step = (int64_t)(h / 7 % (uint64_t)n);
    while (gcd(*step, n) != 1)
        *step = (*step + 1) % n;
}

static Flow exec_loop(Sim *m, const Stmt *s)
{
    int64_t min = eval(m, s->u.loop.min).i, n = eval(m, s->u.loop.extent).i;
    int64_t first = 0, step = 1;
    int var = s->u.loop.var->id;
    if (n <= 0)
        return FLOW_NEXT;
    if (m->permute && s->u.loop.how == LOOP_PARALLEL && n > 1)
        permutation(m, s->u.loop.var, n, &first, &step);
    Flow f = FLOW_NEXT;
    m->nests += s->u.loop.how == LOOP_PARALLEL;
    for (int64_t i = 0, at = first; i < n && f != FLOW_BREAK && f != FLOW_RETURN;
         i++, at = (at + step) % n) {
        m->value[var] = (Value1){.i = min + at};
        f = exec(m, s->u.loop.body);
    }
    m->nests -= s->u.loop.how == LOOP_PARALLEL;
    return f == FLOW_RETURN ? f : FLOW_NEXT;
}

static Flow exec_while(Sim *m, const Stmt *s)
{
    while (sim_is_true(m, s->u.branch.cond)) {
        Flow f = exec(m, s->u.branch.then);
        if (f == FLOW_BREAK)
            break;
        if (f == FLOW_RETURN)
            return f;
        m->at = s;
        sim_step(m, s);
    }
    return FLOW_NEXT;
}

static Flow exec_if(Sim *m, const Stmt *s)
{
    const Stmt *taken = sim_is_true(m, s->u.branch.cond) ? s->u.branch.then : s->u.branch.orelse;
    return taken ? exec(m, taken) : FLOW_NEXT;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static ExprOp atomic_operator(AtomicOp op)
{
    switch (op) {
    case ATOMIC_ADD: return EX_ADD;
    case ATOMIC_MAX: return EX_MAX;
    case ATOMIC_MIN: return EX_MIN;
    case ATOMIC_OR: return EX_BITOR;
    case ATOMIC_AND: return EX_BITAND;
    case ATOMIC_XOR: return EX_BITXOR;
    default: unreachable();
    }
}

/* Sums into neighbours, joined by opt_vectorize. */
static void exec_atomic_run(Sim *m, const Stmt *s)
{
    Value1 at[LANES_MOST], v[LANES_MOST];
    Buffer *b = s->u.atomic.buf;
    SimMem *mem = sim_mem(m, b);
    int n = s->u.atomic.at[0]->lanes;
    BUG(n > LANES_MOST, "an atomic of %d lanes", n);
    eval_lanes(m, s->u.atomic.at[0], at);
    eval_lanes(m, s->u.atomic.value, v);
    for (int l = 0; l < n; l++) {
        int64_t i = mem_offset(m, mem, &at[l].i, 1);
        if (i >= 0)
            mem_write(mem, i, value_binary(atomic_operator(s->u.atomic.op), b->type,
                                           mem_read(mem, i),
                                           value_cast(s->u.atomic.value->type, b->type, v[l])));
    }
}

/* Reads and writes the i-th element; what was there. */
static Value1 atomic_step(Sim *m, const Stmt *s, SimMem *mem, int64_t i, Value1 v)
{
    AtomicOp op = s->u.atomic.op;
    const bool reads = op != ATOMIC_STORE && (op != ATOMIC_EXCH || s->u.atomic.bind);
    Value1 old = {0};

    if (reads && mem->init && m->o.check_uninit && !mem_is_init(mem, i))
        fail_uninitialised(m, mem, i);
    if (op != ATOMIC_STORE)
        old = mem_read(mem, i);
    if (m->flags && m->self && reads)
        flags_read(m, mem, i, s);
    if (op == ATOMIC_STORE || op == ATOMIC_EXCH)
        mem_write(mem, i, v);
    else if (op != ATOMIC_LOAD)
        mem_write(mem, i, value_binary(atomic_operator(op), s->u.atomic.buf->type, old, v));
    if (m->flags && m->self && op != ATOMIC_LOAD) /* reading may have been too much of them */
        flags_written(m, mem, i, s);
    return old;
}

/* Who is about to find the same again waits for somebody else. */
static void atomic_poll(Sim *m, const Stmt *s, Value1 found)
{
    SimThread *t = m->self;
    const bool again = t->polled == s && !memcmp(&t->polled_value, &found, sizeof found);

    t->polled = s;
    t->polled_value = found;
    if (again)
        threads_poll(m);
}

static void exec_atomic(Sim *m, const Stmt *s)
{
    int64_t at[RANK_MOST];
    if (s->u.atomic.n == 1 && s->u.atomic.at[0]->lanes > 1) {
        exec_atomic_run(m, s);
        return;
    }
    Buffer *b = s->u.atomic.buf;
    Value1 old = {0}, v = {0};
    index_values(m, b, s->u.atomic.at, s->u.atomic.n, at);
    if (s->u.atomic.value)
        v = value_cast(s->u.atomic.value->type, b->type, eval(m, s->u.atomic.value));
    SimMem *mem = sim_mem(m, b);
    int64_t i = mem_offset(m, mem, at, s->u.atomic.n);
    if (i >= 0) {
        if (m->self && m->polls && s->u.atomic.bind)
            atomic_poll(m, s, mem_read(mem, i));
        old = atomic_step(m, s, mem, i, v);
    }
    if (s->u.atomic.bind)
        m->value[s->u.atomic.bind->id] = value_cast(b->type, s->u.atomic.bind->type, old);
}

/* The block's own atomics are done by each of its threads; once the kernel is lowered that far,
 * the threads or a loop do so. */
static int atomic_times(Sim *m, const Stmt *s)
{
    const Kernel *k = m->k;
    bool once = m->self || m->nests || k->uses_threads || (k->form & FORM_THREADS) ||
                ((k->form & FORM_NORMAL) && !kernel_on_warps(k));

    return !once && (s->u.atomic.op == ATOMIC_ADD || s->u.atomic.op == ATOMIC_XOR)
               ? kernel_block_threads(k) : 1;
}

static void exec_check(Sim *m, const Stmt *s)
{
    const char *text = s->u.check.text ? s->u.check.text : "";

    if (sim_is_true(m, s->u.check.cond))
        return;
    if (!strncmp(text, "Assume: ", 8))
        sim_fail(m, s, "assertion failed: %s [assume-false]", text);
    sim_fail(m, s, "assertion failed%s%s [assert-failed]", *text ? ": " : "", text);
}

void sim_step(Sim *m, const Stmt *s)
{
    enum { ASK_EVERY = 1 << 14 };

    m->steps++;
    if (m->o.go_on && m->steps % ASK_EVERY == 0 && !m->o.go_on(m->o.go_on_arg))
        sim_fail(m, s, "the run was given up [interrupted]");
    if (m->o.max_steps && m->steps > m->o.max_steps)
        sim_fail(m, s, "more than %llu statements were run [sim-steps]",
                 (unsigned long long)m->o.max_steps);
}

/* In a kernel written per thread, what the block does as a whole waits for all of its threads. */
static void exec_collective(Sim *m, const Stmt *s)
{
    bool together = s->kind == ST_TILE ? !stmt_is_private(s) : s->u.instr.isa->scope == BY_BLOCK;
    if (m->self && together) {
        threads_collect(m, s);
        return;
    }
    ArenaMark mark = arena_mark(m->scratch);
    if (s->kind == ST_TILE)
        s->u.tile.op->simulate(m, s);
    else
        exec_instr(m, s);
    arena_reset(m->scratch, mark);
}

Flow exec(Sim *m, const Stmt *s)
{
    m->at = s;
    sim_step(m, s);
    if (m->debug)
        debug_see(m, s);
    if (m->o.times && m->self)
        times_charge(m, s);
    switch (s->kind) {
    case ST_BLOCK: return exec_block(m, s);
    case ST_LET: {
        Value1 v = eval(m, s->u.let.value);
        m->value[s->u.let.var->id] = value_cast(s->u.let.value->type, s->u.let.var->type, v);
        return FLOW_NEXT;
    }
    case ST_STORE: exec_store(m, s); return FLOW_NEXT;
    case ST_FOR:
        if (m->self && s->u.loop.how == LOOP_PARALLEL && !stmt_is_private(s)) {
            threads_collect(m, s);
            return FLOW_NEXT;
        }
        return exec_loop(m, s);
    case ST_WHILE: return exec_while(m, s);
    case ST_IF: return exec_if(m, s);
    case ST_BREAK: return FLOW_BREAK;
    case ST_CONTINUE: return FLOW_CONTINUE;
    case ST_TILE:
    case ST_INSTR: exec_collective(m, s); return FLOW_NEXT;
    case ST_ATOMIC:
        for (int i = atomic_times(m, s); i > 0; i--)
            exec_atomic(m, s);
        return FLOW_NEXT;
    case ST_CALL:
        if (s->u.call.which == INTRIN_RETURN)
            return FLOW_RETURN;
        exec_call(m, s);
        return FLOW_NEXT;
    case ST_ASSERT: exec_check(m, s); return FLOW_NEXT;
    case ST_ROLE: return exec_role(m, s);
    case ST_LAUNCH: launch_kernel(m, s->u.launch.kernel); return FLOW_NEXT;
    case ST_EVAL: eval(m, s->u.eval); return FLOW_NEXT;
    case ST_COUNT: break;
    }
    unreachable();
}
