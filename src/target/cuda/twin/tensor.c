/* tensor.c -- tensor memory: columns that a block asks for, MMAs that are done when an arrival for
 * them comes, loads and stores of the lanes that a warp reaches.
 *
 * Descriptors, lanes, steps of n and words of scales are as sections 9.7.16.2 and 9.7.16.10 of the
 * PTX ISA say, compared with those and with CUTLASS (doc/blackwell.md); nothing of this was held to
 * hardware. */
#include "target/cuda/twin/ptx.h"

enum { LANES = 128, QUARTERS = 4, COLUMNS = 512, QUARTER = 32, WARP = 32,
       K_MOST = 64, N_MOST = 256 };

typedef struct TensorMma {
    char kind[12];
    uint32_t c, what;
    uint64_t a, b;
    uint32_t scale[2]; /* words of scales of A and B */
    int per;           /* scales in a step of k; 0: none */
    bool add, ts;
    bool spreads;      /* no MMA: words of b to the lanes of c */
    int blocks;        /* that do it together: 1, 2 */
    uint32_t number;
    struct TensorMma *next;
} TensorMma;

/* ---- columns --------------------------------------------------------------------------------- */

/* Blocks that do it together.  All work on tensor memory of a block is of one kind. */
static int group_of(const char *name)
{
    TwinBlock *t = machine.self->block;
    PtxBlock *b = t->own;
    int n = strstr(name, ".cta_group::")[strlen(".cta_group::")] - '0';

    if (n < 1 || n > 2 || (b->tensor_group && b->tensor_group != n))
        twin_fail("%s: one block and two together in one kernel [twin-fault]", name);
    if (n == 2 && t->ncluster % 2)
        twin_fail("%s in a cluster of %d [twin-fault]", name, t->ncluster);
    b->tensor_group = n;
    return n;
}

void ptx_tensor_alloc(const char *name, void *const *at, int n)
{
    PtxBlock *b = machine.self->block->own;
    uint32_t to = word_at(at[0]), columns = word_at(at[1]);

    (void)n;
    group_of(name);
    if (!warp_brings(name, at))
        return;
    if (columns < 32 || columns > COLUMNS || (columns & (columns - 1)))
        twin_fail("%u columns of tensor memory are asked for [twin-fault]", columns);
    if (b->tensor_columns)
        twin_fail("tensor memory is asked for twice [twin-fault]");
    b->tensor = (uint32_t(*)[COLUMNS])NEWN(machine.scratch, uint32_t, LANES * COLUMNS);
    memset(b->tensor, POISON, sizeof(uint32_t) * LANES * COLUMNS);
    b->tensor_columns = columns;
    b->tensor_at = COLUMNS - columns; /* whoever forgets where they are is found out */
    memcpy(shared_at(to, 4, "columns are written"), &b->tensor_at, 4);
    warp_goes_on();
}

void ptx_tensor_free(const char *name, void *const *at, int n)
{
    PtxBlock *b = machine.self->block->own;

    (void)n;
    group_of(name);
    if (!warp_brings(name, at))
        return;
    if (word_at(at[0]) != b->tensor_at || word_at(at[1]) != b->tensor_columns || !b->tensor)
        twin_fail("columns of tensor memory are given back that are not the block's [twin-fault]");
    b->tensor_columns = 0;
    warp_goes_on();
}

static uint32_t *tensor_word(const PtxBlock *b, uint32_t lane, uint32_t column)
{
    if (lane >= LANES || column < b->tensor_at || column >= b->tensor_at + b->tensor_columns)
        twin_fail("lane %u, column %u of tensor memory is not the block's [twin-fault]", lane,
                  column);
    return &b->tensor[lane][column];
}

/* ---- loads and stores ------------------------------------------------------------------------ */

