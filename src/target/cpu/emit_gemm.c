/* emit_gemm.c -- GEMMs and other instructions as calls of device/cpu/tile.h. */
#include "target/cpu/emit.h"

enum { A, B, C, PACK };

/* The two moving dimensions of an operand; a dimension of extent 1 counts only when it must. */
static void matrix_dims(const Region *r, int dim[2])
{
    int all[RANK_MOST];
    int n = region_dims(r, all);

    if (n == 2) {
        dim[0] = all[0];
        dim[1] = all[1];
        return;
    }
    dim[0] = r->buf->rank - 2;
    dim[1] = r->buf->rank - 1;
}

static const Expr *stride_of(Emit *e, const Buffer *b, int d)
{
    Ir *ir = e->ir;

    if (b->stride)
        return b->stride[d];
    const Layout *l = b->scope == MEM_GLOBAL ? NULL : buffer_plan(e->k, b)->layout;
    if (l) {
        int64_t at[RANK_MOST] = {0};
        int64_t zero = layout_eval(l, at);
        if (l->extent[d] < 2)
            return expr_int(ir, 0);
        at[d] = 1;
        return expr_int(ir, layout_eval(l, at) - zero);
    }
    const Expr *r = expr_const(ir, DT_I64, 1);
    for (int i = d + 1; i < b->rank; i++)
        r = expr_mul(ir, r, expr_cast(ir, DT_I64, b->shape[i]));
    return r;
}

static void emit_pointer(Emit *e, const Region *r)
{
    Ir *ir = e->ir;
    const Expr *at = expr_const(ir, DT_I64, 0);

    for (int d = 0; d < r->buf->rank; d++)
        at = expr_add(ir, at, expr_mul(ir, expr_cast(ir, DT_I64, r->at[d]),
                                       expr_cast(ir, DT_I64, stride_of(e, r->buf, d))));
    str_printf(e->out, "&%s[", buffer_name(e, r->buf));
    emit_loose(e, simplify(ir, e->facts, at));
    str_putc(e->out, ']');
}

/* Valid part of dimension d: what of the region lies inside its tensor. */
static const Expr *valid_extent(Emit *e, const Region *r, int d)
{
    Ir *ir = e->ir;

    if (r->buf->scope != MEM_GLOBAL)
        return r->extent[d];
    const Expr *left = expr_sub(ir, r->buf->shape[d], r->at[d]);
    return simplify(ir, e->facts, expr_max(ir, expr_min(ir, r->extent[d], left), expr_int(ir, 0)));
}

/* The word gemm.h, pack.h and convert.h know a type by. */
static const char *pack_word(DType t)
{
    switch (t) {
    case DT_F32: case DT_TF32: return "f32";
    case DT_F64: return "f64";
    case DT_F16: return "f16";
    case DT_BF16: return "bf16";
    case DT_E4M3: return "e4m3fn";
    case DT_E4M3FNUZ: return "e4m3fnuz";
    case DT_E5M2: return "e5m2";
    case DT_E5M2FNUZ: return "e5m2fnuz";
    case DT_I8: return "i16_s8";
    case DT_U8: return "i16_u8";
    default: return NULL;
    }
}

bool cpu_can_pack(DType t)
{
    return pack_word(t) != NULL;
}

static bool is_narrow(DType c)
{
    return c != DT_F32 && c != DT_TF32 && c != DT_F64 && c != DT_I32;
}

