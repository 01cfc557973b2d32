/* isa.c -- the simulator against hardware: test/isa/h200.txt, made by test/isa/make.py.
 *
 * Every row of the file is replayed: the same operands (test/isa/values.h), the instruction run lane
 * by lane in the simulator, the same hash of the result.  Integers, moves and conversions are exact,
 * and so are sums of small integers in any type.  Sums of floats in general are not: tensor cores
 * align products to the largest and drop what is below, so a sample of results is compared within
 * a bound on sum |a b| + |c| that depends on the types (see `slack`). */
#include "isa_rows.h"
#include "target/target.h"

enum { GROUP = 128 };

/* ---- kernels --------------------------------------------------------------------------------- */

static Kit *threads_kit(int n)
{
    Kit *t = kit_new(1, 1);
    t->k->threads[0] = n;
    t->k->thread[0] = var_new(t->ir, "tx", DT_I32, NO_SPAN);
    t->k->uses_threads = true;
    TargetSpec spec;
    const char *why;
    CHECK(target_parse(t->ir->arena, "cuda -arch=sm_90a", &spec, &why));
    Machine *machine = NEW(t->ir->arena, Machine);
    *machine = spec.machine;
    t->k->target = spec.target;
    t->k->machine = machine;
    t->k->form |= FORM_THREADS; /* a thread holds its part of a fragment */
    return t;
}

static const Expr *tx(Kit *t)
{
    return expr_var(t->ir, t->k->thread[0]);
}

typedef struct {
    Kit *t;
    Var *turn;
    Builder body;
} Loop;

static void loop_open(Loop *l, Kit *t)
{
    l->t = t;
    l->turn = var_new(t->ir, "turn", DT_I32, NO_SPAN);
    build_open(&l->body, t->ir, NULL);
}

static void loop_close(Loop *l, int cases)
{
    Kit *t = l->t;
    kit_add(t, stmt_for(t->ir, NO_SPAN, LOOP_SERIAL, l->turn, kit_int(t, 0), kit_int(t, cases),
                        (Hints){0}, build_close(&l->body, NO_SPAN)));
    kit_must_run(t);
}

static void move(Loop *l, Buffer *to, const Expr *const *at, Buffer *from, const Expr *const *idx)
{
    Ir *ir = l->t->ir;
    build_add(&l->body, stmt_store(ir, NO_SPAN, to, at, to->rank,
                                   expr_load(ir, from, idx, from->rank)));
}

/* Slots of each thread between its registers and row (turn, thread) of a tensor. */
static void move_slots(Loop *l, Buffer *registers, Buffer *tensor, int n, bool load)
{
    for (int s = 0; s < n; s++) {
        const Expr *own = kit_int(l->t, s);
        const Expr *at[3] = {expr_var(l->t->ir, l->turn), tx(l->t), own};
        if (load)
            move(l, registers, &own, tensor, at);
        else
            move(l, tensor, at, registers, &own);
    }
}

static void instruction(Loop *l, const char *name, int nregion, const Region *region, int narg,
                        const Expr *const *arg)
{
    Region *r = NEWN(l->t->arena, Region, nregion);
    memcpy(r, region, sizeof(Region) * (size_t)nregion);
    CHECK(isa_find(name) != NULL);
    build_add(&l->body, stmt_instr(l->t->ir, NO_SPAN, isa_find(name), nregion, r, narg, arg, 0));
}

static void *results(Kit *t, int64_t nbytes)
{
    return arena_alloc(t->arena, (size_t)nbytes);
}

/* ---- mma ------------------------------------------------------------------------------------- */

