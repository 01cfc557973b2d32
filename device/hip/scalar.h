/* scalar.h -- what CUDA C has as functions of its own, for texts that call them by that name. */

#define __float_as_uint(x) __builtin_bit_cast(uint32_t, (float)(x))
#define __uint_as_float(u) __builtin_bit_cast(float, (uint32_t)(u))
#define __int_as_float(i) __builtin_bit_cast(float, (int32_t)(i))
#define __longlong_as_double(i) __builtin_bit_cast(double, (int64_t)(i))
#define __double_as_longlong(x) __builtin_bit_cast(int64_t, (double)(x))
#define __popc(x) ((int32_t)__builtin_popcount((uint32_t)(x)))
#define __popcll(x) ((int32_t)__builtin_popcountll((uint64_t)(x)))
#define __ffs(x) ((int32_t)__builtin_ffs((int32_t)(x)))
#define __ffsll(x) ((int32_t)__builtin_ffsll((int64_t)(x)))
#define __clz(x) tl_clz32((uint32_t)(x))
#define __clzll(x) tl_clz64((uint64_t)(x))
#define __umulhi(a, b) ((uint32_t)((uint64_t)(uint32_t)(a) * (uint32_t)(b) >> 32))
#define __ldg(p) (*(p))
#define __trap() __builtin_trap()
#define __fns(mask, base, offset) tl_fns(mask, base, offset)
TL_DEVICE int32_t tl_clz32(uint32_t x) { return x ? __builtin_clz(x) : 32; }
TL_DEVICE int32_t tl_clz64(uint64_t x) { return x ? __builtin_clzll(x) : 64; }

/* The offset-th set bit from base on, upwards or downwards; -1: there are fewer. */
TL_DEVICE uint32_t tl_fns(uint32_t mask, uint32_t base, int32_t offset)
{
    if (offset == 0)
        return base < 32 && (mask >> base & 1) ? base : 0xffffffffu;
    int32_t left = offset < 0 ? -offset : offset;
    for (int32_t i = (int32_t)base; i >= 0 && i < 32; i += offset < 0 ? -1 : 1)
        if ((mask >> i & 1) && --left == 0)
            return (uint32_t)i;
    return 0xffffffffu;
}

template <class T> TL_DEVICE T tl_least(T a, T b) { return a < b ? a : b; }
template <class T> TL_DEVICE T tl_most(T a, T b) { return a > b ? a : b; }
#define min(a, b) tl_least(a, b)
#define max(a, b) tl_most(a, b)

TL_DEVICE int16_t tl_neg_i16(int16_t x) { return (int16_t)(uint16_t)(0u - (uint32_t)x); }
TL_DEVICE int32_t tl_above_zero_i32(int32_t x) { return x > 0 ? x : 0; }
TL_DEVICE int32_t tl_abs_i32(int32_t a) { return a < 0 ? (int32_t)(0u - (uint32_t)a) : a; }
TL_DEVICE int64_t tl_abs_i64(int64_t a) { return a < 0 ? (int64_t)(0ull - (uint64_t)a) : a; }

/* ---- float to integer: toward zero, saturated, NaN gives 0 ------------------------------------- */

#define __float2int_rz(x) tl_to_int<float, int32_t>(x, -0x1p31f, 0x1p31f)
#define __float2uint_rz(x) tl_to_int<float, uint32_t>(x, 0.0f, 0x1p32f)
#define __float2ll_rz(x) tl_to_int<float, int64_t>(x, -0x1p63f, 0x1p63f)
#define __float2ull_rz(x) tl_to_int<float, uint64_t>(x, 0.0f, 0x1p64f)
#define __double2int_rz(x) tl_to_int<double, int32_t>(x, -0x1p31, 0x1p31)
#define __double2uint_rz(x) tl_to_int<double, uint32_t>(x, 0.0, 0x1p32)
#define __double2ll_rz(x) tl_to_int<double, int64_t>(x, -0x1p63, 0x1p63)
#define __double2ull_rz(x) tl_to_int<double, uint64_t>(x, 0.0, 0x1p64)
template <class F, class I> TL_DEVICE I tl_to_int(F x, F least, F end)
{
    const I top = (I)-1 > (I)0 ? (I)-1 : (I)((1ull << (sizeof(I) * 8 - 1)) - 1);
    const I low = (I)-1 > 0 ? (I)0 : (I)(-top - 1);
    return x != x ? (I)0 : x <= least ? low : x >= end ? top : (I)x;
}

/* ---- to float, toward zero --------------------------------------------------------------------- */

