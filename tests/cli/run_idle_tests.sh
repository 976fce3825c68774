#!/bin/sh
# Tests of the command line: warnings of scripts and runs that do nothing, and of formulas that may not be meant.
#   run_idle_tests.sh TRAPEZE
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"
plain_cc plain-cc
export CC="$work/plain-cc"

# script LINE…: the file s.lua.
script() {
    echo 'local tz = require "trapeze"' >s.lua
    printf '%s\n' "$@" >>s.lua
}

# warns NAME WORDS LINE…: the script runs, and warns so once. quiet NAME LINE…: it does not warn.
warns() {
    title=$1 words=$2
    shift 2
    script "$@"
    t run s.lua -q
    check "$title: exit code" is $rc 0
    check "$title" is "$(grep -cF -- "trapeze: warning: $words" err)" 1
    check "$title: nothing else" is "$(grep -c 'warning' err)" 1
}
quiet() {
    title=$1
    shift
    script "$@"
    t run s.lua -q
    check "$title: exit code" is $rc 0
    check "$title: no warning" is "$(grep -c 'warning' err)" 0
}

# ---- Scripts -----------------------------------------------------------------------------------
life='local sim = tz.simulation { plugin = "life", grid = { 64, 16 }, fields = { alive = tz.random { density = 0.3, seed = 1 } } }'
warns "no step" "s.lua made a simulation but ran no step: call sim:run(100)" "$life" 'sim:every(10, tz.png())' 'print(1)'
warns "no step: run(0)" "s.lua made a simulation but ran no step" "$life" 'sim:run(0)'
warns "nothing at all" "s.lua made no simulation and printed nothing" 'local a = 1'
quiet "a step" "$life" 'sim:run(1)'
quiet "two simulations, one runs" "$life" "${life#local }" 'sim:run(1)'
quiet "a script that prints" 'print(1)'
quiet "a script that logs" 'tz.log(1)'
quiet "a script that tests" "$life" 'tz.expect(sim.cells == 1024)'
quiet "a script that reads cells" "$life" 'local sum = sim:population()'
quiet "a script that writes" "$life" 'sim:write(tz.npy())'
quiet "a script that asks for the plan" "$life" 'local plan = sim:plan()'
quiet "a prediction" "local p = tz.predict { plugin = 'life', grid = { 512, 512 }, device = '$here/../predict/cpu.txt' }"
quiet "an array that is saved" 'tz.array({ shape = { 4 }, data = { 1, 2, 3, 4 } }):save "a.npy"'
quiet "a stencil for trapeze new and predict" 'return tz.stencil { dims = 1, update = "u[-1]" }'
script "$life" 'error "no"'
t run s.lua -q
check "a script that fails is not said to do nothing" sh -c '! grep -q warning err'
script "$life"
t run s.lua --check
check "nor one that is checked" sh -c '! grep -q warning err'

# ---- Runs in which nothing can happen ------------------------------------------------------------
warns "an empty grid" "sim1: nothing happened in 100 steps: field alive is 0 everywhere at the start; give it a start: fields = { alive = ... }" \
    'local sim = tz.simulation { plugin = "life", grid = { 64, 16 } }' 'sim:run(100)' 'sim:run(3)' 'sim:rewind()' 'sim:run(2)'
check "it is in the log" sh -c 'grep -q "^warning: sim1: nothing happened" runs/*/log.txt'
warns "a function that gives 0" "sim1: nothing happened in 1 step: field u is 0 everywhere" \
    'local sim = tz.simulation { plugin = tz.stencil { dims = 2, update = "u + 0.1*lap(u)" }, grid = { 9, 9 },' \
    '  fields = { u = function(x) return x > 20 and 1 or 0 end } }' 'sim:run(1)'
warns "one value that is not 0" "sim1: nothing happened in 5 steps: field u is 2.5 everywhere" \
    'local sim = tz.simulation { plugin = tz.stencil { dims = 2, update = "u + 0.1*lap(u)" }, grid = { 9, 9 }, fields = { u = 2.5 } }' 'sim:run(5)'
warns "only the food" "sim1: nothing happened in 10 steps: field v is 0 everywhere" \
    'local sim = tz.simulation { plugin = "grayscott", grid = { 32, 32 }, fields = { u = 1 } }' 'sim:run(10)'
warns "only the food, which grows" "sim1: every field stayed one value in 10 steps: field v is 0 everywhere at the start and at the end; give it a start: fields = { v = ... }" \
    'local sim = tz.simulation { plugin = "grayscott", grid = { 32, 32 }, fields = { u = 0.8 } }' 'sim:run(10)'
quiet "one cell" 'local sim = tz.simulation { plugin = "life", grid = { 64, 16 } }' 'sim:set("alive", 1, { x = { 37, 38 }, y = { 11, 12 } })' 'sim:run(1)'
quiet "a still life" 'local sim = tz.simulation { plugin = "life", grid = { 64, 16 } }' 'sim:set("alive", 1, { x = { 3, 5 }, y = { 1, 3 } })' 'sim:run(5)'
quiet "a source that has not begun" 'local sim = tz.simulation { plugin = tz.stencil { dims = 1, scalars = { s = "step < 5 ? 0 : 1" },' \
    '  update = "u + 0.1*lap(u) + (x == 3)*s" }, grid = { 9 } }' 'sim:run(1)' 'sim:run(9)'
quiet "a formula of the step" 'local sim = tz.simulation { plugin = tz.stencil { dims = 1, update = "u + (step > 7)*x" }, grid = { 9 } }' 'sim:run(2)'
quiet "a side that drives" 'local sim = tz.simulation { plugin = tz.stencil { dims = 1, update = "u + 0.1*lap(u)" }, grid = { 9 },' \
    '  boundary = "fixed", boundary_values = { u = 1 } }' 'sim:run(1)'
quiet "a value that grows" 'local sim = tz.simulation { plugin = tz.stencil { dims = 1, update = "u + 1" }, grid = { 9 } }' 'sim:run(1)'

# ---- Formulas ------------------------------------------------------------------------------------
warns "a difference of a difference" "stencil, update of 'u': a centred difference along x of one along x" \
    'local function plate() return tz.stencil { dims = 1, fields = { u = {}, k = { role = "static" } }, update = { u = "u + 0.1*dx(k*dx(u))" } } end' \
    'plate() plate()' 'print(1)'
check "its place" errs "                 ^"

finish
