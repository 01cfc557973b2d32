/* main.c -- tl <verb> …: finds the verb, parses its options, runs it. */
#include <signal.h>
#include <stdlib.h>
#include "cli/cli.h"

static const Verb *const verbs[] = {&verb_run,     &verb_debug,   &verb_verify,  &verb_bench,
                                    &verb_build,   &verb_dump,    &verb_layout,
                                    &verb_explain, &verb_targets, &verb_cache,
                                    &verb_profile, &verb_warm,    &verb_bundle,  &verb_tune,
                                    &verb_lsp,     &verb_prove};

static const char about[] = "compile and run tile kernels written in Python syntax";

static void put_usage(Str *out)
{
    str_printf(out, "tl %s -- %s\n\nusage: tl VERB [OPTIONS] [ARGUMENTS]\n\n", tl_version(), about);
    for (int i = 0; i < COUNT(verbs); i++)
        str_printf(out, "  %-8s %s\n", verbs[i]->verb, verbs[i]->doc);
    str_puts(out, "  help     this text, or the help of a verb\n"
                  "  man      the manual page, for man -l\n\n"
                  "tl VERB --help tells more.  A first try:  tl run examples/gemm.py\n");
}

static void put_man(Str *out)
{
    Verb all[COUNT(verbs)];
    for (int i = 0; i < COUNT(verbs); i++)
        all[i] = *verbs[i];
    opt_man(out, "tl", about, all, COUNT(verbs));
}

static const Verb *find_verb(const char *name)
{
    for (int i = 0; i < COUNT(verbs); i++)
        if (!strcmp(verbs[i]->verb, name))
            return verbs[i];
    return NULL;
}

static int print_text(void (*put)(Str *out))
{
    Arena *a = arena_new();
    Str s;

    str_init(&s, a);
    put(&s);
    fputs(s.s, stdout);
    arena_free(a);
    return EXIT_OK;
}

static int dispatch(Arena *a, int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "help";

    if (!strcmp(word, "--version") || !strcmp(word, "version")) {
        printf("tl %s\n", tl_version());
        return EXIT_OK;
    }
    if (!strcmp(word, "man"))
        return print_text(put_man);
    if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h")) {
        const Verb *v = argc > 2 ? find_verb(argv[2]) : NULL;
        if (argc > 2 && !v && strcmp(argv[2], "help") && strcmp(argv[2], "man"))
            return fail_text(EXIT_USAGE, "no verb '%s'; tl help lists them", argv[2]);
        return v ? verb_help(a, v) : print_text(put_usage);
    }
    const Verb *v = find_verb(word);
    if (!v)
        return fail_text(EXIT_USAGE, "no verb '%s'; tl help lists them", word);
    return v == &verb_tune ? tune_hand_over(a, argc - 2, argv + 2)
                           : verb_call(a, v, argc - 2, argv + 2);
}

int cli_main(int argc, char **argv)
{
    Arena *a = arena_new();
    Recover r;
    volatile int code = EXIT_MACHINE;

    if (!a)
        return EXIT_MACHINE;
    if (recover_open(&r) == 0) {
        code = dispatch(a, argc, argv);
        recover_close(&r);
    } else {
        code = r.status == STATUS_BUG ? EXIT_BUG : EXIT_MACHINE;
        fprintf(stderr, "tl: %s\n", r.text);
    }
    arena_free(a);
    if (fflush(stdout) != 0 && code == EXIT_OK)
        code = EXIT_MACHINE;
    return code;
}

int main(int argc, char **argv)
{
    return cli_main(argc, argv);
}
