/* mech.c -- what the cube core does: GEMMs, and the copies that feed and empty it.
 *
 * A tile that copies fill and GEMMs read, and nothing else, lies in L1; an accumulator that is
 * cleared, added to and stored lies in L0C.  Any other operand or result goes through global
 * memory from or to the vector core (cube.c). */
#include "pass/body_uses.h"
#include "target/ascend/ascend.h"
#include "target/cpu/emit.h"

enum { A, B, C };
enum { TRANS_A, TRANS_B, CLEAR };

static int64_t round_16(int64_t n)
{
    return (n + ROW_16 - 1) / ROW_16 * ROW_16;
}

/* The last two dimensions are whole, those before them are one. */
static bool is_slab(const Region *r)
{
    int rank = r->buf->rank;

    for (int d = 0; d < rank; d++) {
        int64_t n = region_extent_int(r, d), all;
        if (d < rank - 2
                ? n != 1
                : !expr_is_zero(r->at[d]) || !expr_is_int(r->buf->shape[d], &all) || n != all)
            return false;
    }
    return rank >= 2 && !r->buf->view_of && r->buf->scope != MEM_GLOBAL;
}

static bool types_fit(const Stmt *t)
{
    const Region *r = t->u.tile.region;
    DType a = r[A].buf->type, c = r[C].buf->type;
    bool plain = !tile_arg_int(t, TRANS_A, 0) && tile_arg_int(t, TRANS_B, 0);

    if (r[B].buf->type != a)
        return false;
    return ((a == DT_F16 || a == DT_BF16) && c == DT_F32) ||
           (a == DT_F32 && c == DT_F32 && plain) || (a == DT_I8 && c == DT_I32 && plain);
}

static bool tiles_fit(Kernel *k, const Stmt *t, const char **why)
{
    const Region *r = t->u.tile.region;

    if (!types_fit(t))
        *why = "the cube multiplies 16-bit floats, and float32 and int8 where k is the last "
               "dimension of both operands";
    else if (!is_slab(&r[A]) || !is_slab(&r[B]) || !is_slab(&r[C]) || r[C].buf->rank != 2 ||
             r[A].buf == r[C].buf || r[B].buf == r[C].buf || r[A].buf == r[B].buf)
        *why = "operands of the cube are whole tiles";
    else if (gemm_cuts(k, t))
        *why = "the last digits of operands do not count";
    else if (round_16(region_extent_int(&r[C], 0)) * round_16(region_extent_int(&r[C], 1)) * 4 >
                 ascend_space[IN_L0C].bytes ||
             round_16(MAX(region_extent_int(&r[C], 0), region_extent_int(&r[C], 1))) > 1024)
        *why = "the result does not fit into L0C";
    else
        return true;
    return false;
}

/* Rows of a tensor, and of them a part. */
static bool is_window(Kernel *k, const Region *r, const Region *tile)
{
    int dim[RANK_MOST];
    const Buffer *b = r->buf;
    int last = tile->buf->rank - 1;

    if (b->scope != MEM_GLOBAL || b->view_of || b->pointer || b->stride ||
        buffer_plan(k, b)->safe || region_dims(r, dim) != 2 || dim[1] != b->rank - 1)
        return false;
    return region_extent_int(r, dim[0]) == region_extent_int(tile, last - 1) &&
           region_extent_int(r, dim[1]) == region_extent_int(tile, last) &&
           cpu_region_can_be_viewed(k, r);
}

static bool feeds(Kernel *k, const Stmt *s, const Buffer *b)
{
    const Region *r = s->u.tile.region;
    return tile_does(s, TILE_COPIES) && r[1].buf == b && r[0].buf->type == b->type &&
           is_slab(&r[1]) && is_window(k, &r[0], &r[1]);
}

static bool empties(Kernel *k, const Stmt *s, const Buffer *b)
{
    const Region *r = s->u.tile.region;

    if (!tile_does(s, TILE_COPIES))
        return false;
    DType to = r[1].buf->type;
    return r[0].buf == b && is_slab(&r[0]) && is_window(k, &r[1], &r[0]) &&
           (to == b->type || (b->type == DT_F32 && (to == DT_F16 || to == DT_BF16)));
}

static bool clears(const Stmt *s, const Buffer *b)
{
    return tile_does(s, TILE_FILLS) && s->u.tile.region[0].buf == b &&
           region_is_whole(&s->u.tile.region[0]) && expr_is_zero(s->u.tile.arg[0]);
}