/* Tile registers where there are some, else dot products of vectors, else wider elements. */
static void declare_dots(Emit *e, const char *name, bool bytes)
{
    Str *o = &e->decls;
    const char *elem = bytes ? "int8_t" : "uint16_t", *acc = bytes ? "int32_t" : "float";
    const char *sfx = bytes ? "s8" : "bf16", *pack = bytes ? "s8" : "bf16x2";
    const char *dots =
        bytes ? "TL_TILE_BYTES(%s%s, s8, int8_t, 4, s8, int8_t, s8, int8_t)\n"
              : "TL_TILE_GROUPS(%s%s, bf16, float, uint16_t, 2, 1, bf16x2, uint16_t, bf16x2, "
                "uint16_t)\n";

    cpu_of(e)->part[PART_AMX] = true;
    str_printf(o, "#ifdef TL_AMX\nTL_TILE_AMX(%s_amx, %s, %s, %s, %d, %s, %s)\n", name, sfx, acc,
               elem, bytes ? 4 : 2, pack, bytes ? "s8x4" : pack);
    str_printf(o, dots, name, "_dot");
    str_printf(o, "TL_TILE_EITHER(%s, %s, %s)\n", name, elem, acc);
    str_printf(o, "#elif defined(%s)\n", bytes ? "TL_HAS_S8_DOT" : "TL_HAS_BF16_DOT");
    str_printf(o, dots, name, "");
    if (bytes)
        str_printf(o, "#else\nTL_TILE_BYTES(%s, i16, TlWide, TL_WIDE_GROUP, i16_s8, int8_t, "
                      "i16_s8, int8_t)\n#endif\n", name);
    else
        str_printf(o, "#else\nTL_TILE(%s, f32, float, TL_NRF, bf16, uint16_t, 0, bf16, uint16_t)\n"
                      "#endif\n", name);
}

/* On aarch64: by two rows and two columns where the level has that. */
static void declare_pairs(Emit *e, const char *name, bool bytes)
{
    cpu_of(e)->part[PART_MMLA] = true;
    str_printf(&e->decls, "TL_TILE_PAIRS(%s, %s)\n", name,
               bytes ? "s8, int8_t, int32_t" : "bf16, uint16_t, float");
}

static void declare(Emit *e, const char *name, DType a, DType b, DType c)
{
    const char *ta = c_storage_type(a), *tb = c_storage_type(b);
    bool bytes = c == DT_I32 && a == DT_I8 && b == DT_I8;

    if (cpu_level(e->spec)->mmla && (bytes || (c == DT_F32 && a == DT_BF16 && b == DT_BF16)))
        declare_pairs(e, name, bytes);
    else if (bytes)
        declare_dots(e, name, true);
    else if (c == DT_I32)
        str_printf(&e->decls, "TL_TILE_BYTES(%s, i16, TlWide, TL_WIDE_GROUP, %s, %s, %s, %s)\n",
                   name, pack_word(a), ta, pack_word(b), tb);
    else if (c == DT_F32 && a == DT_BF16 && b == DT_BF16)
        declare_dots(e, name, false);
    else if (c == DT_F64)
        str_printf(&e->decls, "TL_TILE(%s, f64, double, TL_NRD, f64, double, 1, f64, double)\n",
                   name);
    else
        str_printf(&e->decls, "TL_TILE(%s, f32, float, TL_NRF, %s, %s, %d, %s, %s)\n", name,
                   pack_word(a), ta, a == DT_F32 || a == DT_TF32, pack_word(b), tb);
}

/* The routine for these operand types, declared in front of the kernels at its first use. */
static const char *routine(Emit *e, DType a, DType b, DType c)
{
    Arena *m = e->arena;
    DType acc = is_narrow(c) ? DT_F32 : c;
    char *name = arena_printf(m, "tl_tile_%s_%s_%s", dtype_name(a), dtype_name(b), dtype_name(acc));

    cpu_of(e)->part[PART_GEMM] = true;
    if (!map_has(&e->routines, name)) {
        map_set(&e->routines, name, name);
        declare(e, name, a, b, acc);
    }
    if (!is_narrow(c))
        return name;
    char *narrow = arena_printf(m, "%s_%s", name, dtype_name(c));
    if (!map_has(&e->routines, narrow)) {
        map_set(&e->routines, narrow, narrow);
        str_printf(&e->decls, "TL_TILE_NARROW(%s, %s, %s, %s, %s, %s)\n", narrow, name,
                   c_storage_type(a), c_storage_type(b), c_storage_type(c), pack_word(c));
    }
    return narrow;
}

static void emit_arg(Emit *e, const Expr *x)
{
    str_puts(e->out, ", ");
    emit_loose(e, x);
}

