/* wgpu.h -- the part of wgpu-native's C interface that kernels need, declared here.
 *
 * Structs and numbers are those of webgpu.h and wgpu.h of WGPU_ABI; other versions lay some of them
 * out differently and are not taken. */
#ifndef TL_WEBGPU_RT_WGPU_H
#define TL_WEBGPU_RT_WGPU_H

#include <stddef.h>
#include <stdint.h>

enum { WGPU_ABI = 29 }; /* the first part of wgpuGetVersion */

typedef void *WgpuObject;
typedef uint32_t WgpuBool;

typedef struct {
    const char *data;
    size_t length;
} WgpuText;

typedef struct WgpuChain {
    struct WgpuChain *next;
    uint32_t type;
} WgpuChain;

typedef struct {
    uint64_t id;
} WgpuFuture;

typedef struct { /* of every call that answers later */
    WgpuChain *next;
    uint32_t mode;
    void (*callback)(uint32_t status, WgpuObject object, WgpuText message, void *one, void *two);
    void *one, *two;
} WgpuAnswer;

typedef struct { /* the same of a buffer: no object */
    WgpuChain *next;
    uint32_t mode;
    void (*callback)(uint32_t status, WgpuText message, void *one, void *two);
    void *one, *two;
} WgpuMapAnswer;

typedef struct {
    WgpuChain *next;
    void (*callback)(const WgpuObject *device, uint32_t type, WgpuText message, void *one,
                     void *two);
    void *one, *two;
} WgpuErrorCall;

typedef struct {
    WgpuChain *next;
    uint32_t mode;
    void *callback, *one, *two;
} WgpuLostCall;

typedef struct {
    WgpuChain chain;
    uint64_t backends, flags;
    uint32_t dx12, gles, fences;
    WgpuText dxc;
    uint32_t shader_model, swapchain;
    const uint8_t *budget[2];
    uint32_t display;
    void *window[2];
} WgpuInstanceExtras;

typedef struct {
    WgpuChain *next;
    size_t nfeature;
    const uint32_t *feature;
    const void *limits;
} WgpuInstanceWish;

typedef struct {
    WgpuChain *next;
    uint32_t level, power;
    WgpuBool fallback;
    uint32_t backend;
    WgpuObject surface;
} WgpuAdapterOptions;

typedef struct {
    WgpuChain *next;
    WgpuText vendor, architecture, device, description;
    uint32_t backend, type, vendor_id, device_id, subgroup_least, subgroup_most;
} WgpuAdapterInfo;

typedef struct {
    WgpuChain *next;
    uint32_t textures[4], bind_groups, bind_groups_and_vertices, bindings, dynamic_uniforms,
        dynamic_storage, sampled, samplers, storage_buffers, storage_textures, uniform_buffers;
    uint64_t uniform_bytes, storage_bytes;
    uint32_t uniform_align, storage_align, vertex_buffers;
    uint64_t buffer_bytes;
    uint32_t vertex_attributes, vertex_stride, inter_stage, color, color_bytes, workgroup_bytes,
        workgroup_threads, workgroup_x, workgroup_y, workgroup_z, workgroups, immediate;
} WgpuLimits;

typedef struct {
    WgpuChain *next;
    WgpuText label;
} WgpuNamed; /* what has a label and nothing else */

typedef struct {
    WgpuChain *next;
    WgpuText label;
    size_t nfeature;
    const uint32_t *feature;
    const WgpuLimits *limits;
    WgpuNamed queue;
    WgpuLostCall lost;
    WgpuErrorCall error;
} WgpuDeviceWish;

typedef struct {
    WgpuChain chain;
    WgpuText code;
} WgpuWgsl;

typedef struct {
    WgpuChain *next;
    WgpuText label;
    uint64_t usage, size;
    WgpuBool mapped;
} WgpuBufferWish;

typedef struct {
    WgpuChain *next;
    uint32_t binding;
    uint64_t visibility;
    uint32_t array;
    struct {
        WgpuChain *next;
        uint32_t type;
        WgpuBool dynamic;
        uint64_t least;
    } buffer;
    struct {
        WgpuChain *next;
        uint32_t type;
    } sampler;
    struct {
        WgpuChain *next;
        uint32_t type, view;
        WgpuBool multisampled;
    } texture;
    struct {
        WgpuChain *next;
        uint32_t access, format, view;
    } storage_texture;
} WgpuLayoutEntry;

typedef struct {
    WgpuChain *next;
    WgpuText label;
    size_t n;
    const WgpuLayoutEntry *entry;
} WgpuGroupLayoutWish;

typedef struct {
    WgpuChain *next;
    WgpuText label;
    size_t n;
    const WgpuObject *group;
    uint32_t immediate;
} WgpuPipelineLayoutWish;

typedef struct {
    WgpuChain *next;
    WgpuText label;
    WgpuObject layout;
    struct {
        WgpuChain *next;
        WgpuObject module;
        WgpuText entry;
        size_t nconstant;
        const void *constant;
    } compute;
} WgpuPipelineWish;

typedef struct {
    WgpuChain *next;
    uint32_t binding;
    WgpuObject buffer;
    uint64_t offset, size;
    WgpuObject sampler, view;
} WgpuGroupEntry;

