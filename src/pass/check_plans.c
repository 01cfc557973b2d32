/* check_plans.c -- are the plans possible: bytes on chip, layouts that lose no element.
 *
 * needs   FORM_LAYOUTS
 *
 * A target with limits bans a mechanism here, with its reason, and planning starts again. */
#include "pass/pass.h"

static int64_t buffer_bytes(Kernel *k, const Buffer *b)
{
    const Layout *l = buffer_plan(k, b)->layout;
    int64_t n = l ? layout_size(l) : buffer_static_size(b);
    return n < 0 ? -1 : dtype_bytes(b->type, n);
}

void pass_check_plans(Kernel *k)
{
    int64_t total = 0;

    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        if (b->view_of || b->scope == MEM_GLOBAL || b->scope == MEM_VAR)
            continue;
        int64_t n = buffer_bytes(k, b);
        if (n < 0)
            diag_fail(k->diag, b->span, "the shape of '%s' must be known at compile time [tile-shape]",
                      b->name);
        const Layout *l = buffer_plan(k, b)->layout;
        if (l && buffer_plan(k, b)->pinned && !layout_is_injective(k->ir, l))
            diag_error(k->diag, b->span,
                       "the layout given for '%s' puts two elements in one place [layout-collision]",
                       b->name);
        if (!(k->target->features & FEAT_WARPS) || (b->scope != MEM_FRAGMENT && b->scope != MEM_LOCAL))
            total += n; /* there they are in registers */
    }
    if (k->target->shared_bytes && total > k->target->shared_bytes)
        diag_error(k->diag, k->span,
                   "the tiles of this kernel take %lld bytes; target %s has %lld [on-chip-bytes]",
                   (long long)total, k->target->name, (long long)k->target->shared_bytes);
}
