/* twin.c -- every instruction that emitted text may write in assembly has a meaning on the host. */
#include "isa/isa.h"
#include "test.h"
#include "target/cuda/emit.h"
#include "target/cuda/twin/ptx.h"
#include "device_cuda.h"

static bool is_known(const char *text, char *name, size_t n)
{
    Arena *a = arena_new();
    const char *why = "";
    Str out;

    str_init(&out, a);
    bool ok = twin_translate(a, language_find("cuda"), text, &out, &why) == STATUS_OK;
    snprintf(name, n, "%s", why);
    arena_free(a);
    return ok;
}

static const unsigned char *const files[] = {
    device_cuda_atomic_h, device_cuda_convert_h, device_cuda_mma_h,  device_cuda_scalar_h,
    device_cuda_sm80_h,   device_cuda_sm89_h,    device_cuda_sm90_h, device_cuda_sm90a_h,
    device_cuda_types_h,  device_cuda_warp_h,    device_cuda_wide_h,
};

/* Every word of device/cuda, so that every function is pasted that the architecture has; the host's
 * compiler takes them all. */
static void compiles(const char *target)
{
    Arena *a = arena_new();
    Compiler c = {0};
    Module m = {0};
    TargetSpec spec;
    Str words, text, host;
    const char *why = "";

    CHECK(target_parse(a, target, &spec, &why));
    str_init(&words, a);
    str_init(&text, a);
    str_init(&host, a);
    for (int i = 0; i < COUNT(files); i++)
        str_puts(&words, (const char *)files[i]);
    cuda_paste(a, &spec, words.s, &text);
    CHECK(twin_translate(a, language_find("cuda"), text.s, &host, &why) == STATUS_OK);
    ModuleSpec s = {.name = "device functions", .source = host.s, .nsource = host.n, .spec = &spec,
                    .no_cache = true, .flags = twin_flags};
    Status st = module_build(a, &c, &s, &m, &why);
    CHECK_TEXT(st == STATUS_OK ? "" : why, "");
    module_free(&m);
    arena_free(a);
}

TEST(twin_device_functions_compile)
{
    compiles("cuda -arch=sm_75");
    compiles("cuda -arch=sm_80");
    compiles("cuda -arch=sm_89");
    compiles("cuda -arch=sm_90a");
}

TEST(twin_device_functions_have_meanings)
{
    char why[256];

    for (int i = 0; i < COUNT(files); i++) {
        bool ok = is_known((const char *)files[i], why, sizeof why);
        CHECK_TEXT(ok ? "" : why, "");
    }
    CHECK(!is_known("TL_DEVICE void f() { asm volatile(\"nosuch.b32 %0;\" : : \"r\"(1)); }", why,
                    sizeof why));
    CHECK(strstr(why, "nosuch.b32") && strstr(why, "TL_DEVICE void f()"));
}

TEST(twin_products_have_meanings)
{
    const Isa *row;

    for (int i = 0; (row = mma_row(i)) != NULL; i++) {
        const Mma *m = row->mma;
        char name[128];
        char shape[32];
        if (m->per || strncmp(row->name, "mma.", 4) != 0)
            continue;
        snprintf(shape, sizeof shape, "m%dn%dk%d", m->m, m->n, m->k);
        snprintf(name, sizeof name, "mma.sync.aligned.%s.row.col.%s.%s.%s.%s",
                 m->own ? m->own : shape, m->word[MMA_C], m->word[MMA_A], m->word[MMA_B],
                 m->word[MMA_C]);
        CHECK(ptx_row(name) >= 0);
    }
    CHECK(ptx_row("mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32") < 0);
    CHECK(ptx_row("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16") >= 0);
    CHECK(ptx_row("wgmma.mma_async.sync.aligned.m64nk16.f32.f16.f16") < 0);
}

TEST(twin_wiring_of_assembly)
{
    Arena *a = arena_new();
    const char *why = "", *at = " volatile(\"selp.u32 %0, 1, %1, p;\" : \"=r\"(x) : \"n\"(N)); y";
    Str out;

    str_init(&out, a);
    CHECK(ptx_assembly(a, &at, &out, &why));
    CHECK_TEXT(at, "; y");
    CHECK(strstr(out.s, "{tl_a0, &tl_k0, tl_a1, &tl_v_p, 0}"));
    CHECK(strstr(out.s, "int tl_i1 = (int)(N)"));
    arena_free(a);
}
