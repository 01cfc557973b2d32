#!/bin/sh
# release.sh -- a release: the source package, wheels for Linux, their hashes, and a page for pip's --find-links.
#
# Usage: release.sh DIR [ARCH …]      x86_64 aarch64 unless named
# Wheels are abi3, for Python 3.10 and later, and manylinux_2_28: compiled by the clang of pip's ziglang against glibc 2.28,
# whatever machine this is.  ZIG names a zig that is there already; else tools/zig.sh fetches one.  A wheel that needs a newer
# glibc, or exports more than its init function, ends the release.
cd "$(dirname "$0")/.." || exit 2
out=${1:?where to} && shift
[ $# -gt 0 ] || set -- x86_64 aarch64
case $out in /*) ;; *) out=$PWD/$out ;; esac
python=${PYTHON:-python3}
if [ -z "${ZIG:-}" ]; then
    sh tools/zig.sh --fetch >/dev/null || { echo "release: no zig: pip's ziglang cannot be had" >&2; exit 3; }
    ZIG=$PWD/deps/ziglang/ziglang/zig
fi
rm -rf "$out" && mkdir -p "$out" || exit 3
fail() { echo "release: $1" >&2; exit 1; }

# A copy, so that builds of other architectures do not meet; names and times in it are the tree's.
stage() {
    mkdir -p "$1" && { git ls-files -z 2>/dev/null | xargs -0 tar cf - --no-recursion || tar cf - --exclude ./build --exclude ./deps .; } |
        tar xf - -C "$1"
}
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 1700000000)}"

# setuptools makes wheels by itself since 70.1; an older one gets a newer beside it, for this release alone.
if ! $python -c 'from setuptools.command import bdist_wheel' 2>/dev/null; then
    $python -m venv "$work/env" && "$work/env/bin/pip" -q install 'setuptools>=70.1' >"$work/log" 2>&1 ||
        { cat "$work/log"; fail "setuptools cannot be had"; }
    python=$work/env/bin/python
fi

stage "$work/sdist"
(cd "$work/sdist" && $python setup.py -q sdist --formats gztar -d "$out") >"$work/log" 2>&1 || { cat "$work/log"; fail "sdist"; }
for arch in "$@"; do
    stage "$work/$arch"
    target=$arch-linux-gnu.2.28
    (cd "$work/$arch" && ZIG_GLOBAL_CACHE_DIR="${ZIG_GLOBAL_CACHE_DIR:-$work/zig}" CC="$ZIG cc -target $target" \
        LDSHARED="$ZIG cc -target $target -shared" AR="$ZIG ar" \
        $python setup.py -q bdist_wheel --plat-name "manylinux_2_28_$arch" -d "$out") >"$work/log" 2>&1 ||
        { tail -20 "$work/log"; fail "the wheel for $arch"; }
done
for wheel in "$out"/*.whl; do
    $python tools/wheel.py "$wheel" || fail "$wheel is not what it says"
done
(cd "$out" && {
    echo '<!DOCTYPE html><title>tilelang-c</title>'
    for f in *.whl *.tar.gz; do
        echo "<a href=\"$f#sha256=$(sha256sum "$f" | cut -d' ' -f1)\">$f</a><br>"
    done
} >index.html && sha256sum *.whl *.tar.gz | tee SHA256SUMS)
