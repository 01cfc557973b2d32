/* op_random.c -- lowered operators against their meaning on random regions. */
#include "tile_kit.h"

#include <math.h>

static int64_t pick(uint64_t *seed, int64_t lo, int64_t hi)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return lo + (int64_t)((*seed >> 33) % (uint64_t)(hi - lo + 1));
}

static const DType types[] = {DT_F32, DT_F16, DT_BF16, DT_E4M3, DT_I32, DT_I8, DT_U8, DT_F64};

static DType pick_type(uint64_t *seed)
{
    return types[pick(seed, 0, COUNT(types) - 1)];
}

/* in -> tile -> fragment -> out at random offsets, some of them outside. */
static Kit *copies(uint64_t seed, char **out, int64_t *nbytes)
{
    Kit *t = kit_new((int)pick(&seed, 1, 3), (int)pick(&seed, 1, 2));
    int rank = (int)pick(&seed, 1, 3);
    int64_t shape[3], tile[3], big[3], n = 1, nout = 1;
    const Expr *from[3], *to[3];
    for (int d = 0; d < rank; d++) {
        shape[d] = pick(&seed, 1, 12);
        tile[d] = pick(&seed, 1, 9);
        big[d] = pick(&seed, 1, 12);
        n *= shape[d];
        nout *= big[d];
        const Expr *step = expr_mul(t->ir, kit_block(t, (int)pick(&seed, 0, 1)), kit_int(t, tile[d]));
        from[d] = expr_add(t->ir, step, kit_int(t, pick(&seed, -5, 5)));
        to[d] = expr_add(t->ir, step, kit_int(t, pick(&seed, -5, 5)));
    }
    DType a = pick_type(&seed), s = pick_type(&seed), f = pick_type(&seed), o = pick_type(&seed);
    *out = kit_data(t, o, nout, seed + 1);
    *nbytes = dtype_bytes(o, nout);
    Buffer *A = kit_tensor(t, "A", a, rank, shape, kit_data(t, a, n, seed));
    Buffer *O = kit_tensor(t, "O", o, rank, big, *out);
    Buffer *S = kit_tile(t, "S", s, MEM_SHARED, rank, tile);
    Buffer *F = kit_tile(t, "F", f, MEM_FRAGMENT, rank, tile);
    if (pick(&seed, 0, 1))
        buffer_plan(t->k, A)->safe = expr_const(t->ir, DT_I32, pick(&seed, -3, 3));
    kit_copy(t, kit_region(t, A, from, tile), kit_whole(t, S));
    kit_copy(t, kit_whole(t, S), kit_whole(t, F));
    kit_copy(t, kit_whole(t, F), kit_region(t, O, to, tile));
    if (pick(&seed, 0, 1))
        kit_copy(t, kit_region(t, A, to, tile), kit_region(t, O, from, tile));
    return t;
}

/* A tile reduced, scanned and combined back into memory. */
static Kit *reductions(uint64_t seed, char **out, int64_t *nbytes)
{
    static const char *const kinds[] = {"sum", "max", "min", "absmax"};
    Kit *t = kit_new(1, 1);
    int dim = (int)pick(&seed, 0, 1);
    int64_t tile[2] = {pick(&seed, 1, 9), pick(&seed, 1, 9)}, kept = tile[1 - dim];
    static const DType exact[] = {DT_I32, DT_I8, DT_I64, DT_U8};
    DType a = exact[pick(&seed, 0, 3)], r = exact[pick(&seed, 0, 3)];
    *out = kit_data(t, r, kept, seed + 1);
    *nbytes = dtype_bytes(r, kept);
    Buffer *A = kit_tensor(t, "A", a, 2, tile, kit_data(t, a, tile[0] * tile[1], seed));
    Buffer *O = kit_tensor(t, "O", r, 1, &kept, *out);
    Buffer *S = kit_tile(t, "S", a, MEM_SHARED, 2, tile), *C = kit_tile(t, "C", r, MEM_SHARED, 2, tile);
    Buffer *R = kit_tile(t, "R", r, MEM_FRAGMENT, 1, &kept);
    kit_copy(t, kit_whole(t, A), kit_whole(t, S));
    kit_copy(t, kit_whole(t, O), kit_whole(t, R));
    const Expr *scan[2] = {kit_int(t, pick(&seed, -2, 1)), expr_bool(t->ir, pick(&seed, 0, 1))};
    Region sr[2] = {kit_whole(t, S), kit_whole(t, C)}, rr[2] = {kit_whole(t, C), kit_whole(t, R)};
    kit_add(t, kit_op(t, &op_scan, 2, sr, 2, scan, pick(&seed, 0, 1) ? "sum" : "max"));
    const Expr *arg[2] = {kit_int(t, dim), expr_bool(t->ir, pick(&seed, 0, 1))};
    kit_add(t, kit_op(t, &op_reduce, 2, rr, 2, arg, kinds[pick(&seed, 0, 3)]));
    Region ar[2] = {kit_whole(t, R), kit_whole(t, O)};
    kit_add(t, kit_op(t, &op_atomic, 2, ar, 0, NULL, "add"));
    return t;
}

static void same_either_way(Kit *(*make)(uint64_t, char **, int64_t *), int count)
{
    for (int i = 0; i < count; i++) {
        char *want, *got;
        int64_t n;
        kit_must_run(make((uint64_t)i * 7919, &want, &n));
        Kit *t = make((uint64_t)i * 7919, &got, &n);
        kit_lower(t);
        kit_must_run(t);
        if (memcmp(want, got, (size_t)n) != 0)
            fprintf(stderr, "case %d\n", i);
        CHECK(memcmp(want, got, (size_t)n) == 0);
        arena_free(t->arena);
    }
}

TEST(copies)
{
    same_either_way(copies, 600);
}

TEST(reductions)
{
    same_either_way(reductions, 300);
}
