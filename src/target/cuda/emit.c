/* emit.c -- kernels as CUDA C: parameters, declarations, the body of one thread.
 *
 * Self-contained: nothing is included.  Tiles in shared memory are typed pointers into one array
 * whose size the launch gives; what a thread holds are arrays that unrolling turns into registers.
 */
#include "target/cuda/emit.h"
#include "ir/config.h"

/* ---- parameters ------------------------------------------------------------------------------ */

static bool is_constant(Cuda *c, const Buffer *b)
{
    return b->scope == MEM_GLOBAL && !map_has(&c->u.written, buffer_root(b));
}

/* What is read only may go through a cache that nobody keeps up to date: not where the launch
 * before may still be writing it. */
static bool is_restricted(const Cuda *c)
{
    bool known = !c->u.addressed && !c->u.together && !c->u.pdl;
    return known && config_on(c->e.k->func, CONFIG_noalias);
}

static void emit_param(Cuda *c, const KernelArg *a)
{
    Emit *e = &c->e;
    bool alone = is_restricted(c) && a->buf && !kernel_may_alias(e->k, a->buf);

    if (a->buf)
        str_printf(e->out, "%s%s *%s%s", is_constant(c, a->buf) ? "const " : "",
                   c_storage_type(a->buf->type), alone ? "__restrict__ " : "",
                   buffer_name(e, a->buf));
    else if (a->map)
        str_printf(e->out, "const __grid_constant__ TlTensorMap %s", map_name(c, a->map));
    else if (a->var)
        str_printf(e->out, "const %s %s", c_value_type(a->var->type), var_name(e, a->var));
    else
        str_puts(e->out, "uint32_t *tl_grid");
}

bool cuda_is_packed(Cuda *c, const Buffer *b)
{
    return (b->scope == MEM_LOCAL || b->scope == MEM_FRAGMENT) && dtype_bits(b->type) <= 16 &&
           !b->view_of && !map_has(&c->u.loose, b);
}

bool cuda_is_register(const Buffer *b)
{
    const Buffer *root = buffer_root(b);
    return root->scope == MEM_FRAGMENT || root->scope == MEM_LOCAL;
}

/* ---- registers ------------------------------------------------------------------------------- */

typedef struct {
    bool warps, groups; /* multiply; warpgroups do so beside the threads */
} Mmas;

static bool see_mma(const Stmt *s, void *arg)
{
    Mmas *m = arg;

    if (s->kind == ST_INSTR && s->u.instr.isa->id == ISA_MMA)
        m->warps = true;
    if (s->kind == ST_INSTR && isa_is_mma(s->u.instr.isa))
        m->groups = true;
    return true;
}

/* Blocks that surely fit the registers of a multiprocessor; 0: nothing is said.  Without it ptxas
 * saves registers for one block more, and waits for every operand of an MMA, or has few loads in
 * flight.  Who does not multiply asks for threads_enough at most: loads under way are worth more
 * than threads beyond, unless a producer loads.  MMAs of warpgroups wait for nothing in registers,
 * and other blocks fill the time of one that waits for them. */
static int blocks_by_registers(Cuda *c, Kernel *k)
{
    enum { REGISTERS = 65536, OTHERS = 80 };
    int64_t bits = 0, threads = kernel_launch_threads(k), enough = c->as->threads_enough;
    Mmas mmas = {0};

    stmt_visit(k->body, see_mma, &mmas);
    if (mmas.groups || (!mmas.warps && (k->extra_threads || !enough)))
        return 0;
    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        if ((b->scope == MEM_FRAGMENT || b->scope == MEM_LOCAL) && map_has(&c->u.used, b))
            bits += stored_elems(k, b) * dtype_bits(b->type);
    }
    int64_t each = bits / 32 * 9 / 8 + OTHERS, most = REGISTERS / (each * threads);
    return (int)MAX(mmas.warps ? most : MIN(most, enough / threads), 1);
}

int cuda_cluster_size(const Kernel *k)
{
    return MAX(k->cluster[0], 1) * MAX(k->cluster[1], 1) * MAX(k->cluster[2], 1);
}

