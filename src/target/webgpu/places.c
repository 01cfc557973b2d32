/* places.c -- the variables that tensors and tiles lie in, and reads, writes and atomics of them.
 *
 * WGSL has no pointers into memory of another type.  Tiles that share bytes of the block's memory
 * (plan_shared) share a variable of words; one that shares with nobody has a variable of its own.
 * Atomics are of 32-bit integers, and what one of them touches is read and written by atomics
 * alone: floats are their bits there. */
#include "target/webgpu/webgpu.h"

/* Of an element of b, as it lies there. */
static const char *type_of(Wgsl *w, const Buffer *b)
{
    return wgsl_is_half(w, b) ? "f16" : wgsl_storage_type(b->type);
}

/* ---- who is where ---------------------------------------------------------------------------- */

static bool see_atomic(const Stmt *s, void *arg)
{
    Wgsl *w = arg;

    if (s->kind == ST_ATOMIC)
        map_set(&w->atomics, buffer_root(s->u.atomic.buf), w);
    return true;
}

void wgsl_see_atomics(Wgsl *w, const Stmt *body)
{
    stmt_visit(body, see_atomic, w);
}

static Place *new_place(Wgsl *w, const Buffer *b, const char *name, int64_t n)
{
    Place *p = NEW(w->e.arena, Place);

    *p = (Place){.name = name, .type = type_of(w, b), .n = n, .binding = -1,
                 .atomic = map_has(&w->atomics, b)};
    if (p->atomic && strcmp(p->type, "f32") == 0)
        p->type = "u32";
    map_set(&w->places, b, p);
    return p;
}

/* "var<workgroup> s: array<f32, 32>;" */
static void declare(Wgsl *w, const Place *p, const char *head)
{
    const char *type = p->atomic ? arena_printf(w->e.arena, "atomic<%s>", p->type) : p->type;

    if (p->n < 0)
        emit_line(&w->e, "%s %s: array<%s>;", head, p->name, type);
    else
        emit_line(&w->e, "%s %s: array<%s, %lld>;", head, p->name, type, (long long)p->n);
}

static void place_tensor(Wgsl *w, const Buffer *b)
{
    bool used = false;

    for (int i = 0; i < w->e.func->kernels.n; i++) {
        used |= map_has(&w->uses[i].used, b);
        if (map_has(&w->uses[i].written, b))
            map_set(&w->written, b, w);
    }
    if (!used)
        return;
    Place *p = new_place(w, b, buffer_name(&w->e, b), -1);
    p->binding = w->nbinding++;
    declare(w, p, arena_printf(w->e.arena, "@group(0) @binding(%d) var<storage, %s>", p->binding,
                               map_has(&w->written, b) ? "read_write" : "read"));
}

void wgsl_place_tensors(Wgsl *w)
{
    Func *f = w->e.func;

    w->nbinding = 1; /* 0 is for scalars */
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].buf)
            place_tensor(w, f->params.at[i].buf);
    for (int i = 0; i < f->workspaces.n; i++)
        place_tensor(w, f->workspaces.at[i]);
}

typedef struct {
    const Buffer *b;
    int64_t from, to; /* bytes of the block's memory */
    int group;        /* the first of those that it shares bytes with, by way of others too */
} Extent;

static void join(Extent *x, int n, int a, int b)
{
    int low = MIN(x[a].group, x[b].group), high = MAX(x[a].group, x[b].group);

    for (int i = 0; i < n; i++)
        if (x[i].group == high)
            x[i].group = low;
}

static int shared_extents(Wgsl *w, const Kernel *k, Extent *x)
{
    int n = 0;

    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        if (b->scope != MEM_SHARED || b->view_of || !map_has(&w->now->used, b))
            continue;
        int64_t from = buffer_plan((Kernel *)k, b)->offset;
        int64_t bytes = dtype_bytes(b->type, stored_elems((Kernel *)k, b));
        x[n] = (Extent){b, from, from + (bytes + 3) / 4 * 4, n};
        n++;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (x[i].from < x[j].to && x[j].from < x[i].to)
                join(x, n, i, j);
    return n;
}

