#!/bin/sh
# Usage: kernels.sh TL  -- every run of test/kernel lowered for GPUs, simulated after every pass, and its text run on the host.
#
# A run may say --cuda=TAG: there it is refused with that tag; --sm_80=TAG, --sm_90a=TAG: on that one.
tl=$1
cd "$(dirname "$0")/../.." || exit 2
log=$(mktemp -d) || exit 2
trap 'rm -rf "$log"' EXIT

# one ARCH FILE WORD…
one() {
    arch=$1 file=$2
    shift 2
    func= knobs= tag=
    for word in "$@"; do
        case $word in
        :*) func=$word ;;
        --cuda=*) tag=${word#*=} ;;
        --$arch=*) tag=${word#*=} ;;
        -*) ;;
        *) knobs="$knobs $word" ;;
        esac
    done
    each="--check-each --check-text"
    [ -z "$tag" ] || each=
    text=$(timeout "${TEST_SECONDS:-120}" "$tl" build "$file$func" $knobs -q --target "cuda -arch=$arch" $each --source 2>&1 >/dev/null)
    code=$?
    if [ -n "$tag" ]; then
        case $text in *"error: "*"[$tag]"*) echo ok; return ;; esac
        echo "FAIL $file$func$knobs on $arch: not refused with [$tag]: $text"
    elif [ $code = 0 ]; then
        echo ok
    else
        echo "FAIL $file$func$knobs on $arch: $text"
    fi
}

all() {
    for file in test/kernel/*.py test/gpu/kernel/cluster.py; do
        grep -qE '^# (fails|refused):' "$file" && continue
        sed -n 's/^# verify: *//p' "$file" | while read -r line; do
            set -f
            one "$1" "$file" $line
        done
    done
}

all sm_80 >"$log/a" &
all sm_90a >"$log/b"
wait
grep -hv '^ok$' "$log/a" "$log/b"
passed=$(cat "$log/a" "$log/b" | grep -c '^ok$')
failed=$(cat "$log/a" "$log/b" | grep -c '^FAIL')
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
