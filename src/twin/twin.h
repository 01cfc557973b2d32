/* twin.h -- the text twin: emitted text compiled for the host and run, thread by thread.
 *
 *     text --text.c--> C++ --its compiler--> a shared object --machine.c--> results
 *
 * A row of language.def says what a target's text needs: a header of device/twin that gives its
 * names a meaning, and the record of its assembly (target/NAME/twin).  Everything that a text
 * computes it computes as it is written; only instructions in assembly are done by the host.
 * A run goes through the ordinary runtime (src/rt), which gets a driver whose device is this
 * machine (driver.c): what a launch hands over is checked too. */
#ifndef TL_TWIN_TWIN_H
#define TL_TWIN_TWIN_H

#include "rt/runtime.h"

typedef struct Assembly Assembly; /* machine.h */

typedef struct {
    const char *target; /* whose text it is */
    const char *name;   /* of the language, for people */
    const char *kernel; /* the word before a kernel */
    const char *fence;  /* between a thread's accesses and those of others; NULL: none */
    const unsigned char *header;
    const Assembly *assembly;
} Language;

const Language *language_find(const char *target); /* NULL: its text has no twin */
extern const char language_targets[]; /* each after a blank, for people */
extern const char *const twin_flags[], *const twin_quick_flags[]; /* of its compiler, to a NULL */

/* Whether the kernels of a text have the fences that the orders of f's atomics ask for: a run on
 * this machine, where threads see everything at once, would not show it. */
bool twin_has_fences(const Language *d, const Func *f, const char *text);

/* The text as C++ for the host.  STATUS_USER with [twin-meaning] at *why when it has something
 * that nobody gave a meaning. */
Status twin_translate(Arena *a, const Language *d, const char *text, Str *out, const char **why);

/* Compiled texts are kept in the cache.  Runs are as on a device; faults of the text (a read past a
 * tensor, threads that wait for each other for ever) are STATUS_USER with a tag. */
extern const Runtime runtime_twin;

#endif
