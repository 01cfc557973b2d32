/* cache.c -- the kernel cache: hits, damage, races, full and forbidden folders. */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "rt/rt.h"
#include "test.h"

static const char text_one[] = "int tl_entry(void *const *t, const long *v, const void *rt)\n"
                               "{ *(int *)t[0] = 17; return 0; }\n";

static const char *fresh_root(Arena *a)
{
    const char *root = arena_printf(a, "/tmp/tl-cache-test-%ld", (long)getpid());
    tree_remove(root);
    setenv("TILELANG_CACHE_DIR", root, 1);
    return root;
}

static TargetSpec here(Arena *a)
{
    TargetSpec s;
    const char *why = "";
    CHECK(target_parse(a, "cpu -mcpu=x86-64", &s, &why));
    return s;
}

static Module build(Arena *a, const char *text)
{
    TargetSpec spec = here(a);
    Compiler cc = {0};
    Module m;
    const char *why = "";
    ModuleSpec s = {.name = "k", .source = text, .nsource = strlen(text), .spec = &spec};
    int got = 0;
    void *tensor[1] = {&got};

    Status st = module_build(a, &cc, &s, &m, &why);
    if (st != STATUS_OK)
        test_check(__FILE__, __LINE__, false, why);
    m.entry(tensor, NULL, NULL);
    CHECK_INT(got, 17);
    return m;
}

static char *only_entry(Arena *a, const char *root)
{
    char **names, *dir = path_join(a, root, "kernels");
    int n;
    const char *why = "";
    CHECK_INT(dir_list(a, dir, &names, &n, &why), STATUS_OK);
    CHECK_INT(n, 1);
    return path_join(a, dir, names[0]);
}

TEST(the_second_build_is_a_hit)
{
    Arena *a = arena_new();
    const char *root = fresh_root(a);
    Module m = build(a, text_one);

    CHECK(!m.from_cache);
    module_free(&m);
    m = build(a, text_one);
    CHECK(m.from_cache);
    module_free(&m);
    CHECK(file_exists(path_join(a, only_entry(a, root), "manifest")));
    tree_remove(root);
}

TEST(damage_is_found_and_repaired)
{
    static const char *const parts[] = {"kernel.so", "key.txt", "manifest", "kernel.c"};
    Arena *a = arena_new();
    const char *root = fresh_root(a), *why = "";

    for (int i = 0; i < COUNT(parts); i++) {
        Module m = build(a, text_one);
        module_free(&m);
        char *path = path_join(a, only_entry(a, root), parts[i]);
        if (i % 2)
            unlink(path);
        else
            CHECK_INT(file_write(a, path, "garbage", 7, &why), STATUS_OK);
        m = build(a, text_one);
        CHECK(!m.from_cache);
        module_free(&m);
        m = build(a, text_one);
        CHECK(m.from_cache);
        module_free(&m);
    }
    tree_remove(root);
}

TEST(every_field_is_in_the_key)
{
    Arena *a = arena_new();
    TargetSpec spec = here(a), other = spec;
    Compiler cc = {.path = "/bin/cc", .version = "1"}, newer = {.path = "/bin/cc", .version = "2"};
    const char *const flags[] = {"-O3", "-O2"};
    ModuleSpec s = {.name = "k", .source = "x", .nsource = 1, .spec = &spec}, t = s, u = s;

    other.text = "cpu -mcpu=x86-64-v3";
    t.spec = &other;
    u.source = "y";
    const CacheKey keys[] = {cache_key(a, &cc, &s, flags, 1), cache_key(a, &cc, &s, flags, 2),
                             cache_key(a, &newer, &s, flags, 1), cache_key(a, &cc, &t, flags, 1),
                             cache_key(a, &cc, &u, flags, 1)};
    for (int i = 0; i < COUNT(keys); i++)
        for (int j = 0; j < i; j++)
            CHECK(strcmp(keys[i].name, keys[j].name) != 0);
}

TEST(many_processes_at_once)
{
    Arena *a = arena_new();
    const char *root = fresh_root(a);
    pid_t child[6];

    for (int i = 0; i < COUNT(child); i++) {
        child[i] = fork();
        if (child[i] == 0) {
            Module m = build(a, text_one);
            module_free(&m);
            _exit(0);
        }
    }
    for (int i = 0; i < COUNT(child); i++) {
        int status = -1;
        CHECK_INT(waitpid(child[i], &status, 0), child[i]);
        CHECK_INT(status, 0);
    }
    Module m = build(a, text_one);
    CHECK(m.from_cache);
    module_free(&m);
    only_entry(a, root);
    tree_remove(root);
}

TEST(a_folder_that_cannot_be_made_stops_nobody)
{
    Arena *a = arena_new();
    const char *why = "", *file = arena_printf(a, "/tmp/tl-cache-file-%ld", (long)getpid());

    CHECK_INT(file_write(a, file, "", 0, &why), STATUS_OK);
    setenv("TILELANG_CACHE_DIR", path_join(a, file, "below"), 1);
    Module m = build(a, text_one);
    CHECK(!m.from_cache);
    module_free(&m);
    unlink(file);
}

TEST(what_the_compiler_says_is_passed_on)
{
    Arena *a = arena_new();
    const char *root = fresh_root(a), *why = "";
    TargetSpec spec = here(a);
    Compiler cc = {0};
    Module m;
    ModuleSpec s = {.name = "k", .source = "int tl_entry(;", .nsource = 14, .spec = &spec};

    CHECK_INT(module_build(a, &cc, &s, &m, &why), STATUS_TOOL);
    CHECK_HAS(why, "kernel.c:1");
    char **names;
    int n = 0;
    CHECK_INT(dir_list(a, path_join(a, root, "tmp"), &names, &n, &why), STATUS_OK);
    CHECK_INT(n, 0);
    tree_remove(root);
}

TEST(no_compiler_is_said_so)
{
    Arena *a = arena_new();
    Compiler cc = {0};
    const char *why = "";

    setenv("CC", "no-such-compiler", 1);
    CHECK_INT(compiler_find(a, &cc, &why), STATUS_TOOL);
    CHECK_HAS(why, "no-such-compiler");
}

TEST(why_names_the_field_that_differs)
{
    Arena *a = arena_new();
    const char *root = fresh_root(a);
    Module m = build(a, text_one);
    TargetSpec spec = here(a);
    Compiler cc = {0};
    const char *why = "";
    int nflag;
    Str out;

    module_free(&m);
    CHECK_INT(compiler_find(a, &cc, &why), STATUS_OK);
    ModuleSpec s = {.name = "k", .source = text_one, .nsource = strlen(text_one), .spec = &spec};
    const char *const *flags = compiler_flags(a, &cc, &spec, "-DMORE", &nflag);
    CacheKey k = cache_key(a, &cc, &s, flags, nflag);
    str_init(&out, a);
    cache_why(a, &k, &out);
    CHECK_HAS(out.s, "the flags differs");
    CHECK_HAS(out.s, "-DMORE");
    tree_remove(root);
}

TEST(list_and_clear)
{
    Arena *a = arena_new();
    const char *root = fresh_root(a), *why = "";
    Module m = build(a, text_one);
    int64_t n = 0;
    Str out;

    module_free(&m);
    str_init(&out, a);
    CHECK_INT(cache_list(a, &out, &why), STATUS_OK);
    CHECK_HAS(out.s, "1 kernels");
    CHECK_INT(cache_clear(a, &n, &why), STATUS_OK);
    CHECK_INT(n, 1);
    m = build(a, text_one);
    CHECK(!m.from_cache);
    module_free(&m);
    tree_remove(root);
}