static void move(const char *name, void *const *at, int n, bool loads)
{
    TwinThread *t = machine.self;
    TwinWarp *w = &t->block->warp[t->index / WARP];
    uint32_t from = word_at(at[loads ? n - 1 : 0]);

    if (!warp_brings(name, at))
        return;
    for (int lane = 0; lane < WARP; lane++)
        if (word_at(w->at[lane][loads ? n - 1 : 0]) != from)
            twin_fail("lanes bring different addresses to %s [twin-fault]", name);
    if (from >> 16 != (uint32_t)(t->index / WARP % 4 * QUARTER))
        twin_fail("warp %d does not reach lane %u of tensor memory [twin-fault]", t->index / WARP,
                  from >> 16);
    int parts = strstr(name, "pack::16b") ? 2 : 1; /* of a register, a column each */
    for (int lane = 0; lane < WARP; lane++)
        for (int i = 0; i < (n - 1) * parts; i++) {
            uint32_t *word = tensor_word(t->block->own, (from >> 16) + (uint32_t)lane,
                                         (from & 0xffff) + (uint32_t)i);
            char *reg = (char *)w->at[lane][i / parts + !loads] + i % parts * 2;
            memcpy(loads ? (void *)reg : word, loads ? (void *)word : reg, (size_t)(4 / parts));
        }
    warp_goes_on();
}

void ptx_tensor_load(const char *name, void *const *at, int n)
{
    move(name, at, n, true);
}

void ptx_tensor_store(const char *name, void *const *at, int n)
{
    move(name, at, n, false);
}

/* ---- MMAs ------------------------------------------------------------------------------------ */

/* Done in its order, before an arrival for it. */
static void start(TensorMma *p)
{
    PtxThread *t = ptx_thread(machine.self);

    if (p->blocks == 2 && machine.self->block->rank % 2)
        twin_fail("the second of two blocks issues what both do [twin-fault]");
    p->number = t->tensor_mmas++;
    if (t->tensor_last)
        t->tensor_last->next = p;
    else
        t->tensor_first = p;
    t->tensor_last = p;
}

void ptx_tensor_spread(const char *name, void *const *at, int n)
{
    TensorMma *p = NEW(machine.scratch, TensorMma);

    (void)n;
    p->spreads = true;
    p->blocks = group_of(name);
    p->c = word_at(at[0]);
    p->b = long_at(at[1]);
    start(p);
}

/* Kinds with scales: how many in a step of k, which is 32 bytes. */
static int scales_of(const char *name)
{
    const char *vector = strstr(name, ".scale_vec::");
    return vector ? vector[strlen(".scale_vec::")] - '0' : 0;
}

void ptx_tensor_mma(const char *name, void *const *at, int n)
{
    TensorMma *p = NEW(machine.scratch, TensorMma);

    p->per = scales_of(name);
    if (n != (p->per ? 7 : 5) ||
        sscanf(name, "tcgen05.mma.cta_group::%*1[12].kind::%11[a-z0-9]", p->kind) != 1)
        twin_fail("%s with %d operands [twin-fault]", name, n);
    p->blocks = group_of(name);
    p->ts = strstr(name, ".ts") != NULL;
    p->c = word_at(at[0]);
    p->a = p->ts ? word_at(at[1]) : long_at(at[1]);
    p->b = long_at(at[2]);
    p->what = word_at(at[3]);
    for (int i = 0; i < 2 && p->per; i++)
        p->scale[i] = word_at(at[4 + i]);
    p->add = word_at(at[n - 1]) != 0;
    start(p);
}

/* The numbers of types in an instruction descriptor, by kind. */
static const struct {
    const char *kind;
    uint32_t code;
    DType type;
} operands[] = {
    {"f16", 0, DT_F16},     {"f16", 1, DT_BF16},    {"tf32", 2, DT_TF32}, {"f8f6f4", 0, DT_E4M3},
    {"f8f6f4", 1, DT_E5M2}, {"i8", 0, DT_U8},       {"i8", 1, DT_I8},
    {"mxf8f6f4", 0, DT_E4M3}, {"mxf8f6f4", 1, DT_E5M2}, {"mxf4", 1, DT_E2M1},
    {"mxf4nvf4", 1, DT_E2M1}, {"mxf8f6f4", 5, DT_E2M1B}, {"f8f6f4", 5, DT_E2M1B},
};

