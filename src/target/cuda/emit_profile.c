/* emit_profile.c -- target option -profile: kernels that write down when they do what.
 *
 * Statements in a row that do one kind of work (copies, matrix work, waiting, arithmetic) get a
 * stamp of the clock before and after.  The first lane of each warp of a few blocks keeps them in
 * an array of the module, tl_trace_KERNEL; comments in the text say what each site is. */
#include "target/cuda/emit.h"
#include "target/profile.h"

typedef enum { WORK_NONE, WORK_COPY, WORK_MATRIX, WORK_WAIT, WORK_COMPUTE, WORK_MIXED } Work;
static const char *const work_names[] = {"none", "copy", "matrix", "wait", "compute", "mixed"};

/* ---- kinds of work --------------------------------------------------------------------------- */

static bool sees_global(const Expr *x, void *arg)
{
    if (x->op == EX_LOAD && x->u.buf->scope == MEM_GLOBAL)
        *(bool *)arg = true;
    return true;
}

static Work work_of_store(const Stmt *s)
{
    bool global = s->u.store.async || s->u.store.buf->scope == MEM_GLOBAL;

    if (s->u.store.buf->scope == MEM_VAR)
        return WORK_NONE; /* counters of pipelines and the like */
    stmt_visit_expr(s, sees_global, &global);
    return global ? WORK_COPY : WORK_COMPUTE;
}

static Work work_of_call(Intrin which)
{
    switch (which) {
    case INTRIN_SYNC_THREADS:
    case INTRIN_SYNC_GRID:
    case INTRIN_WAIT_PHASE:
    case INTRIN_WAIT_STORES:
    case INTRIN_WAIT_COPIES:
    case INTRIN_CLUSTER_SYNC:
    case INTRIN_CLUSTER_WAIT:
    case INTRIN_PDL_SYNC:
        return WORK_WAIT;
    case INTRIN_SETTLE:
    case INTRIN_COMMIT_MMA:
    case INTRIN_WAIT_MMA: /* the matrix units are at work meanwhile */
        return WORK_MATRIX;
    case INTRIN_ARRIVE:
    case INTRIN_EXPECT_BYTES:
    case INTRIN_ARRIVE_BYTES:
    case INTRIN_FENCE_PROXY:
    case INTRIN_COMMIT_STORES:
    case INTRIN_COMMIT_COPIES:
    case INTRIN_SYNC_WARP:
        return WORK_NONE;
    case INTRIN_RETURN:
    case INTRIN_SET_MAX_NREG:
        return WORK_MIXED;
    default:
        return WORK_COMPUTE;
    }
}

static Work join(Work a, Work b)
{
    return a == WORK_NONE || a == b ? b : b == WORK_NONE ? a : WORK_MIXED;
}

static Work work_of(const Stmt *s)
{
    Work w = WORK_NONE;

    if (!s)
        return w;
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n; i++)
            w = join(w, work_of(s->u.block.list[i]));
        return w;
    case ST_FOR:
        return work_of(s->u.loop.body);
    case ST_IF:
        return join(work_of(s->u.branch.then), work_of(s->u.branch.orelse));
    case ST_STORE:
        return work_of_store(s);
    case ST_ATOMIC:
        return WORK_COPY;
    case ST_CALL:
        return work_of_call(s->u.call.which);
    case ST_INSTR:
        return s->u.instr.isa->scope == BY_THREAD ? WORK_COPY : WORK_MATRIX;
    case ST_LET:
        return WORK_NONE;
    case ST_EVAL:
        return WORK_COMPUTE;
    default:
        return WORK_MIXED;
    }
}

/* ---- stamps ---------------------------------------------------------------------------------- */

static int open_site(Cuda *c, Work w, const Stmt *s)
{
    int site = c->nsite++;

    str_printf(&c->sites, "/* tl_site %d %s line %d of %s */\n", site, work_names[w], s->span.line,
               c->e.k->launch.symbol);
    emit_line(&c->e, "TL_STAMP(%d);", 2 * site);
    return site;
}

