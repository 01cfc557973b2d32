/* bundle.c -- tl bundle check DIR: is a bundle whole, and what of it runs on this machine. */
#include "cli/cli.h"

static int run(void *options, int nargs, const char **args)
{
    const char *text = NULL;
    bool runs = false;

    (void)options;
    if (nargs != 2 || strcmp(args[0], "check") != 0)
        return fail_text(EXIT_USAGE, "tl bundle check DIR");
    tl_context *c = tl_open();
    if (!c)
        return fail_text(EXIT_MACHINE, "out of memory");
    tl_status s = tl_bundle_check(c, args[1], &runs, &text);
    int code = s == TL_OK ? runs ? EXIT_OK : EXIT_USER : fail_with(c, s);
    if (s == TL_OK)
        fputs(text, stdout);
    tl_close(c);
    return code;
}

const Verb verb_bundle = {
    .verb = "bundle",
    .usage = "check DIR",
    .doc = "say what of a bundle runs on this machine",
    .detail =
        "Compares every file with the manifest, then asks the bundle itself: a line for each\n"
        "part, and why it does not run.  Ends with 0 where calls with any arguments find a\n"
        "part, else with 1.  tl build -o DIR makes bundles.\n",
    .run = run,
};
