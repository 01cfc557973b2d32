#!/bin/sh
# lint.sh -- what the compiler of C does not check.
#
#   tags    each message tag in src has "## tag" in doc/errors.md and a test: a file under test/
#           whose text has "[tag]", "tag" in quotes, or "error: tag" and the like
#           (a file's own name does not count); tags about the machine, below, need none
#   strays  nothing that a program left behind is in the tree
#   lines   at most 100 columns
#   memory  malloc and free only in base, rt, tune, cli and py
#   exits   the library never ends the process
#   names   no instruction is known by its name: outside of src/isa columns of its row are asked;
#           and passes and targets ask what an operator does (TILE_ bits, columns of TileOp), never which it is
#           and no target outside of src/target: it is asked what it takes and has
#   how     a mechanism is chosen by plan_how, and what becomes of a copy said in copy_how.c
#   bits    of what a machine has mean one thing each
#   passes  each that plans or changes has a folder of goldens of its own under test/pass
#           one for what a single target has is in that target's folder
#   words   those of the field (doc/glossary.md), not our own of before; and no word of one vendor
#           in what all targets share, but in tables of the language and where it names its own
# Prints each finding and exits 1 if there was any.
cd "$(dirname "$0")/.." || exit 2
export LC_ALL=C
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# Said of the machine or of our own faults: no test can take away a driver or make a bug.
machine="cuda-failed grid-too-large internal kernel-failed no-cuda-device no-cuda-driver no-nvrtc hip-failed no-hip-compiler no-hip-device no-hip-runtime no-cross-compiler no-emulator no-wgpu no-webgpu-device webgpu-failed no-opencl-device opencl-failed no-cutedsl no-metal no-ascend"

old_words='take_turns|taking turns|(roles|warpgroups|tiles) (that )?take turns|[bB]locks (that|which) stay|grid_stays|stores_apart|start_apart'
old_words="$old_words|(^|[^a-zA-Z])([Tt]eam[s]?|TEAM)([^a-z]|$)|RINGS_|(^|[^a-zA-Z])rings?([^a-z]|$)"
old_words="$old_words|MEET_|threads_meet|(lists|touches)_meet|have_met|turn_(of|wait)|[mM]eetings?([^a-z]|$)|[Ll]ive range|dealt|fragment_turn|turned round"
old_words="$old_words|(each|every|one|first|last|next|a) turn (of|in|the)|VersionsFn|->versions|products_"
old_words="$old_words|warpgroup products?|products in flight|\"(box|slot)_|\"turn\""
vendor_words='NVIDIA|CUDA|[Cc]uda[^a-z]|sm_[0-9]|Hopper|Blackwell|[wW][gG][mM][mM][aA]|TMA|(^|_)tma|cp[._]async'
vendor_words="$vendor_words|[mM]barrier|PTX|ptx|NVRTC|[HA][12]00([^0-9]|$)|(ld|st)matrix"
of_language='T\.[a-z0-9_]+|"[a-z_]*(tma|mbarrier|ptx|wgmma|matrix)[a-z_0-9]*"|INTRIN_|CONFIG_' # names of the language

sources=$(find src -name '*.[ch]' -o -name '*.def' | grep -v '/xxhash\.h$' | sort)

