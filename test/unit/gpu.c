/* gpu.c -- the GPU runtime against a driver of our own that writes down what it is asked: tensor
 * maps, launches, arguments, faults.  No GPU is needed and no result is computed. */
#include "api/api.h"
#include "target/cuda/rt/cuda.h"
#include "ir_world.h"
#include "test.h"

/* ---- the driver ------------------------------------------------------------------------------ */

static struct {
    int nencode, nlaunch, nquery, nalloc, fails, mode;
    int type, swizzle;
    uint32_t rank, box[5];
    uint64_t dim[5], stride[4];
    void *address;
    unsigned grid[3], block[3], shared;
    uint64_t first, second;
    unsigned long long attribute;
    Handle stream;
} seen;

static int fake_name(int r, const char **t) { *t = r == 1 ? "CUDA_ERROR_INVALID_VALUE" : "X"; return 0; }
static int fake_text(int r, const char **t) { (void)r; *t = "invalid argument"; return 0; }
static int fake_get(Handle *c) { *c = (Handle)7; return 0; }
static int fake_set(Handle c) { (void)c; return 0; }
static int fake_device(int *d, int n) { *d = n; return 0; }
static int fake_unload(Handle m) { (void)m; return 0; }
static int fake_free(DevicePtr p) { (void)p; return 0; }
static int fake_mode(int *m) { int was = seen.mode; seen.mode = *m; *m = was; return 0; }
static int fake_sync(Handle s) { (void)s; return 0; }
static int fake_wait(void) { return 0; }
static int fake_stream(Handle *s, unsigned f) { (void)f; *s = (Handle)9; return 0; }

static int fake_alloc(DevicePtr *p, size_t n)
{
    *p = 0x70000000u + 0x100000u * (unsigned)seen.nalloc++;
    (void)n;
    return seen.mode == CAPTURE_RELAXED ? 0 : 900; /* as in a capture */
}

static int fake_memset(DevicePtr p, unsigned char v, size_t n, Handle s)
{
    (void)p; (void)v; (void)n; (void)s;
    return 0;
}

/* Addresses from 0x1000000 on are the device's, from 0x2000000 on another one's. */
static int fake_pointer(unsigned n, int *attribute, void **value, DevicePtr p)
{
    (void)n;
    seen.nquery++;
    CHECK_INT(attribute[0], CU_POINTER_TYPE);
    *(unsigned *)value[0] = p >= 0x1000000u ? CU_MEMORY_DEVICE : 0;
    *(int *)value[1] = p >= 0x2000000u && p < 0x70000000u;
    return 0;
}

static int fake_encode(void *map, int type, uint32_t rank, void *address, const uint64_t *dim,
                       const uint64_t *stride, const uint32_t *box, const uint32_t *step,
                       int interleave, int swizzle, int promotion, int fill)
{
    CHECK_INT((uintptr_t)map % MAP_ALIGN, 0);
    CHECK_INT(step[0] + (unsigned)interleave + (unsigned)fill, 1);
    CHECK_INT(promotion, 3);
    seen.nencode++;
    seen.type = type;
    seen.rank = rank;
    seen.address = address;
    seen.swizzle = swizzle;
    memcpy(seen.dim, dim, rank * sizeof *dim);
    memcpy(seen.stride, stride, (rank - 1) * sizeof *stride);
    memcpy(seen.box, box, rank * sizeof *box);
    memset(map, 0x40 + seen.nencode, MAP_BYTES);
    return seen.fails;
}

static int fake_launch(Handle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                       unsigned bz, unsigned shared, Handle stream, void **params, void **extra)
{
    seen.nlaunch++;
    seen.grid[0] = gx; seen.grid[1] = gy; seen.grid[2] = gz;
    seen.block[0] = bx; seen.block[1] = by; seen.block[2] = bz;
    seen.shared = shared;
    seen.stream = stream;
    CHECK(f != NULL && extra == NULL);
    memcpy(&seen.first, params[0], 8);
    memcpy(&seen.second, params[1], 8);
    return seen.fails;
}

static int fake_launch_with(const CuLaunchConfig *c, Handle f, void **params, void **extra)
{
    seen.attribute = 0;
    for (unsigned i = 0; i < c->nattribute; i++)
        seen.attribute |= (unsigned long long)c->attribute[i].value.on << c->attribute[i].id;
    return fake_launch(f, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2],
                       c->shared, c->stream, params, extra);
}

