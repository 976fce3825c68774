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
local steady = tz.simulation { plugin = "hotspot", grid = { 30, 24 }, backend = "cpu", fields = { power = tz.random { seed = 4, range = { 0, 0.01 } } } }
steady:run { until_time = "1 ms", implicit = "0.3 ms" }
print("implicit " .. steady:hash("temperature"))
steady:steady { by = "solver" }
print("steady " .. steady:hash("temperature"))
sim:array("temperature"):save("end.npy")
tz.picture { data = sim:array("temperature"), file = "end.png" }
tz.log("done")
tz.expect(sim.step == 200 and result.steps == 200)
END
t run run.lua --out alone
check 'alone: exit code' is "$rc" 0
alone=$(cat out)
m 3 run run.lua --out by3
check '3 ranks: exit code' is "$rc" 0
check '3 ranks print once' is "$(cat out)" "$alone"
check '3 ranks sum up once' errs_once '200 steps with 1 shorter simulation, done'
check '3 ranks write the same files' same_files alone by3
check '3 ranks: the record says done' grep -q '"status": "done"' by3/run.json
check '3 ranks log once' is "$(grep -c done by3/log.txt)" 1
m 1 run run.lua --out by1
check 'one rank: exit code' is "$rc" 0
check 'one rank writes the same files' same_files alone by1

# Each rank writes its own cells of .npy files and checkpoints, of every kind of field, and all numbers are those of the
# whole grid.
cat >own.lua <<'END'
local tz = require "trapeze"
local B, R = tz.random { seed = 3, density = 0.4 }, tz.random { seed = 4, range = { 0.25, 0.5 } }
local N = tz.random { seed = 5, range = { 0, 9 } }
local sims = {
    { "life", { 77, 41 }, "periodic", { alive = B } }, { "cell", { 40, 9, 31 }, "fixed", { alive = B } },
    { "star2d1r", { 1001, 2403 }, "mirror", { u = R } }, { "onesided1d", { 15001 }, "periodic", { u = R, k = R } },
    { "poisson", { 33, 47 }, "fixed", { f = R }, "mixed" },
    { "hotspot", { 61, 53 }, "clamp", { temperature = R, power = R },
        storage = { temperature = { "half", origin = 0.25, scale = 2 ^ -7 }, power = "half" } },
    { "grayscott", { 41, 37 }, "periodic", { u = R, v = R }, "double" },
    { "mixed3d", { 14, 9, 40 }, "periodic", { u = R, n = N, k = R }, storage = "half" },
}
for i, s in ipairs(sims) do
    local sim = tz.simulation { plugin = s[1], grid = s[2], boundary = s[3], fields = s[4], precision = s[5],
        storage = s.storage, backend = "cpu", height = 3, threads = 1, name = s[1] }
    for name in pairs(s[4]) do sim:every(3, tz.npy(name)) end
    sims[i] = { sim, s[2], s[4] }
