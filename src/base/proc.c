/* proc.c -- run a compiler or a function in a child, with a time limit.
 *
 * A child leads a process group of its own, so that killing it also kills what it started.  The
 * group is killed before its leader is reaped: until then its number cannot belong to anyone else.
 * Output is collected in malloc memory and copied to the arena when nothing is open any more. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/base.h"

extern char **environ;

enum { OUTPUT_MOST = 64 << 20, POLL_MS = 50, EXIT_THROWN = 70, LOW_PRIORITY = 10 };

static _Thread_local bool gives_way;

void proc_give_way(bool on)
{
    gives_way = on;
}

typedef struct {
    char *s;
    size_t n, cap;
} Heap;

/* What does not fit, in memory or under the limit, is dropped; the child must not block on it. */
static void heap_put(Heap *h, const char *s, size_t n)
{
    n = MIN(n, OUTPUT_MOST - h->n);
    if (h->n + n > h->cap) {
        size_t cap = MAX(h->cap * 2, h->n + n);
        char *more = realloc(h->s, cap);
        if (!more)
            return;
        h->s = more;
        h->cap = cap;
    }
    if (n)
        memcpy(h->s + h->n, s, n);
    h->n += n;
}

/* Move to the arena; freed even if that runs out of memory. */
static char *heap_move(Arena *a, Heap *h)
{
    char *volatile text = NULL;
    Recover r;
    if (recover_open(&r) == 0) {
        text = arena_strndup(a, h->s, h->n);
        recover_close(&r);
    }
    free(h->s);
    if (r.status != STATUS_OK)
        recover_throw(r.status, "%s", r.text);
    return text;
}

static int stdin_open(const char *text)
{
    if (!text)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    int fd = memfd_create("stdin", MFD_CLOEXEC);
    size_t n = strlen(text), done = 0;
    while (fd >= 0 && done < n) {
        ssize_t put = write(fd, text + done, n - done);
        if (put < 0 && errno != EINTR) {
            close(fd);
            return -1;
        }
        done += put > 0 ? (size_t)put : 0;
    }
    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    return fd;
}

/* posix_spawn rather than fork: the host may be a process of many gigabytes. */
static int spawn(const char *const *argv, int in, int out, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDERR_FILENO);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
#endif
    sigset_t none, fatal;
    sigemptyset(&none);
    sigemptyset(&fatal);
    sigaddset(&fatal, SIGPIPE);
    sigaddset(&fatal, SIGINT);
    sigaddset(&fatal, SIGCHLD);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &fatal);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                        POSIX_SPAWN_SETSIGDEF);
    int error = posix_spawnp(pid, argv[0], &files, &attr, (char *const *)argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    if (error == 0 && gives_way && getpriority(PRIO_PROCESS, (id_t)*pid) < LOW_PRIORITY)
        setpriority(PRIO_PGRP, (id_t)*pid, LOW_PRIORITY); /* what it has started by now, too */
    return error;
}

/* Ended, but not reaped.  A child that cannot be waited for counts as ended. */
static bool has_ended(pid_t pid, bool wait)
{
    siginfo_t info = {0};
    int rc;
    do
        rc = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | (wait ? 0 : WNOHANG));
    while (rc != 0 && errno == EINTR);
    return rc != 0 || info.si_pid == pid;
}

static int reap(pid_t pid)
{
    kill(-pid, SIGKILL);
    int status = 0;
    pid_t got;
    do
        got = waitpid(pid, &status, 0);
    while (got < 0 && errno == EINTR);
    return got == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Reads what is there; false at the end of file. */
static bool output_drain(int fd, Heap *h)
{
    char buf[16384];
    for (;;) {
        ssize_t n = read(fd, buf, sizeof buf);
        if (n > 0)
            heap_put(h, buf, (size_t)n);
        else if (n == 0)
            return false;
        else if (errno != EINTR)
            return errno == EAGAIN;
    }
}

static void nap(double seconds)
{
    struct timespec t = {0, (long)(seconds * 1e9)};
    nanosleep(&t, NULL);
}

/* Until the child has ended or the deadline (0: none) has passed; true when it has ended. */
static bool wait_end(pid_t pid, double deadline)
{
    if (deadline <= 0)
        return has_ended(pid, true);
    for (double step = 50e-6; !has_ended(pid, false); step = MIN(step * 1.5, 5e-3)) {
        if (now_seconds() >= deadline)
            return false;
        nap(step);
    }
    return true;
}

/* A grandchild may keep the pipe open after the child is gone, hence the look at each tick. */
static bool collect(pid_t pid, int fd, double deadline, Heap *h)
{
    fcntl(fd, F_SETFL, O_NONBLOCK);
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        poll(&p, 1, POLL_MS);
        bool ended = has_ended(pid, false);
        if (!output_drain(fd, h))
            return wait_end(pid, deadline);
        if (ended)
            return true;
        if (deadline > 0 && now_seconds() >= deadline)
            return false;
    }
}

static Status not_run(Arena *a, const char *name, int error, const char **why)
{
    *why = arena_printf(a, "cannot run %s: %s", name, strerror(error));
    return STATUS_TOOL;
}

Status proc_run(Arena *a, const char *const *argv, const char *stdin_text, double seconds,
                ProcResult *r, const char **why)
{
    *r = (ProcResult){.exit_code = -1};
    int in = stdin_open(stdin_text);
    int out[2] = {-1, -1};
    pid_t pid = 0;
    int error = in < 0 || pipe2(out, O_CLOEXEC) != 0 ? errno : spawn(argv, in, out[1], &pid);
    if (in >= 0)
        close(in);
    if (out[1] >= 0)
        close(out[1]);
    if (error) {
        if (out[0] >= 0)
            close(out[0]);
        return not_run(a, argv[0], error, why);
    }
    Heap h = {0};
    r->timed_out = !collect(pid, out[0], seconds > 0 ? now_seconds() + seconds : 0, &h);
    int code = reap(pid);
    r->exit_code = r->timed_out ? -1 : code;
    close(out[0]);
    if (code == 127 && h.n == 0 && !path_find(a, argv[0])) /* where vfork is emulated by fork */
        return not_run(a, argv[0], ENOENT, why);
    r->nout = h.n;
    r->out = heap_move(a, &h);
    return STATUS_OK;
}

/* The frames of the parent are on this stack too; a jump to one would run its code twice. */
NORETURN static void child_main(int (*fn)(void *), void *arg)
{
    volatile int code = EXIT_THROWN;
    Recover r;
    if (recover_open(&r) == 0) {
        code = fn(arg);
        recover_close(&r);
    }
    if (r.status != STATUS_OK)
        fprintf(stderr, "%s\n", r.text);
    fflush(NULL);
    _exit(code);
}

Status proc_call(int (*fn)(void *), void *arg, double seconds, int *exit_code)
{
    *exit_code = -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return STATUS_TOOL;
    if (pid == 0) {
        setpgid(0, 0);
        child_main(fn, arg);
    }
    setpgid(pid, pid);
    bool ended = wait_end(pid, seconds > 0 ? now_seconds() + seconds : 0);
    int code = reap(pid);
    *exit_code = ended ? code : -1;
    return ended ? STATUS_OK : STATUS_TOOL;
}