/* Nothing but GEMMs and copies of its kind touch the tile. */
static bool is_cubes(Kernel *k, const Buffer *b, bool result)
{
    const BufferUses *n = buffer_uses(k, b);
    bool multiplied = false;

    for (int i = 0; i < n->by.n; i++) {
        const Stmt *s = n->by.at[i];
        if (s->kind != ST_TILE)
            return false;
        const Region *r = s->u.tile.region;
        bool gemm = tile_is_gemm(s) && (r[C].buf == b) == result &&
                    (result || r[A].buf == b || r[B].buf == b);
        if (!gemm && !(result ? clears(s, b) || empties(k, s, b) : feeds(k, s, b)))
            return false;
        multiplied |= gemm;
    }
    return multiplied && n->writes;
}

/* Rows of it start at multiples of a block: the vector core can move them. */
static bool rows_whole(const Region *r)
{
    int64_t cols = region_extent_int(r, r->buf->rank - 1);
    return cols * dtype_bits(r->buf->type) / 8 % BLOCK_BYTES == 0 && r->buf->rank == 2;
}

static bool gemm_fits(Kernel *k, const Stmt *t, const char **why)
{
    const Region *r = t->u.tile.region;

    if (!tiles_fit(k, t, why))
        return false;
    for (int i = A; i <= C; i++)
        if (!rows_whole(&r[i]) && !is_cubes(k, r[i].buf, i == C)) {
            *why = "rows of a tile do not start at multiples of 32 bytes";
            return false;
        }
    return true;
}

/* In L1 or L0C: the cube does all that is done with it. */
static bool is_inside(Kernel *k, const Buffer *b, bool result)
{
    const BufferUses *n = buffer_uses(k, b);
    const char *why;

    if (!is_cubes(k, b, result))
        return false;
    for (int i = 0; i < n->by.n; i++)
        if (tile_is_gemm(n->by.at[i]) && !gemm_fits(k, n->by.at[i], &why))
            return false;
    return true;
}

static bool can_multiply(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    const Hint *h = hint_find(t->u.tile.hints, "instruction");

    (void)who;
    if (h && h->text)
        diag_error(k->diag, t->span,
                   "T.%s_gemm is an instruction of NVIDIA's; T.gemm takes what "
                   "there is on %s [unsupported-here]",
                   h->text, k->machine->text);
    if (!gemm_fits(k, t, why))
        return false;
    *why = "the cube";
    return true;
}

static bool suits(Kernel *k, const Stmt *t)
{
    (void)k, (void)t;
    return true;
}

static const Stmt *lower_gemm(Kernel *k, ThreadGroup who, const Stmt *t)
{
    Ir *ir = k->ir;
    const Expr **arg = NEWN(ir->arena, const Expr *, 3);

    (void)who;
    for (int i = 0; i < 3; i++)
        arg[i] = i < t->u.tile.narg && t->u.tile.arg[i] ? t->u.tile.arg[i] : expr_bool(ir, false);
    return stmt_instr(ir, t->span, isa_find("cube.gemm"), 3, t->u.tile.region, 3, arg,
                      t->u.tile.id);
}

static bool can_move(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    const Region *r = t->u.tile.region;

    (void)who;
    if (feeds(k, t, r[1].buf) && is_inside(k, r[1].buf, false))
        *why = "global memory to L1";
    else if (empties(k, t, r[0].buf) && is_inside(k, r[0].buf, true))
        *why = "L0C to global memory";
    else
        return false;
    return true;
}

static const Stmt *lower_copy(Kernel *k, ThreadGroup who, const Stmt *t)
{
    (void)who;
    return stmt_instr(k->ir, t->span, isa_find("cube.copy"), 2, t->u.tile.region, 0, NULL,
                      t->u.tile.id);
}

static const Mech cube = {
    .name = "cube", .ops = OPS(gemm), .can = can_multiply, .suits = suits, .lower = lower_gemm};
static const Mech move = {.name = "mte", .ops = OPS(copy), .can = can_move, .lower = lower_copy};
static const Mech vector = {.name = "vector", .ops = OPS(gemm), .own_loops = true};

const Mech *const ascend_mechs[] = {&cube, &move, &vector, NULL};