/* The variable of those that share bytes: of their type if they have one. */
static void declare_group(Wgsl *w, const Extent *x, int n, int group)
{
    int64_t from = INT64_MAX, to = 0;
    const char *type = NULL;
    bool atomic = false, same = true;
    int many = 0;

    for (int i = 0; i < n; i++) {
        if (x[i].group != group)
            continue;
        const Place *p = map_get(&w->places, x[i].b);
        from = MIN(from, x[i].from);
        to = MAX(to, x[i].to);
        same &= !type || !strcmp(type, p->type);
        type = p->type;
        atomic |= p->atomic;
        many++;
    }
    const char *name = many > 1 ? name_for(w->e.names, NEW(w->e.arena, char), "tiles")
                                : buffer_name(&w->e, x[group].b);
    Place all = {.name = name,
                 .type = same && !(atomic && !strcmp(type, "f32")) ? type : "u32",
                 .atomic = atomic};
    int each = !strcmp(all.type, "f16") ? 2 : 4;
    all.n = (to - from) / each;
    declare(w, &all, "var<workgroup>");
    for (int i = 0; i < n; i++) {
        if (x[i].group != group)
            continue;
        Place *p = map_get(&w->places, x[i].b);
        *p = all;
        p->first = (x[i].from - from) / each;
        BUG((x[i].from - from) % each, "a tile that starts within a word");
    }
}

void wgsl_place_shared(Wgsl *w, const Kernel *k)
{
    Extent *x = NEWN(w->e.arena, Extent, k->buffers.n + 1);
    int n = shared_extents(w, k, x);

    for (int i = 0; i < n; i++)
        new_place(w, x[i].b, NULL, 0);
    for (int i = 0; i < n; i++)
        if (x[i].group == i)
            declare_group(w, x, n, i);
}

/* ---- reads and writes ------------------------------------------------------------------------ */

/* NULL: a thread's own array, and of its type. */
static const Place *place_of(Emit *e, const Buffer *b)
{
    const Buffer *root = buffer_root(b);
    const Place *p = map_get(&wgsl_of(e)->places, root);
    const char *type = type_of(wgsl_of(e), root);

    if (p || b->scope == MEM_VAR || !strcmp(type, type_of(wgsl_of(e), b)))
        return p;
    Place *own = NEW(e->arena, Place);
    *own = (Place){.name = buffer_name(e, root), .type = type, .binding = -1};
    return own;
}

static void put_place(Emit *e, const Place *p, const Expr *at)
{
    str_printf(e->out, "%s[", p->name);
    if (p->first)
        at = expr_add(e->ir, at, expr_const(e->ir, (DType)at->type, p->first));
    emit_loose(e, at);
    str_putc(e->out, ']');
}

/* An element that is not simply name[index]. */
bool wgsl_element(Emit *e, const Buffer *b, const Expr *at)
{
    const Place *p = place_of(e, b);
    const char *type = type_of(wgsl_of(e), b);
    bool bits = p && strcmp(p->type, type) != 0;

    if (!p)
        return false;
    if (bits)
        str_printf(e->out, "bitcast<%s>(", type);
    str_puts(e->out, p->atomic ? "atomicLoad(&" : "");
    put_place(e, p, at);
    str_puts(e->out, p->atomic ? ")" : "");
    str_puts(e->out, bits ? ")" : "");
    return true;
}

/* An element of an array of f16 is the number. */
bool wgsl_decoded(Emit *e, const Buffer *b, const Expr *at)
{
    if (!wgsl_is_half(wgsl_of(e), b))
        return false;
    str_puts(e->out, "f32(");
    if (!wgsl_element(e, b, at))
        put_place(e, &(Place){.name = buffer_name(e, b)}, at);
    str_putc(e->out, ')');
    return true;
}

static void put_stored(Emit *e, const Place *p, DType t, const Expr *value)
{
    bool bits = strcmp(p->type, wgsl_storage_type(t)) != 0;

    if (bits)
        str_printf(e->out, "bitcast<%s>(", p->type);
    emit_stored(e, t, value);
    str_puts(e->out, bits ? ")" : "");
}

static void store_one(Emit *e, const Buffer *b, const Expr *at, const Expr *value)
{
    const Place *p = b->scope == MEM_VAR ? NULL : place_of(e, b);

    emit_indent(e);
    if (wgsl_is_half(wgsl_of(e), b)) {
        put_place(e, p ? p : &(Place){.name = buffer_name(e, b)}, at);
        str_puts(e->out, " = f16(");
        emit_stored(e, DT_F32, expr_cast(e->ir, DT_F32, expr_cast(e->ir, DT_F16, value)));
        str_puts(e->out, ");\n");
        return;
    }
    if (!p) {
        emit_store(e, b, at, value);
        return;
    }
    str_puts(e->out, p->atomic ? "atomicStore(&" : "");
    put_place(e, p, at);
    str_puts(e->out, p->atomic ? ", " : " = ");
    put_stored(e, p, b->type, value);
    str_puts(e->out, p->atomic ? ");\n" : ";\n");
}

void wgsl_open_if(Emit *e, const Expr *guard)
{
    emit_guard(e, guard);
    str_puts(e->out, "{\n");
    e->indent++;
}