static void emit_list(Cuda *c, int n, const Stmt *const *list)
{
    for (int i = 0; i < n;) {
        Work w = work_of(list[i]);
        int end = i + 1;
        while (w != WORK_MIXED && end < n && join(w, work_of(list[end])) != WORK_MIXED) {
            w = join(w, work_of(list[end]));
            end++;
        }
        bool one = w != WORK_MIXED, stamps = one && w != WORK_NONE && c->nsite < PROFILE_SITES;
        int site = stamps ? open_site(c, w, list[i]) : 0;
        c->profiled = one; /* no stamps inside of them */
        for (; i < end; i++)
            emit_stmt(&c->e, list[i]);
        c->profiled = false;
        if (stamps)
            emit_line(&c->e, "TL_STAMP(%d);", 2 * site + 1);
    }
}

bool cuda_emit_profiled(Cuda *c, const Stmt *s)
{
    if (c->profiled)
        return false;
    if (s->kind == ST_BLOCK) {
        emit_list(c, s->u.block.n, s->u.block.list);
        return true;
    }
    Work w = work_of(s);
    if (w == WORK_MIXED || w == WORK_NONE)
        return false;
    emit_list(c, 1, &s);
    return true;
}

void cuda_profile_open(Cuda *c, Kernel *k)
{
    Emit *e = &c->e;
    int warps = (kernel_launch_threads(k) + 31) / 32;

    str_printf(&c->sites, "/* tl_kernel %s warps %d own %d */\n", k->launch.symbol, warps,
               (kernel_block_threads(k) + 31) / 32);
    str_printf(&e->decls, "__device__ unsigned long long tl_trace_%s[%d];\n", k->launch.symbol,
               PROFILE_BLOCKS * warps * PROFILE_RECORDS);
    emit_line(e, "unsigned long long *tl_at = tl_trace_open(tl_trace_%s, %d), *const tl_end = "
              "tl_at ? tl_at + %d : tl_at;", k->launch.symbol, warps,
              PROFILE_RECORDS - PROFILE_HEAD);
}

/* Without a branch, and without telling the compiler of the memory: it keeps the order of
 * instructions that are written as such, and MMAs in flight stay in flight.  Blocks are taken
 * evenly from the grid. */
void cuda_profile_head(Str *out)
{
    str_printf(
        out,
        "#define TL_STAMP(site) tl_at = tl_stamp(tl_at, tl_end, site)\n"
        "static __device__ __forceinline__ unsigned long long tl_clock(void)\n{\n"
        "    unsigned long long t;\n"
        "    asm volatile(\"mov.u64 %%0, %%%%clock64;\" : \"=l\"(t));\n"
        "    return t;\n}\n"
        "static __device__ __forceinline__ unsigned long long *tl_stamp(unsigned long long *at, "
        "unsigned long long *end, unsigned long long site)\n{\n"
        "    asm volatile(\"{ .reg .pred p; .reg .u64 t; setp.lt.u64 p, %%0, %%1; "
        "mov.u64 t, %%%%clock64;\\n\"\n"
        "        \"shl.b64 t, t, %d; or.b64 t, t, %%2; @p st.u64 [%%0], t; "
        "@p add.u64 %%0, %%0, 8; }\"\n"
        "        : \"+l\"(at) : \"l\"(end), \"l\"(site));\n"
        "    return at;\n}\n"
        "static __device__ __forceinline__ unsigned long long *tl_trace_open(unsigned long long "
        "*all, unsigned warps)\n{\n"
        "    unsigned long long total = (unsigned long long)gridDim.x * gridDim.y * gridDim.z, "
        "wall;\n"
        "    unsigned long long block = blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + "
        "gridDim.y * blockIdx.z);\n"
        "    unsigned long long step = (total + %d - 1) / %d;\n"
        "    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * "
        "threadIdx.z), sm;\n"
        "    if (block %% step || thread %% 32)\n        return 0;\n"
        "    unsigned long long *at = all + (block / step * warps + thread / 32) * %d;\n"
        "    asm volatile(\"mov.u64 %%0, %%%%globaltimer;\" : \"=l\"(wall));\n"
        "    asm volatile(\"mov.u32 %%0, %%%%smid;\" : \"=r\"(sm));\n"
        "    at[0] = wall;\n    at[1] = tl_clock();\n    at[2] = block;\n    at[3] = sm;\n"
        "    return at + %d;\n}\n\n",
        PROFILE_SHIFT, PROFILE_BLOCKS, PROFILE_BLOCKS, PROFILE_RECORDS, PROFILE_HEAD);
}
