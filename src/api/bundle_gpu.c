/* bundle_gpu.c -- a kernel for GPUs to ship.
 *
 *     NAME.h, NAME.c             one function: device addresses, dimensions, a stream; it holds the
 *                                code and finds the driver by dlopen
 *     NAME.cu, NAME.ptx, NAME.cubin   the code by itself
 *     manifest.json              what each launch hands over, for other languages
 *
 * Neither this library nor a header of NVIDIA's is needed to build or run it. */
#include "api/api.h"
#include "device_cpu.h"

/* ---- manifest.json --------------------------------------------------------------------------- */

static const char *expr_text(Arena *a, const Expr *e)
{
    Str s;
    str_init(&s, a);
    print_expr(&s, e);
    return s.s;
}

/* What cuTensorMapEncodeTiled is called with; dimension 0 is the contiguous one. */
static void put_map(Json *j, Arena *a, const TensorMap *m)
{
    json_array(j, "dims");
    for (int d = 0; d < m->rank; d++)
        json_string(j, NULL, expr_text(a, m->dim[d]));
    json_end(j, ']');
    json_array(j, "strides");
    for (int d = 1; d < m->rank; d++)
        json_string(j, NULL, expr_text(a, m->stride[d]));
    json_end(j, ']');
    json_array(j, "box");
    for (int d = 0; d < m->rank; d++)
        json_int(j, NULL, m->box[d]);
    json_end(j, ']');
    json_int(j, "swizzle", m->swizzle);
    if (m->im2col) {
        json_array(j, "im2col");
        json_int(j, NULL, m->lower);
        json_int(j, NULL, m->upper);
        json_int(j, NULL, m->step);
        json_end(j, ']');
    }
}

/* Everything a launch needs: grid over dims and scalars, block, shared bytes, parameters in
 * order. */
static void put_launch(Json *j, Arena *a, const Kernel *n)
{
    json_object(j, NULL);
    json_string(j, "symbol", n->launch.symbol);
    if (n->assume && !expr_is_const(n->assume)) /* else NAME_any is launched */
        json_string(j, "where", expr_text(a, n->assume));
    json_array(j, "grid");
    for (int d = 0; d < n->ngrid; d++)
        json_string(j, NULL, expr_text(a, n->grid[d]));
    json_end(j, ']');
    json_array(j, "block");
    for (int d = 0; d < 3; d++)
        json_int(j, NULL, MAX(n->threads[d], 1) + (d ? 0 : n->extra_threads));
    json_end(j, ']');
    json_int(j, "shared_bytes", n->launch.shared_bytes);
    json_bool(j, "cooperative", n->launch.together);
    json_bool(j, "programmatic", n->launch.pdl);
    json_array(j, "cluster");
    for (int d = 0; d < 3; d++)
        json_int(j, NULL, MAX(n->cluster[d], 1));
    json_end(j, ']');
    json_array(j, "arguments");
    for (int i = 0; i < n->launch.args.n; i++) {
        const KernelArg *g = &n->launch.args.at[i];
        json_object(j, NULL);
        const Buffer *b = g->map ? g->map->buf : g->buf;
        json_string(j, "name", b ? b->name : g->var ? g->var->name : "grid state");
        json_string(j, "kind",
                    g->map   ? "tensor map"
                    : g->buf ? g->buf->is_param ? "tensor" : "workspace"
                    : g->var ? "value"
                             : "grid state");
        json_string(j, "dtype",
                    b        ? dtype_name(b->type)
                    : g->var ? dtype_name(g->var->type)
                             : "uint32");
        if (g->map)
            put_map(j, a, g->map);
        json_end(j, '}');
    }
    json_end(j, ']');
    json_end(j, '}');
}

static void put_file(Arena *a, const char *dir, const char *name, const void *data, size_t n)
{
    const char *why = "";
    Status s = file_write(a, path_join(a, dir, name), data, n, &why);
    if (s != STATUS_OK)
        recover_throw(s, "%s", why);
}