#define __double2float_rz(x) tl_f64_to_f32_rz(x)
#define __int2float_rz(x) tl_i64_to_f32_rz(x)
#define __uint2float_rz(x) tl_u64_to_f32_rz(x)
#define __ll2float_rz(x) tl_i64_to_f32_rz(x)
#define __ull2float_rz(x) tl_u64_to_f32_rz(x)
TL_DEVICE float tl_f64_to_f32_rz(double x)
{
    const float r = (float)x;
    return __builtin_fabs((double)r) > __builtin_fabs(x) ? __uint_as_float(__float_as_uint(r) - 1) : r;
}
TL_DEVICE float tl_u64_to_f32_rz(uint64_t x)
{
    const int32_t drop = 40 - tl_clz64(x);
    return (float)(drop > 0 ? x >> drop << drop : x);
}
TL_DEVICE float tl_i64_to_f32_rz(int64_t x)
{
    return x < 0 ? -tl_u64_to_f32_rz(0ull - (uint64_t)x) : tl_u64_to_f32_rz((uint64_t)x);
}

/* ---- narrow floats by instructions ------------------------------------------------------------- */

TL_DEVICE float tl_f16_to_f32(uint16_t h) { return (float)__builtin_bit_cast(_Float16, h); }
TL_DEVICE uint16_t tl_f32_to_f16(float x) { return __builtin_bit_cast(uint16_t, (_Float16)x); }

/* ---- runs of words ----------------------------------------------------------------------------- */

struct tl_uint2 {
    uint32_t x, y;
} __attribute__((aligned(8)));
struct tl_uint4 {
    uint32_t x, y, z, w;
} __attribute__((aligned(16)));
struct tl_float2 {
    float x, y;
} __attribute__((aligned(8)));
struct tl_float4 {
    float x, y, z, w;
} __attribute__((aligned(16)));
#define uint2 tl_uint2
#define uint4 tl_uint4
#define float2 tl_float2
#define float4 tl_float4
#define make_uint2(x, y) (tl_uint2{x, y})
#define make_uint4(x, y, z, w) (tl_uint4{x, y, z, w})

/* There is no instruction for it: the line comes when it is read. */
TL_DEVICE void tl_prefetch(const void *p) { __builtin_prefetch(p); }

/* ---- who is where ------------------------------------------------------------------------------ */

struct tl_index {
    uint32_t x, y, z;
};
#define threadIdx (tl_index{__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z()})
#define blockIdx (tl_index{__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z()})
TL_DEVICE tl_index tl_grid_dim()
{
    const uint32_t *const p = (const uint32_t *)__builtin_amdgcn_dispatch_ptr();
    return tl_index{p[3] / __builtin_amdgcn_workgroup_size_x(), p[4] / __builtin_amdgcn_workgroup_size_y(),
                    p[5] / __builtin_amdgcn_workgroup_size_z()};
}
#define gridDim (tl_grid_dim())
#define blockDim (tl_index{__builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(), __builtin_amdgcn_workgroup_size_z()})

/* ---- the order of blocks ----------------------------------------------------------------------- */

/* Workgroups go to the dies (XCDs) in turn, and each has a cache of its own: neighbours in the order
 * of tiles shall be of one die. */
TL_DEVICE uint32_t tl_block_number()
{
    const uint32_t nx = gridDim.x, id = blockIdx.x + blockIdx.y * nx, each = nx * gridDim.y / TL_DIES;
    return id < each * TL_DIES ? id % TL_DIES * each + id / TL_DIES : id;
}

/* Panels of so many rows (columns) of blocks, one panel after the other, back and forth. */
TL_DEVICE TlTile tl_raster_rows(int32_t panel)
{
    const uint32_t nx = gridDim.x, ny = gridDim.y, id = tl_block_number();
    const uint32_t whole = (uint32_t)panel * nx, p = id / whole, in = id - p * whole;
    const uint32_t rows = min((uint32_t)panel, ny - p * (uint32_t)panel), x = in / rows;
    return {(int32_t)(p & 1 ? nx - 1 - x : x), (int32_t)(p * (uint32_t)panel + in - x * rows)};
}

TL_DEVICE TlTile tl_raster_columns(int32_t panel)
{
    const uint32_t nx = gridDim.x, ny = gridDim.y, id = tl_block_number();
    const uint32_t whole = (uint32_t)panel * ny, p = id / whole, in = id - p * whole;
    const uint32_t columns = min((uint32_t)panel, nx - p * (uint32_t)panel), y = in / columns;
    return {(int32_t)(p * (uint32_t)panel + in - y * columns), (int32_t)(p & 1 ? ny - 1 - y : y)};
}
