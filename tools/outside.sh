#!/bin/sh
# outside.sh -- what a target cost outside of its folder, by git.
#
# Usage: outside.sh WORDS FOLDERS     e.g. outside.sh 'amd|hip|mfma|rocm|gfx[0-9a-z]*' 'hip|rocm'
# Of the commits whose subject has one of WORDS (an extended regular expression): the lines that they added and removed in src, device and python,
# without tables (*.def) and paths that have one of FOLDERS; then how many lines of today's files are theirs, by file.
cd "$(dirname "$0")/.." || exit 2
[ $# = 2 ] || { sed -n '4,6s/^# //p' "$0"; exit 2; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
git log --no-merges --format='@%H %s' --numstat | awk -v words="(^|[^a-z0-9])($1)([^a-z0-9]|\$)" -v folders="$2" -v work="$work" '
    /^@/ {
        hash = substr($1, 2); $1 = ""
        on = tolower($0) ~ words
        if (on) { commits++; print hash > (work "/commits") }
        next
    }
    on && NF == 3 && $1 != "-" && $3 ~ /^(src|device|python)\// && $3 !~ /\.def$/ && $3 !~ folders {
        added += $1; removed += $2; print $3 > (work "/files")
    }
    END { printf "%d commits: %d lines added, %d removed\n", commits, added, removed }'
[ -s "$work/files" ] || exit 0
sort -u "$work/files" | while read -r file; do
    [ -f "$file" ] && n=$(git blame -s -l -w "$file" | cut -c1-40 | grep -cFf "$work/commits") && echo "$n $file"
done | sort -rn >"$work/lines"
awk '{ n += $1 } END { printf "%d lines of today are theirs\n", n }' "$work/lines"
cat "$work/lines"
