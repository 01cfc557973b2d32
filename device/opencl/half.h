/* half.h -- float16 by the device's own type (cl_khr_fp16), where the target is told of it. */

TL_DEVICE float tl_f16_to_f32(uint16_t h) { return (float)as_half(h); }
TL_DEVICE uint16_t tl_f32_to_f16(float x) { return as_ushort(convert_half_rte(x)); }
