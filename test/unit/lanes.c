/* lanes.c -- lane maps against places copied out of the manuals of the instructions. */
#include "isa/isa.h"
#include "test.h"

typedef struct { int lane, slot, row, col; } Place;

static void check_places(LaneMap m, int lanes, int slots, const Place *p, int n)
{
    CHECK_INT(m.extent[LANE_LANE], lanes);
    CHECK_INT(m.extent[LANE_SLOT], slots);
    for (int i = 0; i < n; i++) {
        int at[2];
        lane_place(&m, p[i].lane, p[i].slot, at);
        CHECK_INT(at[0], p[i].row);
        CHECK_INT(at[1], p[i].col);
    }
}
#define PLACES(map, lanes, slots, ...)                                                             \
    check_places(map, lanes, slots, (const Place[]){__VA_ARGS__},                                  \
                 (int)(sizeof((const Place[]){__VA_ARGS__}) / sizeof(Place)))

/* ---- PTX ISA, "Matrix Fragments for mma.m16n8k16" and its neighbours ------------------------- */

static LaneMap mma(const char *name, int which)
{
    return mma_lanes(isa_find(name), which);
}

TEST(mma_of_float16)
{
    const char *k16 = "mma.m16n8k16.f32.f16.f16", *k8 = "mma.m16n8k8.f32.f16.f16";

    PLACES(mma(k16, MMA_A), 32, 8, {0, 0, 0, 0}, {0, 1, 0, 1}, {0, 2, 8, 0}, {0, 3, 8, 1},
           {0, 4, 0, 8}, {0, 5, 0, 9}, {0, 6, 8, 8}, {0, 7, 8, 9}, {1, 0, 0, 2}, {3, 1, 0, 7},
           {3, 7, 8, 15}, {4, 0, 1, 0}, {13, 2, 11, 2}, {31, 0, 7, 6}, {31, 7, 15, 15});
    PLACES(mma(k16, MMA_B), 32, 4, {0, 0, 0, 0}, {0, 1, 1, 0}, {0, 2, 8, 0}, {0, 3, 9, 0},
           {1, 0, 2, 0}, {4, 0, 0, 1}, {31, 0, 6, 7}, {31, 3, 15, 7});
    PLACES(mma(k16, MMA_C), 32, 4, {0, 0, 0, 0}, {0, 1, 0, 1}, {0, 2, 8, 0}, {0, 3, 8, 1},
           {1, 0, 0, 2}, {4, 0, 1, 0}, {31, 1, 7, 7}, {31, 3, 15, 7});
    PLACES(mma(k8, MMA_A), 32, 4, {0, 1, 0, 1}, {0, 2, 8, 0}, {5, 3, 9, 3}, {31, 3, 15, 7});
    PLACES(mma(k8, MMA_B), 32, 2, {0, 1, 1, 0}, {6, 0, 4, 1}, {31, 1, 7, 7});
}

TEST(mma_of_eight_and_four_bits)
{
    const char *s8 = "mma.m16n8k32.s32.s8.s8", *small = "mma.m8n8k16.s32.u8.s8";
    const char *s4 = "mma.m16n8k64.s32.s4.s4";

    PLACES(mma(s8, MMA_A), 32, 16, {0, 3, 0, 3}, {0, 4, 8, 0}, {0, 7, 8, 3}, {0, 8, 0, 16},
           {0, 12, 8, 16}, {1, 0, 0, 4}, {6, 9, 1, 25}, {31, 15, 15, 31});
    PLACES(mma(s8, MMA_B), 32, 8, {0, 3, 3, 0}, {0, 4, 16, 0}, {2, 1, 9, 0}, {31, 7, 31, 7});
    PLACES(mma(small, MMA_A), 32, 4, {0, 3, 0, 3}, {9, 0, 2, 4}, {31, 3, 7, 15});
    PLACES(mma(small, MMA_C), 32, 2, {0, 1, 0, 1}, {9, 0, 2, 2}, {31, 1, 7, 7});
    PLACES(mma(s4, MMA_A), 32, 32, {0, 7, 0, 7}, {0, 8, 8, 0}, {0, 16, 0, 32}, {1, 0, 0, 8},
           {31, 31, 15, 63});
}

