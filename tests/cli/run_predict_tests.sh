#!/bin/sh
# Tests of the command line: predict, tune and explain: run_predict_tests.sh TRAPEZE [BADPLUGINS_DIR]
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/command_support.sh"

# ---- predict, tune, explain --------------------------------------------------------------------
refused "predict: nothing" 2 "predict: needs a stencil" predict
refused "predict: two" 2 "takes one stencil" predict hotspot life --grid 9,9
refused "predict: unknown stencil" 1 "did you mean 'hotspot'?" predict hotspt --grid 9,9
refused "predict: no grid" 2 "needs --grid NX,NY" predict hotspot
refused "predict: bad grid" 2 "--grid needs NX" predict hotspot --grid 9x9
refused "predict: too few extents" 1 "'hotspot' is 2-dimensional" predict hotspot --grid 9
refused "predict: unknown model" 2 "did you mean 'roofs'?" predict hotspot --grid 9,9 --model roof
refused "predict: unknown device" 1 "'gtx28' (trapeze calibrate makes those of this machine's devices); did you mean 'gtx280'?" predict hotspot --grid 9,9 --device gtx28
refused "predict: unknown precision" 2 "did you mean 'double'?" predict hotspot --grid 9,9 --precision duble
refused "predict: unknown boundary" 1 "did you mean 'clamp'?" predict hotspot --grid 9,9 --device gtx280 \
    --boundary clmp
refused "predict: unknown parameter" 1 "did you mean 'ambient_k'?" predict hotspot --grid 9,9 --set ambient=3
refused "predict: unknown family" 2 "did you mean 'stream'?" predict hotspot --grid 9,9 --family strem
refused "predict: unknown option" 2 "did you mean --device?" predict hotspot --devise gtx280
refused "predict: a GPU on the cpu backend" 1 "gtx280 is a GPU: the cpu backend does not run there" predict \
    hotspot --grid 9,9 --device gtx280 --backend cpu
refused "predict: kernels of a GPU that nothing compiles for" 1 "has no compute_capability to compile for" predict hotspot \
    --grid 99,99 --device gtx280 --model roofs
refused "predict: json and csv" 2 "not both" predict hotspot --grid 9,9 --json --csv
refused "predict: reference" 1 "use cpu or cuda" predict hotspot --grid 9,9 --backend reference
cpu="$here/../predict/cpu.txt"
# csv FLAG COLUMN: the column of the lines of `out` in which column FLAG is 1
csv() {
    awk -F, -v flag="$1" -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at[flag] == 1 { print $at[column] }' out
}
t predict hotspot --grid 2000,2000 --device "$cpu"
expect "predict" rc 0 says "hotspot on 2000 x 2000, single, clamp" says ", by the model roofs" says "  best     " \
    says "an iteration, " says "  why      "
check "predict: a few lines" [ "$(wc -l <out)" -le 8 ]
cp out slow
t predict hotspot --grid 2000,2000 --device "$cpu" --quick
check "predict --quick: on a CPU nothing is an estimate" cmp -s slow out
python3 "$here/terminal.py" "$bin" predict hotspot --grid 2000,2000 --device "$cpu" >out
check "predict on a terminal: progress" says "predicting: 2 plans ready"
check "predict on a terminal: no progress is left" sh -c 'tail -n 1 out | grep -qv predicting'
refused "predict: quick and compile" 2 "--quick or --compile, not both" predict hotspot --grid 9,9 --quick --compile
t predict hotspot --grid 2000,2000 --device "$cpu" --verbose
expect "predict -v" says "model    roofs" says "  best     " says "    (times of one iteration in " says " plans in "
t predict hotspot --grid 2000,2000 --device "$cpu" --csv
check "predict --csv: one best" is "$(csv best height | wc -l)" 1
height=$(csv best height)
t predict hotspot --grid 2000,2000 --device "$cpu" --all
check "predict --all: the plans" grep -q "^  [*] *$height " out
t predict hotspot --grid 2000,2000 --device "$cpu" --model all --verbose
check "predict --model all --verbose: its table" says "model    roofs"
if command -v python3 >/dev/null; then
    t predict hotspot --grid 2000,2000 --device "$cpu" --json
    check "predict --json" python3 -c 'import json
a = json.load(open("out"))
assert a["model"] == "roofs" and a["best"]["height"] > 0
r = a["rows"][1]
assert abs(sum(c["seconds"] for c in r["components"]) / r["time_s"] - 1) < 1e-6'
fi
if command -v gnuplot >/dev/null; then
    t predict hotspot --grid 2000,2000 --device "$cpu" --plot plot.png
    check "predict --plot" is $rc 0
    check "predict --plot: a picture" sh -c '"$0" info plot.png >out' "$bin"
    check "predict --plot: its size" says "1600 x 900"
    t predict hotspot --grid 2000,2000 --device "$cpu" --plot nosuch/plot.png
    check "predict --plot: a folder that is not there" errs "cannot write the plot"
