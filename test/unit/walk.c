/* walk.c -- maps keep what did not change; substitution reaches everything. */
#include "ir_world.h"

static const char program[] =
    "func main:\n"
    "    dim n: int32\n"
    "    param A: float32[n, 8] global is_param\n"
    "    launch k:\n"
    "        grid bx: int32 = n\n"
    "        threads _ = 1, _ = 1, _ = 1\n"
    "        buffer B: float32[8] local\n"
    "        body:\n"
    "            for i in serial(0, 8):\n"
    "                x: float32 = A[bx, i]\n"
    "                if x < 1.0:\n"
    "                    B[i] = load(A[bx, i], i < n, 0.0) where bx < n\n"
    "                else:\n"
    "                    B[i] = x\n"
    "            fill #0(B[0:+8]) args(A[bx, 0])\n"
    "            while B[0] < 1.0:\n"
    "                atomic_add(A[bx, 0], B[0])\n"
    "            call sync_threads(bx)\n"
    "            assert bx < n text \"why\"\n"
    "            eval bx + 1\n";

static Kernel *kernel(World *w)
{
    return func_of(w, program)->kernels.at[0];
}

static const Stmt *same_stmt(Ir *ir, const Stmt *s, void *arg)
{
    (void)ir;
    ++*(int *)arg;
    return s;
}

static const Expr *same_expr(Ir *ir, const Expr *e, void *arg)
{
    (void)ir;
    ++*(int *)arg;
    return e;
}

TEST(maps_that_change_nothing_give_the_same_pointer)
{
    World w;
    int n = 0, m = 0;
    world_open(&w);
    Kernel *k = kernel(&w);
    CHECK(stmt_map(w.ir, k->body, same_stmt, &n) == k->body);
    CHECK(stmt_map_expr(w.ir, k->body, same_expr, &m) == k->body);
    CHECK(n > 10 && m > 15);
    CHECK(stmt_subst(w.ir, k->body, var_new(w.ir, "z", DT_I32, NO_SPAN), expr_int(w.ir, 3)) ==
          k->body);
    world_close(&w);
}

static const Stmt *drop_stores(Ir *ir, const Stmt *s, void *arg)
{
    (void)ir, (void)arg;
    return s->kind == ST_STORE ? NULL : s;
}

TEST(null_removes_a_statement)
{
    World w;
    world_open(&w);
    Kernel *k = kernel(&w);
    const Stmt *s = stmt_map(w.ir, k->body, drop_stores, NULL);
    CHECK(s != k->body);
    const Stmt *branch = s->u.block.list[0]->u.loop.body->u.block.list[1];
    CHECK_INT(branch->kind, ST_IF);
    CHECK(stmt_is_empty(branch->u.branch.then));
    CHECK(!branch->u.branch.orelse);
    CHECK(s->u.block.list[1] == k->body->u.block.list[1]);
    world_close(&w);
}

TEST(substitution_reaches_every_place)
{
    World w;
    world_open(&w);
    Kernel *k = kernel(&w);
    Str s;
    str_init(&s, w.arena);
    print_stmt(&s, w.ir, stmt_subst(w.ir, k->body, k->block[0], expr_int(w.ir, 7)), 0);
    CHECK(!strstr(s.s, "bx"));
    CHECK_HAS(s.s, "B[i] = load(A[7, i], i < n, 0.0) where 7 < n\n");
    CHECK_HAS(s.s, "fill #0(B[0:+8]) args(A[7, 0])\n");
    CHECK_HAS(s.s, "atomic_add(A[7, 0], B[0])\n");
    CHECK_HAS(s.s, "call sync_threads(7)\nassert 7 < n text \"why\"\neval 8\n");
    world_close(&w);
}

