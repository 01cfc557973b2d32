/* cache.c -- many processes compile the same kernels into one cache while some are killed.
 *
 *     cache [-p PROCESSES] [-k KERNELS] [-s SEED]
 *
 * Every process takes all kernels, each from another start, and checks what they compute.  The
 * parent kills a third of them at random moments.  Afterwards no entry is damaged, and every kernel
 * runs from the cache and is right. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/base.h"
#include "tilelang.h"

enum { N = 1000, PROCESSES_MOST = 256 };

typedef struct {
    int nprocess, nkernel;
    unsigned seed;
} Options;

static const char source[] =
    "import tilelang\n"
    "import tilelang.language as T\n\n\n"
    "@tilelang.jit\n"
    "def make(scale=1):\n"
    "    @T.prim_func\n"
    "    def main(X: T.Tensor((1000,), 'float32'), Y: T.Tensor((1000,), 'float32')):\n"
    "        with T.Kernel(8, threads=128) as bx:\n"
    "            for i in T.Parallel(125):\n"
    "                Y[bx * 125 + i] = X[bx * 125 + i] * scale + bx\n\n"
    "    return main\n";

/* ---- one process ----------------------------------------------------------------------------- */

static bool is_right(tl_kernel *k, int scale)
{
    float x[N], y[N];
    tl_tensor args[2] = {{.dtype = "float32", .rank = 1, .shape = {N}, .data = x},
                         {.dtype = "float32", .rank = 1, .shape = {N}, .data = y}};

    for (int i = 0; i < N; i++) {
        x[i] = (float)(i % 17);
        y[i] = -1;
    }
    if (tl_kernel_run(k, args, 2) != TL_OK)
        return false;
    for (int i = 0; i < N; i++)
        if (fabsf(y[i] - (x[i] * (float)scale + (float)(i / 125))) > 1e-3f)
            return false;
    return true;
}

/* The number of kernels that came from the cache; -1 when one was wrong. */
static int take_all(const Options *o, int start)
{
    tl_context *c = tl_open();
    int nhit = 0;
    bool right = c != NULL;

    for (int i = 0; right && i < o->nkernel; i++) {
        int scale = (start + i) % o->nkernel + 1;
        char text[16];
        snprintf(text, sizeof text, "%d", scale);
        tl_define d = {"scale", text};
        tl_options t = {.size = sizeof t, .defines = &d, .ndefine = 1, .threads = 1};
        tl_kernel *k;
        if (tl_compile(c, "stress.py", source, &t, &k) != TL_OK) {
            printf("%s", tl_message(c));
            right = false;
            break;
        }
        nhit += tl_kernel_from_cache(k);
        right = is_right(k, scale);
        tl_kernel_free(k);
    }
    tl_close(c);
    return right ? nhit : -1;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void wait_a_little(void)
{
    struct timespec t = {.tv_nsec = (rand() % 200) * 1000000L};
    nanosleep(&t, NULL);
}

static int run_all(const Options *o, int *nkilled)
{
    pid_t pid[PROCESSES_MOST];
    int nwrong = 0;

    fflush(NULL);
    for (int i = 0; i < o->nprocess; i++) {
        pid[i] = fork();
        if (pid[i] == 0)
            _exit(take_all(o, i * 7) < 0);
    }
    for (int i = 0; i < o->nprocess; i += 3) {
        wait_a_little();
        if (kill(pid[rand() % o->nprocess], SIGKILL) == 0)
            ++*nkilled;
    }
    for (int i = 0; i < o->nprocess; i++) {
        int status;
        waitpid(pid[i], &status, 0);
        nwrong += WIFEXITED(status) ? WEXITSTATUS(status) != 0 : WTERMSIG(status) != SIGKILL;
    }
    return nwrong;
}

static int nfailed, npassed;

static void expect(bool ok, const char *what)
{
    if (!ok)
        printf("FAIL  cache: %s\n", what);
    *(ok ? &npassed : &nfailed) += 1;
}

static void check_after(const Options *o)
{
    tl_context *c = tl_open();
    const char *list = "";

    expect(take_all(o, 0) >= 0, "what is in the cache afterwards is right");
    expect(take_all(o, 0) == o->nkernel, "all of it is found the second time");
    expect(tl_cache_list(c, &list) == TL_OK, "the cache can be listed");
    expect(strstr(list, "damaged") == NULL, "no entry is damaged");
    if (nfailed)
        printf("%s", list);
    tl_close(c);
}

int main(int argc, char **argv)
{
    Options o = {.nprocess = 32, .nkernel = 20, .seed = 1};
    char dir[] = "/tmp/tilelang-stress-XXXXXX";
    int opt, nkilled = 0;

    while ((opt = getopt(argc, argv, "p:k:s:")) != -1) {
        if (opt == 'p')
            o.nprocess = MIN(MAX(atoi(optarg), 1), PROCESSES_MOST);
        else if (opt == 'k')
            o.nkernel = MAX(atoi(optarg), 1);
        else if (opt == 's')
            o.seed = (unsigned)atoi(optarg);
        else
            return 2;
    }
    if (!mkdtemp(dir) || setenv("TILELANG_CACHE_DIR", dir, 1) != 0)
        return 2;
    srand(o.seed);
    expect(run_all(&o, &nkilled) == 0, "every process that was not killed ends well");
    expect(nkilled > 0, "some were killed");
    check_after(&o);
    tree_remove(dir);
    printf("%d passed, %d failed\n", npassed, nfailed);
    return nfailed != 0;
}
