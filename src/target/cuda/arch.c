/* arch.c -- the words of -arch=: architectures that the CUDA compiler takes our text for. */
#include "target/cuda/cuda.h"
#include <ctype.h>
#include <stdlib.h>

/* Multiprocessors are those of the largest card in wide use. */
static const struct {
    int sm, nsm;
} arch_table[] = {
    {75, 72},  {80, 108},  {86, 84},  {87, 16},   {89, 142}, {90, 132},
    {100, 148}, {103, 160}, {110, 20}, {120, 188}, {121, 48},
};

enum { DEFAULT = 80, WITH_A = 90, WITH_F = 100 };

static int find(int sm)
{
    for (int i = 0; i < COUNT(arch_table); i++)
        if (arch_table[i].sm == sm)
            return i;
    return -1;
}

/* sm_90a has instructions of sm_90 alone, sm_100f those of its family. */
static bool may_end(int sm, const char *tail)
{
    return !*tail || (!strcmp(tail, "a") && sm >= WITH_A) || (!strcmp(tail, "f") && sm >= WITH_F);
}

static const char *read_arch(Arena *a, const char *word, TargetSpec *s)
{
    char *tail = NULL;
    bool digits = word && !strncmp(word, "sm_", 3) && isdigit((unsigned char)word[3]);
    long sm = !word ? DEFAULT : digits ? strtol(word + 3, &tail, 10) : 0;
    int at = find((int)sm);

    if (word && (at < 0 || !may_end((int)sm, tail))) {
        Str known;
        str_init(&known, a);
        for (int i = 0; i < COUNT(arch_table); i++)
            str_printf(&known, "%s%d", i ? ", " : "sm_", arch_table[i].sm);
        if (digits && sm > 0 && sm < arch_table[0].sm)
            return arena_printf(a, "'%s' is older than sm_%d, for which nothing is emitted here",
                                word, arch_table[0].sm);
        return arena_printf(a, "'%s' is no architecture; there are %s, sm_90a and later with an a",
                            word, known.s);
    }
    s->arch = word ? arena_strdup(a, word) : "sm_80";
    s->sm = (int)sm;
    s->nsm = arch_table[at].nsm;
    return NULL;
}

static bool take_arch(Arena *a, TargetSpec *s, const char *value, const char **why)
{
    const char *bad = read_arch(a, value, s);

    if (bad)
        *why = arena_printf(a, "%s [target-unknown]", bad);
    return !bad;
}

static const char *show_arch(Arena *a, const TargetSpec *s)
{
    (void)a;
    return s->arch;
}

static bool take_profile(Arena *a, TargetSpec *s, const char *value, const char **why)
{
    (void)a;
    (void)value;
    (void)why;
    return s->profile = true;
}

static const char *show_profile(Arena *a, const TargetSpec *s)
{
    (void)a;
    return s->profile ? "" : NULL;
}

const TargetOption cuda_options[] = {
    {"-arch=", take_arch, show_arch, "the architecture: sm_80, sm_90a, …"},
    {"-profile", take_profile, show_profile, "kernels write down when they do what"},
    {0},
};

void cuda_start(Arena *a, TargetSpec *s)
{
    read_arch(a, NULL, s);
}

const char *cuda_suggest(Arena *a, const char *word)
{
    if (strncmp(word, "sm_", 3) && strncmp(word, "sm9", 3) && strncmp(word, "sm8", 3))
        return NULL;
    return arena_printf(a, "cuda -arch=sm_%s", word + 2 + (word[2] == '_'));
}
