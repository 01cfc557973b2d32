/* import.c -- import statements: tilelang and a few modules of Python are known, all others are
 * opaque names that fail only when a kernel needs their values. */
#include "front/eval.h"

static bool is_known_module(const char *name)
{
    static const char *const known[] = {"math", "itertools", "functools", "operator", "typing",
                                        "dataclasses", "enum"};
    if (!strncmp(name, "tilelang", 8) && (!name[8] || name[8] == '.'))
        return true;
    if (!strncmp(name, "tvm", 3) && (!name[3] || name[3] == '.'))
        return true;
    for (int i = 0; i < COUNT(known); i++)
        if (!strcmp(name, known[i]))
            return true;
    return false;
}

static Value module_value(Eval *ev, const char *name)
{
    Value v = value_cstr(ev, name), *copy;
    v.kind = is_known_module(name) ? V_MODULE : V_OPAQUE;
    if (v.kind == V_MODULE && !map_has(&ev->modules, name)) {
        copy = NEW(ev->arena, Value);
        *copy = v;
        map_set(&ev->modules, v.u.s.text, copy);
    }
    return v;
}

static void import_name(Eval *ev, Scope *s, const AstImport *im)
{
    Value v = module_value(ev, im->name);
    if (im->alias) {
        scope_set(ev, s, im->alias, &v);
        return;
    }
    size_t n = strcspn(im->name, ".");
    const char *first = name_intern(ev->names, im->name, n);
    v = module_value(ev, first);
    scope_set(ev, s, first, &v);
}

static void import_from(Eval *ev, Scope *s, const char *module, const AstImport *im)
{
    if (!strcmp(im->name, "*")) {
        ev->star = ev->star || !strcmp(module, "tilelang.language");
        return;
    }
    const char *full = arena_printf(ev->arena, "%s.%s", module, im->name);
    Value from = module_value(ev, module), v;
    if (from.kind == V_MODULE && map_has(&ev->modules, full))
        v = *(Value *)map_get(&ev->modules, full);
    else if (from.kind == V_MODULE)
        v = value_attr(ev, im->span, &from, im->name);
    else
        v = value_opaque(ev, full);
    scope_set(ev, s, im->alias ? im->alias : im->name, &v);
}

void eval_import(Eval *ev, Scope *s, const AstStmt *st)
{
    for (int i = 0; i < st->nname; i++) {
        if (st->kind == AS_IMPORT)
            import_name(ev, s, &st->names[i]);
        else
            import_from(ev, s, st->name, &st->names[i]);
    }
}
