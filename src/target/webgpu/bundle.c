/* bundle.c -- a kernel for the web: kernel.wgsl, an ES module that runs it, its types, and a page.
 *
 * The module is a table of what the kernel takes, its host part as JavaScript, and module.mjs,
 * which does the rest; the page (page.html) asks the module and is the same for all kernels. */
#include "target/webgpu/webgpu.h"
#include "device_webgpu.h"

typedef struct {
    const TargetBundle *b;
    Func *f;
    Arena *a;
    NameTable *names;
    Str *out;
    int indent;
} Script;

/* ---- expressions of the host ----------------------------------------------------------------- */

static void put_expr(Script *s, const Expr *x);

static bool is_given(const Func *f, const Var *v)
{
    for (int i = 0; i < f->dims.n; i++)
        if (f->dims.at[i] == v)
            return true;
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].var == v)
            return true;
    return false;
}

static const char *given_name(const Script *s, const Var *v)
{
    for (int i = 0; i < s->f->params.n; i++)
        if (s->f->params.at[i].var == v)
            return s->f->params.at[i].name;
    return v->name;
}

static void put_call(Script *s, const char *fn, const Expr *x)
{
    str_printf(s->out, "%s(", fn);
    for (int i = 0; i < x->nkid; i++) {
        str_puts(s->out, i ? ", " : "");
        put_expr(s, x->kid[i]);
    }
    str_putc(s->out, ')');
}

static const char *const infix[EX_COUNT] = {
    [EX_ADD] = "+", [EX_SUB] = "-", [EX_MUL] = "*", [EX_EQ] = "===", [EX_NE] = "!==",
    [EX_LT] = "<",  [EX_LE] = "<=", [EX_GT] = ">",  [EX_GE] = ">=",  [EX_AND] = "&&",
    [EX_OR] = "||",
};
static const char *const prefix[EX_COUNT] = {
    [EX_FLOORDIV] = "floordiv", [EX_FLOORMOD] = "floormod", [EX_TRUNCDIV] = "truncdiv",
    [EX_TRUNCMOD] = "truncmod", [EX_MIN] = "Math.min",      [EX_MAX] = "Math.max",
    [EX_NEG] = "-",             [EX_NOT] = "!",
};

static void put_expr(Script *s, const Expr *x)
{
    if (infix[x->op]) {
        str_putc(s->out, '(');
        put_expr(s, x->kid[0]);
        str_printf(s->out, " %s ", infix[x->op]);
        put_expr(s, x->kid[1]);
        str_putc(s->out, ')');
    } else if (prefix[x->op]) {
        put_call(s, prefix[x->op], x);
    } else if (x->op == EX_INT) {
        str_printf(s->out, "%lld", (long long)x->u.i);
    } else if (x->op == EX_FLOAT) {
        str_printf(s->out, "%.17g", x->u.f);
    } else if (x->op == EX_VAR) {
        bool given = is_given(s->f, x->u.var);
        str_printf(s->out, "%s%s", given ? "v." : "",
                   given ? given_name(s, x->u.var) : name_for(s->names, x->u.var, x->u.var->name));
    } else if (x->op == EX_SELECT || x->op == EX_IF) {
        str_putc(s->out, '(');
        put_expr(s, x->kid[0]);
        str_puts(s->out, " ? ");
        put_expr(s, x->kid[1]);
        str_puts(s->out, " : ");
        put_expr(s, x->kid[2]);
        str_putc(s->out, ')');
    } else if (x->op == EX_CAST) {
        put_expr(s, x->kid[0]);
    } else {
        diag_fail(s->f->diag, s->f->span, "the host part of '%s' has an expression that is not in "
                  "JavaScript [unsupported-here]", s->f->name);
    }
}

/* ---- statements of the host ------------------------------------------------------------------ */

static void line(Script *s, const char *text)
{
    str_indent(s->out, s->indent * 4);
    str_puts(s->out, text);
}

