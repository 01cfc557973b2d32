/* base.h -- memory, text, messages and containers: what every other folder stands on.
 *
 * Knows nothing of compilers.  Sections follow the files of this folder.
 *
 * Three kinds of failure, never mixed:
 *   the user's    diag_error / diag_fail      a message with a caret and a stable [tag]
 *   the machine's Status + text, returned     no compiler, disk full, time out
 *   ours          BUG / unreachable           recovered at the public entry, never abort  */
#ifndef TL_BASE_BASE_H
#define TL_BASE_BASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#define PRINTF(f, a) __attribute__((format(printf, f, a)))
#define NORETURN __attribute__((noreturn))
#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* What a public function answers.  The order is the ABI of tl_status in tilelang.h. */
typedef enum {
    STATUS_OK,
    STATUS_USER,   /* the kernel or the call is wrong; the Diag holds the text */
    STATUS_IO,     /* a file could not be read or written */
    STATUS_TOOL,   /* a compiler or library is missing or failed */
    STATUS_TARGET, /* this target cannot do that */
    STATUS_MEM,    /* out of memory */
    STATUS_BUG,    /* our fault; recovered */
} Status;

/* ---- arena.c: bump arenas ------------------------------------------------------------- */

typedef struct Arena Arena;
typedef struct {
    void *block;
    size_t used;
} ArenaMark;

Arena *arena_new(void);
void arena_free(Arena *a); /* NULL is fine */
void *arena_alloc(Arena *a, size_t nbytes); /* zeroed, 16-byte aligned; jumps on out of memory */
ArenaMark arena_mark(Arena *a);
void arena_reset(Arena *a, ArenaMark m);
size_t arena_bytes(const Arena *a); /* live bytes, for --time */
char *arena_strndup(Arena *a, const char *s, size_t n);
char *arena_strdup(Arena *a, const char *s);
char *arena_printf(Arena *a, const char *fmt, ...) PRINTF(2, 3);
char *arena_vprintf(Arena *a, const char *fmt, va_list ap);

#define NEW(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define NEWN(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n)))

/* ---- vec.h: typed growable arrays that live in an arena --------------------------------- */

/* VEC(int) v = {0};  vec_push(arena, &v, 3);  v.at[0], v.n.  A name for the type is made by
 * typedef VEC(Expr *) ExprVec; */
#define VEC(T)                                                                                     \
    struct {                                                                                       \
        T *at;                                                                                     \
        int n, cap;                                                                                \
    }
void *vec_grow(Arena *a, void *at, int n, int *cap, size_t size);
#define vec_push(a, v, x)                                                                          \
    ((v)->n == (v)->cap                                                                            \
         ? (void)((v)->at = vec_grow((a), (v)->at, (v)->n, &(v)->cap, sizeof *(v)->at))            \
         : (void)0,                                                                                \
     (v)->at[(v)->n++] = (x))
#define vec_last(v) ((v)->at[(v)->n - 1])

/* ---- map.c: open-addressing maps; iteration is in insertion order, so output is stable --- */

typedef struct {
    const void *key;
    void *val;
} MapEntry;

typedef struct Map {
    Arena *arena;
    bool by_text;  /* keys are C strings compared by content (not copied), else pointers */
    int n;         /* entries, removed ones included */
    int cap;       /* of `at` */
    MapEntry *at;  /* in insertion order; key NULL = removed */
    int32_t *slot; /* hash slots: index into `at` + 1 */
    int nslot;
} Map;

void map_init(Map *m, Arena *a);      /* keyed by pointer */
void map_init_text(Map *m, Arena *a); /* keyed by string */
void *map_get(const Map *m, const void *key);              /* NULL if absent */
bool map_has(const Map *m, const void *key);
void map_set(Map *m, const void *key, const void *val);    /* insert or replace */
void map_remove(Map *m, const void *key);

/* ---- hash.c ------------------------------------------------------------------------------ */

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed); /* quick, for tables */
uint64_t hash_mix(uint64_t a, uint64_t b);
void hash_hex(const void *p, size_t n, char hex[33]); /* XXH3-128, for cache names */

/* ---- str.c: string builder, interned names ------------------------------------------------- */

typedef struct {
    Arena *arena;
    char *s; /* always terminated once anything was added; never NULL after str_init */
    size_t n, cap;
} Str;

