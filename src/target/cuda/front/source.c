/* source.c -- T.CUDASourceCodeKernel: a launch of a kernel that is CUDA C already.
 *
 * Its Kernel has no body; the text is its prelude, and the hint "entry_name" says which function of
 * the text is launched.  It gets the tensors and scalars of the function in their order, then its
 * run-time dimensions. */
#include <ctype.h>
#include "front/builtin.h"
#include "front/eval.h"

enum { GRID, THREADS, SOURCE, ENTRY, CLUSTER, PRELUDE };

/* A path object of Python's stands for its text. */
static const char *text_of(BuiltinCall *c, int i)
{
    Value fspath, v = c->arg[i];

    if (is_foreign(&v) && attr_foreign(c->ev, c->span, v.u.foreign, "__fspath__", &fspath))
        v = call_foreign(c->ev, c->span, &fspath, &(CallArgs){0});
    if (!value_text(&v))
        arg_fail(c, i, "must be CUDA C or the name of a file of it [argument-type]");
    return value_text(&v);
}

static const char *source_of(BuiltinCall *c, int i)
{
    const char *text = text_of(c, i), *why = "";
    char *data;
    size_t n;

    if (strchr(text, '\n') || strstr(text, "__global__"))
        return text;
    if (file_read(c->ev->arena, text, &data, &n, &why) != STATUS_OK)
        arg_fail(c, i, "names a file that cannot be read: %s [argument-type]", why);
    return arena_strndup(c->ev->arena, data, n);
}

static const char *skip_space(const char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    return s;
}

static size_t word_length(const char *s)
{
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '_')
        n++;
    return n;
}

static bool is_word_at(const char *s, const char *word)
{
    return word_length(s) == strlen(word) && !strncmp(s, word, strlen(word));
}

/* The name of the function that is declared after a __global__, or "". */
static const char *entry_after(Arena *a, const char *s)
{
    for (s = skip_space(s); is_word_at(s, "void") || is_word_at(s, "__launch_bounds__");) {
        bool bounds = is_word_at(s, "__launch_bounds__");
        s = skip_space(s + word_length(s));
        if (bounds && *s == '(') {
            s += strcspn(s, ")");
            s = skip_space(s + (*s == ')'));
        }
    }
    return arena_strndup(a, s, word_length(s));
}

static void check_entry(BuiltinCall *c, int i, const char *text, const char *entry)
{
    static const char word[] = "__global__";
    Str names;
    bool found = false;

    str_init(&names, c->ev->arena);
    for (const char *s = text; (s = strstr(s, word));) {
        s += sizeof word - 1;
        const char *name = entry_after(c->ev->arena, s);
        found |= !strcmp(name, entry);
        if (*name)
            str_printf(&names, "%s%s", names.n ? ", " : "", name);
    }
    if (!names.n)
        call_fail(c, "the text has no __global__ function [argument-type]");
    if (!found)
        arg_fail(c, i, "is no __global__ function of the text: '%s'. Available entries: %s "
                 "[argument-type]", entry, names.s);
}

static Kernel *make_kernel(BuiltinCall *c, const Frame *f, const char *text, const char *entry)
{
    static const char *const block[] = {"bx", "by", "bz"};
    Kernel *k = kernel_new(c->ev->trace->func, ir_name(c->ev->ir, entry), c->span);

    k->ngrid = f->n;
    k->prelude = text;
    hints_text(c->ev, &k->hints, "entry_name", entry);
    for (int i = 0; i < f->n; i++) {
        k->grid[i] = f->extent[i];
        k->block[i] = var_new(c->ev->ir, block[i], DT_I32, c->span);
    }
    for (int i = 0; i < 3; i++) {
        k->threads[i] = f->threads[i];
        k->cluster[i] = f->cluster[i];
    }
    k->body = stmt_block(c->ev->ir, c->span, 0, NULL);
    return k;
}

Value do_source_kernel(BuiltinCall *c)
{
    Trace *t = c->ev->trace;
    const char *text, *entry;

    trace_need(c->ev, c->span, "T.CUDASourceCodeKernel");
    if (t->eager == 1)
        return value_none();
    if (t->kernel)
        call_fail(c, "cannot stand inside of T.Kernel [nested-kernel]");
    Value frame = kernel_frame(c, THREADS, CLUSTER, PRELUDE);
    if (!arg_given(c, SOURCE))
        call_fail(c, "needs source_code_or_path [argument-type]");
    text = source_of(c, SOURCE);
    entry = arg_text(c, ENTRY);
    if (!entry || !*entry)
        arg_fail(c, ENTRY, "must name a function of the text [argument-type]");
    if (frame.u.frame->prelude)
        text = arena_printf(c->ev->arena, "%s\n%s", frame.u.frame->prelude, text);
    check_entry(c, ENTRY, text, entry);
    trace_emit(c->ev, stmt_launch(c->ev->ir, c->span,
                                  make_kernel(c, frame.u.frame, text, entry)));
    return value_none();
}
