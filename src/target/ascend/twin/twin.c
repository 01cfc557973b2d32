/* twin.c -- what the text reports on the host: device/twin/ascend.h finds it, and has no assembly.
 */
#include "twin/machine.h"

static void report(int row, const char *name, void *const *at, int n)
{
    (void)row, (void)at, (void)n;
    twin_fail("%s [twin-pipe]", name);
}

extern const Assembly assembly_ascend;
const Assembly assembly_ascend = {.op = report};
