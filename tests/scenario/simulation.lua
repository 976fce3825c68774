-- Reading, changing and running a simulation.
local tz = require "trapeze"
local c = require "checks"
local near = c.near

local sim = c.chip { precision = "double", fields = { temperature = 320, power = 0.001 } }
tz.expect(sim.step == 0 and sim.cells == 128 and sim.precision == "double")
tz.expect(sim.plugin == "hotspot" and sim.grid[1] == 16 and sim.grid[2] == 8 and #sim.grid == 2)
tz.expect(sim.name == "sim1" and sim.height >= 1 and sim.threads >= 1)
tz.expect(sim:get("temperature", 0, 0) == 320 and sim:get("power", 15, 7) == 0.001)
tz.expect(sim:min() == 320 and sim:max("temperature") == 320 and sim:mean() == 320)
near(sim:sum("power"), 0.128, 1e-12)
tz.expect(sim:population("power") == 128)
tz.expect(sim:hash():match "^%x+$" and #sim:hash() == 16)
tz.expect(tostring(sim):find "hotspot")

-- Regions: half open boxes.
sim:set("power", 0)
sim:set("power", 2, { x = { 3, 5 }, y = { 1, 4 } })
tz.expect(sim:population "power" == 6)
tz.expect(sim:get("power", 3, 1) == 2 and sim:get("power", 4, 3) == 2)
tz.expect(sim:get("power", 5, 1) == 0 and sim:get("power", 3, 4) == 0)
sim:set("power", function(x, y) return x + 100 * y end, { y = { 7, 8 } })
tz.expect(sim:get("power", 9, 7) == 709)
sim:set("power", tz.array { shape = { 2, 2 }, data = { 1, 2, 3, 4 } }, { x = { 0, 2 }, y = { 0, 2 } })
tz.expect(sim:get("power", 0, 0) == 1 and sim:get("power", 1, 0) == 2 and sim:get("power", 0, 1) == 3)
sim:set("power", 0)

-- Runs.
local r = sim:run { steps = 10 }
tz.expect(r.status == "done" and not r.converged)
tz.expect(r.steps == 10 and sim.step == 10 and r.stages >= 1 and r.seconds >= 0)
r = sim:run(5)
tz.expect(r.steps == 5 and sim.step == 15)
r = sim:run { until_residual = 1e-9, max_steps = 100 }
tz.expect(r.converged == (r.residual <= 1e-9))
tz.expect(r.status == (r.converged and "converged" or "max_steps") or tz.checking)
r = sim:run { until_update = 1e-3, max_steps = 4000, check_every = 7 }
tz.expect(r.converged == (r.update <= 1e-3) and (r.converged or r.steps == 4000) or tz.checking)

-- The same answer at any height.
local hashes = {}
for height = 1, 6 do
    local s <close> = c.chip { precision = "double", height = height,
                               fields = { temperature = tz.random { seed = 3, range = { 310, 330 } } } }
    s:run(13)
    hashes[#hashes + 1] = s:hash()
end
for i = 2, #hashes do
    tz.expect(hashes[i] == hashes[1], "height " .. i .. " gives other bits")
end

-- Parameters between runs.
tz.expect(sim:param "ambient_k" == 318.15)
sim:params { ambient_k = 300 }
tz.expect(sim:param "ambient_k" == 300 and sim:params().ambient_k == 300)
c.refuses("ambient_k", sim.param, sim, "ambient")

-- The plan.
local plan = sim:plan { height = 2 }
local height = sim.backend == "reference" and 1 or 2 -- the reference advances one step at a time
tz.expect(plan.height == height and sim.height == height and plan.why ~= "" and #plan.tile == 2)
tz.expect(sim:plan().height == height)
sim:plan { height = "auto" }

-- A plan is accepted as it was given, by all that takes plans. An extent of 0 is left to the backend.
local function same(a, b)
    for key, value in pairs(a) do
        if key ~= "why" then tz.expect(key == "tile" or b[key] == value, key .. " of the plan is another") end
    end
    for axis, extent in ipairs(a.tile) do tz.expect(b.tile[axis] == extent, "the plan's tile is another") end
end
plan = sim:plan()
same(plan, sim:plan(plan))
local given = { plugin = "hotspot", grid = { 16, 8 }, fields = { power = 0 } }
for key, value in pairs(plan) do given[key] = value end
same(plan, tz.simulation(given):plan())
local kept <close> = c.chip { policy = function(s) return s.plan end }
kept:run(4)
kept:policy(plan)
same(plan, kept:plan())
same(plan, sim:plan { height = plan.height, tile = { 0, 0 } })
c.refuses("'tile[2]' must be", sim.plan, sim, { tile = { 8, -1 } })

-- Back to step 0.
sim:rewind()
tz.expect(sim.step == 0)

-- Outputs that are functions.
local seen = {}
sim:every(4, function(s) seen[#seen + 1] = s.step end)
sim:run(10)
tz.expect(table.concat(seen, " ") == "0 4 8", table.concat(seen, " "))

-- An error in an output comes out of run, and the simulation is usable after it.
local broken = c.chip {}
broken:every(2, function(s) if s.step == 4 then error "on purpose" end end)
c.refuses("on purpose", broken.run, broken, 10)
tz.expect(broken.step == 4)
broken:set("temperature", 320)

-- A coroutine may run simulations.
local co = coroutine.wrap(function()
    for _ = 1, 3 do
        sim:run(1)
        coroutine.yield(sim.step)
    end
end)
tz.expect(co() == 11 and co() == 12 and co() == 13)

-- Analysis methods.
c.refuses("no analysis", sim.analyse, sim, "nothing")

-- Backends.
local known = {}
for _, name in ipairs(tz.backends()) do
    known[name] = true
end
tz.expect(known.reference and known.cpu)
tz.expect(type(tz.version) == "string")
