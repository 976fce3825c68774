#!/bin/sh
# The blocks and commands of the README do what is printed, and the gallery is complete. run_readme_tests.sh TRAPEZE
# Every indented block of the README must have a case here: it runs, or the case says why not, and what tests it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"
source=$here/../..
export TRAPEZE_DEVICES="$work/devices"

# The files block-1, block-2, …: the indented blocks of the README. A blank line within a block belongs to it.
awk '
/^    / { if (!on) { on = 1; name = "block-" ++n } while (blank) { print "" >name; blank-- } print substr($0, 5) >name; next }
/^$/ && on { blank++; next }
{ on = 0; blank = 0 }' "$source/README.md"
blocks=$(ls block-* | wc -l)
block() { grep -lF -- "$1" block-* | head -n 1; } # block TEXT: the file of the block that has this text
is_film() { grep -q acTL "$1"; }
compiler=no
cc --version >/dev/null 2>&1 && compiler=yes

# ---- The scenarios -------------------------------------------------------------------------------
cp "$(block 'plugin = "hotspot"')" chip.lua
t run chip.lua --backend cpu
check 'the scenario' is $rc 0
check 'its frames' is "$(ls runs/chip-001/temperature-*.png | wc -l)" 21
check 'its film' is_film runs/chip-001/film.png
check 'its arrays' is "$(ls runs/chip-001/*.npy | wc -l)" 3
check 'its table' is "$(wc -l <runs/chip-001/table.csv)" 202

cp "$(block 'tz.stencil')" own.lua
check 'a stencil of five lines' is "$(wc -l <own.lua)" 5
if [ $compiler = yes ]; then
    # The lines of the block, one after the other, as a reader would.
    while read -r program arguments; do
        check 'a command of Trapeze' is "$program" trapeze
        # shellcheck disable=SC2086 # a list of arguments
        t $arguments
        check "trapeze $arguments" is $rc 0
    done <"$(block 'trapeze run own.lua')"
    check 'its film' is_film runs/own-001/t.png
    check 'its page has the film' grep -q 'data:image/png' runs/own-001/report.html
else
    skip 'a stencil in a scenario' 'no C compiler'
fi

# The array of coefficients in the text.
{
    echo 'local tz = require "trapeze"'
    printf 'local blur = %s\n' "$(grep -o 'tz\.stencil { coefficients = [^`]*' "$source/README.md")"
    echo 'local sim = tz.simulation { plugin = blur, grid = { 16, 16 }, fields = { u = function(x) return x end } }'
    echo 'sim:run(1)'
    echo 'tz.expect(sim:get("u", 8, 8) == 8 and sim:get("u", 0, 0) == 0.25)'
} >blur.lua
if [ $compiler = yes ]; then
    t run blur.lua --backend cpu
    check 'the coefficients of a blur' is $rc 0
else
    skip 'the coefficients of a blur' 'no C compiler'
fi

# ---- Commands ------------------------------------------------------------------------------------
# Those of the block about predictions; calibrate and tune take long, and have tests of their own.
cp "$source/scripts/hotspot.lua" "$source/scripts/chip.flp" "$source/scripts/chip.ptrace" .
t run hotspot.lua --backend cpu --quiet
check 'the scenario of the demo' is $rc 0
sed 's/  *#.*//' "$(block 'trapeze calibrate')" >commands
while read -r program command arguments; do
    check 'a command of Trapeze' is "$program" trapeze
    case "$command $arguments" in
    'calibrate ') cp "$source/tests/predict/cpu.txt" . ;; # a record in place of this machine's
    'tune star2d1r --grid 4096,4096') ;;
    predict*--device*) further='--model meng2011' ;; # the model roofs would compile kernels, 15 s
    predict*) further='--device ./cpu.txt' ;;
    explain*) further= ;;
    *) check "no case for: trapeze $command $arguments" false ;;
    esac
    case $command in calibrate | tune) continue ;; esac
    # shellcheck disable=SC2086 # lists of arguments
    t "$command" $arguments $further
    check "trapeze $command $arguments $further" is $rc 0
done <commands

# A command that the text names is one, and so are its options.
"$bin" --help >help
grep -o '`trapeze [^`]*`' "$source/README.md" | tr -d '`' | sort -u >named
while read -r _ command arguments; do
    check "trapeze $command is a command" grep -q "^  $command " help
    "$bin" "$command" --help >options
    for word in $arguments; do
        case $word in
        --*) check "trapeze $command $word is an option" grep -qE -- "(^|[ ,])${word}([ ,=[]|\$)" options ;;
        esac
    done
done <named
check 'the text names commands' [ "$(wc -l <named)" -gt 9 ]

# ---- Blocks that other tests run, or none ----------------------------------------------------------
check 'the cell update is that of docs/plugins.md' sh -c '
    awk -v first="$(head -n 1 "$1")" "\$0 == first && !done { on = done = 1 } /^\`\`\`/ { on = 0 } on" "$2" | diff - "$1" >/dev/null' \
    sh "$(block 'TZ_CELL(heat)')" "$source/docs/plugins.md" # run_page_tests.sh builds it
check 'Python reads a run' [ -n "$(block 'import csv')" ] # run_python_tests.sh runs it
check 'Python drives a simulation' [ -n "$(block 'import trapeze')" ] # python/tests/test_library.py runs it
setup=$(block 'scripts/demo.sh') # installs packages, and builds
check 'the set-up has two lines' is "$(wc -l <"$setup")" 2
check 'the demo is there' [ -f "$source/scripts/demo.sh" ]
cases='plugin = "hotspot"
tz.stencil
trapeze run own.lua
trapeze calibrate
TZ_CELL(heat)
import trapeze
import csv
scripts/demo.sh'
echo "$cases" | while IFS= read -r text; do block "$text"; done | sort -u >covered
check 'each block of the README has a case' is "$(wc -l <covered)" "$blocks"
check 'each case has its block' is "$blocks" "$(echo "$cases" | wc -l)"

# ---- The gallery ---------------------------------------------------------------------------------
# paraview draws nothing, and flow is for its numbers; a sweep has a page of its own.
t examples
names=$(sed -n 's/^\([a-z_0-9/]*\)  *[A-Z].*/\1/p' out)
check 'there are examples' [ "$(echo "$names" | wc -l)" -ge 20 ]
for name in $names; do
    case $name in
    paraview | flow | sweep) ;;
    *) check "the gallery has $name" grep -q "/$name.lua\$" "$source/docs/gallery.md" ;;
    esac
done
for picture in "$source"/docs/pictures/*; do
    check "the gallery shows ${picture##*/}" grep -qF "](pictures/${picture##*/})" "$source/docs/gallery.md"
done
check 'pictures are small' [ "$(cat "$source"/docs/pictures/* | wc -c)" -le 2000000 ]
check 'the film is small' [ "$(wc -c <"$source/docs/pictures/lbm.png")" -le 500000 ]

finish