static void emit_head(Cuda *c, Kernel *k)
{
    Emit *e = &c->e;
    int cluster = cuda_cluster_size(k);

    if (cluster > 1 && e->spec->machine.level < 90)
        diag_fail(k->diag, k->span, "clusters of blocks need sm_90, not %s [unsupported-here]",
                  e->spec->arch);
    str_puts(e->out, "extern \"C\" __global__ void ");
    if (cluster > 1)
        str_printf(e->out, "__cluster_dims__(%d, %d, %d) ", MAX(k->cluster[0], 1),
                   MAX(k->cluster[1], 1), MAX(k->cluster[2], 1));
    int blocks = k->min_blocks > 0 ? k->min_blocks : blocks_by_registers(c, k);
    str_printf(e->out, blocks > 0 ? "__launch_bounds__(%d, %d) " : "__launch_bounds__(%d) ",
               kernel_launch_threads(k), blocks);
    str_printf(e->out, "%s(", k->launch.symbol);
    for (int i = 0; i < k->launch.args.n; i++) {
        str_puts(e->out, i ? ",\n    " : "\n    ");
        emit_param(c, &k->launch.args.at[i]);
    }
    str_puts(e->out, ")\n");
}

/* ---- declarations ---------------------------------------------------------------------------- */

static void emit_registers(Cuda *c, const Buffer *b)
{
    Emit *e = &c->e;
    int64_t n = stored_elems(e->k, b);
    int bits = dtype_bits(b->type);

    if (cuda_is_packed(c, b))
        emit_line(e, "uint32_t %s[%lld];", buffer_name(e, b), (long long)((n * bits + 31) / 32));
    else if (bits < 32)
        emit_line(e, "__align__(16) %s %s[%lld];", c_storage_type(b->type), buffer_name(e, b),
                  (long long)dtype_bytes(b->type, n) * 8 / MAX(bits, 8));
    else
        emit_line(e, "%s %s[%lld];", c_storage_type(b->type), buffer_name(e, b), (long long)n);
}

void cuda_emit_decl(Emit *e, const Buffer *b)
{
    Cuda *c = cuda_of(e);
    const char *t = c_storage_type(b->type), *name = buffer_name(e, b);
    const char *constant = is_constant(c, b) ? "const " : "";

    if (!map_has(&c->u.used, b))
        return;
    if (b->pointer)
        emit_line(e, "%s%s *const %s = (%s%s *)%s;", constant, t, name, constant, t,
                  var_name(e, b->pointer));
    else if (b->view_of && buffer_root(b)->scope != MEM_TMEM)
        emit_line(e, "%s%s *const %s = (%s%s *)%s;", constant, t, name, constant, t,
                  buffer_name(e, buffer_root(b)));
    else if (b->scope == MEM_VAR)
        emit_line(e, "%s %s = 0;", c_value_type(b->type), name);
    else if (b->scope == MEM_BARRIER || b->scope == MEM_CLUSTER_BARRIER)
        emit_line(e, "uint64_t *const %s = (uint64_t *)(tl_shared + %lld);", name,
                  (long long)buffer_plan(e->k, b)->offset);
    else if (b->scope == MEM_SHARED)
        emit_line(e, "%s *const %s = (%s *)(tl_shared + %lld);", t, name, t,
                  (long long)buffer_plan(e->k, b)->offset);
    else if (b->scope == MEM_FRAGMENT || b->scope == MEM_LOCAL)
        emit_registers(c, b);
    else if (b->scope != MEM_GLOBAL && !(b->scope == MEM_TMEM && e->k->tensor_columns))
        diag_fail(e->k->diag, b->span,
                  "'%s' is in %s memory, which target %s does not have "
                  "[unsupported-here]",
                  b->name, mem_name(b->scope), e->spec->text);
}

/* Buffers over an address that the body computes are declared there. */
static bool is_late(Cuda *c, const Buffer *b)
{
    const Var *p = buffer_root(b)->pointer;
    return p && map_has(&c->u.bound, p);
}

static bool is_apart(const Stmt *s, void *arg)
{
    (void)arg;
    return s->kind == ST_ROLE && s->u.role.nthread > 0 && s->u.role.kind != ROLE_CONSUMER;
}

/* Which warp a thread is of, as roles ask.  By a shuffle, since the assembler takes a comparison of
 * threadIdx to part the threads of a warp: nothing behind it would be in uniform registers. */
static void emit_warp(Cuda *c, Kernel *k)
{
    if (!stmt_any(k->body, is_apart, NULL))
        return;
    emit_indent(&c->e);
    str_puts(c->e.out, "const int32_t tl_warp = tl_warp_same(");
    str_puts(c->e.out, k->threads[1] * k->threads[2] == 1 ? "(int32_t)threadIdx.x" : "(");
    if (k->threads[1] * k->threads[2] > 1) {
        emit_index(&c->e, thread_in_block(k));
        str_putc(c->e.out, ')');
    }
    str_puts(c->e.out, " / 32);\n");
}

