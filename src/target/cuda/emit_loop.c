/* emit_loop.c -- which loops of a thread are unrolled.
 *
 * Arrays of a thread live in registers only when every index is a constant after unrolling, so
 * loops whose variable indexes one are unrolled whatever their kind.  An array that the thread's
 * number indexes anywhere is in memory, and long loops over its slots gain nothing.  Loops that
 * synchronise or issue instructions are kept rolled: their bodies are long.  Short ones that load
 * are unrolled, so that all of their loads are in flight at once, unless one iteration has enough
 * of them: registers for more cost the second block of a multiprocessor.  So are those that gather,
 * where each copy waits for the load of its index, though they synchronise. */
#include "target/cuda/emit.h"

enum {
    UNROLL_MOST = 256, /* iterations of a loop that indexes registers */
    COPIES_MOST =
        512, /* of the innermost body by all loops around it: beyond, compiling takes minutes */
    SLOTS_UNROLLED = 32,
    STEPS_MOST = 768, /* statements of unrolled iterations that issue instructions */
    CHOICE_LONG = 24, /* nodes of a condition */
    SHORT = 8,        /* iterations of a loop that is worth unrolling for what overlaps */
    LOADS_LEAST = 8,  /* of one thread that a long loop over slots has in flight */
    LOADS_MOST = 16,
    LOADS_OPEN = 4,   /* of one whose length is known at run time */
    FLIGHT = 64,      /* bytes of a thread that wait for memory at once: more cost occupancy */
};

typedef struct {
    const Cuda *c;
    Map vars;       /* that of the loop, and names made from it inside */
    bool registers; /* one of them is in the index of a register */
    bool memory;    /* or of an array that is in no registers */
    bool heavy;     /* threads synchronise, or instructions are issued */
    bool meets;     /* threads synchronise, or wait for work in flight */
    int draws;      /* random words that an iteration takes: four cost what one does */
    bool floats;    /* random floats: an iteration has a hundred instructions */
    bool waits;     /* for more than other threads, or instructions are issued */
    bool copies;    /* in flight, of elements */
    int loads;      /* of global memory */
    int ahead;      /* those whose values the thread has: of indices, where it copies */
    bool guards;    /* of loads: there are predicates for few of them at once */
} LoopFacts;

static bool changes(const LoopFacts *f, const Expr *e)
{
    bool found = e->op == EX_VAR && map_has(&f->vars, e->u.var);

    for (int i = 0; i < e->nkid && !found; i++)
        found = changes(f, e->kid[i]);
    return found;
}

static void see_slot(LoopFacts *f, const Buffer *b, const Expr *at)
{
    if (!cuda_is_register(b) || !changes(f, at))
        return;
    bool memory = map_has(&f->c->u.addressable, buffer_root(b));
    f->memory |= memory;
    f->registers |= !memory;
}

static bool see_index(const Expr *x, void *arg)
{
    LoopFacts *f = arg;

    if (x->op == EX_LOAD && x->nkid)
        see_slot(f, x->u.buf, x->kid[0]);
    f->loads += x->op == EX_LOAD && x->u.buf->scope == MEM_GLOBAL;
    f->guards |= x->op == EX_LOAD && x->guarded;
    return true;
}

