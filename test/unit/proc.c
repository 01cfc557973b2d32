/* proc.c -- tests of children: output, input, limits. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/base.h"
#include "test.h"

static ProcResult r;
static const char *why;

static Status shell(Arena *a, const char *script, const char *in, double seconds)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    return proc_run(a, argv, in, seconds, &r, &why);
}

TEST(output_of_both_streams_and_the_code_come_back)
{
    Arena *a = arena_new();
    CHECK_INT(shell(a, "echo one; echo two >&2; exit 3", NULL, 20), STATUS_OK);
    CHECK_TEXT(r.out, "one\ntwo\n");
    CHECK_INT(r.nout, 8);
    CHECK_INT(r.exit_code, 3);
    CHECK(!r.timed_out);
    arena_free(a);
}

TEST(input_reaches_the_child)
{
    Arena *a = arena_new();
    Str text;
    str_init(&text, a);
    for (int i = 0; i < 50000; i++)
        str_printf(&text, "line %d\n", i);
    CHECK_INT(shell(a, "cat", text.s, 20), STATUS_OK);
    CHECK_INT(r.nout, text.n);
    CHECK_TEXT(r.out, text.s);
    CHECK_INT(shell(a, "true", text.s, 20), STATUS_OK);
    CHECK_INT(r.exit_code, 0);
    CHECK_INT(shell(a, "cat", NULL, 20), STATUS_OK);
    CHECK_TEXT(r.out, "");
    arena_free(a);
}

TEST(a_missing_program_is_named)
{
    Arena *a = arena_new();
    const char *argv[] = {"no-such-compiler", NULL};
    CHECK_INT(proc_run(a, argv, NULL, 5, &r, &why), STATUS_TOOL);
    CHECK_TEXT(why, "cannot run no-such-compiler: No such file or directory");
    arena_free(a);
}

TEST(the_limit_kills_the_whole_group)
{
    Arena *a = arena_new();
    double start = now_seconds();
    CHECK_INT(shell(a, "echo before; sleep 50 & echo $!; sleep 50", NULL, 0.3), STATUS_OK);
    CHECK(now_seconds() - start < 10);
    CHECK(r.timed_out);
    CHECK_INT(r.exit_code, -1);
    int pid = 0;
    CHECK_INT(sscanf(r.out, "before\n%d", &pid), 1);
    for (int i = 0; i < 100 && kill(pid, 0) == 0; i++) {
        /* Killed, perhaps not yet reaped by init. */
        char state = 0;
        FILE *f = fopen(arena_printf(a, "/proc/%d/stat", pid), "r");
        if (!f || (fscanf(f, "%*d %*s %c", &state) == 1 && state == 'Z'))
            pid = 0;
        if (f)
            fclose(f);
        if (!pid)
            break;
        usleep(20000);
        CHECK(i < 99);
    }
    arena_free(a);
}

TEST(the_limit_holds_when_output_is_closed)
{
    Arena *a = arena_new();
    CHECK_INT(shell(a, "exec >&- 2>&-; sleep 50", NULL, 0.3), STATUS_OK);
    CHECK(r.timed_out);
    arena_free(a);
}

TEST(a_left_behind_child_is_not_waited_for)
{
    Arena *a = arena_new();
    double start = now_seconds();
    CHECK_INT(shell(a, "sleep 50 & echo done", NULL, 40), STATUS_OK);
    CHECK(now_seconds() - start < 20);
    CHECK_TEXT(r.out, "done\n");
    CHECK_INT(r.exit_code, 0);
    arena_free(a);
}

TEST(a_signal_is_not_an_exit_code)
{
    Arena *a = arena_new();
    CHECK_INT(shell(a, "kill -SEGV $$", NULL, 20), STATUS_OK);
    CHECK_INT(r.exit_code, -1);
    CHECK(!r.timed_out);
    arena_free(a);
}

TEST(much_output_is_cut_but_never_blocks)
{
    Arena *a = arena_new();
    CHECK_INT(shell(a, "head -c 70000000 /dev/zero; exit 5", NULL, 50), STATUS_OK);
    CHECK_INT(r.exit_code, 5);
    CHECK_INT(r.nout, 64 << 20);
    arena_free(a);
}

TEST(files_of_the_host_stay_at_home)
{
    Arena *a = arena_new();
    CHECK_INT(dup2(STDOUT_FILENO, 37), 37);
    CHECK_INT(shell(a, "ls /proc/self/fd | grep -c '^37$'", NULL, 20), STATUS_OK);
    CHECK_TEXT(r.out, "0\n");
    arena_free(a);
}

TEST(nothing_stays_open)
{
    Arena *a = arena_new();
    int before = dup(0);
    close(before);
    for (int i = 0; i < 5; i++)
        CHECK_INT(shell(a, "echo x", "y", 20), STATUS_OK);
    const char *argv[] = {"no-such-compiler", NULL};
    CHECK_INT(proc_run(a, argv, NULL, 5, &r, &why), STATUS_TOOL);
    int after = dup(0);
    CHECK_INT(after, before);
    arena_free(a);
}

static int returns(void *arg)
{
    return *(int *)arg;
}

static int crashes(void *arg)
{
    (void)arg;
    raise(SIGKILL);
    return 0;
}

static int sleeps(void *arg)
{
    (void)arg;
    sleep(50);
    return 0;
}

static int throws(void *arg)
{
    (void)arg;
    recover_throw(STATUS_BUG, "in the child");
}

TEST(a_function_runs_in_a_child)
{
    int seven = 7, code = 0;
    CHECK_INT(proc_call(returns, &seven, 20, &code), STATUS_OK);
    CHECK_INT(code, 7);
    CHECK_INT(proc_call(returns, &seven, 0, &code), STATUS_OK);
    CHECK_INT(code, 7);
    CHECK_INT(proc_call(crashes, NULL, 20, &code), STATUS_OK);
    CHECK_INT(code, -1);
    CHECK_INT(proc_call(sleeps, NULL, 0.2, &code), STATUS_TOOL);
    CHECK_INT(code, -1);
}

TEST(a_throw_in_the_child_does_not_reach_the_parents_frame)
{
    Recover frame;
    int code = 0;
    if (recover_open(&frame) == 0) {
        CHECK_INT(proc_call(throws, NULL, 20, &code), STATUS_OK);
        recover_close(&frame);
    }
    CHECK_INT(frame.status, STATUS_OK);
    CHECK_INT(code, 70);
}
