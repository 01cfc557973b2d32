/* tile_kit.h -- for tests: small kernels from IR constructors, run as written and after lowering. */
#ifndef TL_TEST_TILE_KIT_H
#define TL_TEST_TILE_KIT_H

#include <stdlib.h>

#include "op/op.h"
#include "sim/sim.h"
#include "test.h"

enum { KIT_ARGS = 8 };

typedef struct {
    Arena *arena;
    Diag diag;
    Ir *ir;
    Func *f;
    Kernel *k;
    Builder body;
    SimArg arg[KIT_ARGS];
    int narg;
    SimOptions o;
    Str printed;
} Kit;

static inline Kit *kit_new(int gx, int gy)
{
    Arena *a = arena_new();
    Kit *t = NEW(a, Kit);
    t->arena = a;
    diag_init(&t->diag, a);
    t->ir = ir_new(a, names_new(), &t->diag, &op_words);
    t->f = func_new(t->ir, "main", NO_SPAN);
    t->k = kernel_new(t->f, "main_kernel", NO_SPAN);
    t->k->ngrid = 2;
    t->k->grid[0] = expr_int(t->ir, gx);
    t->k->grid[1] = expr_int(t->ir, gy);
    t->k->block[0] = var_new(t->ir, "bx", DT_I32, NO_SPAN);
    t->k->block[1] = var_new(t->ir, "by", DT_I32, NO_SPAN);
    build_open(&t->body, t->ir, NULL);
    t->o.check_uninit = true;
    str_init(&t->printed, a);
    t->o.print = &t->printed;
    return t;
}

static inline const Expr *kit_int(Kit *t, int64_t v)
{
    return expr_int(t->ir, v);
}

static inline const Expr *kit_block(Kit *t, int d)
{
    return expr_var(t->ir, t->k->block[d]);
}

static inline const Expr **kit_ints(Kit *t, int n, const int64_t *v)
{
    const Expr **e = NEWN(t->arena, const Expr *, n + 1);
    for (int i = 0; i < n; i++)
        e[i] = expr_int(t->ir, v[i]);
    return e;
}

/* A tensor parameter of constant shape with its data. */
static inline Buffer *kit_tensor(Kit *t, const char *name, DType type, int rank, const int64_t *shape,
                                 void *data)
{
    Buffer *b = buffer_new(t->ir, name, type, MEM_GLOBAL, rank, kit_ints(t, rank, shape), NO_SPAN);
    b->is_param = true;
    Param p = {.name = b->name, .buf = b};
    vec_push(t->arena, &t->f->params, p);
    SimArg *a = &t->arg[t->narg++];
    *a = (SimArg){.data = data, .rank = rank, .type = type};
    memcpy(a->shape, shape, sizeof(int64_t) * (size_t)rank);
    return b;
}

static inline Buffer *kit_tile(Kit *t, const char *name, DType type, MemScope scope, int rank,
                               const int64_t *shape)
{
    Buffer *b = buffer_new(t->ir, name, type, scope, rank, kit_ints(t, rank, shape), NO_SPAN);
    vec_push(t->arena, &t->k->buffers, b);
    return b;
}

#define SHAPE(...) ((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))), (const int64_t[]){__VA_ARGS__}

static inline Region kit_whole(Kit *t, Buffer *b)
{
    return region_whole(t->ir, b);
}

/* From `at` (one expression per dimension), `extent` long. */
static inline Region kit_region(Kit *t, Buffer *b, const Expr *const *at, const int64_t *extent)
{
    Region r = {b, NEWN(t->arena, const Expr *, b->rank + 1), kit_ints(t, b->rank, extent)};
    for (int d = 0; d < b->rank; d++)
        r.at[d] = at[d];
    return r;
}