static void emit_indices(Cuda *c, Kernel *k)
{
    static const char axis[] = "xyz";

    if (k->swizzle_panel > 0 && k->ngrid == 2) {
        bool by_rows = !k->swizzle_order || strcmp(k->swizzle_order, "column");
        const int *n = k->cluster;
        if (cuda_cluster_size(k) > 1) /* blocks of a cluster stay side by side */
            emit_line(&c->e, "const TlTile tl_tile = tl_raster_clusters_%s(%d, %d, %d);",
                      by_rows ? "rows" : "columns",
                      MAX(k->swizzle_panel / MAX(n[by_rows], 1), 1), MAX(n[0], 1), MAX(n[1], 1));
        else
            emit_line(&c->e, "const TlTile tl_tile = tl_raster_%s(%d);",
                      by_rows ? "rows" : "columns", k->swizzle_panel);
        for (int d = 0; d < 2; d++)
            if (map_has(&c->u.seen, k->block[d]))
                emit_line(&c->e, "const int32_t %s = tl_tile.%c;", var_name(&c->e, k->block[d]),
                          axis[d]);
    }
    for (int d = 0; d < k->ngrid && !(k->swizzle_panel > 0 && k->ngrid == 2); d++)
        if (map_has(&c->u.seen, k->block[d]))
            emit_line(&c->e, "const int32_t %s = blockIdx.%c;", var_name(&c->e, k->block[d]),
                      axis[d]);
    for (int d = 0; d < 3; d++)
        if (k->thread[d] && map_has(&c->u.seen, k->thread[d]))
            emit_line(&c->e, "const int32_t %s = threadIdx.%c;", var_name(&c->e, k->thread[d]),
                      axis[d]);
    emit_warp(c, k);
}

/* Maps of what the kernel's first bulk copies need come while the barriers are set up. */
static void emit_map_prefetches(Cuda *c, const Kernel *k)
{
    for (int i = 0; i < k->launch.args.n; i++)
        if (k->launch.args.at[i].map)
            emit_line(&c->e, "tl_prefetch_map(&%s);", map_name(c, k->launch.args.at[i].map));
}

/* One thread sets the counts; nobody passes before. */
/* Returns whether the block has met. */
static bool emit_mbar_inits(Cuda *c, Kernel *k)
{
    Emit *e = &c->e;
    int n = 0;

    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        if ((b->scope != MEM_BARRIER && b->scope != MEM_CLUSTER_BARRIER) || !b->arrive ||
            b->view_of || !map_has(&c->u.used, b))
            continue;
        if (e->spec->machine.level < 80 && !c->as->open)
            diag_fail(k->diag, b->span, "barriers in memory need sm_80, not %s [unsupported-here]",
                      e->spec->arch);
        if (n++ == 0) {
            emit_line(e, "if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {");
            e->indent++;
            emit_map_prefetches(c, k);
        }
        for (int64_t j = 0; j < MAX(buffer_static_size(b), 1); j++) {
            emit_indent(e);
            str_printf(e->out, "tl_mbar_init(&%s[%lld], ", buffer_name(e, b), (long long)j);
            emit_index(e, b->arrive[j]);
            str_puts(e->out, ");\n");
        }
    }
    if (n == 0)
        return false;
    if (e->spec->machine.level >= 90)
        emit_line(e, "tl_fence_mbar_init();");
    e->indent--;
    emit_line(e, "}");
    if (cuda_cluster_size(k) > 1) { /* others of the cluster arrive at them too */
        emit_line(e, "tl_cluster_arrive_relaxed();");
        emit_line(e, "tl_cluster_wait();");
    } else {
        emit_line(e, "__syncthreads();");
    }
    return true;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static bool see_bulk(const Stmt *s, void *arg)
{
    Cuda *c = arg;

    c->bulk |= (s->kind == ST_INSTR && instr_is_bulk(s)) || stmt_calls(s, INTRIN_CLC_TRY);
    c->pairs |= s->kind == ST_INSTR && s->u.instr.isa->scope == BY_PAIR &&
                s->u.instr.isa->done == DONE_BY_COMMIT;
    c->peers |= stmt_calls(s, INTRIN_PEER_COPY);
    return true;
}

static bool see_thread(const Stmt *s, void *arg)
{
    Cuda *c = arg;
    if (s->kind == ST_INSTR || s->kind == ST_ROLE ||
        (s->kind == ST_CALL && s->u.call.which == INTRIN_ELECT))
        for (int d = 0; d < 3; d++)
            if (c->e.k->thread[d] && c->e.k->threads[d] > 1)
                map_set(&c->u.seen, c->e.k->thread[d], s);
    return true;
}

/* Text written for nvcc counts on these names of the C library. */
static void emit_prelude(Cuda *c, const Kernel *k)
{
    str_printf(c->e.out, "typedef unsigned char uchar;\ntypedef unsigned short ushort;\n"
                         "typedef unsigned int uint;\ntypedef unsigned long ulong;\n%s\n",
               k->prelude);
}

