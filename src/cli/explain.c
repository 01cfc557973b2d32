/* explain.c -- tl explain: what a name of the language, a pass or a message tag means. */
#include "cli/cli.h"

static int run(void *options, int nargs, const char **args)
{
    tl_context *c = tl_open();
    int code = EXIT_OK;

    (void)options;
    if (!c)
        return fail_text(EXIT_MACHINE, "out of memory");
    if (nargs == 0)
        code = fail_text(EXIT_USAGE, "tl explain NAME: what?");
    for (int i = 0; i < nargs && code == EXIT_OK; i++) {
        const char *text;
        tl_status s = tl_explain(c, args[i], &text);
        if (s == TL_OK)
            fputs(text, stdout);
        else
            code = fail_with(c, s);
    }
    tl_close(c);
    return code;
}

const Verb verb_explain = {
    .verb = "explain",
    .usage = "NAME …",
    .doc = "tell about a name of the language, a dtype, a pass or a message tag",
    .detail = "    tl explain T.copy\n    tl explain lower_tiles\n    tl explain layout-conflict\n"
              "    tl explain names               all of the language\n",
    .run = run,
};
