#!/bin/sh
# Usage: docs.sh TL [--check]  -- make doc/passes.md, doc/walk.md and doc/walk-cuda.md; --check: say if they are stale.
set -e
cd "$(dirname "$0")/.."
tl=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

passes() {
    cat <<'X'
# Passes

Made by `tools/docs.sh` from `src/pass/pass.def` and the head of each pass. The order is the order. A row
with a feature runs only for targets that have it.

| # | pass | when | gives | what it does | why it stands there |
|---|---|---|---|---|---|
X
    awk '/^PASS\(/ {row = $0; getline; print row $0}' src/pass/pass.def |
        sed 's/^PASS(\([a-z_]*\), \(.*\), "\([^"]*\)", *"\([^"]*\)")$/\1\t\2\t\3\t\4/' | awk -F'\t' '{
        split($2, f, ", ")
        when = f[1] == "0" ? "" : f[1]; gives = f[3] == "0" ? "" : f[3]; gsub(/FORM_/, "", gives)
        printf "| %d | `%s` | %s | %s | %s | %s |\n", NR, $1, when, gives, $3, $4 }'
    sed -n 's/^PASS(\([a-z_]*\),.*/\1/p' src/pass/pass.def | while read -r p; do
        file=$(ls "src/pass/$p.c" src/target/*/pass/"$p.c" 2>/dev/null) || [ -n "$file" ] || continue
        printf '\n## %s\n\n' "$p"
        awk 'NR == 1 {sub(/^\/\* [a-z_]*\.c -- /, "")} {done = sub(/ *\*\/$/, ""); sub(/^ \* ?/, ""); print}
             done {exit}' "$file" | awk 'NR == 1 {print toupper(substr($0, 1, 1)) substr($0, 2); next} {print "    " $0}' |
            sed 's/ *$//'
    done
}

walk() { # TITLE FILE TARGET LANGUAGE ITS-FENCE FIRST-LINE-OF-KERNEL
    cat <<X
# $1

Made by \`tools/docs.sh\` from \`$2\`. Each section shows the kernel after a pass that changed it;
the plans that the \`plan_\` passes filled stand at the end.

\`\`\`python
X
    cat "$2"
    printf '```\n\nBefore the first pass:\n\n```\n'
    "$tl" dump "$2" | sed '/^ *origin /d; s/ @[0-9:-]*$//'
    echo '```'
    "$tl" build "$2" --target "$3" --dump=all 2>/dev/null | sed '/^ *origin /d; s/ @[0-9:-]*$//' | awk '
        /^# after / {if (open) print "```"; open = 0; show = 1
                     if (/\(unchanged\)/) {printf "\n`%s` changes no statement here.\n", $3; show = 0}
                     else printf "\n## %s\n", $3; next}
        show {if (!open) {print "\n```"; open = 1} print}
        END {if (open) print "```"}'
    printf '\n## The plans\n\n```\n'
    "$tl" build "$2" --target "$3" --plans 2>/dev/null
    printf '```\n\n## The %s that comes out\n\n```%s\n' "$4" "$5"
    "$tl" dump "$2" --target "$3" --source 2>/dev/null | sed -n "/$6/,/^}/p"
    echo '```'
}

passes >"$dir/passes.md"
walk "A small product, pass by pass" doc/walk.py cpu C c '^static void main_kernel(' >"$dir/walk.md"
walk "A small product on a GPU, pass by pass" doc/walk_cuda.py "cuda -arch=sm_90a" "CUDA C" cuda \
    '^extern "C" __global__' >"$dir/walk-cuda.md"
if [ "$2" = --check ]; then
    for page in passes walk walk-cuda; do
        cmp -s "$dir/$page.md" "doc/$page.md" && continue
        echo "doc/$page.md is stale: run 'make docs'"
        exit 1
    done
    exit 0
fi
cp "$dir/passes.md" "$dir/walk.md" "$dir/walk-cuda.md" doc/
