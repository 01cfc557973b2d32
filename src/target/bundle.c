/* bundle.c -- the C interface of a kernel to ship: names, prototype, header, checks. */
#include <ctype.h>
#include "target/bundle.h"

const char *bundle_c_name(Arena *a, const char *s)
{
    char *name = arena_strdup(a, s);

    for (char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '_')
            *p = '_';
    if (word_is_taken(a, name))
        return arena_printf(a, "v%s%s", name[0] == '_' ? "" : "_", name);
    return isdigit((unsigned char)*name) ? arena_printf(a, "k%s", name) : name;
}

static const char *scalar_type(DType t)
{
    if (dtype_is_float(t))
        return t == DT_F64 ? "double" : "float";
    return dtype_table[t].ctype;
}

bool bundle_is_scalar(const Func *f, const Var *v)
{
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].var == v)
            return true;
    return false;
}

void bundle_prototype(const TargetBundle *b, Str *out, const char *prefix)
{
    const Func *f = b->tile;
    Arena *a = out->arena;
    int n = 0;

    str_printf(out, "int %s%s(", prefix, bundle_c_name(a, b->name));
    for (int i = 0; i < f->params.n; i++, n++) {
        const Param *p = &f->params.at[i];
        str_puts(out, n ? ", " : "");
        if (p->buf)
            str_printf(out, "%s%s *%s", b->use[i] & PARAM_WRITE ? "" : "const ",
                       dtype_table[p->buf->type].ctype, bundle_c_name(a, p->name));
        else
            str_printf(out, "%s %s", scalar_type(p->var->type), bundle_c_name(a, p->name));
    }
    for (int i = 0; i < f->dims.n; i++)
        if (!bundle_is_scalar(f, f->dims.at[i]))
            str_printf(out, "%sint64_t %s", n++ ? ", " : "", bundle_c_name(a, f->dims.at[i]->name));
    if (b->stream)
        str_printf(out, "%svoid *stream", n++ ? ", " : "");
    str_puts(out, n ? ")" : "void)");
}

static void put_shape(Str *out, const Buffer *b)
{
    str_putc(out, '(');
    for (int d = 0; d < b->rank; d++) {
        str_puts(out, d ? ", " : "");
        print_expr(out, b->shape[d]);
    }
    str_putc(out, ')');
}

void bundle_header(const TargetBundle *b, Str *out)
{
    const Func *f = b->tile;
    const char *name = bundle_c_name(out->arena, b->name);

    str_printf(out, "/* %s.h -- a tile kernel, made by tilelang %s.\n *\n", name, b->version);
    for (int i = 0; i < f->params.n; i++) {
        const Param *p = &f->params.at[i];
        str_printf(out, " *   %-10s %s", bundle_c_name(out->arena, p->name),
                   dtype_name(p->buf ? p->buf->type : p->var->type));
        if (p->buf)
            put_shape(out, p->buf);
        str_printf(out, "%s\n",
                   !p->buf                    ? ""
                   : !(b->use[i] & PARAM_WRITE) ? ", read"
                   : b->use[i] & PARAM_READ     ? ", read and written"
                                              : ", written");
    }
    for (int i = 0; i < f->dims.n; i++)
        if (!bundle_is_scalar(f, f->dims.at[i]))
            str_printf(out, " *   %-10s a dimension\n",
                       bundle_c_name(out->arena, f->dims.at[i]->name));
    str_printf(
        out,
        " *\n * Tensors are row-major and contiguous unless declared with strides.  Types C does "
        "not\n"
        " * have (float16, bfloat16, float8) are their bits.  Returns 0, or 1 with a text at\n"
        " * %s_error().  May be called from several threads; %s. */\n",
        name,
        b->stream ? "tensors are on the GPU, and the launch\n * goes into the stream (NULL: the "
                 "default one) without waiting"
               : "runs are serialized");
    str_printf(out, "#ifndef TL_BUNDLE_%s_H\n#define TL_BUNDLE_%s_H\n\n#include <stddef.h>\n"
               "#include <stdint.h>\n\n", name, name);
    str_puts(out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    bundle_prototype(b, out, "");
    str_puts(out, ";\n");
    if (!b->stream)
        str_printf(out, "void %s_set_threads(int n); /* 0: all cores */\n", name);
    str_printf(out, "const char *%s_error(void);   /* of this thread's last call */\n", name);
    str_printf(out, "/* What runs on this machine: a line for each part into text; how many "
               "run. */\nint %s_check(char *text, size_t n);\n", name);
    if (!b->stream)
        str_printf(out, "const char *%s_level(void);   /* the code that was chosen */\n", name);
    str_putc(out, '\n');
    str_puts(out, "#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

void bundle_check_dims(const Func *f, Str *out, const char *said)
{
    for (int i = 0; i < f->dims.n; i++) {
        const char *name = bundle_c_name(out->arena, f->dims.at[i]->name);
        if (f->dims.at[i]->type == DT_I32 && !bundle_is_scalar(f, f->dims.at[i]))
            str_printf(out,
                       "    if (%s > INT32_MAX) {\n"
                       "        snprintf(%s, sizeof %s, \"%s is more than an int32 holds "
                       "[dim-too-large]\");\n        return 1;\n    }\n",
                       name, said, said, name);
    }
}
