/* import.c -- import statements.  tilelang and a few modules of Python are known, files beside the
 * one being run are run, and all others are opaque names that fail only when a kernel needs them.
 */
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

static Value *remember_module(Eval *ev, const char *name, const Value *v)
{
    Value *copy = NEW(ev->arena, Value);
    *copy = *v;
    map_set(&ev->modules, arena_strdup(ev->arena, name), copy);
    return copy;
}

/* "utils", ".utils" and "ops.utils" as files next to the one that imports, or as folders with an
 * __init__.py; NULL if there is none. */
static const Source *module_source(Eval *ev, const Source *from, const char *name)
{
    const char *slash = strrchr(from->name, '/'), *why;
    char *path = arena_printf(ev->arena, "%.*s%s", slash ? (int)(slash - from->name + 1) : 0,
                              from->name, name + strspn(name, "."));
    for (char *s = path + (slash ? slash - from->name + 1 : 0); *s; s++)
        if (*s == '.')
            *s = '/';
    char *folder = arena_printf(ev->arena, "%s/__init__.py", path);
    path = arena_printf(ev->arena, "%s.py", path);
    if (!file_exists(path) && file_exists(folder))
        path = folder;
    Source *src = NEW(ev->arena, Source);
    char *text;
    if (strspn(name, ".") > 1 || !file_exists(path) ||
        file_read(ev->arena, path, &text, &src->len, &why) != STATUS_OK)
        return NULL;
    src->name = path;
    src->text = text;
    return src;
}

/* The module as an object whose fields are its names.  It is known before it is run, so that two
 * files may import each other. */
static Value *run_file(Eval *ev, Span at, const Source *src)
{
    Object *o = NEW(ev->arena, Object);
    Value v = {.kind = V_OBJECT, .u.object = o}, *known = remember_module(ev, src->name, &v);
    o->name = src->name;
    map_init_text(&o->fields, ev->arena);
    AstModule *m = parse_module(ev->arena, ev->names, ev->diag, src);
    if (ev->diag->nerror)
        diag_throw(ev->diag);
    eval_nest(ev, at);
    Scope *s = run_module(ev, m);
    ev->nest--;
    for (int i = 0; i < s->names.n; i++)
        if (s->names.at[i].key)
            map_set(&o->fields, s->names.at[i].key, s->names.at[i].val);
    return known;
}

static Value module_value(Eval *ev, Span at, const char *name)
{
    Value v = value_cstr(ev, name), *known = map_get(&ev->modules, name);
    if (known)
        return *known;
    v.kind = is_known_module(name) ? V_MODULE : V_OPAQUE;
    static const char *const ours[] = {"tilelang", "tilelang.language"};
    const char *near = nearest_name(name, ours, COUNT(ours));
    if (near)
        diag_fail(ev->diag, at, "there is no module '%s'; did you mean '%s'? [no-such-name]", name,
                  near);
    if (v.kind == V_MODULE)
        return *remember_module(ev, name, &v);
    const Source *src = at.src ? module_source(ev, at.src, name) : NULL;
    if (!src)
        return v;
    known = map_get(&ev->modules, src->name);
    return known ? *known : *run_file(ev, at, src);
}

/* `import a.b.c` binds a, an object that holds b, which holds c. */
static Value inside_package(Eval *ev, const Value *old, const char *name, const char *rest,
                            const Value *module)
{
    Object *o = old && old->kind == V_OBJECT ? old->u.object : NULL;
    if (!o) {
        o = NEW(ev->arena, Object);
        o->name = name;
        map_init_text(&o->fields, ev->arena);
    }
    size_t n = strcspn(rest, ".");
    const char *next = name_intern(ev->names, rest, n);
    Value *field = NEW(ev->arena, Value);
    *field = rest[n] ? inside_package(ev, map_get(&o->fields, next), next, rest + n + 1, module)
                     : *module;
    map_set(&o->fields, next, field);
    return (Value){.kind = V_OBJECT, .u.object = o};
}

static void import_name(Eval *ev, Scope *s, const AstImport *im)
{
    Value v = module_value(ev, im->span, im->name);
    if (im->alias) {
        scope_set(ev, s, im->alias, &v);
        return;
    }
    size_t n = strcspn(im->name, ".");
    const char *first = name_intern(ev->names, im->name, n);
    if (v.kind == V_OBJECT && im->name[n])
        v = inside_package(ev, scope_find(s, first), first, im->name + n + 1, &v);
    else
        v = module_value(ev, im->span, first);
    scope_set(ev, s, first, &v);
}

/* A name of a module that the package has as Python, or such a module; NULL: it is neither. */
static Value *packaged_name(Eval *ev, Span at, const char *module, const char *name)
{
    const char *full = arena_printf(ev->arena, "%s.%s", module, name);
    const Source *src = packaged_source(ev, module);
    Value *v = src ? map_get(&ev->modules, module) : NULL, *found;

    if (src && (!v || v->kind != V_OBJECT))
        v = run_file(ev, at, src);
    found = v ? map_get(&v->u.object->fields, name) : NULL;
    src = found ? NULL : packaged_source(ev, full);
    if (!src)
        return found;
    v = map_get(&ev->modules, full);
    return v && v->kind == V_OBJECT ? v : run_file(ev, at, src);
}

static void import_from(Eval *ev, Scope *s, const char *module, const AstImport *im)
{
    module = packaged_absolute(ev, im->span.src, module);
    Value *own = packaged_name(ev, im->span, module, im->name);
    if (own) {
        scope_set(ev, s, im->alias ? im->alias : im->name, own);
        return;
    }
    if (!strcmp(im->name, "*")) {
        ev->star = ev->star || !strcmp(module, "tilelang.language");
        Value all = module_value(ev, im->span, module);
        if (all.kind == V_MODULE)
            python_import_all(ev, s, module);
        for (int i = 0; all.kind == V_OBJECT && i < all.u.object->fields.n; i++) {
            const MapEntry *e = &all.u.object->fields.at[i];
            if (e->key && ((const char *)e->key)[0] != '_')
                scope_set(ev, s, e->key, e->val);
        }
        return;
    }
    const char *full = arena_printf(ev->arena, "%s.%s", module, im->name);
    bool here = !module[strspn(module, ".")]; /* from . import utils */
    Value from = here ? (Value){0} : module_value(ev, im->span, module), v;
    if (here)
        v = module_value(ev, im->span, im->name);
    else if (from.kind == V_MODULE && map_has(&ev->modules, full))
        v = *(Value *)map_get(&ev->modules, full);
    else if (from.kind == V_MODULE || from.kind == V_OBJECT)
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
