/* pass.h -- the pass table and its runner.
 *
 * Four verbs, each a promise the runner enforces:
 *   check_  changes nothing, may complain         plan_  changes no statement, fills plans
 *   lower_  afterwards a construct is gone        opt_   may be skipped, meaning stays          */
#ifndef TL_PASS_PASS_H
#define TL_PASS_PASS_H

#include "ir/target.h"
#include "op/op.h"

typedef struct {
    const char *name;
    uint32_t when;                 /* HAS_ bits the machine must have; 0 always */
    uint32_t needs, gives, breaks; /* FORM_ bits */
    void (*run)(Kernel *k);
    const char *doc;
    const char *why;               /* it stands where it does */
} Pass;

typedef enum {
#define PASS(name, when, needs, gives, breaks, doc, why) PASS_##name,
#include "pass/pass.def"
#undef PASS
    PASS_COUNT
} PassId;

extern const Pass pass_table[PASS_COUNT];
#define PASS(name, when, needs, gives, breaks, doc, why) void pass_##name(Kernel *k);
#include "pass/pass.def"
#undef PASS

typedef struct {
    Str *out;             /* dumps go here */
    uint64_t dump;        /* bit per pass */
    uint64_t skip;        /* opt_ passes left out */
    int from, stop_after; /* pass numbers; -1 none */
    bool time, plans;
    double *seconds;      /* per pass, summed, PASS_COUNT long; may be NULL */
    /* --check-each: called after every pass that changed the body; returns false when the
     * answer changed (it has reported which pass). */
    bool (*check)(void *arg, Kernel *k, const Pass *p);
    void *check_arg;
    const char *dump_dir;
} PassOptions;

int pass_find(const char *name); /* -1 if unknown */
/* Run all rows in order on one kernel. */
void pass_run_all(Func *f, const PassOptions *o);

#endif
