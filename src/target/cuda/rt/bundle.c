/* bundle.c -- a kernel for GPUs to ship.
 *
 *     NAME.h, NAME.c             one function: device addresses, dimensions, a stream; it holds the
 *                                code and finds the driver by dlopen
 *     NAME.cu, NAME.ptx, NAME.cubin   the code by itself
 *     manifest.json              what each launch hands over, for other languages
 *
 * Neither this library nor a header of NVIDIA's is needed to build or run it. */
#include "target/cuda/rt/cuda.h"
#include "target/bundle.h"
#include "target/print.h"
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

static void write_manifest(const TargetBundle *b)
{
    const Func *f = b->func;
    Arena *a = b->arena;
    Str text;
    Json j;

    str_init(&text, a);
    json_open(&j, &text);
    json_object(&j, NULL);
    json_string(&j, "name", b->name);
    json_string(&j, "target", b->spec->text);
    json_array(&j, "kernels");
    for (int i = 0; i < f->kernels.n; i++)
        put_launch(&j, a, f->kernels.at[i]);
    json_end(&j, ']');
    json_end(&j, '}');
    str_putc(&text, '\n');
    b->put(b->arg, "manifest.json", text.s, text.n);
}

/* ---- NAME.c: the host part ------------------------------------------------------------------- */

typedef struct {
    Emit e; /* first: the printer takes it */
    const TargetBundle *b;
    const Module *m;
    const CudaBundle *as;
} HostText;

/* What its driver text calls the state that it keeps. */
static const char *state_of(const Emit *e)
{
    return ((const HostText *)e)->as->state;
}

static const char *host_type(DType t)
{
    return !dtype_is_float(t) ? "int64_t" : t == DT_F64 ? "double" : "float";
}

static bool see_unknown(const Expr *x, void *arg)
{
    Emit *e = arg;
    bool plain = x->op == EX_VAR || (!dtype_is_float((DType)x->type) && x->op != EX_LOAD &&
                                     x->op != EX_MATH && x->op != EX_EXTERN && x->op != EX_ADDR &&
                                     x->op != EX_STR && x->op != EX_BITCAST);
    if (!plain)
        recover_throw(STATUS_TARGET, "'%s': the host part computes what a bundle for GPUs cannot: "
                      "%s [bundle-target]", e->func->name, expr_text(e->arena, x));
    return true;
}

static bool refuse_unknown(Emit *e, const Stmt *s)
{
    const unsigned all = 1u << ST_BLOCK | 1u << ST_LET | 1u << ST_IF | 1u << ST_FOR |
                         1u << ST_ASSERT | 1u << ST_LAUNCH;

    if (!(all >> s->kind & 1))
        recover_throw(STATUS_TARGET, "line %d: this statement cannot run on the host of a GPU "
                      "[host-statement]", s->span.line);
    if (s->kind != ST_BLOCK)
        stmt_visit_expr(s, see_unknown, e);
    return false;
}

static void put_failed(Emit *e, const Stmt *s)
{
    str_printf(e->out, "return tl_no(\"line %d: assertion failed\", 0);\n", s->span.line);
}

static void put_host_launch(Emit *e, const Stmt *s);

static const Dialect host_dialect = {
    .name = "C",
    DIALECT_C,
    .value_type = host_type,
    .constant = "__attribute__((unused)) const $t $n = ",
    .bound_apart = true,
    .wide_ints = true,
    .own = refuse_unknown,
    .fail = put_failed,
    .tests_facts = true,
    .launch = put_host_launch,
};

static const char *host_expr(Emit *e, const Expr *x)
{
    Str s, *out = e->out;

    expr_visit(x, see_unknown, e);
    str_init(&s, e->arena);
    e->out = &s;
    emit_index(e, x);
    e->out = out;
    return s.s;
}

/* ---- NAME.c: launches ------------------------------------------------------------------------ */

