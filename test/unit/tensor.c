/* tensor.c -- arguments against parameters: dims solved, faults named. */
#include "rt/rt.h"
#include "test.h"

typedef struct {
    Arena *a;
    Diag diag;
    Func *f;
    Var *m, *n;
    SimArg args[4];
    void *tensor[4];
    int64_t value[16], by_var[64];
    Binding1 b;
    char text[256];
} Case;

static float memory[1024];

static const Expr *add_tensor(Case *c, const char *name, const Expr *rows, const Expr *cols)
{
    const Expr *shape[2] = {rows, cols};
    Param p = {.name = name,
               .buf = buffer_new(c->f->ir, name, DT_F32, MEM_GLOBAL, 2, shape, NO_SPAN)};
    vec_push(c->a, &c->f->params, p);
    return rows;
}

static SimArg matrix(int64_t rows, int64_t cols)
{
    return (SimArg){.data = memory, .rank = 2, .shape = {rows, cols}, .type = DT_F32};
}

/* f(A[m, n], B[n, 2 m], x: float32) */
static void make(Case *c)
{
    *c = (Case){.a = arena_new()};
    diag_init(&c->diag, c->a);
    Ir *ir = ir_new(c->a, names_new(), &c->diag, &op_words);
    c->f = func_new(ir, "f", NO_SPAN);
    c->m = var_new(ir, "m", DT_I32, NO_SPAN);
    c->n = var_new(ir, "n", DT_I32, NO_SPAN);
    vec_push(c->a, &c->f->dims, c->m);
    vec_push(c->a, &c->f->dims, c->n);
    const Expr *m = expr_var(ir, c->m), *n = expr_var(ir, c->n);
    add_tensor(c, "A", m, n);
    add_tensor(c, "B", n, expr_mul(ir, m, expr_int(ir, 2)));
    Param x = {.name = "x", .var = var_new(ir, "x", DT_F32, NO_SPAN)};
    vec_push(c->a, &c->f->params, x);
    c->args[0] = matrix(3, 5);
    c->args[1] = matrix(5, 6);
    c->args[2] = (SimArg){.type = DT_F64, .scalar = {.f = 1.5}};
    c->b = (Binding1){c->tensor, c->value, c->by_var};
}

static const char *refused(Case *c, int narg)
{
    CHECK(!arguments_bind(c->f, c->args, narg, &c->b, c->text, sizeof c->text));
    return c->text;
}

TEST(dims_are_solved_and_values_laid_out)
{
    Case c;
    double x;

    make(&c);
    CHECK(arguments_bind(c.f, c.args, 3, &c.b, c.text, sizeof c.text));
    CHECK_INT(c.value[0], 3);
    CHECK_INT(c.value[1], 5);
    memcpy(&x, &c.value[2], sizeof x);
    CHECK_NEAR(x, 1.5, 0);
    CHECK(c.tensor[0] == memory && c.tensor[1] == memory);
}

TEST(faults_name_the_parameter)
{
    Case c;

    make(&c);
    CHECK_HAS(refused(&c, 2), "takes 3 arguments, not 2 [argument-count]");
    c.args[1] = matrix(4, 6);
    CHECK_HAS(refused(&c, 3), "argument 'B': dimension 0 is 4; the kernel takes 5");
    CHECK_HAS(c.text, "[argument-shape]");
    c.args[1] = matrix(5, 7);
    CHECK_HAS(refused(&c, 3), "dimension 1 is 7; the kernel takes 6");
    c.args[1] = matrix(5, 6);
    c.args[1].type = DT_F16;
    CHECK_HAS(refused(&c, 3), "argument 'B' is float16; the kernel takes float32 [argument-dtype]");
    c.args[1] = matrix(5, 6);
    c.args[1].rank = 1;
    CHECK_HAS(refused(&c, 3), "has 1 dimensions; the kernel takes 2 [argument-rank]");
    c.args[1] = matrix(5, 6);
    c.args[1].data = NULL;
    CHECK_HAS(refused(&c, 3), "argument 'B' has no memory");
    CHECK_HAS(c.text, "[argument-null]");
}

TEST(strides_must_be_contiguous)
{
    Case c;

    make(&c);
    c.args[0].stride[0] = 8;
    c.args[0].stride[1] = 1;
    CHECK_HAS(refused(&c, 3), "argument 'A' is not contiguous");
    CHECK_HAS(c.text, "[argument-stride]");
    c.args[0].stride[0] = 5;
    CHECK(arguments_bind(c.f, c.args, 3, &c.b, c.text, sizeof c.text));
    c.args[0] = matrix(1, 5); /* the stride of one row says nothing */
    c.args[1] = matrix(5, 2);
    c.args[0].stride[0] = 99;
    c.args[0].stride[1] = 1;
    CHECK(arguments_bind(c.f, c.args, 3, &c.b, c.text, sizeof c.text));
}

TEST(an_empty_tensor_needs_no_memory)
{
    Case c;

    make(&c);
    c.args[0] = matrix(0, 5);
    c.args[1] = matrix(5, 0);
    c.args[0].data = c.args[1].data = NULL;
    CHECK(arguments_bind(c.f, c.args, 3, &c.b, c.text, sizeof c.text));
}

TEST(shapes_are_filled_from_what_is_given)
{
    Case c;
    bool given[3] = {false, true, true}, known[2] = {0};

    make(&c);
    c.args[0] = (SimArg){0};
    CHECK(arguments_solve(c.f, c.args, 3, given, c.by_var, known, c.text, sizeof c.text));
    CHECK_INT(c.args[0].rank, 2);
    CHECK_INT(c.args[0].shape[0], 3);
    CHECK_INT(c.args[0].shape[1], 5);
    CHECK_INT(c.args[0].type, DT_F32);
}

TEST(an_odd_extent_cannot_be_twice_a_dim)
{
    Case c;
    bool given[3] = {false, true, true}, known[2] = {0};

    make(&c);
    c.args[1] = matrix(5, 7);
    CHECK(!arguments_solve(c.f, c.args, 3, given, c.by_var, known, c.text, sizeof c.text));
    CHECK_HAS(c.text, "'m'");
    CHECK_HAS(c.text, "[argument-shape]");
}

TEST(a_dimension_has_to_fit_its_type)
{
    Case c;

    make(&c);
    c.args[0] = matrix(3, INT64_C(3000000000));
    c.args[1] = matrix(INT64_C(3000000000), 6);
    CHECK_HAS(refused(&c, 3), "argument 'A': 3000000000 (= n) is more than an int32 holds");
    CHECK_HAS(c.text, "[dim-too-large]");
    c.args[0] = matrix(1500000000, 5); /* twice that does not fit */
    c.args[1] = matrix(5, INT64_C(3000000000));
    CHECK_HAS(refused(&c, 3), "argument 'B': 3000000000 (= m * 2) is more than an int32 holds");
}