end
-- Points in all slabs: what they record, also of lists that follow, is in files and arrays.
local function listen(sim, grid, fields, number)
    local points = {}
    for k = 0, 8 do
        points[k + 1] = {}
        for axis, n in ipairs(grid) do points[k + 1][axis] = (k * (n - 1) * (7 + axis) // 8) % n end
    end
    for name in pairs(fields) do
        pcall(sim.sources, sim, { field = name, points = points, values = "0.01*step" })
        local ok, why = pcall(sim.receivers, sim, { field = name, points = points, every = number,
            file = ("%s-%s-%d.npy"):format(sim.name, name, number) })
        print(sim.name, name, ok or why)
    end
end
for _, s in ipairs(sims) do
    local sim, grid, last = s[1], s[2], {}
    listen(sim, grid, s[3], 1)
    if sim.name == "star2d1r" then
        sim:run(2)
        listen(sim, grid, s[3], 2)
    end
    if sim.name == "poisson" then sim:run { until_residual = 0.5, max_steps = 60 } else sim:run(7) end
    for axis, extent in ipairs(grid) do last[axis] = extent * 2 // 3 end
    for name in pairs(s[3]) do
        print(sim.name, name, sim.step, sim:hash(name), sim:min(name), sim:max(name), sim:population(name),
            sim:get(name, table.unpack(last)), ("%.17g %s"):format(sim:sum(name), pcall(sim.residual, sim)))
    end
end
local sim = sims[5][1]
sim:set("u", 2.5, { x = { 3, 9 }, y = { 10, 30 } })
print(sim:sum("u", { x = { 0, 20 }, y = { 5, 33 } }), sim:mean("u", "f"), sim:hash("u"))
print(sim:run { until_update = 1e-3, max_steps = 50 }.steps, sim:array("u"):sum())
END
own="--plugins $(dirname "$bin")/../test-plugins -q"
# shellcheck disable=SC2086 # two words each
{
    t run own.lua $own --out own1
    check 'own cells, alone' is "$rc" 0
    sort out >numbers
    # One of three has two neighbours.
    m 3 run own.lua $own --out own3
    check 'own cells, 3 ranks' is "$rc" 0
    check 'own cells, 3 ranks: the same numbers' is "$(sort out)" "$(cat numbers)"
    check 'own cells, 3 ranks: the same files' same_files own1 own3
    check 'own cells, 3 ranks: nothing is left' is "$(find own3 -name '.*' -type f | wc -l)" 0
    m 2 run own.lua $own --devices cpu:2 --out own4
    check 'own cells, 2 ranks of 2 slabs: the same numbers' is "$(sort out)" "$(cat numbers)"
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

# A policy chooses plans for all ranks; stencils of the scenario, constants that vary, streamed arrays and parameters
# that change get to them.
cat >serve.lua <<'END'
local tz = require "trapeze"
local heat = tz.stencil { dims = 2, fields = { u = "real" }, params = { k = 0.1 }, scalars = { a = "1 + step/100" },
    update = { u = "u + a*k*lap(u)" } }
local sim = tz.simulation { plugin = heat, grid = { 48, 32 }, fields = { u = tz.random { seed = 1 } },
    backend = "cpu", policy = "adaptive" }
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
m 3 run serve.lua -q --out served
check "what the scenario defines and changes: the same numbers" is "$rc $(cat out)" "0 $alone"
# A definition gets to the others without a compiler, and what is compiled beside the run follows.
cat >defined.lua <<'END'
local tz = require "trapeze"
local wave = tz.stencil { dims = 2, fields = { u = "real", old = "real", speed = { type = "real", role = "static", unit = "m/s" } },
    coefficients = { { 0, "speed", 0 }, { "speed", -4, "speed" }, { 0, "speed", 0 } }, field = "u", old = "old",
    a = "-1", b = "2", scale = 0.1 }
local two = tz.stencil { dims = 2, fields = { u = "real", v = "real" }, params = { k = 0.1 }, scalars = { a = "1/(1 + step/100)" },
    passes = { { update = { u = "u + a*k*lap(u) - v/50" } }, { update = { v = "v + k*u[-1, 0]" } } },
    outputs = { sum = "u + v" } }
for _, stencil in ipairs { wave, two } do
    local sim = tz.simulation { plugin = stencil, grid = { 48, 32 }, backend = "cpu",
        fields = { u = tz.random { seed = 1 }, speed = stencil == wave and 1 or nil } }
    sim:run(300)
    print(sim:hash("u"), stencil == two and sim:hash("sum"))
end
END
TRAPEZE_CACHE=$work/fresh CC=none t run defined.lua -q
check 'no C compiler, alone' is "$rc" 0
alone=$(cat out)
TRAPEZE_CACHE=$work/fresh CC=none m 2 run defined.lua --out defined
expect 'ranks without a C compiler' rc 0 errs_once "formulas of 'stencil' are interpreted"
check 'ranks without a C compiler: the same numbers' is "$(cat out)" "$alone"
TRAPEZE_CACHE=$work/fresh m 2 run defined.lua -q --out compiled
check 'compiled beside ranks: the same numbers' is "$rc $(cat out)" "0 $alone"

finish