/* One array: what tl_trace_… of a profiled kernel would hold. */
static uint64_t trace[8 * 2 * 1024];

static int fake_global(DevicePtr *p, size_t *n, Handle m, const char *name)
{
    (void)m;
    CHECK_HAS(name, "tl_trace_");
    *p = 0x70000000u;
    *n = sizeof trace;
    return 0;
}

static int fake_down(void *to, DevicePtr from, size_t n)
{
    CHECK_INT(from, 0x70000000u);
    memcpy(to, trace, n < sizeof trace ? n : sizeof trace);
    return 0;
}

static Gpu *fake_gpu(void)
{
    static const CudaDriver own = {.cuDeviceGet = fake_device, .cuPointerGetAttributes = fake_pointer,
                             .cuLaunchKernel = fake_launch, .cuLaunchKernelEx = fake_launch_with,
                             .maps.tiled = fake_encode};
    static Gpu g = {.context = (Handle)7, .name = "fake", .tag = "[cuda-failed]", .own = &own,
                    .owner = cuda_owner, .launch = cuda_launch,
                    .map_shape = cuda_map_shape, .map_encode = cuda_map};

    memset(&seen, 0, sizeof seen);
    g.error_name = fake_name;
    g.error_text = fake_text;
    g.context_get = fake_get;
    g.context_set = fake_set;
    g.module_unload = fake_unload;
    g.mem_free = fake_free;
    g.mem_alloc = fake_alloc;
    g.mem_set = fake_memset;
    g.stream_create = fake_stream;
    g.stream_destroy = fake_sync;
    g.stream_wait = fake_sync;
    g.capture_mode = fake_mode;
    g.synchronize = fake_wait;
    g.module_array = fake_global;
    g.copy_out = fake_down;
    g.facts.clock_khz = 1000000;
    return &g;
}

/* ---- tensor maps ----------------------------------------------------------------------------- */

typedef struct {
    World w;
    TensorMap map;
    int64_t value[8];
    char text[400];
} Maps;

/* A[M, K] of a dtype, M and K run-time dimensions, in boxes of 128 x 64. */
static Maps *maps_open(DType t)
{
    static Maps m;
    const Expr *shape[2];

    memset(&m, 0, sizeof m);
    world_open(&m.w);
    Var *M = var_new(m.w.ir, "M", DT_I64, NO_SPAN), *K = var_new(m.w.ir, "K", DT_I64, NO_SPAN);
    shape[0] = expr_var(m.w.ir, M);
    shape[1] = expr_var(m.w.ir, K);
    m.map = (TensorMap){.buf = buffer_new(m.w.ir, "A", t, MEM_GLOBAL, 2, shape, NO_SPAN), .rank = 2,
                        .dim = {shape[1], shape[0]},
                        .stride = {expr_int(m.w.ir, 1), shape[1]},
                        .box = {64, 128},
                        .swizzle = 128};
    m.value[M->id] = 1000;
    m.value[K->id] = 512;
    return &m;
}

TEST(a_map_says_what_the_driver_wants)
{
    Maps *m = maps_open(DT_BF16);
    Gpu *g = fake_gpu();
    MapShape s;
    _Alignas(MAP_ALIGN) char map[MAP_BYTES];

    CHECK(cuda_map_shape(&m->map, m->value, &s, m->text, sizeof m->text));
    CHECK_INT(cuda_map(g, &s, 0x1000000, map, m->text, sizeof m->text), STATUS_OK);
    CHECK_INT(seen.type, 9);
    CHECK_INT(seen.rank, 2);
    CHECK_INT(seen.dim[0], 512);
    CHECK_INT(seen.dim[1], 1000);
    CHECK_INT(seen.stride[0], 1024);
    CHECK_INT(seen.box[0], 64);
    CHECK_INT(seen.box[1], 128);
    CHECK_INT(seen.swizzle, 3);
    CHECK(seen.address == (void *)0x1000000);
}