static void replay_mma(const Row *row)
{
    CHECK(isa_find(row->name) != NULL && isa_find(row->name)->mma != NULL);
    const Mma *m = isa_find(row->name)->mma;
    Kit *t = threads_kit(LANES);
    int cases = row->cases + row->general, n[3];
    Buffer *tensor[3], *registers[3];
    Region r[3];
    Loop l;

    loop_open(&l, t);
    for (int i = 0; i < 3; i++) {
        int index[LANES * SLOTS];
        static const char *const name[] = {"A", "B", "C"};
        n[i] = mma_lanes(isa_find(row->name), i).extent[LANE_SLOT];
        own_indices(isa_find(row->name), i, index);
        void *data =
            values(t, row, m->type[i], i, cases, LANES * n[i], i == MMA_C ? 64 : 4, index);
        tensor[i] = kit_tensor(t, name[i], m->type[i], SHAPE(cases, LANES, n[i]), data);
        registers[i] = kit_tile(t, "r", m->type[i], MEM_LOCAL, SHAPE(n[i]));
        r[i] = kit_whole(t, registers[i]);
        move_slots(&l, registers[i], tensor[i], n[i], true);
    }
    int64_t case_bytes = dtype_bytes(m->type[MMA_C], LANES * n[MMA_C]);
    char *out = results(t, case_bytes * cases);
    Buffer *O = kit_tensor(t, "O", m->type[MMA_C], SHAPE(cases, LANES, n[MMA_C]), out);
    instruction(&l, row->name, 3, r, 0, NULL);
    move_slots(&l, registers[MMA_C], O, n[MMA_C], false);
    loop_close(&l, cases);
    for (int c = 0; c < row->cases; c++)
        check_hash(row, c, out + c * case_bytes, case_bytes);
    if (row->general)
        check_samples(row, m->type[MMA_A], m->type[MMA_C], m->k, out, case_bytes);
    arena_free(t->arena);
}

TEST(mma_does_what_the_hardware_does)
{
    each_row("mma.", "", measured_rows(), replay_mma);
}

/* ---- ldmatrix, stmatrix ---------------------------------------------------------------------- */

static void *raw(Kit *t, const Row *row, DType type, int per_case, const int *index)
{
    char *p = arena_alloc(t->arena, (size_t)(dtype_bytes(type, (int64_t)row->cases * per_case)));
    for (int c = 0; c < row->cases; c++)
        for (int i = 0; i < per_case; i++)
            put_bits(type, p, (int64_t)c * per_case + i,
                     fx_random(fx_key(row->number, c, 0, index ? index[i] : i)));
    return p;
}

static Region loop_of(Loop *l, Buffer *b, int64_t rows, int64_t cols)
{
    const Expr *at[3] = {expr_var(l->t->ir, l->turn), kit_int(l->t, 0), kit_int(l->t, 0)};
    return kit_region(l->t, b, at, (int64_t[]){1, rows, cols});
}

static void copy_in_loop(Loop *l, Region from, Region to)
{
    Region r[2] = {from, to};
    build_add(&l->body, kit_op(l->t, &op_copy, 2, r, 0, NULL, NULL));
}

/* "ldmatrix.a.trans.u16.16x16" */
static void replay_ldmatrix(const Row *row)
{
    char isa[32];
    int bits, rows, cols;
    const char *type = strstr(row->name, ".u");
    Kit *t = threads_kit(LANES);
    Loop l;

    CHECK(type && sscanf(type, ".u%d.%dx%d", &bits, &rows, &cols) == 3);
    snprintf(isa, sizeof isa, "%.*s", (int)(type - row->name), row->name);
    DType dt = bits == 8 ? DT_U8 : bits == 16 ? DT_U16 : DT_U32;
    int n = rows * cols / LANES;
    Buffer *A = kit_tensor(t, "A", dt, SHAPE(row->cases, rows, cols),
                           raw(t, row, dt, rows * cols, NULL));
    int64_t case_bytes = dtype_bytes(dt, rows * cols);
    char *out = results(t, case_bytes * row->cases);
    Buffer *O = kit_tensor(t, "O", dt, SHAPE(row->cases, LANES, n), out);
    Buffer *S = kit_tile(t, "S", dt, MEM_SHARED, SHAPE(rows, cols));
    Buffer *R = kit_tile(t, "R", dt, MEM_LOCAL, SHAPE(n));
    loop_open(&l, t);
    copy_in_loop(&l, loop_of(&l, A, rows, cols), kit_whole(t, S));
    instruction(&l, isa, 2, (Region[]){kit_whole(t, R), kit_whole(t, S)}, 0, NULL);
    move_slots(&l, R, O, n, false);
    loop_close(&l, row->cases);
    for (int c = 0; c < row->cases; c++)
        check_hash(row, c, out + c * case_bytes, case_bytes);
    arena_free(t->arena);
}

