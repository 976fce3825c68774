#!/bin/sh
# The scenarios of the README run as they are printed, and the gallery is complete. run_readme_tests.sh TRAPEZE SOURCE
#
# Prints TAP; exits 1 if a case failed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"
cd "$work" || exit 1
source=$2
export TRAPEZE_CACHE="$work/cache" HOME="$work"

# block TEXT: the indented block of the README that begins with this text
block() {
    awk -v first="    $1" 'index($0, first) == 1 {on = 1} on && !/^    / {exit} on {print substr($0, 5)}' "$source/README.md"
}
is_film() { grep -q acTL "$1"; }

block 'local tz = require "trapeze"' >chip.lua
t run chip.lua --backend cpu
check 'the scenario' is $rc 0
check 'its frames' is "$(ls runs/chip-001/temperature-*.png | wc -l)" 21
check 'its film' is_film runs/chip-001/film.png
check 'its table' is "$(wc -l <runs/chip-001/table.csv)" 202

{ echo 'local tz = require "trapeze"'; block 'local heat = tz.stencil'; } >own.lua
if cc --version >/dev/null 2>&1; then
    t run own.lua --backend cpu
    check 'a stencil in a scenario' is $rc 0
    check 'its film' is_film runs/own-001/t.png
else
    skip 'a stencil in a scenario' 'no C compiler'
fi

# paraview draws nothing; a sweep has a page of its own.
t examples
for name in $(sed -n 's/^\([a-z_0-9/]*\)  *[A-Z].*/\1/p' out); do
    case $name in
    paraview | sweep) ;;
    *) check "the gallery has $name" grep -q "/$name.lua\$" "$source/docs/gallery.md" ;;
    esac
done

finish
