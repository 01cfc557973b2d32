/* helper.h -- what kernels in Ascend C call beside the vendor's names. */
#define TL_INLINE __aicore__ static inline
#define TL_DEVICE __aicore__ static inline

/* The bits of a number as another one of the same size. */
template <typename T, typename U> TL_INLINE T as_type(U x)
{
    union tl_both { U from; T to; __aicore__ inline tl_both() {} } b;
    b.from = x;
    return b.to;
}

TL_INLINE int32_t clz(uint32_t x) { return x ? __builtin_clz(x) : 32; }
TL_INLINE int32_t clz(uint64_t x) { return x ? __builtin_clzll(x) : 64; }
TL_INLINE int32_t ctz(uint32_t x) { return x ? __builtin_ctz(x) : 32; }
TL_INLINE int32_t ctz(uint64_t x) { return x ? __builtin_ctzll(x) : 64; }
TL_INLINE int32_t popcount(uint32_t x) { return __builtin_popcount(x); }
TL_INLINE int32_t popcount(uint64_t x) { return __builtin_popcountll(x); }

/* One pipe waits until all that was issued to another has ended. */
template <HardEvent event> TL_INLINE void tl_sync()
{
    const event_t id = static_cast<event_t>(GetTPipePtr()->FetchEventID(event));
    SetFlag<event>(id);
    WaitFlag<event>(id);
}

TL_INLINE float tl_max(float a, float b) { return a > b || b != b ? a : b; }
TL_INLINE float tl_min(float a, float b) { return a < b || b != b ? a : b; }

/* ---- the scalar unit ------------------------------------------------------------------------- */

/* The same elements as bits of another type. */
template <typename U, typename T> TL_INLINE GlobalTensor<U> tl_as(const GlobalTensor<T> &t)
{
    GlobalTensor<U> u;
    u.SetGlobalBuffer((__gm__ U *)t.GetPhyAddr());
    return u;
}

/* An element that pipes of this kernel may have written: past the scalar unit's cache. */
template <typename U, typename T>
TL_INLINE U tl_fetch(const GlobalTensor<T> &t, int64_t at, const LocalTensor<float> &slot)
{
    const LocalTensor<U> s = slot.template ReinterpretCast<U>();
    tl_sync<HardEvent::S_MTE2>();
    DataCopyPad(s, tl_as<U>(t)[at], DataCopyExtParams{1, sizeof(U), 0, 0, 0}, DataCopyPadExtParams<U>{false, 0, 0, 0});
    tl_sync<HardEvent::MTE2_S>();
    return s.GetValue(0);
}

/* One element to global memory; lines of the cache would be written whole. */
template <typename U, typename T>
TL_INLINE void tl_put(const GlobalTensor<T> &t, int64_t at, U value, const LocalTensor<float> &slot)
{
    const LocalTensor<U> s = slot.template ReinterpretCast<U>();
    s.SetValue(0, value);
    tl_sync<HardEvent::S_MTE3>();
    DataCopyPad(tl_as<U>(t)[at], s, DataCopyExtParams{1, sizeof(U), 0, 0, 0});
    tl_sync<HardEvent::MTE3_S>();
}

template <typename T> TL_INLINE void tl_atomic_add(const GlobalTensor<T> &t, int64_t at, T value, const LocalTensor<float> &slot)
{
    SetAtomicAdd<T>();
    tl_put<T>(t, at, value, slot);
    SetAtomicNone();
}

template <typename T> TL_INLINE void tl_atomic_max(const GlobalTensor<T> &t, int64_t at, T value, const LocalTensor<float> &slot)
{
    SetAtomicMax<T>();
    tl_put<T>(t, at, value, slot);
    SetAtomicNone();
}

template <typename T> TL_INLINE void tl_atomic_min(const GlobalTensor<T> &t, int64_t at, T value, const LocalTensor<float> &slot)
{
    SetAtomicMin<T>();
    tl_put<T>(t, at, value, slot);
    SetAtomicNone();
}

/* Functions of one number, by the vector unit. */
enum { TL_FN_EXP, TL_FN_LN, TL_FN_SQRT, TL_FN_FLOOR, TL_FN_CEIL, TL_FN_TRUNC, TL_FN_RINT, TL_FN_ROUND };

