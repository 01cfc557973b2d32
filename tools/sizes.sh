#!/bin/sh
# sizes.sh -- files over 1,000 lines (tables: 1,200) and functions over 80 fail; prints the ten worst of each.
#
# A function is what lies between a "{" and a "}" that each stand alone in the first column, which
# the house style makes true.  Vendored files do not count.
cd "$(dirname "$0")/.." || exit 2
FILE_MOST=1000
TABLE_MOST=1200
FUNCTION_MOST=80

files=$(find src include test bench device -name '*.[chm]' -o -name '*.def' -o -name '*.cu' 2>/dev/null |
    grep -v -e '/xxhash\.h$' -e '/dlpack\.h$' | LC_ALL=C sort)
[ -n "$files" ] || exit 0

list=$(awk '
function close_file() {
    if (file)
        printf "file %d %s\n", lines, file
}
FNR == 1 {
    close_file()
    file = FILENAME
    inside = 0
}
{ lines = FNR }
/^{$/ {
    inside = 1
    start = FNR
    next
}
/^}/ && inside {
    printf "function %d %s:%d %s\n", FNR - start + 1, FILENAME, start, name
    inside = 0
}
!inside && /^[A-Za-z_].*\(/ {
    name = $0
    if (!sub(/^TEST\(/, "", name))
        sub(/\(.*/, "", name)
    sub(/\)$/, "", name)
    sub(/.*[ *]/, "", name)
}
END { close_file() }' $files)

show() {
    echo "$1s, longest first (most $2):"
    echo "$list" | grep "^$1 " | LC_ALL=C sort -k2,2nr -k3,3 | head -10 |
        while read -r _ n place name; do printf '%7d  %s %s\n' "$n" "$place" "$name"; done
}
show file $FILE_MOST
show function $FUNCTION_MOST

echo "$list" | awk -v file=$FILE_MOST -v table=$TABLE_MOST -v func=$FUNCTION_MOST '
$1 == "file" && $2 > ($3 ~ /\.def$/ ? table : file) { printf "too long: %s has %d lines\n", $3, $2; bad = 1 }
$1 == "function" && $2 > func { printf "too long: %s %s has %d lines\n", $3, $4, $2; bad = 1 }
END { exit bad }'
