#define TL_HOST __attribute__((unused)) static
TL_HOST int64_t tl_truncdiv_i64(int64_t a, int64_t b) { return b ? a / b : 0; }
TL_HOST int64_t tl_truncmod_i64(int64_t a, int64_t b) { return b ? a % b : 0; }
TL_HOST int64_t tl_floordiv_i64(int64_t a, int64_t b)
{
    int64_t q = b ? a / b : 0;
    return b && a % b && (a < 0) != (b < 0) ? q - 1 : q;
}
TL_HOST int64_t tl_floormod_i64(int64_t a, int64_t b)
{
    return b ? a - tl_floordiv_i64(a, b) * b : 0;
}
TL_HOST int64_t tl_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
TL_HOST int64_t tl_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
TL_HOST int64_t tl_shl_u64(int64_t a, int64_t n)
{
    return n < 0 || n > 63 ? 0 : (int64_t)((uint64_t)a << n);
}
TL_HOST int64_t tl_shr_i64(int64_t a, int64_t n)
{
    return a >> (n < 0 || n > 63 ? 63 : n);
}