TL_INLINE float tl_fn(int which, float x, const LocalTensor<float> &slot)
{
    slot.SetValue(0, x);
    tl_sync<HardEvent::S_V>();
    if (which == TL_FN_EXP)
        Exp(slot, slot, 1);
    else if (which == TL_FN_LN)
        Ln(slot, slot, 1);
    else if (which == TL_FN_SQRT)
        Sqrt(slot, slot, 1);
    else
        Cast(slot, slot, which == TL_FN_FLOOR ? RoundMode::CAST_FLOOR : which == TL_FN_CEIL ? RoundMode::CAST_CEIL
                         : which == TL_FN_TRUNC ? RoundMode::CAST_TRUNC : which == TL_FN_RINT ? RoundMode::CAST_RINT : RoundMode::CAST_ROUND, 1);
    tl_sync<HardEvent::V_S>();
    return slot.GetValue(0);
}

/* 2 to the nearest integer is exact, in two factors, since it may be too small for one. */
TL_INLINE float tl_exp2_fn(float x, const LocalTensor<float> &slot)
{
    if (!(x > -151.0f && x < 129.0f))
        return x != x ? x : x > 0.0f ? as_type<float>(0x7f800000u) : 0.0f;
    const int32_t n = (int32_t)(x < 0.0f ? x - 0.5f : x + 0.5f), half_n = n / 2;
    const float e = tl_fn(TL_FN_EXP, (x - (float)n) * 0.69314718f, slot);
    return e * as_type<float>((uint32_t)(half_n + 127) << 23) * as_type<float>((uint32_t)(n - half_n + 127) << 23);
}

#define tl_exp(x) tl_fn(TL_FN_EXP, x, tl_slot)
#define tl_exp2(x) tl_exp2_fn(x, tl_slot)
#define tl_exp10(x) tl_fn(TL_FN_EXP, (x) * 2.30258509f, tl_slot)
#define tl_log(x) tl_fn(TL_FN_LN, x, tl_slot)
#define tl_log2(x) (tl_fn(TL_FN_LN, x, tl_slot) * 1.44269504f)
#define tl_log10(x) (tl_fn(TL_FN_LN, x, tl_slot) * 0.43429448f)
#define tl_sqrt(x) tl_fn(TL_FN_SQRT, x, tl_slot)
#define tl_rsqrt(x) (1.0f / tl_fn(TL_FN_SQRT, x, tl_slot))
#define tl_rcp_fn(x) (1.0f / (x))
#define tl_sigmoid_fn(x) (1.0f / (1.0f + tl_fn(TL_FN_EXP, -(x), tl_slot)))
#define tl_tanh(x) (1.0f - 2.0f / (1.0f + tl_fn(TL_FN_EXP, 2.0f * (x), tl_slot)))
#define tl_floor(x) tl_fn(TL_FN_FLOOR, x, tl_slot)
#define tl_ceil(x) tl_fn(TL_FN_CEIL, x, tl_slot)
#define tl_trunc(x) tl_fn(TL_FN_TRUNC, x, tl_slot)
#define tl_rint(x) tl_fn(TL_FN_RINT, x, tl_slot)
#define tl_round(x) tl_fn(TL_FN_ROUND, x, tl_slot)
TL_INLINE float tl_abs(float x) { return x < 0 ? -x : x; }
TL_INLINE int32_t tl_isinf(float x) { return (as_type<uint32_t>(x) & 0x7fffffffu) == 0x7f800000u; }
TL_INLINE int32_t tl_isfinite(float x) { return (as_type<uint32_t>(x) & 0x7fffffffu) < 0x7f800000u; }

/* ---- the cube -------------------------------------------------------------------------------- */

/* rows x cols of global memory, rows so many elements apart, into a tile of L1; the rest is zero. */
template <typename T>
TL_INLINE void tl_load_tile(const LocalTensor<T> &dst, const GlobalTensor<T> &src, int64_t rows, int64_t cols, int64_t stride,
                            int32_t tile_rows, int32_t tile_cols)
{
    const int32_t c0 = 32 / sizeof(T), all = (tile_rows + 15) / 16 * 16, blocks = all * ((tile_cols + c0 - 1) / c0);
    if (rows < all || cols < tile_cols) {
        InitConstValue(dst.template ReinterpretCast<uint16_t>(), InitConstValueParams<uint16_t>{1, (uint16_t)blocks, 0, 0});
        PipeBarrier<PIPE_MTE2>();
    }
    if (rows <= 0 || cols <= 0)
        return;
    if (stride <= 65535) {
        DataCopy(dst, src, Nd2NzParams{1, (uint16_t)rows, (uint32_t)cols, 0, (uint32_t)stride, (uint16_t)all, 1, 0});
        return;
    }
    for (int64_t r = 0; r < rows; r++)
        DataCopy(dst[r * c0], src[r * stride], Nd2NzParams{1, 1, (uint32_t)cols, 0, (uint32_t)cols, (uint16_t)all, 1, 0});
}

