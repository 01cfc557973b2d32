/* half.c -- float16 as a type of WGSL: what may lie in arrays of f16 (-f16).
 *
 * An element of such an array is read and written by itself, without atomics on its word.  It takes
 * an array that nobody sees as something else: WGSL has no pointers, and naga no bitcast of a word
 * to two halves.  Values are f32 all the same: sums in f16 would be other sums. */
#include "target/webgpu/webgpu.h"

static void bar(Wgsl *w, const Buffer *b)
{
    map_set(&w->worded, buffer_root(b), w);
}

/* Atomics, and what is called with an address, which may take it for words. */
static bool see_words(const Stmt *s, void *arg)
{
    if (s->kind == ST_ATOMIC)
        bar(arg, s->u.atomic.buf);
    for (int i = 0; s->kind == ST_CALL && i < s->u.call.n; i++)
        if (s->u.call.arg[i]->op == EX_ADDR)
            bar(arg, s->u.call.arg[i]->u.buf);
    return true;
}

static bool in_shared(const Buffer *b)
{
    return b->scope == MEM_SHARED && !b->view_of;
}

static bool overlap(Kernel *k, const Buffer *a, const Buffer *b)
{
    int64_t x = buffer_plan(k, a)->offset, y = buffer_plan(k, b)->offset;

    return x < y + dtype_bytes(b->type, stored_elems(k, b)) &&
           y < x + dtype_bytes(a->type, stored_elems(k, a));
}

/* Tiles that share bytes are one variable: all of them halves, or all of them words. */
static bool bar_neighbours(Wgsl *w, Kernel *k, const Buffer *a)
{
    bool more = false;

    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        if (b == a || !in_shared(b) || !overlap(k, a, b) || !wgsl_is_half(w, b))
            continue;
        bar(w, b);
        more = true;
    }
    return more;
}

void wgsl_see_halves(Wgsl *w, Kernel *k)
{
    stmt_visit(k->body, see_words, w);
    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        if (b->type != buffer_root(b)->type)
            bar(w, b);
    }
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < k->buffers.n; i++)
            if (in_shared(k->buffers.at[i]) && !wgsl_is_half(w, k->buffers.at[i]))
                more |= bar_neighbours(w, k, k->buffers.at[i]);
    }
}

bool wgsl_is_half(const Wgsl *w, const Buffer *b)
{
    return w->e.spec->half_type && b->type == DT_F16 && b->scope != MEM_VAR &&
           !map_has(&w->worded, buffer_root(b));
}
