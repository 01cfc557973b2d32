/* machine.c -- a run: arguments in, memories made, kernels launched block by block. */
#include "sim/machine.h"

/* ---- failures, text -------------------------------------------------------------------------- */

Kernel *sim_kernel(Sim *m)
{
    return m->k;
}

void sim_fail(Sim *m, const Stmt *at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = arena_vprintf(m->func->ir->arena, fmt, ap);
    va_end(ap);
    diag_error(m->diag, at ? at->span : NO_SPAN, "%s", text);
    if (m->block) {
        Str s;
        str_init(&s, m->func->ir->arena);
        str_printf(&s, "in block (%lld, %lld, %lld)", (long long)m->block->at[0],
                   (long long)m->block->at[1], (long long)m->block->at[2]);
        if (m->self && m->k->uses_threads)
            str_printf(&s, " thread %d", sim_thread_index(m));
        diag_note(m->diag, m->k->span, "%s of '%s'", s.s, m->k->name);
    }
    sim_give_up(m);
}

void sim_give_up(Sim *m)
{
    if (m->self || m->leader)
        threads_give_up(m);
    diag_throw(m->diag);
}

void sim_print(Sim *m, const char *text)
{
    if (m->o.print)
        str_puts(m->o.print, text);
    else
        fputs(text, stdout);
}

void *sim_alloc(Sim *m, size_t nbytes)
{
    return arena_alloc(m->scratch, nbytes);
}

/* ---- memories -------------------------------------------------------------------------------- */

static void row_major_strides(SimMem *mem)
{
    int64_t n = 1;
    for (int d = mem->rank - 1; d >= 0; d--) {
        mem->stride[d] = n;
        n *= mem->shape[d];
    }
    mem->nelem = n;
}

/* Where each element of a tile with a layout is stored, once indices are storage offsets. */
static void apply_layout(Sim *m, SimMem *mem, const Layout *l)
{
    int64_t at[RANK_MOST] = {0};
    if (mem->nelem == 0 || (layout_is_fragment(l) && !m->registers))
        return;
    if (!m->place[mem->buf->id]) {
        int32_t *place = NEWN(m->keep, int32_t, mem->nelem);
        int64_t n = 0;
        do
            place[n++] = (int32_t)layout_eval(l, at);
        while (sim_next(mem->rank, mem->shape, at));
        m->place[mem->buf->id] = place;
    }
    mem->place = m->place[mem->buf->id];
    mem->nelem = layout_size(l);
}

static void mem_init(Sim *m, SimMem *mem, const Buffer *b)
{
    mem->buf = b;
    mem->type = b->type;
    mem->mark = 3;
    mem->rank = b->rank;
    mem->global = b->scope == MEM_GLOBAL;
    for (int d = 0; d < b->rank; d++) {
        mem->shape[d] = eval(m, b->shape[d]).i;
        if (mem->shape[d] < 0)
            mem->shape[d] = 0;
    }
    row_major_strides(mem);
    if ((m->flat || (m->registers && b->scope == MEM_FRAGMENT)) && !mem->global) {
        const Layout *l = buffer_plan(m->k, b)->layout;
        if (l)
            apply_layout(m, mem, l);
    }
    mem->nbytes = dtype_bytes(b->type, mem->nelem);
}

static SimMem *mem_new(Sim *m, const Buffer *b)
{
    SimMem *mem = NEW(m->arena, SimMem);
    mem_init(m, mem, b);
    return mem;
}

SimMem *mem_make(Sim *m, const Buffer *b, bool track)
{
    SimMem *mem = mem_new(m, b);
    mem->data = arena_alloc(m->arena, (size_t)mem->nbytes + 8);
    if (track)
        mem->init = arena_alloc(m->arena, (size_t)mem->nbytes + 8);
    return mem;
}

static SimMem *view_make(Sim *m, const Buffer *b, const SimMem *root)
{
    SimMem *mem = mem_new(m, b);
    for (int d = 0; b->stride && d < b->rank; d++)
        mem->stride[d] = eval(m, b->stride[d]).i;
    mem->data = root->data;
    mem->init = root->init;
    mem->mark = root->mark;
    mem->shadow = root->shadow;
    mem->shadow_at = root->shadow_at;
    return mem;
}

