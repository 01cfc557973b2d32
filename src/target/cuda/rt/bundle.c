/* bundle.c -- a part of a bundle for GPUs: its host function, its code as bytes, its launches.
 *
 * NAME.c holds the code of every part and finds the driver by dlopen; the code lies beside it as
 * files too.  Neither this library nor a header of NVIDIA's is needed to build or run it. */
#include "target/cuda/rt/cuda.h"
#include "target/bundle.h"
#include "target/print.h"
#include "device_cpu.h"
#include <ctype.h>
#include <stdlib.h>

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
    if (m->gaps)
        json_bool(j, "gaps", true);
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

/* What a part asks of the GPU: the most of its kernels. */
typedef struct {
    int major, minor, only, threads, cluster;
    int64_t shared;
    bool together, maps;
} Needs;

static Needs needs_of(const TargetBundle *b)
{
    const Func *f = b->func;
    int number = atoi(b->spec->arch + strcspn(b->spec->arch, "0123456789"));
    char last = b->spec->arch[strlen(b->spec->arch) - 1];
    Needs n = {.major = number / 10, .minor = number % 10,
               .only = last == 'a' ? 1 : last == 'f' ? 2 : 0, .cluster = 1};

    for (int i = 0; i < f->kernels.n; i++) {
        const Kernel *k = f->kernels.at[i];
        int cluster = MAX(k->cluster[0], 1) * MAX(k->cluster[1], 1) * MAX(k->cluster[2], 1);
        n.cluster = MAX(n.cluster, cluster);
        n.threads = MAX(n.threads, (MAX(k->threads[0], 1) + k->extra_threads) *
                                       MAX(k->threads[1], 1) * MAX(k->threads[2], 1));
        n.shared = MAX(n.shared, k->launch.shared_bytes);
        n.together |= k->launch.together;
        for (int g = 0; g < k->launch.args.n; g++)
            n.maps |= k->launch.args.at[g].map != NULL;
    }
    return n;
}

/* "NVRTC 13.0" as drivers count: 13000. */
static int toolkit_of(const TargetBundle *b)
{
    const char *s = b->compiler ? strpbrk(b->compiler, "0123456789") : NULL;
    char *rest = "";
    long major = s ? strtol(s, &rest, 10) : 0;

    return (int)(major * 1000 + (*rest == '.' ? strtol(rest + 1, NULL, 10) : 0) * 10);
}

void cuda_bundle_tell(const TargetBundle *b, const Module *code, Json *j)
{
    const Func *f = b->func;
    Needs n = needs_of(b);

    (void)code;
    json_object(j, "needs");
    json_int(j, "threads", n.threads);
    json_int(j, "shared_bytes", n.shared);
    json_int(j, "cluster", n.cluster);
    json_bool(j, "cooperative", n.together);
    json_bool(j, "tensor_maps", n.maps);
    json_end(j, '}');
    json_array(j, "kernels");
    for (int i = 0; i < f->kernels.n; i++)
        put_launch(j, b->arena, f->kernels.at[i]);
    json_end(j, ']');
}

/* ---- NAME.c: the host part ------------------------------------------------------------------- */

typedef struct {
    Emit e; /* first: the printer takes it */
    const TargetBundle *b;
} HostText;

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
            return arena_printf(e->arena, "(void *)(uintptr_t)tl_now->work[%d]", i);
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
             buffer_root(m->buf)->name, address_text(e, m->buf), cuda_map_type(m),
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
        emit_line(e, "void *tl_a%d = (void *)(uintptr_t)tl_now->work[%d];", i,
                  e->func->workspaces.n);
}

