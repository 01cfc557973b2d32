/* fork.c -- a child of fork finds locks free that other threads held. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/base.h"
#include "test.h"
#include "tilelang.h"

typedef struct {
    Names *names;
    tl_context *context;
    _Atomic bool over;
} Busy;

static void *intern(void *arg)
{
    Busy *b = arg;

    while (!atomic_load(&b->over))
        name_intern(b->names, "n1", 2);
    return NULL;
}

static void *complain(void *arg)
{
    Busy *b = arg;

    while (!atomic_load(&b->over))
        tl_explain(b->context, NULL, NULL); /* says that a pointer is NULL, under the lock */
    return NULL;
}

TEST(a_child_finds_names_and_messages)
{
    enum { CHILDREN = 200, SECONDS = 30 };
    Busy b = {.names = names_new(), .context = tl_open()};
    pthread_t thread[2];
    int right = 0;

    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, i ? complain : intern, &b);
    for (int i = 0; i < CHILDREN && right == i; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(SECONDS);
            const char *one = name_intern(b.names, "n1", 2);
            _exit(one != name_intern(b.names, "n1", 2) ||
                  tl_explain(b.context, NULL, NULL) != TL_EUSER);
        }
        int status = 1;
        waitpid(child, &status, 0);
        right += status == 0;
    }
    atomic_store(&b.over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    CHECK_INT(right, CHILDREN);
    names_free(b.names);
    tl_close(b.context);
}