static DType operand_type(const TensorMma *p, uint32_t code)
{
    for (int i = 0; i < COUNT(operands); i++)
        if (operands[i].code == code && !strcmp(operands[i].kind, p->kind))
            return operands[i].type;
    twin_fail("operand %u of an MMA of kind %s [twin-meaning]", code, p->kind);
}

typedef struct {
    int m, n, k;
    DType a, b, c;
    bool trans_a, trans_b;
    DType scale;      /* type of scales */
    uint32_t byte[2]; /* of their words that the step begins with, of A and B */
} TensorShape;

/* The descriptor of a kind with scales: where C's type stands in others is the first byte of the
 * scales of B, in bits 29 and 30 that of A, in bit 23 their type. */
static TensorShape shape_with_scales(const TensorMma *p)
{
    uint32_t w = p->what;
    bool e8m0 = w >> 23 & 1;
    TensorShape s = {.m = (int)(w >> 24 & 31) * 16, .n = (int)(w >> 17 & 63) * 8,
                     .a = operand_type(p, w >> 7 & 7), .b = operand_type(p, w >> 10 & 7),
                     .c = DT_F32, .trans_a = w >> 15 & 1, .trans_b = w >> 16 & 1,
                     .scale = e8m0 ? DT_E8M0 : DT_E4M3, .byte = {w >> 29 & 3, w >> 4 & 3}};

    s.k = 256 / dtype_bits(s.a);
    int grain = s.k / p->per;
    bool starts = s.byte[0] % p->per == 0 && s.byte[1] % p->per == 0;
    if (w & 0x8000604f || s.m != 128 * p->blocks || s.n < 8 || s.n > N_MOST || s.n % 16 ||
        !starts || (grain != 32 && grain != 16) || (grain == 32 && !e8m0) || p->ts ||
        (dtype_bits(s.a) == 4 && (s.trans_a || s.trans_b)))
        twin_fail("an MMA of kind %s with 0x%x, %d scales a step [twin-meaning]", p->kind, w,
                  p->per);
    return s;
}

static TensorShape shape_of(const TensorMma *p)
{
    uint32_t w = p->what;

    if (p->per)
        return shape_with_scales(p);
    static const DType results[] = {DT_F16, DT_F32, DT_I32};
    bool halves = !strcmp(p->kind, "f16") || !strcmp(p->kind, "f8f6f4");
    if ((w >> 4 & 3) < !halves || (w >> 4 & 3) > 2 || w & 0x2080600f)
        twin_fail("an MMA of kind %s with 0x%x [twin-meaning]", p->kind, w);
    TensorShape s = {.m = (int)(w >> 24 & 31) * 16, .n = (int)(w >> 17 & 63) * 8,
                     .a = operand_type(p, w >> 7 & 7), .b = operand_type(p, w >> 10 & 7),
                     .c = results[w >> 4 & 3], .trans_a = w >> 15 & 1,
                     .trans_b = w >> 16 & 1};
    s.k = 256 / dtype_bits(s.a);
    bool rows = p->blocks == 2 ? s.m == 256 && s.n % 32 == 0 : s.m == 64 || s.m == 128;
    bool by_16 = s.m == 128 || (dtype_bits(s.b) == 8 && s.trans_b);
    if (!rows || s.n < 8 || s.n > N_MOST || (by_16 && s.n % 16))
        twin_fail("an MMA of kind %s of %d x %d [twin-meaning]", p->kind, s.m, s.n);
    return s;
}