static void write_manifest(tl_kernel *k, Arena *a, const char *dir)
{
    Func *f = k->build.func;
    Str text;
    Json j;

    str_init(&text, a);
    json_open(&j, &text);
    json_object(&j, NULL);
    json_string(&j, "name", kernel_name(k));
    json_string(&j, "target", k->request.spec.text);
    json_array(&j, "kernels");
    for (int i = 0; i < f->kernels.n; i++)
        put_launch(&j, a, f->kernels.at[i]);
    json_end(&j, ']');
    json_end(&j, '}');
    str_putc(&text, '\n');
    put_file(a, dir, "manifest.json", text.s, text.n);
}

/* ---- NAME.c: expressions --------------------------------------------------------------------- */

typedef struct {
    tl_kernel *k;
    Func *f;
    Arena *a;
    Str *out;
    int indent;
} HostText;

/* Everything is int64_t on the host. */
static const struct {
    ExprOp op;
    const char *before, *between, *after;
} host_table[] = {
    {EX_ADD, "(", " + ", ")"},      {EX_SUB, "(", " - ", ")"},         {EX_MUL, "(", " * ", ")"},
    {EX_EQ, "(", " == ", ")"},      {EX_NE, "(", " != ", ")"},         {EX_LT, "(", " < ", ")"},
    {EX_LE, "(", " <= ", ")"},      {EX_GT, "(", " > ", ")"},          {EX_GE, "(", " >= ", ")"},
    {EX_AND, "(", " && ", ")"},     {EX_OR, "(", " || ", ")"},         {EX_BITAND, "(", " & ", ")"},
    {EX_BITOR, "(", " | ", ")"},    {EX_BITXOR, "(", " ^ ", ")"},      {EX_SHL, "(", " << ", ")"},
    {EX_SHR, "(", " >> ", ")"},     {EX_TRUNCDIV, "(", " / ", ")"},
    {EX_TRUNCMOD, "(", " % ", ")"},
    {EX_FLOORDIV, "tl_div(", ", ", ")"}, {EX_FLOORMOD, "tl_mod(", ", ", ")"},
    {EX_MIN, "tl_min(", ", ", ")"}, {EX_MAX, "tl_max(", ", ", ")"},    {EX_NEG, "(-", "", ")"},
    {EX_NOT, "(!", "", ")"},        {EX_BITNOT, "(~", "", ")"},
};

static void put_expr(HostText *h, const Expr *e)
{
    for (int i = 0; i < COUNT(host_table); i++)
        if (host_table[i].op == (ExprOp)e->op) {
            str_puts(h->out, host_table[i].before);
            for (int j = 0; j < e->nkid; j++) {
                str_puts(h->out, j ? host_table[i].between : "");
                put_expr(h, e->kid[j]);
            }
            str_puts(h->out, host_table[i].after);
            return;
        }
    switch ((ExprOp)e->op) {
    case EX_INT:
        str_printf(h->out, "INT64_C(%lld)", (long long)e->u.i);
        return;
    case EX_VAR:
        str_printf(h->out, "v%d", e->u.var->id);
        return;
    case EX_CAST:
        str_printf(h->out, "(int64_t)(%s)", dtype_table[e->type].ctype);
        put_expr(h, e->kid[0]);
        return;
    case EX_SELECT:
    case EX_IF:
        str_putc(h->out, '(');
        put_expr(h, e->kid[0]);
        str_puts(h->out, " ? ");
        put_expr(h, e->kid[1]);
        str_puts(h->out, " : ");
        put_expr(h, e->kid[2]);
        str_putc(h->out, ')');
        return;
    default:
        recover_throw(STATUS_TARGET, "'%s': the host part computes what a bundle for GPUs cannot: "
                      "%s [bundle-target]", h->f->name, expr_text(h->a, e));
    }
}

PRINTF(2, 3) static void put_line(HostText *h, const char *fmt, ...)
{
    va_list ap;

    str_indent(h->out, h->indent * 4);
    va_start(ap, fmt);
    str_puts(h->out, arena_vprintf(h->a, fmt, ap));
    va_end(ap);
    str_putc(h->out, '\n');
}

static const char *host_expr(HostText *h, const Expr *e)
{
    Str s, *out = h->out;

    str_init(&s, h->a);
    h->out = &s;
    put_expr(h, e);
    h->out = out;
    return s.s;
}

