#!/bin/sh
# page.sh -- a document is what it says: its files in a copy of the tree, built, its commands run.
#
# Usage: page.sh BUILD PAGE.md [OBJECT…]   the objects there are taken along, so that little is compiled
#
# Where a page adds rows to the end of tables that all include, the OBJECTs are what must know them; the others are good
# as they are, since they know the rows before.
#
#     ```c FILE      the whole file;  ```c +FILE      lines behind those it has; ```py likewise
#     ```sh          "$ command", then what it prints: … is anything
build=$(cd "$1" && pwd) || exit 2
cd "$(dirname "$0")/../.." || exit 2
page=$PWD/$2
shift 2
copy=$(mktemp -d) || exit 2
trap 'rm -rf "$copy"' EXIT
export TILELANG_CACHE_DIR="$copy/cache"
mkdir -p "$copy/build" "$copy/test" "$copy/doc"
cp -a Makefile src device include tools examples "$copy"
cp -a doc/errors.md "$copy/doc"
cp -a test/kernel "$copy/test"
cp -a "$build/src" "$build/gen" "$copy/build"
cd "$copy" || exit 2

awk '
/^```(c|py) [^ ]+$/ {
    file = $2
    more = sub(/^\+/, "", file)
    dir = file
    sub(/\/[^\/]*$/, "", dir)
    system("mkdir -p " dir)
    if (!more)
        printf "" > file
    next
}
/^```$/ { if (file != "") close(file); file = ""; next }
file != "" && more { print >> file; next }
file != "" { print > file }
' "$page"

if [ $# -gt 0 ]; then
    find build -name '*.o' -exec touch {} +
    for object; do rm -f "build/$object"; done
fi

passed=0 failed=0
sed -n '/^```sh$/,/^```$/p' "$page" | grep -v '^```' >commands
# said WANTED FILE: its last line is as wanted, … being anything; nothing is wanted of a silent one
said() {
    pattern=$(printf '%s' "$1" | sed 's/[][\.*^$/]/\\&/g; s/…/.*/g')
    [ -z "$1" ] || grep -q -- "$pattern" "$2"
}

while IFS= read -r line; do
    case $line in
    '$ '*)
        command=${line#'$ '}
        case $command in make) command="make -s -j2 build/tl" ;; esac
        sh -c "$command" >out.txt 2>&1 </dev/null
        code=$?
        wanted=$(grep -F -A1 -x -- "$line" commands | sed -n 2p)
        case $wanted in '$ '*) wanted= ;; esac
        case $wanted in *\[*-*\]) code=$((code - 1)) ;; esac
        if [ $code -eq 0 ] && said "$wanted" out.txt; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAIL $command: wanted '$wanted', got"
            tail -20 out.txt
        fi
        ;;
    esac
done <commands
echo "$passed passed, $failed failed"
[ $passed -gt 4 ] && [ $failed -eq 0 ]