TEST(mma_of_one_element_in_a_register)
{
    const char *tf32 = "mma.m16n8k8.f32.tf32.tf32", *f64 = "mma.m8n8k4.f64.f64.f64";

    PLACES(mma(tf32, MMA_A), 32, 4, {0, 1, 8, 0}, {0, 2, 0, 4}, {7, 3, 9, 7}, {31, 0, 7, 3});
    PLACES(mma(tf32, MMA_B), 32, 2, {0, 1, 4, 0}, {7, 0, 3, 1}, {31, 1, 7, 7});
    PLACES(mma(f64, MMA_A), 32, 1, {0, 0, 0, 0}, {6, 0, 1, 2}, {31, 0, 7, 3});
    PLACES(mma(f64, MMA_B), 32, 1, {6, 0, 2, 1}, {31, 0, 3, 7});
    PLACES(mma(f64, MMA_C), 32, 2, {6, 0, 1, 4}, {6, 1, 1, 5}, {31, 1, 7, 7});
}

/* "Matrix Fragments for mma.m8n8k4 with .f16 floating point type": of a row the same for lanes 0 to
 * 15 and four further on for the others; the four products are those of lanes 4q to 4q + 3 and
 * 4q + 16 to 4q + 19.  Here q is 2 * (right half of C) + (lower half). */
TEST(mma_of_quads)
{
    const char *f32 = "mma.m16n16k4.f32.f16.f16", *f16 = "mma.m16n16k4.f16.f16.f16";
    LaneMap a = mma(f32, MMA_A), b = mma(f32, MMA_B), c = mma(f32, MMA_C), d = mma(f16, MMA_C);
    int at[2];

    CHECK_INT(a.extent[LANE_SLOT], 4);
    CHECK_INT(b.extent[LANE_SLOT], 4);
    CHECK_INT(c.extent[LANE_SLOT], 8);
    CHECK_INT(d.extent[LANE_SLOT], 8);
    for (int lane = 0; lane < 32; lane++) {
        int q = lane / 4 % 4, down = q % 2 * 8, right = q / 2 * 8, high = lane < 16 ? 0 : 4;
        for (int i = 0; i < 4; i++) {
            lane_place(&a, lane, i, at);
            CHECK_INT(at[0], down + lane % 4 + high);
            CHECK_INT(at[1], i);
            lane_place(&b, lane, i, at);
            CHECK_INT(at[0], i);
            CHECK_INT(at[1], right + lane % 4 + high);
        }
        for (int i = 0; i < 8; i++) {
            lane_place(&c, lane, i, at);
            CHECK_INT(at[0], down + (lane & 1) + (i & 2) + high);
            CHECK_INT(at[1], right + (i & 4) + (lane & 2) + (i & 1));
            lane_place(&d, lane, i, at);
            CHECK_INT(at[0], down + lane % 4 + high);
            CHECK_INT(at[1], right + i);
        }
    }
}

/* ---- "Register Fragments for wgmma.mma_async.m64nNk16", ldmatrix, stmatrix ------------------- */

TEST(operands_of_wgmma)
{
    const Isa *isa = isa_find("wgmma");

    PLACES(isa_lanes(isa, MMA_C, 64, 24, DT_F32), 128, 12, {0, 1, 0, 1}, {0, 2, 8, 0}, {0, 4, 0, 8},
           {0, 11, 8, 17}, {5, 0, 1, 2}, {32, 0, 16, 0}, {100, 3, 57, 1}, {127, 11, 63, 23});
    PLACES(isa_lanes(isa, MMA_A, 64, 16, DT_F16), 128, 8, {0, 2, 8, 0}, {0, 4, 0, 8}, {33, 1, 16, 3},
           {127, 7, 63, 15});
    PLACES(isa_lanes(isa, MMA_A, 64, 32, DT_E4M3), 128, 16, {0, 3, 0, 3}, {0, 4, 8, 0},
           {0, 8, 0, 16}, {64, 0, 32, 0}, {127, 15, 63, 31});
    PLACES(isa_lanes(isa, MMA_A, 64, 8, DT_TF32), 128, 4, {0, 1, 8, 0}, {0, 2, 0, 4},
           {127, 3, 63, 7});
}

