/* names.c -- legal, unique names for printing and emission.
 *
 * The first thing called i is i, the second i_1 (in the text form i.1, so that the reader can tell
 * the number from the name).  The answer depends only on the order in which things are asked
 * for. */
#include "ir/text.h"

struct NameTable {
    Arena *arena;
    Map of;   /* thing -> name */
    Map used; /* name -> anything */
    char separator;
    WordFn *taken; /* no name is such a word; NULL: all may be */
    Map next; /* base name -> next number to try, as a pointer into numbers */
};

NameTable *names_of(Arena *a)
{
    NameTable *t = NEW(a, NameTable);
    t->arena = a;
    t->separator = '_';
    map_init(&t->of, a);
    map_init_text(&t->used, a);
    map_init_text(&t->next, a);
    return t;
}

/* An identifier of C and of the text form: ASCII letters, digits, underscores. */
static char *legal(Arena *a, const char *hint)
{
    Str s;
    str_init(&s, a);
    if (!hint || !*hint)
        hint = "v";
    if (!is_letter(*hint))
        str_putc(&s, '_');
    for (const char *p = hint; *p; p++) {
        bool ok = is_letter(*p) || (*p >= '0' && *p <= '9');
        if (ok)
            str_putc(&s, *p);
        else if ((*p & 0xc0) != 0x80) /* one underscore for a whole UTF-8 character */
            str_putc(&s, '_');
    }
    return s.s;
}

/* A number at the end does not make `__shared__` or `tl_f` anybody else's. */
static const char *free_base(NameTable *t, const char *base)
{
    bool ours = base[0] == '_' || !strncmp(base, "tl_", 3) || !strncmp(base, "TL_", 3);
    bool theirs = t->taken && ours && t->taken(t->arena, base);
    return theirs ? arena_printf(t->arena, "v%s", base) : base;
}

const char *name_for(NameTable *t, const void *thing, const char *hint)
{
    const char *name = map_get(&t->of, thing);
    if (name)
        return name;
    char *base = legal(t->arena, hint);
    name = base;
    if (map_has(&t->used, base) || (t->taken && t->taken(t->arena, base))) {
        int *next = map_get(&t->next, base);
        if (!next) {
            next = NEW(t->arena, int);
            map_set(&t->next, base, next);
        }
        do
            name = arena_printf(t->arena, "%s%c%d", free_base(t, base), t->separator, ++*next);
        while (map_has(&t->used, name));
    }
    map_set(&t->of, thing, name);
    map_set(&t->used, name, name);
    return name;
}

void name_reserve(NameTable *t, const char *word)
{
    map_set(&t->used, word, word);
}

void name_avoid(NameTable *t, WordFn *taken)
{
    t->taken = taken;
}

void name_separator(NameTable *t, char c)
{
    t->separator = c;
}
