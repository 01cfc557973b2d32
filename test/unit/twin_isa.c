/* twin_isa.c -- the twin's meaning of an instruction against hardware: test/isa/h200.txt. */
#include "isa_rows.h"
#include "target/cuda/twin/ptx.h"

/* One warp whose other lanes have come: the last one does the work for all. */
static TwinWarp warp;
static TwinThread thread;
static TwinBlock block;

static void last_lane(const char *where)
{
    block = (TwinBlock){.nthread = LANES, .nalive = LANES, .thread = &thread, .warp = &warp};
    thread = (TwinThread){.block = &block, .index = LANES - 1};
    warp.alive = ~0u;
    warp.all.came = ~0u >> 1;
    warp.all.where = where;
    machine.self = &thread;
    machine.lanes = LANES;
}

/* "mma.m16n8k16.f32.f16.f16" is mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 */
static const char *ptx_name(const char *row)
{
    static char name[64][96];
    static int n;
    char shape[16], c[8];

    CHECK(n < COUNT(name) && sscanf(row, "mma.%15[a-z0-9].%7[a-z0-9]", shape, c) == 2);
    const char *types = row + strlen("mma.") + strlen(shape);
    const Mma *m = isa_find(row)->mma;
    snprintf(name[n], sizeof name[n], "mma.sync.aligned.%s.row.col%s.%s", m->own ? m->own : shape,
             types, c);
    return name[n++];
}

/* Where the registers of a lane are: all of D, A, B and C. */
static int point(void **at, char *const base[4], const int nslot[3], const Mma *m, int c, int lane)
{
    static const int order[] = {MMA_C, MMA_A, MMA_B, MMA_C};
    int n = 0;

    for (int i = 0; i < 4; i++) {
        DType t = m->type[order[i]];
        int64_t bytes = dtype_bytes(t, nslot[order[i]]), unit = MAX(dtype_bits(t) / 8, 4);
        for (int64_t b = 0; b < bytes; b += unit)
            at[n++] = base[i] + ((int64_t)c * LANES + lane) * bytes + b;
    }
    return n;
}

static void replay(const Row *row)
{
    const Isa *isa = isa_find(row->name);
    const Mma *m = isa->mma;
    Kit *t = kit_new(1, 1);
    int cases = row->cases + row->general, nslot[3], n = 0;
    const char *name = ptx_name(row->name);
    char *data[3];

    for (int i = 0; i < 3; i++) {
        int index[LANES * SLOTS];
        nslot[i] = mma_lanes(isa, i).extent[LANE_SLOT];
        own_indices(isa_find(row->name), i, index);
        data[i] = values(t, row, m->type[i], i, cases, LANES * nslot[i], i == MMA_C ? 64 : 4, index);
    }
    int64_t case_bytes = dtype_bytes(m->type[MMA_C], LANES * nslot[MMA_C]);
    char *out = arena_alloc(t->arena, (size_t)(case_bytes * cases));
    char *base[4] = {out, data[MMA_A], data[MMA_B], data[MMA_C]};
    for (int c = 0; c < cases; c++) {
        static void *at[LANES][3 * SLOTS];
        last_lane(name);
        for (int lane = 0; lane < LANES; lane++) {
            n = point(at[lane], base, nslot, m, c, lane);
            warp.at[lane] = at[lane];
        }
        ptx_mma(name, at[LANES - 1], n);
    }
    for (int c = 0; c < row->cases; c++)
        check_hash(row, c, out + c * case_bytes, case_bytes);
    if (row->general)
        check_samples(row, m->type[MMA_A], m->type[MMA_C], m->k, out, case_bytes);
    machine.self = NULL;
    arena_free(t->arena);
}

TEST(the_twins_products_are_those_of_the_hardware)
{
    each_row("mma.", "", measured_rows(), replay);
}

/* ---- conversions ----------------------------------------------------------------------------- */

typedef struct {
    const char *row, *ptx;
    DType from, to;
    PtxMeaning *meaning;
    int n; /* operands; 3: two at a time, the first of them on top */
} Conversion;

static const Conversion conversion[] = {
    {"convert.f32.f16", "cvt.rn.f16.f32", DT_F32, DT_F16, ptx_narrow, 2},
    {"convert.f32.bf16", "cvt.rn.bf16x2.f32", DT_F32, DT_BF16, ptx_narrow, 3},
    {"convert.f32.e4m3", "cvt.rn.satfinite.e4m3x2.f32", DT_F32, DT_E4M3, ptx_narrow, 3},
    {"convert.f32.e5m2", "cvt.rn.satfinite.e5m2x2.f32", DT_F32, DT_E5M2, ptx_narrow, 3},
    {"convert.f16.f32", "cvt.f32.f16", DT_F16, DT_F32, ptx_widen_half, 2},
    {"convert.e4m3.f16", "cvt.rn.f16x2.e4m3x2", DT_E4M3, DT_F16, ptx_widen_eight, 2},
    {"convert.e5m2.f16", "cvt.rn.f16x2.e5m2x2", DT_E5M2, DT_F16, ptx_widen_eight, 2},
};

static void replay_conversion(const Row *row)
{
    enum { EACH = 8 };
    const Conversion *k = conversion;

    while (k < conversion + COUNT(conversion) && strcmp(k->row, row->name))
        k++;
    if (k == conversion + COUNT(conversion))
        return; /* no assembly: C++ says it */
    CHECK(ptx_row(k->ptx) >= 0);
    for (int c = 0; c < row->cases; c++) {
        unsigned got[EACH];
        for (int j = 0; j < EACH; j++) {
            uint64_t in = input_bits(row, k->from, c, j), out = 0;
            void *at[3] = {&out, &in, &in};
            k->meaning(k->ptx, at, k->n);
            got[j] = (unsigned)canonical(k->to, out & fx_mask(dtype_bits(k->to)));
        }
        check_hash(row, c, got, sizeof got);
    }
}

TEST(the_twins_conversions_are_those_of_the_hardware)
{
    each_row("convert.", "", 18, replay_conversion);
}
