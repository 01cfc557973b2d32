/* file.c -- tests of reading, of writing by rename, of folders and of the cache's place. */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/base.h"
#include "test.h"

static Arena *a;
static char *dir;
static const char *why;

static void start(void)
{
    a = arena_new();
    dir = path_join(a, test_folder(), "file-XXXXXX");
    CHECK(mkdtemp(dir) != NULL);
}

static void finish(void)
{
    CHECK_INT(tree_remove(dir), STATUS_OK);
    CHECK(!file_exists(dir));
    arena_free(a);
}

static int count_files(void)
{
    char **names;
    int n = 0;
    CHECK_INT(dir_list(a, dir, &names, &n, &why), STATUS_OK);
    return n;
}

TEST(what_is_written_is_read)
{
    start();
    static const size_t sizes[] = {0, 1, 100, 65535, 65536, 3000000};
    char *path = path_join(a, dir, "f");
    for (int i = 0; i < COUNT(sizes); i++) {
        char *data = arena_alloc(a, sizes[i] + 1);
        for (size_t j = 0; j < sizes[i]; j++)
            data[j] = (char)hash_mix(j, 3);
        CHECK_INT(file_write(a, path, data, sizes[i], &why), STATUS_OK);
        char *back = NULL;
        size_t n = 99;
        CHECK_INT(file_read(a, path, &back, &n, &why), STATUS_OK);
        CHECK_INT(n, sizes[i]);
        CHECK(memcmp(back, data, n) == 0);
        CHECK_INT(back[n], 0);
    }
    CHECK_INT(count_files(), 1);
    finish();
}

TEST(files_of_unknown_size_are_read_whole)
{
    start();
    char *data = NULL;
    size_t n = 0;
    CHECK_INT(file_read(a, "/proc/self/maps", &data, &n, &why), STATUS_OK);
    CHECK(n > 1000);
    CHECK_INT(strlen(data), n);
    CHECK_HAS(data, "[stack]");
    finish();
}

TEST(missing_files_say_so)
{
    start();
    char *data;
    size_t n;
    CHECK_INT(file_read(a, "/nowhere/x.npy", &data, &n, &why), STATUS_IO);
    CHECK_TEXT(why, "cannot open /nowhere/x.npy: No such file or directory");
    CHECK_INT(file_read(a, dir, &data, &n, &why), STATUS_IO);
    CHECK_HAS(why, "Is a directory");
    CHECK_INT(file_write(a, "/nowhere/x", "", 0, &why), STATUS_IO);
    CHECK_TEXT(why, "cannot create /nowhere/x: No such file or directory");
    char **names;
    int count;
    CHECK_INT(dir_list(a, "/nowhere", &names, &count, &why), STATUS_IO);
    finish();
}

TEST(a_failed_write_leaves_the_old_file_and_nothing_else)
{
    start();
    char *path = path_join(a, dir, "f");
    CHECK_INT(file_write(a, path, "old", 3, &why), STATUS_OK);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit small = {1000, 1000};
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &small), 0);
    char *big = arena_alloc(a, 100000);
    CHECK_INT(file_write(a, path, big, 100000, &why), STATUS_IO);
    CHECK_HAS(why, "cannot write");
    CHECK_HAS(why, "File too large");
    char *data;
    size_t n;
    CHECK_INT(file_read(a, path, &data, &n, &why), STATUS_OK);
    CHECK_TEXT(data, "old");
    CHECK_INT(count_files(), 1);
    finish();
}

TEST(folders_are_made_with_their_parents)
{
    start();
    char *deep = path_join(a, dir, "x/y//z/");
    CHECK_INT(dir_make(a, deep, &why), STATUS_OK);
    CHECK_INT(dir_make(a, deep, &why), STATUS_OK);
    CHECK(file_exists(deep));
    char *path = path_join(a, dir, "f");
    CHECK_INT(file_write(a, path, "", 0, &why), STATUS_OK);
    CHECK_INT(dir_make(a, path_join(a, path, "g"), &why), STATUS_IO);
    CHECK_HAS(why, "Not a directory");
    CHECK_INT(dir_make(a, "", &why), STATUS_IO);
    finish();
}