/* A tensor over a pointer: the address is a value, so it is read again at each use. */
static SimMem *pointer_mem(Sim *m, const Buffer *b)
{
    SimMem *mem = m->mem[b->id];
    if (mem == NULL)
        m->mem[b->id] = mem = NEW(m->arena, SimMem);
    mem_init(m, mem, b);
    if (b->stride)
        for (int d = 0; d < b->rank; d++)
            mem->stride[d] = eval(m, b->stride[d]).i;
    mem->data = (char *)(intptr_t)m->value[b->pointer->id].i;
    if (mem->data == NULL && mem->nelem > 0)
        sim_fail(m, m->at, "'%s' is made from a null pointer [null-pointer]", b->name);
    return mem;
}

SimMem *mem_find(Sim *m, const Buffer *b)
{
    BUG(b->id >= m->nbuf, "buffer '%s' was made while the kernel ran", b->name);
    if (b->pointer)
        return pointer_mem(m, b);
    const Buffer *root = buffer_root(b);
    BUG(root == b, "buffer '%s' is not allocated", b->name);
    return m->mem[b->id] = view_make(m, b, sim_mem(m, root));
}

SimMem *thread_mem(Sim *m, const SimThread *t, const Buffer *b)
{
    if (!t->mem[b->id] && b->view_of)
        t->mem[b->id] = view_make(m, b, t->mem[buffer_root(b)->id]);
    return t->mem[b->id];
}

/* A view is made anew: the block outlives it. */
SimMem *block_mem(Sim *m, const SimBlock *blk, const Buffer *b)
{
    return b->view_of ? view_make(m, b, blk->mem[buffer_root(b)->id]) : blk->mem[b->id];
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static bool is_barrier(const Buffer *b)
{
    return b->scope == MEM_BARRIER || b->scope == MEM_CLUSTER_BARRIER;
}

static void make_barriers(Sim *m, SimBlock *blk, const Buffer *b)
{
    int64_t n = MAX(1, blk->mem[b->id]->nelem);
    SimBarrier *bar = blk->barrier[b->id] = NEWN(m->arena, SimBarrier, n);
    for (int64_t i = 0; i < n; i++) {
        bar[i].expect = b->arrive && b->arrive[i] ? eval(m, b->arrive[i]).i : 1;
        bar[i].pending = bar[i].expect;
        bar[i].buf = b;
        bar[i].i = i;
    }
    blk->nbarrier += (int)n;
}

void block_name_agents(Sim *m, SimBlock *blk, int first)
{
    for (int i = 0; i < m->k->buffers.n; i++) {
        const Buffer *b = m->k->buffers.at[i];
        SimBarrier *bar = blk->barrier[b->id];
        for (int64_t j = 0; bar && j < MAX(1, blk->mem[b->id]->nelem); j++)
            bar[j].agent = first++;
    }
}

enum { MARKS = 63 };

/* Shared buffers where the plan put them: those of different times may share bytes.  What one
 * wrote there the other has not. */
static void place_shared(Sim *m, SimBlock *blk)
{
    Kernel *k = m->k;
    int64_t end = 0;
    if (!m->registers || !(k->form & FORM_SYNCED)) /* before that barriers are missing */
        return;
    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        const BufferPlan *p = buffer_plan(k, b);
        if (b->scope == MEM_SHARED && !b->view_of && p->placed)
            end = MAX(end, p->offset + blk->mem[b->id]->nbytes);
    }
    if (end == 0)
        return;
    blk->shared_bytes = end;
    blk->shared = arena_alloc(m->arena, (size_t)end + 8);
    uint8_t *init = arena_alloc(m->arena, (size_t)end + 8);
    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        const BufferPlan *p = buffer_plan(k, b);
        if (b->scope != MEM_SHARED || b->view_of || !p->placed)
            continue;
        blk->mem[b->id]->data = blk->shared + p->offset;
        blk->mem[b->id]->init = init + p->offset;
        blk->mem[b->id]->mark = (uint8_t)(3 | (i % MARKS + 1) << 2);
    }
}