TEST(maps_are_kept_by_address_and_shape)
{
    Maps *m = maps_open(DT_F16);
    Gpu *g = fake_gpu();
    MapCache *c = map_cache_new();
    MapShape s;
    _Alignas(MAP_ALIGN) char map[MAP_BYTES];

    CHECK(cuda_map_shape(&m->map, m->value, &s, m->text, sizeof m->text));
    for (int i = 0; i < 6; i++)
        CHECK_INT(tensor_map(c, g, &s, 0x1000000u + 0x1000u * (unsigned)(i % 2), map, m->text,
                             sizeof m->text), STATUS_OK);
    CHECK_INT(seen.nencode, 2);
    CHECK_INT(map[0], 0x42);
    m->value[0] = 999;
    CHECK(cuda_map_shape(&m->map, m->value, &s, m->text, sizeof m->text));
    CHECK_INT(tensor_map(c, g, &s, 0x1000000, map, m->text, sizeof m->text), STATUS_OK);
    CHECK_INT(seen.nencode, 3);
    map_cache_free(c);
}

TEST(what_a_map_cannot_be_names_the_argument)
{
    Maps *m = maps_open(DT_BF16);
    Gpu *g = fake_gpu();
    MapShape s;
    _Alignas(MAP_ALIGN) char map[MAP_BYTES];

    CHECK(cuda_map_shape(&m->map, m->value, &s, m->text, sizeof m->text));
    CHECK_INT(cuda_map(g, &s, 0x1000008, map, m->text, sizeof m->text), STATUS_USER);
    CHECK_HAS(m->text, "argument 'A' starts at address 0x1000008");
    CHECK_HAS(m->text, "[argument-alignment]");
    m->value[1] = 511;
    CHECK(!cuda_map_shape(&m->map, m->value, &s, m->text, sizeof m->text));
    CHECK_HAS(m->text, "argument 'A' has a stride of 1022 bytes");
    CHECK_HAS(m->text, "[argument-alignment]");
    m->value[0] = 1; /* one row: its stride is never used */
    CHECK(cuda_map_shape(&m->map, m->value, &s, m->text, sizeof m->text));
    CHECK_INT(s.stride[0], 1024);
    m->value[0] = 0;
    seen.nencode = 0;
    CHECK(cuda_map_shape(&m->map, m->value, &s, m->text, sizeof m->text));
    CHECK_INT(cuda_map(g, &s, 0, map, m->text, sizeof m->text), STATUS_OK);
    CHECK_INT(seen.nencode, 0);
    m->value[0] = 8;
    m->value[1] = 64;
    seen.fails = 1;
    CHECK(cuda_map_shape(&m->map, m->value, &s, m->text, sizeof m->text));
    CHECK_INT(cuda_map(g, &s, 0x1000000, map, m->text, sizeof m->text), STATUS_TOOL);
    CHECK_HAS(m->text, "argument 'A': its tensor map: CUDA_ERROR_INVALID_VALUE: invalid argument "
              "[cuda-failed]");
}

/* ---- launches -------------------------------------------------------------------------------- */

static const char axpy[] =
    "import tilelang.language as T\n"
    "n = T.dynamic('n')\n"
    "@T.prim_func\n"
    "def axpy(X: T.Tensor((n,), 'float32'), a: T.float32, Y: T.Tensor((n,), 'float32')):\n"
    "    with T.Kernel(T.ceildiv(n, 64), threads=64) as bx:\n"
    "        for i in T.Parallel(64):\n"
    "            if bx * 64 + i < n:\n"
    "                Y[bx * 64 + i] = X[bx * 64 + i] * a + Y[bx * 64 + i]\n";

typedef struct {
    tl_context *c;
    tl_kernel *k;
    float a;
    tl_tensor args[3];
} Axpy;

static tl_kernel *with_target(tl_context *c, const char *text, const char *target)
{
    tl_options o = TL_OPTIONS_INIT;
    tl_kernel *k = NULL;
    static char code[] = "cubin";

    o.target = target;
    o.no_build = true;
    if (tl_compile(c, "k.py", text, &o, &k) != TL_OK)
        test_text(__FILE__, __LINE__, tl_message(c), "", "compiles");
    Func *f = k->build.func;
    Loaded *m = NEW(k->arena, Loaded);
    *m = (Loaded){.gpu = fake_gpu(), .func = f, .kernel = NEWN(k->arena, Handle, 4),
                     .tensor = NEWN(k->arena, DeviceMemory, f->params.n + 1),
                     .value = NEWN(k->arena, int64_t, f->ir->nvar + 1)};
    for (int i = 0; i < f->kernels.n && i < 4; i++)
        m->kernel[i] = (Handle)(uintptr_t)(i + 1);
    for (int i = 0; i < STREAMS_MOST; i++)
        m->stream[i].work = NEWN(k->arena, DeviceMemory, f->workspaces.n + 1);
    k->built.loaded = m;
    k->built.module.binary = code;
    return k;
}

