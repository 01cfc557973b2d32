/* acl.h -- names of CANN's ACL that a bundle's program uses: memory is the host's, a launch is printed. */
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

typedef int aclError;
typedef void *aclrtStream;
enum { ACL_SUCCESS = 0 };
enum aclrtMemMallocPolicy { ACL_MEM_MALLOC_HUGE_FIRST };
enum aclrtMemcpyKind { ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST };

static inline aclError aclInit(const char *) { return ACL_SUCCESS; }
static inline aclError aclFinalize() { return ACL_SUCCESS; }
static inline aclError aclrtSetDevice(int32_t) { return ACL_SUCCESS; }
static inline aclError aclrtCreateStream(aclrtStream *s) { *s = s; return ACL_SUCCESS; }
static inline aclError aclrtDestroyStream(aclrtStream) { return ACL_SUCCESS; }
static inline aclError aclrtSynchronizeStream(aclrtStream) { return ACL_SUCCESS; }
static inline aclError aclrtMalloc(void **p, size_t n, aclrtMemMallocPolicy) { return (*p = malloc(n)) ? ACL_SUCCESS : 1; }
static inline aclError aclrtMemcpy(void *to, size_t room, const void *from, size_t n, aclrtMemcpyKind)
{
    return n <= room ? memcpy(to, from, n), ACL_SUCCESS : 1;
}

#define ACLRT_LAUNCH_KERNEL(name) aclrtlaunch_##name
static inline void tl_show(void *) { printf(" tensor"); }
static inline void tl_show(double x) { printf(" %g", x); }
template <class... Arguments> static inline uint32_t tl_launched(const char *name, uint32_t blocks, Arguments... arguments)
{
    printf("launch %s of %u blocks:", name, blocks);
    (tl_show(arguments), ...);
    printf("\n");
    return 0;
}
