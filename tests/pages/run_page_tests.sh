#!/bin/sh
# The plugins that docs/plugins.md shows are built, loaded and held against the contract, and its scenario runs.
#
#   run_page_tests.sh BUILD_FOLDER
#
# Prints TAP; exits 1 if a case failed.
set -u
root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd -P)
build=$(CDPATH= cd -- "$1" && pwd -P)
page=$root/docs/plugins.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
count=0 failed=0
result() { # result NAME CODE
    count=$((count + 1))
    if [ "$2" -eq 0 ]; then
        echo "ok $count - $1"
    else
        failed=1
        echo "not ok $count - $1"
        sed 's/^/# /' log
    fi
}

# A block of code after a line **`FILE`** is that file.
awk '
/^\*\*`[a-zA-Z_.]+`\*\*$/ { file = $0; gsub(/[*`]/, "", file) }
/^```/ { if (inside) { inside = 0; close(file); file = "" } else inside = 1; next }
inside && file != "" { print >file }' "$page"
[ "$(ls | wc -l)" -eq 6 ] >log 2>&1
result 'the page has six files' $?

cmake -S . -B out -DTrapeze_DIR="$build" -DCMAKE_BUILD_TYPE=Debug >log 2>&1 && cmake --build out >>log 2>&1 && ! grep -q warning: log
result 'they build without a warning' $?
contract=$build/bin/trapeze-contract
[ -x "$contract" ] || contract=$build/test-bin/contract
for name in heat maxwell; do
    TZ_CONTRACT=smoke "$contract" "out/$name.so" >log 2>&1
    result "$name passes the contract" $?
done

# The first indented block is a scenario.
awk '/^    local tz/ { on = 1 } on && !/^    / { exit } on { print substr($0, 5) }' "$page" >five.lua
TRAPEZE_CACHE=$work/cache "$build/bin/trapeze" run five.lua --out run >log 2>&1
result 'the five lines of Lua run' $?
[ "$(wc -l <five.lua)" -eq 5 ] && [ -s run/t-001000.png ] >log 2>&1
result 'they are five, and draw' $?
echo "1..$count"
[ "$failed" -eq 0 ]
