/* unaligned.c -- the kernel for tensors that start anywhere.
 *
 * Kernels of a GPU take their tensors to start at multiples of 16 bytes: wide accesses and copies
 * in flight rest on it.  A call with another address (a slice, a view into a larger tensor)
 * gets a second kernel that touches global memory element by element.  It is made when it is first
 * called for, out of the tile form that the kernel keeps, so that nobody else pays for it. */
#include "api/public.h"

static void make(tl_kernel *u, const tl_kernel *k)
{
    Str ir;

    u->request = k->request;
    u->built.rt = k->built.rt;
    u->request.dump = u->request.dump_dir = u->request.skip = NULL;
    u->request.check_each = false;
    u->request.unaligned = true;
    str_init(&ir, u->arena);
    print_func(&ir, k->build.tile);
    u->request.text = ir.s;
    u->request.ntext = ir.n;
    u->request.from = pass_table[0].name;
    u->no_cache = k->no_cache;
    build_open_arenas(&u->build, k->ctx->names);
    compile(&u->build, &u->request);
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

tl_kernel *kernel_unaligned(tl_kernel *k)
{
    Recover r;

    if (k->unaligned)
        return k->unaligned;
    tl_kernel *volatile u = kernel_open(k->ctx);
    if (!u)
        recover_throw(STATUS_MEM, "out of memory");
    if (recover_open(&r) == 0) {
        make(u, k);
        recover_close(&r);
        return k->unaligned = u;
    }
    char why[400];
    why_not(u, r.text, why, sizeof why);
    tl_kernel_free(u);
    recover_throw(r.status,
                  "a tensor starts at an address that is no multiple of %d, and '%s' cannot be "
                  "compiled for that: %s [argument-alignment]",
                  TENSOR_ALIGN, kernel_name(k), why);
}
