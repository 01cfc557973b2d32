/* builtin_annotate.c -- notes on a kernel: layouts, safe values, register counts, schedules. */
#include "front/builtin.h"

typedef void NoteFn(BuiltinCall *c, Kernel *k, Buffer *b, const Value *v);

/* Every pair of a dict whose keys are buffers. */
static Value each_buffer(BuiltinCall *c, NoteFn *note)
{
    Kernel *k = call_kernel(c);
    const Value *d = &c->arg[0];
    if (d->kind != V_DICT)
        arg_fail(c, 0, "must be a dict {buffer: …}, not %s [argument-type]", value_kind_name(d));
    for (int i = 0; i + 1 < d->u.seq->n; i += 2) {
        const Value *key = &d->u.seq->at[i];
        if (key->kind != V_BUFFER)
            arg_fail(c, 0, "must have buffers as keys, not %s [argument-type]",
                     value_kind_name(key));
        note(c, k, key->u.buf, &d->u.seq->at[i + 1]);
    }
    return value_none();
}

/* The elements must fill the tensor's memory; large ones are not tried one by one. */
static void check_tensor(BuiltinCall *c, const Buffer *b, const Layout *l)
{
    enum { FEW = 1 << 16 };
    int64_t points = layout_points(l);

    if (b->stride || b->view_of)
        arg_fail(c, 0, "'%s' has %s already, and takes no layout [layout-scope]", b->name,
                 b->stride ? "strides" : "the order of what it is a view of");
    if (layout_size(l) != points)
        arg_fail(c, 0, "the layout of '%s' spans %lld elements, the tensor has %lld "
                 "[layout-shape]", b->name, (long long)layout_size(l), (long long)points);
    if (points <= FEW && !layout_is_injective(c->ev->ir, l))
        arg_fail(c, 0, "the layout of '%s' puts two elements in one place [layout-injective]",
                 b->name);
}

static void pin_layout(BuiltinCall *c, Kernel *k, Buffer *b, const Value *v)
{
    int64_t shape[RANK_MOST];
    const Layout *l = v->kind == V_LAYOUT ? v->u.layout : NULL;
    if (!buffer_static_shape(b, shape))
        arg_fail(c, 0, "'%s' has no constant shape [tile-shape]", b->name);
    if (v->kind == V_FUNCTION || v->kind == V_METHOD || v->kind == V_BUILTIN)
        l = layout_from_function(c, c->arg_span[0], v, b->rank, shape);
    if (!l)
        arg_fail(c, 0, "'%s' is given %s, which is no Layout [argument-type]", b->name,
                 value_kind_name(v));
    bool same = l->rank == b->rank;
    for (int d = 0; same && d < b->rank; d++)
        same = l->extent[d] == shape[d];
    if (!same) {
        Str s;
        str_init(&s, c->ev->arena);
        layout_print(&s, l);
        Region whole = region_whole(c->ev->ir, b);
        arg_fail(c, 0, "the layout %s is of another shape than '%s' %s [layout-shape]", s.s,
                 b->name, extents_text(c->ev, &whole));
    }
    if (b->scope == MEM_LOCAL && layout_is_fragment(l))
        return; /* every thread has all of it */
    if (b->scope == MEM_TMEM && layout_is_equal(c->ev->ir, l, layout_row_major(c->ev->ir, b->rank,
                                                                               shape)))
        return;
    if (b->scope == MEM_TMEM)
        arg_fail(c, 0, "'%s' is in tensor memory, whose rows and columns are those of the tile: "
                 "only T.make_blockscaled_gemm_layout is taken [layout-kind]", b->name);
    if (b->scope == MEM_FRAGMENT && !layout_is_fragment(l))
        arg_fail(c, 0, "'%s' is a fragment; it needs a Fragment, not a Layout [layout-kind]",
                 b->name);
    if (b->scope != MEM_FRAGMENT && layout_is_fragment(l))
        arg_fail(c, 0, "'%s' is not a fragment; it needs a Layout [layout-kind]", b->name);
    if (b->scope == MEM_GLOBAL) {
        check_tensor(c, b, l);
        vec_push(c->ev->arena, &c->ev->trace->laid, b);
    } else if (!layout_is_fragment(l) && !layout_is_injective(c->ev->ir, l))
        arg_fail(c, 0, "shared buffer `%s`: a layout must be injective, and two elements both map "
                 "to physical coordinates that are the same [layout-injective]",
                 b->name);
    BufferPlan *p = buffer_plan(k, b);
    p->layout = l;
    p->pinned = true;
}

static void note_safe(BuiltinCall *c, Kernel *k, Buffer *b, const Value *v)
{
    buffer_plan(k, b)->safe = cast_value(c->ev, c->arg_span[0], b->type, 1, v, call_what(c, 0));
}

static void note_hit_ratio(BuiltinCall *c, Kernel *k, Buffer *b, const Value *v)
{
    if (!value_is_number(v) || value_number(v) < 0 || value_number(v) > 1)
        arg_fail(c, 0, "the ratio of '%s' must be from 0 to 1 [argument-type]", b->name);
    buffer_plan(k, b)->l2_hit_ratio = value_number(v);
    arg_fail(c, 0, "cannot be obeyed: launches reserve no part of the second cache; "
             "eviction_policy= of a copy says what stays in it [unsupported-here]");
}

Value do_annotate_layout(BuiltinCall *c) { return each_buffer(c, pin_layout); }
Value do_annotate_safe_value(BuiltinCall *c) { return each_buffer(c, note_safe); }
Value do_annotate_l2_hit_ratio(BuiltinCall *c) { return each_buffer(c, note_hit_ratio); }

