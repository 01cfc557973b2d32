/* lower_fences.c -- fences between ordinary stores and the asynchronous proxy.
 *
 * needs   FORM_SYNCED
 *
 * Matrix instructions of warpgroups and bulk stores read shared memory through another proxy.  What
 * threads stored there is seen by it only after a fence of the writer and a barrier; the barrier is
 * there already (lower_sync), so the fence stands before every barrier that such a store may
 * reach. */
#include "pass/pass.h"
#include "isa/isa.h"

typedef struct {
    Map read;    /* by the asynchronous proxy: root buffers */
    Map written; /* by threads */
} Proxy;

static bool is_async(const Stmt *s)
{
    const char *name = s->u.instr.isa->name;
    return !strncmp(name, "wgmma", 5) || !strncmp(name, "tma.store", 9);
}

static bool see(const Stmt *s, void *arg)
{
    Proxy *p = arg;

    if (s->kind == ST_STORE && s->u.store.buf->scope == MEM_SHARED)
        map_set(&p->written, buffer_root(s->u.store.buf), s);
    if (s->kind != ST_INSTR)
        return true;
    for (int i = 0; i < s->u.instr.nregion; i++) {
        const Buffer *b = s->u.instr.region[i].buf;
        if (b->scope != MEM_SHARED)
            continue;
        if (is_async(s) && s->u.instr.isa->effects[i] != 'w')
            map_set(&p->read, buffer_root(b), s);
        if (!is_async(s) && s->u.instr.isa->effects[i] != 'r' &&
            strncmp(s->u.instr.isa->name, "tma.", 4))
            map_set(&p->written, buffer_root(b), s);
    }
    return true;
}

static const Stmt *fence(Ir *ir, const Stmt *s, void *arg)
{
    (void)arg;
    if (s->kind != ST_CALL || s->u.call.which != INTRIN_SYNC_THREADS)
        return s;
    return stmt_seq(ir, stmt_call(ir, s->span, INTRIN_FENCE_PROXY, 0, NULL, 0, NULL, NULL, NULL), s);
}

void pass_lower_fences(Kernel *k)
{
    Proxy p = {0};
    bool meet = false;

    map_init(&p.read, k->scratch);
    map_init(&p.written, k->scratch);
    stmt_visit(k->body, see, &p);
    for (int i = 0; i < p.read.n; i++)
        meet |= p.read.at[i].key && map_has(&p.written, p.read.at[i].key);
    if (meet)
        k->body = stmt_map(k->ir, k->body, fence, NULL);
}
