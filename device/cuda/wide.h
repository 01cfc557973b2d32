/* wide.h -- 32 to 256 bits between memory and words of registers at once: T.ldg128, T.sts64. */

TL_DEVICE void tl_load_global_32(uint32_t *to, const void *from)
{
    const uint32_t v = ((const uint32_t *)from)[0];
    to[0] = v;
}

TL_DEVICE void tl_store_global_32(void *to, const uint32_t *from)
{
    ((uint32_t *)to)[0] = from[0];
}

TL_DEVICE void tl_load_global_32_conditional(uint32_t *to, const void *from, bool yes)
{
    to[0] = yes ? ((const uint32_t *)from)[0] : 0;
}

TL_DEVICE void tl_store_global_32_conditional(void *to, const uint32_t *from, bool yes)
{
    if (yes)
        tl_store_global_32(to, from);
}

TL_DEVICE void tl_load_global_64(uint32_t *to, const void *from)
{
    const uint2 v = ((const uint2 *)from)[0];
    to[0] = v.x;
    to[1] = v.y;
}

TL_DEVICE void tl_store_global_64(void *to, const uint32_t *from)
{
    ((uint2 *)to)[0] = make_uint2(from[0], from[1]);
}

TL_DEVICE void tl_load_global_64_conditional(uint32_t *to, const void *from, bool yes)
{
    const uint2 v = yes ? ((const uint2 *)from)[0] : uint2{};
    to[0] = v.x;
    to[1] = v.y;
}

TL_DEVICE void tl_store_global_64_conditional(void *to, const uint32_t *from, bool yes)
{
    if (yes)
        tl_store_global_64(to, from);
}

TL_DEVICE void tl_load_global_128(uint32_t *to, const void *from)
{
    const uint4 v = ((const uint4 *)from)[0];
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    to[3] = v.w;
}

TL_DEVICE void tl_store_global_128(void *to, const uint32_t *from)
{
    ((uint4 *)to)[0] = make_uint4(from[0], from[1], from[2], from[3]);
}

TL_DEVICE void tl_load_global_128_conditional(uint32_t *to, const void *from, bool yes)
{
    const uint4 v = yes ? ((const uint4 *)from)[0] : uint4{};
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    to[3] = v.w;
}

TL_DEVICE void tl_store_global_128_conditional(void *to, const uint32_t *from, bool yes)
{
    if (yes)
        tl_store_global_128(to, from);
}

TL_DEVICE void tl_load_global_256(uint32_t *to, const void *from)
{
    const uint4 v0 = ((const uint4 *)from)[0];
    const uint4 v1 = ((const uint4 *)from)[1];
    to[0] = v0.x;
    to[1] = v0.y;
    to[2] = v0.z;
    to[3] = v0.w;
    to[4] = v1.x;
    to[5] = v1.y;
    to[6] = v1.z;
    to[7] = v1.w;
}

TL_DEVICE void tl_store_global_256(void *to, const uint32_t *from)
{
    ((uint4 *)to)[0] = make_uint4(from[0], from[1], from[2], from[3]);
    ((uint4 *)to)[1] = make_uint4(from[4], from[5], from[6], from[7]);
}

TL_DEVICE void tl_load_global_256_conditional(uint32_t *to, const void *from, bool yes)
{
    const uint4 v0 = yes ? ((const uint4 *)from)[0] : uint4{};
    const uint4 v1 = yes ? ((const uint4 *)from)[1] : uint4{};
    to[0] = v0.x;
    to[1] = v0.y;
    to[2] = v0.z;
    to[3] = v0.w;
    to[4] = v1.x;
    to[5] = v1.y;
    to[6] = v1.z;
    to[7] = v1.w;
}

TL_DEVICE void tl_store_global_256_conditional(void *to, const uint32_t *from, bool yes)
{
    if (yes)
        tl_store_global_256(to, from);
}

TL_DEVICE void tl_load_shared_32(uint32_t *to, const void *from)
{
    const uint32_t v = ((const uint32_t *)from)[0];
    to[0] = v;
}

TL_DEVICE void tl_store_shared_32(void *to, const uint32_t *from)
{
    ((uint32_t *)to)[0] = from[0];
}

TL_DEVICE void tl_load_shared_64(uint32_t *to, const void *from)
{
    const uint2 v = ((const uint2 *)from)[0];
    to[0] = v.x;
    to[1] = v.y;
}

TL_DEVICE void tl_store_shared_64(void *to, const uint32_t *from)
{
    ((uint2 *)to)[0] = make_uint2(from[0], from[1]);
}

TL_DEVICE void tl_load_shared_128(uint32_t *to, const void *from)
{
    const uint4 v = ((const uint4 *)from)[0];
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    to[3] = v.w;
}

TL_DEVICE void tl_store_shared_128(void *to, const uint32_t *from)
{
    ((uint4 *)to)[0] = make_uint4(from[0], from[1], from[2], from[3]);
}

TL_DEVICE void tl_prefetch(const void *p)
{
    asm volatile("prefetch.global.L2 [%0];" : : "l"(__cvta_generic_to_global(p)));
}
