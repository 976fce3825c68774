#!/bin/sh
# Texts that must not compile: each gives one line of error, the one that its first line names.
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

for compiler in gcc clang; do
    if ! command -v $compiler >/dev/null 2>&1; then
        count=$((count + 1))
        echo "ok $count - $compiler # SKIP no $compiler"
        continue
    fi
    only=
    [ $compiler = gcc ] && only=-ftrack-macro-expansion=0
    for text in "$here"/*.cell.h; do
        name=$(basename "$text" .cell.h)
        wanted=$(sed -n '1s/^\/\* error: \(.*\) \*\/$/\1/p' "$text")
        options=$(sed -n '2s/^\/\* options: \(.*\) \*\/$/\1/p' "$text")
        # shellcheck disable=SC2086
        $compiler -std=gnu17 -fsyntax-only "-I$include" "-I$here" "-DTEXT=\"$name.cell.h\"" "$@" $only $options "$here/text.c" \
            >"$work/out" 2>&1
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
