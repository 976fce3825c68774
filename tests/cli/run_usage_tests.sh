#!/bin/sh
# Tests of the command line: help, wrong use, the manual, plugins and doctor: run_usage_tests.sh TRAPEZE [BADPLUGINS_DIR]
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/command_support.sh"

# ---- help, version, wrong use ------------------------------------------------------------------
t --version
expect "version" rc 0 says "trapeze "
t
expect "no command" rc 2 errs "usage: trapeze" lines_err 5 errs "trapeze examples grayscott"
t --help
expect "trapeze --help" rc 0 says "usage: trapeze" lines_err 0
for command in $(sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p' out); do
    t "$command" --help
    expect "trapeze $command --help" rc 0 says "usage: trapeze $command" lines_err 0
    check "trapeze $command --help: two examples" is "$(sed '1,/^Examples:/d' out | grep -c "^  trapeze $command")" 2
done
t help run
check "help run" says "usage: trapeze run"
refused "unknown command" 2 "unknown command 'rnu'; did you mean 'run'?" rnu
refused "unknown global option" 2 "unknown option '--verison'" --verison
refused "unknown option" 2 "unknown option --hieght; did you mean --height?" run a.lua --hieght 3
refused "unknown letter" 2 "unknown option -z" run a.lua -z
refused "option without value" 2 "--out needs a value" run a.lua --out
refused "option with too much" 2 "option --check takes no value" run a.lua --check=1
refused "no script" 2 "run: needs a script" run
refused "two scripts" 2 "takes one script" run a.lua b.lua
refused "bad height" 2 "'height' must be an integer, \"auto\" or a policy, not 'x'; known: auto, predicted" run a.lua --height x
refused "zero height" 2 "needs an integer from 1" run a.lua --height 0
refused "unknown family" 2 "--family: unknown family 'strem'; did you mean 'stream'?" run a.lua --family strem
for command in run tune; do
    t $command --help
    check "help $command lists the families" says "stream, direct, resident, tile, whole, block, diamond, reference"
done
refused "bad threads" 2 "--threads needs an integer" run a.lua --threads -1
refused "too many threads" 2 "--threads needs an integer from 1 to 1024, not '1025'" run a.lua --threads 1025
refused "bad backend" 2 "did you mean 'cpu'?" run a.lua --backend cqu
refused "bad set" 2 "--set needs NAME=VALUE, not 'x'" run a.lua --set x
refused "missing script" 1 "nosuch.lua: " run nosuch.lua
refused "plugins: unknown option" 2 "did you mean --json?" plugins --jsno
refused "plugins: unknown name" 1 "did you mean 'hotspot'?" plugins hotspt
refused "doctor: an argument" 2 "takes no argument" doctor x
refused "info: nothing" 2 "needs a frame, an array or the folder of a run or sweep" info
refused "info: no such file" 1 "there is no such file" info nosuch.png

# ---- manual --------------------------------------------------------------------------------------
t manual
check "manual" is $rc 0
check "manual: every function has its section" [ "$(grep -c '^### ' out)" -gt 40 ]
if grep -q "for the papers' models" out; then
    check "manual: docs/scenario.md is its output (trapeze manual >docs/scenario.md)" cmp -s out "$here/../../docs/scenario.md"
else
    skip "manual: docs/scenario.md" "the page is that of a program with the papers' models"
fi
t manual tz.floorplan
check "manual tz.floorplan: one section" [ "$(grep -c '^#' out)" = 1 ]
check "manual tz.floorplan: the row is the mean without one" says "- \`row\` (integer, from 1; default the mean of all rows): the row"
refused "manual: no such function" 1 "no function 'tz.florplan'; did you mean 'tz.floorplan'?" manual tz.florplan
refused "manual: no such function, by its meaning" 1 "no function 'gif'; did you mean 'tz.movie'?" manual gif
t manual mean
check "manual mean: what ends so" says '### `sim:mean('
refused "manual: two functions" 2 "takes the name of one function" manual tz.png sim:run
t manual --man
check "manual --man" is $rc 0
check "manual --man: every command" [ "$(grep -c '^\.SS trapeze ' out)" = "$("$bin" --help | grep -c '^  [a-z]')" ]
check "manual --man: options" grep -q '\\-\\-walltime TIME' out
for shell in bash zsh fish; do
    t manual --completion $shell
    check "manual --completion $shell" is $rc 0
    check "manual --completion $shell: asks for words" grep -q 'trapeze manual --words' out
done
refused "manual: an unknown shell" 2 "not bash, zsh or fish" manual --completion tcsh
refused "manual: two forms" 2 "exclude each other" manual --man --completion bash
if command -v bash >/dev/null; then
    t manual --completion bash
    completes() { bash -c '. ./out; COMP_WORDS=('"$1"'); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        PATH='"$(dirname "$bin")"':$PATH; _trapeze; echo "${COMPREPLY[*]}"'; }
    check "completion: a stencil" is "$(completes 'trapeze predict hotspot3')" hotspot3d
    check "completion: an example" is "$(completes 'trapeze examples pill')" pillars
    check "completion: a device" is "$(completes 'trapeze predict hotspot --device h2')" h200
    check "completion: a value" is "$(completes 'trapeze run x.lua --backend re')" reference
    check "completion: a function" is "$(completes 'trapeze manual tz.mov')" tz.movie
    check "completion: a command" is "$(completes 'trapeze doc')" doctor
    check "completion: options of a command" is "$(completes 'trapeze run --wallt')" --walltime
    check "completion: a file" is "$(touch a_scenario.lua; completes 'trapeze run a_scen')" a_scenario.lua
fi

# ---- plugins, doctor ---------------------------------------------------------------------------
t plugins
expect "plugins" rc 0 says hotspot says temperature says ambient_k says "2-D, radius 1" says "default 318.15" says "W/(m K)"
t plugins hotspot
check "plugins NAME" is $rc 0
check "plugins NAME: that one only" sh -c '! grep -q pathfinder out'
t plugins --json
check "plugins --json" says '"ambient_k"'
t plugins hotspot --csv
check "plugins --csv: a stencil a row" is "$(cut -d, -f1-2 out | tr '\n' ' ')" "plugin,id hotspot,hotspot "
# formed FORM: out is a list or an object in JSON; or CSV whose rows have as many cells as names, and some rows.
formed() {
    python3 -c 'import csv, json, sys
if sys.argv[1] == "json": assert json.load(open("out"))
else: rows = list(csv.reader(open("out"))); assert len(rows) > 1 and {len(row) for row in rows} == {len(rows[0])}' "$1"
}
for command in plugins 'plugins hotspot' examples doctor 'doctor -v'; do
    command -v python3 >/dev/null || break
    for form in csv json; do
        # shellcheck disable=SC2086
        t $command --$form
        check "$command --$form" formed $form
    done
done
t doctor --csv
check "doctor --csv: facts" is "$(sed 1q out; grep -c '^,backends,"\?cpu' out)" "part,name,text
1"
refused "doctor: two forms" 2 "--json or --csv, not both" doctor --json --csv
refused "examples: a form with a name" 2 "for the list of examples" examples life --csv
t doctor
expect "doctor" rc 0 says "cpu (" says "auto takes " says "  records   CPU: " says "  stencils  3" says "trapeze 0"
check "doctor: a few lines" [ "$(wc -l <out)" -le 8 ]
PATH="$work/nowhere" t doctor
expect "doctor" says "optional  missing: movies as .mp4 and .webm, plots" says "(apt-get install ffmpeg gnuplot-nox" rc 0
mkdir -p unwritable && chmod 555 unwritable
if [ "$(id -u)" -ne 0 ]; then
    (cd unwritable && "$bin" doctor >../out 2>../err)
    check "doctor: a folder that cannot be written" says "1 problem: see above"
else
    skip "doctor: a folder that cannot be written" "this user may write everywhere"
fi
t doctor -v
expect "doctor -v" rc 0 says "machine" says "row functions" says "Lua 5.4" says "libpng" says "jansson" says "threads: " \
    says "CUDA driver: " says "stencil"
if grep -q "no NVIDIA driver" out; then
    check "doctor names the missing library once" sh -c '[ "$(grep -o libcuda.so.1 out | wc -l)" -eq 1 ]'
else
    skip "doctor names the missing library once" "there is a driver and a GPU"
fi
if [ -n "$bad" ]; then
    t plugins --plugins "$bad"
    expect "bad plugins do not stop the list" rc 0 says "refused: $bad"
    t doctor --plugins "$bad" --verbose
    check "doctor counts bad plugins" says "refused"
    t doctor --plugins "$bad"
    expect "doctor names bad plugins" says "refused: $bad" says ": see above"
fi

# ---- from another folder -----------------------------------------------------------------------
mkdir -p away && printf '1 2\n3 4\n' >data.txt
script relative.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 2, 2 }, fields = { power = tz.read "data.txt" } }
tz.expect(sim:get("power", 1, 1) == 4)
END
cd away || exit 1
"$bin" run ../relative.lua >../out 2>../err
rc=$?
cd ..
check "tz.read is relative to the script" is $rc 0

finish
