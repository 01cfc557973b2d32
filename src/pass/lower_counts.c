/* lower_counts.c -- waits for groups of copies become waits for copies, where machines count so.
 *
 * needs   FORM_WIDTHS       after opt_vectorize: a store is an instruction by now
 *
 * What such a machine counts is its target's to know: Target.lower_waits.  Groups are closed by
 * nothing from here on. */
#include "pass/pass.h"

void pass_lower_counts(Kernel *k)
{
    BUG(!k->target->lower_waits, "%s says not how it counts copies", k->target->name);
    k->target->lower_waits(k);
}