/* Matrix i of 8 x 8 becomes register i: A goes down first, B along k first. */
TEST(matrices_of_eight_by_eight)
{
    PLACES(isa_lanes(isa_find("ldmatrix.a"), 0, 16, 16, DT_F16), 32, 8, {0, 2, 8, 0}, {0, 4, 0, 8},
           {31, 7, 15, 15});
    PLACES(isa_lanes(isa_find("ldmatrix.a.trans"), 0, 16, 16, DT_F16), 32, 8, {0, 1, 1, 0},
           {0, 2, 0, 8}, {0, 4, 8, 0}, {4, 0, 0, 1});
    PLACES(isa_lanes(isa_find("ldmatrix.b"), 0, 16, 16, DT_F16), 32, 8, {0, 1, 0, 1}, {0, 2, 0, 8},
           {0, 4, 8, 0}, {4, 0, 1, 0});
    PLACES(isa_lanes(isa_find("ldmatrix.b.trans"), 0, 16, 16, DT_F16), 32, 8, {0, 1, 1, 0},
           {0, 2, 8, 0}, {0, 4, 0, 8}, {4, 0, 0, 1});
    PLACES(isa_lanes(isa_find("stmatrix"), 1, 16, 16, DT_F16), 32, 8, {0, 1, 0, 1}, {0, 2, 8, 0},
           {0, 4, 0, 8}, {9, 7, 10, 11});
}

/* ---- what other machines have ---------------------------------------------------------------- */

/* CDNA's v_mfma_f32_32x32x8_f16 and v_mfma_f32_16x16x16_f16, RDNA 3's v_wmma_f32_16x16x16_f16. */
TEST(waves_of_64_lanes_and_lanes_that_hold_copies)
{
    PLACES(lane_map("h2 i32, e4 -> i, h e", 32, 8, DT_F16), 64, 4, {0, 3, 0, 3}, {31, 0, 31, 0},
           {32, 0, 0, 4}, {63, 3, 31, 7});
    PLACES(lane_map("h2 j32, b a4 -> b h a, j", 32, 32, DT_F32), 64, 16, {0, 3, 3, 0},
           {0, 4, 8, 0}, {32, 0, 4, 0}, {33, 5, 13, 1}, {63, 15, 31, 31});
    PLACES(lane_map("h4 j16, a4 -> h a, j", 16, 16, DT_F32), 64, 4, {17, 2, 6, 1},
           {63, 3, 15, 15});
    PLACES(lane_map("x2 i16, e16 -> i, e", 16, 16, DT_F16), 32, 16, {5, 9, 5, 9}, {21, 9, 5, 9});
    PLACES(lane_map("h2 j16, v -> v h, j", 16, 16, DT_F32), 32, 8, {0, 1, 2, 0}, {16, 0, 1, 0},
           {31, 7, 15, 15});
}

/* ---- all rows -------------------------------------------------------------------------------- */

static void check_times(LaneMap m, int times)
{
    int seen[64 * 64] = {0};
    int rows = m.extent[LANE_ROW], cols = m.extent[LANE_COL];

    CHECK_INT(m.extent[LANE_LANE] * m.extent[LANE_SLOT], rows * cols * times);
    for (int lane = 0; lane < m.extent[LANE_LANE]; lane++)
        for (int slot = 0; slot < m.extent[LANE_SLOT]; slot++) {
            int at[2], own;
            lane_place(&m, lane, slot, at);
            CHECK(at[0] >= 0 && at[0] < rows && at[1] >= 0 && at[1] < cols);
            bool first = seen[at[0] * cols + at[1]]++ == 0; /* of copies it is the holder */
            CHECK_INT(first, lane_holder(&m, at[0], at[1], &own) == lane);
            CHECK_INT(own, slot);
        }
    for (int i = 0; i < rows * cols; i++)
        CHECK_INT(seen[i], times);
}

static void check_once(LaneMap m)
{
    check_times(m, 1);
}

static void check_row(const Isa *isa)
{
    for (int which = MMA_A; which <= MMA_C; which++) {
        LaneMap m = mma_lanes(isa, which);
        CHECK_INT(m.extent[LANE_ROW], which == MMA_B ? isa->mma->k : isa->mma->m);
        CHECK_INT(m.extent[LANE_COL], which == MMA_A ? isa->mma->k : isa->mma->n);
        check_times(m, isa->has & HAS_QUAD_MMA && which != MMA_C ? 2 : 1);
    }
}

