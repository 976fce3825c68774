#!/bin/sh
# Tests of runs of several ranks: what is printed and written: run_ranks_tests.sh TRAPEZE
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
        expect "a rank that does not see the folder" rc 0 errs_once 'so rank 0 writes all files alone'
        check 'a rank that does not see the folder: the same files' same_files own1 hidden/run
    else
        skip 'a rank that does not see the folder' 'no mounts'
    fi
}

# Every policy chooses plans for all ranks; stencils of the scenario, constants that vary, streamed arrays and
# parameters that change get to them.
cat >serve.lua <<'END'
local tz = require "trapeze"
local heat = tz.stencil { dims = 2, fields = { u = "real" }, params = { k = 0.1 }, scalars = { a = "1 + step/100" },
    update = { u = "u + a*k*lap(u)" } }
local sim = tz.simulation { plugin = heat, grid = { 48, 32 }, fields = { u = tz.random { seed = 1 } },
    backend = "cpu", policy = tz.args.policy }
sim:run(64)
sim:params { k = 0.05 }
sim:run(math.random(1 << 30) % 7 + 3)
print(sim:run(100 - sim.step).steps > 0, sim:hash("u"))
local rows = {}
for i = 1, 8 * 13000 do rows[i] = i * 7919 % 10 end
local path = tz.simulation { plugin = "pathfinder", grid = { 13000 }, backend = "cpu", threads = 1,
    fields = { weights = tz.array { shape = { 13000, 8 }, data = rows } } }
path:run(8)
local life = tz.simulation { plugin = "life", grid = { 64, 64 }, fields = { alive = tz.random { seed = 2, density = 0.3 } } }
life:run(4)
life:params { rule = "B36/S23" }
life:run(4)
print(path:hash(), life:hash())
for name in pairs { alpha = 1 } do print(name, next { [print] = 1 } == print) end
END
t run serve.lua -q
alone=$(cat out)
for policy in $("$bin" run --help | sed -n 's/.*them: auto, //; t list; d; : list; s/,//g; p'); do
    m 3 run serve.lua -q --set policy=$policy --out "serve-$policy"
    check "$policy: the same numbers" is "$rc $(cat out)" "0 $alone"
done

finish
