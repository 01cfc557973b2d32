/* rows.c -- the problems of make bench-gpu, and which example does each. */
#include "gpu.h"

#define BOTH(family, M, N, K, quick)                                                               \
    {family, OP_GEMM, "bfloat16", "bfloat16", {M, N, K}, true, false, quick},                      \
    {family, OP_GEMM, "bfloat16", "bfloat16", {M, N, K}, false, false, false},                     \
    {family, OP_GEMM, "float16", "float16", {M, N, K}, true, false, false},                        \
    {family, OP_GEMM, "float16", "float16", {M, N, K}, false, false, false}
#define NT(family, M, N, K, quick)                                                                 \
    {family, OP_GEMM, "bfloat16", "bfloat16", {M, N, K}, true, false, quick}
#define ATTENTION(B, H, G, S, D, quick)                                                            \
    {"attention", OP_ATTENTION, "bfloat16", NULL, {B, H, G, S, D}, false, false, quick},           \
    {"attention", OP_ATTENTION, "bfloat16", NULL, {B, H, G, S, D}, false, true, quick}

#define SMALL(B, H, S, D)                                                                          \
    {"attention-s", OP_ATTENTION, "bfloat16", NULL, {B, H, H, S, D}, false, false, false},         \
    {"attention-s", OP_ATTENTION, "bfloat16", NULL, {B, H, H, S, D}, false, true, false}

const Row row_table[] = {
    BOTH("gemm", 2048, 2048, 2048, true),
    BOTH("gemm", 4096, 4096, 4096, true),
    BOTH("gemm", 8192, 8192, 8192, true),
    BOTH("gemm", 8192, 8192, 512, true),
    BOTH("gemm", 8192, 8192, 2048, false),
    BOTH("gemm", 16384, 16384, 8192, false),
    BOTH("gemm", 4096, 2112, 7168, true),
    BOTH("gemm", 4096, 24576, 1536, false),
    NT("small", 16, 7168, 2048, true),
    NT("small", 64, 7168, 2048, true),
    NT("small", 128, 7168, 2048, true),
    NT("small", 256, 7168, 2048, false),
    NT("small", 128, 2112, 7168, true),
    NT("odd", 4095, 4097, 1023, true),
    NT("odd", 129, 7170, 2050, true),
    NT("other", 1, 7168, 2048, false),
    NT("other", 32, 4096, 4096, false),
    NT("other", 96, 5120, 8192, false),
    NT("other", 192, 7168, 2048, false),
    NT("other", 77, 3000, 1504, false),
    NT("other", 512, 4096, 4096, false),
    NT("other", 1000, 1000, 1000, false),
    NT("other", 333, 1111, 2222, false),
    {"types", OP_GEMM, "float8_e4m3fn", "bfloat16", {4096, 4096, 4096}, true, false, true},
    {"types", OP_GEMM, "float8_e4m3fn", "bfloat16", {8192, 8192, 8192}, true, false, false},
    {"types", OP_GEMM, "int8", "int32", {4096, 4096, 4096}, true, false, true},
    {"types", OP_GEMM, "tfloat32", "float32", {4096, 4096, 4096}, true, false, true},
    ATTENTION(4, 16, 16, 4096, 128, true),
    ATTENTION(4, 32, 32, 4096, 64, false),
    ATTENTION(4, 8, 8, 4096, 256, false),
    ATTENTION(2, 32, 8, 4096, 128, false),
    SMALL(16, 16, 1024, 128),
    SMALL(32, 16, 512, 128),
    SMALL(16, 32, 1024, 64),
    SMALL(32, 32, 512, 64),
    {"memory", OP_COPY, "bfloat16", NULL, {16384, 16384}, false, false, true},
    {"memory", OP_SOFTMAX, "bfloat16", NULL, {4096, 32768}, false, false, true},
    {"memory", OP_RMSNORM, "bfloat16", NULL, {32768, 8192}, false, false, true},
    {"memory", OP_SWIGLU, "bfloat16", NULL, {16384, 8192}, false, false, true},
};
const int row_count = COUNT(row_table);

