/* fuzz_read.c -- the reader of the text form on any bytes: what it takes prints to text that it
 * takes again and prints the same. */
#include "target/target.h"
#include "fuzz.h"

static const char *print(Fuzz *f, const Func *fn)
{
    Str s;
    str_init(&s, f->arena);
    print_func(&s, fn);
    return s.s;
}

static void read_all(Fuzz *f)
{
    Ir *ir = ir_new(f->arena, f->names, &f->diag, &op_words);
    ir->mechs = target_table[0]->mechs;
    const char *once = print(f, func_read(ir, &f->src));
    Source again = {"again.tile", once, strlen(once)};
    HOLD(strcmp(print(f, func_read(ir, &again)), once) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_run(data, size, read_all);
    return 0;
}
