/* target.h -- what the words of a target say, and the table of targets. */
#ifndef TL_TARGET_TARGET_H
#define TL_TARGET_TARGET_H

#include "ir/target.h"
#include "op/op.h"

/* A parsed "cpu -mcpu=x86-64-v4 -threads=2". */
struct TargetSpec {
    const Target *target;
    const char *text;    /* normalised, part of the cache key */
    const char *told;    /* the target's name and the words as they were given */
    const char *said;    /* the same as the user calls it: "sim" stays "sim" */
    const char *bad;     /* the word that is wrong, where there is one */
    const char *runtime; /* that runs it; NULL: nothing does */
    const char *arch;    /* "native", "x86-64-v3" */
    bool arch_given;     /* by -arch=, not by the default */
    const char *model;   /* by -model=; NULL: none was named */
    Machine machine;
    int max_threads;     /* of a block, where the target says fewer than there could be; 0: not */
    int64_t max_shared;  /* bytes of a block, likewise */
    const char *ignored; /* words that were taken and have no effect, with blanks between */
    bool profile;        /* -profile: kernels write down when they do what */
    bool own_halves;     /* float16 is converted by the device's own instructions */
    bool half_type;      /* float16 lies in memory as a type of the language */
    const char *cc_words; /* what the host's C compiler is told of the processor */
    const void *own;     /* what the target alone knows of its machine */
};

/* One word after a target's name. */
struct TargetOption {
    const char *word; /* "-arch=", or without the "=" a switch */
    /* Its value into the spec; false with a message at *why.  NULL: it is taken and ignored. */
    bool (*take)(Arena *a, TargetSpec *s, const char *value, const char **why);
    /* The value as the normalised text has it; NULL: nothing to say. */
    const char *(*show)(Arena *a, const TargetSpec *s);
    const char *doc;  /* what it does, or what happens instead */
};

/* take_FIELD and show_FIELD of a switch, which sets that bool of the spec. */
#define TARGET_SWITCH(field)                                                                       \
    static bool take_##field(Arena *a, TargetSpec *s, const char *value, const char **why)         \
    {                                                                                              \
        (void)a;                                                                                   \
        (void)value;                                                                               \
        (void)why;                                                                                 \
        return s->field = true;                                                                    \
    }                                                                                              \
    static const char *show_##field(Arena *a, const TargetSpec *s)                                 \
    {                                                                                              \
        (void)a;                                                                                   \
        return s->field ? "" : NULL;                                                               \
    }

extern const Target *const target_table[];
extern const int target_count;
/* "auto", "cpu", "c", "llvm", "cpu -mcpu=…", "sim".  False with a message at
 * *why. */
bool target_parse(Arena *a, const char *text, TargetSpec *spec, const char **why);
/* The i-th word of a target; NULL: it has fewer. */
const TargetOption *target_option(const Target *t, int i);
/* Rows of architectures and products, by read_arch and read_model of the target. */
bool target_take_lanes(Arena *a, TargetSpec *s, const char *value, const char **why);
const char *target_show_lanes(Arena *a, const TargetSpec *s);
bool target_take_arch(Arena *a, TargetSpec *s, const char *value, const char **why);
const char *target_show_arch(Arena *a, const TargetSpec *s);
bool target_take_model(Arena *a, TargetSpec *s, const char *value, const char **why);
const char *target_show_model(Arena *a, const TargetSpec *s);
/* Limits of a block and its warps, for targets that have both. */
extern const TargetOption target_block_options[];
/* Target.settle where a device may have more shared memory than every device has. */
void target_settle_shared(TargetSpec *s);

/* words.c: a keyword, a function or macro of a header, or made like one of those or of ours, in C
 * and the languages made from it. */
bool word_is_taken(Arena *a, const char *s);
void name_for_c(NameTable *t); /* names from here on are none of these */

#endif
