/* buffer.c -- tensors and tiles, and rectangular regions of them. */
#include "ir/ir.h"

typedef struct {
    const char *name;
    int depth;
} ScopeInfo;

static const ScopeInfo scopes[MEM_COUNT] = {
    [MEM_GLOBAL] = {"global", 0},
    [MEM_SHARED] = {"shared", 1},
    [MEM_FRAGMENT] = {"fragment", 2},
    [MEM_LOCAL] = {"local", 2},
    [MEM_VAR] = {"var", 2},
    [MEM_REDUCER] = {"reducer", 2},
    [MEM_BARRIER] = {"barrier", 1},
    [MEM_CLUSTER_BARRIER] = {"cluster_barrier", 1},
    [MEM_TMEM] = {"tmem", 2},
    [MEM_DESCRIPTOR] = {"descriptor", 2},
};

const char *mem_name(MemScope s)
{
    return scopes[s].name;
}

int mem_depth(MemScope s)
{
    return scopes[s].depth;
}

Buffer *buffer_new(Ir *ir, const char *name, DType t, MemScope s, int rank,
                   const Expr *const *shape, Span at)
{
    Buffer *b = NEW(ir->arena, Buffer);
    BUG(rank < 0 || rank > RANK_MOST, "a buffer of rank %d", rank);
    b->name = ir_name(ir, name);
    b->id = ir->nbuf++;
    b->type = t;
    b->scope = s;
    b->rank = rank;
    b->shape = NEWN(ir->arena, const Expr *, rank);
    for (int d = 0; d < rank; d++)
        b->shape[d] = shape[d];
    b->span = at;
    return b;
}

bool buffer_static_shape(const Buffer *b, int64_t *shape)
{
    for (int d = 0; d < b->rank; d++) {
        if (!expr_is_int(b->shape[d], &shape[d]))
            return false;
    }
    return true;
}

int64_t buffer_static_size(const Buffer *b)
{
    int64_t shape[RANK_MOST], n = 1;
    if (!buffer_static_shape(b, shape))
        return -1;
    for (int d = 0; d < b->rank; d++) {
        if (shape[d] < 0 || (shape[d] && n > INT64_MAX / shape[d]))
            return -1;
        n *= shape[d];
    }
    return n;
}

bool buffer_is_aligned(const Buffer *b)
{
    const Buffer *root = buffer_root(b);
    return !root->pointer && !root->unaligned;
}

const Buffer *buffer_root(const Buffer *b)
{
    while (b->view_of)
        b = b->view_of;
    return b;
}

Region region_whole(Ir *ir, Buffer *b)
{
    Region r = {b, NEWN(ir->arena, const Expr *, b->rank), NEWN(ir->arena, const Expr *, b->rank)};
    for (int d = 0; d < b->rank; d++) {
        r.at[d] = expr_int(ir, 0);
        r.extent[d] = b->shape[d];
    }
    return r;
}

bool region_is_whole(const Region *r)
{
    for (int d = 0; d < r->buf->rank; d++) {
        if (!expr_is_zero(r->at[d]) || r->extent[d] != r->buf->shape[d])
            return false;
    }
    return true;
}
