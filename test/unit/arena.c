/* arena.c -- tests of bump arenas and of growable arrays. */
#include "base/base.h"
#include "test.h"

TEST(memory_is_zero_and_aligned)
{
    Arena *a = arena_new();
    for (int size = 1; size < 300; size++) {
        char *p = arena_alloc(a, (size_t)size);
        CHECK_INT((uintptr_t)p % 16, 0);
        for (int i = 0; i < size; i++)
            CHECK_INT(p[i], 0);
        memset(p, 0xff, (size_t)size);
    }
    arena_free(a);
}

TEST(reset_gives_bytes_back_and_zeroes_again)
{
    Arena *a = arena_new();
    arena_alloc(a, 100);
    size_t before = arena_bytes(a);
    CHECK(before >= 100);
    ArenaMark m = arena_mark(a);
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 100; i++) {
            char *p = arena_alloc(a, 4000);
            CHECK_INT(p[3999], 0);
            p[3999] = 1;
        }
        CHECK(arena_bytes(a) >= before + 400000);
        arena_reset(a, m);
        CHECK_INT(arena_bytes(a), before);
    }
    arena_reset(a, (ArenaMark){0});
    CHECK_INT(arena_bytes(a), 0);
    arena_free(a);
}

TEST(older_memory_survives_a_reset)
{
    Arena *a = arena_new();
    char *s = arena_strdup(a, "kept");
    ArenaMark m = arena_mark(a);
    arena_alloc(a, 5 << 20);
    memset(arena_alloc(a, 64), 'x', 64);
    arena_reset(a, m);
    memset(arena_alloc(a, 64), 'y', 64);
    CHECK_TEXT(s, "kept");
    arena_free(a);
}

TEST(nested_marks)
{
    Arena *a = arena_new();
    size_t bytes[10];
    ArenaMark mark[10];
    for (int i = 0; i < 10; i++) {
        bytes[i] = arena_bytes(a);
        mark[i] = arena_mark(a);
        arena_alloc(a, (size_t)10000 * (size_t)(i + 1));
    }
    for (int i = 9; i >= 0; i--) {
        arena_reset(a, mark[i]);
        CHECK_INT(arena_bytes(a), bytes[i]);
    }
    arena_free(a);
}

TEST(absurd_size_is_out_of_memory)
{
    Arena *a = arena_new();
    Recover r;
    if (recover_open(&r) == 0) {
        int n = -1;
        NEWN(a, int, n);
        recover_close(&r);
    }
    CHECK_INT(r.status, STATUS_MEM);
    CHECK_TEXT(r.text, "out of memory");
    arena_free(a);
}

#ifdef TL_TEST_OOM
#include <stdlib.h>

/* Needs the hook of arena.c, so it is only in builds with -DTL_TEST_OOM. */
static int use_some(void *arg)
{
    (void)arg;
    Recover r;
    Names *volatile t = NULL;
    if (recover_open(&r) == 0) {
        t = names_new();
        for (int i = 0; i < 20000; i++) {
            char text[32];
            name_intern(t, text, (size_t)snprintf(text, sizeof text, "name%d", i));
        }
        recover_close(&r);
    }
    /* A lock still held would hang here. */
    unsetenv("TL_TEST_OOM");
    if (t)
        name_intern(t, "after", 5);
    return r.status;
}

TEST(each_block_that_fails_is_survived)
{
    int code = STATUS_MEM, n = 0;
    while (code == STATUS_MEM) {
        char text[32];
        snprintf(text, sizeof text, "%d", ++n);
        setenv("TL_TEST_OOM", text, 1);
        CHECK_INT(proc_call(use_some, NULL, 20, &code), STATUS_OK);
    }
    CHECK_INT(code, STATUS_OK);
    CHECK(n > 5);
}
#endif

TEST(free_of_nothing)
{
    arena_free(NULL);
}

TEST(strndup_cuts_and_terminates)
{
    Arena *a = arena_new();
    CHECK_TEXT(arena_strndup(a, "hello", 2), "he");
    CHECK_TEXT(arena_strndup(a, NULL, 0), "");
    CHECK_TEXT(arena_printf(a, "%s-%d", "x", 7), "x-7");
    arena_free(a);
}

TEST(vec_grows)
{
    Arena *a = arena_new();
    VEC(int) v = {0};
    for (int i = 0; i < 1000; i++)
        vec_push(a, &v, i * 3);
    CHECK_INT(v.n, 1000);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(v.at[i], i * 3);
    CHECK_INT(vec_last(&v), 999 * 3);
    arena_free(a);
}
