/* run.h -- golden tests: what the files of a folder have in common.
 *
 * A file says in comments what is to be done with it.  One Case is one such line, or one file. */
#ifndef TL_TEST_RUN_H
#define TL_TEST_RUN_H

#include "cli/cli.h"
#include "test.h"

typedef struct {
    const char *path; /* "test/kernel/copy.py" */
    const char *args; /* what follows the directive: "M=3 N=5"; "" without one */
    int line;         /* of the directive, 0 without one */
} Case;

/* ---- run.c ----------------------------------------------------------------------------------- */

extern const char golden_target[]; /* named, so that what is written down holds on every machine */

const Case *case_now(void);
char *text_of(Arena *a, const char *path); /* ends the test if it cannot be read */
/* The rest of the n-th line (from 0) that has `mark`; NULL when there is none.  *line is its
 * number. */
char *mark_at(Arena *a, const char *text, const char *mark, int n, int *line);
/* Words parted by spaces outside quotes and brackets. */
int split_words(Arena *a, const char *text, const char ***words);
/* The value of --name=value among the words of a line; NULL without. */
const char *option_of(Arena *a, const char *line, const char *name);
/* The Job of `path args`; args may begin with :FUNC.  Its words live in `a`. */
void case_open(Arena *a, Job *j, const char *path, const char *args);
/* Compile or end the test with the message. */
tl_kernel *case_compile(Job *j, tl_options *o, const char *target);
/* Emitted text from where the kernels begin: without the pasted device headers. */
const char *kernels_of(const char *source);

/* Where a golden stands in a file: the lines "# >>> name" to "# <<<". */
typedef struct {
    char *name;
    char *body; /* everything before */
    char *want; /* without the "# " of each line */
} Golden;
Golden golden_read(Arena *a, const char *path);
/* Compare, or with -u write the file anew. */
void golden_check(Arena *a, const char *path, const Golden *g, const char *got);

/* Every kernel that tests know: "path args" of examples.txt and of the lines in test/kernel. */
typedef VEC(Case) CaseVec;
CaseVec all_kernels(Arena *a);
CaseVec example_kernels(Arena *a);
CaseVec replay_kernels(Arena *a); /* all, and those whose text alone is looked at */

/* ---- run_kernel.c, run_text.c, run_trip.c, run_replay.c: one Case each, ended by test_check --- */

void run_kernel(void);
void run_pass(void);
void run_plan(void);
void run_emit(void);
void run_error(void);
void run_trip(void);
void run_bundle(void);
void run_replay(void);

#endif
