/* main.c -- tl in a browser: the verbs that need no other program. */
#include <stdlib.h>
#include "cli/cli.h"

static const Verb *const verbs[] = {&verb_run,     &verb_verify,  &verb_build, &verb_dump, &verb_layout,
                                    &verb_explain, &verb_targets, &verb_prove, &verb_profile};

static int call(Arena *a, int argc, char **argv)
{
    for (int i = 0; i < COUNT(verbs); i++)
        if (argc > 1 && !strcmp(verbs[i]->verb, argv[1]))
            return verb_call(a, verbs[i], argc - 2, argv + 2);
    return fail_text(EXIT_USAGE, "the page has no verb '%s'", argc > 1 ? argv[1] : "");
}

int main(int argc, char **argv)
{
    Arena *a = arena_new();
    Recover r;
    volatile int code = EXIT_MACHINE;

    if (recover_open(&r) == 0) {
        code = call(a, argc, argv);
        recover_close(&r);
    } else {
        code = r.status == STATUS_BUG ? EXIT_BUG : EXIT_MACHINE;
        fprintf(stderr, "tl: %s\n", r.text);
    }
    fflush(stdout);
    return code;
}
