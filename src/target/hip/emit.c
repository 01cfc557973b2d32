/* emit.c -- HIP: what it does in another way than CUDA C, whose emitter prints the rest.
 *
 * Names that CUDA C has without a header are macros and functions of device/hip, so that a text
 * needs neither clang's headers nor those of ROCm. */
#include "target/cuda/emit.h"
#include "target/paste.h"
#include "target/hip/hip.h"
#include "device_cpu.h"
#include "device_cuda.h"
#include "device_hip.h"

enum { IN_FLIGHT_MOST = 63 }; /* that vmcnt counts to */

/* ---- barriers of some threads, which are made of shared memory ------------------------------- */

static bool see_some(const Stmt *s, void *arg)
{
    int64_t id = -1;
    bool sync = s->kind == ST_CALL && (s->u.call.which == INTRIN_SYNC_THREADS ||
                                       s->u.call.which == INTRIN_BARRIER_ARRIVE);

    *(bool *)arg |= s->kind == ST_ROLE || (sync && s->u.call.n > 0 &&
                                           !(expr_is_int(s->u.call.arg[0], &id) && id <= 0));
    return true;
}

static void open_kernel(Emit *e, const Stmt *body)
{
    bool some = false;

    stmt_visit(body, see_some, &some);
    if (some)
        emit_line(e, "tl_named_start();");
}

/* ---- MMAs ------------------------------------------------------------------------------------ */

static const char *element(DType t)
{
    return t == DT_F64 ? "double" : t == DT_I32 ? "int32_t" : "float";
}

/* 32-bit registers of an operand. */
static int words_of(const Isa *isa, int which)
{
    return mma_lanes(isa, which).extent[LANE_SLOT] / mma_each(isa->mma->type[which]);
}

/* Of kinds of float that the operands say: `a` and `b` are eight words, however few they need. */
static void put_formats(Str *o, const Isa *isa)
{
    str_puts(o, "    typedef int words __attribute__((ext_vector_type(8)));\n");
    str_printf(o, "    tl_mfma_%s(%s, tl_words_%d(a), tl_words_%d(b));\n}\n\n",
               isa->mma->per ? "scale" : "f8f6f4", isa->mma->own, words_of(isa, MMA_A),
               words_of(isa, MMA_B));
}

/* The device function of a row, once per text. */
static void declare_product(Emit *e, const char *name, const Isa *isa)
{
    const Mma *m = isa->mma;
    const char *acc = element(m->type[MMA_C]);
    const char *in = m->type[MMA_A] == DT_F64 ? "double" : "uint32_t";
    int n = mma_lanes(isa, MMA_C).extent[LANE_SLOT];
    Str *o = &e->decls;

    if (map_has(&e->routines, name))
        return;
    map_set(&e->routines, name, e);
    str_printf(o, "TL_DEVICE void %s(%s *c, const %s *a, const %s *b%s)\n{\n", name, acc, in, in,
               m->per ? ", uint32_t scale_a, uint32_t scale_b" : "");
    str_printf(o, "    typedef %s acc __attribute__((ext_vector_type(%d), aligned(4)));\n", acc, n);
    if (!m->arg) {
        put_formats(o, isa);
        return;
    }
    if (m->narg > 1)
        str_printf(o, "    typedef %s arg __attribute__((ext_vector_type(%d), aligned(4)));\n",
                   m->arg, m->narg);
    else
        str_printf(o, "    typedef %s arg __attribute__((aligned(4)));\n", m->arg);
    str_printf(o, "    tl_mfma(%s);\n}\n\n", m->own);
}

/* Of each 16 lanes, lane l reads 64 bits of a row and gets column l of as many rows as those have
 * columns: four rows of 16 bits, by four lanes each, or eight of bytes, by two. */
