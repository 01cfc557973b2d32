/* peak.c -- what this machine can do: a loop of multiply-adds, and a triad over large arrays.
 *
 * Both are small C kernels that go through the same compiler, cache and thread pool as any other,
 * so a roofline compares like with like. */
#include <stdlib.h>
#include "target/cpu/level.h"
#include "target/cpu/rt/cpu.h"
#include "device_cpu.h"

enum { TRIES = 5, ROUNDS = 1 << 20, ACCUMULATORS = 12, TILE_ACCUMULATORS = 4 };
static const int64_t stream_bytes = 96 << 20; /* of each of three arrays */

/* One step of each accumulator. */
typedef struct {
    const char *element;  /* C type of a lane */
    const char *step;     /* on acc, x, y */
    double ops;           /* of a step, per byte of the vector; or of an instruction on tiles */
    const char *tiles;    /* that instruction, or NULL */
} PeakLoop;

static const PeakLoop loop_f32 = {"float", "acc = acc * x + y", 2.0 / 4, NULL};
static const PeakLoop loop_f64 = {"double", "acc = acc * x + y", 2.0 / 8, NULL};
static const PeakLoop loop_int = {"int", "acc = acc * x + y", 2.0 / 4, NULL};
static const PeakLoop loop_bf16 = {
    "float", "__asm__(\"vdpbf16ps %2, %1, %0\" : \"+v\"(acc) : \"v\"(x), \"v\"(y))", 4.0 / 4, NULL};
static const PeakLoop loop_vnni = {
    "int", "__asm__(\"vpdpbusd %2, %1, %0\" : \"+v\"(acc) : \"v\"(x), \"v\"(y))", 8.0 / 4, NULL};

static const PeakLoop loop_tiles_bf16 = {"float", "", 2.0 * 16 * 16 * 32, "tdpbf16ps"};
static const PeakLoop loop_tiles_int8 = {"int", "", 2.0 * 16 * 16 * 64, "tdpbssd"};

static const PeakLoop *loop_for(DType t, const CpuLevel *level)
{
    if (level->amx && t == DT_BF16)
        return &loop_tiles_bf16;
    if (level->amx && dtype_is_int(t) && dtype_bits(t) <= 8)
        return &loop_tiles_int8;
    if (t == DT_F64)
        return &loop_f64;
    if (t == DT_BF16 && level->bf16 && !level->arm)
        return &loop_bf16;
    if (dtype_is_int(t) && dtype_bits(t) <= 8 && level->vnni)
        return &loop_vnni;
    return dtype_is_int(t) ? &loop_int : &loop_f32;
}

/* Four accumulators hide the latency of a tile MMA; the target has asked for permission. */
static void put_tiles(Str *out, const PeakLoop *p)
{
    str_puts(out, "static void block(void *arg, int64_t index, char *scratch)\n{\n"
                  "    const tl_frame *f = arg;\n"
                  "    uint8_t shape[64] __attribute__((aligned(64))) = {1};\n"
                  "    for (int t = 0; t < 8; t++)\n"
                  "        shape[16 + 2 * t] = 64, shape[48 + t] = 16;\n"
                  "    __asm__ volatile(\"ldtilecfg (%0)\" : : \"r\"(shape) : \"memory\");\n"
                  "    for (int64_t i = 0; i < f->value[0]; i++)\n"
                  "        __asm__ volatile(\"");
    for (int t = 0; t < TILE_ACCUMULATORS; t++)
        str_printf(out, "%s %%tmm6, %%tmm5, %%tmm%d\\n", p->tiles, t);
    str_puts(out, "\");\n    __asm__ volatile(\"tilerelease\");\n}\n");
}

static void put_vectors(Str *out, const PeakLoop *p, int vector_bytes)
{
    str_printf(out, "typedef %s vec __attribute__((vector_size(%d)));\n", p->element, vector_bytes);
    str_printf(out, "#define STEP(acc) %s\n", p->step);
    str_puts(out, "static void block(void *arg, int64_t index, char *scratch)\n{\n"
                  "    const tl_frame *f = arg;\n    vec x = {0}, y = {0};\n");
    for (int i = 0; i < ACCUMULATORS; i++)
        str_printf(out, "    vec a%d = {0};\n", i);
    str_puts(out, "    __asm__ volatile(\"\" : \"+v\"(x), \"+v\"(y));\n"
                  "    for (int64_t i = 0; i < f->value[0]; i++) {\n");
    for (int i = 0; i < ACCUMULATORS; i++)
        str_printf(out, "        STEP(a%d);\n", i);
    for (int i = 0; i < ACCUMULATORS; i++)
        str_printf(out, "%s\"+v\"(a%d)%s", i ? ", " : "        __asm__ volatile(\"\" : ", i,
                   i == ACCUMULATORS - 1 ? ");\n" : "");
    str_puts(out, "    }\n}\n");
}

