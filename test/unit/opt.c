/* opt.c -- tests of option tables. */
#include "base/base.h"
#include "test.h"

typedef struct {
    bool time, keep;
    const char *target, *output;
    int64_t threads;
    double seconds;
    OptList define;
} Options;

static const Opt opts[] = {
    {"target", 't', OPT_TEXT, "T", "compile for T", offsetof(Options, target)},
    {"output", 'o', OPT_TEXT, "FILE", "write to FILE", offsetof(Options, output)},
    {"threads", 'j', OPT_INT, "N", "use N threads", offsetof(Options, threads)},
    {"seconds", 0, OPT_DOUBLE, "S", "give up after S seconds", offsetof(Options, seconds)},
    {"define", 'D', OPT_LIST, "NAME=VALUE",
     "give a name a value before anything is evaluated; may be given many times, the last one "
     "wins",
     offsetof(Options, define)},
    {"time", 0, OPT_FLAG, NULL, "print times", offsetof(Options, time)},
    {"keep", 'k', OPT_FLAG, NULL, "keep files", offsetof(Options, keep)},
};

static const Verb verb = {
    .verb = "run",
    .usage = "FILE",
    .doc = "run a kernel",
    .detail = "An example:\n\n    tl run gemm.py\n\nThat is all.",
    .opts = opts,
    .nopt = COUNT(opts),
};

static Options o;
static const char **args, *why;
static int nargs;
static Arena *a;

static bool parse(char **argv)
{
    int argc = 0;
    while (argv[argc])
        argc++;
    a = a ? a : arena_new();
    o = (Options){.keep = true, .target = "cpu"};
    return opt_parse(a, &verb, argc, argv, &o, &args, &nargs, &why);
}

#define PARSE(...) parse((char *[]){__VA_ARGS__, NULL})

TEST(each_way_to_give_a_value)
{
    CHECK(PARSE("--target", "cuda -arch=sm_90a", "--threads=8", "-o", "x", "--seconds", "0.5"));
    CHECK_TEXT(o.target, "cuda -arch=sm_90a");
    CHECK_INT(o.threads, 8);
    CHECK_TEXT(o.output, "x");
    CHECK_NEAR(o.seconds, 0.5, 0);
    CHECK(PARSE("-j12", "-ofile", "--output="));
    CHECK_INT(o.threads, 12);
    CHECK_TEXT(o.output, "");
    CHECK(PARSE("-j", "-3", "--threads", "0x10"));
    CHECK_INT(o.threads, 16);
    CHECK(PARSE("-j", "010"));
    CHECK_INT(o.threads, 10);
}

TEST(what_is_not_given_keeps_its_default)
{
    CHECK(parse((char *[]){NULL}));
    CHECK(o.keep);
    CHECK_TEXT(o.target, "cpu");
    CHECK_INT(nargs, 0);
}

TEST(flags_go_on_and_off)
{
    CHECK(PARSE("--time", "--no-keep"));
    CHECK(o.time && !o.keep);
    CHECK(PARSE("--no-keep", "-k"));
    CHECK(o.keep);
    CHECK(!PARSE("--time=1"));
    CHECK_TEXT(why, "--time takes no value");
    CHECK(!PARSE("--no-target"));
}

TEST(lists_collect)
{
    CHECK(PARSE("-D", "a=1", "--define", "b=2", "-Dc=3"));
    CHECK_INT(o.define.n, 3);
    CHECK_TEXT(o.define.at[0], "a=1");
    CHECK_TEXT(o.define.at[2], "c=3");
}

/* --dump and --dump=all; the next word is never taken. */
TEST(a_value_may_be_left_out)
{
    static const Opt maybe[] = {{"dump", 0, OPT_MAYBE, "PASS", "print IR", offsetof(Options, output)}};
    static const Verb v = {.verb = "build", .doc = "x", .opts = maybe, .nopt = COUNT(maybe)};
    char *alone[] = {"--dump", "file.py"}, *given[] = {"--dump=all"};
    Str text;

    a = arena_new();
    CHECK(opt_parse(a, &v, 2, alone, &o, &args, &nargs, &why));
    CHECK_TEXT(o.output, "");
    CHECK_INT(nargs, 1);
    CHECK(opt_parse(a, &v, 1, given, &o, &args, &nargs, &why));
    CHECK_TEXT(o.output, "all");
    str_init(&text, a);
    opt_man(&text, "tl", "x", &v, 1);
    CHECK_HAS(text.s, "[=\\fIPASS\\fR]");
}

