/* program.h -- a kernel as a program of its own, for a CPU that is not this one: pasted after abi.h,
 * pool.h and remote.h, and linked with the emitted text.
 *
 * Usage: PROGRAM FILE   runs what the file asks for and writes results into it.  The end of a region is
 * the end of a page, and the page behind it cannot be touched. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

int tl_entry(void *const *tensor, const int64_t *value, const tl_rt *rt);

static char *tl_guarded(int64_t nbytes)
{
    const int64_t page = sysconf(_SC_PAGESIZE), room = (nbytes + page - 1) / page * page;
    char *p = mmap(0, (size_t)(room + page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                   -1, 0);
    if (p == MAP_FAILED || mprotect(p + room, (size_t)page, PROT_NONE) != 0)
        return 0;
    return p + room - nbytes;
}

static double tl_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int tl_remote_run(tl_remote *h, char *file)
{
    static char *at[TL_REMOTE_MOST];
    static void *tensor[TL_REMOTE_MOST + 1];

    for (int64_t i = 0; i < h->nregion; i++) {
        if (!(at[i] = tl_guarded(h->nbytes[i])))
            return 1;
        memcpy(at[i], file + h->offset[i], (size_t)h->nbytes[i]);
    }
    for (int64_t i = 0; i < h->ntensor; i++)
        tensor[i] = h->region[i] < 0 ? 0 : at[h->region[i]] + h->start[i];
    tl_pool_set_threads((int)h->nthread);
    for (int64_t i = -h->warmup; i < h->reps && !h->code; i++) {
        double start = tl_now(), took;
        h->code = tl_pool_run(tl_entry, tensor, h->value);
        took = tl_now() - start;
        if (i >= 0)
            memcpy(file + h->seconds + i * (int64_t)sizeof took, &took, sizeof took);
    }
    snprintf(h->text, sizeof h->text, "%s", tl_pool_said);
    for (int64_t i = 0; i < h->nregion; i++)
        memcpy(file + h->offset[i], at[i], (size_t)h->nbytes[i]);
    return 0;
}

int main(int argc, char **argv)
{
    struct stat st;
    int fd = argc == 2 ? open(argv[1], O_RDWR) : -1;

    if (fd < 0 || fstat(fd, &st) != 0)
        return 2;
    char *file = mmap(0, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (file == MAP_FAILED)
        return 2;
    int bad = tl_remote_run((tl_remote *)file, file);
    fflush(stdout);
    return bad;
}
