/* switch.c -- moving between the stacks of coroutines.
 *
 * A simulated thread changes stacks at every barrier, so the change must cost no system call: on
 * x86-64 it saves six registers and the stack pointer; elsewhere ucontext does it. */
#include "base/base.h"

/* A coroutine that was given up never left its frames; the address sanitizer still guards them. */
#if defined(__SANITIZE_ADDRESS__)
void __asan_unpoison_memory_region(const volatile void *at, size_t n);
static void stack_forget(void *stack, size_t nbytes)
{
    __asan_unpoison_memory_region(stack, nbytes);
}
#else
static void stack_forget(void *stack, size_t nbytes)
{
    (void)stack;
    (void)nbytes;
}
#endif

#if defined(__x86_64__)

void stack_switch(void **from, void *to);
void stack_start(void);

__asm__(".text\n"
        ".p2align 4\n"
        ".hidden stack_switch\n"
        ".globl stack_switch\n"
        ".type stack_switch, @function\n"
        "stack_switch:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        ".size stack_switch, . - stack_switch\n"
        ".hidden stack_start\n"
        ".globl stack_start\n"
        ".type stack_start, @function\n"
        "stack_start:\n"
        "    mov %r13, %rdi\n"
        "    call *%r12\n"
        "    ud2\n"
        ".size stack_start, . - stack_start\n");

/* What stack_switch pops, from the lowest address: r15 r14 r13 r12 rbx rbp, then where to
 * go; an odd number of words, so that the stack is aligned there. */
enum { SAVED_R13 = 2, SAVED_R12 = 3, SAVED_RETURN = 6, SAVED_WORDS = 9 };

void switch_make(Context *c, void *stack, size_t nbytes, ContextEntry *fn, void *arg)
{
    uintptr_t top = ((uintptr_t)stack + nbytes) & ~(uintptr_t)15;
    uintptr_t *sp = (uintptr_t *)(top - SAVED_WORDS * sizeof(uintptr_t));

    stack_forget(stack, nbytes);
    memset(sp, 0, SAVED_WORDS * sizeof(uintptr_t));
    sp[SAVED_R12] = (uintptr_t)fn;
    sp[SAVED_R13] = (uintptr_t)arg;
    sp[SAVED_RETURN] = (uintptr_t)stack_start;
    c->sp = sp;
}

void switch_to(Context *from, Context *to)
{
    stack_switch(&from->sp, to->sp);
}

#else

static void enter(unsigned fn_high, unsigned fn_low, unsigned arg_high, unsigned arg_low)
{
    ContextEntry *fn = (ContextEntry *)(uintptr_t)((uint64_t)fn_high << 32 | fn_low);
    fn((void *)(uintptr_t)((uint64_t)arg_high << 32 | arg_low));
}

void switch_make(Context *c, void *stack, size_t nbytes, ContextEntry *fn, void *arg)
{
    uint64_t f = (uint64_t)(uintptr_t)fn, a = (uint64_t)(uintptr_t)arg;

    stack_forget(stack, nbytes);
    getcontext(&c->u);
    c->u.uc_stack.ss_sp = stack;
    c->u.uc_stack.ss_size = nbytes;
    c->u.uc_link = NULL;
    makecontext(&c->u, (void (*)(void))enter, 4, (unsigned)(f >> 32), (unsigned)f,
                (unsigned)(a >> 32), (unsigned)a);
}

void switch_to(Context *from, Context *to)
{
    swapcontext(&from->u, &to->u);
}

#endif
