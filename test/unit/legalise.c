/* legalise.c -- what a made-up language lacks is lowered: the same results in the simulator. */
#include "ir_world.h"
#include "sim/sim.h"
#include "target/print.h"

/* A kernel of `body` over tensors that `params` names, before and after; both are run. */
typedef struct {
    World w;
    Func *f;
    Dialect say;
    SimArg arg[4];
    int narg;
} Case;

static Kernel *kernel_of(Case *c)
{
    return c->f->kernels.at[0];
}

static void open_case(Case *c, uint32_t lacks, const char *params, const char *more, const char *body)
{
    world_open(&c->w);
    c->f = func_of(&c->w, arena_printf(c->w.arena,
                                       "func main:\n%s    launch main_kernel:\n        form CHECKED "
                                       "NORMAL THREADS LOOPS\n        grid bx: int32 = 1\n        "
                                       "threads tx: int32 = 32, ty: int32 = 1, tz: int32 = 1\n        "
                                       "uses_threads\n%s        body:\n%s",
                                       params, more, body));
    c->say = (Dialect){.name = "Made-up", .lacks = lacks};
    c->narg = 0;
}

static void add_arg(Case *c, DType t, int64_t n, void *data)
{
    c->arg[c->narg++] = (SimArg){.data = data, .rank = 1, .type = t, .shape = {n}};
}

static void lower(World *w, void *arg)
{
    Case *c = arg;
    Emit e = {.func = c->f, .k = kernel_of(c), .ir = w->ir, .say = &c->say, .arena = w->arena};
    legalise(&e);
}

static const char *body_text(Case *c)
{
    return stmt_text(&c->w, kernel_of(c)->body);
}

/* Runs, lowers, runs again on other memory: `out` and `again` are what the last argument holds. */
static void run_twice(Case *c, void *out, void *again)
{
    SimOptions o = {.check_uninit = false};

    c->arg[c->narg - 1].data = out;
    sim_run(c->f, c->arg, c->narg, &o);
    const char *tag = thrown(&c->w, lower, c);
    CHECK_TEXT(*tag ? c->w.diag.list.at[0].text : "", "");
    c->arg[c->narg - 1].data = again;
    sim_run(c->f, c->arg, c->narg, &o);
}

static int odd_byte(int i)
{
    return (i * 37 + 11) % 256;
}

TEST(bytes_live_in_words)
{
    Case c;
    uint8_t a[32], out[32], again[32];

    for (int i = 0; i < 32; i++) {
        a[i] = (uint8_t)odd_byte(i);
        out[i] = again[i] = 0xee;
    }
    open_case(&c, LACK_BYTES,
              "    param A: uint8[32] global is_param\n    param B: uint8[32] global is_param\n", "",
              "            B[tx] = A[31 - tx] + uint8(99) where tx % 3 != 1\n"
              "            B[tx] = B[tx] + uint8(1) where tx % 3 != 1\n");
    add_arg(&c, DT_U8, 32, a);
    add_arg(&c, DT_U8, 32, out);
    run_twice(&c, out, again);
    CHECK(!memcmp(out, again, sizeof out));
    CHECK_INT(again[0], (a[31] + 100) & 255);
    CHECK_INT(again[1], 0xee);
    CHECK_HAS(body_text(&c), "atomic_and(B[tx // 4]");
    world_close(&c.w);
}

TEST(signed_bytes_wrap_and_saturate_as_before)
{
    Case c;
    int8_t a[32], out[32], again[32];

    for (int i = 0; i < 32; i++)
        a[i] = (int8_t)odd_byte(i);
    open_case(&c, LACK_BYTES,
              "    param A: int8[32] global is_param\n    param B: int8[32] global is_param\n",
              "        buffer x: int8[4] local\n",
              "            v: int8 = A[tx] * A[tx] - int8(3)\n"
              "            x[tx % 4] = max(v, int8(-50))\n"
              "            x[(tx + 1) % 4] = cast(int8, cast(float32, v) * float32(3.0))\n"
              "            B[tx] = (x[tx % 4] ^ x[(tx + 1) % 4]) // int8(-3)\n");
    add_arg(&c, DT_I8, 32, a);
    add_arg(&c, DT_I8, 32, out);
    run_twice(&c, out, again);
    for (int i = 0; i < 32; i++)
        CHECK_INT(again[i], out[i]);
    CHECK(!strstr(body_text(&c), "int8("));
    world_close(&c.w);
}

TEST(halves_are_converted_out_of_their_words)
{
    Case c;
    uint16_t a[32], out[32], again[32];

    for (int i = 0; i < 32; i++)
        a[i] = (uint16_t)num_encode(DT_F16, i * 0.37 - 3);
    open_case(&c, LACK_HALVES,
              "    param A: float16[32] global is_param\n    param B: float16[32] global is_param\n", "",
              "            B[tx] = A[tx] * float16(1.1) + A[31 - tx]\n");
    add_arg(&c, DT_F16, 32, a);
    add_arg(&c, DT_F16, 32, out);
    run_twice(&c, out, again);
    CHECK(!memcmp(out, again, sizeof out));
    world_close(&c.w);
}

TEST(whole_words_are_stored_at_once)
{
    Case c;
    uint16_t a[64], out[64], again[64];

    for (int i = 0; i < 64; i++)
        a[i] = (uint16_t)num_encode(DT_BF16, i * 1.5);
    open_case(&c, LACK_HALVES,
              "    param A: bfloat16[64] global is_param\n    param B: bfloat16[64] global is_param\n", "",
              "            B[ramp(tx * 2, 1, 2)] = A[ramp(62 - tx * 2, 1, 2)] where broadcast(tx < 30, 2)\n");
    add_arg(&c, DT_BF16, 64, a);
    add_arg(&c, DT_BF16, 64, out);
    memset(out, 0, sizeof out);
    memset(again, 0, sizeof again);
    run_twice(&c, out, again);
    CHECK(!memcmp(out, again, sizeof out));
    CHECK(!strstr(body_text(&c), "atomic"));
    world_close(&c.w);
}

