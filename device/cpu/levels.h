/* levels.h -- parts of a bundle for CPUs, pasted into it after pool.h: which run here.
 *
 * TILELANG_BUNDLE_LEVELS=x86-64-v2,x86-64-v3 leaves only those that it names. */
#include <string.h>

typedef int tl_entry_fn(void *const *tensor, const int64_t *value, const tl_rt *rt);

typedef struct {
    const char *arch;
    int (*has)(void);
    tl_entry_fn *entry;
} tl_part;

typedef struct {
    const char *why;
    int seen; /* 0: not asked yet */
} tl_state;

#define tl_said tl_pool_said

__attribute__((unused)) static int tl_no(const char *what, int r)
{
    (void)r;
    snprintf(tl_pool_said, sizeof tl_pool_said, "%s", what);
    return 1;
}

/* Runs take turns by themselves. */
static void tl_enter(void) { tl_pool_said[0] = 0; }
static void tl_leave(void) {}

static int tl_is_named(const char *list, const char *arch)
{
    size_t n = strlen(arch);

    for (const char *s = list; s && *s; s = strchr(s, ','), s = s ? s + 1 : 0)
        if (!strncmp(s, arch, n) && (s[n] == ',' || !s[n]))
            return 1;
    return 0;
}

static int tl_able(const tl_part *p, tl_state *s)
{
    const char *list, *why = 0;

    if (!__atomic_load_n(&s->seen, __ATOMIC_ACQUIRE)) {
        list = getenv("TILELANG_BUNDLE_LEVELS");
        if (list && *list && !tl_is_named(list, p->arch))
            why = "TILELANG_BUNDLE_LEVELS does not name it";
        else if (!p->has())
            why = "this CPU does not have its instructions";
        __atomic_store_n(&s->why, why, __ATOMIC_RELAXED);
        __atomic_store_n(&s->seen, 1, __ATOMIC_RELEASE);
    }
    return !__atomic_load_n(&s->why, __ATOMIC_RELAXED);
}
