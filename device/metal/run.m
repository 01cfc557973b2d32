#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static id<MTLDevice> tl_device;
static id<MTLCommandQueue> tl_queue;
static id<MTLLibrary> tl_library;
static NSMutableDictionary *tl_pipelines;
static int tl_argc;
static char **tl_argv;

__attribute__((noreturn)) static void tl_stop(const char *what, NSString *why)
{
    fprintf(stderr, "%s%s%s\n", what, why ? ": " : "", why ? [why UTF8String] : "");
    exit(1);
}

static int tl_no(const char *text, int code)
{
    fprintf(stderr, "%s\n", text);
    return code ? code : 1;
}

/* The value of NAME=VALUE on the command line; NULL: it is not there. */
static const char *tl_given(const char *name)
{
    size_t n = strlen(name);
    for (int i = 1; i < tl_argc; i++)
        if (!strncmp(tl_argv[i], name, n) && tl_argv[i][n] == '=')
            return tl_argv[i] + n + 1;
    return NULL;
}

static double tl_number(const char *name)
{
    const char *text = tl_given(name);
    if (!text)
        tl_stop(name, @"give it as NAME=NUMBER");
    return atof(text);
}

static inline int64_t tl_truncdiv_i64(int64_t a, int64_t b) { return b == 0 ? 0 : a / b; }
static inline int64_t tl_truncmod_i64(int64_t a, int64_t b) { return b == 0 ? 0 : a % b; }
static inline int64_t tl_floordiv_i64(int64_t a, int64_t b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0)); }
static inline int64_t tl_floormod_i64(int64_t a, int64_t b) { return b == 0 ? 0 : a - b * tl_floordiv_i64(a, b); }
static inline int64_t tl_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t tl_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

static id<MTLLibrary> tl_compile(NSString *text, MTLLanguageVersion version)
{
    MTLCompileOptions *options = [[MTLCompileOptions alloc] init];
    NSError *error = nil;
    options.languageVersion = version;
    options.fastMathEnabled = NO; /* NaN and infinity count, and rounding is to nearest */
    id<MTLLibrary> library = [tl_device newLibraryWithSource:text options:options error:&error];
    if (!library)
        tl_stop("kernel.metal is not taken", [error localizedDescription]);
    return library;
}

static id<MTLComputePipelineState> tl_pipeline(id<MTLLibrary> library, NSString *name)
{
    NSError *error = nil;
    id<MTLFunction> function = [library newFunctionWithName:name];
    id<MTLComputePipelineState> made = function ? [tl_device newComputePipelineStateWithFunction:function error:&error] : nil;
    if (!made)
        tl_stop([name UTF8String], error ? [error localizedDescription] : @"there is no such function");
    if ([made threadExecutionWidth] != 32)
        tl_stop([name UTF8String], @"SIMD-groups of this GPU do not have 32 lanes");
    return made;
}

/* Where a thread leaves the number of an assertion that does not hold. */
static id<MTLBuffer> tl_flag;

static inline void tl_look_at_flag(void)
{
    const int number = *(const int *)[tl_flag contents];
    if (number)
        tl_stop("an assertion failed", [NSString stringWithFormat:@"see \"// tl_failed %d\" in kernel.metal", number]);
}

