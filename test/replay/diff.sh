#!/bin/sh
# diff.sh -- the emitted text of one kernel at a commit and now, as a diff.
#
# Usage: [REV=commit] diff.sh TARGET FILE[:FUNC] [NAME=VALUE …]
# REV (HEAD unless given; main~1, say, when the change is committed) is built in build/before/COMMIT,
# once.  FILE is read as it stands now.
set -eu
cd "$(dirname "$0")/../.."
[ $# -ge 2 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
target=$1
shift
rev=$(git rev-parse "${REV:-HEAD}")
before=build/before/$rev
if [ ! -x "$before/build/tl" ]; then
    mkdir -p "$before"
    git archive "$rev" | tar xf - -C "$before"
    echo "building $rev" >&2
    make -s -C "$before" -j2 build/tl >&2
fi
make -s build/tl >&2
text() { tl=$1; shift; "$tl" build "$@" -q --source --target "$target" 2>&1 || true; }
old=$(mktemp) new=$(mktemp)
trap 'rm -f "$old" "$new"' EXIT
text "$before/build/tl" "$@" >"$old"
text build/tl "$@" >"$new"
diff -u --label "$rev" --label now "$old" "$new" && echo "the text is the same"
