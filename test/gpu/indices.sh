#!/bin/sh
# Usage: indices.sh TL  -- offsets of 64 bits exactly where 32 are not provably enough.
#
# A line: FUNC KNOBS… | tensors whose offsets have 64 bits | those that have 32.
tl=$1
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0
while IFS='|' read -r call wide narrow; do
    for arch in sm_80 sm_90a; do
        text=$("$tl" build test/gpu/kernel/indices.py:$call --target "cuda -arch=$arch" --source 2>&1 | grep -v "^ *//")
        bad=
        for name in $wide $narrow; do
            lines=$(echo "$text" | grep -oE "\b$name\[[^;?]*" | grep -v "^$name\[\]")
            # sm_90a may fetch a tile by its coordinates: no offset to look at
            [ -n "$lines" ] || { [ $arch = sm_80 ] && bad="$bad $name is not used;"; continue; }
            case " $wide " in
            *" $name "*) echo "$lines" | grep -q "^$name\[[^]]*int64_t" || bad="$bad $name has 32 bits;" ;;
            *) ! echo "$lines" | grep -q "^$name\[[^]]*int64_t" || bad="$bad $name has 64 bits;" ;;
            esac
        done
        if [ -z "$bad" ]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAIL $call on $arch:$bad"
        fi
    done
done <<'X'
rows | | X Y
rows M=32768 N=65536 | | X Y
rows M=32768 N=65537 | X Y |
rows M=65536 N=65536 | X Y |
part | | X Y
dynamic | X Y |
tile | C | A B
paged | X | Y
paged P=1024 | | X Y
atomics | Y | X
X
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