void wgsl_close_if(Emit *e)
{
    e->indent--;
    emit_line(e, "}");
}

/* Lane by lane; those under one condition share it. */
void wgsl_store(Emit *e, const Stmt *s)
{
    const Expr *at = s->u.store.at[0], *value = s->u.store.value, *guard = s->u.store.guard;
    const Expr *under = NULL;
    int lanes = MAX(at->lanes, value->lanes);

    for (int l = 0; l < lanes; l++) {
        const Expr *g = guard ? lane_of(e->ir, guard, l) : NULL;
        if (g != under && under)
            wgsl_close_if(e);
        if (g != under && g)
            wgsl_open_if(e, g);
        under = g;
        store_one(e, s->u.store.buf, lane_of(e->ir, at, l), lane_of(e->ir, value, l));
    }
    if (under)
        wgsl_close_if(e);
}

/* ---- atomics --------------------------------------------------------------------------------- */

static const char *const atomic_fn[ATOMIC_COUNT] = {
    [ATOMIC_ADD] = "atomicAdd", [ATOMIC_MAX] = "atomicMax",      [ATOMIC_MIN] = "atomicMin",
    [ATOMIC_OR] = "atomicOr",   [ATOMIC_AND] = "atomicAnd",      [ATOMIC_XOR] = "atomicXor",
    [ATOMIC_LOAD] = "atomicLoad", [ATOMIC_STORE] = "atomicStore", [ATOMIC_EXCH] = "atomicExchange",
};

static bool is_move(AtomicOp op)
{
    return op == ATOMIC_LOAD || op == ATOMIC_STORE || op == ATOMIC_EXCH;
}

/* By a function of the language, which gives what was there before. */
static void atomic_call(Emit *e, const Stmt *s, const Place *p, const Expr *at, const Expr *value)
{
    DType t = s->u.atomic.buf->type;
    const char *type = wgsl_storage_type(t);
    bool bound = s->u.atomic.bind && (!e->seen || map_has(e->seen, s->u.atomic.bind));
    bool bits = bound && strcmp(p->type, type) != 0;

    emit_bind(e, s->u.atomic.bind, NULL);
    if (bits)
        str_printf(e->out, "bitcast<%s>(", type);
    else if (!bound && s->u.atomic.op != ATOMIC_STORE)
        str_puts(e->out, "_ = ");
    str_printf(e->out, "%s(&", atomic_fn[s->u.atomic.op]);
    put_place(e, p, at);
    if (value) {
        str_puts(e->out, ", ");
        put_stored(e, p, t, value);
    }
    str_puts(e->out, bits ? "));\n" : ");\n");
}

/* What is in a word, and the word with something else in it: a narrow element is a part of it. */
typedef struct {
    const char *type, *get, *put, *shift, *mask;
} Part;

/* Where a narrow element starts in its word, as a name; *at becomes the word's number. */
static const char *shift_of(Emit *e, DType t, const Expr **at)
{
    int bits = dtype_bits(t);
    const Expr *each = expr_const(e->ir, (DType)(*at)->type, 32 / bits);
    const char *name = name_for(e->names, NEW(e->arena, char), "shift");
    Str low, *out = e->out;

    str_init(&low, e->arena);
    e->out = &low;
    emit_index(e, simplify(e->ir, e->facts, expr_floormod(e->ir, *at, each)));
    e->out = out;
    *at = simplify(e->ir, e->facts, expr_floordiv(e->ir, *at, each));
    emit_line(e, "let %s: u32 = u32(%s) * %du;", name, low.s, bits);
    return name;
}

static Part part_of(Emit *e, DType t, const Expr **at)
{
    Part p = {"f32", "bitcast<f32>($)", "bitcast<u32>($)", NULL, NULL};
    int bits = dtype_bits(t);

    if (bits == 32)
        return p;
    p.shift = shift_of(e, t, at);
    p.mask = bits == 8 ? "255u" : "65535u";
    if (dtype_is_float(t)) {
        const char *name = t == DT_F16 ? "f16" : "bf16";
        p.get = arena_printf(e->arena, "tl_%s_to_f32(($ >> %s) & 65535u)", name, p.shift);
        p.put = arena_printf(e->arena, "(tl_f32_to_%s($) << %s)", name, p.shift);
        return p;
    }
    bool is_signed = !dtype_is_unsigned(t);
    p.type = is_signed ? "i32" : "u32";
    p.get = arena_printf(e->arena, is_signed ? "extractBits(bitcast<i32>($), %s, %du)"
                                             : "extractBits($, %s, %du)", p.shift, bits);
    p.put = arena_printf(e->arena, "((bitcast<u32>($) & %s) << %s)", p.mask, p.shift);
    return p;
}

