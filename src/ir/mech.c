/* mech.c -- the mechanisms that every target has. */
#include "ir/mech.h"

const Mech mech_none = {.name = "none"};
const Mech mech_plain = {.name = "plain", .own_loops = true};

const Mech *mech_find(const Mech *const *rows, const char *name)
{
    if (!strcmp(name, mech_none.name))
        return &mech_none;
    if (!strcmp(name, mech_plain.name))
        return &mech_plain;
    for (; rows && *rows; rows++)
        if (!strcmp((*rows)->name, name))
            return *rows;
    return NULL;
}

const Mech *mech_ahead(const Mech *const *rows)
{
    while (rows && *rows && (*rows)->step != MECH_AHEAD)
        rows++;
    return rows ? *rows : NULL;
}