/* Which elements of an 8 x 8 matrix a lane holds is documented nowhere: asked of the GPU itself. */
static void tl_check_lanes(void)
{
    static const char text[] =
        "#include <metal_stdlib>\n"
        "using namespace metal;\n"
        "kernel void tl_lanes(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],\n"
        "                     uint lane [[thread_index_in_simdgroup]])\n"
        "{\n"
        "    simdgroup_float8x8 m;\n"
        "    simdgroup_load(m, in, 8);\n"
        "    out[lane * 2] = m.thread_elements()[0];\n"
        "    out[lane * 2 + 1] = m.thread_elements()[1];\n"
        "}\n";
    id<MTLComputePipelineState> made = tl_pipeline(tl_compile([NSString stringWithUTF8String:text], MTLLanguageVersion3_0), @"tl_lanes");
    id<MTLBuffer> in = [tl_device newBufferWithLength:256 options:MTLResourceStorageModeShared];
    id<MTLBuffer> out = [tl_device newBufferWithLength:256 options:MTLResourceStorageModeShared];
    id<MTLCommandBuffer> commands = [tl_queue commandBuffer];
    id<MTLComputeCommandEncoder> to = [commands computeCommandEncoder];
    for (int i = 0; i < 64; i++)
        ((float *)[in contents])[i] = (float)i;
    [to setComputePipelineState:made];
    [to setBuffer:in offset:0 atIndex:0];
    [to setBuffer:out offset:0 atIndex:1];
    [to dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
    [to endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    for (int lane = 0; lane < 32; lane++) {
        const int row = (lane >> 4 & 1) * 4 + (lane >> 1 & 3), column = (lane >> 3 & 1) * 4 + (lane & 1) * 2;
        for (int i = 0; i < 2; i++)
            if (((float *)[out contents])[lane * 2 + i] != (float)(row * 8 + column + i))
                tl_stop("lanes of this GPU hold other elements of a matrix than the kernel was made for", nil);
    }
}

/* The folder of the program has kernel.metal. */
static void tl_open(int argc, char **argv, MTLLanguageVersion version, int matrices)
{
    tl_argc = argc;
    tl_argv = argv;
    tl_device = MTLCreateSystemDefaultDevice();
    if (!tl_device)
        tl_stop("there is no GPU that Metal knows", nil);
    tl_queue = [tl_device newCommandQueue];
    tl_pipelines = [[NSMutableDictionary alloc] init];
    tl_flag = [tl_device newBufferWithLength:sizeof(int) options:MTLResourceStorageModeShared];
    if (matrices)
        tl_check_lanes();
    NSString *path = [[[NSString stringWithUTF8String:argv[0]] stringByDeletingLastPathComponent] stringByAppendingPathComponent:@"kernel.metal"];
    NSError *error = nil;
    NSString *text = [NSString stringWithContentsOfFile:path encoding:NSUTF8StringEncoding error:&error];
    if (!text)
        tl_stop("kernel.metal cannot be read", [error localizedDescription]);
    tl_library = tl_compile(text, version);
}

/* A tensor of so many bytes: of the file NAME=FILE if there is one (raw, or of numpy's format .npy), else zeros. */
static id<MTLBuffer> tl_make(const char *name, int64_t bytes, int reads)
{
    id<MTLBuffer> made = [tl_device newBufferWithLength:(NSUInteger)((bytes + 31) / 16 * 16) options:MTLResourceStorageModeShared];
    const char *path = reads ? tl_given(name) : NULL;
    if (!made)
        tl_stop(name, @"no room on the GPU");
    memset([made contents], 0, (size_t)[made length]);
    if (!path)
        return made;
    NSData *data = [NSData dataWithContentsOfFile:[NSString stringWithUTF8String:path]];
    const unsigned char *at = data ? [data bytes] : NULL;
    size_t n = data ? (size_t)[data length] : 0;
    if (n > 10 && !memcmp(at, "\x93NUMPY\x01", 7)) {
        const size_t head = 10 + at[8] + 256 * (size_t)at[9];
        at += head;
        n -= head;
    }
    if (!at || n != (size_t)bytes)
        tl_stop(path, [NSString stringWithFormat:@"%zu bytes; '%s' has %lld", n, name, (long long)bytes]);
    memcpy([made contents], at, n);
    return made;
}

static void tl_save(const char *name, id<MTLBuffer> from, int64_t bytes)
{
    const char *path = tl_given(name);
    if (path && ![[NSData dataWithBytes:[from contents] length:(NSUInteger)bytes] writeToFile:[NSString stringWithUTF8String:path] atomically:YES])
        tl_stop(path, @"cannot be written");
}

static id<MTLComputeCommandEncoder> tl_begin(id<MTLCommandBuffer> commands, NSString *name, int64_t shared)
{
    id<MTLComputePipelineState> made = tl_pipelines[name];
    if (!made)
        tl_pipelines[name] = made = tl_pipeline(tl_library, name);
    id<MTLComputeCommandEncoder> to = [commands computeCommandEncoder];
    [to setComputePipelineState:made];
    if (shared)
        [to setThreadgroupMemoryLength:(NSUInteger)((shared + 15) / 16 * 16) atIndex:0];
    return to;
}

static void tl_end(id<MTLComputeCommandEncoder> to, const int64_t *grid, int x, int y, int z)
{
    if (grid[0] > 0 && grid[1] > 0 && grid[2] > 0)
        [to dispatchThreadgroups:MTLSizeMake((NSUInteger)grid[0], (NSUInteger)grid[1], (NSUInteger)grid[2])
            threadsPerThreadgroup:MTLSizeMake((NSUInteger)x, (NSUInteger)y, (NSUInteger)z)];
    [to endEncoding];
}

/* ---- this kernel ------------------------------------------------------------------------------- */

