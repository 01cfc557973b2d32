/* opt.c -- option tables: one table gives parsing, --help and the man page.
 *
 *     --name value   --name=value   -o value   -ovalue   --flag   --no-flag   -- ends options
 *
 * Options and positional arguments mix freely.  "-" and negative numbers are positional. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/base.h"

enum { WIDTH = 80, DOC_COLUMN = 26 };

typedef VEC(const char *) TextVec;

typedef struct {
    Arena *arena;
    const Verb *verb;
    char *fields; /* the options struct */
    bool *given;  /* by option */
    const char **why;
} Parse;

/* ---- parsing --------------------------------------------------------------------------------- */

static const char *nearest(const Verb *v, const char *name)
{
    const char *best = NULL;
    int least = MAX(2, (int)strlen(name) / 3) + 1;
    for (int i = 0; i < v->nopt; i++) {
        int far = edit_distance(name, v->opts[i].name, least - 1);
        if (far < least) {
            least = far;
            best = v->opts[i].name;
        }
    }
    return best;
}

static bool unknown(Parse *p, const char *name)
{
    const char *near = nearest(p->verb, name);
    *p->why = near ? arena_printf(p->arena, "unknown option --%s; did you mean --%s?", name, near)
                   : arena_printf(p->arena, "unknown option --%s; see tl %s --help", name,
                                  p->verb->verb);
    return false;
}

static const Opt *by_name(const Verb *v, const char *name)
{
    for (int i = 0; i < v->nopt; i++) {
        if (strcmp(v->opts[i].name, name) == 0)
            return &v->opts[i];
    }
    return NULL;
}

static const Opt *by_letter(const Verb *v, char letter)
{
    for (int i = 0; i < v->nopt; i++) {
        if (v->opts[i].letter == letter)
            return &v->opts[i];
    }
    return NULL;
}

static bool needs(Parse *p, const Opt *o, const char *what, const char *got)
{
    *p->why = arena_printf(p->arena, "--%s needs %s, not '%s'", o->name, what, got);
    return false;
}

static void list_add(Parse *p, OptList *l, const char *text)
{
    const char **at = NEWN(p->arena, const char *, l->n + 1);
    if (l->n)
        memcpy(at, l->at, sizeof *at * (size_t)l->n);
    at[l->n] = text;
    *l = (OptList){at, l->n + 1};
}