TEST(buffers_are_replaced)
{
    World w;
    world_open(&w);
    Kernel *k = kernel(&w);
    Buffer *b = k->buffers.at[0];
    Buffer *c = buffer_new(w.ir, "C", b->type, b->scope, b->rank, (const Expr *const *)b->shape,
                           NO_SPAN);
    Map bufs;
    map_init(&bufs, w.arena);
    map_set(&bufs, b, c);
    const char *text = stmt_text(&w, stmt_subst_map(w.ir, k->body, NULL, &bufs));
    CHECK(!strstr(text, "B["));
    CHECK_HAS(text, "while C[0] < 1.0:\n    atomic_add(A[bx, 0], C[0])\n");
    CHECK_HAS(text, "fill #0(C[0:+8])");
    world_close(&w);
}

/* x and y become each other, and z becomes 1. */
static const Expr *turn_names(Ir *ir, const Expr *e, void *arg)
{
    const Expr *const *name = arg; /* x, y, z */
    return e == name[2] ? expr_int(ir, 1) : e == name[0] ? name[1] : e == name[1] ? name[0] : e;
}

TEST(what_is_folded_away_is_not_mapped_twice)
{
    World w;
    world_open(&w);
    const Expr *x = var_of(&w, "x", DT_I32), *y = var_of(&w, "y", DT_I32);
    const Expr *name[] = {x, y, var_of(&w, "z", DT_I32)};
    CHECK(expr_map(w.ir, expr_mul(w.ir, x, name[2]), turn_names, name) == y);
    world_close(&w);
}

static const Expr *count_nodes(Ir *ir, const Expr *e, void *arg)
{
    (void)ir;
    *(int *)arg += e->nkid > 0;
    return e;
}

TEST(shared_trees_cost_once)
{
    World w;
    int n = 0;
    world_open(&w);
    const Expr *e = var_of(&w, "x", DT_I32);
    for (int i = 0; i < 18; i++)
        e = expr_mul(w.ir, e, e);
    CHECK(expr_map(w.ir, e, count_nodes, &n) == e);
    CHECK_INT(n, 18);
    n = 0;
    CHECK(expr_map(w.ir, e, count_nodes, &n) == e); /* the table of the first round is used again */
    CHECK_INT(n, 18);
    world_close(&w);
}

static const Expr *nested(Ir *ir, const Expr *e, void *arg)
{
    int n = 0;
    (void)arg;
    expr_map(ir, e, count_nodes, &n);
    return e->op == EX_INT ? expr_int(ir, e->u.i + 1) : e;
}

TEST(maps_may_be_nested)
{
    World w;
    world_open(&w);
    const Expr *x = var_of(&w, "x", DT_I32);
    const Expr *e = expr_mul(w.ir, expr_add(w.ir, x, expr_int(w.ir, 2)), expr_int(w.ir, 5));
    CHECK_TEXT(text_of(&w, expr_map(w.ir, e, nested, NULL)), "(x + 3) * 6");
    world_close(&w);
}

static bool count_loads(const Expr *e, void *arg)
{
    *(int *)arg += e->op == EX_LOAD;
    return true;
}

static bool visit(const Stmt *s, void *arg)
{
    stmt_visit_expr(s, count_loads, arg);
    return s->kind != ST_WHILE;
}

TEST(visits_stop_where_told)
{
    World w;
    int n = 0;
    world_open(&w);
    stmt_visit(kernel(&w)->body, visit, &n);
    CHECK_INT(n, 4); /* let, guarded load, fill's argument, the while's condition; not its body */
    world_close(&w);
}

/* i * 16 + j with 0 for i and i for j is i: what was put in is not replaced. */
TEST(variables_are_replaced_all_at_once)
{
    World w;
    Map m;

    world_open(&w);
    const Expr *i = var_of(&w, "i", DT_I32), *j = var_of(&w, "j", DT_I32);
    const Expr *e = expr_add(w.ir, expr_mul(w.ir, i, expr_int(w.ir, 16)), j);
    map_init(&m, w.ir->arena);
    map_set(&m, i->u.var, expr_int(w.ir, 0));
    map_set(&m, j->u.var, i);
    CHECK(expr_subst_map(w.ir, e, &m, NULL) == i);
    map_set(&m, i->u.var, j);
    CHECK(expr_subst_map(w.ir, expr_mul(w.ir, i, j), &m, NULL) == expr_mul(w.ir, j, i));
    world_close(&w);
}
