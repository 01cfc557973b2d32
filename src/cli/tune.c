/* tune.c -- tl tune: a search is Python's, where kernels, spaces and conditions are written, and so
 * is the library of results, which the sqlite3 of its standard library keeps: no library of a third
 * party is needed for it.  This hands the words over. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include "cli/cli.h"

/* The package beside this program, as `make py` leaves it, before others. */
static void find_package(Arena *a)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *old = getenv("PYTHONPATH");

    if (n <= 0)
        return;
    self[n] = 0;
    *strrchr(self, '/') = 0;
    char *beside = path_join(a, self, "py");
    if (file_exists(path_join(a, beside, "tilelang")))
        setenv("PYTHONPATH", old && *old ? arena_printf(a, "%s:%s", beside, old) : beside, 1);
}

int tune_hand_over(Arena *a, int argc, char **argv)
{
    const char *python = getenv("TILELANG_PYTHON");
    char **words = NEWN(a, char *, argc + 5);
    int n = 0;

    python = python && *python ? python : "python3";
    find_package(a);
    words[n++] = arena_strdup(a, python);
    words[n++] = "-m";
    words[n++] = "tilelang";
    words[n++] = "tune";
    for (int i = 0; i < argc; i++)
        words[n++] = argv[i];
    words[n] = NULL;
    fflush(stdout);
    sigset_t held; /* Ctrl-C waits until Python has imported what answers it, and is no stack */
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigprocmask(SIG_BLOCK, &held, NULL);
    execvp(python, words);
    return fail_text(EXIT_MACHINE, "tl tune is part of the Python package, and '%s' cannot be "
                     "started: %s; TILELANG_PYTHON names another", python, strerror(errno));
}

/* Reached by tl help tune; its options are the package's own. */
static int run(void *options, int nargs, const char **args)
{
    (void)options;
    (void)nargs;
    (void)args;
    return EXIT_USAGE;
}

const Verb verb_tune = {
    .verb = "tune",
    .usage = "FILE[:FUNC] [NAME=VALUE …] | list | show | export | import | merge | why",
    .doc = "find the fastest configuration of a kernel; look into the library of results",
    .detail = "Needs the Python package.  tl tune --help lists its options; doc/tuning.md tells\n"
              "more.\n",
    .run = run,
    .options_size = 1,
};