typedef struct {
    WgpuChain *next;
    WgpuText label;
    WgpuObject layout;
    size_t n;
    const WgpuGroupEntry *entry;
} WgpuGroupWish;

enum {
    WGPU_WGSL = 2, WGPU_INSTANCE_EXTRAS = 0x30004,     /* SType */
    WGPU_BACKENDS = 1 | 4 | 8,                         /* Vulkan, Metal, Direct3D 12 */
    WGPU_ANSWER_ANY_TIME = 3,                          /* CallbackMode */
    WGPU_FEATURE_F16 = 11, WGPU_FEATURE_SUBGROUPS = 0x00030021, /* FeatureName; of wgpu's own */
    WGPU_POWER_HIGH = 2,                               /* PowerPreference */
    WGPU_SUCCESS = 1,                                  /* of every status */
    WGPU_MAP_READ = 1, WGPU_COPY_SRC = 4, WGPU_COPY_DST = 8, WGPU_UNIFORM = 64,
    WGPU_STORAGE = 128,                                /* BufferUsage; MapMode's read is 1 too */
    WGPU_COMPUTE = 4,                                  /* ShaderStage */
    WGPU_BIND_UNIFORM = 2, WGPU_BIND_STORAGE = 3, WGPU_BIND_READ = 4, /* BufferBindingType */
};

/* X(result, name, arguments): all must be there. */
#define WGPU_FUNCTIONS(X)                                                                          \
    X(uint32_t, GetVersion, (void))                                                                \
    X(WgpuObject, CreateInstance, (const WgpuInstanceWish *))                                      \
    X(WgpuFuture, InstanceRequestAdapter, (WgpuObject, const WgpuAdapterOptions *, WgpuAnswer))    \
    X(uint32_t, AdapterGetInfo, (WgpuObject, WgpuAdapterInfo *))                                   \
    X(uint32_t, AdapterGetLimits, (WgpuObject, WgpuLimits *))                                      \
    X(WgpuBool, AdapterHasFeature, (WgpuObject, uint32_t))                                         \
    X(WgpuFuture, AdapterRequestDevice, (WgpuObject, const WgpuDeviceWish *, WgpuAnswer))          \
    X(WgpuObject, DeviceGetQueue, (WgpuObject))                                                    \
    X(WgpuBool, DevicePoll, (WgpuObject, WgpuBool, const void *))                                  \
    X(WgpuObject, DeviceCreateBuffer, (WgpuObject, const WgpuBufferWish *))                        \
    X(WgpuObject, DeviceCreateShaderModule, (WgpuObject, const WgpuNamed *))                       \
    X(WgpuObject, DeviceCreateBindGroupLayout, (WgpuObject, const WgpuGroupLayoutWish *))          \
    X(WgpuObject, DeviceCreatePipelineLayout, (WgpuObject, const WgpuPipelineLayoutWish *))        \
    X(WgpuObject, DeviceCreateComputePipeline, (WgpuObject, const WgpuPipelineWish *))             \
    X(WgpuObject, DeviceCreateBindGroup, (WgpuObject, const WgpuGroupWish *))                      \
    X(WgpuObject, DeviceCreateCommandEncoder, (WgpuObject, const WgpuNamed *))                     \
    X(WgpuObject, CommandEncoderBeginComputePass, (WgpuObject, const void *))                      \
    X(void, CommandEncoderClearBuffer, (WgpuObject, WgpuObject, uint64_t, uint64_t))               \
    X(void, CommandEncoderCopyBufferToBuffer,                                                      \
      (WgpuObject, WgpuObject, uint64_t, WgpuObject, uint64_t, uint64_t))                          \
    X(WgpuObject, CommandEncoderFinish, (WgpuObject, const WgpuNamed *))                           \
    X(void, ComputePassEncoderSetPipeline, (WgpuObject, WgpuObject))                               \
    X(void, ComputePassEncoderSetBindGroup,                                                        \
      (WgpuObject, uint32_t, WgpuObject, size_t, const uint32_t *))                                \
    X(void, ComputePassEncoderDispatchWorkgroups, (WgpuObject, uint32_t, uint32_t, uint32_t))      \
    X(void, ComputePassEncoderEnd, (WgpuObject))                                                   \
    X(void, QueueSubmit, (WgpuObject, size_t, const WgpuObject *))                                 \
    X(void, QueueWriteBuffer, (WgpuObject, WgpuObject, uint64_t, const void *, size_t))            \
    X(WgpuFuture, BufferMapAsync, (WgpuObject, uint64_t, size_t, size_t, WgpuMapAnswer))           \
    X(const void *, BufferGetConstMappedRange, (WgpuObject, size_t, size_t))                       \
    X(void, BufferUnmap, (WgpuObject))                                                             \
    X(void, BufferRelease, (WgpuObject))                                                           \
    X(void, BindGroupRelease, (WgpuObject))                                                        \
    X(void, BindGroupLayoutRelease, (WgpuObject))                                                  \
    X(void, PipelineLayoutRelease, (WgpuObject))                                                   \
    X(void, ComputePipelineRelease, (WgpuObject))                                                  \
    X(void, ShaderModuleRelease, (WgpuObject))                                                     \
    X(void, CommandEncoderRelease, (WgpuObject))                                                   \
    X(void, CommandBufferRelease, (WgpuObject))                                                    \
    X(void, ComputePassEncoderRelease, (WgpuObject))

#endif
