/* check.c -- --check-each must notice a pass that changes the answer, and only then. */
#include "api/api.h"
#include "test.h"

static const char text[] = "import tilelang.language as T\n"
                           "@T.prim_func\n"
                           "def f(A: T.Tensor((40,), 'float32'), B: T.Tensor((40,), 'float32'), C: "
                           "T.Tensor((40,), 'float32')):\n"
                           "    with T.Kernel(4, threads=32) as bx:\n"
                           "        for i in T.Parallel(10):\n"
                           "            C[bx * 10 + i] = A[bx * 10 + i] + B[bx * 10 + i]\n";

static void make(Build *b, Request *r)
{
    const char *why = "";

    *r = (Request){
        .file = "f.py", .text = text, .ntext = strlen(text), .stop_after = "check_kernel"};
    CHECK(target_parse(arena_new(), "cpu", &r->spec, &why));
    build_open_arenas(b, names_new());
    compile(b, r);
}

/* What a faulty pass would do: a sum of floats becomes a difference. */
static const Expr *negate_sums(Ir *ir, const Expr *e, void *arg)
{
    (void)arg;
    if (e->op == EX_ADD && dtype_is_float((DType)e->type))
        return expr_sub(ir, e->kid[0], e->kid[1]);
    return e;
}

static const Expr *in_expr(Ir *ir, const Expr *e, void *arg)
{
    return expr_map(ir, e, negate_sums, arg);
}

static void work(void)
{
    Build b;
    Request r;

    make(&b, &r);
    Kernel *k = b.func->kernels.at[0];
    Checker *c = checker_new(&b);
    CHECK(checker_see(c, k, &pass_table[3]));
    CHECK_INT(b.diag.nerror, 0);
    k->body = stmt_map_expr(b.ir, k->body, in_expr, NULL);
    CHECK(!checker_see(c, k, &pass_table[3]));
    CHECK_INT(b.diag.nerror, 1);
    CHECK_HAS(b.diag.list.at[b.diag.list.n - 1].tag, "pass-changed-answer");
    CHECK_HAS(b.diag.list.at[b.diag.list.n - 1].text, pass_table[3].name);
    build_free(&b);
}

TEST(a_changed_answer_is_noticed)
{
    Recover frame;

    if (recover_open(&frame) == 0) {
        work();
        recover_close(&frame);
    }
    CHECK_INT(frame.status, STATUS_OK);
}

static void tile_form(void)
{
    Build b;
    Request r;

    make(&b, &r);
    const Stmt *before = b.tile->kernels.at[0]->body;
    b.func->kernels.at[0]->body = NULL;
    buffer_plan(b.func->kernels.at[0], b.func->params.at[0].buf)->stages = 7;
    CHECK(b.tile->kernels.at[0]->body == before && before != NULL);
    CHECK_INT(buffer_plan(b.tile->kernels.at[0], b.func->params.at[0].buf)->stages, 1);
    build_free(&b);
}

TEST(the_tile_form_is_not_touched_by_passes)
{
    Recover frame;

    if (recover_open(&frame) == 0) {
        tile_form();
        recover_close(&frame);
    }
    CHECK_INT(frame.status, STATUS_OK);
}