/* A text may hold the functions of several launches. */
static bool is_printed(const Func *f, const Kernel *k)
{
    for (int i = 0; i < f->kernels.n && f->kernels.at[i] != k; i++)
        if (hint_find(f->kernels.at[i]->hints, "entry_name") &&
            !strcmp(f->kernels.at[i]->prelude, k->prelude))
            return true;
    return false;
}

static void emit_kernel(Cuda *c, Kernel *k)
{
    Emit *e = &c->e;
    const Hint *entry = hint_find(k->hints, "entry_name");

    e->k = k;
    if (entry) {
        k->launch.symbol = entry->text;
        launch_whole(e->func, k);
        if (!is_printed(c->e.func, k))
            emit_prelude(c, k);
        return;
    }
    emit_know_ranges(e, k);
    const Stmt *body = cuda_fix_slots(c, k->body);
    uses_collect(&c->u, e, k, body);
    c->bulk = c->pairs = c->peers = false;
    c->copies = 1;
    c->nrole = c->role_id = c->role_threads = 0;
    stmt_visit(body, see_bulk, c);
    stmt_visit(body, see_thread, c); /* these print the thread's number themselves */
    k->launch.symbol = name_for(e->names, k, k->name);
    uses_launch(&c->u, k);
    cuda_collect_maps(c, body);
    if (k->arena_bytes > k->machine->shared_block)
        diag_fail(k->diag, k->span,
                  "the tiles of this kernel take %lld bytes of shared memory; %s has %lld "
                  "[on-chip-bytes]",
                  (long long)k->arena_bytes, e->spec->arch,
                  (long long)k->machine->shared_block);
    if (k->prelude)
        emit_prelude(c, k);
    emit_head(c, k);
    emit_line(e, "{");
    e->indent++;
    if (k->arena_bytes > 0)
        emit_line(e, "extern __shared__ __align__(1024) unsigned char tl_shared[];");
    for (int i = 0; i < k->buffers.n; i++)
        if (!is_late(c, k->buffers.at[i]))
            cuda_emit_decl(e, k->buffers.at[i]);
    if (c->u.random)
        emit_line(e, "%s", hint_int(k->hints, "generator", 0)
                               ? "uint32_t tl_gen[7] = {0, 0, 0, 0, 0, 0, 1};"
                               : "tl_random tl_rng = {0, 0, 0, 0, {}};");
    emit_indices(c, k);
    str_putc(e->out, '\n');
    if (e->spec->profile)
        cuda_profile_open(c, k);
    cuda_tensor_ask(c, k);
    cuda_tensor_open(c, k, emit_mbar_inits(c, k));
    if (c->as->open)
        c->as->open(e, body);
    emit_stmt(&c->e, body);
    cuda_tensor_close(c, k);
    e->indent--;
    emit_line(e, "}\n");
}

/* Words that mean something in CUDA C and are no names for variables. */
/* Functions that CUDA has without a header, and that no other list has. */
static const char *const cuda_words[] = {"min", "max", "clock", "signal"};

void cuda_emit_as(const CudaText *as, Func *f, const TargetSpec *spec, Str *out)
{
    Arena *a = f->ir->arena;
    Str body, text;
    Cuda c = {.as = as,
              .e = {.func = f,
                    .ir = f->ir,
                    .spec = spec,
                    .say = as->say,
                    .out = &body,
                    .arena = a,
                    .names = names_of(a)}};

    str_init(&body, a);
    str_init(&text, a);
    str_init(&c.e.decls, a);
    str_init(&c.sites, a);
    if (spec->profile)
        cuda_profile_head(&c.e.decls);
    map_init_text(&c.e.routines, a);
    name_for_c(c.e.names);
    for (int i = 0; i < COUNT(cuda_words); i++)
        name_reserve(c.e.names, cuda_words[i]);
    for (int i = 0; i < f->kernels.n; i++)
        emit_kernel(&c, f->kernels.at[i]);
    str_putn(&text, c.e.decls.s, c.e.decls.n);
    str_putn(&text, body.s, body.n);

    str_printf(out, "/* %s, made by tilelang for %s */\n", f->name, spec->text);
    as->paste(a, spec, text.s, out);
    str_puts(out, "/* ---- kernels ---- */\n\n"); /* tests compare what follows */
    str_putn(out, text.s, text.n);
    str_putn(out, c.sites.s, c.sites.n);
}

void cuda_emit(Func *f, const TargetSpec *spec, Str *out)
{
    static const CudaText cuda = {&cuda_dialect, cuda_paste, NULL, 512, NULL, NULL};
    cuda_emit_as(&cuda, f, spec, out);
}