else
    skip "predict --plot" "no gnuplot"
fi
refused "predict --jump: bad steps" 2 "--jump needs a number of steps, at least 1, not '2.5'" predict hotspot --grid 9,9 --jump 2.5
refused "predict --jump --plot" 2 "--plot does not go with --jump" predict hotspot --grid 9,9 --jump 9 --plot x.png
refused "predict --measure" 2 "--measure goes with --jump" predict hotspot --grid 9,9 --measure
refused "predict --jump: life" 1 "cannot be jumped, because field 'alive' holds bits" predict life --grid 64,64 --device "$cpu" --jump 9
refused "predict --jump --measure: another machine's CPU" 1 "is not in this machine" predict hotspot --grid 99,99 --device "$cpu" \
    --jump 9 --measure
t predict star2d1r --grid 512,512 --device "$cpu" --boundary periodic --jump 100000
expect "predict --jump" rc 0 says "times faster than its steps; a jump is faster from "
t predict star2d1r --grid 512,512 --device "$cpu" --boundary periodic --jump 100000 --json
check "predict --jump --json" python3 -c 'import json
a = json.load(open("out"))
p = a["predicted"]
assert a["steps"] == 100000 and a["source"] is False and a["measured"] is None and a["plan"]["height"] > 0
assert p["faster_from"] * p["iteration_s"] > p["jump_s"] >= (p["faster_from"] - 1) * p["iteration_s"] > 0'

t predict star2d1r --grid 512,512 --device "$cpu" --boundary periodic --jump 100000 --csv
check "predict --jump --csv: one row" is "$(csv plan_exchange steps | wc -l) $(awk -F, '{ print NF }' out | uniq | wc -l) $(wc -l <out)" "0 1 2"

# Of a run of so many steps: no plan is higher; where no stage is shorter, it takes the steps' times.
for steps in 5 31; do
    t predict hotspot --grid 512,512 --device "$cpu" --steps $steps --all --json
    check "predict --steps $steps" python3 -c 'import json, sys
a, n = json.load(open("out")), int(sys.argv[1])
runs = [r for r in a["rows"] if "run_s" in r]
assert a["best"]["height"] <= n and all(r["height"] <= n for r in runs)
whole = [r for r in runs if n % r["height"] == 0]
assert whole and all(abs(r["run_s"] - n * r["time_s"]) < 1e-6 * r["run_s"] for r in whole)
assert a["best"]["run_s"] <= 1.1 * min(r["run_s"] for r in runs)' $steps
done
t predict hotspot --grid 512,512 --device "$cpu" --steps 31
expect "predict --steps: the line" rc 0 says "for 31 steps"
refused "predict --steps: none" 2 "--steps needs a number of steps, at least 1, not '0'" predict hotspot --grid 9,9 --steps 0
mkdir -p nopath
PATH="$work/nopath" t predict hotspot --grid 2000,2000 --device "$cpu" --plot plot2.png
expect "predict --plot without gnuplot" rc 1 errs "apt-get install gnuplot-nox" absent plot2.png

PATH="$work/nopath" t tune hotspot --grid 64,64 --plot plot2.png
check "tune --plot without gnuplot: before it measures" errs "apt-get install gnuplot-nox"

# What was not predicted is not called so.
mkdir -p known
export TRAPEZE_DEVICES="$work/known"
script untold.lua <<'END'
local tz = require "trapeze"
tz.simulation { plugin = "hotspot", grid = { 16, 16 }, backend = "cpu" }:run(4)
END
no_prediction() { ! sed 's/not predicted//g' out err | grep -q predicted; }
t run untold.lua --check
check "--check without a record: a default" says "policy default: up to height"
check "--check without a record: no prediction" no_prediction
t run untold.lua --out untold
check "summary without a record: a default" errs ", 4 steps at a time (stream), up to an output, a check or the end"
check "summary without a record: no prediction" no_prediction
expect "summary" errs " by cpu with " errs "(by the scenario)"
t run untold.lua --backend reference --out told
expect "summary" errs "by reference" errs "(by the command line)"
t info untold
check "info without a record: no prediction" no_prediction
t explain untold
expect "explain without a record" says "no prediction: no device record describes" rc 0
check "explain without a record: no prediction" no_prediction
t tune star2d1r --grid 64,64 --backend cpu
check "no record of this machine: what to do" errs "trapeze calibrate"
# A record of this machine in no time: the numbers of the tests, under its name. run_calibrate_tests.sh measures one.
t doctor
title=$(sed -n 's/.*no device record describes \(.*\) ([0-9]* cores*).*/\1/p' out)
cores=$(sed -n 's/.*no device record describes .* (\([0-9]*\) cores*).*/\1/p' out)
for bytes in 16 32 64; do
    {
        grep -vE '^(name|title|cores|vector) ' "$cpu"
        printf 'name = here\ntitle = %s\ncores = %s # for tests\nvector = %s B # for tests\n' "$title" "$cores" $bytes
        printf 'host_latency = 2 us # for tests\nhost_bandwidth = 9 GB/s # for tests\n'
    } >known/here.txt
    t doctor
    ! says "CPU: here" || break
