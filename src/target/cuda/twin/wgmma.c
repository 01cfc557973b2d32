/* wgmma.c -- MMAs of a warpgroup: issued when all 128 threads came, done when one of them waits
 * for its group.  Until then the accumulators hold what they held. */
#include "target/cuda/twin/ptx.h"

enum { ROWS = 64, K_MOST = 64, N_MOST = 256 };

typedef struct {
    int n, k;
    DType a, b, c;
    bool in_registers; /* A */
    int sparse;        /* 1: A is, and two operands more say how */
    int nc;            /* registers of C */
} Shape;

static Shape shape_of(const char *name, int noperand)
{
    Shape s = {.sparse = strstr(name, ".sp.") != NULL};
    char c[8], a[8], b[8];

    if (sscanf(strstr(name, ".sync"), ".sync.aligned.m64n%dk%d.%7[a-z0-9].%7[a-z0-9].%7[a-z0-9]",
               &s.n, &s.k, c, a, b) != 5 ||
        !ptx_type(c, strlen(c), &s.c) || !ptx_type(a, strlen(a), &s.a) ||
        !ptx_type(b, strlen(b), &s.b) || s.n < 8 || s.n > N_MOST || s.n % 8 ||
        s.k * dtype_bits(s.a) != 256 << s.sparse || dtype_bits(s.a) != dtype_bits(s.b))
        twin_fail("%s is no MMA that anybody knows [twin-meaning]", name);
    int transposes = dtype_bits(s.a) == 16, scales = dtype_is_float(s.c) ? 2 : 0;
    s.nc = s.n * dtype_bits(s.c) / 64;
    int rest = noperand - s.nc - 2 * s.sparse;
    s.in_registers = rest == 6 + scales + transposes;
    if (!s.in_registers && rest != 3 + scales + 2 * transposes)
        twin_fail("%s with %d operands [twin-fault]", name, noperand);
    return s;
}

/* After B, which is operand b. */
static int add_of(const Shape *s, int b)
{
    return b + 1 + 2 * s->sparse;
}

/* ---- issue ----------------------------------------------------------------------------------- */

static GroupMma *open_mma(TwinGroup *g, const char *name, const Shape *s, void *const *at, int n)
{
    GroupMma *p = NEW(machine.scratch, GroupMma);
    int a = s->nc, b = a + (s->in_registers ? 4 : 1), transposes = dtype_bits(s->a) == 16;

    p->name = name;
    p->n = n;
    p->a_in_registers = s->in_registers;
    p->a = s->in_registers ? 0 : long_at(at[a]);
    p->b = long_at(at[b]);
    p->add = word_at(at[add_of(s, b)]) != 0;
    p->trans_a = transposes && !s->in_registers && word_at(at[n - 2]);
    p->trans_b = transposes && word_at(at[n - 1]);
    p->group = ptx_thread(machine.self)->mmas;
    return g->open = p;
}

/* ---- registers that an MMA holds ------------------------------------------------------------- */

static Held *held_find(PtxThread *t, void *at, int n, bool is_operand)
{
    for (Held *h = t->held; h; h = h->next)
        if (h->at == at && h->n == n && h->is_operand == is_operand)
            return h;
    return NULL;
}

/* A fence parts what others did to the registers from what the MMA does. */
static void held_add(PtxThread *t, void *at, int n, bool is_operand)
{
    Held *h = held_find(t, at, n, is_operand);

    if (!t->fenced)
        twin_fail("an MMA without a fence before it [twin-fault]");
    if (h && (h->landed || is_operand) && memcmp(h->word, at, 4 * (size_t)n))
        twin_fail(h->landed ? "registers of an MMA are written after its fence [twin-fault]"
                            : "registers that an MMA reads are written before it is waited for "
                              "[twin-fault]");
    if (!h) {
        h = NEW(machine.scratch, Held);
        *h = (Held){.at = at, .n = n, .is_operand = is_operand, .next = t->held};
        t->held = h;
    }
    h->group = t->mmas;
    h->landed = false;
    memcpy(h->word, at, 4 * (size_t)n);
}

static bool lands(const PtxThread *t, const Held *h, uint32_t left)
{
    return !h->landed && h->group + left < t->mmas;
}

/* Of operands before the results come: one register may be both in turn. */
static void operands_check(const PtxThread *t, uint32_t left)
{
    for (const Held *h = t->held; h; h = h->next)
        if (h->is_operand && lands(t, h, left) && memcmp(h->word, h->at, 4 * (size_t)h->n))
            twin_fail("registers that an MMA reads are written before it is waited for "
                      "[twin-fault]");
}

