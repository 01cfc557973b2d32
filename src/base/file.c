/* file.c -- read, write by rename, list, remove.
 *
 * A file that exists under its final name is complete: it is written beside it under a name of its
 * own and renamed.  No fsync: after a power cut a cache entry may be short, and its reader checks.
 * Arena memory can run out while a file is open, so such stretches run in a recovery frame. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"

enum { READ_STEP = 64 << 10, TEMP_TRIES = 100, OPEN_MOST = 16 };
enum { ENDLESS = 256 << 20 }; /* bytes of a pipe or a device that surely has no end */

static Status failed(Arena *a, const char **why, const char *verb, const char *path, int error)
{
    *why = arena_printf(a, "cannot %s %s: %s", verb, path, strerror(error));
    return STATUS_IO;
}

/* To the end of fd; returns errno.  The stated size is only a guess: pipes and /proc say 0. */
static int read_all(Arena *a, int fd, size_t guess, char **data, size_t *n)
{
    size_t cap = guess + 1, used = 0;
    char *p = arena_alloc(a, cap);
    for (;;) {
        if (used == cap - 1) {
            char extra[512];
            ssize_t more = read(fd, extra, sizeof extra);
            if (more == 0)
                break;
            if (more < 0 && errno != EINTR)
                return errno;
            if (more < 0)
                continue;
            if (guess == 0 && used > ENDLESS)
                return EFBIG;
            cap = cap * 2 + READ_STEP;
            p = memcpy(arena_alloc(a, cap), p, used);
            memcpy(p + used, extra, (size_t)more);
            used += (size_t)more;
        }
        ssize_t got = read(fd, p + used, cap - 1 - used);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return errno;
        used += got > 0 ? (size_t)got : 0;
    }
    p[used] = 0;
    *data = p;
    *n = used;
    return 0;
}

Status file_read(Arena *a, const char *path, char **data, size_t *n, const char **why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return failed(a, why, "open", path, errno);
    struct stat st;
    volatile int error = fstat(fd, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? EISDIR : 0;
    Recover r = {0};
    if (!error && recover_open(&r) == 0) {
        error = read_all(a, fd, S_ISREG(st.st_mode) ? (size_t)st.st_size : 0, data, n);
        recover_close(&r);
    }
    close(fd);
    if (r.status != STATUS_OK)
        recover_throw(r.status, "%s", r.text);
    return error ? failed(a, why, "read", path, error) : STATUS_OK;
}

static int write_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t put = write(fd, p, MIN(n, (size_t)1 << 30));
        if (put < 0 && errno != EINTR)
            return errno;
        if (put > 0) {
            p += put;
            n -= (size_t)put;
        }
    }
    return 0;
}

/* A name may be taken by what a killed process with our pid left, or by another machine that
 * shares the folder; O_EXCL tells. */
static int temp_open(Arena *a, const char *path, char **temp)
{
    for (int i = 0; i < TEMP_TRIES; i++) {
        *temp = path_temp(a, NULL, path);
        int fd = open(*temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

Status file_write(Arena *a, const char *path, const void *data, size_t n, const char **why)
{
    char *temp = NULL;
    int fd = temp_open(a, path, &temp);
    if (fd < 0)
        return failed(a, why, "create", path, errno);
    int error = write_all(fd, data, n);
    if (close(fd) != 0 && !error)
        error = errno;
    if (!error && rename(temp, path) != 0)
        error = errno;
    if (!error)
        return STATUS_OK;
    unlink(temp);
    return failed(a, why, "write", path, error);
}

static bool dir_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

Status dir_make(Arena *a, const char *path, const char **why)
{
    if (dir_exists(path))
        return STATUS_OK;
    char *p = arena_strdup(a, path);
    for (size_t i = 1;; i++) {
        if (p[i - 1] == 0)
            break;
        char c = p[i];
        if (c && c != '/')
            continue;
        p[i] = 0;
        /* Another process may be making the same folder. */
        int error = mkdir(p, 0755) != 0 ? errno : 0;
        if (error && !dir_exists(p))
            return failed(a, why, "create", p, error == EEXIST ? ENOTDIR : error);
        p[i] = c;
    }
    return dir_exists(path) ? STATUS_OK : failed(a, why, "create", path, ENOENT);
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

static int list_all(Arena *a, DIR *dir, char ***names, int *n)
{
    VEC(char *) v = {0};
    for (;;) {
        errno = 0;
        const struct dirent *e = readdir(dir);
        if (!e)
            break;
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            vec_push(a, &v, arena_strdup(a, e->d_name));
    }
    int error = errno;
    if (v.n)
        qsort(v.at, (size_t)v.n, sizeof *v.at, by_name);
    *names = v.at;
    *n = v.n;
    return error;
}

Status dir_list(Arena *a, const char *path, char ***names, int *n, const char **why)
{
    DIR *dir = opendir(path);
    if (!dir)
        return failed(a, why, "list", path, errno);
    volatile int error = 0;
    Recover r;
    if (recover_open(&r) == 0) {
        error = list_all(a, dir, names, n);
        recover_close(&r);
    }
    closedir(dir);
    if (r.status != STATUS_OK)
        recover_throw(r.status, "%s", r.text);
    return error ? failed(a, why, "list", path, error) : STATUS_OK;
}

bool file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

char *path_join(Arena *a, const char *dir, const char *name)
{
    size_t n = strlen(dir);
    if (n == 0 || name[0] == '/')
        return arena_strdup(a, name);
    return arena_printf(a, "%s%s%s", dir, dir[n - 1] == '/' ? "" : "/", name);
}

char *path_temp(Arena *a, const char *dir, const char *stem)
{
    static atomic_uint count;
    unsigned serial = atomic_fetch_add(&count, 1);
    char *name = arena_printf(a, "%s.%ld.%u.tmp", stem, (long)getpid(), serial);
    return dir ? path_join(a, dir, name) : name;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path) != 0 && errno != ENOENT;
}

Status tree_remove(const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? STATUS_OK : STATUS_IO;
    return nftw(path, remove_one, OPEN_MOST, FTW_DEPTH | FTW_PHYS) == 0 ? STATUS_OK : STATUS_IO;
}

const char *path_find(Arena *a, const char *name)
{
    const char *path = getenv("PATH");

    if (strchr(name, '/'))
        return access(name, X_OK) == 0 ? name : NULL;
    for (const char *s = path ? path : "/usr/bin:/bin"; *s;) {
        size_t n = strcspn(s, ":");
        char *full = path_join(a, n ? arena_strndup(a, s, n) : ".", name);
        if (access(full, X_OK) == 0)
            return full;
        s += n + (s[n] == ':');
    }
    return NULL;
}
