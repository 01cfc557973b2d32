/* plan_shared.c -- place on-chip buffers in the block's arena, reusing space by liveness.
 *
 * needs   FORM_FLAT
 * gives   FORM_PLACED
 *
 * Buffers that are not live together (liveness.c) may overlap; within an iteration of a loop only
 * where they would not fit otherwise, since that takes barriers in the loop.  First fit, largest
 * first, ties by order of allocation: the result depends on nothing else. */
#include "pass/pass.h"
#include "pass/plan_shared.h"
#include "ir/config.h"

enum { ALIGN = 64, BARRIER_BYTES = 32 };

static int64_t storage_bytes(Kernel *k, const Buffer *b)
{
    const Layout *l = buffer_plan(k, b)->layout;
    int64_t n = l ? layout_size(l) : buffer_static_size(b);
    BUG(n < 0, "'%s' has no constant size", b->name);
    if (b->scope == MEM_BARRIER || b->scope == MEM_CLUSTER_BARRIER)
        return n * BARRIER_BYTES;
    return dtype_bytes(b->type, n);
}

/* Targets with threads keep these in each thread's registers, not in the block's arena. */
static bool in_registers(const Kernel *k, const Buffer *b)
{
    return kernel_on_warps(k) && (b->scope == MEM_FRAGMENT || b->scope == MEM_LOCAL);
}

/* Swizzles of bulk copies and of a group's MMAs repeat every 8 rows: some part of
 * swizzle_align bytes of the address, which such a tile has at least. */
int64_t shared_alignment(const Kernel *k, const Buffer *b, int64_t nbytes)
{
    int64_t align = k->machine->swizzle_align, least = MAX(k->machine->tile_align, ALIGN);

    if (align <= ALIGN || b->scope != MEM_SHARED)
        return ALIGN;
    while (align > least && align > nbytes)
        align /= 2;
    return align;
}

/* Liveness, unless no two tiles may have the same bytes. */
static void find_ranges(Kernel *k, Live *list, int n, LiveScope scope)
{
    bool apart = config_on(k->func, CONFIG_disable_shared_memory_reuse) ||
                 config_on(k->func, CONFIG_disable_storage_rewrite) ||
                 !config_on(k->func, CONFIG_merge_static_smem);
    live_find(k, list, n, scope);
    for (int i = 0; apart && i < n; i++) {
        list[i].last = list[i].first >= 0 ? INT32_MAX : list[i].last;
        list[i].first = MIN(list[i].first, 0);
    }
}

int64_t shared_estimate(Kernel *k, LiveScope scope, StagesFn *stages, void *arg)
{
    Live *list = NEWN(k->scratch, Live, k->buffers.n + 1);
    int n = 0;

    for (int i = 0; i < k->buffers.n; i++) {
        Buffer *b = k->buffers.at[i];
        const Layout *l = buffer_plan(k, b)->layout;
        if (b->scope != MEM_SHARED || b->view_of)
            continue;
        int64_t size = MAX(l ? layout_size(l) : buffer_static_size(b), 0);
        int64_t each = dtype_bytes(b->type, size), align = shared_alignment(k, b, each);
        int times = MAX(stages ? stages(arg, b) : buffer_plan(k, b)->stages, 1);
        each = (each + align - 1) / align * align;
        list[n++] = (Live){.buf = b, .nbytes = each * times, .align = align};
    }
    find_ranges(k, list, n, scope);
    return live_place(k->scratch, list, n);
}

static void report(const Kernel *k, const Live *list, int n)
{
    Str *out = config_report(k->func, CONFIG_debug_merge_shared_memory_allocations);

    for (int i = 0; out && i < n; i++)
        if (list[i].first >= 0)
            str_printf(out, "%s: '%s' has bytes %lld to %lld of %lld\n", k->name, list[i].buf->name,
                       (long long)list[i].offset, (long long)(list[i].offset + list[i].nbytes),
                       (long long)k->arena_bytes);
}

/* ---- tensor memory --------------------------------------------------------------------------- */

enum { SLOT_BYTES = 16 };

typedef struct {
    const Buffer *tile;
    bool found;
} FindSum;

