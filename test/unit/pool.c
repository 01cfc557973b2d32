/* pool.c -- tests of the worker threads. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/base.h"
#include "test.h"

enum { MANY = 10000, WORKERS = 4 };

static atomic_int seen[MANY];
static atomic_int holder[WORKERS];
static atomic_int clashes;

static void count(void *arg, int64_t i, int worker)
{
    (void)arg;
    if (worker < 0 || worker >= WORKERS || atomic_fetch_add(&holder[worker], 1) != 0)
        atomic_fetch_add(&clashes, 1);
    atomic_fetch_add(&seen[i], 1);
    if (worker >= 0 && worker < WORKERS)
        atomic_fetch_sub(&holder[worker], 1);
}

static void check_seen(int n, int times)
{
    for (int i = 0; i < MANY; i++)
        CHECK_INT(seen[i], i < n ? times : 0);
    CHECK_INT(clashes, 0);
}

TEST(each_index_runs_once)
{
    static const int sizes[] = {0, 1, 2, 3, 5, 64, 1000, MANY};
    Pool *p = pool_new(WORKERS);
    CHECK_INT(pool_size(p), WORKERS);
    for (int i = 0; i < COUNT(sizes); i++) {
        memset(seen, 0, sizeof seen);
        pool_run(p, sizes[i], count, NULL);
        check_seen(sizes[i], 1);
    }
    pool_run(p, -3, count, NULL);
    pool_free(p);
}

TEST(many_short_runs)
{
    Pool *p = pool_new(WORKERS);
    for (int i = 0; i < 20000; i++)
        pool_run(p, 1 + i % 7, count, NULL);
    int total = 0;
    for (int i = 0; i < 7; i++)
        total += seen[i];
    int want = 0;
    for (int i = 0; i < 20000; i++)
        want += 1 + i % 7;
    CHECK_INT(total, want);
    CHECK_INT(clashes, 0);
    pool_free(p);
}

TEST(runs_after_the_workers_have_parked)
{
    Pool *p = pool_new(WORKERS);
    for (int i = 0; i < 20; i++) {
        usleep(2000);
        pool_run(p, 100, count, NULL);
    }
    check_seen(100, 20);
    pool_free(p);
}

static void *run_many(void *arg)
{
    for (int i = 0; i < 500; i++)
        pool_run(arg, 50, count, NULL);
    return NULL;
}

TEST(callers_on_several_threads_take_turns)
{
    Pool *p = pool_new(WORKERS);
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        CHECK_INT(pthread_create(&t[i], NULL, run_many, p), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    check_seen(50, 1500);
    pool_free(p);
}

static Pool *shared;

static void inner(void *arg, int64_t i, int worker)
{
    if (*(int *)arg != worker)
        atomic_fetch_add(&clashes, 1);
    atomic_fetch_add(&seen[i], 1);
}

static void outer(void *arg, int64_t i, int worker)
{
    (void)arg;
    (void)i;
    pool_run(shared, 10, inner, &worker);
}

TEST(a_run_inside_a_run_is_serial)
{
    shared = pool_new(WORKERS);
    pool_run(shared, 100, outer, NULL);
    check_seen(10, 100);
    pool_free(shared);
}

static int run_in_child(void *arg)
{
    memset(seen, 0, sizeof seen);
    pool_run(arg, 1000, count, NULL);
    for (int i = 0; i < 1000; i++) {
        if (seen[i] != 1)
            return 1;
    }
    pool_free(arg);
    return 0;
}

static int free_in_child(void *arg)
{
    pool_free(arg);
    return 0;
}

TEST(a_forked_child_has_workers_again)
{
#ifdef __SANITIZE_THREAD__
    test_skip("the thread sanitizer does not allow threads after fork");
#endif
    Pool *p = pool_new(WORKERS);
    pool_run(p, 1000, count, NULL);
    /* A thread that is starting may hold a lock of the address sanitizer's allocator, which, unlike
     * the one of libc, is not released in the child. */
    usleep(50000);
    for (int i = 0; i < 10; i++) {
        int code = -1;
        CHECK_INT(proc_call(run_in_child, p, 20, &code), STATUS_OK);
        CHECK_INT(code, 0);
        CHECK_INT(proc_call(free_in_child, p, 20, &code), STATUS_OK);
        CHECK_INT(code, 0);
    }
    pool_run(p, 1000, count, NULL);
    check_seen(1000, 2);
    pool_free(p);
}

static void fail_some(void *arg, int64_t i, int worker)
{
    (void)arg;
    (void)worker;
    atomic_fetch_add(&seen[i], 1);
    if (i % 100 == 37)
        recover_throw(STATUS_USER, "index %d", (int)i);
}

TEST(a_throw_reaches_the_caller_and_the_lowest_index_wins)
{
    Pool *p = pool_new(WORKERS);
    for (int round = 1; round <= 20; round++) {
        Recover r;
        if (recover_open(&r) == 0) {
            pool_run(p, 1000, fail_some, NULL);
            recover_close(&r);
        }
        CHECK_INT(r.status, STATUS_USER);
        CHECK_TEXT(r.text, "index 37");
        check_seen(1000, round);
    }
    pool_free(p);
}

/* The slow index holds one worker; the rest must be done meanwhile by the others. */
static void slow_first(void *arg, int64_t i, int worker)
{
    (void)worker;
    if (i == 0)
        usleep(100000);
    else
        atomic_fetch_add((atomic_int *)arg, 1);
}

TEST(order_is_dynamic)
{
    Pool *p = pool_new(2);
    atomic_int done = 0;
    double start = now_seconds();
    pool_run(p, 20, slow_first, &done);
    CHECK_INT(done, 19);
    CHECK(now_seconds() - start >= 0.1);
    pool_free(p);
}

/* Each call waits for the other, so both must be running at once. */
static void meet(void *arg, int64_t i, int worker)
{
    (void)i;
    (void)worker;
    atomic_int *here = arg;
    atomic_fetch_add(here, 1);
    for (double end = now_seconds() + 20; *here < 2 && now_seconds() < end;)
        usleep(100);
    CHECK_INT(*here, 2);
}

TEST(workers_run_at_the_same_time)
{
    Pool *p = pool_new(2);
    for (int round = 0; round < 20; round++) {
        atomic_int here = 0;
        pool_run(p, 2, meet, &here);
        usleep(round * 50);
    }
    pool_free(p);
}

TEST(odd_sizes_become_one)
{
    Pool *p = pool_new(0);
    CHECK_INT(pool_size(p), 1);
    pool_run(p, 10, count, NULL);
    check_seen(10, 1);
    pool_free(p);
    pool_free(NULL);
    CHECK(cpu_count() >= 1);
}