TEST(ldmatrix_does_what_the_hardware_does)
{
    each_row("ldmatrix.", "", 15, replay_ldmatrix);
}

static void replay_stmatrix(const Row *row)
{
    int rows, cols, index[LANES * 8], k = 0;
    Kit *t = threads_kit(LANES);
    Loop l;

    CHECK(sscanf(row->name, "stmatrix.%dx%d", &rows, &cols) == 2);
    int n = rows * cols / LANES;
    for (int lane = 0; lane < LANES; lane++)
        for (int s = 0; s < n; s++)
            index[k++] = lane * SLOTS + s;
    Buffer *A = kit_tensor(t, "A", DT_U16, SHAPE(row->cases, LANES, n),
                           raw(t, row, DT_U16, LANES * n, index));
    int64_t case_bytes = rows * cols * 2;
    char *out = results(t, case_bytes * row->cases);
    Buffer *O = kit_tensor(t, "O", DT_U16, SHAPE(row->cases, rows, cols), out);
    Buffer *S = kit_tile(t, "S", DT_U16, MEM_SHARED, SHAPE(rows, cols));
    Buffer *R = kit_tile(t, "R", DT_U16, MEM_LOCAL, SHAPE(n));
    loop_open(&l, t);
    move_slots(&l, R, A, n, true);
    instruction(&l, "stmatrix", 2, (Region[]){kit_whole(t, S), kit_whole(t, R)}, 0, NULL);
    copy_in_loop(&l, kit_whole(t, S), loop_of(&l, O, rows, cols));
    loop_close(&l, row->cases);
    for (int c = 0; c < row->cases; c++)
        check_hash(row, c, out + c * case_bytes, case_bytes);
    arena_free(t->arena);
}

TEST(stmatrix_does_what_the_hardware_does)
{
    each_row("stmatrix.", "", 3, replay_stmatrix);
}

/* ---- wgmma ----------------------------------------------------------------------------------- */

static DType ptx_type(const char *word)
{
    static const struct {
        const char *word;
        DType type;
    } table[] = {{"f16", DT_F16}, {"bf16", DT_BF16}, {"tf32", DT_TF32}, {"f32", DT_F32},
                 {"f64", DT_F64}, {"e4m3", DT_E4M3}, {"e5m2", DT_E5M2}, {"s8", DT_I8},
                 {"u8", DT_U8},   {"s32", DT_I32},   {"u32", DT_U32}};
    for (int i = 0; i < COUNT(table); i++)
        if (!strcmp(table[i].word, word))
            return table[i].type;
    CHECK(false);
    return DT_NONE;
}

typedef struct {
    int n, k, span, steps;
    bool rs, ta, tb; /* k as rows */
    DType a, b, c;
} Wgmma;

/* "wgmma.m64n16k16.f32.f16.f16.ss.128.ta.tb" */
static Wgmma wgmma_of(const Row *row)
{
    Wgmma w = {0};
    char c[8], a[8], b[8], from[8];

    CHECK(sscanf(row->name, "wgmma.m64n%dk%d.%7[^.].%7[^.].%7[^.].%7[^.].%d", &w.n, &w.k, c, a, b,
                 from, &w.span) == 7);
    w.a = ptx_type(a);
    w.b = ptx_type(b);
    w.c = ptx_type(c);
    w.rs = !strcmp(from, "rs");
    w.ta = strstr(row->name, ".ta") != NULL;
    w.tb = strstr(row->name, ".tb") != NULL;
    w.steps = w.ta && w.tb ? 2 : w.ta || w.tb ? MIN(2, w.span / 32) : w.span / 32;
    return w;
}

