/* use.c -- a program that links the bundle of scale.py and nothing else of ours; C and C++ take it. */
#include <stdio.h>
#include "scale.h"

int main(void)
{
    float a[12], c[12];

    for (int i = 0; i < 12; i++)
        a[i] = (float)i;
    if (scale(a, 0.5f, c, 3, 4) != 0) {
        fprintf(stderr, "%s\n", scale_error());
        return 1;
    }
    printf("%g %g %g\n", c[0], c[5], c[11]);
    return 0;
}