static void put_kernel(Emit *e, const Kernel *k)
{
    int cluster = MAX(k->cluster[0], 1) * MAX(k->cluster[1], 1) * MAX(k->cluster[2], 1), which = 0;
    int part = ((const HostText *)e)->b->part;
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
    emit_line(e, "if (tl_function(&tl_kernel_%d[%d], \"%s\", %lld, %d) ||", part, which,
              k->launch.symbol, (long long)k->launch.shared_bytes, cluster);
    emit_line(e, "    tl_launch(tl_kernel_%d[%d], \"%s\", tl_grid, tl_block, %lld, %d, %d, stream, "
              "tl_params))",
              part, which, k->launch.symbol, (long long)k->launch.shared_bytes, k->launch.pdl,
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

/* Accesses are as wide as the part was made for; who calls it asked whether there is another. */
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

static void put_function(HostText *h)
{
    Emit *e = &h->e;
    Func *f = e->func;

    str_printf(e->out, "static tl_handle tl_kernel_%d[%d];\n\nstatic ", h->b->part,
               f->kernels.n + 1);
    bundle_prototype(h->b, e->out, arena_printf(e->arena, "tl_run_%d_", h->b->part));
    str_puts(e->out, "\n{\n");
    e->indent = 1;
    bundle_check_dims(f, e->out, "tl_said");
    put_alignments(e);
    put_values(e);
    put_temporaries(e);
    emit_stmt(e, f->body);
    for (int i = 0; !f->body && i < f->kernels.n; i++)
        put_kernel(e, f->kernels.at[i]);
    str_puts(e->out, "    return 0;\n}\n\n");
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

/* The bytes beside the text, and in it. */
static void put_code(const TargetBundle *b, const Module *m, const char *binary, Str *out)
{
    Arena *a = b->arena;

    if (m->binary) {
        b->put(b->arg, arena_printf(a, "%s.%s", b->stem, binary), m->binary, m->nbinary);
        put_bytes(out, arena_printf(a, "tl_binary_%d", b->part), m->binary, m->nbinary, false);
    }
    if (m->assembly) {
        size_t n = strlen(m->assembly);
        b->put(b->arg, arena_printf(a, "%s.ptx", b->stem), m->assembly, n);
        put_bytes(out, arena_printf(a, "tl_assembly_%d", b->part), m->assembly, n, true);
    }
}

void cuda_bundle_part(const TargetBundle *b, const Module *m, const char *text, const char *binary,
                      Str *out)
{
    Func *f = b->func;
    Arena *a = b->arena;
    HostText h = {.e = {.func = f, .ir = f->ir, .spec = b->spec, .say = &host_dialect,
                        .out = out, .arena = a, .names = names_of(a), .facts = facts_new(f->ir)},
                  .b = b};

    b->put(b->arg, arena_printf(a, "%s.%s", b->stem, text), b->text, strlen(b->text));
    put_code(b, m, binary, out);
    reserve_names(&h.e);
    put_function(&h);
}

static void part(const TargetBundle *b, const Module *m, Str *out)
{
    cuda_bundle_part(b, m, "cu", "cubin", out);
}

void cuda_bundle_row(const TargetBundle *b, const Module *m, int toolkit, Str *out)
{
    Needs n = needs_of(b);

    str_printf(out, "\"%s\", %d, %d, %d, %d, ", b->spec->arch, n.major, n.minor, n.only,
               toolkit);
    str_printf(out, "%d, %lld, %d, %d, %d, ", n.threads, (long long)n.shared, n.cluster, n.together,
               n.maps);
    str_puts(out, m->binary ? arena_printf(b->arena, "tl_binary_%d, ", b->part) : "NULL, ");
    str_puts(out, m->assembly ? arena_printf(b->arena, "tl_assembly_%d", b->part) : "NULL");
}

static void row(const TargetBundle *b, const Module *m, Str *out)
{
    cuda_bundle_row(b, m, toolkit_of(b), out);
}

int cuda_bundle_rank(const TargetSpec *s)
{
    int number = atoi(s->arch + strcspn(s->arch, "0123456789"));
    return number * 2 + !isdigit((unsigned char)s->arch[strlen(s->arch) - 1]);
}

const unsigned char *const cuda_bundle_text[] = {device_cpu_driver_h, device_cpu_host_h, NULL};
const BundleHost cuda_bundle = {.text = cuda_bundle_text, .part = part, .row = row,
                                .tell = cuda_bundle_tell, .rank = cuda_bundle_rank};
