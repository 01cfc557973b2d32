/* profile.h -- what the two kinds of `tl profile` share. */
#ifndef TL_CLI_PROFILE_H
#define TL_CLI_PROFILE_H

#include "cli/cli.h"

typedef struct {
    CommonOptions common;
    OptList in;
    const char *json, *svg, *csv, *against;
    int64_t seed;
    bool ncu, sim;
} ProfileOptions;

enum { WORK_COPY, WORK_MATRIX, WORK_WAIT, WORK_COMPUTE, WORK_COUNT };
extern const char *const work_names[WORK_COUNT];

/* Compares with --against, and writes --json. */
int profile_end(Job *j, const ProfileOptions *o, const char *json);
int profile_cpu(Job *j, const ProfileOptions *o, tl_kernel *k, Arguments *a);

#endif
