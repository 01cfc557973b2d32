#!/bin/sh
# zig.sh -- a clang that knows gfx950 (Debian's does not), for the tests of HIP text: the one in pip's ziglang.
#
# Usage: zig.sh            prints what TILELANG_HIP_CLANG should be; exits 1 if there is none
#        zig.sh --fetch    puts the wheel under deps/ unless it is there (101 MB: `make test-full` does)
# The wheel is a zip file: nothing is installed, nothing outside deps/ is touched.
cd "$(dirname "$0")/.." || exit 2
dir=${ZIG_DIR:-$PWD/deps/ziglang}
there() { [ -e "$dir/ziglang/zig" ]; }

if [ "${1:-}" = --fetch ] && ! there; then
    mkdir -p "$dir" || exit 1
    python3 -m pip -q download --no-deps --only-binary=:all: -d "$dir" ziglang >"$dir/log" 2>&1
    for wheel in "$dir"/*.whl; do
        [ -f "$wheel" ] && python3 -m zipfile -e "$wheel" "$dir" && rm "$wheel" && chmod +x "$dir/ziglang/zig"
    done
fi
there || exit 1
echo "$PWD/tools/zig_clang.sh"