/* Bytes of the swizzle of a descriptor of shared memory. */
static uint32_t span_of(uint64_t d)
{
    uint32_t code = (uint32_t)(d >> 61);

    if ((d >> 46 & 7) != 1 || (d >> 49 & 0xfff) || (code != 2 && code != 4 && code != 6))
        twin_fail("a descriptor 0x%llx that no MMA takes [twin-meaning]", (unsigned long long)d);
    return code == 2 ? 128 : code == 4 ? 64 : 32;
}

static void read_tile(const TwinBlock *b, uint64_t d, DType t, int rows, int k, bool transposed,
                      ValueCell *to)
{
    int each = MAX(8 / dtype_bits(t), 1), size = MAX(dtype_bits(t) / 8, 1); /* of one byte */
    uint32_t span = span_of(d);
    bool gaps = t == DT_E2M1B; /* 16 of them are in the first 8 of 16 bytes */

    if (gaps && transposed)
        twin_fail("4-bit elements in bytes with k as rows [twin-meaning]");
    if (gaps) {
        t = DT_E2M1;
        each = 2;
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < k; j++) {
            int byte = gaps ? j / 16 * 16 + j % 16 / 2 : j / each;
            uint32_t at = matrix_address(d, span, i, byte, size, transposed);
            to[i * k + j] = cell_at(t, shared_at(address_in(b, at), (uint32_t)size, "an MMA reads"),
                                    j % each);
        }
}

/* Rows of 64 are 16 of every 32 lanes. */
static uint32_t lane_of(int m, int row)
{
    return (uint32_t)(m == 64 ? row / 16 * 32 + row % 16 : row);
}

static void read_lanes(const PtxBlock *b, uint32_t from, DType t, int rows, int k, ValueCell *to)
{
    int each = 32 / dtype_bits(t);

    for (int i = 0; i < rows; i++)
        for (int j = 0; j < k; j++)
            to[i * k + j] = cell_at(t, tensor_word(b, lane_of(rows, i),
                                                   (from & 0xffff) + (uint32_t)(j / each)),
                                    j % each);
}

/* Rows of an operand by their scales: row r has its word in column r / 32 of lane r % 32 of every
 * quarter of the lanes, and quarter q is asked. */
static void scale_rows(const PtxBlock *b, const TensorMma *p, const TensorShape *s, int which,
                       int rows, int q, ValueCell *to)
{
    if (p->scale[which] >> 16)
        twin_fail("scales that do not begin at lane 0 [twin-meaning]");
    for (int i = 0; i < rows; i++) {
        int lanes = q < 0 ? i / QUARTER % QUARTERS : q;
        uint32_t word = *tensor_word(b, (uint32_t)(lanes * QUARTER + i % QUARTER),
                                     p->scale[which] + (uint32_t)(i / QUARTER));
        for (int l = 0; l < s->k; l++)
            to[i * s->k + l].f *= value_scale(s->scale, word, s->byte[which] + l * p->per / s->k);
    }
}

/* 32 rows of 16 bytes, in groups of eight, without a swizzle. */
static void spread(const TwinBlock *t, const TensorMma *p)
{
    const PtxBlock *b = t->own;
    uint32_t start = (uint32_t)(p->b & 0x3fff) << 4, stride = (uint32_t)(p->b >> 32 & 0x3fff) << 4;

    if (p->c >> 16 || p->b >> 49 || (p->b >> 46 & 7) != 1)
        twin_fail("a descriptor 0x%llx of scales, for 0x%x [twin-meaning]",
                  (unsigned long long)p->b, p->c);
    for (uint32_t i = 0; i < QUARTER; i++)
        for (uint32_t q = 0; q < QUARTERS; q++)
            for (uint32_t j = 0; j < 4; j++)
                memcpy(tensor_word(b, q * QUARTER + i, p->c + j),
                       shared_at(address_in(t, start + i / 8 * stride + i % 8 * 16 + j * 4), 4,
                                 "scales are read"), 4);
}

