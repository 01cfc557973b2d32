/* private.c -- whose work a statement is, in a kernel written per thread: each thread's, or the
 * block's. */
#include "ir/tile.h"
#include "isa/isa.h"

typedef struct {
    bool own, shared;
} Writes;

static void note_write(void *arg, const Stmt *s, const Touch *t)
{
    MemScope m = t->buf->scope;
    bool own = m == MEM_LOCAL || m == MEM_VAR || m == MEM_DESCRIPTOR ||
               (tile_does(s, TILE_COPIES) && s->u.tile.region[0].buf->scope == MEM_LOCAL);

    if (t->expr || !touch_writes(t) || s->kind == ST_CALL ||
        (s->kind == ST_INSTR && t->how == ACC_WRITE))
        return;
    *(own ? &((Writes *)arg)->own : &((Writes *)arg)->shared) = true;
}

bool stmt_is_private(const Stmt *s)
{
    Writes w = {0};
    stmt_touches_all(s, note_write, &w);
    return w.own && !w.shared;
}
