/* os.c -- what stands for base/proc.c, base/pool.c, base/switch.c, api/twin.c and target/cpu/rt/profile.c in a browser, and the half of
 * setjmp that clang leaves to the library.
 *
 * Stacks of coroutines are the browser's (promises that a call of ours waits for); the part of a
 * stack that lies in memory is ours, so a switch keeps the stack pointer. */
#include <fenv.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include "api/public.h"
#include "base/base.h"
#include "target/cpu/rt/cpu.h"

/* ---- setjmp ---------------------------------------------------------------------------------- */

void __wasm_setjmp(jmp_buf env, unsigned label, void *frame);
unsigned __wasm_setjmp_test(jmp_buf env, void *frame);
_Noreturn void __wasm_longjmp(jmp_buf env, int value);

void __wasm_setjmp(jmp_buf env, unsigned label, void *frame)
{
    env->frame = frame;
    env->label = label;
}

unsigned __wasm_setjmp_test(jmp_buf env, void *frame)
{
    return env->frame == frame ? env->label : 0;
}

void __wasm_longjmp(jmp_buf env, int value)
{
    env->thrown.env = env;
    env->thrown.value = value ? value : 1;
    __builtin_wasm_throw(1, &env->thrown); /* 1: the tag of longjmp */
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* Waits until somebody switches back to `from`; starts fn(arg) on its stack if it never ran. */
__attribute__((import_module("stacks"), import_name("switch"))) void stack_switch(int from, int to);
__attribute__((import_module("stacks"), import_name("make"))) int
stack_make(void *top, ContextEntry *fn, void *arg);

void switch_make(Context *c, void *stack, size_t nbytes, ContextEntry *fn, void *arg)
{
    uintptr_t top = ((uintptr_t)stack + nbytes) & ~(uintptr_t)15;
    c->u.number = stack_make((void *)top, fn, arg);
}

void switch_to(Context *from, Context *to)
{
    void *sp;
    __asm__ volatile("global.get __stack_pointer\n local.set %0" : "=r"(sp));
    if (from->u.number == 0)
        from->u.number = stack_make(NULL, NULL, NULL);
    stack_switch(from->u.number, to->u.number);
    __asm__ volatile("local.get %0\n global.set __stack_pointer" : : "r"(sp));
}

/* ---- profiles of a CPU: there is no code of one -------------------------------------------------- */

int cpu_sample(Arena *a, const Func *f, const Module *m, int (*run)(void *arg), void *arg,
               ProfileSpans *out)
{
    (void)a, (void)f, (void)m, (void)run, (void)arg, (void)out;
    return TL_EUSER;
}

/* ---- the twin: its text needs a C compiler ------------------------------------------------------ */

const Runtime runtime_twin = {.name = "twin", .by_name = true};

void run_twin(tl_kernel *k, const SimArg *args, int narg)
{
    (void)k, (void)args, (void)narg;
    recover_throw(STATUS_TOOL, "a browser has no C compiler for the text of a kernel");
}

void check_text(tl_kernel *k)
{
    run_twin(k, NULL, 0);
}

/* ---- one process, one thread ----------------------------------------------------------------- */

int fegetround(void)
{
    return FE_TONEAREST;
}

/* A wrong result would be worse; a jump cannot leave the stack of a simulated thread. */
int fesetround(int mode)
{
    if (mode != FE_TONEAREST) {
        fputs("error: a browser rounds to nearest alone: this kernel runs in tl only\n", stderr);
        exit(STATUS_TOOL);
    }
    return 0;
}

int madvise(void *at, size_t n, int advice)
{
    (void)at, (void)n, (void)advice;
    return 0;
}

Status proc_run(Arena *a, const char *const *argv, const char *stdin_text, double seconds,
                ProcResult *r, const char **why)
{
    (void)stdin_text, (void)seconds;
    *r = (ProcResult){.exit_code = -1};
    *why = arena_printf(a, "cannot run %s: a browser starts no programs", argv[0]);
    return STATUS_TOOL;
}

Status proc_call(int (*fn)(void *), void *arg, double seconds, int *exit_code)
{
    (void)seconds;
    *exit_code = fn(arg);
    return STATUS_OK;
}

/* Nobody forks here, and there is one thread. */
void fork_lock_open(ForkLock *l)
{
    (void)l;
}

void fork_lock_close(ForkLock *l)
{
    (void)l;
}

int guard_call(void (*fn)(void *), void *arg)
{
    fn(arg);
    return 0;
}

struct Pool {
    int size;
};

Pool *pool_new(int nthread)
{
    (void)nthread;
    Pool *p = malloc(sizeof *p);
    if (p)
        p->size = 1;
    return p;
}

void pool_free(Pool *p)
{
    free(p);
}

int pool_size(const Pool *p)
{
    return p->size;
}

void pool_run(Pool *p, int64_t n, void (*fn)(void *arg, int64_t index, int worker), void *arg)
{
    (void)p;
    for (int64_t i = 0; i < n; i++)
        fn(arg, i, 0);
}

int cpu_count(void)
{
    return 1;
}

bool cpu_has_tiles(void)
{
    return false;
}

double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
