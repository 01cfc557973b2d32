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
    const char *root = path_join(a, test_folder(), "cache");
    tree_remove(root);
    setenv("TILELANG_CACHE_DIR", root, 1);
    return root;
}

static TargetSpec here(Arena *a)
{
    TargetSpec s;
    const char *why = "";
#if defined(__aarch64__)
    CHECK(target_parse(a, "cpu -mcpu=armv8-a", &s, &why));
#else
    CHECK(target_parse(a, "cpu -mcpu=x86-64", &s, &why));
#endif
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

TEST(what_a_comment_says_is_not_in_the_key)
{
    static const char *const text[] = {"  // T.copy(A, B)  a.py:1\nx; // y\n",
                                       "    // T.copy(C, D)  b.py:22\nx; // y\n",
                                       "x; // y\n", "  // T.copy(A, B)  a.py:1\nx; // z\n"};
    Arena *a = arena_new();
    TargetSpec spec = here(a);
    Compiler cc = {.path = "/bin/cc", .version = "1"};
    CacheKey ours[4], users[2];

    for (int i = 0; i < COUNT(text); i++) {
        ModuleSpec s = {.name = "k", .source = text[i], .nsource = strlen(text[i]), .spec = &spec,
                        .only_ours = true};
        ours[i] = cache_key(a, &cc, &s, NULL, 0);
        s.only_ours = false;
        users[i % 2] = cache_key(a, &cc, &s, NULL, 0);
        CHECK(i != 1 || strcmp(users[0].name, users[1].name) != 0);
    }
    CHECK_TEXT(ours[0].name, ours[1].name);
    CHECK(strcmp(ours[0].name, ours[2].name) != 0);
    CHECK(strcmp(ours[0].name, ours[3].name) != 0);
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
    const char *why = "", *file = path_join(a, test_folder(), "file");

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

/* ---- what others could have put there -------------------------------------------------------- */

enum { MALLORY = 12345 };

/* Another one for each process, and so are her folders. */
static uid_t alice(void)
{
    static uid_t id;
    id = id ? id : 20000 + (uid_t)getpid() % 40000;
    return id;
}

/* As Alice, in a process of her own: 0 if the kernel was built and not loaded, 1 if it was loaded; +2
 * if there was a warning. */
static int build_as_alice(Arena *a, const char *root)
{
    uid_t she = alice();
    pid_t child = fork();
    int status = -1;

    if (child == 0) {
        setenv("HOME", "/nonexistent", 1);
        unsetenv("XDG_CACHE_HOME");
        setenv("TILELANG_CACHE_DIR", root, 1);
        if (setresgid(she, she, she) != 0 || setresuid(she, she, she) != 0)
            _exit(100);
        Module m = build(a, text_one);
        bool told = m.warning && strstr(m.warning, root) && strstr(m.warning, "[cache-shared]");
        _exit((m.from_cache ? 1 : 0) + (told ? 2 : 0));
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void give(Arena *a, const char *dir, uid_t uid, mode_t mode)
{
    char **names;
    int n;
    const char *why = "";

    CHECK_INT(dir_list(a, dir, &names, &n, &why), STATUS_OK);
    for (int i = 0; i < n; i++)
        CHECK_INT(chown(path_join(a, dir, names[i]), uid, uid) +
                      chmod(path_join(a, dir, names[i]), mode & 0666), 0);
    CHECK_INT(chown(dir, uid, uid) + chmod(dir, mode), 0);
}

/* An entry of root's for Alice to find; who owns the folders is up to the test. */
static char *plant(Arena *a, const char **root)
{
    *root = fresh_root(a);
    Module m = build(a, text_one);
    module_free(&m);
    char *entry = only_entry(a, *root);
    give(a, entry, 0, 0755);
    return entry;
}

static void hand_over(Arena *a, const char *root, uid_t uid, mode_t mode)
{
    tree_remove(path_join(a, root, "tmp"));
    CHECK_INT(chown(path_join(a, root, "kernels"), uid, uid), 0);
    CHECK_INT(chown(root, uid, uid) + chmod(root, mode), 0);
}

TEST(an_entry_of_a_shared_folder_is_not_loaded)
{
    Arena *a = arena_new();
    const char *root;

    if (geteuid() != 0)
        return;
    char *entry = plant(a, &root);
    give(a, entry, MALLORY, 0755);
    hand_over(a, root, 0, 01777);
    CHECK_INT(build_as_alice(a, root), 2);
    CHECK(file_exists(path_join(a, root, arena_printf(a, "user-%d", (int)alice()))));
    CHECK_INT(build_as_alice(a, root), 3); /* from the folder of her own */
    tree_remove(root);
}

TEST(a_folder_of_her_own_that_somebody_else_made_is_not_used)
{
    Arena *a = arena_new();
    const char *root, *why = "";

    if (geteuid() != 0)
        return;
    plant(a, &root);
    hand_over(a, root, 0, 01777);
    char *own = path_join(a, root, arena_printf(a, "user-%d", (int)alice()));
    CHECK_INT(dir_make(a, own, &why), STATUS_OK);
    CHECK_INT(chown(own, MALLORY, MALLORY), 0);
    tree_remove(arena_printf(a, "/tmp/tilelang-c-%d", (int)alice()));
    CHECK_INT(build_as_alice(a, root), 2);
    CHECK(file_exists(arena_printf(a, "/tmp/tilelang-c-%d/kernels", (int)alice())));
    tree_remove(arena_printf(a, "/tmp/tilelang-c-%d", (int)alice()));
    tree_remove(root);
}

TEST(an_entry_of_another_user_is_not_loaded)
{
    Arena *a = arena_new();
    const char *root;

    if (geteuid() != 0)
        return;
    char *entry = plant(a, &root);
    hand_over(a, root, alice(), 0700);
    CHECK_INT(build_as_alice(a, root), 1); /* root's is as good as hers */
    give(a, entry, MALLORY, 0755);
    CHECK_INT(build_as_alice(a, root), 2);
    give(a, entry, alice(), 0777);
    CHECK_INT(build_as_alice(a, root), 2);
    CHECK_INT(build_as_alice(a, root), 1); /* what she may move away was repaired */
    tree_remove(root);
}

TEST(a_link_or_an_open_file_in_an_entry_is_not_followed)
{
    Arena *a = arena_new();
    const char *root, *why = "";

    if (geteuid() != 0)
        return;
    char *entry = plant(a, &root), *so = path_join(a, entry, "kernel.so");
    char *aside = path_join(a, root, "aside.so"), *data;
    size_t n;
    CHECK_INT(file_read(a, so, &data, &n, &why), STATUS_OK);
    CHECK_INT(file_write(a, aside, data, n, &why), STATUS_OK);
    CHECK_INT(unlink(so) + symlink(aside, so), 0);
    hand_over(a, root, alice(), 0700);
    CHECK_INT(chown(aside, MALLORY, MALLORY), 0);
    CHECK_INT(build_as_alice(a, root), 2);
    CHECK_INT(build_as_alice(a, root) & 1, 0); /* root's folder is not hers to repair */
    tree_remove(root);
}

TEST(a_whole_entry_that_cannot_be_loaded_is_repaired)
{
    Arena *a = arena_new();
    const char *root = fresh_root(a), *why = "";
    Module m = build(a, text_one);
    char *entry = only_entry(a, root), *manifest, hex[33];
    size_t n;

    module_free(&m);
    CHECK_INT(file_write(a, path_join(a, entry, "kernel.so"), "garbage", 7, &why), STATUS_OK);
    CHECK_INT(file_read(a, path_join(a, entry, "manifest"), &manifest, &n, &why), STATUS_OK);
    hash_hex("garbage", 7, hex);
    char *line = strstr(manifest, "kernel.so");
    CHECK(line != NULL);
    *line = 0;
    const char *text = arena_printf(a, "%skernel.so 7 %s\n", manifest, hex);
    CHECK_INT(file_write(a, path_join(a, entry, "manifest"), text, strlen(text), &why), STATUS_OK);
    m = build(a, text_one);
    CHECK(!m.from_cache);
    module_free(&m);
    m = build(a, text_one);
    CHECK(m.from_cache);
    module_free(&m);
    tree_remove(root);
}
