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

/* ---- the reader ------------------------------------------------------------------------------ */

static const JsonValue *read_text(Arena *a, const char *text)
{
    const char *why;
    return json_read(a, text, strlen(text), &why);
}

TEST(read_values_nest)
{
    Arena *a = arena_new();
    const JsonValue *v = read_text(a, " {\"a\": {\"b\": [1, -2.5e1, true, null]}, \"c\":\"x\"} ");
    const JsonValue *list = json_get(v, "a.b");

    CHECK_INT(json_get_int(list->first, "", 7), 1);
    CHECK_INT(json_get_int(list->first->next, "", 7), -25);
    CHECK(list->first->next->next->b);
    CHECK_INT(list->first->next->next->next->kind, JSON_NULL);
    CHECK_TEXT(json_get_text(v, "c", "none"), "x");
    CHECK_TEXT(json_get_text(v, "a.c", "none"), "none");
    CHECK_TEXT(json_get_text(v, "c.d", "none"), "none");
    CHECK_INT(json_get_int(v, "c", 7), 7);
    CHECK(!json_get(NULL, "a"));
    arena_free(a);
}

TEST(read_texts_are_decoded)
{
    Arena *a = arena_new();
    const JsonValue *v = read_text(a, "[\"\\n\\\"\\u00e9\\ud83d\\ude00\\ud83dx\\u0000\"]");

    CHECK_TEXT(v->first->text, "\n\"\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbdx\xef\xbf\xbd");
    arena_free(a);
}

TEST(read_refuses)
{
    static const char *const bad[] = {
        "", "{", "[1,]", "[1 2]", "{\"a\" 1}", "{\"a\"}", "{a: 1}", "\"x", "\"\\q\"", "\"\\u12g4\"", "nul", "1 2",
        "-", "1e", "1.2.3", "]", "[", "tru e"};
    Arena *a = arena_new();
    Str deep;

    for (int i = 0; i < COUNT(bad); i++)
        CHECK(!read_text(a, bad[i]));
    str_init(&deep, a);
    for (int i = 0; i < 100000; i++)
        str_putc(&deep, '[');
    CHECK(!read_text(a, deep.s));
    arena_free(a);
}

TEST(what_was_read_is_written_again)
{
    const char *text = "{\n  \"a\": [\n    1,\n    -2.5,\n    \"x\\n\\\"y\"\n  ],\n  \"b\": {},\n"
                       "  \"c\": [\n    true,\n    false,\n    null\n  ]\n}\n";
    Arena *a = arena_new();
    Str s;
    Json j;

    str_init(&s, a);
    json_open(&j, &s);
    json_copy(&j, NULL, read_text(a, text));
    CHECK_TEXT(text, s.s);
    arena_free(a);
}
