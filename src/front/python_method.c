/* python_method.c -- methods of str, list, tuple, dict and set. */
#include <ctype.h>
#include <math.h>

#include "front/python.h"

void set_insert(Eval *ev, const Value *set, const Value *v)
{
    eval_work(ev, NO_SPAN, (uint64_t)set->u.seq->n / 8 + 1);
    for (int i = 0; i < set->u.seq->n; i++)
        if (value_equal(ev, &set->u.seq->at[i], v))
            return;
    seq_push(ev, set->u.seq, v);
}

static const char *text_arg(BuiltinCall *c, int i)
{
    if (c->arg[i].kind != V_STR)
        diag_fail(c->ev->diag, c->arg_span[i], "%s needs a str, not %s [operand-types]", c->b->name,
                  value_kind_name(&c->arg[i]));
    return c->arg[i].u.s.text;
}

/* ---- str ------------------------------------------------------------------------------------- */

static Value str_case(BuiltinCall *c, int (*change)(int))
{
    const Value *v = &c->arg[0];
    char *s = arena_strndup(c->ev->arena, v->u.s.text, v->u.s.len);
    for (size_t i = 0; i < v->u.s.len; i++)
        s[i] = (char)((unsigned char)s[i] < 128 ? change((unsigned char)s[i]) : s[i]);
    return value_str(c->ev, s, v->u.s.len);
}

static Value str_upper(BuiltinCall *c) { return str_case(c, toupper); }
static Value str_lower(BuiltinCall *c) { return str_case(c, tolower); }

static Value strip_ends(BuiltinCall *c, bool left, bool right)
{
    const char *drop = c->arg[1].kind == V_NONE ? " \t\n\r\f\v" : text_arg(c, 1);
    const char *s = c->arg[0].u.s.text, *end = s + c->arg[0].u.s.len;
    while (left && s < end && strchr(drop, *s))
        s++;
    while (right && end > s && strchr(drop, end[-1]))
        end--;
    return value_str(c->ev, s, (size_t)(end - s));
}

static Value str_strip(BuiltinCall *c) { return strip_ends(c, true, true); }
static Value str_lstrip(BuiltinCall *c) { return strip_ends(c, true, false); }
static Value str_rstrip(BuiltinCall *c) { return strip_ends(c, false, true); }

static bool ends_match(BuiltinCall *c, const Value *part, bool start)
{
    const Value *v = &c->arg[0];
    if (part->kind != V_STR)
        diag_fail(c->ev->diag, c->span, "%s needs a str [operand-types]", c->b->name);
    if (part->u.s.len > v->u.s.len)
        return false;
    const char *at = start ? v->u.s.text : v->u.s.text + v->u.s.len - part->u.s.len;
    return !memcmp(at, part->u.s.text, part->u.s.len);
}

static Value match_any(BuiltinCall *c, bool start)
{
    if (c->arg[1].kind != V_TUPLE)
        return value_bool(ends_match(c, &c->arg[1], start));
    for (int i = 0; i < c->arg[1].u.seq->n; i++)
        if (ends_match(c, &c->arg[1].u.seq->at[i], start))
            return value_bool(true);
    return value_bool(false);
}

static Value str_startswith(BuiltinCall *c) { return match_any(c, true); }
static Value str_endswith(BuiltinCall *c) { return match_any(c, false); }

static Value str_split(BuiltinCall *c)
{
    Value out = value_seq(c->ev, V_LIST, NULL, 0);
    const char *s = c->arg[0].u.s.text;
    int64_t most = to_int(c->ev, c->span, &c->arg[2], "split: 'maxsplit'");
    if (c->arg[1].kind == V_NONE) {
        while (*(s += strspn(s, " \t\n\r\f\v"))) {
            size_t n = most == 0 ? strlen(s) : strcspn(s, " \t\n\r\f\v");
            Value part = value_str(c->ev, s, n);
            seq_push(c->ev, out.u.seq, &part);
            s += n;
            most--;
        }
        return out;
    }
    const char *by = text_arg(c, 1);
    if (!*by)
        diag_fail(c->ev->diag, c->span, "split by an empty str [operand-types]");
    for (;;) {
        const char *next = most == 0 ? NULL : strstr(s, by);
        Value part = value_str(c->ev, s, next ? (size_t)(next - s) : strlen(s));
        seq_push(c->ev, out.u.seq, &part);
        if (!next)
            return out;
        s = next + strlen(by);
        most--;
    }
}

