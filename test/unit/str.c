/* str.c -- tests of the string builder and of interned names. */
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include "base/base.h"
#include "test.h"

TEST(builder_is_terminated_from_the_start)
{
    Arena *a = arena_new();
    Str b;
    str_init(&b, a);
    CHECK_TEXT(b.s, "");
    str_putn(&b, NULL, 0);
    CHECK_TEXT(b.s, "");
    arena_free(a);
}

TEST(builder_appends_each_way)
{
    Arena *a = arena_new();
    Str b;
    str_init(&b, a);
    str_puts(&b, "one");
    str_putc(&b, ',');
    str_putn(&b, "twofold", 3);
    str_indent(&b, 2);
    str_indent(&b, -1);
    str_printf(&b, "%d|%s", 3, "four");
    CHECK_TEXT(b.s, "one,two  3|four");
    CHECK_INT(b.n, strlen(b.s));
    arena_free(a);
}

TEST(builder_grows_at_every_length)
{
    Arena *a = arena_new();
    char text[200];
    for (int n = 0; n < 199; n++) {
        memset(text, 'x', sizeof text);
        text[n] = 0;
        Str b;
        str_init(&b, a);
        str_printf(&b, "%s", text);
        CHECK_TEXT(b.s, text);
        str_printf(&b, "%s!", text);
        CHECK_INT(b.n, 2 * n + 1);
        CHECK_INT(b.s[b.n - 1], '!');
        CHECK_INT(b.s[b.n], 0);
    }
    arena_free(a);
}

static const char *shown(Arena *a, double v)
{
    Str b;
    str_init(&b, a);
    str_double(&b, v);
    return b.s;
}

TEST(doubles_are_short)
{
    Arena *a = arena_new();
    CHECK_TEXT(shown(a, 0), "0");
    CHECK_TEXT(shown(a, -0.0), "-0");
    CHECK_TEXT(shown(a, 1), "1");
    CHECK_TEXT(shown(a, 0.1), "0.1");
    CHECK_TEXT(shown(a, 0.1 + 0.2), "0.30000000000000004");
    CHECK_TEXT(shown(a, 1e23), "1e+23");
    CHECK_TEXT(shown(a, -2.5e-7), "-2.5e-07");
    CHECK_TEXT(shown(a, 5e-324), "5e-324");
    CHECK_TEXT(shown(a, (double)INFINITY), "inf");
    CHECK_TEXT(shown(a, -(double)INFINITY), "-inf");
    CHECK_TEXT(shown(a, (double)NAN), "nan");
    arena_free(a);
}

TEST(doubles_read_back)
{
    Arena *a = arena_new();
    uint64_t bits = 1;
    for (int i = 0; i < 20000; i++) {
        bits = hash_mix(bits, 77);
        double v;
        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v))
            continue;
        ArenaMark m = arena_mark(a);
        CHECK(strtod(shown(a, v), NULL) == v);
        arena_reset(a, m);
    }
    CHECK(strtod(shown(a, DBL_MAX), NULL) == DBL_MAX);
    arena_free(a);
}

TEST(doubles_ignore_the_locale)
{
    char comma[8];
    test_take_comma();
    snprintf(comma, sizeof comma, "%.1f", 0.5);
    CHECK_TEXT(comma, "0,5");
    Arena *a = arena_new();
    CHECK_TEXT(shown(a, 0.5), "0.5");
    arena_free(a);
}

TEST(equal_names_are_one_pointer)
{
    Names *t = names_new();
    const char *x = name_intern(t, "alpha", 5);
    CHECK_TEXT(x, "alpha");
    CHECK(name_intern(t, "alphabet", 5) == x);
    CHECK(name_intern(t, "alph", 4) != x);
    CHECK(name_intern(t, "", 0) == name_intern(t, "", 0));
    names_free(t);
    names_free(NULL);
}

TEST(names_stay_where_they_are_when_the_table_grows)
{
    Arena *a = arena_new();
    Names *t = names_new();
    enum { MANY = 5000 };
    static const char *at[MANY];
    for (int i = 0; i < MANY; i++) {
        const char *s = arena_printf(a, "name%d", i);
        at[i] = name_intern(t, s, strlen(s));
    }
    for (int i = 0; i < MANY; i++) {
        const char *s = arena_printf(a, "name%d", i);
        CHECK(name_intern(t, s, strlen(s)) == at[i]);
        CHECK_TEXT(at[i], s);
    }
    names_free(t);
    arena_free(a);
}

typedef struct {
    Names *names;
    const char *at[1000];
} Interner;

static void *intern_many(void *arg)
{
    Interner *w = arg;
    for (int i = 0; i < COUNT(w->at); i++) {
        char text[32];
        int n = snprintf(text, sizeof text, "n%d", i);
        w->at[i] = name_intern(w->names, text, (size_t)n);
    }
    return NULL;
}

TEST(threads_agree_on_names)
{
    Names *t = names_new();
    static Interner w[4];
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) {
        w[i].names = t;
        CHECK_INT(pthread_create(&thread[i], NULL, intern_many, &w[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < COUNT(w[0].at); i++) {
        for (int j = 1; j < 4; j++)
            CHECK(w[j].at[i] == w[0].at[i]);
    }
    names_free(t);
}

TEST(utf8_is_read_strictly)
{
    static const struct {
        const char *text;
        int len;
        uint32_t code;
    } rows[] = {
        {"a", 1, 'a'},
        {"\xc3\xa9", 2, 0xe9},
        {"\xe4\xb8\xad", 3, 0x4e2d},
        {"\xf0\x9f\x98\x80", 4, 0x1f600},
        {"\xc3", 1, 0},             /* cut short */
        {"\xc0\x80", 1, 0},         /* overlong */
        {"\xe0\x80\x80", 1, 0},     /* overlong */
        {"\xed\xa0\x80", 1, 0},     /* surrogate */
        {"\xf4\x90\x80\x80", 1, 0}, /* beyond Unicode */
        {"\xff", 1, 0},
        {"\x80", 1, 0},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        uint32_t code = 1;
        CHECK_INT(utf8_next(rows[i].text, strlen(rows[i].text), &code), rows[i].len);
        CHECK_INT(code, rows[i].code);
    }
}

TEST(names_that_differ_by_a_slip)
{
    static const char *const names[] = {"copy", "clear", "Pipelined", "gemm", "ceildiv"};

    CHECK(edit_distance("copy", "copy", 3) == 0);
    CHECK(edit_distance("cpoy", "copy", 3) == 1); /* swapped */
    CHECK(edit_distance("claer", "clear", 3) == 1);
    CHECK(edit_distance("cop", "copy", 3) == 1);
    CHECK(edit_distance("coppy", "copy", 3) == 1);
    CHECK(edit_distance("", "abc", 3) == 3);
    CHECK(edit_distance("abcd", "dcba", 9) == 3); /* two changed, two swapped */
    CHECK(edit_distance("copy", "clear", 2) > 2);
    CHECK_TEXT(nearest_name("cpoy", names, 5), "copy");
    CHECK_TEXT(nearest_name("Pipelinde", names, 5), "Pipelined");
    CHECK_TEXT(nearest_name("cieldiv", names, 5), "ceildiv");
    CHECK(nearest_name("zz", names, 5) == NULL);
}
