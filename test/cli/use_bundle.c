/* use_bundle.c -- a program that links a bundle and nothing else of ours. */
#include <stdio.h>
#include <string.h>
#include "scale.h"

int main(void)
{
    uint16_t a[6] = {0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0}; /* 1 to 6 */
    float c[6] = {0};

    scale_set_threads(2);
    if (scale(a, 0.5f, c, 2, 3) != 0) {
        printf("%s\n", scale_error());
        return 1;
    }
    for (int i = 0; i < 6; i++)
        if (c[i] != 0.5f * (float)(i + 1)) {
            printf("c[%d] = %g\n", i, c[i]);
            return 1;
        }
    if (scale(a, 0.5f, c, 0, INT64_C(3000000000)) == 0 || !strstr(scale_error(), "dim-too-large")) {
        printf("a dimension of 3000000000 was taken\n");
        return 1;
    }
    return 0;
}
