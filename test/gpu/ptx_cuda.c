/* ptx_cuda.c -- a libcuda.so.1 whose GPU is ptx.py: it takes PTX, and runs it thread by thread.
 *
 * Memory of the device is a file that both map.  PTX_RUNNER is the command that gets a job. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 256 << 20, CC = 80 };
static char *const base = (char *)0x700000000000;
static char path[64], text_path[80], entry[8][128];
static size_t used = 256;
static int nentry;

static void quit(void) { unlink(path), unlink(text_path); }

int cuInit(unsigned f)
{
    if (*path)
        return (int)f;
    snprintf(path, sizeof path, "/dev/shm/ptx-%d", (int)getpid());
    snprintf(text_path, sizeof text_path, "%s.ptx", path);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    atexit(quit);
    return fd < 0 || ftruncate(fd, BYTES) != 0 ||
           mmap(base, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0) != base;
}

int cuGetErrorString(int r, const char **t) { (void)r; *t = "the PTX did not run"; return 0; }
int cuGetErrorName(int r, const char **t) { (void)r; *t = "PTX_ERROR"; return 0; }
int cuDriverGetVersion(int *v) { *v = 13000; return 0; }
int cuDeviceGetCount(int *n) { *n = 1; return 0; }
int cuDeviceGet(int *d, int n) { *d = n; return 0; }
int cuDeviceGetName(char *name, int n, int d) { snprintf(name, (size_t)n, "PTX"); return d; }
int cuDeviceGetAttribute(int *v, int a, int d)
{
    *v = a == 75 ? CC / 10 : a == 76 ? CC % 10 : a == 97 ? 166912 : a == 16 ? 4 : 1000;
    return d;
}
int cuDevicePrimaryCtxRetain(void **c, int d) { *c = (void *)7; return d; }
int cuCtxGetDevice(int *d) { *d = 0; return 0; }
int cuCtxGetCurrent(void **c) { *c = NULL; return 0; }
int cuCtxSetCurrent(void *c) { (void)c; return 0; }
int cuCtxSynchronize(void) { return 0; }
int cuModuleUnload(void *m) { (void)m; return 0; }
int cuModuleLoadDataEx(void **m, const void *image, unsigned n, int *o, void **v)
{
    FILE *f = fopen(text_path, "w");

    (void)n, (void)o, (void)v;
    *m = (void *)8;
    return !f || fputs(image, f) < 0 || fclose(f) != 0;
}
int cuModuleLoadData(void **m, const void *image) /* machine code it has no GPU for */
{
    return memcmp(image, "\177ELF", 4) ? cuModuleLoadDataEx(m, image, 0, NULL, NULL) : 209;
}
int cuModuleGetFunction(void **f, void *m, const char *n)
{
    (void)m;
    snprintf(entry[nentry % 8], sizeof entry[0], "%s", n);
    *f = entry[nentry++ % 8];
    return 0;
}
int cuModuleGetGlobal_v2(void **p, size_t *n, void *m, const char *s) { (void)p; (void)n; (void)m; (void)s; return 1; }
int cuFuncSetAttribute(void *f, int a, int v) { (void)f; (void)a; (void)v; return 0; }
int cuMemAlloc_v2(uint64_t *p, size_t n)
{
    *p = (uint64_t)(uintptr_t)(base + used);
    used += (n + 511) / 256 * 256;
    return used > BYTES;
}
int cuMemFree_v2(uint64_t p) { (void)p; return 0; }
int cuMemsetD8Async(uint64_t p, unsigned char v, size_t n, void *s) { (void)s; memset((void *)(uintptr_t)p, v, n); return 0; }
int cuMemsetD8_v2(uint64_t p, unsigned char v, size_t n) { return cuMemsetD8Async(p, v, n, NULL); }
int cuMemcpyHtoD_v2(uint64_t p, const void *q, size_t n) { memcpy((void *)(uintptr_t)p, q, n); return 0; }
int cuMemcpyDtoH_v2(void *q, uint64_t p, size_t n) { memcpy(q, (void *)(uintptr_t)p, n); return 0; }
int cuMemcpyDtoD_v2(uint64_t p, uint64_t q, size_t n) { memmove((void *)(uintptr_t)p, (void *)(uintptr_t)q, n); return 0; }
int cuPointerGetAttributes(unsigned n, int *a, void **v, uint64_t p)
{
    (void)n, (void)a;
    *(unsigned *)v[0] = p >= (uintptr_t)base && p < (uintptr_t)base + BYTES ? 2 : 1;
    *(int *)v[1] = 0;
    return 0;
}
int cuStreamCreate(void **s, unsigned f) { *s = (void *)3; return (int)(f & 0); }
int cuStreamDestroy_v2(void *s) { (void)s; return 0; }
int cuStreamSynchronize(void *s) { (void)s; return 0; }
int cuStreamBeginCapture_v2(void *s, int m) { (void)s; (void)m; return 1; }
int cuStreamEndCapture(void *s, void **g) { (void)s; (void)g; return 1; }
int cuThreadExchangeStreamCaptureMode(int *m) { (void)m; return 0; }
int cuGraphLaunch(void *g, void *s) { (void)g; (void)s; return 1; }
int cuGraphExecDestroy(void *g) { (void)g; return 0; }
int cuGraphDestroy(void *g) { (void)g; return 0; }
int cuEventCreate(void **e, unsigned f) { *e = (void *)4; return (int)(f & 0); }
int cuEventDestroy_v2(void *e) { (void)e; return 0; }
int cuEventRecord(void *e, void *s) { (void)e; (void)s; return 0; }
int cuEventSynchronize(void *e) { (void)e; return 0; }
int cuEventElapsedTime(float *ms, void *a, void *b) { (void)a; (void)b; *ms = 1; return 0; }