static tl_kernel *with_fake(tl_context *c, const char *text)
{
    return with_target(c, text, "cuda -arch=sm_90a");
}

static Axpy *axpy_open(void)
{
    static Axpy x;

    x = (Axpy){.c = tl_open(), .a = 2.5f};
    x.k = with_fake(x.c, axpy);
    x.args[0] = (tl_tensor){.dtype = "float32", .rank = 1, .shape = {1000}, .data = (void *)0x1000000};
    x.args[1] = (tl_tensor){.dtype = "float32", .data = &x.a};
    x.args[2] = x.args[0];
    x.args[2].data = (void *)0x1010000;
    return &x;
}

TEST(a_launch_hands_over_addresses_and_a_grid)
{
    Axpy *x = axpy_open();

    CHECK_INT(tl_kernel_launch(x->k, x->args, 3, (void *)0x55), TL_OK);
    CHECK_INT(seen.nlaunch, 1);
    CHECK_INT(seen.grid[0], 16);
    CHECK_INT(seen.block[0], 64);
    CHECK_INT(seen.first, 0x1000000);
    CHECK_INT(seen.second, 0x1010000);
    CHECK(seen.stream == (Handle)0x55);
    CHECK_INT(seen.nquery, 2);
    tl_kernel_free(x->k);
    tl_close(x->c);
}

TEST(the_second_launch_asks_only_about_new_addresses)
{
    Axpy *x = axpy_open();

    CHECK_INT(tl_kernel_launch(x->k, x->args, 3, NULL), TL_OK);
    CHECK_INT(tl_kernel_launch(x->k, x->args, 3, NULL), TL_OK);
    CHECK_INT(seen.nquery, 2);
    x->args[2].data = (void *)0x1020000;
    CHECK_INT(tl_kernel_launch(x->k, x->args, 3, NULL), TL_OK);
    CHECK_INT(seen.nquery, 3);
    CHECK_INT(seen.second, 0x1020000);
    x->args[0].shape[0] = x->args[2].shape[0] = 65;
    CHECK_INT(tl_kernel_launch(x->k, x->args, 3, NULL), TL_OK);
    CHECK_INT(seen.grid[0], 2);
    x->args[2].shape[0] = 66;
    CHECK_INT(tl_kernel_launch(x->k, x->args, 3, NULL), TL_EUSER);
    CHECK_HAS(tl_message(x->c), "[argument-shape]");
    CHECK_INT(seen.nlaunch, 4);
    x->args[2].shape[0] = 65;
    CHECK_INT(tl_kernel_launch(x->k, x->args, 3, NULL), TL_OK);
    CHECK_INT(seen.nlaunch, 5);
}

TEST(addresses_are_checked)
{
    Axpy *x = axpy_open();

    x->args[0].data = &x->a;
    x->args[0].data = (void *)0x10000;
    CHECK_INT(tl_kernel_launch(x->k, x->args, 3, NULL), TL_EUSER);
    CHECK_HAS(tl_message(x->c), "argument 'X' is not in memory of the GPU");
    CHECK_HAS(tl_message(x->c), "[argument-device]");
    x->args[0].data = (void *)0x2000000;
    CHECK_INT(tl_kernel_launch(x->k, x->args, 3, NULL), TL_EUSER);
    CHECK_HAS(tl_message(x->c), "argument 'X' is on GPU 1; the kernel runs on GPU 0");
    CHECK_INT(seen.nlaunch, 0);
}

/* Else X would be that of the launch before. */
TEST(an_argument_that_is_given_twice)
{
    Axpy *x = axpy_open();

    CHECK_INT(tl_kernel_launch(x->k, x->args, 3, NULL), TL_OK);
    x->args[0].name = x->args[2].name = "Y";
    x->args[1].name = "a";
    CHECK_INT(tl_kernel_launch(x->k, x->args, 3, NULL), TL_EUSER);
    CHECK_HAS(tl_message(x->c), "argument 'Y' is given twice [argument-name]");
    x->args[0].name = "X";
    CHECK_INT(tl_kernel_launch(x->k, x->args, 3, NULL), TL_OK);
    CHECK_INT(seen.nlaunch, 2);
}

