-- Handles: closing, collecting, use after close.
local tz = require "trapeze"
local c = require "checks"

local sim = c.chip {}
sim:close()
sim:close()
tz.expect(tostring(sim):find "closed")
for method, count in pairs { run = 1, get = 3, set = 3, min = 1, hash = 1, array = 1, every = 2, write = 1, params = 1,
                            param = 1, plan = 1, rewind = 0, residual = 0, analyse = 1, slabs = 3 } do
    c.refuses("closed", sim[method], sim, table.unpack({ "temperature", 1, 1 }, 1, count))
end
c.refuses("closed", function() return sim.step end)

do
    local s <close> = c.chip {}
    sim = s
end
c.refuses("closed", sim.run, sim, 1)

-- Nothing refers to them: the collector closes them.
for _ = 1, 200 do
    c.chip { grid = { 64, 64 } }
    tz.array { shape = { 64, 64 } }
end
collectgarbage()
collectgarbage()

-- Not from within an output of the same simulation.
local busy = c.chip { name = "busy" }
busy:every(1, function(s)
    c.refuses("not from within", s.run, s, 1)
    c.refuses("not from within", s.close, s)
    c.refuses("not from within", s.set, s, "power", 0)
    tz.expect(s:max() > 0)
end)
busy:run(2)

-- Methods need a simulation.
c.refuses("needs a simulation, not a table", busy.run, {}, 1)
c.refuses("needs a simulation, not no value", busy.run)
tz.expect(getmetatable(busy) == "trapeze.simulation")

local a = tz.array { shape = 3 }
a:close()
a:close()
c.refuses("is closed", a.get, a, 0)
tz.expect(tostring(a):find "closed")
c.refuses("closed", c.chip, { name = "x", fields = { power = a } })
