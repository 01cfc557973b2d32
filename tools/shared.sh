#!/bin/sh
# shared.sh -- lines of what all targets share (src without src/target, vendored files apart), by what they are for.
#
# Usage: shared.sh [COMMIT]   what there was at COMMIT, what is in the tree, the difference
#
# The first rows are capabilities that lie in files of their own; then what is left, by folder.
cd "$(dirname "$0")/.." || exit 2
since=${1:-HEAD}

# name lines, one file a line
then_lines() {
    git archive "$since" src | tar -x --to-command='echo "$TAR_FILENAME $(wc -l)"' 2>/dev/null
}
now_lines() {
    find src -type f -exec wc -l {} + | awk '$2 != "total" { print $2, $1 }'
}

{ then_lines | sed 's/^/then /'; now_lines | sed 's/^/now /'; } | awk '
BEGIN {
    n = split("tensor programs|language server|proofs|profile|bundles|tuning and warming|text on the host", row, "|")
}

function what(f) {
    if (f ~ /^src\/tensor\// || f ~ /^src\/front\/.*tensor(_program|_value|_shape|\.def|\.h|\.c)/ || f ~ /src\/py\/tensor/) return row[1]
    if (f ~ /^src\/lsp\// || f ~ /^src\/cli\/lsp/) return row[2]
    if (f ~ /^src\/pass\/proofs/ || f ~ /^src\/cli\/(prove|page)\.c/ || f ~ /^src\/arith\/z3/) return row[3]
    if (f ~ /^src\/(api|cli)\/(profile|ncu)\.c/ || f ~ /^src\/sim\/timing\.c/) return row[4]
    if (f ~ /^src\/(api|cli)\/bundle/) return row[5]
    if (f ~ /^src\/cli\/(tune|tuned|warm)\.c/) return row[6]
    if (f ~ /^src\/twin\// || f ~ /^src\/api\/twin\.c/) return row[7]
    split(f, part, "/")
    if (!(part[2] in seen)) {
        seen[part[2]] = 1
        row[++n] = part[2]
    }
    return part[2]
}

$2 !~ /^src\/target\// && $2 !~ /xxhash\.h$/ { lines[$1, what($2)] += $3; sum[$1] += $3 }

END {
    for (i = 1; i <= n; i++)
        printf "%-20s %7d %7d %+7d\n", row[i], lines["then", row[i]], lines["now", row[i]],
            lines["now", row[i]] - lines["then", row[i]]
    printf "%-20s %7d %7d %+7d\n", "all", sum["then"], sum["now"], sum["now"] - sum["then"]
}'