void str_init(Str *b, Arena *a);
void str_putc(Str *b, char c);
void str_puts(Str *b, const char *s);
void str_putn(Str *b, const char *s, size_t n);
void str_printf(Str *b, const char *fmt, ...) PRINTF(2, 3);
void str_vprintf(Str *b, const char *fmt, va_list ap);
void str_indent(Str *b, int columns);
/* The nearest of n names to `name`, or NULL: "did you mean". */
const char *nearest_name(const char *name, const char *const *names, int n);
/* Letters to insert, delete or change to get from a to b; more than `most`: it is not known. */
int edit_distance(const char *a, const char *b, int most);
/* The shortest decimal text that reads back as the same double, in any locale; "inf", "-inf",
 * "nan".  Whole numbers come without a point ("1"). */
void str_double(Str *b, double v);
/* One character of UTF-8 at s[0..n), n > 0.  Returns its bytes; a malformed one is one byte with
 * code 0. */
int utf8_next(const char *s, size_t n, uint32_t *code);
void str_utf8(Str *b, uint32_t code);

typedef struct Names Names; /* one per context; locked */
Names *names_new(void);
void names_free(Names *t);
const char *name_intern(Names *t, const char *s, size_t n); /* equal text, equal pointer */

/* ---- diag.c: messages with carets; recovery ------------------------------------------------ */

typedef struct {
    const char *name; /* file name as the user gave it, "<string>" otherwise */
    const char *text; /* whole file, terminated */
    size_t len;
} Source;
typedef struct {
    const Source *src;
    int32_t line;
    const char *at; /* where the line starts */
} LineAt;

/* A stretch of source text.  Lines and columns count from 1; columns are bytes, shown as
 * display columns.  src NULL means "no place". end is exclusive. */
typedef struct {
    const Source *src;
    int32_t line, col, end_line, end_col;
} Span;

#define NO_SPAN ((Span){0})
Span span_join(Span a, Span b); /* from the start of a to the end of b */
bool span_holds(Span a, Span b); /* b starts in a */
/* Its expression or statement head in one line of at most `most` bytes of ASCII, without comments;
 * NULL: its text is not at hand. */
const char *span_text(Arena *a, Span at, int most, LineAt *from);
const char *span_place(Arena *a, Span at); /* "gemm.py:23", whatever the folder, in ASCII */

typedef enum { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE } DiagKind;

typedef struct {
    DiagKind kind;
    Span span;
    const char *text; /* without tag */
    const char *tag;  /* "layout-conflict"; NULL on notes */
} Message;

typedef struct Diag {
    Arena *arena;
    VEC(Message) list;
    int nerror, nwarning;
    bool werror; /* warnings count as errors */
    bool muted;  /* the last message was said before, so its notes are dropped with it */
} Diag;

enum { DIAG_MOST_ERRORS = 20, DEPTH_MOST = 1000 };

void diag_init(Diag *d, Arena *a);
/* fmt ends with " [tag]"; the tag is cut off and kept apart.  The same message at the same place
 * is kept once.  The DIAG_MOST_ERRORS-th error throws. */
void diag_error(Diag *d, Span at, const char *fmt, ...) PRINTF(3, 4);
void diag_warn(Diag *d, Span at, const char *fmt, ...) PRINTF(3, 4);
/* `what` was accepted and is not obeyed; fmt says what happens instead and ends with " [ignored]".
 * Said once per compilation, where it was first met. */
void diag_ignored(Diag *d, Span at, const char *what, const char *fmt, ...) PRINTF(4, 5);
/* Belongs to the last message. */
void diag_note(Diag *d, Span at, const char *fmt, ...) PRINTF(3, 4);
NORETURN void diag_fail(Diag *d, Span at, const char *fmt, ...) PRINTF(3, 4);
NORETURN void diag_throw(Diag *d); /* give up: something was reported before */
void diag_render(const Diag *d, Str *out, bool color); /* file:line:col: error: … [tag] + caret */

/* A recovery frame.  Frames form a per-thread stack; no jump may cross a callback.
 *
 *     Recover r;
 *     if (recover_open(&r) == 0) {        // setjmp: use nothing but volatile locals after
 *         work();
 *         recover_close(&r);
 *     }
 *     r.status, r.text                    // STATUS_OK, or why it jumped                         */
typedef struct Recover {
    jmp_buf jump;
    struct Recover *outer;
    Status status;
    char text[1024]; /* for STATUS_BUG and STATUS_MEM */
} Recover;

