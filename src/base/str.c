/* str.c -- a string builder in an arena; interned names. */
#include <math.h>
#include <float.h>
#include <pthread.h>
#include <stdlib.h>
#include "base/base.h"

enum { STR_LEAST = 64 };

void str_init(Str *b, Arena *a)
{
    *b = (Str){.arena = a, .s = arena_alloc(a, STR_LEAST), .cap = STR_LEAST};
}

/* Room for n more bytes and the terminator. */
static void str_reserve(Str *b, size_t n)
{
    if (n < b->cap - b->n)
        return;
    if (n > PTRDIFF_MAX / 4)
        recover_throw(STATUS_MEM, "out of memory");
    size_t cap = b->cap * 2;
    while (cap - b->n <= n)
        cap *= 2;
    char *s = arena_alloc(b->arena, cap);
    memcpy(s, b->s, b->n);
    b->s = s;
    b->cap = cap;
}

void str_putn(Str *b, const char *s, size_t n)
{
    if (!n)
        return;
    str_reserve(b, n);
    memcpy(b->s + b->n, s, n);
    b->n += n;
    b->s[b->n] = 0;
}

void str_putc(Str *b, char c)
{
    str_putn(b, &c, 1);
}

void str_puts(Str *b, const char *s)
{
    str_putn(b, s, strlen(s));
}