TEST(tensors_that_start_anywhere_have_a_kernel_of_their_own)
{
    Axpy *x = axpy_open();
    tl_kernel *other = x->k->unaligned = with_fake(x->c, axpy);

    for (int i = 0; i < other->build.tile->params.n; i++)
        if (other->build.tile->params.at[i].buf)
            other->build.tile->params.at[i].buf->unaligned = true;
    x->args[0].data = (void *)0x1000004;
    CHECK_INT(tl_kernel_launch(x->k, x->args, 3, NULL), TL_OK);
    CHECK_INT(seen.first, 0x1000004);
    CHECK(other->last_holds && !x->k->last_holds);
    x->args[0].data = (void *)0x1000010;
    CHECK_INT(tl_kernel_launch(x->k, x->args, 3, NULL), TL_OK);
    CHECK(x->k->last_holds);
    CHECK_INT(seen.nlaunch, 2);
    x->args[0].data = (void *)0x1000002;
    CHECK_INT(tl_kernel_launch(x->k, x->args, 3, NULL), TL_EUSER);
    CHECK_HAS(tl_message(x->c), "a multiple of 4 bytes [argument-alignment]");
    CHECK_INT(seen.nlaunch, 2);
    tl_kernel_free(x->k);
    tl_close(x->c);
}

TEST(a_failed_launch_names_the_kernel)
{
    Axpy *x = axpy_open();

    seen.fails = 1;
    CHECK_INT(tl_kernel_launch(x->k, x->args, 3, NULL), TL_ETOOL);
    CHECK_HAS(tl_message(x->c), "axpy");
    CHECK_HAS(tl_message(x->c), "grid 16 x 1 x 1, 64 threads");
    CHECK_HAS(tl_message(x->c), "CUDA_ERROR_INVALID_VALUE: invalid argument [cuda-failed]");
}

TEST(clusters_divide_the_grid)
{
    Axpy *x = axpy_open();

    x->k->build.func->kernels.at[0]->cluster[0] = 3;
    CHECK_INT(tl_kernel_launch(x->k, x->args, 3, NULL), TL_EUSER);
    CHECK_HAS(tl_message(x->c), "[grid-cluster]");
}

TEST(a_producer_adds_its_threads)
{
    Axpy *x = axpy_open();

    x->k->build.func->kernels.at[0]->extra_threads = 128;
    CHECK_INT(tl_kernel_launch(x->k, x->args, 3, NULL), TL_OK);
    CHECK_INT(seen.block[0], 192);
}

TEST(waiting_for_the_kernel_before_is_an_attribute)
{
    Axpy *x = axpy_open();

    x->k->build.func->kernels.at[0]->launch.pdl = true;
    CHECK_INT(tl_kernel_launch(x->k, x->args, 3, NULL), TL_OK);
    CHECK_INT(seen.attribute, 1 << CU_LAUNCH_PROGRAMMATIC);
}

static const char two_steps[] =
    "import tilelang.language as T\n"
    "@T.prim_func\n"
    "def two(X: T.Tensor((64,), 'float32'), Y: T.Tensor((64,), 'float32')):\n"
    "    W = T.alloc_global((64,), 'float32')\n"
    "    with T.Kernel(1, threads=64) as bx:\n"
    "        for i in T.Parallel(64):\n"
    "            W[i] = X[i] + 1\n"
    "    with T.Kernel(1, threads=64) as bx:\n"
    "        for i in T.Parallel(64):\n"
    "            Y[i] = W[i] * 2\n";