/* Columns from .. from + n of A (m x k) to L0A, fractals row by row; TRANS: it is stored k x m. */
template <typename T, bool TRANS>
TL_INLINE void tl_load_a(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t m, int32_t k, int32_t from, int32_t n)
{
    const int32_t c0 = 32 / sizeof(T), steps = (n + c0 - 1) / c0;
    for (int32_t i = 0; i < m / 16; i++)
        LoadData(dst[i * steps * 16 * c0], src,
                 LoadData2DParams{(uint16_t)(TRANS ? i * (k / 16) + from / 16 : from / c0 * (m / 16) + i), (uint8_t)steps,
                                  (uint16_t)(TRANS ? 1 : m / 16), 0, 0, TRANS, 0});
}

/* Rows from .. from + n of B (k x n) to L0B, fractals row by row, each transposed; TRANS: it is
 * stored n x k. */
template <typename T, bool TRANS>
TL_INLINE void tl_load_b(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t n, int32_t k, int32_t from, int32_t count)
{
    const int32_t c0 = 32 / sizeof(T), steps = (count + c0 - 1) / c0;
    for (int32_t i = 0; i < steps; i++)
        LoadData(dst[i * n * c0], src,
                 LoadData2DParams{(uint16_t)(TRANS ? (from / c0 + i) * (n / 16) : from / 16 + i), (uint8_t)(n / 16),
                                  (uint16_t)(TRANS ? 1 : k / 16), 0, 0, !TRANS, 0});
}

template <typename C, typename T>
TL_INLINE void tl_mmad(const LocalTensor<C> &c, const LocalTensor<T> &a, const LocalTensor<T> &b, int32_t m, int32_t n, int32_t k,
                       bool zero)
{
    MmadParams p;
    p.m = m;
    p.n = n;
    p.k = k;
    p.cmatrixInitVal = zero;
    Mmad(c, a, b, p);
}

/* An accumulator that nothing was added to. */
template <typename C, typename QA, typename QB>
TL_INLINE void tl_zero_tile(const LocalTensor<C> &c, QA &qa, QB &qb, int32_t m, int32_t n)
{
    LocalTensor<half> a = qa.template AllocTensor<half>(), b = qb.template AllocTensor<half>();
    InitConstValue(a, InitConstValueParams<half>{1, (uint16_t)(m / 16), 0, (half)0});
    InitConstValue(b, InitConstValueParams<half>{1, (uint16_t)(n / 16), 0, (half)0});
    qa.EnQue(a);
    qb.EnQue(b);
    a = qa.template DeQue<half>();
    b = qb.template DeQue<half>();
    tl_mmad(c.template ReinterpretCast<float>(), a, b, m, n, 16, true);
    qa.FreeTensor(a);
    qb.FreeTensor(b);
}

/* rows x cols of a tile of L0C, whose columns of fractals are tile_rows long, to global memory. */
template <typename D, typename C>
TL_INLINE void tl_store_tile(const GlobalTensor<D> &dst, const LocalTensor<C> &src, int64_t rows, int64_t cols, int32_t tile_rows,
                             int64_t stride, QuantMode_t mode)
{
    if (rows <= 0 || cols <= 0)
        return;
    FixpipeParamsV220 p;
    p.nSize = cols;
    p.mSize = rows;
    p.srcStride = tile_rows;
    p.dstStride = stride;
    p.quantPre = mode;
    Fixpipe(dst, src, p);
}

template <typename T> TL_INLINE void tl_add_to(const LocalTensor<T> &dst, const LocalTensor<T> &x, int32_t n, bool clear)
{
    if (clear)
        DataCopy(dst, x, n);
    else
        Add(dst, dst, x, n);
}
