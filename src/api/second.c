/* second.c -- kernels that are made when a call first needs them, so that nobody else pays.
 *
 * Kernels of a GPU take their tensors to start at multiples of 16 bytes: wide accesses and copies
 * in flight rest on it.  A call with another address (a slice, a view into a larger tensor)
 * gets a second kernel that touches global memory element by element.
 *
 * Kernels of a CPU may take their tensors for apart.  Their entry sees when that is not so, and
 * leaves such a call, before it has done anything, to a second kernel in which no read of a tensor
 * moves past a store.
 *
 * Both are made out of the tile form that the kernel keeps. */
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>
#include "api/public.h"

typedef enum { FOR_ANY_ADDRESS, FOR_OVERLAP } SecondKind;

/* The tile form as text, in the second one's own arena. */
static void take_tile_form(tl_kernel *u, const tl_kernel *k)
{
    Str ir;

    str_init(&ir, u->arena);
    print_func(&ir, k->build.tile);
    u->request = k->request;
    u->request.text = ir.s;
    u->request.ntext = ir.n;
    u->request.from = pass_table[0].name;
}

static void make(tl_kernel *u, const tl_kernel *k, SecondKind kind)
{
    Request *r = &u->request;

    u->built.rt = k->built.rt;
    u->no_cache = k->no_cache;
    u->workers = k->workers;
    r->dump = r->dump_dir = NULL;
    r->check_each = r->check_text = r->prove = false;
    r->is_second = true;
    if (kind == FOR_ANY_ADDRESS) {
        r->skip = NULL;
        r->unaligned = true;
    } else {
        r->overlap = OVERLAP_TAKEN;
        r->werror = false; /* what it could say, the first has said */
    }
    build_open_arenas(&u->build, k->ctx->names);
    compile(&u->build, r);
    u->build.tile->known_as = u->build.func->known_as = arena_strdup(u->arena, kernel_name(k));
    kernel_settle(u);
    jit(u);
}

static void why_not(tl_kernel *u, const char *thrown, char *why, size_t n)
{
    Recover r;
    Str s;

    snprintf(why, n, "%s", thrown);
    if (u->build.diag.nerror && recover_open(&r) == 0) {
        str_init(&s, u->arena);
        diag_render(&u->build.diag, &s, false);
        snprintf(why, n, "%s", s.s);
        recover_close(&r);
    }
}

static tl_kernel *made(tl_kernel *k, SecondKind kind, const char *what, const char *tag)
{
    bool locks = kind == FOR_OVERLAP;
    Recover r;
    tl_kernel *volatile u = kernel_open(k->ctx);

    if (!u)
        recover_throw(STATUS_MEM, "out of memory");
    if (locks)
        pthread_mutex_lock(&k->lock);
    if (recover_open(&r) == 0) {
        take_tile_form(u, k);
        recover_close(&r);
    }
    if (locks)
        pthread_mutex_unlock(&k->lock);
    if (r.status == STATUS_OK && recover_open(&r) == 0) {
        make(u, k, kind);
        recover_close(&r);
        return u;
    }
    char why[400];
    why_not(u, r.text, why, sizeof why);
    tl_kernel_free(u);
    recover_throw(r.status, "%s, and '%s' cannot be compiled for that: %s [%s]", what,
                  kernel_name(k), why, tag);
}

/* The caller holds k's lock, or nobody else has k. */
tl_kernel *kernel_unaligned(tl_kernel *k)
{
    _Static_assert(TENSOR_ALIGN == 16, "as the message has it");

    if (!k->unaligned)
        k->unaligned = made(k, FOR_ANY_ADDRESS,
                            "a tensor starts at an address that is no multiple of 16",
                            "argument-alignment");
    return k->unaligned;
}

/* One thread makes it while others of the process wait.  A process that was forked meanwhile has
 * no such thread, and whoever comes there is the next to make it. */
static bool begin(tl_kernel *k)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    int self = (int)getpid();

    for (;;) {
        int other = atomic_load(&k->maker);
        if (atomic_load(&k->overlapping))
            return false;
        if (other != self && atomic_compare_exchange_weak(&k->maker, &other, self))
            return true;
        if (other == self)
            nanosleep(&pause, NULL);
    }
}

tl_kernel *kernel_overlapping(tl_kernel *k)
{
    static const char what[] = "tensors of the call overlap";
    Recover r;

    if (atomic_load(&k->overlapping))
        return atomic_load(&k->overlapping);
    if (k->own_source)
        recover_throw(STATUS_USER, "%s, and the text that was given for '%s' has no kernel for "
                      "that; make a copy [argument-overlap]", what, kernel_name(k));
    if (begin(k)) {
        if (recover_open(&r) == 0) {
            tl_kernel *u = made(k, FOR_OVERLAP, what, "argument-overlap");
            recover_close(&r);
            atomic_store(&k->overlapping, u);
        }
        atomic_store(&k->maker, 0);
        if (r.status != STATUS_OK)
            recover_throw(r.status, "%s", r.text);
    }
    return atomic_load(&k->overlapping);
}