TEST(what_stands_together)
{
    static const OptRule rules[] = {{"seconds", "time keep", NULL}, {"output", NULL, "define target"}};
    Verb v = verb;
    char *alone[] = {"--seconds", "1"}, *both[] = {"-k", "--seconds", "1"};
    char *apart[] = {"-o", "x", "-Da=1"}, *off[] = {"--no-time", "--seconds", "1"};

    v.rules = rules;
    v.nrule = COUNT(rules);
    a = arena_new();
    CHECK(!opt_parse(a, &v, COUNT(alone), alone, &o, &args, &nargs, &why));
    CHECK_TEXT(why, "--seconds needs --time");
    CHECK(!opt_parse(a, &v, COUNT(off), off, &o, &args, &nargs, &why));
    CHECK(opt_parse(a, &v, COUNT(both), both, &o, &args, &nargs, &why));
    CHECK(!opt_parse(a, &v, COUNT(apart), apart, &o, &args, &nargs, &why));
    CHECK_TEXT(why, "--output and --define cannot stand together");
    CHECK(opt_parse(a, &v, 2, apart, &o, &args, &nargs, &why));
}

TEST(arguments_mix_with_options)
{
    CHECK(PARSE("k.py", "--time", "M=4", "-", "-1", "--", "--threads", "-x"));
    CHECK(o.time);
    CHECK_INT(nargs, 6);
    static const char *const want[] = {"k.py", "M=4", "-", "-1", "--threads", "-x"};
    for (int i = 0; i < nargs; i++)
        CHECK_TEXT(args[i], want[i]);
}

TEST(mistakes_are_explained)
{
    CHECK(!PARSE("--taget", "x"));
    CHECK_TEXT(why, "unknown option --taget; did you mean --target?");
    CHECK(!PARSE("--tread=3"));
    CHECK_TEXT(why, "unknown option --tread; did you mean --threads?");
    CHECK(!PARSE("--zzzzzzzz"));
    CHECK_TEXT(why, "unknown option --zzzzzzzz; see tl run --help");
    CHECK(!PARSE("-z"));
    CHECK_TEXT(why, "unknown option -z; see tl run --help");
    CHECK(!PARSE("--target"));
    CHECK_TEXT(why, "--target needs a value: --target T");
    CHECK(!PARSE("--threads", "four"));
    CHECK_TEXT(why, "--threads needs a whole number, not 'four'");
    CHECK(!PARSE("--threads=99999999999999999999"));
    CHECK(!PARSE("--threads="));
    CHECK(!PARSE("--seconds", "1s"));
    CHECK_TEXT(why, "--seconds needs a number from 0 on, not '1s'");
}

TEST(help_is_asked_for)
{
    CHECK(!PARSE("k.py", "--help"));
    CHECK_TEXT(why, NULL);
    CHECK(!PARSE("-h"));
    CHECK_TEXT(why, NULL);
    CHECK(PARSE("--", "--help"));
}

TEST(help_is_a_table)
{
    a = arena_new();
    Str b;
    str_init(&b, a);
    opt_help(&b, "tl", &verb);
    CHECK_TEXT(b.s, "usage: tl run [OPTIONS] FILE\n"
                    "\n"
                    "run a kernel\n"
                    "\n"
                    "options:\n"
                    "  -t, --target T          compile for T\n"
                    "  -o, --output FILE       write to FILE\n"
                    "  -j, --threads N         use N threads\n"
                    "      --seconds S         give up after S seconds\n"
                    "  -D, --define NAME=VALUE\n"
                    "                          give a name a value before anything is evaluated; may\n"
                    "                          be given many times, the last one wins\n"
                    "      --time              print times\n"
                    "  -k, --keep              keep files\n"
                    "\n"
                    "An example:\n"
                    "\n"
                    "    tl run gemm.py\n"
                    "\n"
                    "That is all.\n");
}

TEST(the_man_page_escapes_what_roff_would_eat)
{
    a = arena_new();
    Str b;
    str_init(&b, a);
    static const Opt odd[] = {{"dry-run", 'n', OPT_FLAG, NULL, ".\\x", 0}};
    static const Verb v = {
        .verb = "go", .usage = "[A]", .doc = "go", .detail = "One.\n\n  two\n\nThree.", .opts = odd,
        .nopt = 1};
    opt_man(&b, "tl", "tile kernels", &v, 1);
    CHECK_TEXT(b.s, ".TH TL 1\n"
                    ".SH NAME\n"
                    "tl \\- tile kernels\n"
                    ".SH SYNOPSIS\n"
                    ".B tl\n"
                    "\\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]\n"
                    ".SH COMMANDS\n"
                    ".SS \"tl go [A]\"\n"
                    "go\n"
                    ".PP\n"
                    "One.\n"
                    ".PP\n"
                    ".nf\n"
                    "  two\n"
                    ".fi\n"
                    ".PP\n"
                    "Three.\n"
                    ".TP\n"
                    "\\fB\\-n\\fR, \\fB\\-\\-dry\\-run\\fR\n"
                    "\\&.\\ex\n");
}