static Value str_replace(BuiltinCall *c)
{
    const char *s = c->arg[0].u.s.text, *from = text_arg(c, 1), *to = text_arg(c, 2);
    Str b;
    str_init(&b, c->ev->arena);
    if (!*from)
        return c->arg[0];
    for (const char *next; (next = strstr(s, from)); s = next + strlen(from)) {
        str_putn(&b, s, (size_t)(next - s));
        str_puts(&b, to);
        eval_work(c->ev, c->span, 1 + strlen(to) / 16);
    }
    str_puts(&b, s);
    return value_str(c->ev, b.s, b.n);
}

static Value str_join(BuiltinCall *c)
{
    Value *item;
    int n = value_items(c->ev, c->arg_span[1], &c->arg[1], &item, "join");
    Str b;
    str_init(&b, c->ev->arena);
    for (int i = 0; i < n; i++) {
        if (item[i].kind != V_STR)
            diag_fail(c->ev->diag, c->arg_span[1], "join needs strs, not %s [operand-types]",
                      value_kind_name(&item[i]));
        if (i)
            str_putn(&b, c->arg[0].u.s.text, c->arg[0].u.s.len);
        str_putn(&b, item[i].u.s.text, item[i].u.s.len);
        eval_work(c->ev, c->span, 1 + item[i].u.s.len / 16);
    }
    return value_str(c->ev, b.s, b.n);
}

static Value str_find(BuiltinCall *c)
{
    const char *at = strstr(c->arg[0].u.s.text, text_arg(c, 1));
    return value_int(at ? at - c->arg[0].u.s.text : -1);
}

static Value str_count(BuiltinCall *c)
{
    const char *part = text_arg(c, 1);
    int64_t n = 0;
    for (const char *s = c->arg[0].u.s.text; *part && (s = strstr(s, part)); s += strlen(part))
        n++;
    return value_int(n);
}

static Value str_is(BuiltinCall *c, int (*test)(int))
{
    const Value *v = &c->arg[0];
    for (size_t i = 0; i < v->u.s.len; i++)
        if (!test((unsigned char)v->u.s.text[i]))
            return value_bool(false);
    return value_bool(v->u.s.len > 0);
}

static Value str_isdigit(BuiltinCall *c) { return str_is(c, isdigit); }
static Value str_isalpha(BuiltinCall *c) { return str_is(c, isalpha); }

/* One {field} of str.format: a place or a name, then conversion and spec. */
static Value format_field(BuiltinCall *c, const char *field, size_t n, int *next)
{
    if (n == 0 || isdigit((unsigned char)field[0])) {
        int i = n ? 0 : (*next)++;
        for (size_t k = 0; k < n && i < 100000; k++)
            i = i * 10 + (field[k] - '0');
        if (i < 0 || i >= c->nrest)
            diag_fail(c->ev->diag, c->span, "format: there is no argument %d [format-spec]", i);
        return c->rest[i];
    }
    Value key = value_str(c->ev, field, n), *v = dict_find(c->ev, &c->arg[2], &key);
    if (!v)
        diag_fail(c->ev->diag, c->span, "format: there is no argument '%s' [format-spec]",
                  key.u.s.text);
    return *v;
}