/* The address of a tensor or temporary, as C. */
static const char *address_text(Emit *e, const Buffer *b)
{
    const Func *f = e->func;

    b = buffer_root(b);
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].buf == b)
            return arena_printf(e->arena, "(void *)%s",
                                bundle_c_name(e->arena, f->params.at[i].name));
    for (int i = 0; i < e->func->workspaces.n; i++)
        if (e->func->workspaces.at[i] == b)
            return arena_printf(e->arena, "(void *)(uintptr_t)%s.work[%d]", state_of(e), i);
    BUG(true, "'%s' is no parameter", b->name);
}

static void put_list(Emit *e, const char *name, const Expr *const *x, int n, int room)
{
    Str s;

    str_init(&s, e->arena);
    for (int d = 0; d < room; d++)
        str_printf(&s, "%s%s", d ? ", " : "", d < n && x[d] ? host_expr(e, x[d]) : "1");
    emit_line(e, "const int64_t %s[] = {%s};", name, s.s);
}

static void put_tensor_map(Emit *e, const TensorMap *m, int i)
{
    Str box;

    str_init(&box, e->arena);
    for (int d = 0; d < m->rank; d++)
        str_printf(&box, "%s%d", d ? ", " : "", m->box[d]);
    put_list(e, arena_printf(e->arena, "tl_dim%d", i), m->dim, m->rank, m->rank);
    put_list(e, arena_printf(e->arena, "tl_stride%d", i), m->stride, m->rank, m->rank);
    emit_line(e, "static const int tl_box%d[] = {%s};", i, box.s);
    emit_line(e, "tl_tensor_map tl_a%d;", i);
    if (m->im2col)
        emit_line(e, "static const int tl_walk%d[] = {%d, %d, %d};", i, m->lower, m->upper,
                  m->step);
    emit_line(e, "if (tl_map(&tl_a%d, \"%s\", %s, %d, %d, %d, tl_dim%d, tl_stride%d, tl_box%d, "
              "%d, %s))", i,
             buffer_root(m->buf)->name, address_text(e, m->buf), cuda_map_type(m->buf->type),
             dtype_bits(m->buf->type), m->rank, i, i, i,
             m->swizzle == 128 ? 3 : m->swizzle == 64 ? 2 : m->swizzle == 32 ? 1 : 0,
             m->im2col ? arena_printf(e->arena, "tl_walk%d", i) : "NULL");
    emit_line(e, "    return 1;");
}

static void put_argument(Emit *e, const KernelArg *g, int i)
{
    if (g->map)
        put_tensor_map(e, g->map, i);
    else if (g->buf)
        emit_line(e, "void *tl_a%d = %s;", i, address_text(e, g->buf));
    else if (g->var)
        emit_line(e, "%s tl_a%d = %s;", host_type(g->var->type), i, var_name(e, g->var));
    else
        emit_line(e, "void *tl_a%d = (void *)(uintptr_t)%s.work[%d];", i, state_of(e),
                  e->func->workspaces.n);
}

static void put_kernel(Emit *e, const Kernel *k)
{
    int cluster = MAX(k->cluster[0], 1) * MAX(k->cluster[1], 1) * MAX(k->cluster[2], 1), which = 0;
    Str list;

    while (e->func->kernels.at[which] != k)
        which++;
    str_init(&list, e->arena);
    emit_line(e, "{");
    e->indent++;
    put_list(e, "tl_grid", k->grid, k->ngrid, 3);
    emit_line(e, "static const int tl_block[] = {%d, %d, %d};",
             MAX(k->threads[0], 1) + k->extra_threads, MAX(k->threads[1], 1),
             MAX(k->threads[2], 1));
    for (int i = 0; i < k->launch.args.n; i++) {
        put_argument(e, &k->launch.args.at[i], i);
        str_printf(&list, "&tl_a%d, ", i);
    }
    emit_line(e, "void *tl_params[] = {%sNULL};", list.s);
    emit_line(e, "if (tl_function(&tl_kernel[%d], \"%s\", %lld, %d) ||", which, k->launch.symbol,
             (long long)k->launch.shared_bytes, cluster);
    emit_line(e, "    tl_launch(tl_kernel[%d], \"%s\", tl_grid, tl_block, %lld, %d, %d, stream, "
              "tl_params))",
             which, k->launch.symbol, (long long)k->launch.shared_bytes, k->launch.pdl,
             k->launch.together);
    emit_line(e, "    return 1;");
    e->indent--;
    emit_line(e, "}");
}

