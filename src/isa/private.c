/* private.c -- whose work a statement is, in a kernel written per thread: each thread's, or the
 * block's. */
#include "ir/tile.h"
#include "isa/isa.h"

typedef struct {
    bool own, shared;
} Writes;

static void note_write(Writes *w, const Buffer *b)
{
    bool own = b->scope == MEM_LOCAL || b->scope == MEM_VAR || b->scope == MEM_DESCRIPTOR;
    *(own ? &w->own : &w->shared) = true;
}

static void see_access(void *arg, const Region *r, Access a)
{
    if (a & (ACC_WRITE | ACC_REDUCE))
        note_write(arg, r->buf);
}

static bool see_write(const Stmt *s, void *arg)
{
    Writes *w = arg;
    switch (s->kind) {
    case ST_STORE: note_write(w, s->u.store.buf); break;
    case ST_ATOMIC: note_write(w, s->u.atomic.buf); break;
    case ST_TILE:
        if (s->u.tile.op->traits & TILE_COPIES && s->u.tile.region[0].buf->scope == MEM_LOCAL)
            w->own = true;
        else
            s->u.tile.op->access(s, see_access, w);
        break;
    case ST_INSTR:
        for (int i = 0; i < s->u.instr.nregion; i++)
            if (s->u.instr.isa->effects[i] == 'a')
                note_write(w, s->u.instr.region[i].buf);
        break;
    default: break;
    }
    return !w->shared;
}

bool stmt_is_private(const Stmt *s)
{
    Writes w = {0};
    stmt_visit(s, see_write, &w);
    return w.own && !w.shared;
}
