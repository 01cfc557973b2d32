/* guard.c -- call a library of others that may crash, and survive it.
 *
 * While a guarded call runs, fatal signals of its thread jump back here; those of other threads go
 * to whoever had the signal before.  What the call held (memory, locks) is lost: the caller does
 * not go on using the library in this process. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include "base/base.h"

enum { STACK_BYTES = 64 << 10 };

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

static _Thread_local sigjmp_buf *landing;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before[COUNT(fatal)];
static int nguarded;

static void land(int signal)
{
    if (landing)
        siglongjmp(*landing, signal);
    for (int i = 0; i < COUNT(fatal); i++) /* not ours: it happens again, to whom it belongs */
        if (fatal[i] == signal)
            sigaction(signal, &before[i], NULL);
    if (signal == SIGABRT)
        raise(signal);
}

static void watch(bool on)
{
    struct sigaction ours = {.sa_handler = land, .sa_flags = SA_ONSTACK | SA_NODEFER};

    sigemptyset(&ours.sa_mask);
    pthread_mutex_lock(&lock);
    if (on ? nguarded++ == 0 : --nguarded == 0)
        for (int i = 0; i < COUNT(fatal); i++)
            sigaction(fatal[i], on ? &ours : &before[i], on ? &before[i] : NULL);
    pthread_mutex_unlock(&lock);
}

int guard_call(void (*fn)(void *), void *arg)
{
    stack_t own = {.ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES}, old = {0};
    sigjmp_buf here, *volatile outer = landing;
    bool has_stack = own.ss_sp && sigaltstack(&own, &old) == 0; /* for calls that overflow theirs */

    Recover r;
    volatile int signal = 0;

    watch(true);
    if (recover_open(&r) == 0) {
        int caught = sigsetjmp(here, 1);
        signal = caught;
        if (caught == 0) {
            landing = &here;
            fn(arg);
        }
        recover_close(&r);
    }
    landing = outer;
    watch(false);
    if (has_stack)
        sigaltstack(&old, NULL);
    free(own.ss_sp);
    if (r.status != STATUS_OK)
        recover_throw(r.status, "%s", r.text);
    return signal;
}