TEST(streams_have_temporaries_of_their_own)
{
    tl_context *c = tl_open();
    tl_kernel *k = with_fake(c, two_steps);
    tl_tensor args[2] = {{.dtype = "float32", .rank = 1, .shape = {64}, .data = (void *)0x1000000},
                         {.dtype = "float32", .rank = 1, .shape = {64}, .data = (void *)0x1010000}};

    CHECK_INT(tl_kernel_launch(k, args, 2, (void *)0x10), TL_OK);
    int first = seen.nalloc;
    CHECK(first >= 1);
    CHECK_INT(seen.nlaunch, 2);
    CHECK_INT(tl_kernel_launch(k, args, 2, (void *)0x10), TL_OK);
    CHECK_INT(seen.nalloc, first);
    CHECK_INT(tl_kernel_launch(k, args, 2, (void *)0x20), TL_OK);
    CHECK_INT(seen.nalloc, 2 * first);
    CHECK_INT(seen.nlaunch, 6);
    tl_kernel_free(k);
    tl_close(c);
}

/* ---- what ptxas says ------------------------------------------------------------------------- */

TEST(serialized_products_are_found_in_the_log)
{
    size_t n;
    const char *line = nvrtc_serialized(
        "ptxas info    : 0 bytes gmem\n"
        "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
        "serialized due to insufficient register resources in the function [wgmma-serialized]\n", &n);

    CHECK(line && n > 40);
    CHECK_HAS(line, "(C7510)");
    CHECK(!nvrtc_serialized("ptxas info    : (C7508) setmaxnreg ignored\nwgmma\n", &n));
}

/* An ELF file of one executable section with these instructions, two words each, in it. */
static const char *faults_in(const uint64_t *word, size_t n)
{
    static unsigned char file[64 + 16 * 8 + 64];
    uint64_t section[8] = {0, 4 /* executable */, 0, 64, 16 * n};

    memset(file, 0, sizeof file);
    memcpy(file, "\177ELF\2\1", 6);
    file[40] = (unsigned char)(64 + 16 * n); /* the table of sections */
    file[60] = 1;
    memcpy(file + 64, word, 16 * n);
    memcpy(file + 64 + 16 * n, section, sizeof section);
    return sass_fault((const char *)file, sizeof file);
}

static const char *fault_in(uint64_t low, uint64_t high)
{
    return faults_in((uint64_t[]){low, high}, 1);
}

TEST(a_clamp_with_a_predicate_is_a_fault)
{
    CHECK(fault_in(0x0000004002ff7848, 0x004fd00003801100));  /* VIMNMX.RELU RZ, P0, P0, R2, 64 */
    CHECK(!fault_in(0x0000004002077848, 0x004fc80003fe1100)); /* VIMNMX.RELU R7, R2, 64 */
    CHECK(!fault_in(0x0000004000077848, 0x000fc80003fe0100)); /* VIMNMX R7, R0, 64 */
    CHECK(!sass_fault("\177ELF", 4));
}

TEST(a_stack_pointer_that_is_lost_is_a_fault)
{
    const uint64_t own = 0x00000a00ff017624, add = 0xffffffe001017810; /* R1 = c[0][0x28] - 32 */
    const uint64_t tid = 0x0000000000017919, store = 0x0000000401007387; /* S2R R1; STL [R1], R4 */

    CHECK(faults_in((uint64_t[]){own, 0, add, 0, tid, 0, store, 0}, 4));
    CHECK(!faults_in((uint64_t[]){own, 0, add, 0, store, 0}, 3));
    CHECK(!faults_in((uint64_t[]){own, 0, tid, 0}, 2)); /* nothing lies on the stack */
    CHECK(!faults_in((uint64_t[]){own, 0, 0x0000000000017945, 0, store, 0}, 3)); /* BSSY B1 */
}

TEST(two_barriers_in_one_register_are_a_fault)
{
    const uint64_t outer = 0x0000005000007945;                         /* BSSY B0, 5 words on */
    const uint64_t inner = 0x0000003000007945, away = 0x0000000000137355; /* BMOV.CLEAR R19, B0 */
    const uint64_t set = 0x0000001300007356, meet = 0x0000000000007941; /* BMOV B0, R19; BSYNC B0 */

    CHECK(faults_in((uint64_t[]){outer, 0, away, 0, set, 0, outer, 0, away, 0, set, 0, meet, 0}, 7));
    CHECK(faults_in((uint64_t[]){outer, 0, 0, 0, away, 0, set, 0, meet, 0}, 5));
    CHECK(!faults_in((uint64_t[]){outer, 0, 0, 0, set, 0, meet, 0}, 4));
    CHECK(!faults_in((uint64_t[]){outer, 0, away, 0, set, 0, away, 0, meet, 0}, 5));
    /* the register that is lent holds no barrier: its own was taken away, or is met already */
    CHECK(!faults_in((uint64_t[]){inner, 0, away, 0, away, 0, set, 0, meet, 0}, 5));
    CHECK(!faults_in((uint64_t[]){0x0000000000007945, 0, 0, 0, away, 0, set, 0, meet, 0}, 5));
}

