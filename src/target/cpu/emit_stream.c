/* emit_stream.c -- loops that the C compiler makes vectors of, whose results go past the caches.
 *
 * No C expression is a store past the caches, and what emit_vector.c cannot write as vectors (error
 * functions, conditions, integers) is left to the compiler.  So it computes a part of the results
 * into the first cache, and that is copied from there:
 *
 *     for part of 512 elements: for j in it: part[j] = ...
 *                               tl_stream(&out[first of it], part, 512) */
#include "target/cpu/emit.h"
#include "target/cpu/pass/rows.h"

enum { PART_MOST = 512, PART_LEAST = 64, STREAMS_MOST = 4 };

typedef struct {
    const Stmt *store[STREAMS_MOST];
    int n;
} Streams;

static int count_of(const Stmt *body)
{
    return body->kind == ST_BLOCK ? body->u.block.n : 1;
}

static const Stmt *stmt_at(const Stmt *body, int i)
{
    return body->kind == ST_BLOCK ? body->u.block.list[i] : body;
}

static bool find_streams(Emit *e, const Stmt *loop, Streams *s)
{
    const Stmt *body = loop->u.loop.body;
    *s = (Streams){.n = 0};
    for (int i = 0; i < count_of(body); i++) {
        const Stmt *t = stmt_at(body, i);
        if (t->kind == ST_LET)
            continue;
        if (t->kind != ST_STORE || t->u.store.guard || t->u.store.value->lanes != 1)
            return false;
        if (!tensor_streams(e->k, t->u.store.buf) || s->n == STREAMS_MOST ||
            !is_consecutive(e, loop->u.loop.var, t->u.store.buf, t->u.store.at[0]))
            continue;
        s->store[s->n++] = t;
    }
    return s->n > 0;
}

static int part_of(const Streams *s, const Stmt *t)
{
    for (int i = 0; i < s->n; i++)
        if (s->store[i] == t)
            return i;
    return -1;
}

/* So many elements at a time: all parts as long as each other, if that can be. */
static int64_t part_size(int64_t extent)
{
    if (extent <= PART_MOST)
        return extent;
    for (int64_t n = PART_MOST; n >= PART_LEAST * 2; n /= 2)
        if (extent % n == 0)
            return n;
    return PART_MOST;
}

static void put_body(Emit *e, const Stmt *body, const Streams *s)
{
    for (int i = 0; i < count_of(body); i++) {
        const Stmt *t = stmt_at(body, i);
        const int part = part_of(s, t);
        if (part < 0) {
            emit_stmt(e, t);
            continue;
        }
        emit_indent(e);
        str_printf(e->out, "tl_part%d[tl_i] = ", part);
        emit_stored(e, DT_F32, t->u.store.value);
        str_puts(e->out, ";\n");
    }
}

static void put_part(Emit *e, const Stmt *loop, const Streams *s, int64_t size, bool all)
{
    const Var *v = loop->u.loop.var;
    const char *name = var_name(e, v), *type = c_value_type(v->type);

    for (int i = 0; i < s->n; i++)
        emit_line(e, "float tl_part%d[%lld] TL_ALIGN;", i, (long long)size);
    if (all)
        emit_line(e, "enum { tl_n = %lld };", (long long)size);
    else
        emit_line(e, "const int32_t tl_n = (int32_t)tl_min_i64(%s_end - %s_at, %lld);", name, name,
                  (long long)size);
    emit_line(e, "#pragma GCC ivdep");
    emit_line(e, "for (int32_t tl_i = 0; tl_i < tl_n; tl_i++) {");
    e->indent++;
    emit_line(e, "const %s %s = %s_at + tl_i;", type, name, name);
    put_body(e, loop->u.loop.body, s);
    e->indent--;
    emit_line(e, "}");
    emit_line(e, "const %s %s = %s_at;", type, name, name);
    for (int i = 0; i < s->n; i++) {
        emit_indent(e);
        str_printf(e->out, "tl_stream(&%s[", buffer_name(e, s->store[i]->u.store.buf));
        emit_loose(e, s->store[i]->u.store.at[0]);
        str_printf(e->out, "], tl_part%d, tl_n);\n", i);
    }
}

bool emit_stream_loop(Emit *e, const Stmt *loop)
{
    Streams s;
    int64_t extent;

    if (!emits_vectors(e) || !expr_is_int(loop->u.loop.extent, &extent) || extent < PART_LEAST ||
        !find_streams(e, loop, &s))
        return false;
    const int64_t size = part_size(extent);
    const char *v = var_name(e, loop->u.loop.var), *t = c_value_type(loop->u.loop.var->type);
    cpu_of(e)->part[PART_VECTOR] = cpu_of(e)->part[PART_MATH] = true;
    cpu_of(e)->streams = true;
    emit_line(e, "{");
    e->indent++;
    emit_indent(e);
    str_printf(e->out, "const %s %s_first = ", t, v);
    emit_loose(e, loop->u.loop.min);
    str_printf(e->out, ", %s_end = %s_first + %lld;\n", v, v, (long long)extent);
    emit_line(e, "for (%s %s_at = %s_first; %s_at < %s_end; %s_at += %lld) {", t, v, v, v, v, v,
              (long long)size);
    e->indent++;
    put_part(e, loop, &s, size, extent % size == 0);
    e->indent--;
    emit_line(e, "}");
    e->indent--;
    emit_line(e, "}");
    return true;
}