static void held_land(PtxThread *t, uint32_t left)
{
    bool at_once = t->nop == t->last_commit + 1;

    for (Held *h = t->held; h; h = h->next)
        if (lands(t, h, left)) {
            h->landed = true;
            memset(h->said, h->is_operand && at_once && h->group + 1 == t->mmas, sizeof h->said);
            memcpy(h->word, h->at, 4 * (size_t)h->n);
        }
}

void held_check(const TwinThread *t)
{
    for (const Held *h = ptx_thread(t)->held; h; h = h->next)
        for (int i = 0; h->landed && i < h->n; i++)
            if (!h->said[i])
                twin_fail("nothing keeps the compiler from using register %d of an MMA's %s before "
                          "it is waited for [twin-fault]", i, h->is_operand ? "operand" : "result");
}

void ptx_wgmma_fence(const char *name, void *const *at, int n)
{
    PtxThread *own = ptx_thread(machine.self);

    (void)name;
    (void)at;
    (void)n;
    own->fenced = true;
    for (Held *h = own->held; h; h = h->next)
        if (h->landed)
            memcpy(h->word, h->at, 4 * (size_t)h->n);
}

/* asm volatile("" : "+f"(c[0])): it has changed, or may from here on. */
void ptx_changed(const char *name, void *const *at, int n)
{
    const PtxThread *own = ptx_thread(machine.self);

    (void)name;
    for (int i = 0; i < n; i++) {
        bool found = !own->held;
        for (Held *h = own->held; h; h = h->next)
            if ((char *)at[i] >= h->at && (char *)at[i] < h->at + 4 * h->n)
                found = (h->said[((char *)at[i] - h->at) / 4] = 1) != 0;
        if (!found)
            twin_fail("a register is said to change that no MMA has [twin-fault]");
    }
}

/* Registers from at[0] on, one after the other. */
static void hold(const char *name, void *const *at, int n, bool is_operand)
{
    for (int j = 1; j < n; j++)
        if ((char *)at[j] != (char *)at[0] + 4 * j)
            twin_fail("%s of %s that are not neighbours [twin-fault]",
                      is_operand ? "operands" : "accumulators", name);
    held_add(ptx_thread(machine.self), at[0], n, is_operand);
}

void ptx_wgmma(const char *name, void *const *at, int n)
{
    TwinThread *t = machine.self;
    TwinGroup *g = ptx_group(t);
    Shape s = shape_of(name, n);
    GroupMma *p = g->open ? g->open : open_mma(g, name, &s, at, n);
    int b = s.nc + (s.in_registers ? 4 : 1), i = t->index % GROUP;

    if (t->block->nthread - t->index + i < GROUP)
        twin_fail("its warpgroup is not whole at %s [twin-fault]", name);
    if (strcmp(p->name, name) || p->b != long_at(at[b]) ||
        p->add != (word_at(at[add_of(&s, b)]) != 0) ||
        (!s.in_registers && p->a != long_at(at[s.nc])))
        twin_fail("threads of its warpgroup bring different operands to %s [twin-fault]", name);
    for (int j = 0; s.in_registers && j < 4; j++)
        p->of[i].a[j] = word_at(at[s.nc + j]);
    if (s.sparse) {
        p->of[i].kept = word_at(at[b + 1]);
        if (word_at(at[b + 2]))
            twin_fail("%s by the words of other lanes than the first [twin-meaning]", name);
    }
    p->of[i].c = at[0];
    hold(name, at, s.nc, false);
    if (s.in_registers)
        hold(name, at + s.nc, 4, true);
    uint64_t generation = g->gather.generation;
    if (!gather_come(&g->gather, GROUP, 0)) {
        twin_wait(WAIT_COUNTER, &g->gather.generation, generation, name);
        return;
    }
    g->open = NULL;
    if (g->last)
        g->last->next = p;
    else
        g->first = p;
    g->last = p;
}

/* ---- operands -------------------------------------------------------------------------------- */

uint32_t matrix_address(uint64_t d, uint32_t span, int i, int k, int size, bool transposed)
{
    uint32_t start = (uint32_t)(d & 0x3fff) << 4, leading = (uint32_t)(d >> 16 & 0x3fff) << 4,
             stride = (uint32_t)(d >> 32 & 0x3fff) << 4;
    uint32_t u = (uint32_t)i, v = (uint32_t)k;
    uint32_t per = span / (uint32_t)size, at;

    if (transposed)
        at = start + u / per * leading + u % per * (uint32_t)size + v / 8 * stride + v % 8 * span;
    else
        at = start + u / 8 * stride + u % 8 * span + v * (uint32_t)size;
    return at ^ (at >> 3 & (span == 128 ? 0x70 : span == 64 ? 0x30 : 0x10));
}