TEST(an_avoided_fault_stands_first_in_the_log)
{
    size_t n;
    const char *line = nvrtc_avoided("avoided: a clamp\nptxas info\n", &n);

    CHECK(line && n == 7);
    CHECK(!nvrtc_avoided("ptxas info: avoided: nothing\n", &n));
}

static const Machine *machine(const char *arch)
{
    static TargetSpec spec;
    Arena *a = arena_new();
    const char *why;

    CHECK(target_parse(a, arena_printf(a, "%s -arch=%s", *arch == 's' ? "cuda" : "hip", arch),
                       &spec, &why));
    return &spec.machine;
}

TEST(blocks_per_multiprocessor)
{
    const char *limit;
    int most;

    CHECK_INT(occupancy(machine("sm_90"), 384, 168, 200 << 10, &limit, &most), 1);
    CHECK_TEXT(limit, "shared memory");
    CHECK_INT(most, 64);
    CHECK_INT(occupancy(machine("sm_90"), 128, 128, 16 << 10, &limit, &most), 4);
    CHECK_TEXT(limit, "registers");
    CHECK_INT(occupancy(machine("sm_80"), 1024, 32, 0, &limit, &most), 2);
    CHECK_TEXT(limit, "threads");
    CHECK_INT(occupancy(machine("sm_86"), 32, 16, 0, &limit, &most), 16);
    CHECK_TEXT(limit, "blocks");
    /* 54,500 bytes are 43 steps of 1,280: three blocks would need 165,120 of 163,840. */
    CHECK_INT(occupancy(machine("gfx950"), 64, 16, 54500, &limit, &most), 2);
    CHECK_INT(occupancy(machine("gfx950"), 64, 16, 42 * 1280, &limit, &most), 3);
    CHECK_INT(occupancy(machine("gfx942"), 64, 16, 16385, &limit, &most), 3); /* steps of 512 */
}

/* ---- timelines ------------------------------------------------------------------------------- */

TEST(stamps_become_spans)
{
    tl_context *c = tl_open();
    tl_kernel *k = with_target(c, axpy, "cuda -arch=sm_90a -profile");
    float a = 1;
    const char *json, *svg, *table;
    tl_tensor args[3] = {{.dtype = "float32", .rank = 1, .shape = {64}, .data = (void *)0x1000000},
                         {.dtype = "float32", .data = &a},
                         {.dtype = "float32", .rank = 1, .shape = {64}, .data = (void *)0x1010000}};

    CHECK_HAS(tl_kernel_text(k, TL_TEXT_SOURCE), "TL_STAMP(0);");
    CHECK_HAS(tl_kernel_text(k, TL_TEXT_SOURCE), "/* tl_site 0 copy line ");
    CHECK_HAS(tl_kernel_text(k, TL_TEXT_SOURCE), "warps 2 own 2 */");
    for (int i = 0; i < COUNT(c->states); i++)
        c->states[i].gpu = k->built.loaded->gpu;
    trace[0] = 5000; /* nanoseconds; then cycles of 1 ns: a span from 1 to 4 us after the start */
    trace[1] = 100;
    trace[2] = 3;
    trace[4] = 1100u << 12;
    trace[5] = 4100u << 12 | 1;
    CHECK_INT(tl_kernel_profile(k, args, 3, &json, &svg, &table), TL_OK);
    CHECK_HAS(json, "\"cat\":\"copy\",\"pid\":3,\"tid\":0,\"ts\":1.0000,\"dur\":3.0000");
    CHECK_HAS(svg, "copy, line ");
    CHECK_HAS(table, "warp 0");
    CHECK_HAS(table, "3.00   75");
    tl_kernel_free(k);

    k = with_fake(c, axpy);
    CHECK_INT(tl_kernel_profile(k, args, 3, &json, &svg, &table), TL_EUSER);
    CHECK_HAS(tl_message(c), "[not-profiled]");
}
