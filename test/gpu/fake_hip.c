/* fake_hip.c -- a libamdhip64.so that tells what a bundle asks of it; it computes nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hipInit(unsigned f) { return (int)f; }
int hipDrvGetErrorName(int r, const char **t) { (void)r; *t = "FAKE_ERROR"; return 0; }
int hipModuleLoadData(void **m, const void *image)
{
    printf("load %s\n", memcmp(image, "\177ELF", 4) ? "BAD" : "ELF");
    *m = (void *)8;
    return getenv("FAKE_RESULT") ? atoi(getenv("FAKE_RESULT")) : 0;
}
int hipModuleGetFunction(void **f, void *m, const char *n) { (void)m; printf("function %s\n", n); *f = (void *)9; return 0; }
int hipMalloc(void **p, size_t n) { (void)n; *p = (void *)0x9000000; return 0; }
int hipMemset(void *p, int v, size_t n) { (void)p; (void)v; (void)n; return 0; }

int hipModuleLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *stream, void **params, void **extra)
{
    printf("launch %u %u %u of %u %u %u, %u bytes, first %p%s\n", gx, gy, gz, bx, by, bz, shared, *(void **)params[0],
           f != (void *)9 || stream || extra ? " BAD" : "");
    return 0;
}

int hipModuleLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                     unsigned bz, unsigned shared, void *stream, void **params)
{
    printf("together: ");
    return hipModuleLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, params, NULL);
}
