#!/bin/sh
# Tests of runs of several ranks: what is printed and written.
#
#   run_ranks_tests.sh TRAPEZE
#
# Prints TAP; exits 1 if a case failed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/ranks_support.sh"

cat >run.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 64, 48 }, backend = "cpu", policy = "adaptive",
    fields = { temperature = tz.random { seed = 3, range = { 320, 340 } }, power = 1e-4 } }
sim:every(50, tz.png("temperature"))
sim:every(50, tz.npy("temperature"))
sim:every(50, tz.vti("temperature"))
sim:every(20, tz.table { "step", "max(temperature)", "hash(temperature)", "residual",
    half = function(s) return s:get("temperature", 1, 2) / 2 end })
local result = sim:run(200)
print("hash " .. sim:hash("temperature"))
sim:array("temperature"):save("end.npy")
tz.picture { data = sim:array("temperature"), file = "end.png" }
tz.log("done")
tz.expect(sim.step == 200 and result.steps == 200)
END
t run run.lua --out alone
check 'alone: exit code' is "$rc" 0
alone=$(cat out)
for ranks in 2 3; do
    m $ranks run run.lua --out "by$ranks"
    check "$ranks ranks: exit code" is "$rc" 0
    check "$ranks ranks print once" is "$(cat out)" "$alone"
    check "$ranks ranks sum up once" errs_once '200 steps in'
    check "$ranks ranks write the same files" same_files alone "by$ranks"
    check "$ranks ranks: the record says done" grep -q '"status": "done"' "by$ranks/run.json"
    check "$ranks ranks log once" is "$(grep -c done "by$ranks/log.txt")" 1
done
m 1 run run.lua --out by1
check 'one rank: exit code' is "$rc" 0
check 'one rank writes the same files' same_files alone by1

# Each rank writes its own cells of .npy files and checkpoints, of every kind of field.
cat >own.lua <<'END'
local tz = require "trapeze"
local B, R = tz.random { seed = 3, density = 0.4 }, tz.random { seed = 4, range = { 0.25, 0.5 } }
local sims = {
    { "life", { 77, 41 }, { alive = B } }, { "cell", { 40, 9, 31 }, { alive = B } },
    { "star2d1r", { 1001, 2403 }, { u = R } }, { "onesided1d", { 15001 }, { u = R, k = R } },
    { "poisson", { 33, 47 }, { f = R }, "mixed" }, { "hotspot", { 61, 53 }, { temperature = R, power = R } },
    { "grayscott", { 41, 37 }, { u = R, v = R } },
}
for i, s in ipairs(sims) do
    sims[i] = tz.simulation { plugin = s[1], grid = s[2], fields = s[3], precision = s[4], backend = "cpu", height = 2,
        threads = 1, name = s[1] }
    for name in pairs(s[3]) do sims[i]:every(3, tz.npy(name)) end
end
for _, sim in ipairs(sims) do
    if sim.name == "poisson" then sim:run { until_residual = 0.5, max_steps = 60 } else sim:run(6) end
end
for _, sim in ipairs(sims) do print(sim:hash()) end
END
own="--plugins $(dirname "$bin")/../test-plugins -q"
# shellcheck disable=SC2086 # two words each
{
    t run own.lua $own --out own1
    check 'own cells, alone' is "$rc" 0
    for ranks in 2 3; do
        m $ranks run own.lua $own --out "own$ranks"
        check "own cells, $ranks ranks" is "$rc" 0
        check "own cells, $ranks ranks: the same files" same_files own1 "own$ranks"
        check "own cells, $ranks ranks: nothing is left" is "$(find "own$ranks" -name '.*' -type f | wc -l)" 0
    done
    m 2 run own.lua $own --devices cpu:2 --out own4
    check 'own cells, 2 ranks of 2 slabs: the same files' same_files own1 own4
    hidden="mount -t tmpfs none '$work/hidden' && exec '$bin' run own.lua $own --out hidden/run"
    mkdir hidden
    if unshare -m sh -c "mount -t tmpfs none '$work/hidden'" 2>/dev/null; then
        n "$bin" run own.lua $own --out hidden/run : -n 1 unshare -m sh -c "$hidden"
        check 'a rank that does not see the folder: goes on' is "$rc" 0
        check 'a rank that does not see the folder: told once' errs_once 'so rank 0 writes all files alone'
        check 'a rank that does not see the folder: the same files' same_files own1 hidden/run
    else
        skip 'a rank that does not see the folder' 'no mounts'
    fi
}

# Whatever differs between processes is rank 0's, or the ranks would not take the same way.
cp "$here/../predict/cpu.txt" .
cat >differ.lua <<'END'
local tz = require "trapeze"
local heat = tz.stencil { dims = 2, fields = { u = "real" }, update = { u = "u + 0.1*lap(u)" } }
local sim = tz.simulation { plugin = heat, grid = { 48, 32 }, fields = { u = tz.random { seed = 1 } },
    backend = "cpu", policy = tz.args.policy }
local order = ""
for name in pairs { alpha = 1, beta = 2, gamma = 3, delta = 4, eps = 5, zeta = 6 } do order = order .. name end
local first = next { alpha = 1, beta = 2, gamma = 3, delta = 4, eps = 5, zeta = 6 }
local r = sim:run(64)
local p = tz.predict { plugin = "hotspot", grid = { 256, 256 }, device = "./cpu.txt" }
local ok, tune = pcall(tz.tune, { plugin = "hotspot", grid = { 64, 64 }, backend = "cpu", height = 1 })
print(order, first)
-- Every branch is collective, so ranks that disagree hang or fail.
local function ask(bit) if bit % 2 < 1 then sim:run(3) else sim:max("u") sim:run(2) end end
for _, number in ipairs { math.random(1 << 30), math.floor(r.seconds * 1e9), os.time(), math.floor(os.clock() * 1e6),
    math.floor(sim.seconds * 1e9), collectgarbage("count"), math.floor(p.seconds * 1e9), sim.threads,
    ok and math.floor(tune.best.measured_s * 1e12) or #tune } do
    ask(number)
end
math.randomseed()
ask(math.random(1 << 30))
END
t run differ.lua --out pairs
for policy in $("$bin" run --help | sed -n 's/.*them: auto, //; t list; d; : list; s/,//g; p'); do
    m 3 run differ.lua --set policy=$policy --out "differ-$policy"
    check "$policy: ranks take the same way" is "$rc" 0
done
check 'pairs() is in order' says 'alphabetadeltaepsgammazeta	alpha'

# ---- Ranks that leave each other
printf 'print(1)\n' >alone.lua
cat >steps.lua <<'LUA'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "life", grid = { 64, 64 } }
sim:run(1000 + (tonumber(tostring({}):match "0x(%x+)", 16) >> 4) % 100003) -- an address
LUA
m 2 run steps.lua
check 'other numbers of steps end the run' fails
check 'other numbers of steps: says so' errs_once 'run: the ranks are asked for different runs: rank 0 for '
n "$bin" run alone.lua : -n 1 sh -c 'until grep -q "waiting for" err; do sleep 0.1; done; exit 1'
check 'a rank with another command: says so' errs_once 'waiting for the other ranks: all must run the same command of trapeze'

finish