static Value str_format(BuiltinCall *c)
{
    Str b;
    int next = 0;
    str_init(&b, c->ev->arena);
    for (const char *s = c->arg[0].u.s.text; *s; s++) {
        if ((s[0] == '{' && s[1] == '{') || (s[0] == '}' && s[1] == '}')) {
            str_putc(&b, *s++);
            continue;
        }
        if (*s != '{') {
            str_putc(&b, *s);
            continue;
        }
        size_t all = strcspn(s, "}"), name = strcspn(s + 1, "!:}");
        if (!s[all])
            diag_fail(c->ev->diag, c->span, "format: '{' is not closed [format-spec]");
        Value v = format_field(c, s + 1, name, &next);
        value_format(c->ev, c->span, &b, &v,
                     arena_strndup(c->ev->arena, s + 1 + name, all - 1 - name));
        s += all;
    }
    return value_str(c->ev, b.s, b.n);
}

/* ---- list and tuple -------------------------------------------------------------------------- */

static Value list_append(BuiltinCall *c)
{
    seq_push(c->ev, c->arg[0].u.seq, &c->arg[1]);
    return value_none();
}

static Value list_extend(BuiltinCall *c)
{
    Value *item;
    int n = value_items(c->ev, c->arg_span[1], &c->arg[1], &item, "extend");
    eval_work(c->ev, c->span, (uint64_t)n);
    for (int i = 0; i < n; i++)
        seq_push(c->ev, c->arg[0].u.seq, &item[i]);
    return value_none();
}

static Value list_pop(BuiltinCall *c)
{
    Seq *s = c->arg[0].u.seq;
    int64_t i = to_int(c->ev, c->span, &c->arg[1], "pop: its index");
    i = i < 0 ? i + s->n : i;
    if (i < 0 || i >= s->n)
        diag_fail(c->ev->diag, c->span, "pop from outside of the list [index-range]");
    Value v = s->at[i];
    memmove(s->at + i, s->at + i + 1, sizeof *s->at * (size_t)(s->n - i - 1));
    s->n--;
    return v;
}

static Value list_insert(BuiltinCall *c)
{
    Seq *s = c->arg[0].u.seq;
    int64_t i = to_int(c->ev, c->span, &c->arg[1], "insert: its index");
    i = i < 0 ? MAX(i + s->n, 0) : MIN(i, s->n);
    eval_work(c->ev, c->span, (uint64_t)s->n / 8 + 1);
    seq_push(c->ev, s, &c->arg[2]);
    memmove(s->at + i + 1, s->at + i, sizeof *s->at * (size_t)(s->n - 1 - i));
    s->at[i] = c->arg[2];
    return value_none();
}

static int seq_position(BuiltinCall *c)
{
    const Seq *s = c->arg[0].u.seq;
    for (int i = 0; i < s->n; i++)
        if (value_equal(c->ev, &s->at[i], &c->arg[1]))
            return i;
    return -1;
}

static Value list_index(BuiltinCall *c)
{
    int i = seq_position(c);
    if (i < 0)
        diag_fail(c->ev->diag, c->span, "the value is not in the list [missing-key]");
    return value_int(i);
}

static Value list_remove(BuiltinCall *c)
{
    Seq *s = c->arg[0].u.seq;
    int i = seq_position(c);
    if (i < 0)
        diag_fail(c->ev->diag, c->span, "the value is not there [missing-key]");
    memmove(s->at + i, s->at + i + 1, sizeof *s->at * (size_t)(s->n - i - 1));
    s->n--;
    return value_none();
}

static Value list_count(BuiltinCall *c)
{
    const Seq *s = c->arg[0].u.seq;
    int64_t n = 0;
    for (int i = 0; i < s->n; i++)
        n += value_equal(c->ev, &s->at[i], &c->arg[1]);
    return value_int(n);
}

static Value list_reverse(BuiltinCall *c)
{
    Seq *s = c->arg[0].u.seq;
    for (int i = 0; i < s->n / 2; i++) {
        Value v = s->at[i];
        s->at[i] = s->at[s->n - 1 - i];
        s->at[s->n - 1 - i] = v;
    }
    return value_none();
}

static Value list_sort(BuiltinCall *c)
{
    sort_values(c->ev, c->span, c->arg[0].u.seq->at, c->arg[0].u.seq->n, &c->arg[1],
                value_truth(c->ev, c->span, &c->arg[2]));
    return value_none();
}

