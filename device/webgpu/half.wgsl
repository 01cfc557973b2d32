// half.wgsl -- float16 by the adapter's own conversions, in the place of those of convert.wgsl: -own-halves.
//
// WGSL lets them round either way, overflow to what they like, and flush small numbers to zero.
fn tl_f32_to_f16(x: f32) -> u32 { return pack2x16float(vec2<f32>(x, 0.0f)); }
fn tl_f16_to_f32(h: u32) -> f32 { return unpack2x16float(h).x; }