/* ---- NAME.c: launches ------------------------------------------------------------------------ */

/* The address of a tensor or temporary, as C. */
static const char *address_text(HostText *h, const Buffer *b)
{
    b = buffer_root(b);
    for (int i = 0; i < h->f->params.n; i++)
        if (h->f->params.at[i].buf == b)
            return arena_printf(h->a, "(void *)%s", bundle_c_name(h->a, h->f->params.at[i].name));
    for (int i = 0; i < h->f->workspaces.n; i++)
        if (h->f->workspaces.at[i] == b)
            return arena_printf(h->a, "(void *)(uintptr_t)tl_cu.work[%d]", i);
    BUG(true, "'%s' is no parameter", b->name);
}

static void put_list(HostText *h, const char *name, const Expr *const *e, int n, int room)
{
    Str s;

    str_init(&s, h->a);
    for (int d = 0; d < room; d++)
        str_printf(&s, "%s%s", d ? ", " : "", d < n && e[d] ? host_expr(h, e[d]) : "1");
    put_line(h, "const int64_t %s[] = {%s};", name, s.s);
}

static void put_tensor_map(HostText *h, const TensorMap *m, int i)
{
    Str box;

    str_init(&box, h->a);
    for (int d = 0; d < m->rank; d++)
        str_printf(&box, "%s%d", d ? ", " : "", m->box[d]);
    put_list(h, arena_printf(h->a, "dim%d", i), m->dim, m->rank, m->rank);
    put_list(h, arena_printf(h->a, "stride%d", i), m->stride, m->rank, m->rank);
    put_line(h, "static const int box%d[] = {%s};", i, box.s);
    put_line(h, "tl_tensor_map a%d;", i);
    if (m->im2col)
        put_line(h, "static const int walk%d[] = {%d, %d, %d};", i, m->lower, m->upper, m->step);
    put_line(h, "if (tl_map(&a%d, \"%s\", %s, %d, %d, %d, dim%d, stride%d, box%d, %d, %s))", i,
             buffer_root(m->buf)->name, address_text(h, m->buf), tensor_map_type(m->buf->type),
             dtype_bits(m->buf->type), m->rank, i, i, i,
             m->swizzle == 128 ? 3 : m->swizzle == 64 ? 2 : m->swizzle == 32 ? 1 : 0,
             m->im2col ? arena_printf(h->a, "walk%d", i) : "NULL");
    put_line(h, "    return 1;");
}

static void put_argument(HostText *h, const KernelArg *g, int i)
{
    if (g->map)
        put_tensor_map(h, g->map, i);
    else if (g->buf)
        put_line(h, "void *a%d = %s;", i, address_text(h, g->buf));
    else if (g->var)
        put_line(h, "%s a%d = v%d;",
                 !dtype_is_float(g->var->type) ? "int64_t"
                 : g->var->type == DT_F64      ? "double"
                                               : "float",
                 i, g->var->id);
    else
        put_line(h, "void *a%d = (void *)(uintptr_t)tl_cu.work[%d];", i, h->f->workspaces.n);
}

static void put_host_launch(HostText *h, const Kernel *k)
{
    int cluster = MAX(k->cluster[0], 1) * MAX(k->cluster[1], 1) * MAX(k->cluster[2], 1), which = 0;
    Str list;

    while (h->f->kernels.at[which] != k)
        which++;
    str_init(&list, h->a);
    put_line(h, "{");
    h->indent++;
    put_list(h, "grid", k->grid, k->ngrid, 3);
    put_line(h, "static const int block[] = {%d, %d, %d};",
             MAX(k->threads[0], 1) + k->extra_threads, MAX(k->threads[1], 1),
             MAX(k->threads[2], 1));
    for (int i = 0; i < k->launch.args.n; i++) {
        put_argument(h, &k->launch.args.at[i], i);
        str_printf(&list, "&a%d, ", i);
    }
    put_line(h, "void *params[] = {%sNULL};", list.s);
    put_line(h, "if (tl_function(&tl_kernel[%d], \"%s\", %lld, %d) ||", which, k->launch.symbol,
             (long long)k->launch.shared_bytes, cluster);
    put_line(h, "    tl_launch(tl_kernel[%d], \"%s\", grid, block, %lld, %d, %d, stream, params))",
             which, k->launch.symbol, (long long)k->launch.shared_bytes, k->launch.pdl,
             k->launch.together);
    put_line(h, "    return 1;");
    h->indent--;
    put_line(h, "}");
}