static void emit_read_tr(Emit *e, const Stmt *s)
{
    enum { LANES = 16 };
    Cuda *c = cuda_of(e);
    Ir *ir = e->ir;
    const Region *to = &s->u.instr.region[0], *from = &s->u.instr.region[1];
    int last = from->buf->rank - 1;
    LaneMap l = isa_lanes(s->u.instr.isa, 0, (int)region_extent_int(from, last - 1),
                          (int)region_extent_int(from, last), from->buf->type);
    int bits = dtype_bits(from->buf->type), rows = 64 / bits;
    const Expr *lane = cuda_lane(c), *sixteen = expr_int(ir, LANES);
    const Expr *each = expr_int(ir, LANES / rows);
    const Expr *first = expr_mul(ir, expr_floordiv(ir, lane, sixteen), sixteen);
    const Expr *in = expr_floormod(ir, lane, sixteen);

    for (int slot = 0; slot < l.extent[LANE_SLOT]; slot += rows) {
        const Expr *at[2];
        lane_place_expr(ir, &l, first, slot, at);
        at[0] = expr_add(ir, at[0], expr_floordiv(ir, in, each));
        at[1] = expr_add(ir, at[1], expr_mul(ir, expr_floormod(ir, in, each), expr_int(ir, rows)));
        emit_indent(e);
        str_printf(e->out, "tl_read_tr_b%d(", bits);
        const Expr *reg = expr_add(ir, cuda_register_slot(c, s, to), expr_int(ir, slot));
        cuda_emit_registers(c, to->buf, simplify(ir, e->facts, reg));
        str_printf(e->out, ", &%s[", buffer_name(e, from->buf));
        emit_loose(e, cuda_element(c, from, at[0], at[1]));
        str_puts(e->out, "]);\n");
    }
}

static void emit_instr(Emit *e, const Stmt *s)
{
    const Isa *isa = s->u.instr.isa;

    if (isa->id == ISA_READ_TR_16 || isa->id == ISA_READ_TR_32) {
        emit_read_tr(e, s);
        return;
    }

    if (isa->mma && isa->mma->own && isa_fits(isa, &e->spec->machine)) {
        const Mma *m = isa->mma;
        const char *name = arena_printf(e->arena, "tl_mfma_%s", m->own);
        if (!m->arg)
            name = arena_printf(e->arena, "tl_mfma_%s%dx%dx%d_%s_%s", m->per ? "scale_" : "", m->m,
                                m->n, m->k, m->word[MMA_A], m->word[MMA_B]);
        declare_product(e, name, isa);
        cuda_emit_product(cuda_of(e), s, name);
        return;
    }
    cuda_refuse(cuda_of(e), s, arena_printf(e->arena, "the instruction %s", s->u.instr.isa->name));
}

/* ---- copies straight to shared memory, as lower_counts leaves them --------------------------- */

static void emit_place(Emit *e, const Buffer *b, const Expr *at)
{
    str_printf(e->out, "&%s[", buffer_name(e, b));
    emit_loose(e, at->lanes > 1 ? at->kid[0] : at);
    str_putc(e->out, ']');
}

static void emit_store_async(Emit *e, const Stmt *s)
{
    const Expr *x = s->u.store.value;

    emit_indent(e);
    str_printf(e->out, "tl_lds_from_%d(", dtype_bits(x->u.buf->type) * x->lanes / 8);
    emit_place(e, s->u.store.buf, s->u.store.at[0]);
    str_puts(e->out, ", ");
    cuda_emit_guarded_from(e, x, x->lanes > 1 ? x->kid[0]->kid[0] : x->kid[0]);
    str_puts(e->out, x->guarded ? ", " : ", true);\n");
    if (!x->guarded)
        return;
    emit_loose(e, x->kid[1]->lanes > 1 ? x->kid[1]->kid[0] : x->kid[1]);
    str_puts(e->out, ");\n");
}

/* ---- loads past the edges of a tensor -------------------------------------------------------- */

/* A tensor whose bytes a descriptor counts, and that nothing here writes. */
static bool has_descriptor(const Emit *e, const Buffer *b)
{
    int64_t n = buffer_static_size(b);

    return b->is_param && !b->view_of && !b->stride && !b->pointer && b->rank > 0 &&
           dtype_bits(b->type) >= 8 && n > 0 && n <= INT32_MAX / (dtype_bits(b->type) / 8) &&
           e->written && !map_has(e->written, b);
}

/* Does what the guard leaves out, x >= n, lie in a row past the last one? */
static bool ends_with_rows(Emit *e, const Buffer *b, const Expr *guard, const Expr *at)
{
    int64_t n, rows, all = buffer_static_size(b);

    if (guard->op != EX_LT || !expr_is_int(guard->kid[1], &n) ||
        !expr_is_int(b->shape[0], &rows))
        return false;
    const Expr *row = expr_add(e->ir, guard->kid[0], expr_int(e->ir, rows - n));
    row = expr_mul(e->ir, row, expr_int(e->ir, all / rows));
    Bounds in_row = bounds_of(e->facts, simplify(e->ir, e->facts, expr_sub(e->ir, at, row)));
    Bounds place = bounds_of(e->facts, at);
    return in_row.lo >= 0 && place.hi < INT32_MAX / (dtype_bits(b->type) / 8);
}

