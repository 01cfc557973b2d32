#!/bin/sh
# install.sh -- install what `make demo`, `make bench` and `make test` need and is not here.
#
# Usage: install.sh demo|test|full|playground
# Needed: a C compiler with the headers of libc; for test a C++ compiler and a python3 with numpy and
# its headers too;
# for full (`make test-full`) clang with its sanitizers as well; for playground (`make playground`) a clang
# for WebAssembly and a C library for it.
# Welcome: for demo, the libraries to compare with.  Without them the demo still runs.
set -u
what=${1:-demo}

have_compiler() { echo '#include <stdio.h>' | ${CC:-cc} -E -; } >/dev/null 2>&1
have_clang() { echo 'int main(void) { return 0; }' | ${CLANG:-clang} -fsanitize=memory -x c -o /dev/null -; } >/dev/null 2>&1
have_wasm() { echo 'int main(void) { return 0; }' | ${WASM_CC:-clang-19} --target=wasm32-wasi -x c -o /dev/null -; } >/dev/null 2>&1
have_cpp() { echo 'int main() {}' | ${CC:-cc} -x c++ -S -o /dev/null -; } >/dev/null 2>&1
have_numpy() { python3 -c 'import numpy'; } >/dev/null 2>&1
is_debians_python() { python3 -c 'import sys; sys.exit(sys.prefix != "/usr")'; } >/dev/null 2>&1
numpy_by_pip()
{
    command -v python3 >/dev/null 2>&1 && ! is_debians_python || return 1
    echo "installing numpy for $(command -v python3)" >&2
    python3 -m pip -q install numpy >/dev/null 2>&1
    have_numpy
}
have_headers()
{
    python3 -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))'
} >/dev/null 2>&1
have_library()
{
    for dir in /usr/lib/*-linux-gnu* /usr/lib64 /usr/lib /usr/local/lib; do
        [ -e "$dir/$1" ] && return 0
    done
    return 1
}

need= like=
have_compiler || need="gcc libc6-dev"
case $what in
demo)
    have_library libopenblas.so.0 || like="$like libopenblas0-pthread"
    have_library libblis.so.4 || like="$like libblis4-pthread"
    have_library libdnnl.so.2 || like="$like libdnnl2"
    ;;
playground) have_wasm || need="clang-19 lld-19 wasi-libc libclang-rt-19-dev-wasm32" ;;
test | full)
    [ "$what" = test ] || have_clang || need="$need clang"
    have_cpp || need="$need g++"
    # The python3 of the PATH may be another one than Debian's, which apt's packages do not reach: there pip does.
    have_numpy || numpy_by_pip || need="$need python3 python3-numpy"
    have_headers || need="$need python3-dev"
    # HIP text: a clang that knows AMD's GPUs, and their mathematical functions
    command -v clang-19 >/dev/null 2>&1 || like="$like clang-19 lld-19"
    command -v llvm-objdump-19 >/dev/null 2>&1 || like="$like llvm-19"
    ls /usr/lib/*/amdgcn/bitcode/ocml.bc /opt/rocm/amdgcn/bitcode/ocml.bc 2>/dev/null | grep -q . || like="$like rocm-device-libs"
    # and one that knows gfx950, which is large
    [ "$what" = test ] || sh "$(dirname "$0")/zig.sh" --fetch >/dev/null 2>&1
    # an editor for the language server
    command -v nvim >/dev/null 2>&1 || like="$like neovim"
    # and what runs another editor's extension
    command -v node >/dev/null 2>&1 || like="$like nodejs"
    # what starts workers of a search on many machines
    [ "$what" = test ] || command -v mpirun >/dev/null 2>&1 || like="$like openmpi-bin"
    [ "$what" = test ] || command -v slurmd >/dev/null 2>&1 || like="$like slurm-wlm munge"
    # what `tl prove` asks
    have_library libz3.so.4 || like="$like libz3-4"
    # WGSL: a software adapter, and wgpu-native
    have_library libvulkan_lvp.so || like="$like mesa-vulkan-drivers"
    have_library libvulkan.so.1 || like="$like libvulkan1"
    # OpenCL C: a driver for this CPU, and what finds drivers
    have_library libOpenCL.so.1 || like="$like ocl-icd-libopencl1"
    ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1 || like="$like pocl-opencl-icd"
    # and a browser, for pages of WGSL
    command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || like="$like chromium"
    # and another one, for the playground
    [ "$what" = test ] || command -v firefox-esr >/dev/null 2>&1 || command -v firefox >/dev/null 2>&1 || like="$like firefox-esr"
    sh "$(dirname "$0")/wgpu.sh" --fetch >/dev/null 2>&1 || like="$like python3-pip"
    sh "$(dirname "$0")/nvrtc.sh" --fetch >/dev/null 2>&1 || like="$like python3-pip"
    # an NVRTC 12, for sm_70
    sh "$(dirname "$0")/nvrtc.sh" --twelve >/dev/null 2>&1 || like="$like python3-pip"
    # CPUs of the other kind: a cross compiler, and who runs what it makes
    command -v aarch64-linux-gnu-gcc >/dev/null 2>&1 || [ "$(uname -m)" = aarch64 ] || like="$like gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
    command -v qemu-aarch64-static >/dev/null 2>&1 || command -v qemu-aarch64 >/dev/null 2>&1 ||
        [ "$(uname -m)" = aarch64 ] || like="$like qemu-user-static"
    ;;
*) echo "usage: install.sh demo|test|full|playground" >&2; exit 2 ;;
esac
[ -z "$need$like" ] && exit 0