Value do_annotate_min_blocks(BuiltinCall *c)
{
    Kernel *k = call_kernel(c);
    int64_t n = arg_int(c, 0);
    if (n < 1 || n > 32)
        arg_fail(c, 0, "must be from 1 to 32, not %lld [argument-type]", (long long)n);
    k->min_blocks = (int)n;
    return value_none();
}

Value do_annotate_restrict(BuiltinCall *c)
{
    Kernel *k = call_kernel(c);
    for (int i = 0; i < c->nrest; i++) {
        if (c->rest[i].kind != V_BUFFER)
            call_fail(c, "takes buffers, not %s [argument-type]", value_kind_name(&c->rest[i]));
        hints_text(c->ev, &k->hints, "may_alias", c->rest[i].u.buf->name);
    }
    return value_none();
}

/* ---- schedules of warp roles --------------------------------------------------------------------
 *
 * A schedule says who does a statement and when, never what it means: the kernel read from top to
 * bottom gives the same results.  So these are records that keep their arguments. */

Value do_record(BuiltinCall *c)
{
    Eval *ev = c->ev;
    Object *o = NEW(ev->arena, Object);
    o->name = c->b->name;
    map_init_text(&o->fields, ev->arena);
    for (int i = 0; i < c->narg; i++) {
        const char *what = call_what(c, i); /* "T.WSRole: 'name'" */
        const char *open = strchr(what, '\'');
        Value *v = NEW(ev->arena, Value);
        *v = c->arg[i];
        map_set(&o->fields, name_intern(ev->names, open + 1, strlen(open) - 2), v);
    }
    return (Value){.kind = V_OBJECT, .u.object = o};
}

void ignore_schedule(const BuiltinCall *c, Span at)
{
    diag_ignored(c->ev->diag, at, "the schedule of warp roles",
                 "the compiler gives warps their roles itself; T.ws says by hand who does what "
                 "[ignored]");
}

Value do_annotate_ws_schedule(BuiltinCall *c)
{
    call_kernel(c);
    if (c->arg[0].kind != V_OBJECT || strcmp(c->arg[0].u.object->name, "WSSchedule"))
        arg_fail(c, 0, "must be a T.WSSchedule, not %s [argument-type]",
                 value_kind_name(&c->arg[0]));
    ignore_schedule(c, c->span);
    return value_none();
}

/* Depths of a scheduler that is not here: pipelines are as deep as num_stages= of their loop. */
Value do_annotate_ws_pipeline_depth(BuiltinCall *c)
{
    call_kernel(c);
    if (c->arg[0].kind != V_DICT)
        arg_fail(c, 0, "must be a dict of tiles and depths, not %s [argument-type]",
                 value_kind_name(&c->arg[0]));
    ignore_schedule(c, c->span);
    return value_none();
}

static Value attr_frame(BuiltinCall *c, Hints h)
{
    Frame *f = NEW(c->ev->arena, Frame);
    f->kind = FRAME_ATTR;
    f->hints = h;
    f->span = c->span;
    return (Value){.kind = V_FRAME, .u.frame = f};
}

Value do_ws_op(BuiltinCall *c)
{
    Hints h = {0};
    call_kernel(c);
    arg_text(c, 0);
    ignore_schedule(c, c->span);
    return attr_frame(c, h);
}

/* T.attr(node, "async_scope", 1): what is copied to shared memory inside lands later. */
static Value async_frame(BuiltinCall *c)
{
    Value v = attr_frame(c, (Hints){0});
    v.u.frame->copies_async = arg_int(c, 2) != 0;
    return v;
}

/* T.attr(node, key, value) as a context, and T.attr(T.comm_reducer(…), "reduce_scope", …). */
Value do_attr(BuiltinCall *c)
{
    Hints h = {0};
    call_kernel(c);
    const char *key = arg_text(c, 1);
    if (key && !strcmp(key, "async_scope"))
        return async_frame(c);
    if (!key || strcmp(key, "reduce_scope"))
        note_unread(c, 1, key ? key : "None");
    if (!value_text(&c->arg[0]))
        arg_fail(c, 0, "must be a T.comm_reducer, not %s [argument-type]",
                 value_kind_name(&c->arg[0]));
    if (arg_expr(c, 2)->type != DT_HANDLE)
        arg_fail(c, 2, "must be an address, as in T.reinterpret(T.uint64(0), \"handle\") "
                 "[argument-type]");
    c->ev->trace->combiner = value_text(&c->arg[0]);
    return attr_frame(c, h);
}

Value do_block_attr(BuiltinCall *c)
{
    notes_dict(c, 0, &call_kernel(c)->hints);
    return value_none();
}

Value do_func_attr(BuiltinCall *c)
{
    Eval *ev = c->ev;
    const Value *d = &c->arg[0];
    trace_need(ev, c->span, call_title(c));
    if (d->kind != V_DICT)
        arg_fail(c, 0, "must be a dict, not %s [argument-type]", value_kind_name(d));
    for (int i = 0; i + 1 < d->u.seq->n; i += 2) {
        const char *key = value_text(&d->u.seq->at[i]);
        Value one = value_seq(ev, V_DICT, &d->u.seq->at[i], 2);
        const char *text = value_text(&d->u.seq->at[i + 1]);
        if (key && !strcmp(key, "global_symbol") && text)
            ev->trace->func->known_as = ir_name(ev->ir, text);
        else if (key && strchr(key, '.'))
            hints_configs(ev, c->arg_span[0], &ev->trace->func->hints, &one);
        else
            note_unread(c, 0, key ? key : "None");
    }
    return value_none();
}
