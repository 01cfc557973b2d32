/* words.c -- words that C and languages made from it, their headers or ours have taken.
 *
 * A user may call a tensor `expf`, `NULL` or `__shared__`.  What is emitted has another name then,
 * in whatever language: one list for all of them. */
#include <stdlib.h>
#include "target/target.h"

/* Sorted, as bsearch wants it; test/unit/names.c checks. */
static const char *const words[] = {
#define WORD(w) #w,
#include "target/words.def"
#undef WORD
};

static int by_text(const void *key, const void *word)
{
    return strcmp(key, *(const char *const *)word);
}

static bool is_listed(const char *s)
{
    return bsearch(s, words, COUNT(words), sizeof *words, by_text) != NULL;
}

/* double, and with f or l for the other two. */
static bool is_math(Arena *a, const char *s)
{
    size_t n = strlen(s);
    return n > 1 && (s[n - 1] == 'f' || s[n - 1] == 'l') && is_listed(arena_strndup(a, s, n - 1));
}

/* INT32_MAX, UINTPTR_MAX, INT_LEAST8_MIN, FLT_MAX, INT64_C … */
static bool is_limit(const char *s)
{
    static const char *const ends[] = {"_MAX", "_MIN", "_C", "_DIG", "_EPSILON", "_BIT", "_WIDTH"};
    size_t n = strlen(s);

    for (const char *p = s; *p; p++)
        if (*p >= 'a' && *p <= 'z')
            return false;
    for (int i = 0; i < COUNT(ends); i++)
        if (n > strlen(ends[i]) && !strcmp(s + n - strlen(ends[i]), ends[i]))
            return true;
    return false;
}

bool word_is_taken(Arena *a, const char *s)
{
    bool system = s[0] == '_' && (s[1] == '_' || (s[1] >= 'A' && s[1] <= 'Z'));
    size_t n = strlen(s);

    return system || !strncmp(s, "tl_", 3) || !strncmp(s, "TL_", 3) ||
           (n > 2 && !strcmp(s + n - 2, "_t")) || is_limit(s) || is_listed(s) || is_math(a, s);
}

void name_for_c(NameTable *t)
{
    name_avoid(t, word_is_taken);
}
