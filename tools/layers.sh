#!/bin/sh
# layers.sh -- check that #include lines follow the layers; names each that does not and exits 1.
#
#   base < ir < isa < arith < layout < op < pass < target < rt < twin < tune < api < {cli, py}
#
# A file includes its own folder and folders to its left.  Besides:
#   front   uses base, ir, op;            api uses front
#   sim     uses base, ir, isa, op/op.h;  op's .c files and everything right of op may use sim
#   cli     uses tilelang.h and base;     py uses tilelang.h, base, ir, front, api, cli
#   target/target.h, the facts of a target, is for pass and op's .c files too
#   tilelang.h is for api, cli and py
cd "$(dirname "$0")/.." || exit 2

files=$(find src -name '*.[chm]' -o -name '*.def' | LC_ALL=C sort)
awk '
BEGIN {
    n = split("base ir isa arith layout op pass target rt twin tune api", order, " ")
    for (i = 1; i <= n; i++)
        rank[order[i]] = i
    split("base ir op", front, " ")
    for (i in front)
        may["front", front[i]] = 1
    split("base ir isa", sim, " ")
    for (i in sim)
        may["sim", sim[i]] = 1
    may["cli", "base"] = may["py", "base"] = may["api", "front"] = 1
    may["py", "front"] = may["py", "api"] = may["py", "ir"] = may["py", "cli"] = 1
    known["front"] = known["sim"] = known["cli"] = known["py"] = 1
    for (f in rank)
        known[f] = 1
}

function allowed(from, to, file, path) {
    if (from == to || ((from, to) in may))
        return 1
    if (to == "sim")
        return rank[from] > rank["op"] || (from == "op" && file ~ /\.c$/)
    if ((from == "sim" && path == "op/op.h"))
        return 1
    if (path == "target/target.h" && (from == "pass" || (from == "op" && file ~ /\.c$/)))
        return 1
    return rank[from] && rank[to] && rank[to] < rank[from]
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, part, "\"")
    path = part[2]
    split(FILENAME, dir, "/")
    from = dir[2]
    to = path
    sub(/\/.*/, "", to)
    if (path == "tilelang.h")
        ok = from == "api" || from == "cli" || from == "py"
    else if (path !~ /\// || !(to in known))
        ok = 1   # beside the file, generated, or vendored
    else
        ok = allowed(from, to, FILENAME, path)
    if (!ok) {
        printf "%s:%d: %s may not include \"%s\"\n", FILENAME, FNR, from, path
        bad++
    }
}

END {
    if (bad) {
        printf "%d includes against the layers\n", bad
        exit 1
    }
}' $files
