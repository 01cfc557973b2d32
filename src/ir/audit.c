/* audit.c -- where a kernel got less than its target has: noted where it is decided, told here. */
#include <stdlib.h>
#include "ir/ir.h"

typedef struct {
    const char *word;
    bool costly;
} AuditInfo;

static const AuditInfo audit_table[] = {
#define AUDIT(id, word, costly, doc) [AUDIT_##id] = {word, costly},
#include "ir/audit.def"
#undef AUDIT
};

static bool is_known(const Kernel *k, const AuditNote *f)
{
    for (int i = 0; i < k->findings.n; i++) {
        const AuditNote *o = &k->findings.at[i];
        if (o->kind == f->kind && o->at.line == f->at.line && o->at.col == f->at.col &&
            !strcmp(o->text, f->text))
            return true;
    }
    return false;
}

/* Of a kernel for arguments that hardly come (plan_variants) nothing is said: what is written is
 * for the other one. */
void audit_note(Kernel *k, AuditKind kind, Span at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    AuditNote f = {kind, at, arena_vprintf(k->ir->arena, fmt, ap)};
    va_end(ap);

    if ((k->assume && expr_is_const(k->assume)) || is_known(k, &f))
        return;
    vec_push(k->ir->arena, &k->findings, f);
    if (audit_table[kind].costly)
        diag_warn(k->diag, at.src ? at : k->span, "%s [slow]", f.text);
}

static int by_place(const void *a, const void *b)
{
    const AuditNote *x = a, *y = b;
    int names = x->at.src && y->at.src ? strcmp(x->at.src->name, y->at.src->name) : 0;

    return names ? names : x->at.line != y->at.line ? (x->at.line < y->at.line ? -1 : 1)
                       : x->kind != y->kind ? (x->kind < y->kind ? -1 : 1)
                                            : strcmp(x->text, y->text);
}

void print_audit(Str *out, const Kernel *k)
{
    int n = k->findings.n, nslow = 0;
    AuditNote *list = NEWN(out->arena, AuditNote, n + 1);

    for (int i = 0; i < n; i++) {
        list[i] = k->findings.at[i];
        nslow += audit_table[list[i].kind].costly;
    }
    qsort(list, (size_t)n, sizeof *list, by_place);
    str_printf(out, "kernel %s: ", k->name);
    if (n == 0)
        str_puts(out, "nothing fell back\n");
    else
        str_printf(out, "%d finding%s, %d of them slow\n", n, n == 1 ? "" : "s", nslow);
    for (int i = 0; i < n; i++)
        str_printf(out, "  %s: %s%s: %s\n",
                   list[i].at.src ? span_place(out->arena, list[i].at) : k->name,
                   audit_table[list[i].kind].costly ? "[slow] " : "",
                   audit_table[list[i].kind].word, list[i].text);
}
