/* fork.c -- locks that a child of fork must find free, and what they hold whole.
 *
 * A thread that is not there in the child would hold them for ever.  So whoever forks takes all of
 * them first, in the order in which they are nested, and both sides give them back. */
#include <pthread.h>
#include "base/base.h"

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static ForkLock *list;

/* The thread that forks may hold an outer one itself. */
static void init(ForkLock *l)
{
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, l->outer ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
    pthread_mutex_init(l->lock, &how);
    pthread_mutexattr_destroy(&how);
}

static void before(void)
{
    pthread_mutex_lock(&list_lock);
    for (int inner = 0; inner < 2; inner++)
        for (ForkLock *l = list; l; l = l->next)
            if (l->outer != inner)
                pthread_mutex_lock(l->lock);
}

static void after_in_parent(void)
{
    for (ForkLock *l = list; l; l = l->next)
        pthread_mutex_unlock(l->lock);
    pthread_mutex_unlock(&list_lock);
}

static void after_in_child(void)
{
    for (ForkLock *l = list; l; l = l->next)
        init(l); /* its owner has another number here */
    pthread_mutex_init(&list_lock, NULL);
}

static void install(void)
{
    pthread_atfork(before, after_in_parent, after_in_child);
}

void fork_lock_open(ForkLock *l)
{
    pthread_once(&once, install);
    init(l);
    pthread_mutex_lock(&list_lock);
    l->next = list;
    list = l;
    pthread_mutex_unlock(&list_lock);
}

void fork_lock_close(ForkLock *l)
{
    pthread_mutex_lock(&list_lock);
    ForkLock **at = &list;
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    pthread_mutex_unlock(&list_lock);
    pthread_mutex_destroy(l->lock);
}