static void put_launch(Script *s, const Kernel *k)
{
    bool first = true;

    line(s, "");
    str_printf(s->out, "list.push({kernel: \"%s\", grid: [", k->launch.symbol);
    for (int d = 0; d < 3; d++) {
        str_puts(s->out, d ? ", " : "");
        d < k->ngrid ? put_expr(s, k->grid[d]) : str_putc(s->out, '1');
    }
    str_puts(s->out, "], scalars: [");
    for (int i = 0; i < k->launch.args.n; i++) {
        Var *v = k->launch.args.at[i].var;
        if (!v)
            continue;
        str_puts(s->out, first ? "" : ", ");
        put_expr(s, expr_var(s->f->ir, v));
        first = false;
    }
    str_puts(s->out, "]});\n");
}

static void put_stmt(Script *s, const Stmt *t);

static void put_block(Script *s, const Stmt *t)
{
    str_puts(s->out, " {\n");
    s->indent++;
    put_stmt(s, t);
    s->indent--;
    line(s, "}\n");
}

static void put_for(Script *s, const Stmt *t)
{
    const char *v = name_for(s->names, t->u.loop.var, t->u.loop.var->name);

    line(s, "");
    str_printf(s->out, "for (let %s = ", v);
    put_expr(s, t->u.loop.min);
    str_puts(s->out, ", n = ");
    put_expr(s, t->u.loop.extent);
    str_printf(s->out, " + %s; %s < n; %s++)", v, v, v);
    put_block(s, t->u.loop.body);
}