/* AMD's maps by the numbers of another description of them: lanes of a block of 16 or 32, groups of
 * `size` rows that a lane holds together, elements along k.  A lane's register r of the result is row
 * r / size * (blocks * size) + lane / wide * size + r % size of column lane % wide. */
static void check_mfma(const char *name, int wide, int size, int along_k)
{
    int at[2], blocks = 64 / wide;
    LaneMap a = mma_lanes(isa_find(name), MMA_A), b = mma_lanes(isa_find(name), MMA_B);
    LaneMap c = mma_lanes(isa_find(name), MMA_C);

    CHECK_INT(a.extent[LANE_SLOT], along_k);
    CHECK_INT(c.extent[LANE_SLOT], wide * wide / 64);
    for (int lane = 0; lane < 64; lane++) {
        for (int s = 0; s < along_k; s++) {
            lane_place(&a, lane, s, at);
            CHECK_INT(at[0], lane % wide);
            CHECK_INT(at[1], lane / wide * along_k + s);
            lane_place(&b, lane, s, at);
            CHECK_INT(at[0], lane / wide * along_k + s);
            CHECK_INT(at[1], lane % wide);
        }
        for (int r = 0; r < wide * wide / 64; r++) {
            lane_place(&c, lane, r, at);
            CHECK_INT(at[0], r / size * (blocks * size) + lane / wide * size + r % size);
            CHECK_INT(at[1], lane % wide);
        }
    }
}

TEST(products_of_waves_of_64_lanes)
{
    check_mfma("mfma.32x32x8.f32.f16.f16", 32, 4, 4);
    check_mfma("mfma.16x16x16.f32.bf16.bf16", 16, 4, 4);
    check_mfma("mfma.16x16x32.s32.s8.s8", 16, 4, 8);
    check_mfma("mfma.32x32x16.f32.e4m3z.e5m2z", 32, 4, 8);
    check_mfma("mfma.16x16x64.s32.s8.s8", 16, 4, 16);
    check_mfma("mfma.32x32x16.f32.f16.f16", 32, 4, 8);
    check_mfma("mfma.16x16x8.f32.tf32.tf32", 16, 4, 2);
    check_mfma("mfma.32x32x2.f32.f32.f32", 32, 4, 1);
    check_mfma("mfma.16x16x4.f64.f64.f64", 16, 1, 1);
}

/* Of scales the first lane that has a word is the one that is read. */
TEST(scales_are_in_the_lanes_that_the_ptx_isa_says)
{
    const Isa *isa;

    for (int i = 0; (isa = mma_row(i)) != NULL; i++) {
        if (!isa->mma->per || mma_lanes(isa, MMA_C).extent[LANE_LANE] == 64)
            continue;
        LaneMap a = mma_lanes(isa, MMA_SA), b = mma_lanes(isa, MMA_SB);
        int slot;
        for (int row = 0; row < 16; row++)
            CHECK_INT(lane_holder(&a, row, 0, &slot), row % 8 * 4 + row / 8);
        for (int col = 0; col < 8; col++)
            CHECK_INT(lane_holder(&b, col, 0, &slot), col * 4);
        check_row(isa);
    }
}

/* Bits of a number, each with the row and the column that it stands for: a layout as Triton prints
 * it for the operand of v_mfma_scale (#ttg.linear, kWidth = 16) of gfx950. */
typedef struct {
    int at[6][2];
} Bits;

static void check_bits(LaneMap m, Bits lane, Bits slot)
{
    for (int l = 0; l < m.extent[LANE_LANE]; l++)
        for (int s = 0; s < m.extent[LANE_SLOT]; s++) {
            int at[2], want[2] = {0, 0};
            for (int b = 0; b < 6; b++)
                for (int d = 0; d < 2; d++)
                    want[d] += (l >> b & 1) * lane.at[b][d] + (s >> b & 1) * slot.at[b][d];
            lane_place(&m, l, s, at);
            CHECK_INT(at[0], want[0]);
            CHECK_INT(at[1], want[1]);
        }
}

