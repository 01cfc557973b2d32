/* trust.c -- whether somebody else could have put what lies at a path, and where the cache lives.
 *
 * What the cache holds is loaded into the process, so nobody but the user and root may be able to
 * put it there.  A folder is trusted when it belongs to one of the two and no others may write to
 * it; the folders above it likewise, but one with the sticky bit, such as /tmp, may be written to
 * by everybody: what is ours stays ours in it.  A path of which all that holds cannot be changed by
 * others between the check and the use. */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"

static bool is_own(const struct stat *st)
{
    return st->st_uid == geteuid() || st->st_uid == 0;
}

static const char *owned_by(Arena *a, const char *path, const struct stat *st)
{
    return arena_printf(a, "%s belongs to user %ld", path, (long)st->st_uid);
}

static const char *written_by(Arena *a, const char *path, const struct stat *st)
{
    return arena_printf(a, "%s may be written to by others (mode %04o)", path,
                        (unsigned)st->st_mode & 07777);
}

/* A group of root's, or of the number of the user, as many systems make one for each, is nobody. */
static bool others_write(const struct stat *st)
{
    bool group = st->st_gid != 0 && st->st_gid != (gid_t)geteuid();
    return st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && group);
}

/* A folder above the one that is asked about, or a link on the way. */
static const char *distrust_above(Arena *a, const char *path, const struct stat *st)
{
    if (!is_own(st))
        return owned_by(a, path, st);
    if (S_ISDIR(st->st_mode) && others_write(st) && !(st->st_mode & S_ISVTX))
        return written_by(a, path, st);
    return NULL;
}

static const char *distrust_way(Arena *a, const char *path, bool links)
{
    struct stat st;

    for (size_t i = 1; i <= strlen(path); i++) {
        if (path[i] != '/' && path[i] != 0)
            continue;
        char *prefix = arena_strndup(a, path, i), real[PATH_MAX];
        if (lstat(prefix, &st) != 0)
            return NULL; /* nothing there: we shall make it */
        const char *why = distrust_above(a, prefix, &st);
        if (!why && links && S_ISLNK(st.st_mode) && realpath(prefix, real))
            why = distrust_way(a, arena_strdup(a, real), false);
        if (why || path[i] == 0)
            return why;
    }
    return NULL;
}

const char *path_distrust(Arena *a, const char *path)
{
    char here[PATH_MAX];
    struct stat st;

    if (path[0] != '/')
        path = path_join(a, getcwd(here, sizeof here) ? here : "/", path);
    const char *why = distrust_way(a, path, true);
    if (why || stat(path, &st) != 0)
        return why;
    if (!is_own(&st))
        return owned_by(a, path, &st);
    return st.st_mode & (S_IWGRP | S_IWOTH) ? written_by(a, path, &st) : NULL;
}

const char *file_distrust(Arena *a, const char *path)
{
    struct stat st;

    if (lstat(path, &st) != 0)
        return NULL;
    if (!is_own(&st))
        return owned_by(a, path, &st);
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return arena_printf(a, "%s is neither a file nor a folder", path);
    return st.st_mode & (S_IWGRP | S_IWOTH) ? written_by(a, path, &st) : NULL;
}

/* ---- where the cache lives ------------------------------------------------------------------- */

static const char *env_text(const char *name)
{
    const char *s = getenv(name);
    return s && *s ? s : NULL;
}

static char *home_dir(Arena *a)
{
    const char *home = env_text("HOME");
    if (home)
        return arena_strdup(a, home);
    struct passwd pw, *found = NULL;
    char buf[2048];
    if (getpwuid_r(getuid(), &pw, buf, sizeof buf, &found) == 0 && found)
        return arena_strdup(a, found->pw_dir);
    return NULL;
}

static char *temporary_root(Arena *a)
{
    return arena_printf(a, "/tmp/tilelang-c-%ld", (long)geteuid());
}

static char *default_root(Arena *a)
{
    const char *xdg = env_text("XDG_CACHE_HOME");
    if (xdg && xdg[0] == '/')
        return path_join(a, xdg, "tilelang-c");
    const char *home = home_dir(a);
    return home ? path_join(a, home, ".cache/tilelang-c") : temporary_root(a);
}

/* The first that can be trusted; *why: what is wrong with the one that was asked for, or NULL. */
static char *find_root(Arena *a, const char **why)
{
    const char *own = env_text("TILELANG_CACHE_DIR");
    char *wanted = own ? arena_strdup(a, own) : default_root(a);
    char *inside = path_join(a, wanted, arena_printf(a, "user-%ld", (long)geteuid()));
    char *const places[] = {inside, default_root(a), temporary_root(a)};

    *why = path_distrust(a, wanted);
    if (!*why)
        return wanted;
    for (int i = 0; i < COUNT(places); i++) {
        const char *ignored;
        /* made at once: of a folder that somebody else made first, the second look tells */
        if (!path_distrust(a, places[i]) && (places[i] != inside || mkdir(inside, 0700) == 0 ||
                                             errno == EEXIST) &&
            dir_make(a, places[i], &ignored) == STATUS_OK && !path_distrust(a, places[i]))
            return places[i];
    }
    return arena_strdup(a, "/dev/null/tilelang-c"); /* no folder: nothing is kept */
}

char *cache_root(Arena *a)
{
    const char *why;
    return find_root(a, &why);
}

const char *cache_root_distrust(Arena *a)
{
    const char *why;
    find_root(a, &why);
    return why;
}
