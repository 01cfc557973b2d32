#!/bin/sh
# compare.sh -- two results of `make bench CSV=name`, case by case.
#
# Usage: compare.sh BEFORE.csv AFTER.csv [PERCENT]    exits 1 if a case got slower by more (10)
awk -F, -v percent="${3:-10}" '
    /^#/ || $1 == "family" { next }
    { key = $1 " " $2 " " $3 " " $4 "t" }
    FILENAME == ARGV[1] { before[key] = $7; next }
    $5 != 1 { print key ": fails now"; bad++; next }
    before[key] > 0 && $7 > 0 {
        ratio = before[key] / $7
        slow = $7 > before[key] * (1 + percent / 100)
        printf "%-38s %9.4g ms -> %9.4g ms  %5.2fx%s\n", key, before[key], $7, ratio,
               slow ? "  slower" : ""
        sum += log(ratio); n++; bad += slow
    }
    END {
        if (!n) { print "no case is in both"; exit 2 }
        printf "mean %.3fx of %d cases, %d slower\n", exp(sum / n), n, bad
        exit bad > 0
    }' "$1" "$2"