/* clear_accum: zero C first, when the condition holds. */
static void emit_clear(Emit *e, const Region *c, const int *dim, const Expr *when)
{
    const char *name = buffer_name(e, c->buf);

    emit_indent(e);
    str_puts(e->out, "if ");
    emit_parens(e, when);
    str_puts(e->out, " {\n");
    e->indent++;
    emit_indent(e);
    str_printf(e->out, "%s *tl_c = ", c_storage_type(c->buf->type));
    emit_pointer(e, c);
    str_puts(e->out, ";\n");
    emit_indent(e);
    str_puts(e->out, "for (long tl_i = 0; tl_i < ");
    emit_index(e, valid_extent(e, c, dim[0]));
    str_puts(e->out, "; tl_i++) for (long tl_j = 0; tl_j < ");
    emit_index(e, valid_extent(e, c, dim[1]));
    str_puts(e->out, "; tl_j++) tl_c[tl_i * ");
    emit_index(e, stride_of(e, c->buf, dim[0]));
    str_puts(e->out, " + tl_j] = 0;\n");
    e->indent--;
    emit_line(e, "} /* %s */", name);
}

static void emit_gemm(Emit *e, const Stmt *s)
{
    const Region *r = s->u.instr.region;
    Ir *ir = e->ir;
    int64_t ta = 0, tb = 0, size = 0;
    int da[2], db[2], dc[2];
    DType tc = r[C].buf->type;

    cpu_of(e)->amx |= tile_plan(e->k, s)->how == &cpu_amx;
    expr_is_int(s->u.instr.arg[0], &ta);
    expr_is_int(s->u.instr.arg[1], &tb);
    matrix_dims(&r[A], da);
    matrix_dims(&r[B], db);
    matrix_dims(&r[C], dc);
    const Expr *height = valid_extent(e, &r[C], dc[0]), *width = valid_extent(e, &r[C], dc[1]);
    const Expr *m = expr_min(ir, valid_extent(e, &r[A], da[ta ? 1 : 0]), height);
    const Expr *n = expr_min(ir, valid_extent(e, &r[B], db[tb ? 0 : 1]), width);
    const Expr *k = expr_min(ir, valid_extent(e, &r[A], da[ta ? 0 : 1]),
                             valid_extent(e, &r[B], db[tb ? 1 : 0]));

    m = simplify(ir, e->facts, m);
    n = simplify(ir, e->facts, n);
    /* Where the GEMM covers C, clearing it first is the same as overwriting it. */
    const Expr *clear = s->u.instr.arg[2];
    bool covers = m == simplify(ir, e->facts, height) && n == simplify(ir, e->facts, width);
    if (!expr_is_zero(clear) && !covers)
        emit_clear(e, &r[C], dc, clear);
    const char *fn = routine(e, r[A].buf->type, r[B].buf->type, tc);
    emit_indent(e);
    str_printf(e->out, "%s(", fn);
    emit_loose(e, m);
    emit_arg(e, n);
    emit_arg(e, simplify(ir, e->facts, k));
    str_puts(e->out, ", ");
    emit_pointer(e, &r[A]);
    emit_arg(e, stride_of(e, r[A].buf, da[ta ? 1 : 0]));
    emit_arg(e, stride_of(e, r[A].buf, da[ta ? 0 : 1]));
    str_puts(e->out, ", ");
    emit_pointer(e, &r[B]);
    emit_arg(e, stride_of(e, r[B].buf, db[tb ? 1 : 0]));
    emit_arg(e, stride_of(e, r[B].buf, db[tb ? 0 : 1]));
    str_puts(e->out, ", ");
    emit_pointer(e, &r[C]);
    emit_arg(e, stride_of(e, r[C].buf, dc[0]));
    emit_arg(e, covers ? expr_unary(ir, EX_NOT, clear) : expr_bool(ir, true));
    emit_arg(e, tb ? expr_bool(ir, false) : s->u.instr.arg[3]);
    str_printf(e->out, ", (char *)%s", buffer_name(e, r[PACK].buf));
    if (is_narrow(tc)) {
        expr_is_int(r[PACK].buf->shape[0], &size);
        int64_t rows = region_extent_int(&r[C], dc[0]), cols = region_extent_int(&r[C], dc[1]);
        str_printf(
            e->out, ", %lld",
            (long long)((size - ((rows + 15) / 16 * 16) * ((cols + 63) / 64 * 64) * 4) / 64 * 64));
    }
    str_puts(e->out, ");\n");
}

void emit_instr(Emit *e, const Stmt *s)
{
    BUG(s->u.instr.isa->id != ISA_CPU_GEMM, "no C for instruction %s", s->u.instr.isa->name);
    emit_gemm(e, s);
}