/* The rows of one block; z: all columns of B. */
static void multiply_rows(const TwinBlock *t, const TensorMma *p, const TensorShape *of,
                          ValueCell *z)
{
    static ValueCell x[LANES * K_MOST], scaled[QUARTERS][N_MOST * K_MOST];
    const PtxBlock *b = t->own;
    ValueCell *y = z;
    TensorShape s = *of;

    if (p->c >> 16 || (p->ts && p->a >> 16))
        twin_fail("an MMA that does not begin at lane 0 [twin-meaning]");
    if (p->ts)
        read_lanes(b, (uint32_t)p->a, s.a, s.m, s.k, x);
    else
        read_tile(t, p->a, s.a, s.m, s.k, s.trans_a, x);
    if (p->per)
        scale_rows(b, p, &s, 0, s.m, -1, x);
    for (int q = 0; q < QUARTERS && p->per; q++) {
        memcpy(scaled[q], z, sizeof scaled[q]);
        scale_rows(b, p, &s, 1, s.n, q, scaled[q]);
    }
    for (int i = 0; i < s.m; i++)
        for (int j = 0; j < s.n; j++) {
            if (p->per)
                y = scaled[i / QUARTER % QUARTERS];
            uint32_t *word = tensor_word(b, lane_of(s.m, i), p->c + (uint32_t)j);
            ValueCell c = cell_at(s.c, word, 0);
            if (!p->add)
                c = dtype_is_float(s.c) ? (ValueCell){.f = 0} : (ValueCell){.i = 0};
            c = value_dot(s.c, s.k, &x[i * s.k], &y[j * s.k], c);
            num_store(s.c, word, 0, c.f, c.i);
        }
}

/* Each of two blocks has half of the columns of B, and half of the rows. */
static void multiply(const TwinBlock *t, const TensorMma *p)
{
    static ValueCell z[N_MOST * K_MOST];
    TensorShape s = shape_of(p);

    for (int i = 0; i < p->blocks; i++)
        read_tile(t + i, p->b, s.b, s.n / p->blocks, s.k, s.trans_b,
                  z + i * s.n / p->blocks * s.k);
    s.m /= p->blocks;
    for (int i = 0; i < p->blocks; i++)
        multiply_rows(t + i, p, &s, z);
}

static void land_mmas(Flight *f)
{
    PtxThread *t = ptx_thread(f->thread);

    while (t->tensor_first && t->tensor_first->number < f->n) {
        const TensorMma *p = t->tensor_first;
        if (!p->spreads)
            multiply(f->thread->block, p);
        for (int i = 0; p->spreads && i < p->blocks; i++)
            spread(f->thread->block + i, p);
        t->tensor_first = t->tensor_first->next;
        if (!t->tensor_first)
            t->tensor_last = NULL;
    }
    mbarrier_arrive(f->bar);
}

void ptx_tensor_commit(const char *name, void *const *at, int n)
{
    TwinThread *t = machine.self;

    (void)n;
    group_of(name);
    flight_add(&(Flight){.land = land_mmas, .thread = t, .n = ptx_thread(t)->tensor_mmas,
                         .bar = address_in(t->block, word_at(at[0]))});
}

/* The same at the barrier of each block of the mask. */
void ptx_tensor_commit_many(const char *name, void *const *at, int n)
{
    TwinThread *t = machine.self;
    TwinBlock *first = t->block - t->block->rank;
    uint16_t mask;

    (void)n;
    group_of(name);
    memcpy(&mask, at[1], sizeof mask);
    if (mask == 0 || mask >> first->ncluster)
        twin_fail("%s to blocks 0x%x of a cluster of %d [twin-fault]", name, mask,
                  first->ncluster);
    for (int i = 0; i < first->ncluster; i++)
        if (mask >> i & 1)
            flight_add(&(Flight){.land = land_mmas, .thread = t, .n = ptx_thread(t)->tensor_mmas,
                                 .bar = address_in(first + i, word_at(at[0]))});
}
