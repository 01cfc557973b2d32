/* bundle_place.c -- a folder that appears whole or not at all.
 *
 * Files are written beside it, into .DIR.making-PID-N, which then takes its place by one rename; an
 * older bundle changes places with it.  What a build that was killed left there is removed by the
 * next one.  Files of the user's in an older bundle come along. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "api/bundle.h"

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif

static const char making[] = ".making-";

/* Without slashes at the end. */
static const char *trimmed(Arena *a, const char *dir)
{
    size_t n = strlen(dir);

    while (n > 1 && dir[n - 1] == '/')
        n--;
    return arena_strndup(a, dir, n);
}

static const char *parent_of(Arena *a, const char *dir)
{
    const char *slash = strrchr(dir, '/');
    return !slash ? "." : slash == dir ? "/" : arena_strndup(a, dir, (size_t)(slash - dir));
}

static const char *last_of(const char *dir)
{
    const char *slash = strrchr(dir, '/');
    return slash ? slash + 1 : dir;
}

/* Of builds that are no more. */
static void remove_left(Arena *a, const char *parent, const char *stem)
{
    char **names;
    int n;
    const char *why = "";

    if (dir_list(a, parent, &names, &n, &why) != STATUS_OK)
        return;
    for (int i = 0; i < n; i++) {
        if (strncmp(names[i], stem, strlen(stem)) != 0)
            continue;
        int pid = atoi(names[i] + strlen(stem));
        if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH)
            tree_remove(path_join(a, parent, names[i]));
    }
}

const char *place_begin(Arena *a, const char *to)
{
    static atomic_int serial; /* threads of a process write several at a time */
    const char *dir = trimmed(a, to), *parent = parent_of(a, dir), *name = last_of(dir), *why = "";

    if (!strcmp(name, ".") || !strcmp(name, "..") || !strcmp(dir, "/"))
        recover_throw(STATUS_USER,
                      "'%s' cannot be replaced by a bundle: name a folder of its own "
                      "[bundle-folder]",
                      to);
    const char *stem = arena_printf(a, ".%s%s", name, making);
    const char *at = path_join(
        a, parent, arena_printf(a, "%s%d-%d", stem, (int)getpid(), atomic_fetch_add(&serial, 1)));
    bool fine = dir_make(a, parent, &why) == STATUS_OK;
    if (fine)
        remove_left(a, parent, stem);
    if (!fine || (tree_remove(at), mkdir(at, 0777) != 0))
        recover_throw(STATUS_IO, "cannot create %s: %s", to, strerror(errno));
    return at;
}

/* What the folder holds besides a bundle: linked into the new one.  Throws where it is none. */
static void keep_others(Arena *a, const char *from, const char *dir)
{
    char **names, *text;
    int n;
    size_t ntext;
    const char *why = "";
    const JsonValue *m = NULL;

    bundle_check_status(dir_list(a, dir, &names, &n, &why), &why);
    if (n && file_read(a, path_join(a, dir, "manifest.json"), &text, &ntext, &why) == STATUS_OK)
        m = json_read(a, text, ntext, &why);
    if (n && !json_get(m, "name"))
        recover_throw(STATUS_USER,
                      "%s holds '%s' and is no bundle: name an empty folder or one that "
                      "is not there [bundle-folder]",
                      dir, names[0]);
    for (int i = 0; i < n; i++) {
        bool ours = !strcmp(names[i], "manifest.json");
        const JsonValue *files = json_get(m, "files");
        for (const JsonValue *f = files ? files->first : NULL; f; f = f->next)
            ours |=
                json_get_text(f, "name", NULL) && !strcmp(json_get_text(f, "name", NULL), names[i]);
        const char *new = path_join(a, from, names[i]);
        if (!ours && !file_exists(new) && link(path_join(a, dir, names[i]), new) != 0)
            recover_throw(STATUS_USER,
                          "%s holds '%s', which is no part of its bundle: %s "
                          "[bundle-folder]",
                          dir, names[i], strerror(errno));
    }
}

void place_finish(Arena *a, const char *from, const char *to)
{
    const char *dir = trimmed(a, to);
    struct stat st;

    if (stat(dir, &st) == 0) {
        keep_others(a, from, dir);
        if (rename(from, dir) == 0) /* onto an empty folder */
            return;
        if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, dir, RENAME_EXCHANGE) == 0) {
            tree_remove(from);
            return;
        }
        if (errno != EINVAL && errno != ENOSYS)
            recover_throw(STATUS_IO, "cannot write %s: %s", to, strerror(errno));
        tree_remove(dir); /* a file system that cannot exchange: for a moment there is neither */
    }
    if (rename(from, dir) != 0)
        recover_throw(STATUS_IO, "cannot write %s: %s", to, strerror(errno));
}
