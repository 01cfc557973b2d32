/* program.h -- a bundle that is a program: it takes numbers and tensors by name, launches kernels,
 * and writes what they wrote.  What it calls (tl_number, tl_make, tl_save, tl_no) is the target's.
 */
#ifndef TL_TARGET_PROGRAM_H
#define TL_TARGET_PROGRAM_H

#include "target/print.h"
#include "target/target.h"

typedef struct {
    Emit e;           /* first: the printer takes it */
    const char *whose; /* for people: "Metal" */
    void (*kernel)(Emit *e, const Kernel *k); /* prints a launch */
} Program;

void program_start(Program *p, const TargetBundle *b, Str *out);
const char *program_expr(Emit *e, const Expr *x); /* as C of the host */
/* Where tl_tensor[] has it: parameters first, then temporaries. */
int program_tensor(const Func *f, const Buffer *b);
void program_numbers(Emit *e, bool declares); /* dimensions, and the scalars that are none */
void program_tensors(Emit *e, const TargetBundle *b);
void program_results(Emit *e, const TargetBundle *b);
void program_launches(Emit *e);

#endif
