/* compare.c -- two GEMMs of 512 x 512 floats in WGSL, one after the other in turns, on wgpu's adapter.
 *
 * Usage: compare LIBRARY TEXT ENTRY TILE_M TILE_N TEXT ENTRY TILE_M TILE_N
 * A, B and C are bindings 1, 2 and 3; a workgroup does a tile.  Prints the least time of each, in milliseconds, and the
 * first over the second; exits 1 where their results differ.  Declares nothing of the compiler but target/webgpu/rt/wgpu.h. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "target/webgpu/rt/wgpu.h"

enum { N = 512, BYTES = N * N * 4, ROUNDS = 15 };

static struct {
#define X(result, name, arguments) result(*name) arguments;
    WGPU_FUNCTIONS(X)
#undef X
    WgpuObject (*ComputePipelineGetBindGroupLayout)(WgpuObject, uint32_t);
    WgpuObject device, queue;
} wg;

static void die(const char *what)
{
    fprintf(stderr, "compare: %s\n", what);
    exit(2);
}

static void on_error(const WgpuObject *device, uint32_t type, WgpuText m, void *one, void *two)
{
    (void)device, (void)type, (void)one, (void)two;
    die(strndup(m.data, m.length));
}

static void on_answer(uint32_t status, WgpuObject object, WgpuText m, void *one, void *two)
{
    (void)two;
    if (status != WGPU_SUCCESS)
        die(strndup(m.data, m.length));
    *(WgpuObject *)one = object;
}

static void on_map(uint32_t status, WgpuText m, void *one, void *two)
{
    (void)m, (void)two;
    *(int *)one = status == WGPU_SUCCESS ? 1 : -1;
}

static void open_device(const char *library)
{
    void *h = dlopen(library, RTLD_NOW), *at;
    WgpuObject adapter = NULL;
    WgpuInstanceExtras extras = {.chain = {.type = WGPU_INSTANCE_EXTRAS}, .backends = WGPU_BACKENDS};
    WgpuDeviceWish wish = {.error = {.callback = on_error}};

    if (!h)
        die(dlerror());
#define X(result, name, arguments)                                                                 \
    if (!(at = dlsym(h, "wgpu" #name)))                                                            \
        die(#name);                                                                                \
    memcpy(&wg.name, &at, sizeof at);
    WGPU_FUNCTIONS(X)
    X(, ComputePipelineGetBindGroupLayout, )
#undef X
    WgpuObject instance = wg.CreateInstance(&(WgpuInstanceWish){.next = &extras.chain});
    wg.InstanceRequestAdapter(instance, &(WgpuAdapterOptions){.power = WGPU_POWER_HIGH},
                              (WgpuAnswer){.mode = WGPU_ANSWER_ANY_TIME, .callback = on_answer, .one = &adapter});
    wg.AdapterRequestDevice(adapter, &wish,
                            (WgpuAnswer){.mode = WGPU_ANSWER_ANY_TIME, .callback = on_answer, .one = &wg.device});
    wg.queue = wg.DeviceGetQueue(wg.device);
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);

    if (!f || !text || !fread(text, 1, (1 << 20) - 1, f))
        die(path);
    fclose(f);
    return text;
}

static WgpuObject make_buffer(uint64_t usage)
{
    return wg.DeviceCreateBuffer(wg.device, &(WgpuBufferWish){.usage = usage, .size = BYTES});
}

typedef struct {
    WgpuObject pipeline, group, c;
    unsigned grid[2];
    double best;
} Side;

static Side open_side(char **arg, WgpuObject a, WgpuObject b)
{
    const char *text = read_file(arg[0]);
    WgpuWgsl code = {.chain = {.type = WGPU_WGSL}, .code = {text, strlen(text)}};
    Side s = {.c = make_buffer(WGPU_STORAGE | WGPU_COPY_SRC), .best = 1e30,
              .grid = {N / (unsigned)atoi(arg[3]), N / (unsigned)atoi(arg[2])}};
    WgpuPipelineWish wish = {0};

    wish.compute.module = wg.DeviceCreateShaderModule(wg.device, &(WgpuNamed){.next = &code.chain});
    wish.compute.entry = (WgpuText){arg[1], strlen(arg[1])};
    s.pipeline = wg.DeviceCreateComputePipeline(wg.device, &wish);
    WgpuGroupEntry entry[] = {{.binding = 1, .buffer = a, .size = BYTES},
                              {.binding = 2, .buffer = b, .size = BYTES},
                              {.binding = 3, .buffer = s.c, .size = BYTES}};
    s.group = wg.DeviceCreateBindGroup(
        wg.device, &(WgpuGroupWish){.layout = wg.ComputePipelineGetBindGroupLayout(s.pipeline, 0), .n = 3, .entry = entry});
    return s;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void finish(WgpuObject encoder)
{
    WgpuObject commands = wg.CommandEncoderFinish(encoder, NULL);
    wg.QueueSubmit(wg.queue, 1, &commands);
    wg.DevicePoll(wg.device, 1, NULL);
}

static void run(Side *s)
{
    double start = now();
    WgpuObject e = wg.DeviceCreateCommandEncoder(wg.device, NULL), pass = wg.CommandEncoderBeginComputePass(e, NULL);

    wg.ComputePassEncoderSetPipeline(pass, s->pipeline);
    wg.ComputePassEncoderSetBindGroup(pass, 0, s->group, 0, NULL);
    wg.ComputePassEncoderDispatchWorkgroups(pass, s->grid[0], s->grid[1], 1);
    wg.ComputePassEncoderEnd(pass);
    finish(e);
    double took = now() - start;
    s->best = took < s->best ? took : s->best;
}

static const float *result(const Side *s)
{
    WgpuObject stage = make_buffer(WGPU_MAP_READ | WGPU_COPY_DST), e = wg.DeviceCreateCommandEncoder(wg.device, NULL);
    int done = 0;

    wg.CommandEncoderCopyBufferToBuffer(e, s->c, 0, stage, 0, BYTES);
    finish(e);
    wg.BufferMapAsync(stage, WGPU_MAP_READ, 0, BYTES,
                      (WgpuMapAnswer){.mode = WGPU_ANSWER_ANY_TIME, .callback = on_map, .one = &done});
    while (!done)
        wg.DevicePoll(wg.device, 1, NULL);
    return done > 0 ? wg.BufferGetConstMappedRange(stage, 0, BYTES) : NULL;
}

int main(int argc, char **argv)
{
    static float a[N * N], b[N * N];

    if (argc != 10)
        die("usage: compare LIBRARY TEXT ENTRY TILE_M TILE_N TEXT ENTRY TILE_M TILE_N");
    open_device(argv[1]);
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)((i * 7 + i / N) % 17 - 8) * 0.25f;
        b[i] = (float)((i * 5 + i / N * 3) % 13 - 6) * 0.125f;
    }
    WgpuObject at = make_buffer(WGPU_STORAGE | WGPU_COPY_DST), bt = make_buffer(WGPU_STORAGE | WGPU_COPY_DST);
    wg.QueueWriteBuffer(wg.queue, at, 0, a, BYTES);
    wg.QueueWriteBuffer(wg.queue, bt, 0, b, BYTES);
    Side side[2] = {open_side(argv + 2, at, bt), open_side(argv + 6, at, bt)};
    for (int i = 0; i < ROUNDS; i++)
        for (int s = 0; s < 2; s++)
            run(&side[s]);
    const float *x = result(&side[0]), *y = result(&side[1]);
    double worst = x && y ? 0 : 1e30, sum = 0;
    for (int i = 0; x && y && i < N * N; i++) {
        worst = fmax(worst, fabs((double)x[i] - (double)y[i]));
        sum += fabs((double)x[i]);
    }
    printf("%.2f ms, %.2f ms, ratio %.3f\n", side[0].best, side[1].best, side[0].best / side[1].best);
    if (worst > 1e-3 || sum == 0)
        printf("the results differ by %g\n", worst);
    return worst > 1e-3 || sum == 0;
}
