-- ok
-- A great many outputs and calls.
local tz = require "trapeze"
local c = require "calm"
local sim = c.chip()
local calls = 0
for n = 1, 4000 do
    if not c.calm(sim.every, sim, 1, function() calls = calls + 1 end) then break end
end
sim:run { steps = 3 }
tz.expect(tz.checking or calls > 0)
for _ = 1, 2000 do c.calm(tz.log, "line") end
