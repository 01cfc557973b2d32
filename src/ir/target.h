/* target.h -- a target is one const record: words, mechanisms, emit.  Declared here, so that passes
 * ask it for its mechanisms; target/ defines the records. */
#ifndef TL_IR_TARGET_H
#define TL_IR_TARGET_H

#include "ir/mech.h"

typedef struct TargetSpec TargetSpec;     /* target/target.h */
typedef struct TargetOption TargetOption;

enum { PARAM_READ = 1, PARAM_WRITE = 2 }; /* of a parameter */

/* A kernel to ship in a way of the target's own. */
typedef struct {
    Arena *arena;      /* for the time of the call */
    struct Func *func; /* lowered and emitted */
    struct Func *tile; /* as it was traced */
    const TargetSpec *spec;
    const char *version;     /* of this library */
    const char *name, *text; /* the kernel's name, what was emitted */
    const char *stem;        /* names of files begin with it */
    const char *compiler;    /* that made the code, with its version; NULL: none */
    int part;                /* which one of the bundle's, from 0 */
    bool stream;             /* the caller gives the stream that launches go into */
    const uint8_t *use;      /* by parameter: PARAM_ bits */
    void (*put)(void *arg, const char *file, const char *text, size_t n);
    void *arg;
} TargetBundle;

struct Target {
    const char *name;
    const char *also;       /* other words for it, with blanks between; NULL: none */
    const char *sim;        /* words of the machine that "sim" alone means, for one target */
    const char *doc;
    const char *runtime;    /* by its name, see rt; NULL: nothing is built or run */
    uint32_t has;           /* HAS_ bits of its machine, where start() sets none */
    uint32_t emits;         /* FORM_ bits the emitter wants */
    const char *keys;       /* words of -keys= that describe it */
    /* Its words, each up to a row of zeros; those of every target come behind them. */
    const TargetOption *options, *more_options;
    /* What holds where no word says otherwise; NULL: zeros. */
    void (*start)(Arena *a, TargetSpec *s);
    /* An architecture's or a product's name into the spec; NULL, or what is wrong with it.  For
     * targets whose rows are target_take_arch and target_take_model. */
    const char *(*read_arch)(Arena *a, const char *word, TargetSpec *s);
    const char *(*read_model)(Arena *a, const char *word, TargetSpec *s);
    /* What its machine takes from the spec once all words were read; NULL: nothing. */
    void (*settle)(TargetSpec *s);
    /* What `tl targets` says of the machine at hand; NULL: nothing. */
    void (*tell)(const TargetSpec *s, Str *out);
    /* The target that a word alone may mean; NULL: not one of these. */
    const char *(*suggest)(Arena *a, const char *word);
    const struct ConfigLost *lost; /* pass configs that do nothing there; NULL: all do something */
    const Mech *const *mechs; /* best first, NULL at the end; NULL: the neutral ones alone */
    /* A condition over the arguments under which mechanisms open up that are closed otherwise;
     * NULL: there is none. */
    const Expr *(*variant)(Kernel *k);
    /* Text of the whole function. */
    void (*emit)(Func *f, const TargetSpec *spec, Str *out);
    void (*bundle)(const TargetBundle *b); /* its files; NULL: as its runtime has it */
};

#endif