TEST(lists_are_sorted)
{
    start();
    static const char *const names[] = {"b", "a", "c10", "c9", ".hidden"};
    for (int i = 0; i < COUNT(names); i++)
        CHECK_INT(file_write(a, path_join(a, dir, names[i]), "", 0, &why), STATUS_OK);
    char **got;
    int n;
    CHECK_INT(dir_list(a, dir, &got, &n, &why), STATUS_OK);
    CHECK_INT(n, 5);
    static const char *const want[] = {".hidden", "a", "b", "c10", "c9"};
    for (int i = 0; i < n; i++)
        CHECK_TEXT(got[i], want[i]);
    finish();
}

TEST(removing_does_not_follow_links)
{
    start();
    char *kept = path_join(a, dir, "kept"), *tree = path_join(a, dir, "tree");
    CHECK_INT(dir_make(a, kept, &why), STATUS_OK);
    CHECK_INT(dir_make(a, path_join(a, tree, "sub"), &why), STATUS_OK);
    CHECK_INT(file_write(a, path_join(a, kept, "f"), "x", 1, &why), STATUS_OK);
    CHECK_INT(symlink(kept, path_join(a, tree, "sub/link")), 0);
    CHECK_INT(tree_remove(tree), STATUS_OK);
    CHECK(!file_exists(tree));
    CHECK(file_exists(path_join(a, kept, "f")));
    CHECK_INT(tree_remove(tree), STATUS_OK);
    finish();
}

TEST(paths_join)
{
    start();
    CHECK_TEXT(path_join(a, "a", "b"), "a/b");
    CHECK_TEXT(path_join(a, "a/", "b"), "a/b");
    CHECK_TEXT(path_join(a, "", "b"), "b");
    CHECK_TEXT(path_join(a, "a", "/b"), "/b");
    CHECK(strcmp(path_temp(a, dir, "s"), path_temp(a, dir, "s")) != 0);
    finish();
}

TEST(cache_root_follows_the_environment)
{
    start();
    setenv("TILELANG_CACHE_DIR", "/one", 1);
    setenv("XDG_CACHE_HOME", "/two", 1);
    setenv("HOME", "/three", 1);
    CHECK_TEXT(cache_root(a), "/one");
    setenv("TILELANG_CACHE_DIR", "", 1);
    CHECK_TEXT(cache_root(a), "/two/tilelang-c");
    setenv("XDG_CACHE_HOME", "relative", 1);
    CHECK_TEXT(cache_root(a), "/three/.cache/tilelang-c");
    finish();
}

/* Readers of a file that is being replaced see one whole version or another. */
static int writer(void *arg)
{
    Arena *own = arena_new();
    char data[9000];
    for (int i = 0; i < 200; i++) {
        memset(data, 'a' + i % 26, sizeof data);
        if (file_write(own, arg, data, sizeof data, &why) != STATUS_OK)
            return 1;
    }
    arena_free(own);
    return 0;
}

static int reader(void *arg)
{
    for (int i = 0; i < 200; i++) {
        Arena *own = arena_new();
        char *data;
        size_t n;
        if (file_read(own, arg, &data, &n, &why) != STATUS_OK || n != 9000)
            return 1;
        for (size_t j = 1; j < n; j++) {
            if (data[j] != data[0])
                return 2;
        }
        arena_free(own);
    }
    return 0;
}

TEST(a_reader_never_sees_half_a_file)
{
    start();
    char *path = path_join(a, dir, "f");
    CHECK_INT(writer(path), 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(writer(path));
    int code;
    CHECK_INT(proc_call(reader, path, 30, &code), STATUS_OK);
    CHECK_INT(code, 0);
    int status = 0;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
    finish();
}