void str_vprintf(Str *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    size_t room = b->cap - b->n;
    int n = vsnprintf(b->s + b->n, room, fmt, ap);
    if (n >= 0 && (size_t)n >= room) {
        b->s[b->n] = 0;
        str_reserve(b, (size_t)n);
        vsnprintf(b->s + b->n, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    BUG(n < 0, "cannot format '%s'", fmt);
    b->n += (size_t)n;
}

void str_printf(Str *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    str_vprintf(b, fmt, ap);
    va_end(ap);
}

void str_indent(Str *b, int columns)
{
    if (columns <= 0)
        return;
    str_reserve(b, (size_t)columns);
    memset(b->s + b->n, ' ', (size_t)columns);
    b->n += (size_t)columns;
    b->s[b->n] = 0;
}

/* DBL_DIG digits are the shortest when they read back at all, since %g drops trailing zeros; only
 * subnormal numbers, which hold fewer digits, have to be tried from one digit up. */
static void double_shortest(char text[40], double v)
{
    for (int digits = fabs(v) < DBL_MIN ? 1 : DBL_DIG; digits <= DBL_DIG + 2; digits++) {
        snprintf(text, 40, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            return;
    }
}

void str_double(Str *b, double v)
{
    if (isnan(v) || isinf(v)) {
        str_puts(b, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
        return;
    }
    char text[40];
    double_shortest(text, v);
    /* The host program may have set a locale whose decimal point is something else. */
    for (const char *p = text; *p; p++) {
        if (strchr("0123456789+-e", *p))
            str_putc(b, *p);
        else if (b->s[b->n - 1] != '.')
            str_putc(b, '.');
    }
}

void str_utf8(Str *out, uint32_t c)
{
    if (c < 0x80) {
        str_putc(out, (char)c);
        return;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    str_putc(out, (char)((0xF00 >> (more + 1) & 0xFF) | c >> (6 * more)));
    while (more-- > 0)
        str_putc(out, (char)(0x80 | (c >> (6 * more) & 0x3F)));
}

int utf8_next(const char *text, size_t n, uint32_t *code)
{
    const unsigned char *s = (const unsigned char *)text;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    *code = s[0] < 0x80 ? s[0] : 0;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 1;
    int len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if ((size_t)len > n)
        return 1;
    uint32_t c = s[0] & (0x7fu >> len);
    for (int i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 1;
        c = c << 6 | (s[i] & 0x3fu);
    }
    if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 1;
    *code = c;
    return len;
}

/* ---- interned names --------------------------------------------------------------------- */

typedef struct {
    const char *s;
    size_t n;
    uint64_t hash;
} Name;

struct Names {
    pthread_mutex_t lock;
    ForkLock fork;
    Arena *arena;
    Name *slot; /* linearly probed; s NULL = empty */
    size_t nslot, nused;
};

enum { NAMES_LEAST = 256 };

Names *names_new(void)
{
    Arena *a = arena_new();
    Names *volatile t = NULL;
    Recover r;
    if (recover_open(&r) == 0) {
        t = NEW(a, Names);
        *t = (Names){.arena = a, .slot = NEWN(a, Name, NAMES_LEAST), .nslot = NAMES_LEAST};
        recover_close(&r);
    }
    if (r.status != STATUS_OK) {
        arena_free(a);
        recover_throw(r.status, "%s", r.text);
    }
    t->fork = (ForkLock){.lock = &t->lock};
    fork_lock_open(&t->fork);
    return t;
}

void names_free(Names *t)
{
    if (!t)
        return;
    fork_lock_close(&t->fork);
    arena_free(t->arena);
}

static Name *name_find(const Names *t, const char *s, size_t n, uint64_t hash)
{
    size_t i = hash & (t->nslot - 1);
    for (;; i = (i + 1) & (t->nslot - 1)) {
        Name *e = &t->slot[i];
        if (!e->s || (e->hash == hash && e->n == n && memcmp(e->s, s, n) == 0))
            return e;
    }
}

static void names_grow(Names *t)
{
    Name *old = t->slot;
    size_t nold = t->nslot;
    Name *slot = NEWN(t->arena, Name, nold * 2);
    t->slot = slot;
    t->nslot = nold * 2;
    for (size_t i = 0; i < nold; i++) {
        if (old[i].s)
            *name_find(t, old[i].s, old[i].n, old[i].hash) = old[i];
    }
}

static const char *name_add(Names *t, const char *s, size_t n, uint64_t hash)
{
    if ((t->nused + 1) * 4 > t->nslot * 3)
        names_grow(t);
    const char *copy = arena_strndup(t->arena, s, n);
    *name_find(t, s, n, hash) = (Name){copy, n, hash};
    t->nused++;
    return copy;
}

const char *name_intern(Names *t, const char *s, size_t n)
{
    uint64_t hash = hash_bytes(s, n, 0);
    pthread_mutex_lock(&t->lock);
    const char *volatile found = name_find(t, s, n, hash)->s;
    if (found) {
        pthread_mutex_unlock(&t->lock);
        return found;
    }
    /* Running out of memory must not jump away with the lock held. */
    Recover r;
    if (recover_open(&r) == 0) {
        found = name_add(t, s, n, hash);
        recover_close(&r);
    }
    pthread_mutex_unlock(&t->lock);
    if (r.status != STATUS_OK)
        recover_throw(r.status, "%s", r.text);
    return found;
}

/* ---- did you mean ---------------------------------------------------------------------------- */

/* Letters that were put in, left out, changed, or swapped with the next one. */
int edit_distance(const char *a, const char *b, int most)
{
    enum { LONGEST = 64 };
    int n = (int)strlen(a), m = (int)strlen(b), rows[3][LONGEST + 1];
    if (n > LONGEST || m > LONGEST || n - m > most || m - n > most)
        return most + 1;
    for (int j = 0; j <= m; j++)
        rows[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *row = rows[i % 3], *up = rows[(i + 2) % 3], *above = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            row[j] = MIN(MIN(row[j - 1], up[j]) + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = MIN(row[j], above[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

const char *nearest_name(const char *name, const char *const *names, int n)
{
    const char *best = NULL;
    int most = (int)MIN(strlen(name) / 3, 3); /* names of one letter are all alike */
    for (int i = 0; i < n; i++) {
        int d = edit_distance(name, names[i], most);
        if (d <= most && d > 0) {
            best = names[i];
            most = d - 1;
        }
    }
    return best;
}
