/* stmt.c -- statement constructors. */
#include "ir_world.h"

static Buffer *buffer(World *w, const char *name, DType t, int64_t n)
{
    const Expr *shape = expr_int(w->ir, n);
    return buffer_new(w->ir, name, t, MEM_LOCAL, 1, &shape, NO_SPAN);
}

TEST(blocks_flatten)
{
    World w;
    world_open(&w);
    Ir *ir = w.ir;
    const Stmt *a = stmt_simple(ir, NO_SPAN, ST_BREAK), *b = stmt_simple(ir, NO_SPAN, ST_CONTINUE);
    const Stmt *inner = stmt_block(ir, NO_SPAN, 2, (const Stmt *[]){a, b});
    const Stmt *outer = stmt_block(ir, NO_SPAN, 3, (const Stmt *[]){inner, NULL, a});
    CHECK_INT(outer->u.block.n, 3);
    CHECK(outer->u.block.list[1] == b);
    CHECK(stmt_block(ir, NO_SPAN, 1, &a) == a);
    CHECK(stmt_is_empty(stmt_block(ir, NO_SPAN, 0, NULL)) && stmt_is_empty(NULL));
    CHECK(stmt_seq(ir, NULL, a) == a && stmt_seq(ir, a, NULL) == a);
    CHECK_INT(stmt_seq(ir, inner, a)->u.block.n, 3);
    world_close(&w);
}

TEST(values_take_the_type_of_the_place)
{
    World w;
    world_open(&w);
    Ir *ir = w.ir;
    Buffer *b = buffer(&w, "B", DT_F16, 8);
    const Expr *at = expr_int(ir, 0);
    CHECK_TEXT(stmt_text(&w, stmt_store(ir, NO_SPAN, b, &at, 1, expr_int(ir, 1))),
               "B[0] = float16(1.0)\n");
    const Expr *g = expr_bool(ir, true);
    CHECK(!stmt_store_guarded(ir, NO_SPAN, b, &at, 1, expr_int(ir, 1), g)->u.store.guard);
    Var *v = var_new(ir, "v", DT_I64, NO_SPAN);
    CHECK_TEXT(stmt_text(&w, stmt_let(ir, NO_SPAN, v, var_of(&w, "x", DT_I32))),
               "v: int64 = cast(int64, x)\n");
    const Stmt *loop = stmt_for(ir, NO_SPAN, LOOP_SERIAL, v, expr_int(ir, 0), expr_int(ir, 9),
                                (Hints){0}, NULL);
    CHECK_INT(loop->u.loop.extent->type, DT_I64);
    CHECK(stmt_is_empty(loop->u.loop.body));
    world_close(&w);
}

TEST(tile_operators_are_numbered)
{
    World w;
    world_open(&w);
    Buffer *b = buffer(&w, "B", DT_F16, 8);
    Region r = region_whole(w.ir, b);
    const TileOp *fill = op_find("fill");
    const Expr *zero = expr_zero(w.ir, DT_F16);
    const Stmt *s = stmt_tile(w.ir, NO_SPAN, fill, 1, &r, 1, &zero, NULL, (Hints){0});
    const Stmt *t = stmt_tile(w.ir, NO_SPAN, fill, 1, &r, 1, &zero, NULL, (Hints){0});
    CHECK_INT(s->u.tile.id, 0);
    CHECK_INT(t->u.tile.id, 1);
    CHECK(region_is_whole(&s->u.tile.region[0]));
    CHECK_TEXT(stmt_text(&w, t), "fill #1(B[0:+8]) args(float16(0.0))\n");
    world_close(&w);
}

TEST(hints_are_found)
{
    World w;
    world_open(&w);
    Hint list[] = {{.name = "num_stages", .value = expr_int(w.ir, 3)}, {.name = "policy", .text = "x"}};
    Hints h = {list, 2};
    CHECK_INT(hint_int(h, "num_stages", 1), 3);
    CHECK_INT(hint_int(h, "policy", 7), 7);
    CHECK_INT(hint_int(h, "missing", 9), 9);
    CHECK(hint_find(h, "policy") == &list[1]);
    world_close(&w);
}

TEST(sizes_of_buffers)
{
    World w;
    world_open(&w);
    const Expr *shape[] = {expr_int(w.ir, 3), expr_int(w.ir, 5)};
    Buffer *b = buffer_new(w.ir, "B", DT_F32, MEM_SHARED, 2, shape, NO_SPAN);
    CHECK_INT(buffer_static_size(b), 15);
    shape[1] = var_of(&w, "n", DT_I32);
    CHECK_INT(buffer_static_size(buffer_new(w.ir, "C", DT_F32, MEM_SHARED, 2, shape, NO_SPAN)), -1);
    Buffer *v = buffer_new(w.ir, "V", DT_F32, MEM_VAR, 0, NULL, NO_SPAN);
    CHECK_INT(buffer_static_size(v), 1);
    v->view_of = b;
    CHECK(buffer_root(v) == b);
    world_close(&w);
}
