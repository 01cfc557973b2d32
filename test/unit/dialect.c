/* dialect.c -- a language that is no C, as a record and a small emitter: nothing of the printer
 * knows it. */
#include "ir_world.h"
#include "target/print.h"

static const char *shade_type(DType t)
{
    return dtype_is_float(t) ? "f32" : t == DT_BOOL ? "bool" : dtype_is_unsigned(t) ? "u32" : "i32";
}

static const char *shade_storage(DType t)
{
    return dtype_bits(t) < 32 ? "u32" : shade_type(t);
}

static void shade_int(Str *out, DType t, int64_t v)
{
    if (v == INT32_MIN && !dtype_is_unsigned(t))
        str_puts(out, "(-2147483647 - 1)");
    else
        str_printf(out, dtype_is_unsigned(t) ? "%lldu" : "%lld", (long long)v);
}

static void shade_call(Emit *e, const Stmt *s)
{
    CHECK_INT(s->u.call.which, INTRIN_SYNC_THREADS);
    emit_line(e, "workgroupBarrier();");
}

static void shade_atomic(Emit *e, const Stmt *s)
{
    static const char *const name[ATOMIC_COUNT] = {
        [ATOMIC_ADD] = "Add", [ATOMIC_AND] = "And", [ATOMIC_OR] = "Or"};

    emit_bind(e, s->u.atomic.bind, NULL);
    str_printf(e->out, "atomic%s(&%s[", name[s->u.atomic.op], buffer_name(e, s->u.atomic.buf));
    emit_loose(e, s->u.atomic.at[0]);
    str_puts(e->out, "], ");
    emit_value(e, s->u.atomic.value);
    str_puts(e->out, ");\n");
}

static const char *const shade_math[MATH_COUNT] = {[MATH_EXP] = "exp", [MATH_SQRT] = "sqrt"};

static const Dialect shade = {
    .name = "Shade",
    .lacks = LACK_POINTERS | LACK_LAZY | LACK_BYTES | LACK_HALVES | LACK_I64 | LACK_UNEVEN,
    .value_type = shade_type,
    .storage_type = shade_storage,
    .constant = "let $n: $t = ",
    .variable = "var $n: $t",
    .bound_apart = true,
    .cast = "$t($0)",
    .select = "select($2, $1, $0)",
    .drop = "_ = ",
    .wraps = true,
    .strict = true,
    .truth = {"false", "true"},
    .integer = shade_int,
    .float_end = {"", ""},
    .math_f32 = shade_math,
    .call = shade_call,
    .atomic = shade_atomic,
};

static int64_t nwords(const Buffer *b)
{
    return (dtype_bytes(b->type, buffer_static_size(b)) + 3) / 4;
}

/* "var<workgroup> s: array<f32, 32>;"; elements that a word has several of are words. */
static void declare(Emit *e, const Buffer *b, const char *where, bool atomic)
{
    const char *t = shade_storage(b->type);

    if (b->scope == MEM_VAR)
        emit_line(e, "var %s: %s;", buffer_name(e, b), t);
    else
        emit_line(e, atomic ? "var%s %s: array<atomic<%s>, %lld>;" : "var%s %s: array<%s, %lld>;",
                  where, buffer_name(e, b), t, (long long)nwords(b));
}

static bool see_atomic(const Stmt *s, void *arg)
{
    if (s->kind == ST_ATOMIC)
        map_set(arg, buffer_root(s->u.atomic.buf), s);
    return true;
}

static const char *shade_text(World *w, Func *f)
{
    Kernel *k = f->kernels.at[0];
    Str out;
    Map atomic;
    Emit e = {.func = f, .k = k, .ir = w->ir, .say = &shade, .out = &out, .arena = w->arena,
              .names = names_of(w->arena)};

    str_init(&out, w->arena);
    map_init(&atomic, w->arena);
    legalise(&e);
    stmt_visit(k->body, see_atomic, &atomic);
    for (int i = 0; i < f->params.n; i++)
        declare(&e, f->params.at[i].buf, "<storage>", map_has(&atomic, f->params.at[i].buf));
    for (int i = 0; i < k->buffers.n; i++)
        if (k->buffers.at[i]->scope == MEM_SHARED && !k->buffers.at[i]->view_of)
            declare(&e, k->buffers.at[i], "<workgroup>", false);
    emit_line(&e, "fn %s(block: vec3<u32>, thread: vec3<u32>) {", k->name);
    e.indent++;
    emit_line(&e, "let %s: i32 = i32(block.x);", var_name(&e, k->block[0]));
    emit_line(&e, "let %s: i32 = i32(thread.x);", var_name(&e, k->thread[0]));
    for (int i = 0; i < k->buffers.n; i++)
        if (k->buffers.at[i]->scope != MEM_SHARED && !k->buffers.at[i]->view_of)
            declare(&e, k->buffers.at[i], "", false);
    emit_stmt(&e, k->body);
    e.indent--;
    emit_line(&e, "}");
    return out.s;
}

