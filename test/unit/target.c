/* target.c -- what the text of a target means, and that every target names a runtime there is. */
#include "api/api.h"
#include "target/cpu/level.h"
#include "test.h"

static TargetSpec parsed(Arena *a, const char *text)
{
    TargetSpec s;
    const char *why = "";
    bool ok = target_parse(a, text, &s, &why);

    CHECK_TEXT(ok ? "" : why, "");
    return s;
}

#if defined(__aarch64__)
#define X86_RUNTIME "cross"
#define ARM_RUNTIME "cpu"
#else
#define X86_RUNTIME "cpu"
#define ARM_RUNTIME "cross"
#endif

TEST(a_text_is_read_and_made_normal)
{
    static const struct {
        const char *text, *told, *said, *normal, *runtime;
    } rows[] = {
        {"c -march=x86-64-v3", "cpu -march=x86-64-v3", "cpu -march=x86-64-v3",
         "cpu -mcpu=x86-64-v3", X86_RUNTIME},
        {"nvptx  -max_threads_per_block=64 -arch=sm_80",
         "cuda -max_threads_per_block=64 -arch=sm_80", "cuda -max_threads_per_block=64 -arch=sm_80",
         "cuda -arch=sm_80 -max_num_threads=64", "cuda"},
        {"sim", "cuda -arch=sm_90a", "sim -arch=sm_90a", "cuda -arch=sm_90a", "sim"},
        {"sim -arch=sm_75", "cuda -arch=sm_75", "sim -arch=sm_75", "cuda -arch=sm_75", "sim"},
        {"sim rocm -mcpu=gfx90a", "hip -mcpu=gfx90a", "sim hip -mcpu=gfx90a", "hip -mcpu=gfx90a",
         "sim"},
        {"sim template", "template", "sim template", "template", "sim"},
        {"sim cuda -arch=sm_80", "cuda -arch=sm_80", "sim cuda -arch=sm_80", "cuda -arch=sm_80",
         "sim"},
    };
    Arena *a = arena_new();

    for (int i = 0; i < COUNT(rows); i++) {
        TargetSpec s = parsed(a, rows[i].text);
        CHECK_TEXT(s.told, rows[i].told);
        CHECK_TEXT(s.said, rows[i].said);
        CHECK_TEXT(s.text, rows[i].normal);
        CHECK_TEXT(s.runtime, rows[i].runtime);
        CHECK_TEXT(parsed(a, s.said).said, s.said);
        CHECK_TEXT(parsed(a, s.text).text, s.text);
    }
    arena_free(a);
}

TEST(a_target_has_words_of_its_own)
{
    Arena *a = arena_new();
    TargetSpec s;
    const char *why = "";

    CHECK(!target_parse(a, "cuda -mcpu=native", &s, &why));
    CHECK_HAS(why, "unknown option '-mcpu=native' of target cuda");
    CHECK(!target_parse(a, "template -max_num_threads=7", &s, &why));
    CHECK(!target_parse(a, "metal -max_num_threads=99999999999999999999", &s, &why));
    CHECK(!target_parse(a, "x86-64-v3", &s, &why));
    CHECK_HAS(why, "did you mean 'cpu -mcpu=x86-64-v3'?");
    CHECK(!target_parse(a, "sm90", &s, &why));
    CHECK_HAS(why, "did you mean 'cuda -arch=sm_90'?");
    arena_free(a);
}

TEST(every_target_has_a_runtime)
{
    for (int i = 0; i < target_count; i++) {
        const Runtime *rt = runtime_find(target_table[i]->runtime);
        CHECK(target_table[i]->runtime == NULL || rt->build || rt->simulates);
        CHECK(!rt->build || (rt->find && rt->compiler && rt->ending && rt->load && rt->run));
        CHECK(!rt->start || (rt->can_repeat && rt->repeat && rt->takes && rt->enter && rt->leave));
    }
}

TEST(words_that_contradict)
{
    static const char *const pairs[] = {
        "cpu -mcpu=neoverse-n1 -mcpu=x86-64-v3", "cpu -march=armv8-a -mcpu=x86-64-v3",
        "cuda -arch=sm_90a -arch=sm_80", "hip -arch=gfx90a -mcpu=gfx942",
        "cuda -max_num_threads=32 -max_threads_per_block=64",
    };
    Arena *a = arena_new();
    TargetSpec s;
    const char *why;

    for (int i = 0; i < COUNT(pairs); i++) {
        CHECK(!target_parse(a, pairs[i], &s, &why));
        CHECK_HAS(why, "says another thing than");
    }
    CHECK_TEXT(parsed(a, "cpu -march=neoverse-n1 -mcpu=neoverse-n1").runtime, ARM_RUNTIME);
    CHECK(parsed(a, "cuda -max_num_threads=64 -max_threads_per_block=64").max_threads == 64);
    arena_free(a);
}

/* Another kind of CPU is built and run by another runtime, and Volta by another NVRTC; what a user
 * names stays. */
TEST(levels_of_another_kind)
{
    Arena *a = arena_new();

    CHECK_TEXT(parsed(a, "cpu").runtime, "cpu");
    CHECK_TEXT(parsed(a, "cpu -mcpu=x86-64-v3").runtime, X86_RUNTIME);
    CHECK_TEXT(parsed(a, "cpu -mcpu=neoverse-n1").runtime, ARM_RUNTIME);
    CHECK_TEXT(parsed(a, "cpu -mcpu=x86-64-v4").cc_words,
               "-march=x86-64-v4 -mprefer-vector-width=512");
    CHECK_TEXT(parsed(a, "cuda -arch=sm_70").runtime, "cuda12");
    CHECK_TEXT(parsed(a, "cuda -model=v100").runtime, "cuda12");
    CHECK_TEXT(parsed(a, "cuda -arch=sm_75").runtime, "cuda");
    CHECK_TEXT(parsed(a, "sim -arch=sm_70").runtime, "sim");
    TargetSpec old = parsed(a, "cpu -mcpu=armv8-a"), n1 = parsed(a, "cpu -mcpu=neoverse-n1");
    TargetSpec v2 = parsed(a, "cpu -mcpu=neoverse-v2");
    CHECK_INT(cpu_level(&v2)->vector_bytes, 16);
    CHECK(!machine_has(&old.machine, HAS_SIGNED_DOTS) && !cpu_level(&old)->mmla);
    CHECK(machine_has(&n1.machine, HAS_SIGNED_DOTS) && !machine_has(&n1.machine, HAS_PAIR_DOTS));
    CHECK(machine_has(&v2.machine, HAS_PAIR_DOTS | HAS_BF16_DOTS));
    CHECK_INT(cpu_level(&n1)->l1_bytes, 64 << 10);
    TargetSpec m1 = parsed(a, "cpu -mcpu=apple-m1");
    CHECK_INT(cpu_level(&m1)->l2_bytes, 3 << 20);
    arena_free(a);
}

TEST(the_processor_has_what_the_compiler_says)
{
#if defined(__x86_64__)
    Arena *a = arena_new();
    TargetSpec s = parsed(a, "cpu");
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");

    CHECK_INT(cpu_level(&s)->vector_bytes, avx512 ? 64 : avx2 ? 32 : 16);
    CHECK_INT(cpu_level(&s)->vnni, avx512 && __builtin_cpu_supports("avx512vnni"));
    CHECK_INT(cpu_level(&s)->bf16, avx512 && __builtin_cpu_supports("avx512bf16"));
    arena_free(a);
#endif
}