/* Without an open frame there is nobody to answer to: the text goes to stderr and the process
 * aborts.  Every public entry opens one, so this happens only in code that is not the library. */
void recover_push(Recover *r);
void recover_close(Recover *r);
NORETURN void recover_throw(Status s, const char *fmt, ...) PRINTF(2, 3);
#define recover_open(r) (recover_push(r), setjmp((r)->jump))

NORETURN void bug_at(const char *file, int line, const char *fmt, ...) PRINTF(3, 4);
#define BUG(cond, ...) ((cond) ? bug_at(__FILE__, __LINE__, __VA_ARGS__) : (void)0)
#undef unreachable
#define unreachable() bug_at(__FILE__, __LINE__, "unreachable")

/* ---- file.c --------------------------------------------------------------------------------- */

/* All return STATUS_OK or STATUS_IO with a text made in `a` at *why ("cannot open x.npy: No such
 * file or directory").  file_write goes by rename: a file under its final name is complete. */
Status file_read(Arena *a, const char *path, char **data, size_t *n, const char **why);
Status file_write(Arena *a, const char *path, const void *data, size_t n, const char **why);
Status dir_make(Arena *a, const char *path, const char **why); /* like mkdir -p */
Status dir_list(Arena *a, const char *path, char ***names, int *n, const char **why); /* sorted */
bool file_exists(const char *path);
char *path_join(Arena *a, const char *dir, const char *name);
char *path_temp(Arena *a, const char *dir, const char *stem); /* unique name: pid + counter */
Status tree_remove(const char *path);
/* $TILELANG_CACHE_DIR, else $XDG_CACHE_HOME/tilelang-c, else ~/.cache/tilelang-c. */
char *cache_root(Arena *a);
/* trust.c: what is wrong with a folder, or a file in one, that somebody else could have put there
 * or could change; NULL: nothing.  cache_root passes such folders over, for one of the user's. */
const char *path_distrust(Arena *a, const char *path);
const char *file_distrust(Arena *a, const char *path);
const char *cache_root_distrust(Arena *a); /* of the folder that was asked for */
const char *path_find(Arena *a, const char *name); /* a program on PATH; NULL: there is none */

/* ---- proc.c ---------------------------------------------------------------------------------- */

typedef struct {
    int exit_code;     /* -1 when killed by a signal or by the limit */
    bool timed_out;
    char *out;         /* stdout and stderr together, terminated */
    size_t nout;
} ProcResult;

/* Run argv (NULL-terminated), capture its output, kill its process group after `seconds`. */
Status proc_run(Arena *a, const char *const *argv, const char *stdin_text, double seconds,
                ProcResult *r, const char **why);
/* Fork a child that runs fn(arg); its return value is the exit code, 70 when it threw, -1 when a
 * signal ended it.  STATUS_TOOL when it ran out of time or could not be forked.  In both, seconds
 * <= 0 means no limit. */
Status proc_call(int (*fn)(void *), void *arg, double seconds, int *exit_code);

/* Programs that this thread runs from here on leave the processors to others who want them. */
void proc_give_way(bool on);

/* ---- fork.c ---------------------------------------------------------------------------------- */

/* A lock that is free in a child of fork, whoever held it.  Outer ones may be held while an inner
 * one is taken, not the other way round, and no two of one kind at once. */
typedef struct ForkLock {
    void *lock; /* a pthread_mutex_t */
    bool outer;
    struct ForkLock *next;
} ForkLock;
void fork_lock_open(ForkLock *l); /* initialises the lock */
void fork_lock_close(ForkLock *l);

/* ---- guard.c --------------------------------------------------------------------------------- */

/* fn(arg); the signal, if one ended it that would have ended the process, else 0. */
int guard_call(void (*fn)(void *), void *arg);

/* ---- pool.c ---------------------------------------------------------------------------------- */

typedef struct Pool Pool;
Pool *pool_new(int nthread); /* nthread workers, the caller counts as one */
void pool_free(Pool *p);
int pool_size(const Pool *p);
/* fn(arg, index, worker) for index 0..n-1, dynamic order, returns when all are done.  `worker` is
 * below pool_size and held by one call at a time.  Runs of several threads take turns; a run from
 * inside a run of the same pool is serial.  When fn throws, the other indices still run and the
 * failure of the lowest index is thrown on.  Persistent workers, spin then park; safe after fork
 * (workers are started again). */
