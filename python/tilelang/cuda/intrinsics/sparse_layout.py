"""Two of four elements, or one of two of 32 bits: what sparse products read."""

from ... import _core

get_e_factor = _core.builtin("layout.get_e_factor")
get_e_replicate_factor = _core.builtin("layout.get_e_replicate_factor")
GROUP_CONFIG = {
    name: (1, 2) if name.endswith("32") else (2, 4)
    for name in ("float32", "tfloat32", "float16", "bfloat16", "int8", "uint8", "float8_e4m3fn",
                 "float8_e5m2")
}