TEST(scaled_products_of_waves_are_held_as_triton_has_them)
{
    static const Bits none = {{{0}}};
    static const Bits scales_16 = {{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, 1}, {0, 2}}};
    static const Bits scales_32 = {{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {0, 1}}};
    static const Bits bytes_16 = {{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, 16}, {0, 32}}};
    static const Bits bytes_32 = {{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {0, 16}}};
    static const Bits halves_16 = {{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, 32}, {0, 64}}};
    static const Bits run_64 = {{{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 64}}};
    static const Bits run_32 = {{{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 32}}};
    static const Bits run = {{{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}}};
    const Isa *small = isa_find("mfma.16x16x128.f32.e4m3.e2m1.scaled4");
    const Isa *large = isa_find("mfma.32x32x64.f32.e5m2.e4m3.scaled2");
    const Isa *narrow = isa_find("mfma.16x16x128.f32.e2m1.e2m1.scaled4");

    check_bits(mma_lanes(small, MMA_A), bytes_16, run_64);
    check_bits(mma_lanes(large, MMA_A), bytes_32, run_32);
    check_bits(mma_lanes(narrow, MMA_A), halves_16, run);
    for (int which = MMA_SA; which <= MMA_SB; which++) {
        check_bits(mma_lanes(small, which), scales_16, none);
        check_bits(mma_lanes(large, which), scales_32, none);
    }
}

/* The instruction set manual of CDNA 4 on DS_READ_B64_TR_B16, whose words bring four slots each: of 16
 * rows of k the first brings 0 to 3 and 8 to 11, the second 4 to 7 and 12 to 15. */
TEST(transposing_reads_bring_the_rows_that_the_manual_says)
{
    LaneMap m = isa_lanes(isa_find("ds_read_tr.32"), 0, 16, 32, DT_F16);

    CHECK_INT(m.extent[LANE_SLOT], 8);
    for (int lane = 0; lane < 64; lane++)
        for (int s = 0; s < 8; s++) {
            int at[2];
            lane_place(&m, lane, s, at);
            CHECK_INT(at[0], (s < 4 ? 0 : 4) + (lane < 32 ? 0 : 8) + s % 4);
            CHECK_INT(at[1], lane % 32);
        }
}

/* Of bytes the words bring eight slots each; loads that leave elements elsewhere than the product
 * has them, as those of rows with scales, are not taken. */
TEST(transposing_reads_of_bytes_are_those_of_products)
{
    const Machine m = {.level = 4, .lanes = 64, .has = ~0u};
    const MmaLoad *l = mma_load_find(isa_find("mfma.16x16x64.s32.s8.s8"), MMA_B, false, &m);

    CHECK(l && l->id == ISA_READ_TR_16);
    CHECK(!mma_load_find(isa_find("mfma.16x16x64.s32.s8.s8"), MMA_B, true, &m));
    for (int i = 0; mma_row(i); i++)
        if (mma_row(i)->mma->per && mma_warp(mma_row(i)) == 64)
            CHECK(!mma_load_find(mma_row(i), MMA_A, false, &m));
}

/* As device/metal/run.m asks a GPU. */
TEST(lanes_of_a_simdgroup_hold_neighbours_of_a_row)
{
    for (int i = 0; mma_row(i); i++)
        for (int which = MMA_A; which <= MMA_C && mma_row(i)->has == HAS_SIMDGROUP_MMA; which++) {
            LaneMap l = mma_lanes(mma_row(i), which);
            for (int lane = 0; lane < 32; lane++)
                for (int slot = 0; slot < 2; slot++) {
                    int at[2];
                    lane_place(&l, lane, slot, at);
                    CHECK_INT(at[0], (lane >> 4 & 1) * 4 + (lane >> 1 & 3));
                    CHECK_INT(at[1], (lane >> 3 & 1) * 4 + (lane & 1) * 2 + slot);
                }
        }
}

TEST(every_element_of_a_product_has_one_place)
{
    const Isa *isa;

    for (int i = 0; (isa = mma_row(i)) != NULL; i++)
        check_row(isa);
    check_once(isa_lanes(isa_find("wgmma"), MMA_C, 64, 64, DT_F32));
    check_once(isa_lanes(isa_find("wgmma"), MMA_A, 64, 16, DT_BF16));
}