static Value seq_copy(BuiltinCall *c)
{
    return value_seq(c->ev, c->arg[0].kind, c->arg[0].u.seq->at, c->arg[0].u.seq->n);
}

static Value seq_clear(BuiltinCall *c)
{
    c->arg[0].u.seq->n = 0;
    return value_none();
}

/* ---- dict and set ---------------------------------------------------------------------------- */

static Value dict_get(BuiltinCall *c)
{
    Value *v = dict_find(c->ev, &c->arg[0], &c->arg[1]);
    return v ? *v : c->arg[2];
}

static Value dict_part(BuiltinCall *c, int which)
{
    const Seq *s = c->arg[0].u.seq;
    Value out = value_seq(c->ev, V_LIST, NULL, 0);
    for (int i = 0; i + 1 < s->n; i += 2) {
        Value v = which < 2 ? s->at[i + which] : value_seq(c->ev, V_TUPLE, &s->at[i], 2);
        seq_push(c->ev, out.u.seq, &v);
    }
    return out;
}

static Value dict_keys(BuiltinCall *c) { return dict_part(c, 0); }
static Value dict_values(BuiltinCall *c) { return dict_part(c, 1); }
static Value dict_items(BuiltinCall *c) { return dict_part(c, 2); }

static Value dict_update(BuiltinCall *c)
{
    const Value *from[2] = {&c->arg[1], &c->arg[2]};
    for (int k = 0; k < 2; k++) {
        if (from[k]->kind == V_NONE)
            continue;
        if (from[k]->kind != V_DICT)
            diag_fail(c->ev->diag, c->arg_span[1], "update needs a dict [operand-types]");
        for (int i = 0; i + 1 < from[k]->u.seq->n; i += 2)
            dict_set(c->ev, &c->arg[0], &from[k]->u.seq->at[i], &from[k]->u.seq->at[i + 1]);
    }
    return value_none();
}

static Value dict_pop(BuiltinCall *c)
{
    Seq *s = c->arg[0].u.seq;
    Value *v = dict_find(c->ev, &c->arg[0], &c->arg[1]);
    if (!v && c->nrest)
        return c->rest[0];
    if (!v)
        diag_fail(c->ev->diag, c->span, "the dict has no such key [missing-key]");
    Value out = *v;
    int at = (int)(v - s->at) - 1;
    memmove(s->at + at, s->at + at + 2, sizeof *s->at * (size_t)(s->n - at - 2));
    s->n -= 2;
    return out;
}

static Value dict_setdefault(BuiltinCall *c)
{
    Value *v = dict_find(c->ev, &c->arg[0], &c->arg[1]);
    if (!v)
        dict_set(c->ev, &c->arg[0], &c->arg[1], &c->arg[2]);
    return v ? *v : c->arg[2];
}

static Value set_add(BuiltinCall *c)
{
    set_insert(c->ev, &c->arg[0], &c->arg[1]);
    return value_none();
}

static Value set_update(BuiltinCall *c)
{
    Value *item;
    int n = value_items(c->ev, c->arg_span[1], &c->arg[1], &item, "update");
    for (int i = 0; i < n; i++)
        set_insert(c->ev, &c->arg[0], &item[i]);
    return value_none();
}

static Value set_discard(BuiltinCall *c)
{
    return seq_position(c) < 0 ? value_none() : list_remove(c);
}

static Value set_join(BuiltinCall *c, TokenKind op)
{
    Value *item, other = value_seq(c->ev, V_SET, NULL, 0);
    int n = value_items(c->ev, c->arg_span[1], &c->arg[1], &item, c->b->name);
    for (int i = 0; i < n; i++)
        set_insert(c->ev, &other, &item[i]);
    return eval_binary(c->ev, c->span, op, &c->arg[0], &other);
}

static Value set_union(BuiltinCall *c) { return set_join(c, TK_BITOR); }
static Value set_intersection(BuiltinCall *c) { return set_join(c, TK_BITAND); }
static Value set_difference(BuiltinCall *c) { return set_join(c, TK_SUB); }

/* ---- numbers --------------------------------------------------------------------------------- */