static const char *const op_names[] = {"gemm", "attention", "copy", "softmax", "rmsnorm", "swiglu"};

const char *op_name(Op op)
{
    return op_names[op];
}

static const char *short_type(const char *dtype)
{
    static const char *const names[][2] = {{"bfloat16", "bf16"}, {"float16", "f16"},
                                           {"tfloat32", "tf32"},  {"float8_e4m3fn", "e4m3"}};
    for (int i = 0; i < COUNT(names); i++)
        if (!strcmp(names[i][0], dtype))
            return names[i][1];
    return dtype;
}

void row_name(const Row *r, char *text, size_t n)
{
    const long long d[5] = {r->d[0], r->d[1], r->d[2], r->d[3], r->d[4]};

    if (r->op == OP_GEMM)
        snprintf(text, n, "%s %s %lldx%lldx%lld", short_type(r->dtype), r->nt ? "NT" : "NN", d[0],
                 d[1], d[2]);
    else if (r->op == OP_ATTENTION)
        snprintf(text, n, "%s B%lld H%lld/%lld S%lld D%lld%s", short_type(r->dtype), d[0], d[1],
                 d[2], d[3], d[4], r->causal ? " causal" : "");
    else
        snprintf(text, n, "%s %s %lldx%lld", op_name(r->op), short_type(r->dtype), d[0], d[1]);
}

double row_flops(const Row *r)
{
    const int64_t *d = r->d;

    if (r->op == OP_GEMM)
        return 2.0 * (double)d[0] * (double)d[1] * (double)d[2];
    if (r->op == OP_ATTENTION)
        return 4.0 * (double)(d[0] * d[1]) * (double)d[3] * (double)d[3] * (double)d[4] /
               (r->causal ? 2 : 1);
    return 0;
}

void recipe_set(Recipe *c, const char *name, const char *value)
{
    for (int i = 0; i < c->n; i++)
        if (!strcmp(c->defines[i].name, name)) {
            c->defines[i].value = value;
            return;
        }
    if (c->n < COUNT(c->defines))
        c->defines[c->n++] = (tl_define){name, value};
}

static void set_number(Recipe *c, const char *name, int64_t v)
{
    char *at = c->room[c->nroom++];
    snprintf(at, sizeof c->room[0], "%lld", (long long)v);
    recipe_set(c, name, at);
}

/* Rows of these are one block each, 32 elements a thread. */
static void set_row_tiles(const Row *r, Recipe *c)
{
    int64_t threads = 128;

    while (threads < 1024 && threads * 32 < r->d[1])
        threads *= 2;
    set_number(c, "block_M", 1);
    set_number(c, "threads", threads);
}

void row_recipe(const Row *r, Recipe *c)
{
    static const char *const files[] = {"examples/gemm.py",    "examples/flash_attention.py",
                                        "examples/copy.py",    "examples/softmax.py",
                                        "examples/rms_norm.py", "examples/swiglu.py"};
    *c = (Recipe){.file = files[r->op]};
    c->func = r->op == OP_GEMM ? r->nt ? "gemm_nt" : "gemm" : NULL;
    recipe_set(c, "dtype", r->dtype);
    if (r->op == OP_ATTENTION) {
        set_number(c, "B", r->d[0]);
        set_number(c, "H", r->d[1]);
        set_number(c, "groups", r->d[1] / r->d[2]);
        set_number(c, "S", r->d[3]);
        set_number(c, "D", r->d[4]);
        recipe_set(c, "causal", r->causal ? "True" : "False");
        return;
    }
    set_number(c, "M", r->d[0]);
    set_number(c, "N", r->d[1]);
    if (r->op == OP_SOFTMAX || r->op == OP_RMSNORM)
        set_row_tiles(r, c);
    if (r->op == OP_GEMM) {
        set_number(c, "K", r->d[2]);
        recipe_set(c, "out_dtype", r->out);
    }
}
