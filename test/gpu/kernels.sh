#!/bin/sh
# Usage: kernels.sh TL  -- every run of test/kernel lowered for GPUs, simulated after every pass, and its text run on the host;
#        kernels.sh TL made-up  -- lowered for the machine of src/target/template, like no other, and simulated as it is at the end;
#        kernels.sh TL gfx90a|gfx942|gfx950  -- the same for AMD's, and their text run on the host
#        kernels.sh TL sm_70 [FILE…]  -- as the first, for that one
#        kernels.sh TL TARGET [FILE…]  -- for another target by its name, in the simulator and its text run by its runtime; what it
#                       says that it has no words for is refused
#        kernels.sh TL without PASSES  -- the first, with these opt_ passes left out
#
# A run may say --cuda=TAG: on NVIDIA's GPUs and the made-up one it is refused with that tag; --hip=TAG on AMD's; --sm_80=TAG, --template=TAG, --gfx90a=TAG, ...: on that one.
tl=$1 skip=
[ "${2:-}" = without ] && skip=--skip=$3
cd "$(dirname "$0")/../.." || exit 2
log=$(mktemp -d) || exit 2
trap 'rm -rf "$log"' EXIT

# Volta has no barriers in memory, no wgmma, and 96 KiB of shared memory in a block.
is_of_later() {
    case $1 in
    sm_70*"error: "*"need"*" sm_"[89]*"[unsupported-here]"* | sm_70*"error: "*"[on-chip-bytes]"*) return 0 ;;
    sm_* | gfx* | template*) return 1 ;;
    *"error: "*"[unsupported-here]"* | *"error: "*"[barrier-numbers]"* | *"error: "*"[on-chip-bytes]"*) return 0 ;;
    esac
    return 1
}

# one ARCH FILE WORD…
one() {
    arch=$1 file=$2
    shift 2
    func= knobs= tag= sim= text=
    case $arch in
    template) target="sim template" family=cuda sim=yes ;;
    gfx*) target="hip -mcpu=$arch" family=hip sim=yes text=--text ;;
    sm_*) target="cuda -arch=$arch" family=cuda ;;
    *) target=$arch family=cuda sim=yes ;; # as the made-up one
    esac
    like=$arch
    [ "$arch" = sm_70 ] && like=sm_80 # what that one lacks it lacks too
    for word in "$@"; do
        case $word in
        :*) func=$word ;;
        --$family=* | --$arch=* | --$like=*) tag=${word#*=} ;;
        -*) ;;
        *) knobs="$knobs $word" ;;
        esac
    done
    if [ -n "$sim" ]; then
        set -- verify "$file$func" $knobs -q --sim $text --target "$target"
    elif [ -n "$tag" ]; then
        set -- build "$file$func" $knobs -q --target "$target" --source
    else
        set -- build "$file$func" $knobs -q --target "$target" --check-each --check-text $skip --source
    fi
    text=$(timeout "${TEST_SECONDS:-120}" "$tl" "$@" 2>&1 >/dev/null)
    code=$?
    case $arch$code in
    sm_* | gfx* | template*) ;;
    *0) text=$(timeout "${TEST_SECONDS:-120}" "$tl" verify "$file$func" $knobs -q --target "$target" 2>&1 >/dev/null) || code=$? ;;
    esac
    if [ -n "$tag" ]; then
        case $text in *"error: "*"[$tag]"*) echo ok; return ;; esac
        is_of_later "$arch$text" && echo refused && return
        echo "FAIL $file$func$knobs on $arch: not refused with [$tag]: $text"
    elif [ $code = 0 ]; then
        echo ok
    elif is_of_later "$arch$text"; then
        echo refused
    else
        echo "FAIL $file$func$knobs on $arch: $text"
    fi
}

# all ARCH FILE…
all() {
    arch=$1
    shift
    for file in "$@"; do
        grep -qE '^# (fails|refused):' "$file" && continue
        sed -n 's/^# verify: *//p' "$file" | while read -r line; do
            set -f
            one "$arch" "$file" $line
        done
    done
}

if [ "${2:-}" = made-up ]; then
    set -- "$1" template
fi
case ${2:-} in
template | gfx*)
    all $2 test/kernel/[a-m]*.py >"$log/a" &
    all $2 test/kernel/[n-z]*.py >"$log/b"
    ;;
without | "")
    all sm_80 test/kernel/*.py test/gpu/kernel/cluster.py test/gpu/kernel/descriptor.py test/gpu/kernel/lanes.py test/gpu/kernel/peer.py >"$log/a" &
    all sm_90a test/kernel/*.py test/gpu/kernel/cluster.py test/gpu/kernel/descriptor.py test/gpu/kernel/lanes.py test/gpu/kernel/peer.py >"$log/b"
    ;;
*)
    [ $# -gt 2 ] || set -- "$1" "$2" test/kernel/*.py
    which=$2
    shift 2
    half=$((($# + 1) / 2)) first=
    while [ "$half" -gt 0 ]; do
        first="$first $1" half=$((half - 1))
        shift
    done
    all "$which" $first >"$log/a" &
    all "$which" "$@" >"$log/b"
    ;;
esac
wait
grep -hEv '^(ok|refused)$' "$log/a" "$log/b"
refused=$(cat "$log/a" "$log/b" | grep -c '^refused$')
[ "$refused" = 0 ] || echo "$refused are refused, as they must be"
passed=$(cat "$log/a" "$log/b" | grep -c '^ok$')
failed=$(cat "$log/a" "$log/b" | grep -c '^FAIL')
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