static void put_loop(Str *out, const PeakLoop *p, int vector_bytes)
{
    str_puts(out, (const char *)device_cpu_abi_h);
    if (p->tiles)
        put_tiles(out, p);
    else
        put_vectors(out, p, vector_bytes);
    str_puts(out, "int tl_entry(void *const *t, const int64_t *v, const tl_rt *rt)\n{\n"
                  "    tl_frame f = {t, v, rt, 0};\n"
                  "    rt->parallel(rt->ctx, v[1], block, &f, 0);\n    return 0;\n}\n");
}

static const char triad[] =
    "static void block(void *arg, int64_t index, char *scratch)\n{\n"
    "    const tl_frame *f = arg;\n"
    "    int64_t from = f->value[0] * index, to = from + f->value[0];\n"
    "    double *restrict a = f->tensor[0];\n"
    "    const double *restrict b = f->tensor[1], *restrict c = f->tensor[2];\n"
    "    for (int64_t i = from; i < to; i++)\n"
    "        a[i] = b[i] + 3.0 * c[i];\n}\n"
    "int tl_entry(void *const *t, const int64_t *v, const tl_rt *rt)\n{\n"
    "    tl_frame f = {t, v, rt, 0};\n"
    "    rt->parallel(rt->ctx, v[1], block, &f, 0);\n    return 0;\n}\n";

static double best_seconds(Module *m, void *const *tensor, const int64_t *value, Workers *w)
{
    char text[128];
    double best = 1e30;

    for (int i = 0; i <= TRIES; i++) {
        double start = now_seconds();
        cpu_launch(m->entry, tensor, value, w, NULL, text, sizeof text, NULL);
        double took = now_seconds() - start;
        if (i > 0)
            best = MIN(best, took);
    }
    return best;
}

static Status measure_flops(Arena *a, Compiler *c, const TargetSpec *spec, Workers *w, DType t,
                            double *gflops, const char **why)
{
    const CpuLevel *level = cpu_level(spec);
    const PeakLoop *p = loop_for(t, level);
    Str source;
    Module m;

    str_init(&source, a);
    put_loop(&source, p, level->vector_bytes);
    ModuleSpec s = {.name = "peak", .source = source.s, .nsource = source.n, .spec = spec};
    Status st = module_build(a, c, &s, &m, why);
    if (st != STATUS_OK)
        return st;
    int64_t value[2] = {p->tiles ? ROUNDS / 16 : ROUNDS, workers_size(w)};
    double seconds = best_seconds(&m, NULL, value, w);
    double each = p->tiles ? TILE_ACCUMULATORS : level->vector_bytes * ACCUMULATORS;
    *gflops = p->ops * each * (double)value[0] * workers_size(w) / seconds * 1e-9;
    module_free(&m);
    return STATUS_OK;
}

static Status measure_stream(Arena *a, Compiler *c, const TargetSpec *spec, Workers *w,
                             double *gbytes, const char **why)
{
    Str source;
    Module m;
    void *tensor[3] = {malloc((size_t)stream_bytes), malloc((size_t)stream_bytes),
                       malloc((size_t)stream_bytes)};
    Status st = STATUS_MEM;

    str_init(&source, a);
    str_printf(&source, "%s%s", (const char *)device_cpu_abi_h, triad);
    ModuleSpec s = {.name = "stream", .source = source.s, .nsource = source.n, .spec = spec};
    *why = "out of memory";
    if (tensor[0] && tensor[1] && tensor[2])
        st = module_build(a, c, &s, &m, why);
    if (st == STATUS_OK) {
        int64_t n = stream_bytes / 8, value[2] = {n / workers_size(w), workers_size(w)};
        memset(tensor[1], 0, (size_t)stream_bytes);
        memset(tensor[2], 0, (size_t)stream_bytes);
        *gbytes = 3.0 * (double)stream_bytes / best_seconds(&m, tensor, value, w) * 1e-9;
        module_free(&m);
    }
    for (int i = 0; i < 3; i++)
        free(tensor[i]);
    return st;
}

Status cpu_measure(Arena *a, Compiler *c, const TargetSpec *spec, Workers *w, DType t, double *most,
                   const char **why)
{
    return t == DT_NONE ? measure_stream(a, c, spec, w, most, why)
                        : measure_flops(a, c, spec, w, t, most, why);
}