# A tag is the end of a string literal, " [layout-conflict]"; whoever passes it on to diag.
for f in $sources; do
    case $f in src/base/* | src/cli/*) continue ;; esac
    grep -noE '[ "]\[[a-z][a-z0-9-]+\](\\n)?"' "$f" | sed -E "s|^([0-9]+):.\[(.*)\].*|\2 $f:\1|"
done | sort -k1,1 -k2,2V >"$work/used"
awk '!seen[$1]++' "$work/used" >"$work/first"
cut -d' ' -f1 "$work/first" >"$work/tags"

[ -f doc/errors.md ] && sed -nE 's/^## ([a-z][a-z0-9-]+)$/\1/p' doc/errors.md | sort -u >"$work/told"
[ -f "$work/told" ] || : >"$work/told"
find test -type f | xargs cat /dev/null | grep -aoE \
    -e '(error|warning): [a-z][a-z0-9-]+' -e '--warns=[a-z][a-z0-9-]+' -e '\[[a-z][a-z0-9-]+\]' \
    -e "[\"'][a-z][a-z0-9-]+[\"']" | sed -E "s/^.*[ =]//; s/^[^a-z]//; s/[^a-z0-9]\$//" | sort -u >"$work/tested"

roots='\.ci|\.clang-format|\.gitignore|CHANGELOG\.md|CONTRIBUTING\.md|LICENSE|MANIFEST\.in|Makefile|README\.md|pyproject\.toml|setup\.py'
roots="$roots|bench|device|doc|editors|examples|include|python|src|test|tools|web"

{
    git ls-files 2>/dev/null | cut -d/ -f1 | sort -u | grep -vxE "$roots" | sed 's/$/: is no part of the tree/'
    comm -23 "$work/tags" "$work/told" | while read -r tag; do
        echo "$(grep "^$tag " "$work/first" | cut -d' ' -f2): [$tag] is not in doc/errors.md"
    done
    comm -23 "$work/tags" "$work/tested" | while read -r tag; do
        case " $machine " in *" $tag "*) continue ;; esac
        echo "$(grep "^$tag " "$work/first" | cut -d' ' -f2): [$tag] has no test"
    done
    comm -13 "$work/tags" "$work/told" | while read -r tag; do
        echo "doc/errors.md: [$tag] is said nowhere in src"
    done

    for f in $sources; do
        case $f in
        src/ir/config.def | src/arith/*) ;; # aliases; rings of algebra
        *) grep -nE "$old_words" "$f" |
            sed -E "s|^([0-9]+):.*|$f:\1: a word of our own where the field has one: doc/glossary.md|" ;;
        esac
        case $f in
        *.def | src/target/*/*) ;;
        src/pass/* | src/op/* | src/ir/* | src/layout/* | src/arith/* | src/sim/* | src/rt/* | src/twin/* | src/api/* | src/tensor/* | src/lsp/* | src/target/*.[ch])
            grep -nE "$vendor_words" "$f" | grep -vE "$of_language" |
                sed -E "s|^([0-9]+):.*|$f:\1: a word of one vendor in what all targets share|" ;;
        esac
        case $f in
        src/target/*) ;;
        *) grep -nE '(cmp|strstr)\([^;]*(->|\.|[( ])target[^;]*, "[a-z]' "$f" |
            sed -E "s|^([0-9]+):.*|$f:\1: a target known by its name|" ;;
        esac
        case $f in
        src/isa/*) ;;
        *) grep -nE '(cmp|strstr)\([^;]*isa(->name|_name\()' "$f" |
            sed -E "s|^([0-9]+):.*|$f:\1: an instruction known by its name|" ;;
        esac
        case $f in
        src/target/*/op/*) ;;
        src/pass/* | src/target/* | src/api/* | src/rt/* | src/sim/*) grep -nE '(op->id|(^|[^A-Z_])OP_[a-z]|op [!=]= &op_)' "$f" |
            sed -E "s|^([0-9]+):.*|$f:\1: who asks which operator it is|" ;;
        esac
        case $f in
        src/pass/plan_how.c) ;;
        src/pass/plan_* | src/target/*/pass/plan_*) grep -nE -e '->how = ' "$f" |
            sed -E "s|^([0-9]+):.*|$f:\1: a mechanism that neither plan_how.c nor copy_how.c chose|" ;;
        esac
        case $f in
        src/base/* | src/rt/* | src/target/*/rt/* | src/tune/* | src/cli/* | src/lsp/* | src/py/*) ;;
        *) grep -nE '(^|[^A-Za-z0-9_"])(malloc|calloc|realloc|free)\(' "$f" |
            sed -E "s|^([0-9]+):.*|$f:\1: heap memory outside base, rt, tune, cli, lsp and py|" ;;
        esac
        case $f in
        src/cli/* | src/lsp/* | src/base/diag.c | src/base/proc.c) ;;
        *) grep -nE '(^|[^A-Za-z0-9_"])(exit|_exit|abort)\(' "$f" |
            sed -E "s|^([0-9]+):.*|$f:\1: the library may not end the process|" ;;
        esac
    done
} >"$work/found"

# Rows of a table are one line each.  Bytes that continue a character have no column.
echo "$sources" | grep -v '\.def$' | xargs awk '
    { gsub(/[\200-\277]/, "") }
    length($0) > 100 { print FILENAME ":" FNR ": " length($0) " columns" }' >>"$work/found"

# A bit that two mean: one machine would have what is another's.
grep -oE '1u << [0-9]+' src/ir/machine.h | sort | uniq -d | sed 's|^|src/ir/machine.h: two bits are |' >>"$work/found"
sed -n 's/^PASS(\([a-z_]*\),.*/\1/p' src/pass/pass.def | grep -v '^check_' | while read -r pass; do
    ls test/pass/"$pass"/*.tile >/dev/null 2>&1 || echo "src/pass/pass.def: $pass has no golden in test/pass/$pass"
done >>"$work/found"
# A pass for what one target alone has is that target's own.
sed -nE 's/^PASS\(([a-z_]*), (HAS_[A-Z_0-9]+),.*/\1 \2/p' src/pass/pass.def | while read -r pass bit; do
    has=$(grep -lw "$bit" src/target/*/*.c src/target/*/*.def | cut -d/ -f3 | sort -u)
    [ "$(echo "$has" | wc -l)" != 1 ] || [ -f "src/target/$has/pass/$pass.c" ] ||
        echo "src/pass/pass.def: $pass is for $bit, which target $has alone has: src/target/$has/pass"
done >>"$work/found"
cat "$work/found"
if [ -s "$work/found" ]; then
    echo "$(wc -l <"$work/found") findings"
    exit 1
fi
