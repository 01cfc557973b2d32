/* sim.c -- the simulator in the place of a device: "sim -arch=…" runs what is lowered for it. */
#include "rt/runtime.h"

extern const Runtime runtime_sim;
const Runtime runtime_sim = {.name = "sim", .simulates = true};