/* An operand of every case as the device had it: K-major mn x span bytes, or 32 x mn. */
static Buffer *wgmma_operand(Kit *t, const Row *row, const char *name, DType type, int operand,
                             int mn, int span, bool k_rows, int64_t shape[2])
{
    int cases = row->cases + row->general;

    shape[0] = k_rows ? 32 : mn;
    shape[1] = k_rows ? mn : span * 8 / dtype_bits(type);
    void *data =
        values(t, row, type, operand, cases, (int)(shape[0] * shape[1]), 4, NULL);
    return kit_tensor(t, name, type, SHAPE(cases, shape[0], shape[1]), data);
}

/* Where along k the step of this case begins. */
static const Expr *step_start(Loop *l, const Wgmma *w)
{
    Ir *ir = l->t->ir;
    const Expr *step = expr_floormod(ir, expr_var(ir, l->turn), kit_int(l->t, w->steps));
    return expr_mul(ir, step, kit_int(l->t, w->k));
}

/* The step of this case: its k columns, or rows. */
static Region step_of(Loop *l, Buffer *b, const Wgmma *w, bool k_rows, int64_t mn)
{
    const Expr *step = step_start(l, w);
    const Expr *zero = kit_int(l->t, 0), *at[2] = {k_rows ? step : zero, k_rows ? zero : step};
    return kit_region(l->t, b, at, (int64_t[]){k_rows ? w->k : mn, k_rows ? mn : w->k});
}

static void own_place(int thread, int slot, int at[2])
{
    at[0] = thread / 32 * 16 + thread % 32 / 4 + 8 * (slot / 2 % 2);
    at[1] = 8 * (slot / 4) + thread % 4 * 2 + slot % 2;
}

/* Slot s of this thread as (row, column) of the fragment, for the accumulator. */
static void place_of(Kit *t, int s, const Expr *at[2])
{
    Ir *ir = t->ir;
    int first[2];

    own_place(0, s, first);
    const Expr *lane = expr_floormod(ir, tx(t), kit_int(t, 32));
    at[0] = expr_add(ir, expr_add(ir, expr_mul(ir, expr_floordiv(ir, tx(t), kit_int(t, 32)),
                                               kit_int(t, 16)),
                                  expr_floordiv(ir, lane, kit_int(t, 4))),
                     kit_int(t, first[0]));
    at[1] = expr_add(ir, expr_mul(ir, expr_floormod(ir, lane, kit_int(t, 4)), kit_int(t, 2)),
                     kit_int(t, first[1]));
}

/* A in registers: slot s of this thread, as (row, k). */
static void place_of_a(Kit *t, DType type, int s, const Expr *at[2])
{
    Ir *ir = t->ir;
    int e = mma_each(type), r = s / e;
    const Expr *lane = expr_floormod(ir, tx(t), kit_int(t, 32));

    at[0] = expr_add(ir, expr_add(ir, expr_mul(ir, expr_floordiv(ir, tx(t), kit_int(t, 32)),
                                               kit_int(t, 16)),
                                  expr_floordiv(ir, lane, kit_int(t, 4))),
                     kit_int(t, r % 2 * 8));
    at[1] = expr_add(ir, expr_mul(ir, expr_floormod(ir, lane, kit_int(t, 4)), kit_int(t, e)),
                     kit_int(t, s % e + 4 * e * (r / 2)));
}

static Region load_a(Loop *l, const Wgmma *w, Buffer *A, const int64_t *shape)
{
    Kit *t = l->t;

    if (!w->rs) {
        Buffer *S = kit_tile(t, "As", w->a, MEM_SHARED, 2, shape);
        copy_in_loop(l, loop_of(l, A, shape[0], shape[1]), kit_whole(t, S));
        return step_of(l, S, w, w->ta, 64);
    }
    Buffer *R = kit_tile(t, "Ar", w->a, MEM_FRAGMENT, SHAPE(64, w->k));
    const Expr *step = step_start(l, w);
    for (int s = 0; s < 64 * w->k / GROUP; s++) {
        const Expr *at[2], *from[3];
        place_of_a(t, w->a, s, at);
        from[0] = expr_var(t->ir, l->turn);
        from[1] = at[0];
        from[2] = expr_add(t->ir, step, at[1]);
        move(l, R, at, A, from);
    }
    return kit_whole(t, R);
}

