/* sim_async.c -- copies and products in flight: a ring of two stages, whole and with one thing wrong.
 *
 * The kernel is C = A B by one warpgroup, fed by a producer through mbarriers, stored by a bulk copy.
 * Each test takes one line away or changes it and names what the simulator must say. */
#include "test.h"
#include "tilelang.h"
#include <stdio.h>
#include <string.h>

static const char ring[] =
    "func main: @1:1-1:2\n"
    "    source \"ring.py\"\n"
    "    param A: float16[64, 64] global is_param @1:1-1:2\n"
    "    param B: float16[64, 64] global is_param @1:1-1:2\n"
    "    param C: float32[64, 64] global is_param is_output out @1:1-1:2\n"
    "    launch k: @1:1-1:2\n"
    "        at @1:1-1:2\n"
    "        form CHECKED NORMAL GRID HOW ROLES STAGED LAYOUTS NOGRID WARPS NOPIPE TOKENS LOOPS THREADS GUARDED FLAT PLACED SYNCED NOUNROLL WIDTHS\n"
    "        grid bx: int32 = 1\n"
    "        threads tx: int32 = 128, ty: int32 = 1, tz: int32 = 1\n"
    "        extra_threads 128\n"
    "        uses_threads\n"
    "        arena_bytes 24576\n"
    "        buffer A_s: float16[2, 64, 16] shared @2:1-2:2\n"
    "        buffer B_s: float16[2, 16, 64] shared @3:1-3:2\n"
    "        buffer C_s: float32[64, 64] shared @3:1-3:2\n"
    "        buffer C_l: float32[64, 64] fragment @4:1-4:2\n"
    "        buffer full: uint64[2] barrier arrive(1, 1) @5:1-5:2\n"
    "        buffer empty: uint64[2] barrier arrive(4, 4) @6:1-6:2\n"
    "        plan A_s offset 0 nbytes 4096 placed\n"
    "        plan B_s offset 4096 nbytes 4096 placed\n"
    "        plan C_s offset 8192 nbytes 16384 placed\n"
    "        plan C_l layout{fragment[64, 64] threads 128 (i, j) -> thread i // 16 * 32 + i % 8 * 4 + j % 8 // 2, slot (i // 8 % 2 * 2 + j % 2 + j // 8 * 4)}\n"
    "        body:\n"
    "            role \"producer\" groups(1): @10:1-10:2\n"
    "                for k in serial(0, 4): @11:1-11:2\n"
    "                    call wait_phase(k // 2 % 2 ^ 1) regions(empty[k % 2:+1]) @12:1-12:2\n"
    "                    call arrive_bytes(4096) regions(full[k % 2:+1]) @13:1-13:2\n"
    "                    instr \"tma.load\" #0(A_s[k % 2:+1, 0:+64, 0:+16], A[0:+64, k * 16:+16], full[k % 2:+1]) @14:1-14:2\n"
    "                    instr \"tma.load\" #0(B_s[k % 2:+1, 0:+16, 0:+64], B[k * 16:+16, 0:+64], full[k % 2:+1]) @15:1-15:2\n"
    "            role \"consumer\" groups(0): @20:1-20:2\n"
    "                for s in serial(0, 32): @21:1-21:2\n"
    "                    C_l[s] = 0.0 @21:1-21:2\n"
    "                for k.1 in serial(0, 4): @22:1-22:2\n"
    "                    call wait_phase(k.1 // 2 % 2) regions(full[k.1 % 2:+1]) @23:1-23:2\n"
    "                    call settle_mma() @24:1-24:2\n"
    "                    instr \"wgmma\" #1(A_s[k.1 % 2:+1, 0:+64, 0:+16], B_s[k.1 % 2:+1, 0:+16, 0:+64], C_l[0:+64, 0:+64]) args(false, false, false) @25:1-25:2\n"
    "                    call commit_mma() @26:1-26:2\n"
    "                    call wait_mma(0) @27:1-27:2\n"
    "                    if tx % 32 == 0: @28:1-28:2\n"
    "                        call arrive() regions(empty[k.1 % 2:+1]) @28:5-28:9\n"
    "                for s.1 in serial(0, 32): @30:1-30:2\n"
    "                    C_s[(tx // 32 * 16 + tx % 32 // 4 + s.1 // 2 % 2 * 8) * 64 + tx % 4 * 2 + s.1 % 2 + s.1 // 4 * 8] = C_l[s.1] @31:1-31:2\n"
    "                call fence_proxy() @32:1-32:2\n"
    "                call sync_threads(1, 128) @33:1-33:2\n"
    "                if tx == 0: @34:1-34:2\n"
    "                    instr \"tma.store\" #2(C[0:+64, 0:+64], C_s[0:+64, 0:+64]) @35:1-35:2\n"
    "                    call commit_stores() @36:1-36:2\n"
    "                    call wait_stores(0) @37:1-37:2\n";

