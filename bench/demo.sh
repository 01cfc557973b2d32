#!/bin/sh
# demo.sh -- install what is missing, build, run and verify, write the report.
#
# Usage: demo.sh BUILD    (from the top of the tree; `make demo` does it)
set -u
make=${MAKE:-make}
build=$1
log=$build/demo.log
cores=$(nproc 2>/dev/null || echo 1)

sh tools/install.sh demo || exit 1
mkdir -p "$build" || exit 1

# One line that counts what is compiled; all of it is in the log.
count='/ -c -o / { n++; printf "\r\033[Kbuilding: %d of %d files", n, total > "/dev/stderr" }
       END { printf "\r\033[K" > "/dev/stderr" }'
total=$($make -n BUILD="$build" "$build/bench/run" 2>/dev/null | grep -c ' -c -o ')
if [ "$total" -gt 0 ] && [ -t 2 ]; then
    { $make -j"$cores" BUILD="$build" "$build/bench/run" 2>&1; echo "status $?"; } |
        tee "$log" | awk -v total="$total" "$count"
else
    [ "$total" -eq 0 ] || echo "building: $total files" >&2
    { $make -j"$cores" BUILD="$build" "$build/bench/run" 2>&1; echo "status $?"; } >"$log"
fi
if ! grep -q '^status 0$' "$log"; then
    tail -n 40 "$log" >&2
    echo "demo: the build failed; all of it is in $log" >&2
    exit 1
fi
exec "$build/bench/run" --demo --html "$build/demo.html"
