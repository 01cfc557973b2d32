/* plan.c -- the mechanisms of AMD GPUs: which of them can do a tile operator. */
#include "target/hip/hip.h"

const Mech *const hip_mechs[] = {&mech_scalar, &mech_shuffle, NULL};