static SimBlock *block_new(Sim *m)
{
    Kernel *k = m->k;
    SimBlock *blk = NEW(m->arena, SimBlock);
    blk->mem = NEWN(m->arena, SimMem *, m->nbuf);
    blk->barrier = NEWN(m->arena, SimBarrier *, m->nbuf);
    memcpy(blk->mem, m->host_mem, sizeof(SimMem *) * (size_t)m->nbuf);
    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        if (b->view_of || b->pointer)
            continue;
        if (b->scope == MEM_GLOBAL) {
            if (m->host_mem[b->id] == NULL)
                m->host_mem[b->id] = mem_make(m, b, false);
            blk->mem[b->id] = m->host_mem[b->id];
            continue;
        }
        bool track = b->scope != MEM_VAR && !is_barrier(b);
        blk->mem[b->id] = mem_make(m, b, track);
        if (is_barrier(b))
            make_barriers(m, blk, b);
    }
    place_shared(m, blk);
    return blk;
}

/* On-chip memory keeps nothing from one block to the next. */
static void block_reset(Sim *m, SimBlock *blk)
{
    for (int i = 0; i < m->k->buffers.n; i++) {
        const Buffer *b = m->k->buffers.at[i];
        SimMem *mem = blk->mem[b->id];
        if (mem == NULL || b->view_of || mem->global)
            continue;
        memset(mem->data, 0, (size_t)mem->nbytes);
        if (mem->init)
            memset(mem->init, 0, (size_t)mem->nbytes);
        SimBarrier *bar = blk->barrier[b->id];
        for (int64_t j = 0; bar && j < MAX(1, mem->nelem); j++)
            bar[j] = (SimBarrier){.buf = b, .i = j, .expect = bar[j].expect,
                                  .pending = bar[j].expect};
    }
    memset(blk->named, 0, sizeof blk->named);
    memset(blk->named_clock, 0, sizeof blk->named_clock);
    memset(blk->named_time, 0, sizeof blk->named_time);
    blk->sampled = 0;
}

static void block_enter(Sim *m, SimBlock *blk)
{
    m->block = blk;
    m->mem = blk->mem;
    m->value = m->host_value;
    for (int d = 0; d < 3; d++) {
        if (m->k->block[d])
            m->value[m->k->block[d]->id] = (Value1){.i = blk->at[d]};
        if (m->k->thread[d])
            m->value[m->k->thread[d]->id] = (Value1){0};
    }
}

static bool syncs_grid(const Stmt *s, void *arg)
{
    (void)arg;
    return stmt_calls(s, INTRIN_SYNC_GRID);
}

static bool syncs_cluster(const Stmt *s, void *arg)
{
    (void)arg;
    return stmt_calls(s, INTRIN_CLUSTER_SYNC) || stmt_calls(s, INTRIN_PEER_COPY) ||
           stmt_calls(s, INTRIN_CLUSTER_WAIT);
}

/* Blocks whose threads are not told apart run together only when they synchronise. */
static int cluster_extent(const Sim *m, int d)
{
    return m->clustered ? MAX(1, m->k->cluster[d]) : 1;
}

/* Block i of the launch, cluster by cluster. */
static void block_position(const Sim *m, const int64_t *grid, int64_t i, int64_t *at)
{
    int64_t per = 1;
    for (int d = 0; d < 3; d++)
        per *= cluster_extent(m, d);
    int64_t rank = i % per, cluster = i / per;
    for (int d = 0; d < 3; d++) {
        int64_t each = cluster_extent(m, d), n = grid[d] / each;
        at[d] = cluster % n * each + rank % each;
        cluster /= n;
        rank /= each;
    }
}

static void run_together(Sim *m, const int64_t *grid, int64_t n, int per)
{
    SimBlock **all = NEWN(m->arena, SimBlock *, n);
    for (int64_t i = 0; i < n; i++) {
        all[i] = block_new(m);
        all[i]->unit = (int32_t)(i / per);
        block_position(m, grid, i, all[i]->at);
        block_enter(m, all[i]);
    }
    blocks_run_threads(m, all, (int)n, per);
}