# How to become root, if at all: nothing, sudo, or no way.
if [ "$(id -u)" = 0 ]; then
    root=
elif command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    root=sudo
else
    root=no
fi

refuse()
{
    if [ -n "$need" ]; then
        echo "install: $1." >&2
        echo "install: please install$(echo " $need" | tr -s ' ') (Debian's names), then run this again." >&2
        exit 1
    fi
    echo "install: $1; going on without$like" >&2
    exit 0
}
command -v apt-get >/dev/null 2>&1 || refuse "this is not a Debian system"
[ "$root" = no ] && refuse "installing takes root or sudo, and neither is here"

log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
apt() { $root env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" </dev/null >>"$log" 2>&1; }
fetch()
{
    echo "installing $(echo "$*" | tr -s ' ')" >&2
    apt install -y --no-install-recommends "$@" && return 0
    [ -n "${updated:-}" ] && return 1
    updated=yes
    apt update && apt install -y --no-install-recommends "$@"
}

if [ -n "$need" ] && ! fetch $need; then
    tail -n 20 "$log" >&2
    echo "install: could not install $need; please install them by hand" >&2
    exit 1
fi
if [ "$what" = test ] || [ "$what" = full ]; then
    have_numpy || { echo "install: $(command -v python3) has no numpy, and neither apt nor pip gave it one; please install it" >&2; exit 1; }
    have_headers || { echo "install: $(command -v python3) has no Python.h; please install its headers" >&2; exit 1; }
fi
# Debian only recommends the run-time part of the sanitizers.
if [ "$what" = full ] && ! have_clang; then
    fetch "libclang-rt-$(${CLANG:-clang} -dumpversion | cut -d. -f1)-dev" || refuse "clang here has no MemorySanitizer"
fi
# One by one: that one is not to be had is no reason to miss the others.
for package in $like; do
    fetch "$package" || echo "install: no $package; going on without" >&2
done
# Who had no pip may have it now.
if [ "$what" != demo ] && [ -n "$like" ]; then
    sh "$(dirname "$0")/wgpu.sh" --fetch || echo "install: no wgpu; tests of WGSL are left out" >&2
    sh "$(dirname "$0")/nvrtc.sh" --fetch || echo "install: no NVRTC; tests of CUDA text are left out" >&2
fi
exit 0
