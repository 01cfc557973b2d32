/* split.c -- the C text of many kernels as several files, so that all cores compile some of it.
 *
 * Each file has all that stands before the kernels, then its own share of them; the others it knows
 * by name.  Kernels with products stay together: what packs and multiplies tiles takes the compiler
 * longer than they do, and each file with one of them has it all.  What goes where follows from the
 * text alone, so that every machine makes the same code of it. */
#include "target/cpu/rt/cpu.h"

/* Of kernels in one file: what takes the compiler a few times as long as all that stands before. */
enum { SHARE_BYTES = 48 << 10, PRODUCTS_BYTES = 256 << 10, SHARES_MOST = 12 };

#define HIDDEN "__attribute__((visibility(\"hidden\"))) "

static const char mark[] = "\n/* ---- kernels ---- */\n\n";
static const char head[] = "static void ";
static const char arguments[] = "(void *tl_arg, int64_t tl_block, char *tl_scratch)\n{\n";

typedef enum { PIECE_OTHER, PIECE_ENTRY, PIECE_KERNEL, PIECE_PRODUCT } PieceKind;
typedef struct {
    PieceKind kind;
    const char *at;
    size_t n;
    int file; /* of a kernel */
} Piece;

typedef struct {
    Arena *arena;
    const char *start;     /* of the pieces */
    VEC(Piece) pieces;
    size_t nbyte[PIECE_PRODUCT + 1]; /* by kind */
} Pieces;

static bool starts(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

static size_t line_length(const char *s)
{
    size_t n = strcspn(s, "\n");
    return n + (s[n] == '\n');
}

/* A function from its head to the brace in the first column. */
static size_t function_length(const char *s)
{
    const char *end = strstr(s, "\n}\n");
    return end ? (size_t)(end - s) + 3 : strlen(s);
}

static bool has_product(const char *s, size_t n)
{
    static const char *const words[] = {"tl_gemm_", "tl_tile_", "tl_pack_", "tl_cut_", "tl_keep_"};

    for (int i = 0; i < COUNT(words); i++)
        if (memmem(s, n, words[i], strlen(words[i])))
            return true;
    return false;
}

static Piece one_piece(const char *s)
{
    const char *name = starts(s, head) ? s + sizeof head - 1 : NULL;
    bool kernel = name && starts(name + strcspn(name, "("), arguments);

    if (!kernel && !starts(s, "static int tl_entry_overlap(") && !starts(s, "int tl_entry("))
        return (Piece){.kind = PIECE_OTHER, .at = s, .n = line_length(s)};
    Piece p = {.kind = PIECE_ENTRY, .at = s, .n = function_length(s)};
    if (kernel)
        p.kind = has_product(s, p.n) ? PIECE_PRODUCT : PIECE_KERNEL;
    return p;
}

static bool find_pieces(Arena *a, const char *source, Pieces *p)
{
    const char *s = strstr(source, mark);

    *p = (Pieces){.arena = a, .start = s};
    if (!s)
        return false;
    p->start = s += sizeof mark - 1;
    while (*s) {
        Piece one = one_piece(s);
        p->nbyte[one.kind] += one.n;
        vec_push(a, &p->pieces, one);
        s += one.n;
    }
    return true;
}

/* Kernels of a kind to the files from first to before end, each to the one that has least. */
static void share(Pieces *p, PieceKind kind, int first, int end)
{
    size_t load[2 * SHARES_MOST] = {0};

    for (int i = 0; i < p->pieces.n; i++) {
        Piece *k = &p->pieces.at[i];
        if (k->kind != kind)
            continue;
        k->file = first;
        for (int f = first + 1; f < end; f++)
            if (load[f] < load[k->file])
                k->file = f;
        load[k->file] += k->n;
    }
}

static void put_kernel(const Piece *k, int file, Str *out)
{
    const char *plain = k->at + sizeof "static " - 1;

    str_puts(out, HIDDEN);
    if (k->file == file)
        str_putn(out, plain, k->n - (sizeof "static " - 1));
    else
        str_printf(out, "%.*s;\n", (int)strcspn(plain, "\n"), plain);
}

static const char *one_file(const Pieces *p, const char *source, int file)
{
    Str s;

    str_init(&s, p->arena);
    str_putn(&s, source, (size_t)(p->start - source));
    for (int i = 0; i < p->pieces.n; i++) {
        const Piece *k = &p->pieces.at[i];
        if (k->kind >= PIECE_KERNEL)
            put_kernel(k, file, &s);
        else if (k->kind == PIECE_OTHER || file == 0)
            str_putn(&s, k->at, k->n);
    }
    return s.s;
}

/* Memory of a thread would be another one in each file, and lines that a debugger shows are those
 * of the whole text. */
static bool may_split(const ModuleSpec *s)
{
    return s->only_ours && !s->flags && !s->spec->profile && !strstr(s->source, "__thread") &&
           !(s->extra && strstr(s->extra, "-g"));
}

int cpu_split(Arena *a, const ModuleSpec *s, const char *const **files)
{
    Pieces p;

    if (!may_split(s) || !find_pieces(a, s->source, &p))
        return 0;
    size_t products = p.nbyte[PIECE_PRODUCT], others = p.nbyte[PIECE_KERNEL];
    int first = (int)MIN((products + PRODUCTS_BYTES - 1) / PRODUCTS_BYTES, SHARES_MOST);
    int nfile = first + (int)MIN(others / SHARE_BYTES, SHARES_MOST);
    if (nfile < 2)
        return 0;
    share(&p, PIECE_PRODUCT, 0, first);
    share(&p, PIECE_KERNEL, nfile > first ? first : 0, nfile);
    const char **texts = NEWN(a, const char *, nfile);
    for (int i = 0; i < nfile; i++)
        texts[i] = one_file(&p, s->source, i);
    *files = texts;
    return nfile;
}

Status cpu_build(Arena *a, Compiler *c, const ModuleSpec *s, Module *m, const char **why)
{
    ModuleSpec split = *s;

    split.files = cpu_split;
    return module_build(a, c, &split, m, why);
}
