/* twin.c -- the way into a kernel of Metal on the host: a parameter's attribute says what it gets.
 *
 *     device float *A [[buffer(0)]], constant int &n [[buffer(1)]],
 *     uint3 t [[thread_position_in_threadgroup]]
 *
 * [[buffer(i)]] is argument i of the launch, [[threadgroup(0)]] the block's memory; of any other
 * device/twin/metal.h has the value as tl_NAME(), so that a misspelt one is not compiled. */
#include <stdlib.h>
#include "twin/machine.h"

enum { ARGUMENTS_MOST = 31 }; /* buffers of a kernel */

/* What an argument of the type before the attribute is: the bits at p[i]. */
static bool put_buffer(Str *out, const char *type, size_t n, int i)
{
    size_t name;

    if (i < 0 || i >= ARGUMENTS_MOST)
        return false;
    while (n > 0 && (*type == ' ' || *type == '\n'))
        type++, n--;
    for (name = n; name > 0 && type[name - 1] != '*' && type[name - 1] != '&';)
        name--;
    if (!name)
        return false;
    if (type[name - 1] == '&')
        str_printf(out, "*(%.*s*)p[%d]", (int)name - 1, type, i);
    else
        str_printf(out, "*(%.*s*)p[%d]", (int)name, type, i);
    return true;
}

static bool put_value(Arena *a, Str *out, const char *param, size_t n)
{
    const char *text = arena_strndup(a, param, n), *at = strstr(text, "[[");

    if (!at)
        return false;
    at += 2;
    size_t word = strspn(at, "abcdefghijklmnopqrstuvwxyz_");
    const char *name = arena_strndup(a, at, word);
    if (!strcmp(name, "buffer"))
        return put_buffer(out, text, (size_t)(at - 2 - text),
                          at[word] == '(' ? atoi(at + word + 1) : -1);
    if (!strcmp(name, "threadgroup"))
        str_puts(out, "(threadgroup uchar *)tl_self->shared");
    else
        str_printf(out, "tl_%s()", name);
    return true;
}

/* "[[kernel, max_total_threads_per_threadgroup(128)]] void NAME(…)" */
static bool enter(Arena *a, const char *head, Str *out, const char **why)
{
    static const char limit[] = "max_total_threads_per_threadgroup(";
    const char *is_void = strstr(head, "void "), *most = strstr(head, limit);
    const char *open = is_void ? strchr(is_void, '(') : NULL;
    int depth = 0, threads = most && most < is_void ? atoi(most + sizeof limit - 1) : 0;

    if (!open)
        return false;
    int length = (int)(open - is_void - 5);
    str_printf(out, "static void tl_run_%.*s(void **p) { %.*s(", length, is_void + 5, length,
               is_void + 5);
    for (const char *from = open + 1, *s = from; *s; s++) {
        depth += (*s == '(' || *s == '[') - (*s == ']' || *s == ')');
        if (!(depth == 0 && *s == ',') && depth >= 0)
            continue;
        if (!put_value(a, out, from, (size_t)(s - from))) {
            *why = arena_printf(a, "the parameter %.*s", (int)MIN(s - from, 80), from);
            return false;
        }
        str_puts(out, depth < 0 ? "); }\n" : ", ");
        from = s + 1;
        if (depth < 0)
            break;
    }
    str_printf(out, "extern \"C\" __attribute__((visibility(\"default\"))) const TlKernel "
               "tl_kernel_%.*s = {tl_run_%.*s, {1, 1, 1}, %d};\n", length, is_void + 5, length,
               is_void + 5, threads);
    return true;
}

const Assembly assembly_metal = {.enter = enter};
