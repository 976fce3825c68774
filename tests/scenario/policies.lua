-- Policies: whichever chooses the plans, the bits are those of height 1.
local tz = require "trapeze"
local c = require "checks"

local stencils = {
    { plugin = "hotspot", grid = { 61, 37 }, precision = "double",
      fields = { temperature = tz.random { seed = 3, range = { 310, 330 } }, power = 0.001 } },
    { plugin = "poisson", grid = { 40, 29 }, boundary = "periodic",
      fields = { u = tz.random { seed = 4, range = { 0, 1 } } } },
    { plugin = "star3d1r", grid = { 17, 13, 11 },
      fields = { u = tz.random { seed = 5, range = { 0, 1 } } } },
    { plugin = "life", grid = { 97, 33 }, fields = { alive = tz.random { seed = 6, density = 0.4 } } },
    { plugin = "cell", grid = { 34, 5, 6 }, fields = { alive = tz.random { seed = 7, density = 0.3 } } },
    { plugin = "pathfinder", grid = { 1000 },
      fields = { weights = tz.random { seed = 8, range = { 0, 9 } } } },
}
local policies = {
    { policy = "fixed", height = 5 },
    { policy = "predicted" },
    { policy = "adaptive", start = 1 },
    { policy = "adaptive", start = "predicted" },
    { policy = "adaptive", height = 7 },
    { policy = "exhaustive" },
    { policy = "exhaustive", height = 3 },
    { policy = function(s) return { height = 1 + s.step * 7 % 5 } end },
    { height = "adaptive" },
    { height = "auto" },
}

