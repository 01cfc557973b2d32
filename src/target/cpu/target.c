/* target.c -- the CPU: blocks are tasks of a thread pool, tiles are arrays, C is the assembler. */
#include "target/cpu/emit.h"

const Target target_cpu = {
    .name = "cpu",
    .also = "auto c llvm",
    .doc = "x86-64 and aarch64 through emitted C: AVX-512, AVX2, SSE2, NEON or SVE, chosen by the "
           "machine or by -mcpu=; aarch64 was run by QEMU alone",
    .keys = "cpu x86 arm_cpu",
    .runtime = "cpu",
    .options = cpu_options,
    .start = cpu_start,
    .settle = cpu_settle,
    .tell = cpu_tell,
    .suggest = cpu_suggest,
    .has = HAS_ONE_THREAD | HAS_ROW_LOOPS,
    .emits = FORM_SPLIT | FORM_FLAT | FORM_PLACED,
    .mechs = cpu_mechs,
    .emit = cpu_emit,
};
