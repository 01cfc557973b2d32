/* setjmp.h -- as clang lowers it to exceptions of WebAssembly: web/os.c has the other half. */
#pragma once
typedef struct {
    void *frame;
    unsigned label;
    struct {
        void *env;
        int value;
    } thrown;
} jmp_buf[1];
typedef jmp_buf sigjmp_buf;
int setjmp(jmp_buf) __attribute__((returns_twice));
_Noreturn void longjmp(jmp_buf, int);
#define sigsetjmp(env, mask) setjmp(env)
#define siglongjmp longjmp
