-- ok
-- What a function works on is closed or changed by the function that it calls.
local tz = require "trapeze"
local h = require "calm"
local within = "not from within"

local sim = h.chip { name = "fill" }
sim:set("power", function(x)
    h.refuses(within, sim.close, sim)
    h.refuses(within, sim.run, sim, 1)
    h.refuses(within, sim.set, sim, "power", 0)
    h.refuses(within, sim.params, sim, {})
    h.refuses(within, sim.plan, sim, { height = 2 })
    h.refuses(within, sim.policy, sim, "fixed")
    h.refuses(within, sim.rewind, sim)
    h.refuses(within, sim.every, sim, 1, tz.npy())
    h.refuses(within, function() local scoped <close> = sim end)
    -- The same from a coroutine, and from one that is closed.
    coroutine.wrap(function() h.refuses(within, sim.close, sim) end)()
    local closing = coroutine.create(function()
        local scoped <close> = setmetatable({}, { __close = function() h.refuses(within, sim.close, sim) end })
        coroutine.yield()
    end)
    coroutine.resume(closing)
    h.expect(coroutine.close(closing))
    h.expect(sim:get("temperature", 0, 0) ~= nil)
    return x
end)
-- An error in the function does not keep the simulation in use.
h.refuses("thrown", sim.set, sim, "power", function() error "thrown" end)
h.refuses("thrown", coroutine.wrap(function() sim:set("power", function() error "thrown" end) end))
local stopped = coroutine.create(function() sim:set("power", function() error "thrown" end) end)
coroutine.resume(stopped)
h.refuses("yield", coroutine.wrap(function() sim:set("power", function() coroutine.yield(1) end) end))
sim:set("power", 0)
sim:close()

-- The constructor's own simulation is not known to the function; other objects are.
local other = h.chip { name = "other" }
h.chip { name = "fields", fields = { power = function() other:run(1) return 0 end } }
other:close()

-- A policy, an output, a column of a table.
local calls, busy = 0
local function try(s)
    h.refuses(within, s.close, s)
    h.refuses(within, s.run, s, 1)
    h.refuses(within, s.policy, s, "fixed")
    calls = calls + 1
    return 1
end
busy = h.chip { name = "busy", policy = function() try(busy) return { height = 2 } end }
busy:every(2, tz.table { "step", calls = try })
busy:every(1, try)
busy:run(4)
h.expect(calls >= 8 or tz.checking and calls == 0, calls)
busy:close()

-- An array and a floorplan.
local a = tz.array { shape = 4, fill = 1 }
local plan = tz.floorplan { flp = "plan.flp", ptrace = "plan.ptrace" }
local third = h.chip { name = "third" }
third:set("power", function() a:close() plan:close() return 0 end, { x = { 0, 1 }, y = { 0, 1 } })
h.refuses("closed", a.get, a, 0)
h.refuses("closed", third.set, third, "power", plan)
