#!/bin/sh
# Pictures of a run, held against others that must be equal: run_pictures_tests.sh TRAPEZE
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"

# scenario NAME: from standard input, run into the folder NAME.
scenario() {
    { echo 'local tz = require "trapeze"'; cat; } >"$1.lua"
    t run "$1.lua" --out "$1" --backend cpu --threads 1 --quiet
}

# ---- Captions that a function makes -----------------------------------------------------------------------------------

scenario captions <<'END'
local chip = tz.simulation { plugin = "hotspot", grid = { 64, 48 }, name = "chip", fields = { temperature = 300, power = 1e-3 } }
local calls = 0
local function told(sim)
  calls = calls + 1
  return ("{time}, step {step} of %s, %.3f K"):format(sim.name, sim:max "temperature")
end
chip:every(4, tz.png { name = "told", range = { 300, 301 }, caption = told })
chip:every(4, tz.movie { name = "film", range = { 300, 301 }, caption = told })
chip:every(4, tz.movie { name = "silent", range = { 300, 301 }, caption = function(sim) return sim.step > 0 and "x" or "" end })
chip:write(tz.png { name = "first", range = { 300, 301 }, caption = told })
tz.expect(calls == (tz.checking and 0 or 1))
chip:run(8)
tz.expect(calls == (tz.checking and 0 or 7))
chip:write(tz.png { name = "as", range = { 300, 301 },
  caption = ("{time}, step 8 of chip, %.3f K"):format(chip:max "temperature") })
END
check "functions make captions" is $rc 0
check "the text is the caption" cmp captions/chip-as-000008.png captions/chip-told-000008.png

# ---- Probes -------------------------------------------------------------------------------------------------------------

scenario probes <<'END'
local plate = tz.simulation { plugin = "star2d1r", grid = { 20, 9 }, name = "plate", fields = { u = function(x, y) return x * y end } }
plate:every(2, tz.table { "step", "probe(u, 3, 4)", name = "plain" })
plate:every(2, tz.table { "step", name = "called", ["probe(u, 3, 4)"] = function(sim) return sim:get("u", 3, 4) end })
plate:run(6)
END
check "a table with probes" is $rc 0
check "they are what sim:get gives" cmp probes/plate-plain.csv probes/plate-called.csv
check "the first one is the field's value" grep -qx '0,12' probes/plate-plain.csv
finish