enum { N = 64 };

/* The text with the first `from` made `to`. */
static void change(char *out, size_t n, const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    CHECK(at != NULL);
    snprintf(out, n, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

/* Run it; "" or the message. */
static const char *run_text(const char *text, uint64_t seed)
{
    static char message[4096];
    static uint16_t a[N * N], b[N * N];
    static float c[N * N];
    tl_context *x = tl_open();
    tl_options o = TL_OPTIONS_INIT;
    tl_kernel *k;

    o.no_build = true;
    o.from = o.stop_after = "lower_launch";
    o.target = "cuda -arch=sm_90a";
    memset(c, 0, sizeof c);
    tl_tensor args[] = {
        {.dtype = "float16", .rank = 2, .shape = {N, N}, .data = a},
        {.dtype = "float16", .rank = 2, .shape = {N, N}, .data = b},
        {.dtype = "float32", .rank = 2, .shape = {N, N}, .data = c},
    };
    for (int i = 0; i < N * N; i++) {
        a[i] = i % 3 == 0 ? 0x3c00 : 0x4000; /* 1, 2 */
        b[i] = i % 5 == 0 ? 0x3c00 : 0;
    }
    message[0] = 0;
    if (tl_compile(x, "ring.tile", text, &o, &k) != TL_OK) {
        snprintf(message, sizeof message, "%s", tl_message(x));
    } else {
        if (tl_kernel_simulate(k, args, 3, seed) != TL_OK)
            snprintf(message, sizeof message, "%s", tl_message(x));
        tl_kernel_free(k);
    }
    for (int i = 0; !message[0] && i < N * N; i++) {
        float want = 0;
        for (int j = 0; j < N; j++)
            want += ((i / N * N + j) % 3 == 0 ? 1 : 2) * (float)((j * N + i % N) % 5 == 0);
        if (c[i] != want)
            snprintf(message, sizeof message, "wrong at %d", i);
    }
    tl_close(x);
    return message;
}

enum { TEXT_BYTES = sizeof ring + 512 };

static const char *run_changed(const char *from, const char *to, uint64_t seed)
{
    static char text[TEXT_BYTES];
    change(text, sizeof text, ring, from, to);
    return run_text(text, seed);
}

static const char *run_changed2(const char *from, const char *to, const char *also, const char *by)
{
    static char once[TEXT_BYTES], twice[TEXT_BYTES];
    change(once, sizeof once, ring, from, to);
    change(twice, sizeof twice, once, also, by);
    return run_text(twice, 0);
}

static const char *run_without(const char *line)
{
    return run_changed(line, "pass", 0);
}

TEST(a_ring_is_clean_in_every_schedule)
{
    for (uint64_t seed = 0; seed < 8; seed++)
        CHECK_TEXT(run_changed("ring.py", "ring.py", seed), "");
}

/* Whether the consumer looks before or after the copy is issued is up to the schedule. */
TEST(a_load_must_be_waited_for)
{
    static const char wait[] = "call wait_phase(k.1 // 2 % 2) regions(full[k.1 % 2:+1])";
    const char *m = "";
    for (uint64_t seed = 0; seed < 16 && !strstr(m, "[missing-wait]"); seed++) {
        m = run_changed(wait, "pass", seed);
        CHECK(strstr(m, "[missing-wait]") || strstr(m, "[uninitialised]"));
    }
    CHECK_HAS(m, "tma.load");
    CHECK_HAS(m, "ring.py:25");
    CHECK_HAS(m, "ring.py:14");
}

TEST(a_stage_must_be_free_before_it_is_filled_again)
{
    CHECK_HAS(run_without("call wait_phase(k // 2 % 2 ^ 1) regions(empty[k % 2:+1])"),
              "[barrier-count]");
    CHECK_HAS(run_changed("k // 2 % 2 ^ 1", "k // 2 % 2", 0), "[deadlock]");
    CHECK_HAS(run_changed("(k.1 // 2 % 2)", "(k.1 // 2 % 2 ^ 1)", 0), "[uninitialised]");
    CHECK_HAS(run_without("call wait_mma(0)"), "[missing-wait]");
}

TEST(a_box_lands_without_gaps)
{
    CHECK_HAS(run_changed("(C[0:+64, 0:+64], C_s[0:+64, 0:+64])",
                          "(C[0:+64, 0:+32], C_s[0:+64, 0:+32])", 0), "[box-gaps]");
    CHECK_HAS(run_changed("(B_s[k % 2:+1, 0:+16, 0:+64], B[k * 16:+16, 0:+64]",
                          "(B_s[k % 2:+1, 0:+16, 0:+32], B[k * 16:+16, 0:+32]", 0), "[box-gaps]");
}

TEST(a_box_is_not_stored_from_before_its_tensor)
{
    CHECK_HAS(run_changed("(C[0:+64, 0:+64], C_s[0:+64, 0:+64])",
                          "(C[-1:+64, 0:+64], C_s[0:+64, 0:+64])", 0), "[out-of-bounds]");
}

TEST(bytes_and_arrivals_must_add_up)
{
    const char *m = run_changed("arrive_bytes(4096)", "arrive_bytes(4080)", 0);
    CHECK_HAS(m, "[deadlock]");
    CHECK_HAS(m, "-16 bytes missing");
    CHECK_HAS(run_changed("arrive_bytes(4096)", "arrive_bytes(8192)", 0), "[deadlock]");
    CHECK_HAS(run_without("call arrive() regions(empty[k.1 % 2:+1])"), "[deadlock]");
    CHECK_HAS(run_changed("if tx % 32 == 0:", "if tx % 16 == 0:", 0), "[deadlock]");
    CHECK_HAS(run_without("call arrive_bytes(4096) regions(full[k % 2:+1])"),
              "[deadlock]");
}

TEST(products_are_in_flight_until_they_are_waited_for)
{
    CHECK_HAS(run_without("call wait_mma(0)"), "[missing-wait]");
    CHECK_HAS(run_changed("wait_mma(0)", "wait_mma(1)", 0), "[missing-wait]");
    CHECK_HAS(run_without("call commit_mma()"), "[missing-wait]");
    CHECK_HAS(run_without("call settle_mma()"), "[missing-fence]");
}

TEST(the_async_proxy_needs_a_fence)
{
    CHECK_HAS(run_without("call fence_proxy()"), "[missing-fence]");
    CHECK_HAS(run_without("call sync_threads(1, 128)"), "[data-race]");
}

/* Threads look at a stage before they give it back. */
static const char *run_looking(const char *fence)
{
    char to[512];
    snprintf(to, sizeof to,
             "call wait_mma(0) @27:1-27:2\n"
             "                    if A_s[k.1 %% 2 * 1024 + tx] < A_s[k.1 %% 2 * 1024]: @27:1-27:2\n"
             "                        pass @27:1-27:2\n"
             "                    %s @27:1-27:2\n"
             "                    call sync_warp()", fence);
    return run_changed("call wait_mma(0)", to, 0);
}

TEST(a_bulk_load_over_what_threads_read_needs_a_fence)
{
    CHECK_TEXT(run_looking("call fence_proxy()"), "");
    CHECK_HAS(run_looking("pass"), "[missing-fence]");
    CHECK_HAS(run_looking("pass"), "ordinary loads read");
}

TEST(a_store_must_be_waited_for)
{
    CHECK_HAS(run_without("call wait_stores(0)"), "[missing-wait]");
    CHECK_HAS(run_without("call commit_stores()"), "[missing-wait]");
}

TEST(what_no_barrier_or_grid_can_be_is_told)
{
    CHECK_HAS(run_changed("arrive_bytes(4096)", "arrive_bytes(-16)", 0), "[barrier-bytes]");
    CHECK_HAS(run_changed("        extra_threads", "        cluster 2, 1, 1\n        extra_threads", 0),
              "[cluster-grid]");
}

/* Two blocks of one cluster do the same work and meet at its barrier. */
TEST(blocks_of_a_cluster_run_together)
{
    CHECK_TEXT(run_changed("bx: int32 = 1\n        threads tx: int32 = 128, ty: int32 = 1, tz: int32 = 1\n",
                           "bx: int32 = 2\n        threads tx: int32 = 128, ty: int32 = 1, tz: int32 = 1\n"
                           "        cluster 2, 1, 1\n", 0), "");
}

/* 512 threads start with 128 registers each: 240 for the consumer need others to give theirs up. */
TEST(registers_must_be_there)
{
    const char *m = run_changed("        extra_threads 128\n", "        extra_threads 384\n", 0);
    CHECK_TEXT(m, "");
    m = run_changed2("        extra_threads 128\n", "        extra_threads 384\n",
                     "                for s in serial(0, 32):",
                     "                call set_max_nreg(240, 1) @20:1-20:2\n"
                     "                for s in serial(0, 32):");
    CHECK_HAS(m, "[deadlock]");
    CHECK_HAS(m, "registers more");
}

static const char *run_pair(const char *peer, bool meet)
{
    static char text[3][TEXT_BYTES], line[256];
    static const char last[] = "                    call wait_stores(0) @37:1-37:2\n";
    static const char met[] = "                    call wait_stores(0) @37:1-37:2\n"
                              "            call cluster_sync() @38:1-38:2\n";
    snprintf(line, sizeof line,
             "call arrive() regions(empty[k.1 %% 2:+1]) @28:5-28:9\n"
             "                        call arrive(%s) regions(empty[k.1 %% 2:+1])", peer);
    change(text[0], TEXT_BYTES, ring, "bx: int32 = 1\n", "bx: int32 = 2\n");
    change(text[1], TEXT_BYTES, text[0], "        extra_threads",
           "        cluster 2, 1, 1\n        extra_threads");
    change(text[2], TEXT_BYTES, text[1], "empty: uint64[2] barrier arrive(4, 4)",
           "empty: uint64[2] barrier arrive(8, 8)");
    change(text[0], TEXT_BYTES, text[2], "call arrive() regions(empty[k.1 % 2:+1])", line);
    change(text[1], TEXT_BYTES, text[0], last, meet ? met : last);
    return run_text(text[1], 0);
}

/* A stage is free when the consumers of both blocks have said so. */
TEST(a_block_arrives_at_the_barrier_of_its_peer)
{
    CHECK_TEXT(run_pair("1 - bx", true), "");
    CHECK_HAS(run_pair("1 - bx", false), "[block-gone]");
    CHECK_HAS(run_pair("0", true), "[");
    CHECK_HAS(run_pair("2", true), "[out-of-bounds]");
}

/* B comes to both blocks in halves, one from each. */
static const char *run_multicast(const char *mask, const char *rows)
{
    static char text[2][TEXT_BYTES + 512], to[512];
    static const char load[] = "instr \"tma.load\" #0(B_s[k % 2:+1, 0:+16, 0:+64], "
                               "B[k * 16:+16, 0:+64], full[k % 2:+1])";
    snprintf(to, sizeof to,
             "instr \"tma.load\" #0(B_s[k %% 2:+1, bx * 8:+%s, 0:+64], "
             "B[k * 16 + bx * 8:+%s, 0:+64], full[k %% 2:+1]) args(%s)", rows, rows, mask);
    change(text[0], TEXT_BYTES, ring, load, to);
    change(text[1], sizeof text[1], text[0], "bx: int32 = 1\n", "bx: int32 = 2\n");
    change(text[0], sizeof text[0], text[1], "        extra_threads",
           "        cluster 2, 1, 1\n        extra_threads");
    change(text[1], sizeof text[1], text[0], "empty: uint64[2] barrier arrive(4, 4)",
           "empty: uint64[2] barrier arrive(8, 8)");
    change(text[0], sizeof text[0], text[1], "if tx % 32 == 0:", "if tx % 32 < 2:");
    change(text[1], sizeof text[1], text[0], "call arrive()",
           "call arrive(tx % 32)");
    change(text[0], sizeof text[0], text[1], "call wait_stores(0) @37:1-37:2\n",
           "call wait_stores(0) @37:1-37:2\n            call cluster_sync() @38:1-38:2\n");
    return run_text(text[0], 3);
}

TEST(a_load_lands_in_every_block_of_its_mask)
{
    CHECK_TEXT(run_multicast("3", "8"), "");
    CHECK_HAS(run_multicast("1", "8"), "[deadlock]");
    CHECK_HAS(run_multicast("4", "8"), "[out-of-bounds]");
    CHECK_HAS(run_multicast("0", "8"), "[out-of-bounds]");
}