static bool find_sum(const Stmt *s, void *arg)
{
    enum { C = 2 };
    FindSum *f = arg;
    const Region *r = NULL;

    if (s->kind == ST_TILE && tile_does(s, TILE_MMA))
        r = s->u.tile.region;
    if (s->kind == ST_INSTR && s->u.instr.nregion > C && s->u.instr.isa->effects[C] != 'r')
        r = s->u.instr.region;
    f->found |= r && buffer_root(r[C].buf) == f->tile;
    return !f->found;
}

int tensor_in_column(const Kernel *k, const Buffer *b)
{
    FindSum f = {buffer_root(b), false};

    if (dtype_bits(b->type) == 16)
        stmt_visit(k->body, find_sum, &f);
    return f.found ? 1 : 32 / dtype_bits(b->type);
}

int64_t tensor_columns(const Kernel *k, const Buffer *b)
{
    int64_t shape[RANK_MOST], n = 1, lanes = k->machine->tensor_lanes;
    int64_t each = tensor_in_column(k, b);

    if (!buffer_static_shape(b, shape) || b->rank < 2)
        return INT32_MAX;
    for (int d = 0; d < b->rank - 2; d++)
        n *= shape[d];
    return n * ((shape[b->rank - 2] + lanes - 1) / lanes) *
           ((shape[b->rank - 1] + each - 1) / each);
}

int64_t tensor_columns_left(const Kernel *k)
{
    int64_t n = k->machine->tensor_columns;

    for (int i = 0; i < k->buffers.n; i++)
        if (k->buffers.at[i]->scope == MEM_TMEM && !k->buffers.at[i]->view_of)
            n -= tensor_columns(k, k->buffers.at[i]);
    return n;
}

/* One tile beside the other; a block asks for a power of two of columns, and is told where they are
 * in the last bytes of its arena. */
static void place_tensors(Kernel *k)
{
    int64_t end = 0;
    int n = k->machine->tensor_least;

    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        BufferPlan *p = buffer_plan(k, b);
        if (b->scope != MEM_TMEM || b->view_of)
            continue;
        p->offset = end;
        p->nbytes = tensor_columns(k, b);
        p->placed = true;
        end += p->nbytes;
        if (end > k->machine->tensor_columns)
            diag_fail(k->diag, b->span, "with '%s' the tiles of this kernel take %lld columns of "
                      "tensor memory; %s has %d [on-chip-bytes]", b->name, (long long)end,
                      k->machine->name, k->machine->tensor_columns);
    }
    while (n < end)
        n *= 2;
    k->tensor_columns = end ? n : 0;
}

void pass_plan_shared(Kernel *k)
{
    Live *list = NEWN(k->scratch, Live, k->buffers.n + 1);
    int n = 0;

    for (int i = 0; i < k->buffers.n; i++) {
        Buffer *b = k->buffers.at[i];
        if (b->scope == MEM_VAR || b->scope == MEM_GLOBAL || b->view_of || in_registers(k, b) ||
            (b->scope == MEM_TMEM && kernel_has(k, HAS_TENSOR_MEMORY)))
            continue;
        int64_t nbytes = storage_bytes(k, b);
        list[n++] = (Live){.buf = b, .nbytes = nbytes, .align = shared_alignment(k, b, nbytes)};
    }
    if (kernel_has(k, HAS_TENSOR_MEMORY))
        place_tensors(k);
    int64_t most = kernel_shared_most(k), end = 0, slot = k->tensor_columns ? SLOT_BYTES : 0;
    int from = config_on(k->func, CONFIG_enable_aggressive_shared_memory_merge) ? LIVE_ITERS
                                                                                 : LIVE_GROUPS;
    for (int t = from; t <= LIVE_ITERS && (t == from || (most && end + slot > most)); t++) {
        find_ranges(k, list, n, (LiveScope)t);
        end = live_place(k->scratch, list, n);
    }
    k->arena_bytes = (end + slot + ALIGN - 1) / ALIGN * ALIGN;
    for (int i = 0; i < n; i++) {
        BufferPlan *p = buffer_plan(k, list[i].buf);
        p->nbytes = list[i].nbytes;
        p->placed = list[i].first >= 0;
        p->offset = list[i].offset;
    }
    report(k, list, n);
    check_shared_bytes(k, k->arena_bytes);
}