/* What is left of a guard beside the bound in the descriptor; NULL: nothing. */
static const Expr *beside_rows(Emit *e, const Buffer *b, const Expr *guard, const Expr *at)
{
    if (guard->op == EX_AND) {
        const Expr *l = beside_rows(e, b, guard->kid[0], at);
        const Expr *r = beside_rows(e, b, guard->kid[1], at);
        return l && r ? expr_and(e->ir, l, r) : l ? l : r;
    }
    return ends_with_rows(e, b, guard, at) ? NULL : guard;
}

/* By a buffer instruction: what is past the end of its descriptor is zero, without a branch.  An
 * index that is itself read stays behind its guard. */
static bool load_or_zero(Emit *e, const Expr *x, const char *type)
{
    const Buffer *b = x->u.buf;
    const Expr *guard = x->kid[1], *at = x->kid[0];

    if (!has_descriptor(e, b) || at->op != EX_RAMP || guard->op != EX_BROADCAST ||
        cuda_may_stray(e, at))
        return false;
    str_printf(e->out, "tl_load_or_zero<%s>(", type);
    emit_place(e, b, at);
    str_printf(e->out, ", %s, %lld, ", buffer_name(e, b),
               (long long)dtype_bytes(b->type, buffer_static_size(b)));
    guard = beside_rows(e, b, guard->kid[0], at->kid[0]);
    if (guard)
        emit_loose(e, guard);
    else
        str_puts(e->out, "true");
    str_putc(e->out, ')');
    return true;
}

/* What a kernel copies by hand is at once where nothing is in flight. */
static void emit_any_store(Emit *e, const Stmt *s)
{
    bool ahead = s->u.store.async && machine_has(e->k->machine, HAS_ASYNC_COPY);
    (ahead ? emit_store_async : cuda_emit_store)(e, s);
}

static void emit_call(Emit *e, const Stmt *s)
{
    int64_t most = 0;

    if (s->u.call.which != INTRIN_WAIT_ISSUED) {
        cuda_emit_call(e, s);
        return;
    }
    expr_is_int(s->u.call.arg[0], &most);
    emit_line(e, "tl_wait_loads<%lld>();", (long long)MIN(most, IN_FLIGHT_MOST));
}

static const Dialect hip_dialect = {
    .name = "HIP",
    DIALECT_C,
    .value_type = c_value_type,
    .constant = "const $t $n = ",
    .math_f32 = cuda_math_f32,
    .math_f64 = cuda_math_f64,
    .nan_f32 = "__builtin_nanf(\"\")",
    .inf_f32 = "__builtin_inff()",
    .nan_f64 = "__builtin_nan(\"\")",
    .inf_f64 = "__builtin_inf()",
    .popcount = {"__popc", "__popcll"},
    .ffs = {"__ffs", "__ffsll"},
    .fns = "__fns",
    .declare = cuda_emit_decl,
    .fail = cuda_emit_fail,
    .loop = cuda_emit_for,
    .store = emit_any_store,
    .atomic = cuda_emit_atomic,
    .call = emit_call,
    .instr = emit_instr,
    .role = cuda_emit_role,
};

/* Of two of the same name the first is taken: those of CUDA are what needs no instruction. */
static void paste(Arena *a, const TargetSpec *spec, const char *text, Str *out)
{
    static const unsigned char *const file[] = {
        device_hip_math_h,    device_hip_scalar_h,  device_hip_warp_h,     device_hip_atomic_h,
        device_hip_barrier_h, device_hip_copy_h,    device_cuda_scalar_h,  device_cuda_convert_h,
        device_cuda_atomic_h, device_cuda_warp_h,   device_cuda_wide_h,    device_cpu_convert_h,
        device_cpu_random_h,  NULL};

    str_printf(out, "#define TL_DIES %du\n", hip_dies(&spec->machine));
    device_paste(a, file, device_hip_types_h, text, out);
}

void hip_emit(Func *f, const TargetSpec *spec, Str *out)
{
    static const CudaText hip = {&hip_dialect, paste, open_kernel, 0, load_or_zero, NULL};
    cuda_emit_as(&hip, f, spec, out);
}