static void put_host_launch(Emit *e, const Stmt *s)
{
    put_kernel(e, s->u.launch.kernel);
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

static void put_value(Emit *e, const Var *v, const char *name)
{
    emit_bind(e, v, NULL);
    str_printf(e->out, "%s;\n", bundle_c_name(e->arena, name));
}

static void put_values(Emit *e)
{
    const Func *f = e->func;

    for (int i = 0; i < f->dims.n; i++)
        put_value(e, f->dims.at[i], f->dims.at[i]->name);
    for (int i = 0; i < f->params.n; i++) {
        const Var *v = f->params.at[i].var;
        bool is_dim = false;
        for (int d = 0; d < f->dims.n; d++)
            is_dim |= f->dims.at[d] == v;
        if (v && !is_dim)
            put_value(e, v, f->params.at[i].name);
    }
}

/* Accesses are as wide as the kernel was made for: there is no second kernel in a bundle. */
static void put_alignments(Emit *e)
{
    const Func *f = e->func;

    for (int i = 0; i < f->params.n; i++) {
        const Buffer *b = f->params.at[i].buf;
        if (!b)
            continue;
        emit_line(e, "if (tl_starts(\"%s\", (const void *)%s, %d))", f->params.at[i].name,
                  bundle_c_name(e->arena, f->params.at[i].name),
                  b->unaligned ? (int)dtype_bytes(b->type, 1) : TENSOR_ALIGN);
        emit_line(e, "    return 1;");
    }
}

static void put_temporaries(Emit *e)
{
    const BufferVec *all = &e->func->workspaces;

    for (int i = 0; i < all->n; i++) {
        const Buffer *b = all->at[i];
        Str n;
        str_init(&n, e->arena);
        str_puts(&n, "INT64_C(1)");
        for (int d = 0; d < b->rank; d++)
            str_printf(&n, " * %s", host_expr(e, b->shape[d]));
        emit_line(e, "if (tl_workspace(%d, (%s) * %d / 8 + 1))", i, n.s, dtype_bits(b->type));
        emit_line(e, "    return 1;");
    }
    emit_line(e, "if (tl_workspace(%d, 4))", all->n);
    emit_line(e, "    return 1;");
}

/* The arguments of the function, as the one that holds the lock hands them on. */
static const char *arguments(const Func *f, Arena *a)
{
    Str call;

    str_init(&call, a);
    for (int i = 0; i < f->params.n; i++)
        str_printf(&call, "%s, ", bundle_c_name(a, f->params.at[i].name));
    for (int i = 0; i < f->dims.n; i++)
        if (!bundle_is_scalar(f, f->dims.at[i]))
            str_printf(&call, "%s, ", bundle_c_name(a, f->dims.at[i]->name));
    return call.s;
}

static void put_function(HostText *h, const char *name)
{
    const Module *m = h->m;
    Emit *e = &h->e;
    Func *f = e->func;
    Arena *a = e->arena;

    str_printf(e->out, "static tl_handle tl_kernel[%d];\n\nstatic ", f->kernels.n + 1);
    bundle_prototype(h->b, e->out, "tl_run_");
    str_puts(e->out, "\n{\n");
    e->indent = 1;
    emit_line(e, "if (tl_load(%s, %s))",
              m->binary ? arena_printf(a, "tl_%s", h->as->binary) : "NULL",
              m->assembly ? "tl_ptx" : "NULL");
    emit_line(e, "    return 1;");
    bundle_check_dims(f, e->out, "tl_said");
    put_alignments(e);
    put_values(e);
    put_temporaries(e);
    emit_stmt(e, f->body);
    for (int i = 0; !f->body && i < f->kernels.n; i++)
        put_kernel(e, f->kernels.at[i]);
    str_puts(e->out, "    return 0;\n}\n\n");
    bundle_prototype(h->b, e->out, "");
    str_printf(e->out,
               "\n{\n    pthread_mutex_lock(&tl_lock);\n    int r = tl_run_%s(%sstream);\n"
               "    pthread_mutex_unlock(&tl_lock);\n    return r;\n}\n\n", name, arguments(f, a));
    str_printf(e->out, "const char *%s_error(void)\n{\n    return tl_said;\n}\n", name);
}

/* Its parameters have the names they have in the header; other names keep clear of them. */
static void reserve_names(Emit *e)
{
    const Func *f = e->func;

    name_for_c(e->names);
    name_reserve(e->names, "stream");
    for (int i = 0; i < f->params.n; i++)
        name_reserve(e->names, bundle_c_name(e->arena, f->params.at[i].name));
    for (int i = 0; i < f->dims.n; i++)
        name_reserve(e->names, bundle_c_name(e->arena, f->dims.at[i]->name));
}

static void write_host(const CudaBundle *as, const TargetBundle *b, const Module *m,
                       const char *name)
{
    Str text, header;
    Func *f = b->func;
    Arena *a = b->arena;
    HostText h = {.e = {.func = f, .ir = f->ir, .spec = b->spec, .say = &host_dialect,
                        .out = &text, .arena = a, .names = names_of(a), .facts = facts_new(f->ir)},
                  .b = b, .m = m, .as = as};

    reserve_names(&h.e);
    str_init(&text, a);
    str_init(&header, a);
    str_printf(&text,
               "/* %s.c -- a tile kernel for %s, made by tilelang %s.\n *\n"
               " * To build by hand: cc -std=c11 -O2 -fPIC -shared -o lib%s.so %s.c -ldl -lpthread "
               "*/\n#define _GNU_SOURCE\n#include \"%s.h\"\n\n%s%s\n",
               name, b->spec->text, b->version, name, name, name,
               (const char *)as->driver, (const char *)device_cpu_host_h);
    if (m->binary)
        put_bytes(&text, arena_printf(a, "tl_%s", as->binary), m->binary, m->nbinary, false);
    if (m->assembly)
        put_bytes(&text, "tl_ptx", m->assembly, strlen(m->assembly), true);
    put_function(&h, name);
    b->put(b->arg, arena_printf(a, "%s.c", name), text.s, text.n);
    bundle_header(b, &header);
    b->put(b->arg, arena_printf(a, "%s.h", name), header.s, header.n);
}

void cuda_bundle_as(const CudaBundle *as, const TargetBundle *b, const Module *code)
{
    Arena *a = b->arena;

    if (!code) {
        b->put(b->arg, arena_printf(a, "%s.%s", b->name, as->text), b->text, strlen(b->text));
        write_manifest(b);
        return;
    }
    if (code->assembly)
        b->put(b->arg, arena_printf(a, "%s.ptx", b->name), code->assembly, strlen(code->assembly));
    if (code->binary)
        b->put(b->arg, arena_printf(a, "%s.%s", b->name, as->binary), code->binary, code->nbinary);
    write_host(as, b, code, bundle_c_name(a, b->name));
}

void cuda_bundle(const TargetBundle *b, const Module *code)
{
    static const CudaBundle as = {"cu", "cubin", "tl_cu", device_cpu_driver_h};
    cuda_bundle_as(&as, b, code);
}
