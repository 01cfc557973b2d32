/* fuzz.h -- the frame of a fuzz target: one input, one context, nothing left behind.
 *
 *     clang -fsanitize=fuzzer,address fuzz_lex.c ...     libFuzzer's own main
 *     cc -DFUZZ_MAIN fuzz_lex.c ...                      reads files, or standard input: AFL++ */
#ifndef TL_TEST_FUZZ_H
#define TL_TEST_FUZZ_H

#include <stdlib.h>
#include "base/base.h"

typedef struct {
    Arena *arena;
    Names *names;
    Diag diag;
    Source src;
} Fuzz;

/* What is held must hold, or the fuzzer keeps the input. */
#define HOLD(cond)                                                                                 \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #cond);                     \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Run fn on a copy of exactly the input's size, within a recovery frame. */
static void fuzz_run(const uint8_t *data, size_t size, void (*fn)(Fuzz *f))
{
    Fuzz f = {.arena = arena_new(), .names = names_new()};
    char *text = malloc(size + 1);
    Recover r;

    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    f.src = (Source){"fuzz.py", text, size};
    diag_init(&f.diag, f.arena);
    if (recover_open(&r) == 0) {
        fn(&f);
        recover_close(&r);
    }
    HOLD(r.status == STATUS_OK || r.status == STATUS_USER);
    HOLD(f.diag.nerror <= DIAG_MOST_ERRORS);
    HOLD(r.status == STATUS_OK || f.diag.nerror > 0);
    Str out;
    str_init(&out, f.arena);
    diag_render(&f.diag, &out, false);
    arena_free(f.arena);
    names_free(f.names);
    free(text);
}

#ifdef FUZZ_MAIN
static void fuzz_stream(FILE *in)
{
    uint8_t *data = NULL;
    size_t n = 0, cap = 0, got;

    do {
        if (n == cap) {
            cap = cap ? 2 * cap : 65536;
            data = realloc(data, cap);
            HOLD(data);
        }
        got = fread(data + n, 1, cap - n, in);
        n += got;
    } while (got);
    LLVMFuzzerTestOneInput(data, n);
    free(data);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        fuzz_stream(stdin);
    for (int i = 1; i < argc; i++) {
        FILE *in = fopen(argv[i], "rb");
        if (!in) {
            perror(argv[i]);
            return 2;
        }
        fuzz_stream(in);
        fclose(in);
    }
    return 0;
}
#endif

#endif
