/* test.h -- unit tests: each TEST registers itself and runs in a process of its own.
 *
 *     TEST(reset_gives_bytes_back)
 *     {
 *         CHECK_INT(arena_bytes(a), 0);
 *     }
 *
 * A failed check prints where and what, and ends its test; nothing else is disturbed.  The full
 * name of a test is <file>.<name>, as in arena.reset_gives_bytes_back. */
#ifndef TL_TEST_TEST_H
#define TL_TEST_TEST_H

#include <stdbool.h>

typedef struct Test {
    const char *file, *name;
    int line;
    void (*run)(void);
    struct Test *next;
    const char *full; /* name of a test made at run time; NULL: <file>.<name> */
    const void *data; /* of such a test */
} Test;

/* What the command line asked for; tests read it. */
typedef struct {
    bool update;      /* -u: rewrite what is expected instead of comparing */
    const char *skip; /* -x: opt_ passes to leave out */
    const char *target;
    const Test *now;  /* the test that runs */
    const char *folder;
} TestOptions;
extern TestOptions test_options;

/* Of a long list of cases a sanitized or emulated build, ten to twenty times slower, takes one in so
 * many: it looks for faults of memory, and wrong values are found without it. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(memory_sanitizer) || defined(TEST_EMULATED)
enum { TEST_SHARE = 8 };
#else
enum { TEST_SHARE = 1 };
#endif

void test_register(Test *t);
void test_check(const char *file, int line, bool ok, const char *what);
void test_int(const char *file, int line, long long got, long long want, const char *what);
void test_near(const char *file, int line, double got, double want, double slack, const char *what);
void test_text(const char *file, int line, const char *got, const char *want, const char *what);
void test_has(const char *file, int line, const char *text, const char *part, const char *what);
const char *test_folder(void); /* of the running test, removed after it */
/* Ends the test at once; it counts neither as passed nor as failed. */
__attribute__((noreturn)) void test_skip(const char *why);
/* Takes a locale with a decimal comma: one of the system's, else one that localedef makes. */
void test_take_comma(void);

#define TEST(name)                                                                                 \
    static void test_##name(void);                                                                 \
    __attribute__((constructor)) static void test_add_##name(void)                                 \
    {                                                                                              \
        static Test t = {__FILE__, #name, __LINE__, test_##name, 0, 0, 0};                         \
        test_register(&t);                                                                         \
    }                                                                                              \
    static void test_##name(void)

#define CHECK(cond) test_check(__FILE__, __LINE__, (cond), #cond)
#define CHECK_INT(got, want)                                                                       \
    test_int(__FILE__, __LINE__, (long long)(got), (long long)(want), #got)
#define CHECK_NEAR(got, want, slack) test_near(__FILE__, __LINE__, (got), (want), (slack), #got)
#define CHECK_TEXT(got, want) test_text(__FILE__, __LINE__, (got), (want), #got)
/* text contains part */
#define CHECK_HAS(text, part) test_has(__FILE__, __LINE__, (text), (part), #text)

#endif
