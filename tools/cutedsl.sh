#!/bin/sh
# cutedsl.sh -- a Python that has NVIDIA's CuTe DSL, for target cutedsl and its tests.
#
# Usage: cutedsl.sh           prints what TILELANG_CUTEDSL_PYTHON should be; exits 1 if there is none
#        cutedsl.sh --fetch   makes a virtual environment under deps/ with the wheel of pip, unless it is there
# The wheel is for Python 3.12 (56 MB); nothing outside deps/ is touched.
cd "$(dirname "$0")/.." || exit 2
dir=${CUTEDSL_DIR:-$PWD/deps/cutedsl/venv}
has() { [ -n "$1" ] && "$1" -c 'import cutlass.base_dsl' >/dev/null 2>&1; }

if [ "${1:-}" = --fetch ] && ! has "$dir/bin/python"; then
    for python in python3.12 "$HOME"/.pyenv/versions/3.12*/bin/python python3; do
        "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 12))' 2>/dev/null || continue
        "$python" -m venv "$dir" && "$dir/bin/python" -m pip -q install --only-binary=:all: nvidia-cutlass-dsl==4.3.5 >"$dir/log" 2>&1
        break
    done
fi
for python in "${TILELANG_CUTEDSL_PYTHON:-}" "$dir/bin/python"; do
    has "$python" && echo "$python" && exit 0
done
echo "cutedsl: no Python with CuTe DSL here; \`sh tools/cutedsl.sh --fetch\` needs a Python 3.12 and pip" >&2
exit 1
