/* use_variants.c -- calls a bundle with rows that bulk copies take, then with rows they do not. */
#include <stdio.h>
#include "twice.h"

int main(void)
{
    int r = twice((void *)0x1000, (void *)0x2000, 40, 64, NULL);
    printf("%d %s\n", r, twice_error());
    r = twice((void *)0x1000, (void *)0x2000, 40, 66, NULL);
    printf("%d %s\n", r, twice_error());
    return 0;
}
