/* public.h -- shared by the files that define tilelang.h's functions. */
#ifndef TL_API_PUBLIC_H
#define TL_API_PUBLIC_H

#include "api/api.h"

/* work(arg) in a recovery frame; when it throws, the context's message is what d says, or the text
 * of the throw. */
tl_status protect(tl_context *c, Diag *d, void (*work)(void *arg), void *arg);
tl_status call_null(tl_context *c); /* TL_EUSER, and why if there is who to tell */

/* api.c: an empty kernel, NULL when out of memory; facts that are asked for at each run, worked out
 * once it is compiled. */
tl_kernel *kernel_open(tl_context *c);
void kernel_settle(tl_kernel *k);

/* run.c: one argument as the runtime takes it; throws. */
SimArg one_argument(const tl_kernel *k, int i, const tl_tensor *t); /* of parameter i */

#endif
