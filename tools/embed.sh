#!/bin/sh
# Usage: embed.sh FILE...  -- C text on stdout: one zero-terminated byte array per file, named after it.
for f in "$@"; do
    name=$(printf '%s' "$f" | sed 's/[^A-Za-z0-9]/_/g')
    echo "static const unsigned char $name[] = {"
    od -An -v -tu1 "$f" | sed 's/  */,/g; s/^,//; s/$/,/'
    echo "0};"
done