static bool store(Parse *p, const Opt *o, const char *text)
{
    void *field = p->fields + o->offset;
    char *end = NULL;
    p->given[o - p->verb->opts] = true;
    errno = 0;
    switch (o->kind) {
    case OPT_FLAG:
        break;
    case OPT_TEXT:
    case OPT_MAYBE:
        *(const char **)field = text;
        break;
    case OPT_INT:
    case OPT_COUNT:
    case OPT_MANY:
        *(int64_t *)field = strtoll(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
        if (!*text || *end || errno)
            return needs(p, o, "a whole number", text);
        if (o->kind == OPT_COUNT && *(int64_t *)field < 0)
            return needs(p, o, "a whole number from 0 on", text);
        if (o->kind == OPT_MANY && *(int64_t *)field < 1)
            return needs(p, o, "a whole number from 1 on", text);
        break;
    case OPT_DOUBLE:
        *(double *)field = strtod(text, &end);
        if (!*text || *end || !(*(double *)field >= 0 && *(double *)field < INFINITY))
            return needs(p, o, "a number from 0 on", text);
        break;
    case OPT_LIST:
        list_add(p, field, text);
        break;
    }
    return true;
}

/* `inline_value` is what follows '=' or the letter; else the next word is taken. */
static bool take(Parse *p, const Opt *o, const char *inline_value, int argc, char **argv, int *i)
{
    if (inline_value)
        return store(p, o, inline_value);
    if (o->kind == OPT_MAYBE)
        return store(p, o, "");
    if (*i + 1 < argc)
        return store(p, o, argv[++*i]);
    *p->why = arena_printf(p->arena, "--%s needs a value: --%s %s", o->name, o->name,
                           o->arg ? o->arg : "VALUE");
    return false;
}

static bool take_long(Parse *p, int argc, char **argv, int *i)
{
    const char *word = argv[*i] + 2;
    const char *equal = strchr(word, '=');
    const char *name = equal ? arena_strndup(p->arena, word, (size_t)(equal - word)) : word;
    const Opt *o = by_name(p->verb, name);
    bool on = true;
    if (!o && strncmp(name, "no-", 3) == 0) {
        o = by_name(p->verb, name + 3);
        on = false;
        if (o && o->kind != OPT_FLAG)
            o = NULL;
    }
    if (!o)
        return unknown(p, name);
    if (o->kind != OPT_FLAG)
        return take(p, o, equal ? equal + 1 : NULL, argc, argv, i);
    if (equal) {
        *p->why = arena_printf(p->arena, "--%s takes no value", name);
        return false;
    }
    *(bool *)(p->fields + o->offset) = p->given[o - p->verb->opts] = on;
    return true;
}

static bool take_letters(Parse *p, int argc, char **argv, int *i)
{
    for (const char *s = argv[*i] + 1; *s; s++) {
        const Opt *o = by_letter(p->verb, *s);
        if (!o) {
            *p->why = arena_printf(p->arena, "unknown option -%c; see tl %s --help", *s,
                                   p->verb->verb);
            return false;
        }
        if (o->kind != OPT_FLAG)
            return take(p, o, s[1] ? s + 1 : NULL, argc, argv, i);
        *(bool *)(p->fields + o->offset) = p->given[o - p->verb->opts] = true;
    }
    return true;
}

static bool is_positional(const char *word)
{
    return word[0] != '-' || word[1] == 0 || isdigit((unsigned char)word[1]) || word[1] == '.';
}

static bool asks_help(const Verb *v, const char *word)
{
    return (strcmp(word, "--help") == 0 && !by_name(v, "help")) ||
           (strcmp(word, "-h") == 0 && !by_letter(v, 'h'));
}

/* The first name of the list that was given, or NULL. */
static const char *given_of(const Parse *p, const char *list)
{
    while (list && *list) {
        size_t n = strcspn(list, " ");
        for (int i = 0; i < p->verb->nopt; i++) {
            const char *name = p->verb->opts[i].name;
            if (p->given[i] && strlen(name) == n && !memcmp(name, list, n))
                return name;
        }
        list += n + (list[n] == ' ');
    }
    return NULL;
}

static bool stand_together(Parse *p)
{
    for (int i = 0; i < p->verb->nrule; i++) {
        const OptRule *r = &p->verb->rules[i];
        const char *other = given_of(p, r->apart);
        if (!given_of(p, r->option) || (!other && (!r->needs || given_of(p, r->needs))))
            continue;
        *p->why = other ? arena_printf(p->arena, "--%s and --%s cannot stand together",
                                       r->option, other)
                        : arena_printf(p->arena, "--%s needs --%.*s", r->option,
                                       (int)strcspn(r->needs, " "), r->needs);
        return false;
    }
    return true;
}

bool opt_parse(Arena *a, const Verb *v, int argc, char **argv, void *options, const char ***args,
               int *nargs, const char **why)
{
    Parse p = {a, v, options, NEWN(a, bool, v->nopt + 1), why};
    TextVec rest = {0};
    bool ended = false;
    *why = NULL;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        bool ok = true;
        if (ended || is_positional(word))
            vec_push(a, &rest, word);
        else if (strcmp(word, "--") == 0)
            ended = true;
        else if (asks_help(v, word))
            return false;
        else if (word[1] == '-')
            ok = take_long(&p, argc, argv, &i);
        else
            ok = take_letters(&p, argc, argv, &i);
        if (!ok)
            return false;
    }
    *args = rest.at;
    *nargs = rest.n;
    return stand_together(&p);
}

/* ---- help ------------------------------------------------------------------------------------ */

/* Words of text from column `at`, broken before WIDTH, further lines indented to `indent`. */
static void put_wrapped(Str *out, const char *text, int at, int indent)
{
    while (*text) {
        size_t n = strcspn(text, " \n");
        if (at > indent && at + 1 + (int)n > WIDTH) {
            str_putc(out, '\n');
            str_indent(out, indent);
            at = indent;
        } else if (at > indent) {
            str_putc(out, ' ');
            at++;
        }
        str_putn(out, text, n);
        at += (int)n;
        text += n;
        text += strspn(text, " \n");
    }
    str_putc(out, '\n');
}