static void put_stmt(Script *s, const Stmt *t)
{
    if (!t)
        return;
    switch (t->kind) {
    case ST_BLOCK:
        for (int i = 0; i < t->u.block.n; i++)
            put_stmt(s, t->u.block.list[i]);
        break;
    case ST_LAUNCH:
        put_launch(s, t->u.launch.kernel);
        break;
    case ST_LET:
        line(s, "const ");
        str_printf(s->out, "%s = ", name_for(s->names, t->u.let.var, t->u.let.var->name));
        put_expr(s, t->u.let.value);
        str_puts(s->out, ";\n");
        break;
    case ST_IF:
        line(s, "if (");
        put_expr(s, t->u.branch.cond);
        str_putc(s->out, ')');
        put_block(s, t->u.branch.then);
        if (!stmt_is_empty(t->u.branch.orelse)) {
            line(s, "else");
            put_block(s, t->u.branch.orelse);
        }
        break;
    case ST_ASSERT:
        line(s, "if (!(");
        put_expr(s, t->u.check.cond);
        str_puts(s->out, ")) throw new Error(");
        emit_quoted(s->out, t->u.check.text ? t->u.check.text : "assertion failed");
        str_puts(s->out, ");\n");
        break;
    case ST_FOR:
        put_for(s, t);
        break;
    default:
        diag_fail(s->f->diag, t->span, "this statement is not in JavaScript [unsupported-here]");
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Floats that JavaScript has no array of are their bits. */
static const char *array_type(DType t)
{
    static const char *const signed_of[] = {"Int8Array", "Int16Array", "Int32Array",
                                            "BigInt64Array"};
    static const char *const bits_of[] = {"Uint8Array", "Uint16Array", "Uint32Array",
                                          "BigUint64Array"};
    int bits = dtype_bits(t), at = bits == 64 ? 3 : bits == 32 ? 2 : bits == 16;

    if (t == DT_F32 || t == DT_TF32)
        return "Float32Array";
    bool is_signed = dtype_is_int(t) && !dtype_is_unsigned(t) && t != DT_BOOL && bits >= 8;
    return (is_signed ? signed_of : bits_of)[at];
}

static void put_shape(Script *s, const Buffer *b)
{
    str_puts(s->out, "(v) => [");
    for (int d = 0; d < b->rank; d++) {
        str_puts(s->out, d ? ", " : "");
        put_expr(s, b->shape[d]);
    }
    str_putc(s->out, ']');
}

/* The place of a tensor, as every kernel that uses it says; 0: none does. */
static int slot_of(const Func *f, const Buffer *b)
{
    for (int i = 0; i < f->kernels.n; i++)
        for (int j = 0; j < f->kernels.at[i]->launch.args.n; j++)
            if (f->kernels.at[i]->launch.args.at[j].buf == b)
                return f->kernels.at[i]->launch.args.at[j].slot;
    return 0;
}

static void put_tensors(Script *s)
{
    str_puts(s->out, "export const tensors = [\n");
    for (int i = 0; i < s->f->params.n; i++) {
        const Param *p = &s->f->params.at[i];
        if (!p->buf)
            continue;
        str_printf(s->out, "    {name: \"%s\", dtype: \"%s\", bits: %d, array: %s, reads: %s, "
                   "writes: %s, binding: %d, shape: ", p->name, dtype_name(p->buf->type),
                   dtype_bits(p->buf->type), array_type(p->buf->type),
                   s->b->use[i] & 1 ? "true" : "false", s->b->use[i] & 2 ? "true" : "false",
                   slot_of(s->f, p->buf));
        put_shape(s, p->buf);
        str_puts(s->out, "},\n");
    }
    str_puts(s->out, "];\nconst temporaries = [\n");
    for (int i = 0; i < s->f->workspaces.n; i++) {
        const Buffer *b = s->f->workspaces.at[i];
        str_printf(s->out, "    {bits: %d, binding: %d, shape: ", dtype_bits(b->type),
                   slot_of(s->f, b));
        put_shape(s, b);
        str_puts(s->out, "},\n");
    }
    str_puts(s->out, "];\n");
}

static void put_numbers(Script *s)
{
    bool first = true;

    str_puts(s->out, "/* What a call gives beside its tensors. */\nexport const numbers = [");
    for (int i = 0; i < s->f->dims.n; i++) {
        str_printf(s->out, "%s\"%s\"", first ? "" : ", ", given_name(s, s->f->dims.at[i]));
        first = false;
    }
    for (int i = 0; i < s->f->params.n; i++) {
        Var *v = s->f->params.at[i].var;
        bool dim = false;
        for (int d = 0; d < s->f->dims.n; d++)
            dim |= s->f->dims.at[d] == v;
        if (v && !dim) {
            str_printf(s->out, "%s\"%s\"", first ? "" : ", ", s->f->params.at[i].name);
            first = false;
        }
    }
    str_puts(s->out, "];\n");
}

static void put_kernels(Script *s)
{
    str_puts(s->out, "const kernels = {\n");
    for (int i = 0; i < s->f->kernels.n; i++) {
        const Kernel *k = s->f->kernels.at[i];
        str_printf(s->out, "    %s: {scalars: [", k->launch.symbol);
        bool first = true;
        for (int j = 0; j < k->launch.args.n; j++) {
            const Var *v = k->launch.args.at[j].var;
            if (!v)
                continue;
            str_printf(s->out, "%s\"%s\"", first ? "" : ", ",
                       dtype_bits(v->type) == 64 ? "i64"
                       : v->type == DT_BOOL      ? "u32"
                                                 : wgsl_value_type(v->type));
            first = false;
        }
        if (wgsl_has_first(k))
            str_printf(s->out, "%s\"u32\"", first ? "" : ", ");
        str_puts(s->out, "], bindings: [");
        first = true;
        for (int j = 0; j < k->launch.args.n; j++) {
            const KernelArg *a = &k->launch.args.at[j];
            if (!a->buf)
                continue;
            str_printf(s->out, "%s[%d, %s]", first ? "" : ", ", a->slot,
                       a->written ? "true" : "false");
            first = false;
        }
        str_printf(s->out, "]%s},\n", wgsl_has_first(k) ? ", first: true" : "");
    }
    str_puts(s->out, "};\n");
}

/* What a device must have, where that is more than every device has. */
static void put_limits(Script *s)
{
    int64_t bytes = WORKGROUP_BYTES, threads = WORKGROUP_THREADS, buffers = 8;
    int says = (strstr(s->b->text, "> tl_failed:") != NULL) +
               (strstr(s->b->text, "> tl_printed:") != NULL);

    for (int i = 0; i < s->f->kernels.n; i++) {
        const Kernel *k = s->f->kernels.at[i];
        int64_t n = 0;
        for (int j = 0; j < k->launch.args.n; j++)
            n += k->launch.args.at[j].buf != NULL;
        bytes = MAX(bytes, k->launch.shared_bytes);
        threads = MAX(threads, kernel_launch_threads(k));
        buffers = MAX(buffers, n + says);
    }
    str_printf(s->out, "const limits = {maxComputeWorkgroupStorageSize: %lld, "
               "maxComputeInvocationsPerWorkgroup: %lld, maxComputeWorkgroupSizeX: %lld, "
               "maxStorageBuffersPerShaderStage: %lld};\n", (long long)bytes, (long long)threads,
               (long long)threads, (long long)buffers);
    bool half = s->b->spec->half_type;
    int lanes = s->b->spec->machine.lanes;
    str_printf(s->out, "const features = [%s%s%s];\nconst subgroup = %d;\n",
               half ? "\"shader-f16\"" : "", half && lanes > 1 ? ", " : "",
               lanes > 1 ? "\"subgroups\"" : "", lanes > 1 ? lanes : 0);
}

static void put_module(Script *s)
{
    str_printf(s->out, "// %s, made by tilelang for %s: run({tensors, numbers}) gives what it "
               "writes.\nexport const name = \"%s\";\n", s->b->name, s->b->spec->text, s->b->name);
    put_tensors(s);
    put_numbers(s);
    put_kernels(s);
    put_limits(s);
    str_puts(s->out, "\nfunction launches(v) {\n    const list = [];\n");
    s->indent = 1;
    put_stmt(s, s->f->body);
    for (int i = 0; !s->f->body && i < s->f->kernels.n; i++)
        put_launch(s, s->f->kernels.at[i]);
    str_puts(s->out, "    return list;\n}\n\n");
    str_puts(s->out, (const char *)device_webgpu_module_mjs);
}

static void put_types(Script *s)
{
    const Func *f = s->f;

    str_printf(s->out, "// %s, made by tilelang: types of kernel.mjs.\n"
               "export interface Arguments {\n", s->b->name);
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].buf)
            str_printf(s->out, "    %s%s: %s;\n", f->params.at[i].name,
                       s->b->use[i] & 1 ? "" : "?", array_type(f->params.at[i].buf->type));
        else
            str_printf(s->out, "    %s: %s;\n", f->params.at[i].name,
                       dtype_bits(f->params.at[i].var->type) == 64 ? "number | bigint" : "number");
    for (int i = 0; i < f->dims.n; i++)
        if (!strcmp(given_name(s, f->dims.at[i]), f->dims.at[i]->name))
            str_printf(s->out, "    %s: number;\n", f->dims.at[i]->name);
    str_puts(s->out, "}\nexport interface Results {\n");
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].buf && s->b->use[i] & 2)
            str_printf(s->out, "    %s: %s;\n", f->params.at[i].name,
                       array_type(f->params.at[i].buf->type));
    str_puts(s->out, "}\n/** The best device of this machine that has what the kernel needs. */\n"
             "export function open(): Promise<GPUDevice>;\n"
             "/** Copies the tensors there, runs the kernel, copies what it writes back. */\n"
             "export function run(args: Arguments, device?: GPUDevice): Promise<Results>;\n"
             "/** Milliseconds of each of `times` runs without copies; fewer if they are long, and "
             "means of several where they are short. */\n"
             "export function time(args: Arguments, times: number, device?: GPUDevice): "
             "Promise<number[]>;\n");
}

static void put_file(const TargetBundle *b, const char *name, void (*fill)(Script *))
{
    Func *f = b->func;
    Str text;
    Script s = {.b = b, .f = f, .a = b->arena, .names = names_of(b->arena), .out = &text};

    str_init(&text, b->arena);
    name_reserve(s.names, "v");
    name_reserve(s.names, "n");
    name_reserve(s.names, "list");
    fill(&s);
    b->put(b->arg, name, text.s, text.n);
}

void webgpu_bundle(const TargetBundle *b)
{
    b->put(b->arg, "kernel.wgsl", b->text, strlen(b->text));
    put_file(b, "kernel.mjs", put_module);
    put_file(b, "kernel.d.ts", put_types);
    b->put(b->arg, "index.html", (const char *)device_webgpu_page_html,
           strlen((const char *)device_webgpu_page_html));
}