void pool_run(Pool *p, int64_t n, void (*fn)(void *arg, int64_t index, int worker), void *arg);
int cpu_count(void); /* cores this process may use */
bool cpu_has_tiles(void); /* tile registers (AMX) for bf16 and int8, that we may use */
double now_seconds(void); /* monotonic */

/* ---- switch.c: stacks of coroutines ---------------------------------------------------------- */

typedef struct {
#if defined(__x86_64__)
    void *sp;
#else
    ucontext_t u;
#endif
} Context;
typedef void ContextEntry(void *arg); /* does not return: it switches away for good */
void switch_make(Context *c, void *stack, size_t nbytes, ContextEntry *fn, void *arg);
void switch_to(Context *from, Context *to);

/* ---- json.c: a writer ----------------------------------------------------------------------- */

typedef struct {
    Str *out;
    int depth;
    bool first;
} Json;

void json_open(Json *j, Str *out);           /* indented; nan and inf become null */
void json_object(Json *j, const char *key); /* key NULL inside arrays and at top */
void json_array(Json *j, const char *key);
void json_end(Json *j, char close);          /* '}' or ']' */
void json_string(Json *j, const char *key, const char *v);
void json_int(Json *j, const char *key, int64_t v);
void json_double(Json *j, const char *key, double v);
void json_bool(Json *j, const char *key, bool v);

/* ---- json_read.c: a reader ------------------------------------------------------------------ */

typedef enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT } JsonKind;

typedef struct JsonValue {
    JsonKind kind;
    bool b;
    double number;
    const char *text; /* terminated; no zero byte inside */
    size_t len;
    const char *key;         /* in an object */
    struct JsonValue *next;  /* beside it */
    struct JsonValue *first; /* of what it holds */
} JsonValue;

/* NULL, with *why ("byte 12: ':' is missing"), where the text is not one value. */
const JsonValue *json_read(Arena *a, const char *text, size_t n, const char **why);
/* By "key.key.key"; NULL where there is none, also where v is NULL. */
const JsonValue *json_get(const JsonValue *v, const char *path);
const char *json_get_text(const JsonValue *v, const char *path, const char *otherwise);
int64_t json_get_int(const JsonValue *v, const char *path, int64_t otherwise);
void json_copy(Json *j, const char *key, const JsonValue *v); /* what was read, written again */

/* ---- opt.c: option tables: parse, --help, man page ------------------------------------------- */

/* OPT_MAYBE: a text that may be left out (--dump, --dump=all); given alone it is "". */
typedef enum {
    OPT_FLAG, OPT_TEXT, OPT_INT,
    OPT_COUNT, /* a whole number from 0 on */
    OPT_MANY,  /* from 1 on */
    OPT_DOUBLE, /* from 0 on */
    OPT_LIST, OPT_MAYBE
} OptKind;

typedef struct {
    const char *name; /* "target"; spelled --target on the line */
    char letter;      /* 'o' or 0 */
    OptKind kind;
    const char *arg;  /* "T" in --target T; NULL for flags */
    const char *doc;
    /* Of the field in the options struct; its type follows the kind: bool, const char *, int64_t,
     * double, OptList. */
    size_t offset;
} Opt;

typedef struct {
    const char **at;
    int n;
} OptList;

/* What one option needs, and what it cannot stand beside: names parted by spaces. */
typedef struct {
    const char *option;
    const char *needs; /* one of these; NULL: nothing */
    const char *apart; /* none of these; NULL: any */
} OptRule;

typedef struct {
    const char *verb;    /* "run" */
    const char *usage;   /* "FILE[:FUNC] [NAME=VALUE …]" */
    const char *doc;     /* one line */
    const char *detail;  /* paragraphs, an example */
    const Opt *opts;
    int nopt;
    const OptRule *rules;
    int nrule;
    const void *start; /* options before the line is read; NULL: zeros */
    int (*run)(void *options, int nargs, const char **args);
    size_t options_size;
} Verb;

/* argv[0..argc) are the words after the verb.  Fill `options`, over the defaults already there;
 * positional arguments to args.  Returns false with a message at *why, NULL when the user asked
 * for --help or -h. */
bool opt_parse(Arena *a, const Verb *v, int argc, char **argv, void *options, const char ***args,
               int *nargs, const char **why);
void opt_help(Str *out, const char *program, const Verb *v);
void opt_man(Str *out, const char *program, const char *about, const Verb *verbs, int nverb);

#endif
