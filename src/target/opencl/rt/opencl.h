/* opencl.h -- what the runtime's files share. */
#ifndef TL_TARGET_OPENCL_RT_OPENCL_H
#define TL_TARGET_OPENCL_RT_OPENCL_H

#include "rt/driver.h"
#include "rt/runtime.h"
#include "target/print.h"

/* ---- bundle.c */
extern const BundleHost opencl_bundle;
size_t opencl_scalar_bytes(DType t); /* of an argument, as the text declares it */

#endif