/* A pattern with a text in the place of its $. */
static const char *filled(Emit *e, const char *pattern, const char *with)
{
    const char *hole = strchr(pattern, '$');
    return arena_printf(e->arena, "%.*s%s%s", (int)(hole - pattern), pattern, with, hole + 1);
}

/* What there will be, of what was there and what comes. */
static const char *joined(Emit *e, const Part *p, AtomicOp op, const char *was, const char *by)
{
    static const char *const join[ATOMIC_COUNT] = {
        [ATOMIC_ADD] = "%s + %s", [ATOMIC_MAX] = "tl_max_%s(%s, %s)",
        [ATOMIC_MIN] = "tl_min_%s(%s, %s)", [ATOMIC_OR] = "%s | %s", [ATOMIC_AND] = "%s & %s",
        [ATOMIC_XOR] = "%s ^ %s"};

    if (is_move(op))
        return by;
    if (op == ATOMIC_MAX || op == ATOMIC_MIN)
        return arena_printf(e->arena, join[op], p->type, was, by);
    return arena_printf(e->arena, join[op], was, by);
}

/* The value as the part has it, under a name; of a load there is none. */
static const char *brought(Emit *e, const Stmt *s, const Part *p, const Expr *value)
{
    DType t = !strcmp(p->type, "f32") ? DT_F32 : !strcmp(p->type, "i32") ? DT_I32 : DT_U32;
    const char *by = name_for(e->names, NEW(e->arena, char), "by");

    if (s->u.atomic.op == ATOMIC_LOAD)
        return NULL;
    emit_indent(e);
    str_printf(e->out, "let %s: %s = ", by, p->type);
    emit_stored(e, t, expr_cast(e->ir, t, value));
    str_puts(e->out, ";\n");
    return by;
}

/* Compared and exchanged until nobody came between. */
static void put_exchange(Emit *e, const Stmt *s, const Place *p, const Part *part, const Expr *at,
                         const char *was, const char *by)
{
    const char *swap = name_for(e->names, NEW(e->arena, char), "swap");

    emit_line(e, "loop {");
    e->indent++;
    emit_indent(e);
    str_printf(e->out, "let %s = atomicCompareExchangeWeak(&", swap);
    put_place(e, p, at);
    const char *next = joined(e, part, s->u.atomic.op, filled(e, part->get, was), by);
    str_printf(e->out, ", %s, ", was);
    if (part->shift)
        str_printf(e->out, "(%s & ~(%s << %s)) | ", was, part->mask, part->shift);
    str_printf(e->out, "%s);\n", filled(e, part->put, next));
    emit_line(e, "if (%s.exchanged) { break; }", swap);
    emit_line(e, "%s = %s.old_value;", was, swap);
    e->indent--;
    emit_line(e, "}");
}

/* Of floats and of narrow elements: by the bits of their word. */
static void atomic_part(Emit *e, const Stmt *s, const Place *p, const Expr *at, const Expr *value)
{
    const Var *bind = s->u.atomic.bind;
    bool bound = bind && (!e->seen || map_has(e->seen, bind));
    Part part = part_of(e, s->u.atomic.buf->type, &at);
    const char *by = brought(e, s, &part, value);
    const char *was = name_for(e->names, NEW(e->arena, char), "was");

    emit_indent(e);
    str_printf(e->out, "var %s: u32 = atomicLoad(&", was);
    put_place(e, p, at);
    str_puts(e->out, ");\n");
    if (by)
        put_exchange(e, s, p, &part, at, was, by);
    if (bound) {
        emit_bind(e, bind, NULL);
        bool other = !dtype_is_unsigned(bind->type) && !strcmp(part.type, "u32");
        str_printf(e->out, other ? "i32(%s);\n" : "%s;\n", filled(e, part.get, was));
    }
}

/* Neighbours that opt_vectorize joined go one by one. */
void wgsl_atomic(Emit *e, const Stmt *s)
{
    const Buffer *b = s->u.atomic.buf;
    const Place *p = place_of(e, b);
    const Expr *at = s->u.atomic.at[0], *value = s->u.atomic.value;
    bool by_bits =
        dtype_bits(b->type) < 32 || (dtype_is_float(b->type) && !is_move(s->u.atomic.op));

    if (!p)
        wgsl_refuse(e, s, "an atomic on memory of one thread");
    for (int l = 0; l < at->lanes; l++) {
        const Expr *v = value ? lane_of(e->ir, value, l) : NULL;
        (by_bits ? atomic_part : atomic_call)(e, s, p, lane_of(e->ir, at, l), v);
    }
}