static bool see_inside(const Stmt *s, void *arg)
{
    LoopFacts *f = arg;

    int loads = f->loads;

    stmt_visit_expr(s, see_index, f);
    bool copy = s->kind == ST_STORE && s->u.store.async;
    f->copies |= copy;
    f->ahead += copy ? 0 : f->loads - loads;
    if (s->kind == ST_LET && dtype_is_int(s->u.let.var->type) && changes(f, s->u.let.value))
        map_set(&f->vars, s->u.let.var, s);
    if (s->kind == ST_STORE)
        see_slot(f, s->u.store.buf, s->u.store.at[0]);
    if (s->kind == ST_INSTR) {
        f->heavy = f->waits = true;
        f->meets |= s->u.instr.isa->done != DONE_AT_ONCE;
        for (int i = 0; i < s->u.instr.nregion; i++)
            for (int d = 0; d < s->u.instr.region[i].buf->rank; d++)
                see_slot(f, s->u.instr.region[i].buf, s->u.instr.region[i].at[d]);
    }
    if (s->kind == ST_CALL && strchr(intrin_table[s->u.call.which].effects, 'S')) {
        f->heavy = f->meets = true;
        f->waits |= s->u.call.which != INTRIN_SYNC_THREADS && s->u.call.which != INTRIN_SYNC_WARP;
    }
    f->draws += s->kind == ST_CALL && s->u.call.which == INTRIN_RNG_RAND;
    f->floats |= s->kind == ST_CALL && s->u.call.which == INTRIN_RNG_FLOAT;
    return true;
}

/* The largest product of iterations of unrolled loops inside each other. */
static int64_t inner_copies(const Stmt *s)
{
    int64_t most = 1, n = 1;

    if (s->kind == ST_BLOCK)
        for (int i = 0; i < s->u.block.n; i++)
            most = MAX(most, inner_copies(s->u.block.list[i]));
    if (s->kind == ST_IF) {
        most = inner_copies(s->u.branch.then);
        if (s->u.branch.orelse)
            most = MAX(most, inner_copies(s->u.branch.orelse));
    }
    if (s->kind == ST_FOR && s->u.loop.how == LOOP_UNROLL && expr_is_int(s->u.loop.extent, &n))
        most = n * inner_copies(s->u.loop.body);
    return MAX(most, 1);
}

static bool count_stmt(const Stmt *s, void *arg)
{
    *(int64_t *)arg += s->kind != ST_BLOCK;
    return true;
}

/* Steps of a large GEMM: the machine's compiler takes longer than it is worth to interleave what
 * has hundreds of instructions already.  As many iterations at once as stay below a number of
 * them. */
static int64_t some_steps(Cuda *c, const Stmt *s, int64_t n)
{
    int64_t size = 0;

    stmt_visit(s->u.loop.body, count_stmt, &size);
    while (n > 1 && c->copies * size * n > STEPS_MOST)
        n = n % 2 ? 1 : n / 2;
    return n;
}

/* Statements that run, branches taken both; more than is ever unrolled where that is not known. */
static int64_t steps_of(const Stmt *s)
{
    int64_t sum = 0, n = STEPS_MOST + 1;

    if (s->kind == ST_BLOCK)
        for (int i = 0; i < s->u.block.n && sum <= STEPS_MOST; i++)
            sum += steps_of(s->u.block.list[i]);
    else if (s->kind == ST_IF)
        sum = 1 + steps_of(s->u.branch.then) +
              (s->u.branch.orelse ? steps_of(s->u.branch.orelse) : 0);
    else if (s->kind == ST_FOR && expr_is_int(s->u.loop.extent, &n))
        sum = n <= STEPS_MOST ? n * steps_of(s->u.loop.body) : n;
    else
        sum = s->kind == ST_FOR || s->kind == ST_WHILE || s->kind == ST_ROLE ? n : 1;
    return MIN(sum, STEPS_MOST + 1);
}

static bool count_bytes(const Expr *e, void *arg)
{
    if (e->op == EX_LOAD && e->u.buf->scope == MEM_GLOBAL)
        *(int64_t *)arg += dtype_bytes(e->u.buf->type, e->lanes);
    return true;
}

/* Bytes of global memory that one run of s has in flight, its loops written out. */
static int64_t flight_of(const Stmt *s)
{
    int64_t sum = 0, n = 1;

    if (s->kind == ST_FOR && expr_is_int(s->u.loop.extent, &n))
        return MIN(n, FLIGHT) * flight_of(s->u.loop.body);
    if (s->kind == ST_BLOCK)
        for (int i = 0; i < s->u.block.n && sum < FLIGHT; i++)
            sum += flight_of(s->u.block.list[i]);
    else
        stmt_visit_expr(s, count_bytes, &sum);
    if (s->kind == ST_IF)
        sum += flight_of(s->u.branch.then) +
               (s->u.branch.orelse ? flight_of(s->u.branch.orelse) : 0);
    return MIN(sum, FLIGHT);
}

