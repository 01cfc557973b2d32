/* lower_staging.c -- tiles a mechanism needs between its two ends.
 *
 * needs   FORM_HOW
 *
 * An operator's own loops read any element of their operands.  On targets with threads a fragment
 * is spread over registers, so such an operand is brought to shared memory first, and back
 * afterwards when it was written.  Mechanisms that work on registers themselves (matrix
 * instructions, shuffles) say which operands they want there.  Copies, fills and nests are left
 * alone: they follow the layout of their fragments.  A reduction between lanes takes a shared tile
 * to registers first, and matrix instructions one that they add to, and bring it back. */
#include "pass/pass.h"

typedef struct {
    Kernel *k;
    int n;
    const Stmt *before[4], *after[4];
    Access how[4];
    const Region *region;
} Stage;

static void note_access(void *arg, const Region *r, Access a)
{
    Stage *g = arg;
    for (int i = 0; i < 4; i++)
        if (&g->region[i] == r)
            g->how[i] |= a;
}

static const char between[] = "between registers and shared memory";

static const Stmt *copy_between(Kernel *k, Span at, Buffer *from, Buffer *to)
{
    return copy_plain(k, at, region_whole(k->ir, from), region_whole(k->ir, to), between);
}

/* The last operand of a reduction keeps its registers: each of its elements is written by its
 * owner.  Matrix instructions say themselves what they cannot take from registers. */
static bool stays(const Stage *g, const Stmt *s, int i)
{
    const TilePlan *p = tile_plan(g->k, s);
    MemScope scope = s->u.tile.region[i].buf->scope;

    if (scope == MEM_SHARED && (g->how[i] & ACC_WRITE) && !p->how->own_loops)
        return !(p->staged >> i & 1);
    if (scope != MEM_FRAGMENT)
        return true;
    if (!p->how->own_loops)
        return !(p->staged >> i & 1);
    return s->u.tile.op->by_owner >> i & 1;
}

/* The source of a reduction between lanes, from shared memory to registers. */
static const Stmt *to_registers(Kernel *k, const Stmt *s)
{
    Ir *ir = k->ir;
    Region *region = NEWN(ir->arena, Region, 2);
    const Region *src = &s->u.tile.region[0];

    if (src->buf->scope != MEM_SHARED)
        return s;
    Buffer *b = kernel_buffer(k, arena_printf(ir->arena, "%s_regs", src->buf->name),
                              src->buf->type, MEM_FRAGMENT, src->buf->rank, src->extent, s->span);
    region[0] = region_whole(ir, b);
    region[1] = s->u.tile.region[1];
    Stmt *copy = NEW(ir->arena, Stmt);
    *copy = *s;
    copy->u.tile.region = region;
    return stmt_seq(ir, copy_plain(k, s->span, *src, region[0], between), copy);
}

/* A tile that is only written, and whole, need not be brought: it may hold nothing yet. */
static bool is_read(const Stage *g, const Stmt *s, int i)
{
    bool read = !region_is_whole(&g->region[i]);
    for (int j = 0; j < s->u.tile.nregion; j++)
        if (g->region[j].buf == g->region[i].buf)
            read |= (g->how[j] & (ACC_READ | ACC_REDUCE)) != 0;
    return read;
}

/* A product that clears its sum in some iterations needs what was there in the others alone: before
 * the first the tile may hold nothing yet. */
static const Stmt *unless_cleared(Kernel *k, const Stmt *s, int i, const Stmt *copy)
{
    enum { C = 2, CLEAR = 2 };
    const Expr *clear = s->u.tile.narg > CLEAR ? s->u.tile.arg[CLEAR] : NULL;

    if (!tile_does(s, TILE_MMA) || i != C || !region_is_whole(&s->u.tile.region[C]) || !clear ||
        clear->type != DT_BOOL || clear->op == EX_INT || expr_has_load(clear))
        return copy;
    for (int j = 0; j < s->u.tile.nregion; j++)
        if (j != C && s->u.tile.region[j].buf == s->u.tile.region[C].buf)
            return copy;
    return stmt_if(k->ir, s->span, expr_unary(k->ir, EX_NOT, clear), copy, NULL);
}

static const Stmt *stage(Ir *ir, const Stmt *s, void *arg)
{
    Kernel *k = arg;
    Stage g = {.k = k};
    Region *region;
    const Stmt *list[9];
    int n = 0;

    if (!tile_does(s, TILE_WALKS) || s->u.tile.nregion > 4)
        return s;
    if (tile_plan(k, s)->how->takes_registers)
        return to_registers(k, s);
    g.region = s->u.tile.region;
    tile_access(s, note_access, &g);
    region = NEWN(ir->arena, Region, s->u.tile.nregion);
    for (int i = 0; i < s->u.tile.nregion; i++) {
        region[i] = s->u.tile.region[i];
        if (stays(&g, s, i))
            continue;
        Buffer *b = region[i].buf;
        bool said = tile_does(s, TILE_SAYS), back = b->scope == MEM_SHARED; /* to registers */
        const char *name = said ? b->name /* its lines name the tile */
                                : arena_printf(ir->arena, back ? "%s_regs" : "%s_shared", b->name);
        Buffer *t = kernel_buffer(k, name, b->type, back ? MEM_FRAGMENT : MEM_SHARED, b->rank,
                                  b->shape, s->span);
        if (is_read(&g, s, i))
            g.before[i] = unless_cleared(k, s, i, copy_between(k, s->span, b, t));
        if (g.how[i] & ACC_WRITE)
            g.after[i] = copy_between(k, s->span, t, b);
        region[i].buf = t;
        for (int j = 0; j < i; j++) /* the same tile twice: in place stays in place */
            if (s->u.tile.region[j].buf == b && region[j].buf != b) {
                region[i].buf = region[j].buf;
                g.before[i] = NULL;
                if (g.after[i])
                    g.after[i] = copy_between(k, s->span, region[j].buf, b);
            }
        g.n++;
    }
    if (g.n == 0)
        return s;
    for (int i = 0; i < 4; i++)
        if (g.before[i])
            list[n++] = g.before[i];
    Stmt *copy = NEW(ir->arena, Stmt);
    *copy = *s;
    copy->u.tile.region = region;
    list[n++] = copy;
    for (int i = 0; i < 4; i++)
        if (g.after[i])
            list[n++] = g.after[i];
    return stmt_block(ir, s->span, n, list);
}

void pass_lower_staging(Kernel *k)
{
    k->body = stmt_map(k->ir, k->body, stage, k);
}
