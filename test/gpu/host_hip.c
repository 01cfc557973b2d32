/* host_hip.c -- a libamdhip64.so whose device is memory of the host, with hiprtc in it as in some releases.  Every launch adds two
 * vectors of HOST_HIP_N floats, whatever the kernel; HOST_HIP_FAILS names a function that fails.  hiprtc is the clang that HOST_HIP_CLANG says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int result(const char *function)
{
    const char *fails = getenv("HOST_HIP_FAILS");
    return fails && !strcmp(fails, function) ? 719 : 0;
}

int hipInit(unsigned f) { return (int)f; }
int hipDriverGetVersion(int *v) { *v = 60000000; return 0; }
int hipGetDeviceCount(int *n) { *n = getenv("HOST_HIP_NONE") ? 0 : 1; return 0; }
int hipGetDevice(int *d) { *d = 0; return 0; }
int hipSetDevice(int d) { return d; }
int hipDeviceGetName(char *name, int n, int d) { snprintf(name, (size_t)n, "host %d", d); return 0; }
int hipDrvGetErrorName(int r, const char **t) { *t = r == 719 ? "hipErrorLaunchFailure" : "?"; return 0; }
int hipDrvGetErrorString(int r, const char **t) { *t = r == 719 ? "unspecified launch failure" : "?"; return 0; }

/* major 9, minor 4, 304 units */
int hipDeviceGetAttribute(int *v, int attribute, int d)
{
    *v = attribute == 23 ? 9 : attribute == 61 ? 4 : attribute == 63 ? 304 : attribute == 74 ? 65536 : 1000;
    return d;
}

int hipCtxGetCurrent(void **c) { *c = (void *)1; return 0; }
int hipCtxSetCurrent(void *c) { return c != (void *)1; }
int hipDeviceSynchronize(void) { return result("hipDeviceSynchronize"); }
int hipModuleLoadData(void **m, const void *image) { *m = (void *)8; return memcmp(image, "\177ELF", 4) != 0; }
int hipModuleUnload(void *m) { return m != (void *)8; }
int hipModuleGetFunction(void **f, void *m, const char *n) { *f = (void *)9; return m != (void *)8 || !*n; }
int hipModuleGetGlobal(void **p, size_t *n, void *m, const char *name) { (void)p; (void)n; (void)m; (void)name; return 500; }

int hipMalloc(void **p, size_t n) { *p = malloc(n); return *p ? result("hipMalloc") : 2; }
int hipFree(void *p) { free(p); return 0; }
int hipMemset(void *p, int v, size_t n) { memset(p, v, n); return 0; }
int hipMemsetD8Async(void *p, unsigned char v, size_t n, void *s) { (void)s; memset(p, v, n); return 0; }
int hipMemcpyHtoD(void *to, const void *from, size_t n) { memcpy(to, from, n); return result("hipMemcpyHtoD"); }
int hipMemcpyDtoH(void *to, const void *from, size_t n) { memcpy(to, from, n); return 0; }
int hipMemcpyDtoD(void *to, const void *from, size_t n) { memcpy(to, from, n); return 0; }
int hipPointerGetAttribute(void *v, int attribute, void *p) { (void)p; (void)attribute; *(int *)v = 1; return 0; }

