/* fake_cuda.c -- a libcuda.so.1 that tells what a bundle asks of it; it computes nothing.
 *
 * FAKE_CC=90, FAKE_SHARED=232448 and FAKE_DRIVER=13000 are what it says of its GPU and itself; with
 * -DNO_MAPS it has no tensor maps. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    unsigned grid[3], block[3], shared;
    void *stream, *attribute;
    unsigned nattribute;
} Config;

int cuInit(unsigned f) { return (int)f; }
int cuGetErrorName(int r, const char **t) { (void)r; *t = "FAKE_ERROR"; return 0; }
int cuDeviceGet(int *d, int n) { *d = n; return 0; }
static int said(const char *name, int otherwise) { return getenv(name) ? atoi(getenv(name)) : otherwise; }
int cuDriverGetVersion(int *v) { *v = said("FAKE_DRIVER", 13000); return 0; }
int cuDeviceGetAttribute(int *v, int a, int d)
{
    int cc = said("FAKE_CC", 90);
    *v = a == 75 ? cc / 10 : a == 76 ? cc % 10 : a == 1 ? 1024 : a == 97 ? said("FAKE_SHARED", 232448) :
         a == 95 ? 1 : a == 120 ? cc >= 90 : 0;
    return d;
}
int cuCtxGetCurrent(void **c) { *c = NULL; return 0; }
int cuCtxSetCurrent(void *c) { return c == NULL; }
int cuDevicePrimaryCtxRetain(void **c, int d) { (void)d; *c = (void *)7; return 0; }
int cuModuleGetFunction(void **f, void *m, const char *n) { (void)m; printf("function %s\n", n); *f = (void *)9; return 0; }
int cuFuncSetAttribute(void *f, int a, int v) { (void)f; printf("attribute %d = %d\n", a, v); return 0; }
int cuMemAlloc_v2(unsigned long long *p, size_t n) { (void)n; *p = 0x9000000; return 0; }
int cuMemsetD8_v2(unsigned long long p, unsigned char v, size_t n) { (void)p; (void)v; (void)n; return 0; }

/* Machine code is refused, PTX taken; what NVRTC 13.0 wrote only where the driver is no older. */
int cuModuleLoadData(void **m, const void *image)
{
    int ptx = strstr(image, ".target") != NULL;
    printf("load %s\n", ptx ? "ptx" : "cubin");
    *m = (void *)8;
    return !ptx ? 209 : said("FAKE_DRIVER", 13000) < 13000 ? 222 : 0;
}

#ifndef NO_MAPS
int cuTensorMapEncodeTiled(void *m, int type, uint32_t rank, void *p, const uint64_t *dim,
                           const uint64_t *stride, const uint32_t *box, const uint32_t *step,
                           int interleave, int swizzle, int promotion, int fill)
{
    (void)step; (void)interleave; (void)promotion; (void)fill;
    printf("map type %d rank %u at %p: %llu x %llu, stride %llu, box %u x %u, swizzle %d, %s\n", type,
           rank, p, (unsigned long long)dim[0], (unsigned long long)dim[1],
           (unsigned long long)stride[0], box[0], box[1], swizzle,
           (uintptr_t)m % 64 ? "NOT ALIGNED" : "aligned");
    memset(m, 1, 128);
    return 0;
}

int cuTensorMapEncodeIm2col(void *m, int type, uint32_t rank, void *p, const uint64_t *dim,
                            const uint64_t *stride, const int *lower, const int *upper,
                            uint32_t channels, uint32_t pixels, const uint32_t *step,
                            int interleave, int swizzle, int promotion, int fill)
{
    (void)interleave; (void)promotion; (void)fill;
    printf("pixels type %d rank %u at %p: %llu x %llu, stride %llu, %u channels of %u, from %d to %d by %u, "
           "swizzle %d\n", type, rank, p, (unsigned long long)dim[0], (unsigned long long)dim[1],
           (unsigned long long)stride[0], channels, pixels, lower[0], upper[1], step[1], swizzle);
    memset(m, 1, 128);
    return 0;
}

#endif

int cuLaunchKernelEx(const Config *c, void *f, void **params, void **extra)
{
    printf("launch %u %u %u of %u, %u bytes, first %p%s\n", c->grid[0], c->grid[1], c->grid[2],
           c->block[0], c->shared, *(void **)params[0], f && !extra ? "" : " BAD");
    return 0;
}