/* Tile (row, col) of a matrix. */
static inline Region kit_tile_at(Kit *t, Buffer *b, const Expr *row, const Expr *col, int64_t m, int64_t n)
{
    const Expr *at[2] = {expr_mul(t->ir, row, expr_int(t->ir, m)), expr_mul(t->ir, col, expr_int(t->ir, n))};
    return kit_region(t, b, at, (int64_t[]){m, n});
}

static inline const Stmt *kit_op(Kit *t, const TileOp *op, int nregion, const Region *r, int narg,
                                 const Expr *const *arg, const char *text)
{
    return stmt_tile(t->ir, NO_SPAN, op, nregion, r, narg, arg, text ? ir_name(t->ir, text) : NULL,
                     (Hints){0});
}

static inline void kit_add(Kit *t, const Stmt *s)
{
    build_add(&t->body, s);
}

static inline void kit_copy(Kit *t, Region src, Region dst)
{
    kit_add(t, kit_op(t, &op_copy, 2, (Region[]){src, dst}, 0, NULL, NULL));
}

static inline void kit_fill(Kit *t, Buffer *b, const Expr *v)
{
    Region r = kit_whole(t, b);
    kit_add(t, kit_op(t, &op_fill, 1, &r, 1, &v, NULL));
}

static inline const Stmt *kit_lower_one(Ir *ir, const Stmt *s, void *arg)
{
    (void)ir;
    if (s->kind != ST_TILE)
        return s;
    const Stmt *r = s->u.tile.op->lower(arg, s);
    return r ? r : stmt_block(ir, s->span, 0, NULL);
}

static inline void kit_close(Kit *t)
{
    if (t->k->body == NULL)
        t->k->body = build_close(&t->body, NO_SPAN);
}

static inline bool kit_check_one(const Stmt *s, void *arg)
{
    Kernel *k = arg;
    if (s->kind == ST_TILE && s->u.tile.op->check)
        s->u.tile.op->check(k, s);
    return true;
}

/* Every operator's loops in place of the operator. */
static inline void kit_lower(Kit *t)
{
    kit_close(t);
    t->k->body = stmt_map(t->ir, t->k->body, kit_lower_one, t->k);
}

/* "" when the run was fine, else the tag of its first error. */
static inline const char *kit_run(Kit *t)
{
    Recover r;
    kit_close(t);
    if (recover_open(&r) == 0) {
        stmt_visit(t->k->body, kit_check_one, t->k);
        if (t->diag.nerror)
            diag_throw(&t->diag);
        sim_run(t->f, t->arg, t->narg, &t->o);
        recover_close(&r);
    }
    if (r.status == STATUS_OK)
        return "";
    if (r.status == STATUS_USER && t->diag.list.n)
        return t->diag.list.at[0].tag ? t->diag.list.at[0].tag : "?";
    fprintf(stderr, "status %d: %s\n", (int)r.status, r.text);
    return "bug";
}

static inline void kit_must_run(Kit *t)
{
    const char *tag = kit_run(t);
    if (*tag) {
        Str s;
        str_init(&s, t->arena);
        diag_render(&t->diag, &s, false);
        fputs(s.s, stderr);
    }
    CHECK_TEXT(tag, "");
}

/* Reproducible values in [-1, 1). */
static inline double kit_noise(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*seed >> 33) / (double)(1 << 30) - 1;
}

/* Fill packed storage of n elements; ints in [-8, 8). */
static inline void *kit_data(Kit *t, DType type, int64_t n, uint64_t seed)
{
    void *p = arena_alloc(t->arena, (size_t)dtype_bytes(type, n) + 16);
    for (int64_t i = 0; i < n; i++) {
        double v = kit_noise(&seed);
        int64_t x = (int64_t)(v * 8);
        num_store(type, p, i, num_round(type, v), dtype_is_unsigned(type) ? (x < 0 ? -x : x) : x);
    }
    return p;
}

static inline double kit_get(DType type, const void *p, int64_t i)
{
    double f = 0;
    int64_t n = 0;
    num_load(type, p, i, &f, &n);
    return dtype_is_float(type) ? f : (double)n;
}

#endif
