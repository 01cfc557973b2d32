/* json.c -- tests of the JSON writer. */
#include <math.h>
#include "base/base.h"
#include "test.h"

TEST(values_nest)
{
    Arena *a = arena_new();
    Str b;
    Json j;
    str_init(&b, a);
    json_open(&j, &b);
    json_object(&j, NULL);
    json_string(&j, "name", "gemm");
    json_int(&j, "big", INT64_MIN);
    json_array(&j, "list");
    json_int(&j, NULL, 1);
    json_double(&j, NULL, 0.5);
    json_bool(&j, NULL, true);
    json_object(&j, NULL);
    json_end(&j, '}');
    json_array(&j, NULL);
    json_end(&j, ']');
    json_end(&j, ']');
    json_bool(&j, "last", false);
    json_end(&j, '}');
    CHECK_TEXT(b.s, "{\n"
                    "  \"name\": \"gemm\",\n"
                    "  \"big\": -9223372036854775808,\n"
                    "  \"list\": [\n"
                    "    1,\n"
                    "    0.5,\n"
                    "    true,\n"
                    "    {},\n"
                    "    []\n"
                    "  ],\n"
                    "  \"last\": false\n"
                    "}\n");
    arena_free(a);
}

static const char *quoted(Arena *a, const char *s)
{
    Str b;
    Json j;
    str_init(&b, a);
    json_open(&j, &b);
    json_string(&j, NULL, s);
    return b.s;
}

TEST(strings_are_escaped)
{
    Arena *a = arena_new();
    CHECK_TEXT(quoted(a, "a\"b\\c\n\t\r\b\f/"), "\"a\\\"b\\\\c\\n\\t\\r\\b\\f/\"\n");
    CHECK_TEXT(quoted(a, "\x01\x1f\x7f"), "\"\\u0001\\u001f\\u007f\"\n");
    CHECK_TEXT(quoted(a, "\xc3\xa9\xe4\xb8\xad"), "\"\xc3\xa9\xe4\xb8\xad\"\n");
    CHECK_TEXT(quoted(a, "x\xffy\xe4"), "\"x\\ufffdy\\ufffd\"\n");
    CHECK_TEXT(quoted(a, ""), "\"\"\n");
    CHECK_TEXT(quoted(a, NULL), "null\n");
    arena_free(a);
}

TEST(numbers_without_a_json_form_are_null)
{
    Arena *a = arena_new();
    Str b;
    Json j;
    str_init(&b, a);
    json_open(&j, &b);
    json_array(&j, NULL);
    json_double(&j, NULL, (double)INFINITY);
    json_double(&j, NULL, (double)NAN);
    json_double(&j, NULL, 1e300);
    json_end(&j, ']');
    CHECK_TEXT(b.s, "[\n  null,\n  null,\n  1e+300\n]\n");
    arena_free(a);
}

TEST(closing_too_much_is_our_fault)
{
    Arena *a = arena_new();
    Str b;
    Json j;
    str_init(&b, a);
    json_open(&j, &b);
    Recover r;
    if (recover_open(&r) == 0) {
        json_end(&j, '}');
        recover_close(&r);
    }
    CHECK_INT(r.status, STATUS_BUG);
    arena_free(a);
}