done
check "a record of this machine" says "CPU: here"
refused "tune: another device" 1 "is not this machine's device" tune hotspot --grid 64,64 --device gtx280
refused "tune: unknown family" 1 "did you mean 'stream'?" tune star2d1r --grid 64,64 --backend cpu --families strem
refused "tune: an option that is gone" 2 "trapeze predict --compile" tune star2d1r --grid 64,64 --compile-only
refused "tune: rounds" 2 "--rounds needs an integer" tune star2d1r --grid 64,64 --rounds 0
t tune star2d1r --grid 96,64 --backend cpu --height 2 --family stream --rounds 1 --seconds 0.01 --sustained
check "tune --sustained" says "measured   as in a long run: no rests"
refused "tune: an unstable step" 1 "unstable" tune hotspot --grid 8192,8192 --set dt_s=1e-3 --backend cpu
t tune star2d1r --grid 96,64 --backend cpu --rounds 1 --seconds 0.001
expect "tune" rc 0 says "measured" says "predicted" says "of the best speed is reached by the prediction" \
    says "90th percentile" says "the same under every plan"
t tune pathfinder --grid 5000 --device known/here.txt --rounds 1 --seconds 0.001 --csv
check "tune by a named record of this machine" is $rc 0
check "tune --csv: one fastest" is "$(csv best height | wc -l)" 1
check "tune --csv: one chosen" is "$(csv chosen height | wc -l)" 1
check "tune --csv: a CPU tells no clock" is "$(csv throttled height; csv best clock_hz)" ""
check "tune --csv: columns" is "$(sed 1q out | sed 's/.*\(rounds,.*power_w\).*/\1/')" \
    rounds,throttled,clock_hz,bits,in_set,best,chosen,sustained_s,power_w
check "tune --csv: no other bits" sh -c '! grep -q ,other, out && grep -q ,same, out'
cp out tuned.csv
check "a case in a line" sh -c 'sh "$0" case tuned.csv | grep -q "of the best: chosen stream h"' \
    "$here/../../scripts/validate_table.sh"
mkdir -p table && cp tuned.csv table/pathfinder.none.small.default.csv
check "cases in a table" sh -c 'sh "$0" table table | grep -q "^| pathfinder | none | "' \
    "$here/../../scripts/validate_table.sh"
t predict star2d1r --grid 256,256 --devices cpu:2 --verbose
expect "predict --devices: exit code" rc 0 says "2 slabs" says "link     host: " says "exchange  share  efficiency" \
    says "one process with all threads"
t predict star2d1r --grid 256,256 --backend cpu --devices 4 --link nvlink --exchange 6 --verbose
expect "predict --devices 4 --link" says "4 of them" says "link     nvlink: 16 us and 394 GB/s" \
    says "an exchange after 6 iterations" says "more devices gain: 2 "
printf 'name = slow\nlatency = 1 ms # by hand\nbandwidth = 1 MB/s # by hand\n' >slow.txt
t predict star2d1r --grid 256,256 --backend cpu --height 4 --devices 4 --link ./slow.txt --verbose
check "predict --link FILE" says "link     slow: 1 ms and 0.001 GB/s"
refused "predict: unknown link" 1 "did you mean 'nvlink'" predict star2d1r --grid 256,256 --backend cpu --devices 2 --link nvlnk
refused "predict: a link that the record lacks" 1 "has no mpi_latency" predict star2d1r --grid 256,256 --backend cpu --devices 2 \
    --link mpi
refused "predict: a link of one device" 1 "one device has no links" predict star2d1r --grid 256,256 --backend cpu --link nvlink
refused "predict: an exchange of one device" 2 "--exchange goes with --devices" predict star2d1r --grid 256,256 --exchange 4
refused "predict: too many devices" 1 "1 to 64 are possible" predict star2d1r --grid 256,256 --backend cpu --devices 65
refused "predict: thin slabs" 1 "use at most" predict star2d1r --grid 256,64 --height 9 --backend cpu --devices 64
t tune star2d1r --grid 96,96 --devices cpu:2 --height 2 --rounds 1 --seconds 0.0001
expect "tune --devices" rc 0 says "the same under every plan" says "% of the time of the predicted plan"
script tuned.lua <<'END'
local tz = require "trapeze"
local t = tz.tune { plugin = "star2d1r", grid = { 96, 64 }, backend = "cpu", families = { "stream" }, rounds = 1,
                    seconds = 0.001, threads = 1, boundary = "periodic" }