TEST(bits_above_a_type_are_not_counted)
{
    Case c;
    int16_t a[32];
    int32_t out[32], again[32];

    for (int i = 0; i < 32; i++)
        a[i] = (int16_t)(odd_byte(i) * 300 - 30000);
    open_case(&c, LACK_HALVES,
              "    param A: int16[32] global is_param\n    param B: int32[32] global is_param\n", "",
              "            B[tx] = clz(A[tx]) * 100 + cast(int32, popcount(A[tx]))\n");
    add_arg(&c, DT_I16, 32, a);
    add_arg(&c, DT_I32, 32, out);
    run_twice(&c, out, again);
    CHECK(!memcmp(out, again, sizeof out));
    world_close(&c.w);
}

TEST(flags_and_choices)
{
    Case c;
    uint8_t a[20];
    float out[32], again[32];

    for (int i = 0; i < 20; i++)
        a[i] = i % 3 == 0;
    open_case(&c, LACK_BYTES | LACK_LAZY,
              "    param A: bool[20] global is_param\n    param B: float32[32] global is_param\n", "",
              "            B[tx] = float32(2.0) if load(A[tx], tx < 20, tx < 0) else cast(float32, tx)\n");
    add_arg(&c, DT_BOOL, 20, a);
    add_arg(&c, DT_F32, 32, out);
    run_twice(&c, out, again);
    for (int i = 0; i < 32; i++)
        CHECK_NEAR(again[i], out[i], 0);
    CHECK(!strstr(body_text(&c), "load("));
    CHECK_HAS(body_text(&c), "select(tx < 20, tx");
    world_close(&c.w);
}

TEST(wide_indices_that_fit_are_narrow)
{
    Case c;
    float out[64] = {0}, again[64] = {0};

    open_case(&c, LACK_I64, "    param B: float32[64] global is_param\n", "",
              "            p: int64 = cast(int64, tx) * int64(2)\n"
              "            for i: int64 in serial(int64(0), int64(2)):\n"
              "                B[p + i] = cast(float32, p * int64(3) - i)\n");
    add_arg(&c, DT_F32, 64, out);
    run_twice(&c, out, again);
    CHECK(!memcmp(out, again, sizeof out));
    CHECK_NEAR(again[63], 31 * 6 - 1, 0);
    CHECK_TEXT(body_text(&c), "p: int32 = tx * 2\n"
                              "for i in serial(0, 2):\n"
                              "    B[p + i] = cast(float32, p * 3 - i)\n");
    world_close(&c.w);
}

static void refused(uint32_t lacks, const char *params, const char *more, const char *body,
                    const char *message)
{
    Case c;

    open_case(&c, lacks, params, more, body);
    CHECK_TEXT(thrown(&c.w, lower, &c), "unsupported-here");
    Str s;
    str_init(&s, c.w.arena);
    diag_render(&c.w.diag, &s, false);
    CHECK_HAS(s.s, message);
    world_close(&c.w);
}

TEST(what_cannot_be_lowered_is_refused)
{
    const char *f32 = "    param B: float32[64] global is_param\n";

    refused(LACK_I64, f32, "", "            B[tx] = cast(float32, cast(int64, tx) * int64(100000000))\n",
            "needs 64-bit integers, which Made-up lacks");
    refused(LACK_POINTERS, f32, "        buffer s: float32[64] shared\n        buffer v: uint8[256] shared view(s)\n",
            "            v[tx] = uint8(1)\n", "'v' needs pointers, which Made-up lacks");
    refused(LACK_BYTES, "    param B: int8[64] global is_param\n", "",
            "            atomic_add(B[tx], int8(1))\n", "an atomic on 'B' needs 8-bit elements");
    refused(LACK_UNEVEN, f32, "",
            "            for i in serial(0, tx):\n                call sync_threads()\n",
            "a barrier under a condition that differs between threads needs barriers for some threads");
}

TEST(a_view_of_as_many_bits_is_its_tensor)
{
    Case c;
    float out[32] = {0}, again[32] = {0};

    open_case(&c, LACK_POINTERS, "    param B: float32[32] global is_param\n",
              "        buffer s: float32[32] shared\n        buffer v: int32[32] shared view(s)\n",
              "            v[tx] = tx + 1065353216\n            B[tx] = s[tx]\n");
    add_arg(&c, DT_F32, 32, out);
    run_twice(&c, out, again);
    CHECK(!memcmp(out, again, sizeof out));
    CHECK_HAS(body_text(&c), "s[tx] = bitcast(float32, ");
    world_close(&c.w);
}

TEST(every_thread_comes_to_a_barrier)
{
    Case c;

    open_case(&c, LACK_UNEVEN, "    param B: float32[64] global is_param\n",
              "        buffer s: float32[32] shared\n",
              "            if tx < 16:\n"
              "                s[tx] = float32(1.0)\n"
              "                call sync_threads()\n"
              "                B[tx] = s[15 - tx]\n");
    CHECK_TEXT(thrown(&c.w, lower, &c), "");
    CHECK_TEXT(body_text(&c), "here: bool = tx < 16\n"
                              "if here:\n"
                              "    s[tx] = 1.0\n"
                              "call sync_threads()\n"
                              "if here:\n"
                              "    B[tx] = s[15 - tx]\n");
    world_close(&c.w);
}
