/* target.h -- a target is one const table: facts, feature bits, lowering overrides, emit. */
#ifndef TL_TARGET_TARGET_H
#define TL_TARGET_TARGET_H

#include "op/op.h"

/* A parsed "cpu -mcpu=x86-64-v4 -threads=2" or "cuda -arch=sm_90a". */
typedef struct {
    const Target *target;
    const char *text;    /* normalised, part of the cache key */
    const char *told;    /* the target's name and the words as they were given */
    const char *said;    /* the same as the user calls it: "sim" stays "sim" */
    const char *runtime; /* that runs it; NULL: nothing does */
    const char *arch;    /* "native", "x86-64-v3", "sm_90a" */
    bool arch_given;     /* by -arch=, not by the default */
    const char *model;   /* by -model=; NULL: none was named */
    Machine machine;
    int max_threads;     /* of a block, where the target says fewer than there could be; 0: not */
    int64_t max_shared;  /* bytes of a block, likewise */
    const char *ignored; /* words that were taken and have no effect, with blanks between */
    bool profile;        /* CUDA: -profile, kernels write down when they do what */
    int vector_bytes;    /* 64 AVX-512, 32 AVX2, 16 otherwise */
    bool has_vnni, has_bf16, has_amx;
    int64_t l1_bytes, l2_bytes,
        l3_bytes; /* cache sizes tile choice uses; fixed defaults per arch for bundles */
} TargetSpec;

/* One word after a target's name. */
typedef struct {
    const char *word; /* "-arch=", or without the "=" a switch */
    /* Its value into the spec; false with a message at *why.  NULL: it is taken and ignored. */
    bool (*take)(Arena *a, TargetSpec *s, const char *value, const char **why);
    /* The value as the normalised text has it; NULL: nothing to say. */
    const char *(*show)(Arena *a, const TargetSpec *s);
    const char *doc;  /* what it does, or what happens instead */
} TargetOption;

struct Target {
    const char *name;
    const char *doc;
    const char *runtime;    /* by its name, see rt; NULL: nothing is built or run */
    uint32_t has;           /* HAS_ bits of its machine, where start() sets none */
    uint32_t emits;         /* FORM_ bits the emitter wants */
    const char *keys;       /* words of -keys= that describe it */
    /* Its words, each up to a row of zeros; those of every target come behind them. */
    const TargetOption *options, *more_options;
    /* What holds where no word says otherwise; NULL: zeros. */
    void (*start)(Arena *a, TargetSpec *s);
    /* The target that a word alone may mean ("sm_90a"); NULL: not one of these. */
    const char *(*suggest)(Arena *a, const char *word);
    const Mech *const *mechs; /* best first, NULL at the end; NULL: the neutral ones alone */
    /* A condition over the arguments under which mechanisms open up that are closed otherwise;
     * NULL: there is none. */
    const Expr *(*variant)(Kernel *k);
    /* Text of the whole function. */
    void (*emit)(Func *f, const TargetSpec *spec, Str *out);
};

extern const Target *const target_table[];
extern const int target_count;
/* "auto", "cpu", "c", "llvm", "cpu -mcpu=…", "cuda -arch=…", "sim".  False with a message at
 * *why. */
bool target_parse(Arena *a, const char *text, TargetSpec *spec, const char **why);
/* The i-th word of a target; NULL: it has fewer. */
const TargetOption *target_option(const Target *t, int i);
/* Limits of a block and its warps, for targets that have both. */
extern const TargetOption target_block_options[];

#endif