/* The next cluster that has not started.  A launch may say no while there are some: it does after a
 * few, so that others start by themselves too. */
bool launch_take(Sim *m, int64_t first[3])
{
    enum { FEW = 3 };
    int64_t grid[3] = {1, 1, 1}, per = m->block->cluster->nblock;
    SimBlock *by = m->block->cluster->block[0];

    for (int d = 0; d < m->k->ngrid; d++)
        grid[d] = MAX(0, eval(m, m->k->grid[d]).i);
    for (int64_t i = by->unit + 1; by->ntaken < FEW && i < m->nunit; i++) {
        if (m->taken[i])
            continue;
        m->taken[i] = true;
        by->ntaken++;
        block_position(m, grid, i * per, first);
        return true;
    }
    return false;
}

static void run_in_order(Sim *m, const int64_t *grid, int64_t n, int per)
{
    SimBlock **blk = NEWN(m->arena, SimBlock *, per);
    for (int j = 0; j < per; j++)
        blk[j] = block_new(m);
    m->nunit = n / per;
    m->taken = NEWN(m->arena, bool, m->nunit);
    for (int64_t i = 0; i < n; i += per) {
        if (m->taken[i / per])
            continue;
        for (int j = 0; j < per; j++) {
            block_reset(m, blk[j]);
            blk[j]->ntaken = 0;
            blk[j]->unit = (int32_t)(i / per);
            block_position(m, grid, i + j, blk[j]->at);
            block_enter(m, blk[j]);
        }
        if (m->clustered)
            blocks_run_threads(m, blk, per, per);
        else
            exec(m, m->k->body);
    }
}

static int cluster_size(Sim *m, const int64_t *grid)
{
    int n = 1;
    for (int d = 0; d < 3; d++) {
        int each = cluster_extent(m, d);
        n *= each;
        if (grid[d] % each != 0)
            sim_fail(m, m->k->body, "a grid of %lld blocks cannot be parted into clusters of %d "
                     "[cluster-grid]", (long long)grid[d], each);
    }
    return n;
}

static bool see_mma(const Stmt *s, void *arg)
{
    Sim *m = arg;
    m->paired |= (s->kind == ST_TILE && tile_pairs(s)) ||
                 (s->kind == ST_INSTR && s->u.instr.isa->scope == BY_PAIR &&
                  s->u.instr.isa->done == DONE_BY_COMMIT);
    if (stmt_calls(s, INTRIN_CLC_TRY))
        m->answered[s->u.call.region[1].buf->id] = true;
    if (s->kind == ST_INSTR && s->u.instr.isa->done == DONE_AT_BARRIER)
        m->answered[s->u.instr.region[2].buf->id] = true;
    if (s->kind == ST_INSTR && isa_is_mma(s->u.instr.isa))
        for (int i = 0; i < s->u.instr.nregion; i++)
            m->in_mma[s->u.instr.region[i].buf->id] = true;
    return true;
}

void launch_kernel(Sim *m, Kernel *k)
{
    int64_t grid[3] = {1, 1, 1}, n = 1;
    m->k = k;
    m->sugar = !(k->form & FORM_NORMAL);
    m->flat = (k->form & FORM_FLAT) != 0;
    m->exact = (k->form & FORM_GUARDED) != 0;
    m->registers = k->form & FORM_THREADS && kernel_on_warps(k);
    m->races = k->uses_threads && (!m->registers || k->form & FORM_SYNCED);
    m->proxies = (k->form & FORM_NOUNROLL) != 0; /* lower_fences ran before */
    m->warp = kernel_warp(k);
    m->group = m->warp * k->machine->group_warps;
    if (hint_find(k->hints, "entry_name"))
        sim_fail(m, k->body, "the simulator cannot run a kernel given as source [sim-extern]");
    for (int d = 0; d < k->ngrid; d++) {
        grid[d] = MAX(0, eval(m, k->grid[d]).i);
        n *= grid[d];
    }
    m->polls = stmt_polls(k->body);
    m->clustered = k->uses_threads || m->polls || stmt_any(k->body, syncs_cluster, NULL);
    m->paired = false;
    m->nunit = 0;
    m->place = NEWN(m->keep, const int32_t *, m->nbuf + 1);
    m->in_mma = NEWN(m->keep, bool, m->nbuf + 1);
    m->answered = NEWN(m->keep, bool, m->nbuf + 1);
    stmt_visit(k->body, see_mma, m);
    int per = cluster_size(m, grid);
    watch_global(m);
    bool few = n * kernel_launch_threads(k) <= POLL_THREADS;
    if (n > 0 && (stmt_any(k->body, syncs_grid, NULL) || (m->polls && few)))
        run_together(m, grid, n, per);
    else if (n > 0)
        run_in_order(m, grid, n, per);
    m->k = NULL;
    m->block = NULL;
    m->mem = m->host_mem;
    m->value = m->host_value;
    m->flat = m->exact = m->registers = false;
}

