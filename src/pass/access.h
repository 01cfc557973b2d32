/* access.h -- what is known of each access; for `tl prove`, and noted only for it. */
#ifndef TL_PASS_ACCESS_H
#define TL_PASS_ACCESS_H

#include "pass/pass.h"

/* guard: the part of its bounds that was not proven; NULL: all of them were.  guarded: it is done
 * only where that holds.  maybe: it stands under a condition on what is in memory.
 * f is as it was afterwards. */
void access_note(Kernel *k, Facts *f, Span at, const Buffer *b, const Expr *const *index,
                 char how, const Expr *guard, bool guarded, bool maybe);
void access_note_instr(Kernel *k, const Stmt *s);
void loops_note(Kernel *k); /* who takes each loop equally often; as it was traced */
void order_note(Kernel *k); /* what orders accesses of shared memory; after lower_sync */
/* What the guard of an access costs, beside the same kernel without guards (NULL: not known). */
const char *guard_cost(Kernel *k, const Kernel *without, const AccessNote *n);
/* Accesses, loops and shared tiles of every kernel, by line.  With the source's text: as a page. */
void print_proofs(Str *out, Func *f, const char *source);

#endif
