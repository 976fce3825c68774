#!/bin/sh
# Each command once, for the sanitizers: run_smoke_tests.sh TRAPEZE
# What commands print and write is tested by the scripts beside this one, in the release tree.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"
cpu=$here/../predict/cpu.txt

cat >all.lua <<'END_OF_SCRIPT'
local tz = require "trapeze"
local p = tz.sweep { power = { 1, 2 } }
local sim = tz.simulation { plugin = "hotspot", grid = { 48, 32 }, policy = "predicted",
    fields = { temperature = tz.random { seed = 7, range = { 320, 330 } }, power = p.power * 1e-3 } }
sim:every(20, tz.png("temperature", { bar = true, caption = "Chip" }))
sim:every(20, tz.npy "temperature")
sim:every(20, tz.vti())
sim:every(10, tz.table { "step", "max(temperature)", "residual", "hash(temperature)" })
sim:every(20, tz.checkpoint())
sim:run(40)
sim:array("temperature"):save "end.npy"
END_OF_SCRIPT
quiet() { [ $rc -eq 0 ] && ! grep -qE 'ERROR: .*Sanitizer|runtime error' err; }
while read -r arguments; do
    # shellcheck disable=SC2086 # a list of words
    t $arguments
    check "$arguments" quiet
done <<END
run all.lua --out run --set power=1
resume run --until 60
sweep all.lua --out points
plugins hotspot
doctor --verbose
info run
predict hotspot --grid 2000,2000 --device $cpu --verbose
explain run
report run
compare run points/power=1
export run --to csv --into tables
manual
new plate
examples first --into copies
run copies/first.lua --check
run $here/../scenario/regions.lua --out regions
run $here/../scenario/sides.lua --backend reference --set backend=reference --out sides
END
finish