tz.expect(#t.rows > 3 and t.backend == "cpu" and t.device == "here" and t.different == 0)
local best, compared
for _, row in ipairs(t.rows) do
    compared = compared or row.same_bits
    tz.expect(row.refused or row.measured_s > 0 and row.predicted_s > 0 and row.rounds >= 1)
    tz.expect(row.refused or row.low_s <= row.measured_s and row.measured_s <= row.high_s)
    tz.expect(tz.checking or row.same_bits ~= false and row.family == "stream" and row.gcells_per_s > 0)
    if not row.refused and (not best or row.measured_s < best.measured_s) then best = row end
end
tz.expect(t.best == best and t.share > 0 and t.share <= 1 and t.error_p90 >= t.error_median)
tz.expect(tz.checking or compared)
for _, row in ipairs(tz.tune { plugin = "star2d1r", grid = { 96, 64 }, backend = "cpu", height = 2, rounds = 1,
                               seconds = 0.001, threads = 1, check = false }.rows) do
    tz.expect(row.same_bits == nil)
end
-- The bits of a NaN depend on the order of operands: nothing is compared, and nothing is a fault.
local explosive = tz.stencil { name = "explosive", dims = 2, fields = { "u" },
                               update = { u = "1e20*u*u - 1e20*u[1,0]*u[0,1]" } }
local e = tz.tune { plugin = explosive, grid = { 96, 64 }, backend = "cpu", rounds = 1, seconds = 0.001, threads = 1 }
tz.expect(tz.checking or e.different == 0 and e.not_finite > 0)
tz.expect(tz.checking or e.infinite)
for _, row in ipairs(e.rows) do tz.expect(row.same_bits == nil) end
-- With fields of its own it stays finite; a field that is not given is near its initial value.
local function finite(stencil, fields)
    return tz.tune { plugin = stencil, grid = { 96, 64 }, backend = "cpu", height = 2, rounds = 1, seconds = 0.001,
                     threads = 1, fields = fields }
end
tz.expect(tz.checking or finite(explosive, { u = function(x) return x / 1e41 end }).infinite == false)
tz.expect(tz.checking or finite(explosive, { u = 1e-25 }).not_finite == 0)
tz.expect(tz.checking or finite(explosive, { u = tz.random { seed = 1, range = { 0, 1e-30 } } }).different == 0)
local cells = tz.array { shape = { 96, 64 } }
tz.expect(tz.checking or finite(explosive, { u = cells }).infinite == false)
-- 1 / (u - 0.5) is finite for u from 0.9 to 1.1.
local near = tz.stencil { name = "near", dims = 2, fields = { u = { initial = 1 } },
                          update = { u = "u > 0.8 and u < 1.2 ? u[1,0] : 1/(u - u)" } }
tz.expect(tz.checking or finite(near).infinite == false and finite(near, { u = 2 }).infinite)
for text, fields in pairs {
    ["'fields' must be a table, not a number"] = 3, ["unknown key 'v'; known: u"] = { v = 1 },
    ["tz.tune: field 'u': needs a number"] = { u = {} } } do
    local ok, message = pcall(finite, explosive, fields)
    tz.expect(not ok and message:find(text, 1, true), tostring(message))
end
-- The plan of a row is one that a simulation takes.
local sim = tz.simulation { plugin = "star2d1r", grid = { 96, 64 }, backend = "cpu", threads = 1,
                            height = t.best.height, tile = t.best.tile, family = t.best.family }
tz.expect(sim.height == t.best.height)
END
t run tuned.lua --out tuned-lua
check "tz.tune" is $rc 0
t run tuned.lua --check
check "tz.tune --check: nothing is measured" is $rc 0
t predict star2d1r --grid 256,256 --backend cpu
expect "predict for this machine" rc 0 says "by the model roofs"
script explained.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "star2d1r", grid = { 128, 96 }, backend = "cpu", height = 3,
                            fields = { u = tz.random { seed = 1, range = { 0, 1 } } } }
sim:run(31)
END
t run explained.lua --quiet --out explained
t explain explained
expect "explain" rc 0 says "star2d1r on 128 x 96, single" says "diamond, height 3" says "10 stages, 30 steps" says "because: " \
    says "roofs predicts" says "better   "
t explain explained --csv
check "explain --csv: facts" is "$(grep -c '^"sim1: star2d1r.* backend cpu",ran,"diamond, height 3.*; because' out) $(grep -c '^ ' out)" "1 0"
t info explained --csv
check "info --csv: facts" grep -q '^[a-z0-9]*: star2d1r,grid,128 x 96$' out
unset TRAPEZE_DEVICES
refused "explain: no run" 1 "has no run.json" explain nosuch
refused "explain: nothing" 2 "needs a run folder" explain

finish
