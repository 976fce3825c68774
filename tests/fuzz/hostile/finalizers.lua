-- ok
-- Finalizers that fire inside a call and close or change what it works on.
local tz = require "trapeze"
local h = require "calm"
collectgarbage "generational"

for round = 1, 40 do
    local sim = h.chip { name = "s" .. round, policy = round % 2 == 0 and function() return { height = 2 } end or nil }
    local a = tz.array { shape = { 4, 4 } }
    local plan = tz.floorplan { flp = "plan.flp", ptrace = "plan.ptrace" }
    local function trap()
        setmetatable({}, { __gc = function()
            pcall(sim.policy, sim, "fixed")
            pcall(sim.run, sim, 1)
            pcall(sim.close, sim)
            pcall(a.close, a)
            pcall(plan.close, plan)
        end })
    end
    for k = 1, 100 do
        if k % 7 == round % 7 then
            trap()
        end
        pcall(function()
            sim:plan { height = 2, tile = { 8, 8 } }
            sim:policy()
            sim:params { ambient_k = 300 }
            sim:params()
            sim:array "temperature"
            return sim.grid, a.shape, #plan.units, sim:units(plan)
        end)
    end
end

-- Rows that a simulation reads live as long as the simulation: the finalizer comes between that of the array and that
-- of the simulation.
local total
for _ = 1, 3 do
    local sim = tz.simulation { plugin = "pathfinder", grid = { 64 },
                                fields = { weights = tz.random { seed = 1, range = { 0, 9 } } } }
    setmetatable({ sim }, { __gc = function(t)
        t[1]:run(32)
        total = t[1]:sum "cost"
    end })
    sim:set("weights", tz.array { shape = { 64, 33 }, dtype = "int32", fill = 3 })
end
collectgarbage()
collectgarbage()
h.expect(total == (tz.checking and 0 or 64 * 32 * 3), tostring(total))

-- An array that feeds a simulation is read-only as long as it does.
local rows = tz.array { shape = { 8, 9 }, dtype = "int32", fill = 3 }
local sim = tz.simulation { plugin = "pathfinder", grid = { 8 }, fields = { weights = rows } }
if not tz.checking then
    h.refuses("read-only", rows.set, rows, 0, 0, 1)
end
local again = tz.array { shape = { 8, 9 }, dtype = "int32", fill = 1 }
sim:set("weights", again)
rows:set(0, 0, 1)
again:close()
sim:run(8)
h.expect(sim:max "cost" == (tz.checking and 0 or 8))
sim:set("weights", tz.random { seed = 1, range = { 0, 9 } })
sim:close()