-- Policies that this program has besides.
for name in (tz.args.searchers or ""):gmatch "%a+" do
    policies[#policies + 1] = { policy = name }
    policies[#policies + 1] = { policy = name, start = 2 }
end

-- Enough for searches to end on the cpu; the reference has one plan alone, and computes cell by cell.
local STEPS, OUTPUT, CHECK = table.unpack(tz.args.backend == "reference" and { 16, 7, 3 } or { 1500, 61, 37 })

-- Outputs cut stages short at odd steps; their fields are compared as well.
local function run(stencil, options)
    local all = {}
    for key, value in pairs(stencil) do all[key] = value end
    for key, value in pairs(options) do all[key] = value end
    all.threads = 1 -- the grids are tiny
    local sim <close> = tz.simulation(all)
    local seen = {}
    sim:every(OUTPUT, function(s) seen[#seen + 1] = s:hash() end)
    sim:run(STEPS // 3)
    sim:run { until_update = 0, max_steps = STEPS - STEPS // 3, check_every = CHECK, accept_stagnation = true }
    seen[#seen + 1] = sim:hash()
    return table.concat(seen, " ") .. " " .. sim.step
end

for _, stencil in ipairs(stencils) do
    local wanted = run(stencil, { height = 1 })
    for i, options in ipairs(policies) do
        tz.expect(run(stencil, options) == wanted, stencil.plugin .. ": policy " .. i .. " gives other bits")
    end
end

-- What a policy function receives and returns.
local calls, last = 0, nil
local sim = c.chip { policy = function(s)
    calls, last = calls + 1, s
    if s.step == 0 then return { height = 2 } end
    if s.step == 10 then return 3 end
end }
sim:run(20)
if not tz.checking then
    tz.expect(calls > 0 and last.step > 0 and last.step < 20 and last.plan.height >= 1)
    tz.expect(last.time_s > 0 and last.stages >= 1 and last.iterations == last.stages * last.plan.height)
    if sim.backend == "cpu" then
        tz.expect(sim.height == 3 and sim:plan().why:find("function at policies.lua", 1, true) or
                  sim:plan().why:find("function at ", 1, true), sim:plan().why)
    end
    local state = sim:policy()
    tz.expect(state.policy == "function" and not state.settled and #state.decisions >= 1)
    for _, d in ipairs(state.decisions) do
        tz.expect(d.step >= 0 and d.times >= 1 and d.to.height >= 1 and d.reason ~= "")
    end
end

-- A number means the same as a table of that height alone: the tile is chosen anew.
local function plan_after(first, second)
    local one = c.chip { grid = { 256, 256 }, threads = 1, policy = function(s)
        if s.step > 0 then return second end
        return first
    end }
    one:run(40)
    local plan = one:plan()
    return plan.height .. ": " .. table.concat(plan.tile, " x ")
end
local tiled = { height = 2, tile = { 16, 8 } }
tz.expect(plan_after(tiled, 3) == plan_after(tiled, { height = 3 }), plan_after(tiled, 3))

-- The predictions, where there are some.
local seen_prediction = false
local asking = c.chip { policy = function(s)
    local p = s.prediction
    tz.expect(s.nothing == nil)
    if p then
        tz.expect(p.height >= 1 and p.time_s > 0 and math.abs(p.heights[p.height] - p.time_s) < 1e-12)
        tz.expect(rawequal(p, s.prediction))
        seen_prediction = true
        return { height = p.height }
    end
end }
asking:run(20)
tz.expect(tz.checking or seen_prediction == (asking:policy("predicted").decisions[1].reason:find("^predicted: ") ~= nil))

-- Another policy between runs; sim:plan ends it.
local state = sim:policy { policy = "adaptive", start = 2 }
tz.expect(state.policy == "adaptive" and state.text:find "adaptive" and state.decisions[1].reason:find "height 2")
sim:run(5)
tz.expect(sim:policy("exhaustive").policy == "exhaustive")
tz.expect(sim:policy("predicted").policy == "predicted" and sim:plan().why ~= "")
sim:plan { height = 2 }
tz.expect(sim:policy().policy == "fixed" and sim:policy().settled)
sim:plan { height = "auto" }
tz.expect(sim:policy().policy == "auto")
tz.expect(sim:policy(function() end).policy == "function")
sim:run(5)

-- What is refused.
c.refuses("unknown policy 'adaptiv'; did you mean 'adaptive'?", c.chip, { policy = "adaptiv" })
c.refuses("'policy' must be a name or a function, not a number", c.chip, { policy = 3 })
c.refuses("'start' goes with policy = \"adaptive\"", c.chip, { policy = "predicted", start = 2 })
c.refuses("'start' goes with policy", c.chip, { start = 2 })
c.refuses("'start' must be a height or \"predicted\", not 'x'", c.chip, { policy = "adaptive", start = "x" })
c.refuses("'start' must be from 1", c.chip, { policy = "adaptive", start = 0 })
c.refuses("starts at 'start' or at 'height'", c.chip, { policy = "adaptive", start = 2, height = 3 })
c.refuses("names a policy and 'policy' another", c.chip, { policy = "fixed", height = "adaptive" })
c.refuses("sim:policy: unknown policy 'fixd'", sim.policy, sim, "fixd")
c.refuses("sim:policy: unknown key 'strat'; did you mean 'start'?", sim.policy, sim, { strat = 1 })
c.refuses("needs a name, a function or", sim.policy, sim, true)
tz.expect(sim:policy().policy == "function") -- a refused policy changes nothing

-- Errors of a function come out of run with their line, and the simulation is usable after them.
if not tz.checking then
    local function failing(f)
        return c.chip { policy = f }
    end
    local broken = failing(function(s) error "on purpose" end)
    c.refuses("policies.lua:143: on purpose", broken.run, broken, 10)
    broken:plan { height = 2 }
    broken:run(10)
    tz.expect(broken.step == 10)
    local bad = failing(function() return { hieght = 2 } end)
    c.refuses("policies.lua:148): unknown key 'hieght'; did you mean 'height'?", bad.run, bad, 10)
    bad = failing(function() return "high" end)
    c.refuses("must return a plan such as { height = 4 }, or nil to keep it, not a string", bad.run, bad, 10)
    bad = failing(function() return { height = "auto" } end)
    c.refuses("'height' must be an integer, not 'auto'", bad.run, bad, 10)
    if sim.backend == "cpu" then
        bad = failing(function() return { height = 100000 } end)
        c.refuses("height", bad.run, bad, 10)
        bad = failing(function() return { family = "tile" } end)
        c.refuses("'tile' is no family of the cpu backend", bad.run, bad, 10)
    end
    bad = failing(function(s) sim:run(1); bad:run(1) end)
    c.refuses("not from within an output of the same simulation", bad.run, bad, 10)
end