/* Parameters are as long as the text says; 8 bytes of each are enough without tensor maps. */
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **params, void **extra)
{
    char job[96], command[400];
    const char *runner = getenv("PTX_RUNNER");
    FILE *o;

    (void)stream, (void)extra;
    snprintf(job, sizeof job, "%s.job", path);
    if (!(o = fopen(job, "w")))
        return 1;
    fprintf(o, "%s %s %s %llu\n%u %u %u %u %u %u %u\n", text_path, (char *)f, path,
            (unsigned long long)(uintptr_t)base, gx, gy, gz, bx, by, bz, shared);
    FILE *t = fopen(text_path, "r");
    char line[4096], head[200];
    int n = 0, on = 0;
    snprintf(head, sizeof head, " %s(", (char *)f);
    while (t && fgets(line, sizeof line, t)) {
        on = on ? on : strstr(line, ".entry") && strstr(line, head);
        if (on && strstr(line, ".param ")) {
            uint64_t v = 0;
            memcpy(&v, params[n++], strstr(line, "64 ") || strstr(line, "[128]") ? 8 : strstr(line, "8 ") ? 1 :
                   strstr(line, "16 ") ? 2 : 4);
            fprintf(o, "%llu\n", (unsigned long long)v);
        }
        if (on && strchr(line, '{'))
            break;
    }
    if (t)
        fclose(t);
    fclose(o);
    snprintf(command, sizeof command, "%s %s", runner ? runner : "python3 test/gpu/ptx.py", job);
    int r = system(command);
    unlink(job);
    return r != 0;
}
int cuLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                              unsigned bz, unsigned shared, void *stream, void **params)
{
    return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, params, NULL);
}
struct config { unsigned grid[3], block[3], shared; void *stream, *attributes; unsigned nattribute; };
int cuLaunchKernelEx(const struct config *c, void *f, void **p, void **e) /* clusters it has none */
{
    return cuLaunchKernel(f, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], c->shared,
                          c->stream, p, e);
}