static Value int_bit_length(BuiltinCall *c)
{
    uint64_t n = c->arg[0].u.i < 0 ? 0 - (uint64_t)c->arg[0].u.i : (uint64_t)c->arg[0].u.i;
    int bits = 0;
    for (; n; n >>= 1)
        bits++;
    return value_int(bits);
}

static Value float_is_integer(BuiltinCall *c)
{
    return value_bool(c->arg[0].kind != V_FLOAT || floor(c->arg[0].u.f) == c->arg[0].u.f);
}

typedef struct {
    unsigned kinds;
    Builtin b;
} MethodRow;

#define K(k) (1u << V_##k)
static const MethodRow methods[] = {
#define ROW(kinds, name, signature, run) {kinds, {name, signature, run, "", "python", ""}}
    ROW(K(STR), "upper", "self", str_upper),
    ROW(K(STR), "lower", "self", str_lower),
    ROW(K(STR), "strip", "self, chars=None", str_strip),
    ROW(K(STR), "lstrip", "self, chars=None", str_lstrip),
    ROW(K(STR), "rstrip", "self, chars=None", str_rstrip),
    ROW(K(STR), "startswith", "self, prefix", str_startswith),
    ROW(K(STR), "endswith", "self, suffix", str_endswith),
    ROW(K(STR), "split", "self, sep=None, maxsplit=-1", str_split),
    ROW(K(STR), "replace", "self, old, new", str_replace),
    ROW(K(STR), "join", "self, x", str_join),
    ROW(K(STR), "find", "self, sub", str_find),
    ROW(K(STR), "count", "self, sub", str_count),
    ROW(K(STR), "isdigit", "self", str_isdigit),
    ROW(K(STR), "isalpha", "self", str_isalpha),
    ROW(K(STR), "format", "self, *args, **keys", str_format),
    ROW(K(INT) | K(BOOL), "bit_length", "self", int_bit_length),
    ROW(K(INT) | K(FLOAT), "is_integer", "self", float_is_integer),
    ROW(K(LIST), "append", "self, x", list_append),
    ROW(K(LIST), "extend", "self, x", list_extend),
    ROW(K(LIST), "pop", "self, i=-1", list_pop),
    ROW(K(LIST), "insert", "self, i, x", list_insert),
    ROW(K(LIST) | K(TUPLE), "index", "self, x", list_index),
    ROW(K(LIST) | K(TUPLE), "count", "self, x", list_count),
    ROW(K(LIST), "remove", "self, x", list_remove),
    ROW(K(LIST), "reverse", "self", list_reverse),
    ROW(K(LIST), "sort", "self, *, key=None, reverse=False", list_sort),
    ROW(K(LIST) | K(DICT) | K(SET), "copy", "self", seq_copy),
    ROW(K(LIST) | K(DICT) | K(SET), "clear", "self", seq_clear),
    ROW(K(DICT), "get", "self, key, default=None", dict_get),
    ROW(K(DICT), "keys", "self", dict_keys),
    ROW(K(DICT), "values", "self", dict_values),
    ROW(K(DICT), "items", "self", dict_items),
    ROW(K(DICT), "update", "self, x=None, **keys", dict_update),
    ROW(K(DICT), "pop", "self, key, *default", dict_pop),
    ROW(K(DICT), "setdefault", "self, key, default=None", dict_setdefault),
    ROW(K(SET), "add", "self, x", set_add),
    ROW(K(SET), "update", "self, x", set_update),
    ROW(K(SET), "remove", "self, x", list_remove),
    ROW(K(SET), "discard", "self, x", set_discard),
    ROW(K(SET), "union", "self, x", set_union),
    ROW(K(SET), "intersection", "self, x", set_intersection),
    ROW(K(SET), "difference", "self, x", set_difference),
#undef ROW
};
#undef K

const Builtin *python_method(const Value *v, const char *name)
{
    for (int i = 0; i < COUNT(methods); i++)
        if ((methods[i].kinds >> v->kind & 1) && !strcmp(methods[i].b.name, name))
            return &methods[i].b;
    return NULL;
}
