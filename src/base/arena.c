/* arena.c -- bump arenas: allocate forward, give back everything after a mark; growable arrays.
 *
 *     top -> [newest block] -> [older] -> ... -> [oldest]
 *
 * A mark is (top block, bytes used in it).  Reset pops blocks until that one is on top again.
 * With -DTL_DEBUG_ARENA each allocation is a block of its own, so that ASan sees both an access
 * past its end and one after a reset.  With -DTL_TEST_OOM the environment variable TL_TEST_OOM=n
 * makes the n-th block of the process fail, which is how every out-of-memory path is walked. */
#include <stdlib.h>
#include "base/base.h"

enum { ALIGN = 16, BLOCK_LEAST = 16 << 10, BLOCK_MOST = 1 << 20 };

typedef struct Block {
    struct Block *older;
    size_t used, cap;
    size_t below; /* bytes used in all older blocks */
    _Alignas(ALIGN) char data[];
} Block;

struct Arena {
    Block *top;
    Block *spare; /* one popped block kept, so that mark/reset in a loop does not call malloc */
    size_t next;  /* size of the next block */
};

#ifdef TL_TEST_OOM
#include <stdatomic.h>

static bool oom_wanted(void)
{
    static atomic_long count;
    const char *text = getenv("TL_TEST_OOM");
    return text && atomic_fetch_add(&count, 1) + 1 == atol(text);
}
#else
static bool oom_wanted(void)
{
    return false;
}
#endif

static void *block_memory(size_t nbytes)
{
    void *p = oom_wanted() ? NULL : malloc(nbytes);
    if (!p)
        recover_throw(STATUS_MEM, "out of memory");
    return p;
}

Arena *arena_new(void)
{
    Arena *a = block_memory(sizeof *a);
    *a = (Arena){.next = BLOCK_LEAST};
    return a;
}

void arena_free(Arena *a)
{
    if (!a)
        return;
    arena_reset(a, (ArenaMark){0});
    free(a->spare);
    free(a);
}

static size_t block_size(Arena *a, size_t nbytes)
{
#ifdef TL_DEBUG_ARENA
    (void)a;
    return nbytes;
#else
    size_t size = a->next;
    if (a->next < BLOCK_MOST)
        a->next *= 2;
    return MAX(size, nbytes);
#endif
}

static Block *block_push(Arena *a, size_t nbytes)
{
    Block *b = a->spare;
    if (b && b->cap >= nbytes) {
        a->spare = NULL;
    } else {
        size_t cap = block_size(a, nbytes);
        b = block_memory(sizeof *b + cap);
        b->cap = cap;
    }
    b->older = a->top;
    b->used = 0;
    b->below = arena_bytes(a);
    a->top = b;
    return b;
}

void *arena_alloc(Arena *a, size_t nbytes)
{
    if (nbytes > PTRDIFF_MAX / 2)
        recover_throw(STATUS_MEM, "out of memory");
#ifdef TL_DEBUG_ARENA
    size_t size = nbytes;
    Block *b = block_push(a, size);
#else
    size_t size = (nbytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    Block *b = a->top;
    if (!b || b->cap - b->used < size)
        b = block_push(a, size);
#endif
    void *p = b->data + b->used;
    b->used += size;
    return memset(p, 0, nbytes);
}

ArenaMark arena_mark(Arena *a)
{
    return (ArenaMark){a->top, a->top ? a->top->used : 0};
}

static void block_pop(Arena *a)
{
    Block *b = a->top;
    a->top = b->older;
#ifndef TL_DEBUG_ARENA
    if (!a->spare || a->spare->cap < b->cap) {
        Block *smaller = a->spare;
        a->spare = b;
        b = smaller;
    }
#endif
    free(b);
}

void arena_reset(Arena *a, ArenaMark m)
{
    while (a->top && a->top != m.block)
        block_pop(a);
    BUG(a->top != m.block, "arena reset to a mark of another arena");
    if (a->top)
        a->top->used = m.used;
}

size_t arena_bytes(const Arena *a)
{
    return a->top ? a->top->below + a->top->used : 0;
}

char *arena_strndup(Arena *a, const char *s, size_t n)
{
    char *p = arena_alloc(a, n + 1);
    if (n)
        memcpy(p, s, n);
    return p;
}

char *arena_strdup(Arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *arena_vprintf(Arena *a, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *p = NULL;
    if (n >= 0) {
        p = arena_alloc(a, (size_t)n + 1);
        vsnprintf(p, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    BUG(!p, "cannot format '%s'", fmt);
    return p;
}

char *arena_printf(Arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *p = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return p;
}

void *vec_grow(Arena *a, void *at, int n, int *cap, size_t size)
{
    if (*cap > INT32_MAX / 2)
        recover_throw(STATUS_MEM, "out of memory");
    int more = *cap ? *cap * 2 : 8;
    void *p = arena_alloc(a, size * (size_t)more);
    if (n)
        memcpy(p, at, size * (size_t)n);
    *cap = more;
    return p;
}