static void read_tile(uint64_t d, DType t, int rows, int k, bool transposed, ValueCell *to)
{
    int size = dtype_bits(t) / 8;
    uint32_t code = (uint32_t)(d >> 62), span = code == 1 ? 128 : code == 2 ? 64 : 32;

    if (code == 0)
        twin_fail("a tile without a swizzle in an MMA [twin-meaning]");
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < k; j++) {
            uint32_t at = matrix_address(d, span, i, j, size, transposed);
            to[i * k + j] = cell_at(t, shared_at(at, (uint32_t)size, "an MMA reads"), 0);
        }
}

static void read_registers(const GroupMma *p, DType t, int k, ValueCell *to)
{
    LaneMap l = isa_lanes(isa_find("wgmma"), MMA_A, ROWS, k, t);
    int each = mma_each(t);

    for (int i = 0; i < GROUP; i++)
        for (int s = 0; s < l.extent[LANE_SLOT]; s++) {
            int at[2];
            lane_place(&l, i, s, at);
            to[at[0] * k + at[1]] = cell_at(t, &p->of[i].a[s / each], s % each);
        }
}

/* ---- the MMA --------------------------------------------------------------------------------- */

enum { GROUP_BITS = 4, INDEX_BITS = 2, WORD_BITS = 16 };

/* Where the elements of row i of a sparse A stood. */
static void places(const GroupMma *p, const Shape *s, int i, int *at)
{
    int bits = dtype_bits(s->a), keeps = bits == 32 ? 1 : 2, per = WORD_BITS / GROUP_BITS;
    const Isa *isa = isa_find(bits == 8 ? "wgmma.sp.bytes" : "wgmma.sp");
    LaneMap l = isa_lanes(isa, MMA_E, ROWS, s->k / (2 * keeps) / per, DT_U16);

    for (int k = 0; k < s->k / 2; k++) {
        int slot, group = k / keeps, lane = lane_holder(&l, i, group / per, &slot);
        uint32_t four = p->of[lane].kept >> (WORD_BITS * slot + group % per * GROUP_BITS) & 15;
        uint32_t first = four & 3, second = four >> INDEX_BITS;
        if (keeps == 2 ? first >= second : four != 4 && four != 14)
            twin_fail("a group of A keeps elements %u and %u [twin-meaning]", first, second);
        at[k] = keeps == 2 ? group * 4 + (int)(k % 2 ? second : first) : group * 2 + (int)first / 2;
    }
}

/* C + row of A times column of B, of the elements that there are. */
static ValueCell dot(const Shape *s, const ValueCell *a, const ValueCell *b, const int *at,
                     ValueCell c)
{
    ValueCell kept[K_MOST];

    if (!s->sparse)
        return value_dot(s->c, s->k, a, b, c);
    for (int k = 0; k < s->k / 2; k++)
        kept[k] = b[at[k]];
    return value_dot(s->c, s->k / 2, a, kept, c);
}

static void multiply(const GroupMma *p)
{
    static int stood[ROWS][K_MOST / 2];
    static ValueCell a[ROWS * K_MOST], b[N_MOST * K_MOST];
    Shape s = shape_of(p->name, p->n);
    LaneMap l = isa_lanes(isa_find("wgmma"), MMA_C, ROWS, s.n, s.c);

    int ka = s.k >> s.sparse;

    if (p->a_in_registers)
        read_registers(p, s.a, ka, a);
    else
        read_tile(p->a, s.a, ROWS, ka, p->trans_a, a);
    for (int i = 0; s.sparse && i < ROWS; i++)
        places(p, &s, i, stood[i]);
    read_tile(p->b, s.b, s.n, s.k, p->trans_b, b);
    for (int i = 0; i < GROUP; i++)
        for (int e = 0; e < l.extent[LANE_SLOT]; e++) {
            int at[2];
            lane_place(&l, i, e, at);
            ValueCell c = cell_at(s.c, p->of[i].c, e);
            if (!p->add)
                c = dtype_is_float(s.c) ? (ValueCell){.f = 0} : (ValueCell){.i = 0};
            c = dot(&s, &a[at[0] * ka], &b[at[1] * s.k], stood[at[0]], c);
            num_store(s.c, p->of[i].c, e, c.f, c.i);
        }
}

void ptx_wgmma_commit(const char *name, void *const *at, int n)
{
    PtxThread *own = ptx_thread(machine.self);

    (void)name;
    (void)at;
    (void)n;
    own->mmas++;
    own->last_commit = own->nop;
}

void ptx_wgmma_wait(const char *name, void *const *at, int n)
{
    TwinThread *t = machine.self;
    TwinGroup *g = ptx_group(t);
    uint32_t left = word_at(at[0]);

    (void)name;
    (void)n;
    held_check(t);
    operands_check(ptx_thread(t), left);
    while (g->first && g->first->group + left < ptx_thread(t)->mmas) {
        GroupMma *p = g->first;
        g->first = p->next;
        if (!g->first)
            g->last = NULL;
        multiply(p);
    }
    held_land(ptx_thread(t), left);
}