static const char *spelled(Arena *a, const Opt *o)
{
    char letter[8] = "    ";
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    const char *arg = o->arg ? o->arg : "";
    const char *between = o->kind == OPT_MAYBE ? "[=" : o->arg ? " " : "";
    return arena_printf(a, "  %s--%s%s%s%s", letter, o->name, between, arg,
                        o->kind == OPT_MAYBE ? "]" : "");
}

static void help_option(Str *out, const Opt *o)
{
    const char *left = spelled(out->arena, o);
    int n = (int)strlen(left);
    str_puts(out, left);
    if (n + 2 > DOC_COLUMN) {
        str_putc(out, '\n');
        n = 0;
    }
    str_indent(out, DOC_COLUMN - n);
    put_wrapped(out, o->doc, DOC_COLUMN, DOC_COLUMN);
}

void opt_help(Str *out, const char *program, const Verb *v)
{
    str_printf(out, "usage: %s %s%s%s%s\n\n", program, v->verb, v->nopt ? " [OPTIONS]" : "",
               v->usage && *v->usage ? " " : "", v->usage ? v->usage : "");
    put_wrapped(out, v->doc, 0, 0);
    if (v->nopt)
        str_puts(out, "\noptions:\n");
    for (int i = 0; i < v->nopt; i++)
        help_option(out, &v->opts[i]);
    if (v->detail && *v->detail) {
        str_printf(out, "\n%s", v->detail);
        if (out->s[out->n - 1] != '\n')
            str_putc(out, '\n');
    }
}

/* ---- the man page ---------------------------------------------------------------------------- */

static void man_text(Str *out, const char *s, size_t n)
{
    if (n && (s[0] == '.' || s[0] == '\''))
        str_puts(out, "\\&");
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\\')
            str_puts(out, "\\e");
        else if (s[i] == '-')
            str_puts(out, "\\-");
        else if (s[i] == '"')
            str_puts(out, "\\(dq");
        else
            str_putc(out, s[i]);
    }
}

static void man_line(Str *out, const char *s)
{
    man_text(out, s, strlen(s));
    str_putc(out, '\n');
}

/* Blank lines part paragraphs; indented lines are shown as they are. */
static void man_paragraphs(Str *out, const char *s)
{
    bool shown = false, gap = true;
    while (*s) {
        size_t n = strcspn(s, "\n");
        bool wants = n > 0 && s[0] == ' ';
        if (n == 0)
            gap = true;
        if (n && wants != shown)
            str_puts(out, wants ? ".PP\n.nf\n" : ".fi\n");
        if (n && gap && !wants)
            str_puts(out, ".PP\n");
        if (n) {
            shown = wants;
            gap = false;
            man_text(out, s, n);
            str_putc(out, '\n');
        }
        s += n + (s[n] == '\n');
    }
    if (shown)
        str_puts(out, ".fi\n");
}

static void man_option(Str *out, const Opt *o)
{
    str_puts(out, ".TP\n");
    if (o->letter)
        str_printf(out, "\\fB\\-%c\\fR, ", o->letter);
    str_puts(out, "\\fB\\-\\-");
    man_text(out, o->name, strlen(o->name));
    str_puts(out, "\\fR");
    if (o->arg) {
        str_puts(out, o->kind == OPT_MAYBE ? "[=\\fI" : " \\fI");
        man_text(out, o->arg, strlen(o->arg));
        str_puts(out, o->kind == OPT_MAYBE ? "\\fR]" : "\\fR");
    }
    str_putc(out, '\n');
    man_line(out, o->doc);
}

void opt_man(Str *out, const char *program, const char *about, const Verb *verbs, int nverb)
{
    str_puts(out, ".TH ");
    for (const char *s = program; *s; s++)
        str_putc(out, (char)toupper((unsigned char)*s));
    str_puts(out, " 1\n.SH NAME\n");
    str_printf(out, "%s \\- ", program);
    man_line(out, about);
    str_printf(out, ".SH SYNOPSIS\n.B %s\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]\n",
               program);
    str_puts(out, ".SH COMMANDS\n");
    for (int i = 0; i < nverb; i++) {
        const Verb *v = &verbs[i];
        str_printf(out, ".SS \"%s %s ", program, v->verb);
        man_text(out, v->usage ? v->usage : "", v->usage ? strlen(v->usage) : 0);
        str_puts(out, "\"\n");
        man_line(out, v->doc);
        if (v->detail)
            man_paragraphs(out, v->detail);
        for (int j = 0; j < v->nopt; j++)
            man_option(out, &v->opts[j]);
    }
}
