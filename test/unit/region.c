/* region.c -- which dimensions of two regions go together, and when an access needs a guard. */
#include "tile_kit.h"

static bool match(Kit *t, Region a, Region b, RegionMatch *m)
{
    return region_match(t->k, NO_SPAN, &a, &b, m);
}

TEST(ones_drop_out_and_the_rest_match_in_order)
{
    Kit *t = kit_new(1, 1);
    Buffer *A = kit_tile(t, "A", DT_F32, MEM_SHARED, SHAPE(1, 4, 1, 6));
    Buffer *B = kit_tile(t, "B", DT_F32, MEM_FRAGMENT, SHAPE(4, 6));
    RegionMatch m;
    CHECK(match(t, kit_whole(t, A), kit_whole(t, B), &m));
    CHECK_INT(m.n, 2);
    CHECK_INT(m.dim[0][0], 1);
    CHECK_INT(m.dim[0][1], 3);
    CHECK_INT(m.dim[1][0], 0);
    CHECK_INT(m.dim[1][1], 1);
}

TEST(an_element_takes_the_extents_of_the_other_side)
{
    Kit *t = kit_new(1, 1);
    float data[1];
    Buffer *A = kit_tensor(t, "A", DT_F32, SHAPE(100, 100, 100), data);
    Buffer *B = kit_tile(t, "B", DT_F32, MEM_SHARED, SHAPE(4, 6));
    const Expr *at[3] = {kit_int(t, 1), kit_int(t, 2), kit_int(t, 3)}, *vars[2], *point[3];
    RegionMatch m;
    Region a = kit_region(t, A, at, (int64_t[]){1, 1, 1});
    CHECK(match(t, a, kit_whole(t, B), &m));
    CHECK_INT(m.n, 2);
    CHECK_INT(m.dim[0][0], 1);
    vars[0] = kit_int(t, 10);
    vars[1] = kit_int(t, 20);
    region_point(t->ir, &a, &m, 0, vars, point);
    int64_t v;
    CHECK(expr_is_int(point[0], &v) && v == 1);
    CHECK(expr_is_int(point[1], &v) && v == 12);
    CHECK(expr_is_int(point[2], &v) && v == 23);
}

TEST(the_longer_extent_holds_where_there_is_room)
{
    Kit *t = kit_new(1, 1);
    float data[1];
    Buffer *A = kit_tensor(t, "A", DT_F32, SHAPE(100), data);
    Buffer *B = kit_tile(t, "B", DT_F32, MEM_SHARED, SHAPE(8));
    const Expr *zero = kit_int(t, 0);
    RegionMatch m;
    int64_t v;
    CHECK(match(t, kit_region(t, A, &zero, (int64_t[]){5}), kit_whole(t, B), &m));
    CHECK(expr_is_int(m.extent[0], &v) && v == 8);
    CHECK(!match(t, kit_region(t, A, &zero, (int64_t[]){9}), kit_whole(t, B), &m));
    CHECK_TEXT(t->diag.list.at[0].tag, "copy-shape");
}

TEST(guards_are_for_what_cannot_be_proved)
{
    Kit *t = kit_new(4, 1);
    float data[1];
    Buffer *A = kit_tensor(t, "A", DT_F32, SHAPE(64), data);
    Buffer *B = kit_tensor(t, "B", DT_F32, SHAPE(60), data);
    Facts *f = kernel_facts(t->k);
    const Expr *extent = kit_int(t, 16);
    Nest n;
    nest_open(t->k, &n, 1, &extent);
    nest_facts(t->k, &n, f);
    const Expr *at = expr_add(t->ir, expr_mul(t->ir, kit_block(t, 0), kit_int(t, 16)), n.at[0]);
    CHECK(region_guard(t->ir, f, A, &at) == NULL);
    const Expr *guard = region_guard(t->ir, f, B, &at);
    CHECK(guard != NULL && guard->op == EX_LT);
    at = expr_sub(t->ir, at, kit_int(t, 1));
    guard = region_guard(t->ir, f, A, &at);
    CHECK(guard != NULL && guard->op == EX_GE);
}

TEST(every_operator_is_in_the_table)
{
    for (int i = 0; i < (int)OP_COUNT; i++) {
        const TileOp *op = op_table[i];
        CHECK(op != NULL && op->id == i);
        CHECK(op_find(op->name) == op);
        CHECK(op->check && op->infer && op->lower && op->simulate && op->doc);
        CHECK(!op->effects != !op->access);
    }
    CHECK(op_find("no such operator") == NULL);
}

TEST(instructions_are_found_by_name)
{
    CHECK(isa_find("cpu.gemm") != NULL);
    CHECK_TEXT(isa_name(isa_find("cpu.pack")), "cpu.pack");
    CHECK(isa_find("nothing") == NULL);
}
