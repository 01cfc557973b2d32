/* sync.c -- barriers that count bytes, waits for groups, registers that warps hand on, cluster
 * launch control. */
#include "front/builtin.h"

Value do_mbarrier_expect(BuiltinCall *c)
{
    call_threads(c);
    const Expr *bytes = arg_index(c, 1);
    return barrier_call(c, INTRIN_EXPECT_BYTES, 1, &bytes, NULL);
}

Value do_mbarrier_arrive_expect(BuiltinCall *c)
{
    call_threads(c);
    const Expr *bytes = arg_index(c, 1);
    return barrier_call(c, INTRIN_ARRIVE_BYTES, 1, &bytes, NULL);
}

Value do_cp_async_barrier(BuiltinCall *c)
{
    return barrier_call(c, INTRIN_ARRIVE_COPIES, 0, NULL, NULL);
}

/* One arrival for the GEMMs issued so far, as T.tcgen05_gemm(mbar=…) makes. */
Value do_mma_arrive(BuiltinCall *c)
{
    return barrier_call(c, INTRIN_ARRIVE, 0, NULL, arg_pair(c, 1) ? "mma_pair" : "mma");
}

/* Fences that order what a tile operator already orders. */
Value do_no_effect(BuiltinCall *c)
{
    call_kernel(c);
    return value_none();
}

/* Registers of a GEMM are kept in place by the GEMM itself. */
Value do_fence_operand(BuiltinCall *c)
{
    bool is_element;
    call_kernel(c);
    Region r = arg_region(c, 0, &is_element);
    int64_t all = MAX(buffer_static_size(r.buf), 1), first = arg_int(c, 1);
    int64_t n = arg_given(c, 2) ? arg_int(c, 2) : 0;
    if (first < 0 || n < 0 || first + n > all)
        arg_fail(c, n ? 2 : 1, "reaches to register %lld; '%s' has %lld elements [slice-range]",
                 (long long)(first + n), r.buf->name, (long long)all);
    if (arg_given(c, 3) && arg_dtype(c, 3, NULL) != r.buf->type)
        arg_fail(c, 3, "must be %s, the type of '%s' [argument-type]", dtype_name(r.buf->type),
                 r.buf->name);
    return value_none();
}

static Value wait_for(BuiltinCall *c, Intrin which)
{
    call_kernel(c);
    const Expr *n = arg_index(c, 0);
    return sync_call(c, which, 1, &n);
}

Value do_wait_group(BuiltinCall *c) { return wait_for(c, INTRIN_WAIT_COPIES); }
Value do_wait_wgmma(BuiltinCall *c) { return wait_for(c, INTRIN_WAIT_MMA); }

Value do_tma_store_wait(BuiltinCall *c)
{
    call_kernel(c);
    const Expr *arg[2] = {arg_index(c, 0), expr_bool(c->ev->ir, arg_bool(c, 1))};
    return sync_call(c, INTRIN_WAIT_STORES, 2, arg);
}

/* ---- registers ------------------------------------------------------------------------------- */

static Value register_note(BuiltinCall *c, const char *name)
{
    Kernel *k = call_kernel(c);
    int64_t n = arg_int(c, 0);
    if (n < 24 || n > 256 || n % 8)
        arg_fail(c, 0, "must be a multiple of 8 from 24 to 256, not %lld [argument-type]",
                 (long long)n);
    hints_int(c->ev, &k->hints, name, n);
    return value_none();
}

Value do_producer_regs(BuiltinCall *c) { return register_note(c, "producer_registers"); }
Value do_consumer_regs(BuiltinCall *c) { return register_note(c, "consumer_registers"); }

Value do_no_register_moves(BuiltinCall *c)
{
    hints_int(c->ev, &call_kernel(c)->hints, "keep_registers", 1);
    return value_none();
}

Value do_set_max_nreg(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    const char *name = c->b->name;
    call_kernel(c);
    int64_t n = arg_int(c, 0);
    int64_t inc = !strncmp(name, "inc", 3) || (!strncmp(name, "set", 3) && arg_int(c, 1) != 0);
    const Expr *arg[2] = {expr_int(ir, n), expr_int(ir, inc)};
    return call_intrin(c, INTRIN_SET_MAX_NREG, 2, arg, 0, NULL, NULL, DT_NONE);
}

/* ---- cluster launch control ------------------------------------------------------------------ */

/* The answer: 16 bytes of shared memory. */
static Region clc_answer(BuiltinCall *c)
{
    call_threads(c);
    Region r = arg_tile(c, 0);
    if (r.buf->scope != MEM_SHARED || dtype_bits(r.buf->type) != 32 || region_nelem(&r) != 4)
        arg_fail(c, 0, "must be four words of 32 bits in shared memory [argument-type]");
    return r;
}

Value do_clc_try(BuiltinCall *c)
{
    bool is_element;
    Region r[2] = {clc_answer(c), arg_region(c, 1, &is_element)};
    const Expr *all = expr_bool(c->ev->ir, strstr(c->b->name, "multicast") != NULL);
    if (r[1].buf->scope != MEM_BARRIER && r[1].buf->scope != MEM_CLUSTER_BARRIER)
        arg_fail(c, 1, "must be a barrier of T.alloc_barrier [argument-type]");
    call_intrin(c, INTRIN_CLC_TRY, 1, &all, 2, r, NULL, DT_NONE);
    return value_none();
}

/* Argument: which index of the block; 3: whether there is one. */
Value do_clc_query(BuiltinCall *c)
{
    Region r = clc_answer(c);
    const char *name = c->b->name;
    char last = name[strlen(name) - 1];
    const Expr *which = expr_int(c->ev->ir, last >= 'x' && last <= 'z' ? last - 'x' : 3);
    return call_intrin(c, INTRIN_CLC_QUERY, 1, &which, 1, &r, NULL, DT_I32);
}
