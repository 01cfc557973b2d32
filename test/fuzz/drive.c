/* drive.c -- runs a fuzz target for a while without libFuzzer or AFL: seeds, mutations, a fork.
 *
 *     fuzz_lex BATCHES FILE...       the files are seeds; the same inputs every time
 *
 * A number of batches and not of seconds: a faster machine must not try what a slower one never saw.
 * Inputs are tried in batches, each in a child; the one at work lies in memory that both see, so
 * what ended a child is known and kept.  The last line is "N passed, M failed", counted in batches.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MOST = 1 << 16, BATCH = 2000, INPUT_SECONDS = 20, EDITS_MOST = 8 };

typedef struct {
    size_t n;
    uint8_t data[INPUT_MOST];
} Input;

typedef struct {
    uint64_t state;
    int nseed;
    Input *seed;
} Fuzzer;

static uint64_t next(Fuzzer *f)
{
    f->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = f->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static size_t below(Fuzzer *f, size_t n)
{
    return n ? (size_t)(next(f) % n) : 0;
}

/* ---- mutations ------------------------------------------------------------------------------- */

static void insert(Input *in, size_t at, const void *what, size_t n)
{
    if (in->n + n > INPUT_MOST)
        return;
    memmove(in->data + at + n, in->data + at, in->n - at);
    memmove(in->data + at, what, n);
    in->n += n;
}

static void delete (Input *in, size_t at, size_t n)
{
    n = n < in->n - at ? n : in->n - at;
    memmove(in->data + at, in->data + at + n, in->n - at - n);
    in->n -= n;
}

static void edit(Fuzzer *f, Input *in)
{
    /* clang-format off */
    static const char *const words[] = {
        "(", ")", "[", "]", "{", "}", ":", ",", "=", "\n", "    ", "\t", "#", "\"", "'",
        "\"\"\"", "f'{", "\\", "for", "if", "else", "lambda", "def", "with", "in", "not", "0",
        "-1", "9223372036854775808", "1e999", "0x", "i.1", "@1:1-2:2", "#0(", ":+",
        "form CHECKED", "body:", "kernel k:", "hints(", "\xc3\xa9", "\xff",
    };
    /* clang-format on */
    size_t at = below(f, in->n + 1);
    const Input *other = &f->seed[below(f, (size_t)f->nseed)];
    uint8_t byte = (uint8_t)next(f);
    size_t from = below(f, other->n), len = below(f, 64);

    switch (below(f, 6)) {
    case 0:
        if (at < in->n)
            in->data[at] ^= (uint8_t)(1 << below(f, 8));
        break;
    case 1:
        insert(in, at, &byte, 1);
        break;
    case 2:
        delete (in, at, 1 + below(f, 16));
        break;
    case 3: {
        const char *w = words[below(f, sizeof words / sizeof *words)];
        insert(in, at, w, strlen(w));
        break;
    }
    case 4:
        insert(in, at, other->data + from, len < other->n - from ? len : other->n - from);
        break;
    default:
        delete (in, at, below(f, in->n + 1));
        break;
    }
}

static void make_input(Fuzzer *f, Input *in)
{
    const Input *seed = &f->seed[below(f, (size_t)f->nseed)];

    in->n = seed->n;
    memcpy(in->data, seed->data, seed->n);
    for (size_t i = below(f, EDITS_MOST); i > 0; i--)
        edit(f, in);
}

/* ---- batches --------------------------------------------------------------------------------- */

static void run_batch(Fuzzer *f, Input *in)
{
    for (int i = 0; i < BATCH; i++) {
        make_input(f, in);
        alarm(INPUT_SECONDS);
        LLVMFuzzerTestOneInput(in->data, in->n);
    }
    _exit(0);
}

static void keep(const char *program, const Input *in, int number)
{
    char path[4096];
    snprintf(path, sizeof path, "%s-crash-%d", program, number);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(in->data, 1, in->n, out) != in->n)
        perror(path);
    if (out)
        fclose(out);
    printf("FAIL  %s: the input is kept in %s\n", program, path);
}

static bool batch(Fuzzer *f, const char *program, Input *in, int number)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        f->state = (uint64_t)number * UINT64_C(0x2545f4914f6cdd1d);
        run_batch(f, in);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        perror("fork");
        exit(2);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    keep(program, in, number);
    return false;
}

static void read_seeds(Fuzzer *f, int n, char **paths)
{
    f->seed = calloc((size_t)n + 1, sizeof *f->seed);
    if (!f->seed)
        exit(2);
    f->nseed = n;
    for (int i = 0; i < n; i++) {
        FILE *in = fopen(paths[i], "rb");
        if (!in) {
            perror(paths[i]);
            exit(2);
        }
        f->seed[i].n = fread(f->seed[i].data, 1, INPUT_MOST / 2, in);
        fclose(in);
    }
}

int main(int argc, char **argv)
{
    Fuzzer f = {0};
    int nbatch = argc > 1 ? atoi(argv[1]) : 0, npassed = 0, nfailed = 0;

    if (argc < 3 || nbatch < 1) {
        fprintf(stderr, "usage: %s BATCHES FILE...\n", argv[0]);
        return 2;
    }
    read_seeds(&f, argc - 2, argv + 2);
    Input *in = mmap(NULL, sizeof *in, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (in == MAP_FAILED)
        return 2;
    for (int i = 1; i <= nbatch; i++)
        *(batch(&f, argv[0], in, i) ? &npassed : &nfailed) += 1;
    free(f.seed);
    printf("%d passed, %d failed\n", npassed, nfailed);
    return nfailed != 0;
}
