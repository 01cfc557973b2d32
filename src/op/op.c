/* op.c -- the table of tile operators. */
#include "op/op.h"

const TileOp *const op_table[OP_COUNT] = {
#define OP(name) [OP_##name] = &op_##name,
#include "op/op.def"
#undef OP
};

const TileOp *op_find(const char *name)
{
    for (int i = 0; i < OP_COUNT; i++)
        if (strcmp(op_table[i]->name, name) == 0)
            return op_table[i];
    return NULL;
}

const IrWords op_words = {op_find, isa_name, isa_find, layout_print, layout_read};

void infer_nothing(Infer *in, const Stmt *t)
{
    (void)in;
    (void)t;
}

void pair_refuse(Kernel *k, const Stmt *t)
{
    if (tile_pairs(t))
        diag_fail(k->diag, t->span, "%s has no GEMM of two blocks together [unsupported-here]",
                  k->machine->text);
}