static bool see_choice(const Stmt *s, void *arg)
{
    if (s->kind == ST_IF && s->u.branch.cond->size > CHOICE_LONG)
        *(bool *)arg = true;
    return true;
}

/* Conditions of many cases, copied a few times, take the assembler minutes, or it loses threads. */
static bool has_long_choice(const Stmt *s)
{
    bool found = false;
    stmt_visit(s->u.loop.body, see_choice, &found);
    return found;
}

/* Iterations of a long loop over slots that are worth their registers: loads in flight. */
static int64_t some_slots(const LoopFacts *f, int64_t n)
{
    int64_t most = f->loads == 1 && !f->guards ? LOADS_MOST : LOADS_LEAST;

    for (int64_t i = most; i > LOADS_LEAST; i--)
        if (n % i == 0)
            return i;
    return LOADS_LEAST;
}

static const char *unroll_by(Cuda *c, int64_t n)
{
    return arena_printf(c->e.arena, "#pragma unroll %lld", (long long)n);
}

/* How to unroll a loop, or NULL, and how many copies that makes of its body. */
static const char *pragma_of(Cuda *c, const Stmt *s, int64_t *copies)
{
    LoopFacts f = {.c = c};
    int64_t n = 0, factor = hint_int(s->u.loop.hints, "unroll_factor", 0);
    bool fixed = expr_is_int(s->u.loop.extent, &n), slots = hint_find(s->u.loop.hints, "slots");

    *copies = 1;
    map_init(&f.vars, c->e.arena);
    map_set(&f.vars, s->u.loop.var, s);
    stmt_visit(s->u.loop.body, see_inside, &f);
    bool rolled = slots && f.memory && !f.registers && !f.heavy && n > SLOTS_UNROLLED;
    bool whole = (s->u.loop.how == LOOP_UNROLL && !rolled) || s->u.loop.how == LOOP_VECTOR ||
                 (fixed && (f.registers || (f.memory && !rolled)) && n <= UNROLL_MOST) ||
                 (slots && fixed && !f.heavy && !f.floats && f.draws % 4 == 0 &&
                  n <= SLOTS_UNROLLED);
    bool alone = f.loads > 0 && flight_of(s->u.loop.body) < FLIGHT;
    bool gathers = f.copies && f.ahead > 0 && !f.waits; /* barriers do not hold back its loads */
    whole |= (f.heavy ? !f.meets || gathers : alone) && fixed && n <= SHORT &&
             c->copies * steps_of(s) <= STEPS_MOST;
    bool heavy = whole && fixed && f.heavy && !f.registers && !f.memory;
    if (s->u.loop.how == LOOP_UNROLL && factor > 0)
        *copies = factor;
    else if (heavy && some_steps(c, s, n) < n)
        *copies = some_steps(c, s, n);
    else if (whole && fixed && c->copies * n * inner_copies(s->u.loop.body) <= COPIES_MOST) {
        *copies = n;
        return "#pragma unroll";
    } else if (!whole && !f.heavy) {
        if (slots && !fixed && f.loads && !f.meets)
            return unroll_by(c, has_long_choice(s) ? 1 : LOADS_OPEN);
        return slots && fixed ? unroll_by(c, has_long_choice(s) ? 1 : some_slots(&f, n)) : NULL;
    }
    return unroll_by(c, *copies);
}

void cuda_emit_for(Emit *e, const Stmt *s)
{
    Cuda *c = cuda_of(e);
    int64_t copies = c->copies, more;
    const char *pragma = pragma_of(c, s, &more);

    c->copies *= more;
    emit_loop(e, s, pragma, emit_stmt);
    c->copies = copies;
}
