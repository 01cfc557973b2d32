/* isa.c -- the table of instructions. */
#include "isa/isa.h"

static const Isa isa_table[] = {
#define ISA(id, name, scope, effects, narg, simulate, doc)                                         \
    {name, scope, effects, narg, doc, simulate},
#include "isa/isa.def"
#undef ISA
};

const Isa *isa_find(const char *name)
{
    for (int i = 0; i < COUNT(isa_table); i++)
        if (strcmp(isa_table[i].name, name) == 0)
            return &isa_table[i];
    return NULL;
}

const char *isa_name(const Isa *isa)
{
    return isa->name;
}

const Isa *isa_by_name(const char *name)
{
    return isa_find(name);
}
