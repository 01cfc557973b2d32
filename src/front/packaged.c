/* packaged.c -- modules of the package that are Python here too: their text is in the library. */
#include "front/eval.h"
#include "package_text.h"

static const struct {
    const char *name;
    const unsigned char *text;
    bool folder;
} modules[] = {
#define PACKAGED(name, text, folder) {name, text, folder},
#include "front/module.def"
#undef PACKAGED
};

static int find(const char *name)
{
    for (int i = 0; i < COUNT(modules); i++)
        if (!strcmp(modules[i].name, name))
            return i;
    return -1;
}

const Source *packaged_source(Eval *ev, const char *name)
{
    int i = find(name);

    if (i < 0)
        return NULL;
    Source *src = NEW(ev->arena, Source);
    src->name = modules[i].name;
    src->text = (const char *)modules[i].text;
    src->len = strlen(src->text);
    return src;
}

/* "..target" in tilelang.rocm.intrinsics.utils is tilelang.rocm.target. */
const char *packaged_absolute(Eval *ev, const Source *from, const char *module)
{
    int i = from ? find(from->name) : -1;
    size_t dots = strspn(module, "."), n = i < 0 ? 0 : strlen(from->name);

    if (i < 0 || !dots)
        return module;
    for (size_t up = modules[i].folder; up < dots; up++)
        while (n > 0 && from->name[--n] != '.')
            ;
    const char *rest = module + dots;
    return arena_printf(ev->arena, "%.*s%s%s", (int)n, from->name, *rest ? "." : "", rest);
}
