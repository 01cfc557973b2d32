/* none.h -- what a browser has not: threads, processes, signals, loadable libraries.
 *
 * Everything fails as it would on a machine that refuses it; locks are free, since nobody else runs.
 * The headers beside this file that WASI's libc lacks include it. */
#pragma once
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#define FREE(name, ...) static inline int name(__VA_ARGS__) { return 0; }
#define NONE(name, ...) static inline int name(__VA_ARGS__) { return errno = ENOSYS, -1; }

/* ---- threads --------------------------------------------------------------------------------- */

#define PTHREAD_MUTEX_INITIALIZER {0}
#define PTHREAD_COND_INITIALIZER {0}
FREE(pthread_mutex_init, pthread_mutex_t *m, const void *attr)
FREE(pthread_mutex_destroy, pthread_mutex_t *m)
FREE(pthread_mutex_lock, pthread_mutex_t *m)
FREE(pthread_mutex_trylock, pthread_mutex_t *m)
FREE(pthread_mutex_unlock, pthread_mutex_t *m)
FREE(pthread_cond_init, pthread_cond_t *c, const void *attr)
FREE(pthread_cond_destroy, pthread_cond_t *c)
FREE(pthread_cond_signal, pthread_cond_t *c)
FREE(pthread_cond_broadcast, pthread_cond_t *c)
FREE(pthread_cond_wait, pthread_cond_t *c, pthread_mutex_t *m)
FREE(pthread_condattr_init, pthread_condattr_t *a)
FREE(pthread_condattr_setclock, pthread_condattr_t *a, clockid_t clock)
FREE(pthread_cond_timedwait, pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
static inline pthread_t pthread_self(void) { return NULL; }
FREE(pthread_join, pthread_t t, void **result)
static inline int pthread_equal(pthread_t a, pthread_t b) { return a == b; }
static inline int pthread_create(pthread_t *t, const void *attr, void *(*fn)(void *), void *arg) { return EAGAIN; }

/* ---- users, files ---------------------------------------------------------------------------- */

struct passwd { char *pw_dir; };
enum { SYS_renameat2 };
struct FTW { int base, level; };
typedef struct { size_t gl_pathc; char **gl_pathv; } glob_t;
enum { FTW_DEPTH, FTW_PHYS, FTW_DP, FTW_D };
static inline uid_t getuid(void) { return 0; }
static inline uid_t geteuid(void) { return 0; }
static inline char *realpath(const char *path, char *real) { return NULL; }
NONE(getpwuid_r, uid_t uid, struct passwd *p, char *at, size_t n, struct passwd **found)
NONE(syscall, long number, ...)
NONE(glob, const char *pattern, int flags, void *error, glob_t *g)
NONE(nftw, const char *path, int (*fn)(const char *, const struct stat *, int, struct FTW *), int n, int flags)
NONE(chmod, const char *path, mode_t mode)
static inline void globfree(glob_t *g) {}
static inline char *mkdtemp(char *name) { return NULL; }

/* ---- libraries, processes -------------------------------------------------------------------- */

enum { RTLD_NOW, RTLD_LOCAL, RTLD_GLOBAL, RTLD_NOLOAD, RTLD_NODELETE, RTLD_LAZY, RTLD_DI_LINKMAP };
struct link_map { char *l_name; };
static inline void *dlopen(const char *name, int flags) { return NULL; }
static inline void *dlsym(void *library, const char *name) { return NULL; }
static inline char *dlerror(void) { return (char *)"a browser loads no libraries"; }
FREE(dlclose, void *library)
NONE(dlinfo, void *library, int what, void *at)
NONE(fork, void)
NONE(waitpid, pid_t pid, int *status, int flags)
NONE(kill, pid_t pid, int signal)