static void put_host_stmt(HostText *h, const Stmt *s)
{
    if (!s)
        return;
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n; i++)
            put_host_stmt(h, s->u.block.list[i]);
        return;
    case ST_LAUNCH:
        put_host_launch(h, s->u.launch.kernel);
        return;
    case ST_LET:
        put_line(h, "const int64_t v%d = %s;", s->u.let.var->id, host_expr(h, s->u.let.value));
        put_line(h, "(void)v%d;", s->u.let.var->id);
        return;
    case ST_ASSERT:
        put_line(h, "if (!%s)", host_expr(h, s->u.check.cond));
        put_line(h, "    return tl_no(\"line %d: assertion failed\", 0);", s->span.line);
        return;
    case ST_FOR: {
        int id = s->u.loop.var->id;
        put_line(h, "for (int64_t i%d = 0; i%d < %s; i%d++) {", id, id,
                 host_expr(h, s->u.loop.extent), id);
        h->indent++;
        put_line(h, "const int64_t v%d = %s + i%d;", id, host_expr(h, s->u.loop.min), id);
        put_line(h, "(void)v%d;", id);
        put_host_stmt(h, s->u.loop.body);
        h->indent--;
        put_line(h, "}");
        return;
    }
    case ST_IF:
        put_line(h, "if (%s) {", host_expr(h, s->u.branch.cond));
        h->indent++;
        put_host_stmt(h, s->u.branch.then);
        h->indent--;
        put_line(h, "} else {");
        h->indent++;
        put_host_stmt(h, s->u.branch.orelse);
        h->indent--;
        put_line(h, "}");
        return;
    default:
        recover_throw(STATUS_TARGET, "line %d: this statement cannot run on the host of a GPU "
                      "[host-statement]", s->span.line);
    }
}

/* ---- NAME.c: all of it ----------------------------------------------------------------------- */

static void put_bytes(Str *out, const char *name, const void *data, size_t n, bool zero)
{
    const unsigned char *p = data;

    str_printf(out, "static const unsigned char %s[] = {", name);
    for (size_t i = 0; i < n; i++)
        str_printf(out, "%s%u,", i % 24 ? "" : "\n", p[i]);
    str_puts(out, zero ? "0};\n\n" : "};\n\n");
}

static void put_values(HostText *h)
{
    for (int i = 0; i < h->f->dims.n; i++) {
        const Var *v = h->f->dims.at[i];
        put_line(h, "const int64_t v%d = %s;", v->id, bundle_c_name(h->a, v->name));
        put_line(h, "(void)v%d;", v->id);
    }
    for (int i = 0; i < h->f->params.n; i++) {
        const Var *v = h->f->params.at[i].var;
        bool is_dim = false;
        for (int d = 0; d < h->f->dims.n; d++)
            is_dim |= h->f->dims.at[d] == v;
        if (!v || is_dim)
            continue;
        put_line(h, "const %s v%d = %s;",
                 !dtype_is_float(v->type) ? "int64_t"
                 : v->type == DT_F64      ? "double"
                                          : "float",
                 v->id, bundle_c_name(h->a, h->f->params.at[i].name));
        put_line(h, "(void)v%d;", v->id);
    }
}

static void put_temporaries(HostText *h)
{
    for (int i = 0; i < h->f->workspaces.n; i++) {
        const Buffer *b = h->f->workspaces.at[i];
        Str n;
        str_init(&n, h->a);
        str_printf(&n, "INT64_C(1)");
        for (int d = 0; d < b->rank; d++)
            str_printf(&n, " * %s", host_expr(h, b->shape[d]));
        put_line(h, "if (tl_workspace(%d, (%s) * %d / 8 + 1))", i, n.s, dtype_bits(b->type));
        put_line(h, "    return 1;");
    }
    put_line(h, "if (tl_workspace(%d, 4))", h->f->workspaces.n);
    put_line(h, "    return 1;");
}

