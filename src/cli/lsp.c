/* lsp.c -- tl lsp: the compiler behind an editor. */
#include "cli/cli.h"
#include "lsp/serve.h"

typedef struct {
    const char *target;
} Options;

static int run(void *options, int nargs, const char **args)
{
    const Options *o = options;

    if (nargs)
        return fail_text(EXIT_USAGE, "tl lsp takes no file, but was given '%s'", args[0]);
    return lsp_serve(o->target ? o->target : "sim");
}

static const Opt opts[] = {
    {"target", 't', OPT_TEXT, "T",
     "what kernels are compiled for; sim by default, a GPU that need not be here",
     offsetof(Options, target)},
};

const Verb verb_lsp = {
    .verb = "lsp",
    .usage = "",
    .doc = "the compiler behind an editor: a language server on stdin and stdout",
    .detail = "Editors start it: doc/editor.md has the lines for VS Code and Neovim.  Values that\n"
              "a kernel needs come from lines '# tl: M=1024 block_M=64' of the file, or are\n"
              "guessed.",
    .opts = opts,
    .nopt = COUNT(opts),
    .run = run,
    .options_size = sizeof(Options),
};
