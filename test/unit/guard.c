/* guard.c -- tests of calls that crash. */
#include <signal.h>
#include <stdlib.h>
#include "base/base.h"
#include "test.h"

static volatile int depth;

static void ends_well(void *arg)
{
    *(int *)arg = 7;
}

static void ends_by(void *arg)
{
    raise(*(int *)arg);
}

static int overflow(volatile char *above)
{
    volatile char room[4096];
    room[0] = *above;
    return ++depth > 0 ? overflow(room) + room[0] : 0;
}

static void overflows(void *arg)
{
    char c = 0;
    *(int *)arg = overflow(&c);
}

static void throws(void *arg)
{
    (void)arg;
    recover_throw(STATUS_TOOL, "thrown");
}

static void crashes_inside(void *arg)
{
    int signal = SIGBUS;
    *(int *)arg = guard_call(ends_by, &signal);
    raise(SIGSEGV);
}

TEST(a_call_that_ends_well_gives_no_signal)
{
    int x = 0;
    CHECK_INT(guard_call(ends_well, &x), 0);
    CHECK_INT(x, 7);
}

TEST(a_call_that_crashes_gives_its_signal)
{
    int signals[] = {SIGSEGV, SIGABRT, SIGFPE}, inner = 0;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < COUNT(signals); i++)
            CHECK_INT(guard_call(ends_by, &signals[i]), signals[i]);
    CHECK_INT(guard_call(crashes_inside, &inner), SIGSEGV);
    CHECK_INT(inner, SIGBUS);
}

TEST(a_stack_that_overflows_is_survived)
{
#if !defined(__SANITIZE_ADDRESS__)
    int x = 0;
    CHECK_INT(guard_call(overflows, &x), SIGSEGV);
#else
    (void)overflows;
#endif
}

TEST(handlers_are_as_before)
{
    struct sigaction before, after;
    int signal = SIGSEGV;
    Recover r;

    sigaction(SIGSEGV, NULL, &before);
    CHECK_INT(guard_call(ends_by, &signal), SIGSEGV);
    if (recover_open(&r) == 0) {
        guard_call(throws, NULL);
        recover_close(&r);
    }
    CHECK_INT(r.status, STATUS_TOOL);
    sigaction(SIGSEGV, NULL, &after);
    CHECK(before.sa_handler == after.sa_handler);
}