static void put_function(HostText *h, const char *name)
{
    Str call;

    str_init(&call, h->a);
    str_printf(h->out, "static tl_handle tl_kernel[%d];\n\nstatic ", h->f->kernels.n + 1);
    bundle_prototype(h->k, h->out, h->a, "tl_run_");
    str_puts(h->out, "\n{\n");
    h->indent = 1;
    put_line(h, "if (tl_load(%s, %s))", h->k->code.cubin ? "tl_cubin" : "NULL",
             h->k->code.ptx ? "tl_ptx" : "NULL");
    put_line(h, "    return 1;");
    bundle_check_dims(h->f, h->out, h->a, "tl_said");
    put_values(h);
    put_temporaries(h);
    if (h->f->body)
        put_host_stmt(h, h->f->body);
    for (int i = 0; !h->f->body && i < h->f->kernels.n; i++)
        put_host_launch(h, h->f->kernels.at[i]);
    str_puts(h->out, "    return 0;\n}\n\n");
    bundle_prototype(h->k, h->out, h->a, "");
    for (int i = 0; i < h->f->params.n; i++)
        str_printf(&call, "%s, ", bundle_c_name(h->a, h->f->params.at[i].name));
    for (int i = 0; i < h->f->dims.n; i++)
        if (!bundle_is_scalar(h->f, h->f->dims.at[i]))
            str_printf(&call, "%s, ", bundle_c_name(h->a, h->f->dims.at[i]->name));
    str_printf(h->out,
               "\n{\n    pthread_mutex_lock(&tl_lock);\n    int r = tl_run_%s(%sstream);\n"
               "    pthread_mutex_unlock(&tl_lock);\n    return r;\n}\n\n", name, call.s);
    str_printf(h->out, "const char *%s_error(void)\n{\n    return tl_said;\n}\n", name);
}

static void write_host(tl_kernel *k, Arena *a, const char *dir, const char *name)
{
    Str text, header;
    HostText h = {.k = k, .f = k->build.func, .a = a, .out = &text};

    str_init(&text, a);
    str_init(&header, a);
    str_printf(&text,
               "/* %s.c -- a tile kernel for %s, made by tilelang %s.\n *\n"
               " * To build by hand: cc -std=c11 -O2 -fPIC -shared -o lib%s.so %s.c -ldl -lpthread "
               "*/\n#define _GNU_SOURCE\n#include \"%s.h\"\n\n%s\n",
               name, k->request.spec.text, TL_VERSION, name, name, name,
               (const char *)device_cpu_driver_h);
    if (k->code.cubin)
        put_bytes(&text, "tl_cubin", k->code.cubin, k->code.ncubin, false);
    if (k->code.ptx)
        put_bytes(&text, "tl_ptx", k->code.ptx, strlen(k->code.ptx), true);
    put_function(&h, name);
    put_file(a, dir, arena_printf(a, "%s.c", name), text.s, text.n);
    bundle_header(k, &header);
    put_file(a, dir, arena_printf(a, "%s.h", name), header.s, header.n);
}

/* Without NVRTC the text and the manifest are still written. */
void bundle_gpu(tl_kernel *k, Arena *a, const char *dir)
{
    const char *name = kernel_name(k), *why = "";
    Status s = dir_make(a, dir, &why);

    if (s != STATUS_OK)
        recover_throw(s, "%s", why);
    put_file(a, dir, arena_printf(a, "%s.cu", name), k->build.source.s, k->build.source.n);
    write_manifest(k, a, dir);
    jit_gpu(k);
    if (k->code.ptx)
        put_file(a, dir, arena_printf(a, "%s.ptx", name), k->code.ptx, strlen(k->code.ptx));
    if (k->code.cubin)
        put_file(a, dir, arena_printf(a, "%s.cubin", name), k->code.cubin, k->code.ncubin);
    write_host(k, a, dir, bundle_c_name(a, name));
}