static const char head[] =
    "        form CHECKED NORMAL THREADS LOOPS FLAT\n"
    "        grid bx: int32 = 4\n"
    "        threads tx: int32 = 32, ty: int32 = 1, tz: int32 = 1\n"
    "        uses_threads\n";

static const char *printed(World *w, const char *params, const char *buffers, const char *body)
{
    return shade_text(w, func_of(w, arena_printf(w->arena,
                                                 "func main:\n%s    launch main_kernel:\n%s%s"
                                                 "        body:\n%s", params, head, buffers, body)));
}

TEST(loops_choices_and_barriers_without_c)
{
    World w;

    world_open(&w);
    CHECK_TEXT(printed(&w,
        "    param A: float32[100] global is_param\n"
        "    param B: float32[128] global is_param\n",
        "        buffer s: float32[32] shared\n"
        "        buffer x: float32[4] local\n"
        "        buffer n: int32[] var\n",
        "            s[tx] = load(A[bx * 32 + tx], bx * 32 + tx < 100, float32(0.0))\n"
        "            call sync_threads()\n"
        "            for i in unroll(0, 4):\n"
        "                x[i] = exp(s[(tx + i) % 32]) * float32(-2.5)\n"
        "            for j in serial(bx, tx + 1):\n"
        "                n[0] = n[0] + j * (j << (j & 3))\n"
        "            far: bool = not (tx < 16) or n[0] == -2147483648\n"
        "            while n[0] >= 3 and far:\n"
        "                n[0] = n[0] - 1\n"
        "            if far:\n"
        "                B[bx * 32 + tx] = x[tx % 4]\n"
        "            else:\n"
        "                B[bx * 32 + tx] = cast(float32, max(n[0], 1))\n"),
        "var<storage> A: array<f32, 100>;\n"
        "var<storage> B: array<f32, 128>;\n"
        "var<workgroup> s: array<f32, 32>;\n"
        "fn main_kernel(block: vec3<u32>, thread: vec3<u32>) {\n"
        "    let bx: i32 = i32(block.x);\n"
        "    let tx: i32 = i32(thread.x);\n"
        "    var x: array<f32, 4>;\n"
        "    var n: i32;\n"
        "    s[tx] = select(0.0, A[select(0, bx * 32 + tx, bx * 32 + tx < 100)], bx * 32 + tx < 100);\n"
        "    workgroupBarrier();\n"
        "    for (var i: i32 = 0; i < 4; i++) {\n"
        "        x[i] = exp(s[(tx + i) % 32]) * (-2.5);\n"
        "    }\n"
        "    {\n"
        "        let j_end: i32 = bx + (tx + 1);\n"
        "        for (var j: i32 = bx; j < j_end; j++) {\n"
        "            n = n + j * (j << u32(j & 3));\n"
        "        }\n"
        "    }\n"
        "    let far: bool = (!(tx < 16)) || n == (-2147483647 - 1);\n"
        "    while (n >= 3 && far) {\n"
        "        n = n - 1;\n"
        "    }\n"
        "    if (far) {\n"
        "        B[bx * 32 + tx] = x[tx % 4];\n"
        "    } else {\n"
        "        B[bx * 32 + tx] = f32(tl_max_i32(n, 1));\n"
        "    }\n"
        "}\n");
    world_close(&w);
}

TEST(bytes_and_wide_indices_without_c)
{
    World w;

    world_open(&w);
    CHECK_TEXT(printed(&w,
        "    param A: uint8[128] global is_param\n"
        "    param H: float16[128] global is_param\n"
        "    param B: uint8[128] global is_param\n",
        "",
        "            at: int64 = cast(int64, bx) * int64(32) + cast(int64, tx)\n"
        "            B[at] = A[at] + cast(uint8, H[at] + float16(1.0)) where tx != 3\n"),
        "var<storage> A: array<u32, 32>;\n"
        "var<storage> H: array<u32, 64>;\n"
        "var<storage> B: array<atomic<u32>, 32>;\n"
        "fn main_kernel(block: vec3<u32>, thread: vec3<u32>) {\n"
        "    let bx: i32 = i32(block.x);\n"
        "    let tx: i32 = i32(thread.x);\n"
        "    let at: i32 = bx * 32 + tx;\n"
        "    if (tx != 3) {\n"
        "        let bits: u32 = (u32((i32((A[tl_floordiv_i32(at, 4)] >> u32(tl_floormod_i32(at, 4) * 8)) & 255u) + tl_min_i32(tl_max_i32(tl_f32_to_int32(tl_round_f16(tl_f16_to_f32(u32(u32((H[tl_floordiv_i32(at, 2)] >> u32(tl_floormod_i32(at, 2) * 16)) & 65535u))) + 1.0)), 0), 255)) & 255) & 255u) << u32(tl_floormod_i32(at, 4) * 8);\n"
        "        atomicAnd(&B[tl_floordiv_i32(at, 4)], (~(255u << u32(tl_floormod_i32(at, 4) * 8))));\n"
        "        atomicOr(&B[tl_floordiv_i32(at, 4)], bits);\n"
        "    }\n"
        "}\n");
    world_close(&w);
}
