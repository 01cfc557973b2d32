/* paste.c -- the helpers a kernel uses, out of the files of device/.
 *
 * Those files are read as pieces: a definition that starts in the first column, with the comment
 * above it.  A piece is pasted once, after the pieces that it mentions.  Files are searched in
 * order, so that an architecture's own instructions come before what works everywhere. */
#include <ctype.h>
#include "target/paste.h"

typedef struct Piece Piece;
struct Piece {
    const char *at;
    size_t n;
    int file;
    bool pasted;
    Piece *same; /* another of this name in the same file: an overload */
};

typedef struct {
    Arena *a;
    Map by_name; /* text -> Piece */
    Str *out;
} Paste;

static bool is_word(char ch)
{
    return isalnum((unsigned char)ch) || ch == '_';
}

/* The name a line in the first column defines, or NULL. */
static const char *defined_name(Arena *a, const char *line, size_t n)
{
    if (n > 8 && !strncmp(line, "#define ", 8)) {
        size_t len = 0;
        while (8 + len < n && is_word(line[8 + len]))
            len++;
        return arena_strndup(a, line + 8, len);
    }
    if (n > 7 && !strncmp(line, "struct ", 7)) {
        size_t len = 7;
        while (len < n && is_word(line[len]))
            len++;
        return arena_strndup(a, line + 7, len - 7);
    }
    if (!n || (!isalpha((unsigned char)line[0])))
        return NULL;
    const char *paren = memchr(line, '(', n);
    if (!paren)
        return NULL;
    const char *start = paren;
    while (start > line && is_word(start[-1]))
        start--;
    return start < paren ? arena_strndup(a, start, (size_t)(paren - start)) : NULL;
}

static void add_piece(Paste *p, const char *name, const char *at, size_t n, int file)
{
    Piece *old = map_get(&p->by_name, name);
    Piece *new = NEW(p->a, Piece);

    *new = (Piece){.at = at, .n = n, .file = file};
    if (!old) {
        map_set(&p->by_name, name, new);
        return;
    }
    if (old->file != file)
        return;
    while (old->same)
        old = old->same;
    old->same = new;
}

/* A piece ends at "}" or "};" in the first column, at the end of a line that opens and closes, or
 * at a blank line; a line "#define" without a continuation is one. */
static bool ends_piece(const char *line, size_t n)
{
    if (n == 0 || line[0] == '}')
        return true;
    if (line[0] == ' ' || line[0] == '{' || line[0] == '/')
        return false;
    if (line[0] == '#')
        return line[n - 1] != '\\' && !strncmp(line, "#define", 7);
    return line[n - 1] == '}' || line[n - 1] == ';';
}

static void read_pieces(Paste *p, const char *text, int file)
{
    const char *start = text, *name = NULL;

    while (*text) {
        size_t n = strcspn(text, "\n");
        const char *next = text + n + (text[n] == '\n');
        const char *said = defined_name(p->a, text, n);
        if (said && !name)
            name = said;
        if (ends_piece(text, n)) {
            if (name)
                add_piece(p, name, start, (size_t)(next - start), file);
            name = NULL;
            start = next;
        }
        text = next;
    }
}

static void paste_needs(Paste *p, const char *text, size_t n);

/* Comments stay with their piece; C of the CPU becomes a device function. */
static void paste_piece(Paste *p, Piece *piece)
{
    static const char cpu[] = "static inline ";

    for (; piece; piece = piece->same) {
        if (piece->pasted)
            continue;
        piece->pasted = true;
        paste_needs(p, piece->at, piece->n);
        const char *s = piece->at, *end = s + piece->n;
        while (s < end && (*s == '\n' || !strncmp(s, "/* ---", 6) || !strncmp(s, "#if", 3) ||
                           !strncmp(s, "#include", 8)))
            s += strcspn(s, "\n") + 1;
        while (s < end) {
            size_t n = strcspn(s, "\n") + 1;
            bool is_cpu = !strncmp(s, cpu, sizeof cpu - 1);
            if (is_cpu) {
                str_puts(p->out, "TL_DEVICE ");
                s += sizeof cpu - 1;
                n -= sizeof cpu - 1;
            }
            if (n > 1)
                str_putn(p->out, s, n);
            s += n;
        }
        str_putc(p->out, '\n');
    }
}

static void paste_needs(Paste *p, const char *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t len = 0;
        while (i + len < n && is_word(text[i + len]))
            len++;
        if (len == 0) {
            i++;
            continue;
        }
        if (isalpha((unsigned char)text[i]) || text[i] == '_') {
            char name[64];
            snprintf(name, sizeof name, "%.*s", (int)MIN(len, sizeof name - 1), text + i);
            Piece *piece = map_get(&p->by_name, name);
            if (piece)
                paste_piece(p, piece);
        }
        i += len;
    }
}

void device_paste(Arena *a, const unsigned char *const *file, const unsigned char *head,
                  const char *text, Str *out)
{
    Paste p = {.a = a, .out = out};

    map_init_text(&p.by_name, a);
    for (int i = 0; file[i]; i++)
        read_pieces(&p, (const char *)file[i], i);
    str_puts(out, (const char *)head);
    str_putc(out, '\n');
    paste_needs(&p, text, strlen(text));
}