int hipStreamCreateWithFlags(void **s, unsigned f) { (void)f; *s = (void *)7; return 0; }
int hipStreamDestroy(void *s) { (void)s; return 0; }
int hipStreamSynchronize(void *s) { (void)s; return 0; }
int hipStreamBeginCapture(void *s, int mode) { (void)s; (void)mode; return 0; }
int hipStreamEndCapture(void *s, void **g) { (void)s; *g = (void *)6; return 0; }
int hipThreadExchangeStreamCaptureMode(int *mode) { (void)mode; return 0; }
int hipGraphInstantiateWithFlags(void **e, void *g, unsigned long long f) { (void)g; (void)f; *e = (void *)5; return 0; }
int hipGraphLaunch(void *e, void *s) { (void)s; return e != (void *)5; }
int hipGraphExecDestroy(void *e) { (void)e; return 0; }
int hipGraphDestroy(void *g) { (void)g; return 0; }
int hipEventCreateWithFlags(void **e, unsigned f) { (void)f; *e = calloc(1, sizeof(struct timespec)); return 0; }
int hipEventDestroy(void *e) { free(e); return 0; }
int hipEventRecord(void *e, void *s) { (void)s; clock_gettime(CLOCK_MONOTONIC, e); return 0; }
int hipEventSynchronize(void *e) { (void)e; return 0; }
int hipEventElapsedTime(float *ms, void *from, void *to)
{
    struct timespec *a = from, *b = to;
    *ms = (float)(b->tv_sec - a->tv_sec) * 1e3f + (float)(b->tv_nsec - a->tv_nsec) * 1e-6f;
    return 0;
}

int hipModuleLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *stream, void **params, void **extra)
{
    int n = atoi(getenv("HOST_HIP_N"));
    float *a = *(float **)params[0], *b = *(float **)params[1], *c = *(float **)params[2];

    (void)shared;
    (void)stream;
    if (f != (void *)9 || extra || gx * bx < 256 || gy * gz * by * bz != 1)
        return 1;
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
    return result("hipModuleLaunchKernel");
}

int hipModuleLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                     unsigned bz, unsigned shared, void *stream, void **params)
{
    return hipModuleLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, params, NULL);
}

/* ---- hiprtc ---------------------------------------------------------------------------------- */

typedef struct {
    char dir[64], *log, *code;
    size_t nlog, ncode;
} Program;

static char *path(const Program *p, const char *name)
{
    static char room[128];
    snprintf(room, sizeof room, "%s/%s", p->dir, name);
    return room;
}

static char *read_file(const char *name, size_t *n)
{
    FILE *f = fopen(name, "rb");
    char *text = calloc(1, 1 << 24);

    *n = f ? fread(text, 1, (1 << 24) - 1, f) : 0;
    if (f)
        fclose(f);
    return text;
}

int hiprtcVersion(int *major, int *minor) { *major = 6; *minor = 1; return 0; }

int hiprtcCreateProgram(Program **out, const char *text, const char *name, int n, const char **headers, const char **names)
{
    Program *p = calloc(1, sizeof *p);

    (void)headers;
    (void)names;
    strcpy(p->dir, "/tmp/host_hip.XXXXXX");
    if (n || !*name || !mkdtemp(p->dir))
        return 1;
    FILE *f = fopen(path(p, "k.hip"), "w");
    fputs(text, f);
    fclose(f);
    *out = p;
    return 0;
}

int hiprtcCompileProgram(Program *p, int n, const char *const *options)
{
    char *line = calloc(1, 1 << 16);

    sprintf(line, "cd %s && %s -x hip --cuda-device-only -nogpuinc -nogpulib --no-gpu-bundle-output", p->dir,
            getenv("HOST_HIP_CLANG"));
    for (int i = 0; i < n; i++)
        sprintf(line + strlen(line), " '%s'", options[i]);
    strcat(line, " k.hip -o k.co >log 2>&1");
    int r = system(line);
    free(line);
    p->log = read_file(path(p, "log"), &p->nlog);
    p->code = read_file(path(p, "k.co"), &p->ncode);
    return r ? 6 : 0;
}

int hiprtcGetProgramLogSize(Program *p, size_t *n) { *n = p->nlog + 1; return 0; }
int hiprtcGetProgramLog(Program *p, char *to) { memcpy(to, p->log, p->nlog + 1); return 0; }
int hiprtcGetCodeSize(Program *p, size_t *n) { *n = p->ncode; return 0; }
int hiprtcGetCode(Program *p, char *to) { memcpy(to, p->code, p->ncode); return 0; }

int hiprtcDestroyProgram(Program **p)
{
    char line[128];

    snprintf(line, sizeof line, "rm -rf %s", (*p)->dir);
    free((*p)->log);
    free((*p)->code);
    return system(line);
}
