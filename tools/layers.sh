#!/bin/sh
# layers.sh -- check that #include lines and symbols follow the layers; names each that does not, exits 1.
#
#   base < ir < isa < arith < layout < sim < op < pass < target < rt < twin < tune < api
#
# A folder uses those to its left.  Beside the row:
#   tensor uses base and ir;            used by front, api and py
#   front  uses what is left of pass;   used by api and py
#   lsp    uses all of the row and front; used by cli
#   cli    uses tilelang.h, base and lsp; used by py, which runs it
#   py     uses tilelang.h, base, ir, front, target, api, cli
# A target is a folder.  src/target/NAME/LAYER is of that layer: its driver and compiler (rt), its assembly on the host
# (twin), what its instructions mean (sim), operators (op), passes (pass) and names of the language (front) of its own.  What all share uses nothing
# of a target's folder but the records and functions that *.def tables list; a table may include a target's part of it.
# The same holds of symbols, over the objects in BUILD: what a folder calls is defined to its left.  The public
# functions, tl_*, are for cli and py wherever they are defined.
#
# Usage: layers.sh [BUILD]   (build)
cd "$(dirname "$0")/.." || exit 2
build=${1:-build}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

find src -name '*.[chm]' -o -name '*.def' | LC_ALL=C sort >"$work/files"
# name defined|used folder file, one symbol a line; objects of files that are gone do not count
objects=$(sed -n "s|\(.*\)\.c$|$build/\1.o|p" "$work/files" | while read -r f; do [ -f "$f" ] && echo "$f"; done)
[ -z "$objects" ] || nm -gPA $objects | sed "s|^$build/\(.*\)\.o: \([^ ]*\) \(.\).*|\2 \3 \1|" >"$work/symbols"
[ -s "$work/symbols" ] || { echo "layers.sh: no objects in $build: make first" >&2; exit 2; }

awk '
BEGIN {
    n = split("base ir isa arith layout sim op pass target rt twin tune api", order, " ")
    for (i = 1; i <= n; i++)
        for (j = 1; j <= i; j++)
            may[order[i], order[j]] = 1
    for (j = 1; order[j] != "pass"; j++)
        may["front", order[j]] = 1
    for (j = 1; j <= n; j++)
        may["lsp", order[j]] = 1
    may["api", "front"] = may["lsp", "front"] = may["cli", "base"] = may["cli", "lsp"] = 1
    may["tensor", "base"] = may["tensor", "ir"] = may["tensor", "tensor"] = may["front", "tensor"] = 1
    may["api", "tensor"] = may["py", "tensor"] = 1
    may["py", "base"] = may["py", "ir"] = may["py", "front"] = may["py", "api"] = may["py", "target"] = may["py", "cli"] = 1
    for (p in may) {
        split(p, side, SUBSEP)
        known[side[1]] = 1
    }
}

function folder(path, part) {
    split(path, part, "/")
    return part[2] == "target" && part[4] ~ /^(sim|op|pass|front|rt|twin)$/ ? part[4] : part[2]
}

# The target whose folder it lies in; "": all share it.
function owner(path, part) {
    return split(path, part, "/") > 3 && part[2] == "target" ? part[3] : ""
}

# Records of tables: target_NAME, runtime_NAME, assembly_NAME; and what a row names, a handler of a builtin as do_NAME, an operator as op_NAME,
# a pass as pass_NAME.
function is_record(name, target) {
    sub(/^(do|op|pass)_/, "", name)
    return name == "target_" target || name == "runtime_" target || name in row
}

function refuse(what) {
    print what
    bad++
}

FILENAME == ARGV[1] {
    if ($2 != "U" && $2 != "w")
        home[$1] = $3
    else
        use[++nuse] = $1 " " $3
    next
}

FILENAME ~ /\.def$/ {
    gsub(/"[^"]*"/, "")
    n = split($0, word, /[^A-Za-z0-9_]+/)
    for (i = 1; i <= n; i++)
        row[word[i]] = 1
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, part, "\"")
    path = part[2]
    from = folder(FILENAME)
    to = folder("src/" path)
    if (path == "tilelang.h")
        ok = from == "api" || from == "cli" || from == "py"
    else
        ok = path !~ /\// || !(to in known) || from == to || (from, to) in may # or generated, or vendored
    if (owner(FILENAME) == "" && owner("src/" path) != "" && !(FILENAME ~ /\.def$/ && path ~ /\.def$/))
        refuse(FILENAME ":" FNR ": what all share may not include \"" path "\"")
    if (!ok)
        refuse(FILENAME ":" FNR ": " from " may not include \"" path "\"")
}

END {
    for (i = 1; i <= nuse; i++) {
        split(use[i], u, " ")
        if (!(u[1] in home))
            continue
        from = folder(u[2])
        to = folder(home[u[1]])
        if (from != to && !((from, to) in may) && !(u[1] ~ /^tl_/ && (from == "cli" || from == "py")))
            refuse(u[2] ".c: " from " may not use " u[1] " of " home[u[1]] ".c")
        target = owner(home[u[1]])
        if (owner(u[2]) == "" && target != "" && !is_record(u[1], target))
            refuse(u[2] ".c: what all share may not use " u[1] " of " home[u[1]] ".c")
    }
    if (bad)
        exit 1
}' "$work/symbols" $(cat "$work/files")
