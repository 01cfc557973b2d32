/* check_plans.c -- are the plans possible: bytes on chip, layouts that lose no element.
 *
 * needs   FORM_LAYOUTS */
#include "pass/pass.h"
#include "pass/plan_shared.h"

/* For targets that name no limit: past this a shape is a slip, and every worker has one. */
static const int64_t CHIP_MOST = (int64_t)1 << 30;

int64_t kernel_shared_most(const Kernel *k)
{
    return k->machine->shared_block;
}

static int64_t buffer_bytes(Kernel *k, const Buffer *b)
{
    const Layout *l = buffer_plan(k, b)->layout;
    int64_t n = l ? layout_size(l) : buffer_static_size(b);
    return n < 0 ? -1 : dtype_bytes(b->type, n) * buffer_plan(k, b)->stages;
}

/* Notes at the largest shared tiles: these are what one can make smaller. */
static void note_largest(Kernel *k)
{
    enum { NOTES = 3 };
    int64_t below = INT64_MAX;
    const Buffer *told[NOTES] = {0};

    for (int i = 0; i < NOTES; i++) {
        const Buffer *b = NULL;
        for (int j = 0; j < k->buffers.n; j++) {
            const Buffer *c = k->buffers.at[j];
            bool seen = c == told[0] || c == told[1];
            if (c->scope == MEM_SHARED && !c->view_of && !seen && buffer_bytes(k, c) <= below &&
                (!b || buffer_bytes(k, c) > buffer_bytes(k, b)))
                b = c;
        }
        if (!b)
            return;
        told[i] = b;
        below = buffer_bytes(k, b);
        int stages = buffer_plan(k, b)->stages;
        diag_note(k->diag, b->span, "'%s' takes %lld bytes%s", b->name, (long long)below,
                  stages > 1 ? arena_printf(k->arena, ", for %d stages", stages) : "");
    }
}

void check_shared_bytes(Kernel *k, int64_t nbytes)
{
    int64_t most = kernel_shared_most(k);

    if (most && nbytes > most) {
        diag_error(k->diag, k->span,
                   "the tiles of this kernel take %lld bytes, those that are never in use together "
                   "in one place; target %s has %lld [on-chip-bytes]",
                   (long long)nbytes, k->machine->text, (long long)most);
        note_largest(k);
    }
}

static bool is_static(const Buffer *b)
{
    int64_t shape[RANK_MOST];
    return buffer_static_shape(b, shape);
}

/* Where the first element of `b` at bit `bit` of its tile lies, in bits; at: its indices. */
static int64_t place_of_bit(Kernel *k, const Buffer *b, int64_t bit, int64_t *at)
{
    const Layout *l = buffer_plan(k, b)->layout;
    int64_t shape[RANK_MOST], bits = dtype_bits(b->type), flat = bit / bits;

    if (!l || !buffer_static_shape(b, shape))
        return bit;
    for (int d = b->rank - 1; d >= 0; flat /= shape[d--])
        at[d] = flat % shape[d];
    return layout_eval(l, at) * bits + bit % bits;
}

/* Does every thread that holds the element at `a` by l hold that at `b` by m? */
static bool are_holders(const Layout *l, const int64_t *a, const Layout *m, const int64_t *b)
{
    for (int64_t i = 0; i < l->rep; i++) {
        int64_t thread = fragment_eval_thread(l, a, i), j = 0;
        if (i < m->rep && fragment_eval_thread(m, b, i) == thread) /* mostly */
            continue;
        while (j < m->rep && fragment_eval_thread(m, b, j) != thread)
            j++;
        if (j == m->rep)
            return false;
    }
    return true;
}

static bool is_compared(Kernel *k, const Buffer *b, const Buffer *root)
{
    const Layout *l = buffer_plan(k, b)->layout, *m = buffer_plan(k, root)->layout;

    if (b->scope == MEM_SHARED)
        return l || m;
    return b->scope == MEM_FRAGMENT && l && m && layout_is_fragment(l) && layout_is_fragment(m);
}

/* A view is the bytes of its root: two layouts must say so. */
static void check_view(Kernel *k, const Buffer *b)
{
    const Buffer *root = b->view_of;
    const Layout *l = buffer_plan(k, b)->layout, *m = buffer_plan(k, root)->layout;
    int64_t step = MAX(dtype_bits(b->type), dtype_bits(root->type));
    int64_t end = buffer_static_size(b) * dtype_bits(b->type), at[RANK_MOST], in[RANK_MOST];

    if (!is_compared(k, b, root))
        return;
    for (int64_t bit = 0; bit + step <= end; bit += step)
        if (place_of_bit(k, b, bit, at) != place_of_bit(k, root, bit, in) ||
            (b->scope == MEM_FRAGMENT &&
             !(are_holders(l, at, m, in) && are_holders(m, in, l, at)))) {
            diag_error(k->diag, b->span, "'%s' is a view of '%s', and what is done with them needs "
                       "two different layouts [layout-conflict]", b->name, root->name);
            diag_note(k->diag, root->span, "'%s' is declared here", root->name);
            return;
        }
}

void pass_check_plans(Kernel *k)
{
    int64_t total = 0;

    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        if (b->view_of)
            check_view(k, b);
        if (b->view_of || b->scope == MEM_GLOBAL || b->scope == MEM_VAR)
            continue;
        int64_t size = buffer_static_size(b);
        if (size > (int64_t)1 << 40 || (size < 0 && is_static(b)))
            diag_fail(k->diag, b->span, "'%s' is too large for any memory [on-chip-bytes]",
                      b->name);
        int64_t n = buffer_bytes(k, b);
        if (n < 0)
            diag_fail(k->diag, b->span,
                      "the shape of '%s' must be known at compile time [tile-shape]", b->name);
        const Layout *l = buffer_plan(k, b)->layout;
        if (l && buffer_plan(k, b)->pinned && !layout_is_injective(k->ir, l))
            diag_error(
                k->diag, b->span,
                "the layout given for '%s' puts two elements in one place [layout-collision]",
                b->name);
        total += n;
    }
    if (!kernel_shared_most(k) && total > CHIP_MOST)
        diag_error(k->diag, k->span, "the tiles of one block take %lld bytes; the most is %lld "
                   "[on-chip-bytes]", (long long)total, (long long)CHIP_MOST);
    if (kernel_shared_most(k))
        check_shared_bytes(k, shared_estimate(k, LIVE_LEAST, NULL, NULL));
}
