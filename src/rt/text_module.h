/* text_module.h -- modules of devices whose driver takes a text: kernels are made once it is known
 * what they take, and assertions leave a number that the text explains. */
#ifndef TL_RT_TEXT_MODULE_H
#define TL_RT_TEXT_MODULE_H

#include "rt/driver.h"

/* What the handle of such a module points to begins with this. */
typedef struct {
    char *text; /* as the emitter left it */
    void *fn;   /* kernels, by Func.kernels */
    int nfn;    /* that were made, or tried */
} TextModule;

typedef struct {
    const char *language;
    int args_most; /* of a kernel */
    size_t size;   /* of what a module keeps of a kernel */
    int no_memory; /* the number of that error */
    int (*make)(TextModule *m, void *fn, const Kernel *k);
} TextKernels;

/* gpu_load, and its kernels. */
Status text_load(const TextKernels *how, Arena *a, Gpu *g, Func *f, const Module *code,
                 Loaded **out, const char **why);
int text_function(Handle *f, Handle module, const char *name); /* Gpu.module_function */
void text_free(TextModule *m);
/* What the assertion of that number says, *n bytes of the text. */
const char *text_assertion(const TextModule *m, unsigned number, int *n);

#endif