static void call(Loop *l, Intrin which, int n, const Expr *const *arg)
{
    build_add(&l->body, stmt_call(l->t->ir, NO_SPAN, which, n, arg, 0, NULL, NULL, NULL));
}

static void move_accumulator(Loop *l, const Wgmma *w, Buffer *C, Buffer *tensor, bool load)
{
    for (int s = 0; s < w->n / 2; s++) {
        const Expr *own[2], *at[3];
        place_of(l->t, s, own);
        at[0] = expr_var(l->t->ir, l->turn);
        at[1] = load ? own[0] : tx(l->t);
        at[2] = load ? own[1] : kit_int(l->t, s);
        if (load)
            move(l, C, own, tensor, at);
        else
            move(l, tensor, at, C, own);
    }
}

static void replay_wgmma(const Row *row)
{
    Wgmma w = wgmma_of(row);
    Kit *t = threads_kit(GROUP);
    int cases = row->cases + row->general;
    int64_t shape_a[2], shape_b[2], case_bytes = dtype_bytes(w.c, 64 * w.n);
    Buffer *A = wgmma_operand(t, row, "A", w.a, 0, 64, w.span, w.ta, shape_a);
    Buffer *B = wgmma_operand(t, row, "B", w.b, 1, w.n, w.span, w.tb, shape_b);
    Buffer *Cin = kit_tensor(t, "Cin", w.c, SHAPE(cases, 64, w.n),
                             values(t, row, w.c, 2, cases, 64 * w.n, 64, NULL));
    char *out = results(t, case_bytes * cases);
    Buffer *O = kit_tensor(t, "O", w.c, SHAPE(cases, GROUP, w.n / 2), out);
    Buffer *C = kit_tile(t, "C", w.c, MEM_FRAGMENT, SHAPE(64, w.n));
    Buffer *Bs = kit_tile(t, "Bs", w.b, MEM_SHARED, 2, shape_b);
    const Expr *no = expr_bool(t->ir, false), *zero = kit_int(t, 0);
    const Expr *arg[3] = {expr_bool(t->ir, w.ta), expr_bool(t->ir, !w.tb), no};
    Loop l;

    loop_open(&l, t);
    move_accumulator(&l, &w, C, Cin, true);
    copy_in_loop(&l, loop_of(&l, B, shape_b[0], shape_b[1]), kit_whole(t, Bs));
    Region a = load_a(&l, &w, A, shape_a);
    call(&l, INTRIN_SETTLE, 0, NULL);
    instruction(&l, "wgmma", 3, (Region[]){a, step_of(&l, Bs, &w, w.tb, w.n), kit_whole(t, C)}, 3,
                arg);
    call(&l, INTRIN_COMMIT_MMA, 0, NULL);
    call(&l, INTRIN_WAIT_MMA, 1, &zero);
    move_accumulator(&l, &w, C, O, false);
    loop_close(&l, cases);
    for (int c = 0; c < row->cases; c++)
        check_hash(row, c, out + c * case_bytes, case_bytes);
    if (row->general)
        check_samples(row, w.a, w.c, w.k, out, case_bytes);
    arena_free(t->arena);
}

TEST(wgmma_of_float16)
{
    each_row("wgmma.", ".f16.f16.", 20, replay_wgmma);
}

TEST(wgmma_of_bfloat16)
{
    each_row("wgmma.", ".bf16.bf16.", 15, replay_wgmma);
}

TEST(wgmma_of_tfloat32)
{
    each_row("wgmma.", ".tf32.tf32.", 4, replay_wgmma);
}

TEST(wgmma_of_float8)
{
    each_row("wgmma.", ".f32.e", 16, replay_wgmma);
}

