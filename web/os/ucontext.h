/* ucontext.h -- a stack of its own is the browser's: web/os.c and web/wasi.js switch between them. */
#pragma once
typedef struct {
    int number; /* 0: none yet */
} ucontext_t;
