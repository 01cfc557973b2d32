/* msan.h -- what clang's MemorySanitizer is told; nothing in any other build.
 *
 * msan_forget: nobody wrote this.  msan_expect: somebody did, or the process ends with a report. */
#ifndef TL_RT_MSAN_H
#define TL_RT_MSAN_H

#ifndef __has_feature
#define __has_feature(x) 0
#endif

#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define msan_forget(at, n) __msan_poison((at), (size_t)(n))
#define msan_expect(at, n) __msan_check_mem_is_initialized((at), (size_t)(n))
#else
#define msan_forget(at, n) ((void)(at), (void)(n))
#define msan_expect(at, n) ((void)(at), (void)(n))
#endif

#endif