/* ---- the whole function ---------------------------------------------------------------------- */

static void bind_tensor(Sim *m, const Buffer *b, const SimArg *a)
{
    SimMem *mem = mem_new(m, b);
    bool strided = false;
    for (int d = 0; d < a->rank; d++)
        strided |= a->stride[d] != 0;
    if (strided)
        memcpy(mem->stride, a->stride, sizeof mem->stride);
    mem->data = a->data;
    int64_t span = mem->nelem ? 1 : 0;
    for (int d = 0; span && d < mem->rank; d++)
        span += (mem->shape[d] - 1) * mem->stride[d];
    mem->nelem = MAX(mem->nelem, span);
    m->mem[b->id] = mem;
}

static void bind_args(Sim *m, const SimArg *args, const int64_t *dims)
{
    Func *f = m->func;
    for (int i = 0; i < f->dims.n; i++)
        m->value[f->dims.at[i]->id].i = dims[f->dims.at[i]->id];
    for (int i = 0; i < f->params.n; i++) {
        const Param *p = &f->params.at[i];
        if (p->var)
            m->value[p->var->id] = value_cast(args[i].type, p->var->type, args[i].scalar);
        if (p->buf)
            bind_tensor(m, p->buf, &args[i]);
    }
    for (int i = 0; i < f->workspaces.n; i++)
        if (m->mem[f->workspaces.at[i]->id] == NULL)
            m->mem[f->workspaces.at[i]->id] = mem_make(m, f->workspaces.at[i], false);
}

static void run_body(Sim *m)
{
    Func *f = m->func;
    if (f->body)
        exec(m, f->body);
    else
        for (int i = 0; i < f->kernels.n; i++)
            launch_kernel(m, f->kernels.at[i]);
}

static void run(Sim *m, SimArg *args, int narg)
{
    Func *f = m->func;
    int64_t *dims = NEWN(m->arena, int64_t, f->ir->nvar + 1);
    if (!sim_solve_dims(f, args, narg, dims))
        diag_throw(f->diag);
    m->nvar = f->ir->nvar;
    m->nbuf = f->ir->nbuf;
    m->value = m->host_value = NEWN(m->arena, Value1, m->nvar + 1);
    m->mem = m->host_mem = NEWN(m->arena, SimMem *, m->nbuf + 1);
    bind_args(m, args, dims);
    run_body(m);
}

void sim_run(Func *f, SimArg *args, int narg, const SimOptions *o)
{
    Arena *arena = arena_new(), *scratch = arena_new(), *keep = arena_new();
    Sim *m = NEW(arena, Sim);
    Recover r;
    *m = (Sim){.func = f, .ir = f->ir, .diag = f->diag, .arena = arena,
               .scratch = scratch, .keep = keep, .o = {.check_uninit = true}};
    if (o)
        m->o = *o;
    m->permute = m->o.seed != 0;
    m->random = hash_mix(m->o.seed, 1) | 1;
    if (m->o.debugger)
        m->debug = debug_new(m, m->o.debugger);
    if (recover_open(&r) == 0) {
        run(m, args, narg);
        recover_close(&r);
    }
    threads_free(m);
    arena_free(scratch);
    arena_free(keep);
    arena_free(arena);
    if (r.status == STATUS_USER)
        diag_throw(f->diag);
    if (r.status != STATUS_OK)
        recover_throw(r.status, "%s", r.text);
}
