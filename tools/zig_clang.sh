#!/bin/sh
# zig_clang.sh -- the clang of pip's ziglang (22), which knows gfx950, in the place of a clang for HIP: its own link step fails, so
# the text becomes assembly, an object and a code object by three calls.  tools/zig.sh fetches it.
zig=${ZIG_DIR:-$(dirname "$0")/../deps/ziglang}/ziglang/zig
[ "$1" = --version ] && exec "$zig" clang --version
out= arch= skip=
n=$#
while [ "$n" -gt 0 ]; do
    word=$1
    shift
    n=$((n - 1))
    case $skip$word in
    out*) out=$word skip=; continue ;;
    -o) skip=out; continue ;;
    --offload-arch=*) arch=${word#*=} ;;
    esac
    set -- "$@" "$word"
done
"$zig" clang "$@" -S -o "$out.s" &&
    "$zig" clang -target amdgcn-amd-amdhsa -mcpu="$arch" -c "$out.s" -o "$out.o" &&
    "$zig" ld.lld -shared "$out.o" -o "$out"