TEST(wgmma_of_int8)
{
    each_row("wgmma.", ".s32.", 17, replay_wgmma);
}

/* ---- swizzles, bulk copies ------------------------------------------------------------------- */

TEST(swizzled_layouts_are_those_of_the_hardware)
{
    Kit *t = kit_new(1, 1);
    for (int size = 1; size <= 4; size *= 2)
        for (int span = 32; span <= 128; span *= 2) {
            int rows = 24, cols = 2 * span / size;
            const Layout *l = layout_swizzle(t->ir, rows, cols, 8 * size, span);
            for (int i = 0; i < rows; i++)
                for (int j = 0; j < cols; j++)
                    CHECK_INT(layout_eval(l, (int64_t[]){i, j}) * size,
                              fx_swizzled(rows, i, j * size, span));
        }
    arena_free(t->arena);
}

/* A box of a tensor, with zeros outside, as our layout of that swizzle puts it. */
static void replay_tma(const Row *row)
{
    enum { TENSOR_ROWS = 40, ROWS = 16, WIDTH_MOST = 128 };
    int bits, span;
    Arena *a = arena_new();

    CHECK(sscanf(row->name, "tma.load.u%d.%d", &bits, &span) == 2);
    int size = bits / 8, width = span ? span : 64, cols = (2 * width + 48) / size;
    for (int c = 0; c < row->cases; c++) {
        unsigned char got[ROWS * WIDTH_MOST] = {0};
        int unit = 16 / size; /* where a row of a box may start */
        int x = ((int)(fx_random(fx_key(row->number, c, 1, 0)) % (FxBits)(cols / unit + 2)) - 2) *
                unit;
        int y = (int)(fx_random(fx_key(row->number, c, 1, 1)) % (TENSOR_ROWS + 8)) - 8;
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < width / size; j++) {
                bool in = x + j >= 0 && x + j < cols && y + i >= 0 && y + i < TENSOR_ROWS;
                FxBits v = in ? fx_random(fx_key(row->number, 0, 0, (y + i) * cols + x + j)) : 0;
                int at = span ? fx_swizzled(ROWS, i, j * size, span) : i * width + j * size;
                for (int b = 0; b < size; b++)
                    got[at + b] = (unsigned char)(v >> 8 * b);
            }
        check_hash(row, c, got, ROWS * width);
    }
    arena_free(a);
}

TEST(bulk_copies_put_things_where_our_layouts_say)
{
    Arena *a = arena_new();
    char *text;
    const char *why;
    size_t len;

    CHECK(file_read(a, "test/isa/h200.txt", &text, &len, &why) == STATUS_OK);
    if (!strstr(text, " tma.load."))
        test_skip("h200.txt has no bulk copies: make.py --only=tma makes them");
    arena_free(a);
    each_row("tma.load.", "", 12, replay_tma);
}

/* ---- conversions ----------------------------------------------------------------------------- */

static uint64_t converted(DType from, DType to, uint64_t bits)
{
    uint8_t raw[8] = {0};
    double f = 0;
    int64_t n = 0;

    memcpy(raw, &bits, 8);
    num_load(from, raw, 0, &f, &n);
    Value1 v = value_cast(from, to, (Value1){.f = f, .i = n});
    if (dtype_is_float(to))
        return canonical(to, num_encode(to, v.f));
    return (uint64_t)v.i & fx_mask(dtype_bits(to));
}

static void replay_convert(const Row *row)
{
    enum { EACH = 8 };
    char a[8], b[8];

    CHECK(sscanf(row->name, "convert.%7[^.].%7s", a, b) == 2);
    DType from = ptx_type(a), to = ptx_type(b);
    for (int c = 0; c < row->cases; c++) {
        unsigned got[EACH];
        for (int j = 0; j < EACH; j++)
            got[j] = (unsigned)converted(from, to, input_bits(row, from, c, j));
        check_hash(row, c, got, sizeof got);
    }
}

TEST(conversions_round_as_the_hardware_does)
{
    each_row("convert.", "", 18, replay_convert);
}
