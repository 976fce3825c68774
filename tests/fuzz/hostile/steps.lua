-- ok
-- Numbers of steps do not overflow.
local c = require "calm"
local sim = c.chip()
sim:run { steps = 3 }
c.refused(sim.run, sim, { steps = math.maxinteger })
c.refused(sim.run, sim, { steps = -1 })
c.refused(sim.every, sim, math.mininteger, function() end)
c.calm(sim.run, sim, { until_residual = 1e-30, max_steps = 10 })
