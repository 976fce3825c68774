#!/bin/sh
# Texts that must not compile: each gives one line of error. They are those of cases.txt, and files whose first line names it.
#
#   run_text_tests.sh INCLUDE OPTION...
#
# INCLUDE is the folder of the public headers, the options are those of trapeze_add_plugin() for gcc.
# clang is tried where it is found. Prints TAP; exits 1 if a case failed.
set -u
include=$1
shift
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd -P)
work=$(mktemp -d "${TMPDIR:-/tmp}/trapeze-texts.XXXXXX")
trap 'rm -rf "$work"' EXIT
count=0
failed=0
export LC_ALL=C

result() { # NAME PASSED
    count=$((count + 1))
    if [ "$2" = yes ]; then
        echo "ok $count - $1"
    else
        failed=$((failed + 1))
        echo "not ok $count - $1"
        sed 's/^/# /' "$work/out"
    fi
}

# The files and the cases, each as a text with its error in NAME.wanted and its options in NAME.options.
for text in "$here"/*.cell.h; do
    name=$(basename "$text" .cell.h)
    cp "$text" "$work"
    sed -n '1s/^\/\* error: \(.*\) \*\/$/\1/p' "$text" >"$work/$name.wanted"
    : >"$work/$name.options"
done
while read -r line && read -r wanted; do
    head=${line%%:*}
    name=${head%% *} body=${line#*:}
    printf '%s\n' "$wanted" >"$work/$name.wanted"
    printf '%s\n' "${head#"$name"}" >"$work/$name.options"
    printf '#define TZ_FIELDS(F) F(u, real)\n#define TZ_CONSTANTS(K) K(share, real)\n\nTZ_CELL(text)\n{\n    %s\n}\n' \
        "${body:-TZ_PUT(u, TZ_K(share) * TZ_AT(u, 1, 0));}" >"$work/$name.cell.h"
done <<EOF
$(grep -v '^#' "$here/cases.txt")
EOF

for compiler in gcc clang; do
    if ! command -v $compiler >/dev/null 2>&1; then
        count=$((count + 1))
        echo "ok $count - $compiler # SKIP no $compiler"
        continue
    fi
    only=
    [ $compiler = gcc ] && only=-ftrack-macro-expansion=0
    for text in "$work"/*.cell.h; do
        name=$(basename "$text" .cell.h)
        wanted=$(cat "$work/$name.wanted")
        # shellcheck disable=SC2046,SC2086
        $compiler -std=gnu17 -fsyntax-only "-I$include" "-I$work" "-DTEXT=\"$name.cell.h\"" "$@" $only $(cat "$work/$name.options") \
            "$here/text.c" >"$work/out" 2>&1
        rc=$?
        errors=$(grep -c 'error:' "$work/out")
        passed=no
        if [ "$wanted" = none ]; then
            [ $rc -eq 0 ] && [ ! -s "$work/out" ] && passed=yes
        elif [ -n "$wanted" ] && [ $rc -ne 0 ] && [ "$errors" -eq 1 ]; then
            # The line as it is, or as a regular expression.
            line=$(grep 'error:' "$work/out")
            case $line in
            *"$wanted"*) passed=yes ;;
            *) echo "$line" | grep -qE -- "$wanted" && passed=yes ;;
            esac
        fi
        result "$compiler: $name" $passed
    done
done
echo "1..$count"
[ $failed -eq 0 ]
