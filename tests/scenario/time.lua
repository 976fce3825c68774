-- Simulated time: sim:time(), until_time, every("0.1 ms", …), tables, captions.
local tz = require "trapeze"
local c = require "checks"
local refuses, near = c.refuses, c.near

local sim = c.chip { params = { dt_s = 1e-6 } }
tz.expect(sim:time() == 0)
local seen, times = {}, {}
sim:every("0.1 ms", function(s) seen[#seen + 1] = s.step times[#times + 1] = s:time() end)
sim:every("0.25 ms", tz.png("temperature", { name = "t", caption = "{time} of {{x}}: {step}, {field}" }))
sim:every(500, tz.table { "step", "time", name = "times", now = function(s) return s:time() end })
local r = sim:run { until_time = "2 ms" } -- 2000 steps, although 1e-6 is not exact
tz.expect(r.steps == 2000 and sim.step == 2000)
near(sim:time(), 2e-3, 1e-18)
tz.expect(tz.checking or #seen == 21 and seen[21] == 2000)
for i, step in ipairs(seen) do
    tz.expect(step == 100 * (i - 1))
end

-- The time so far stays when the time step changes; multiples count from step 0 still.
sim:params { dt_s = 4e-7 }
near(sim:time(), 2e-3, 1e-18)
sim:run { until_time = 0.00225 } -- a number: in the parameter's unit
tz.expect(sim.step == 2625)
near(sim:time(), 2.25e-3, 1e-17)
tz.expect(tz.checking or seen[22] == 2250 and seen[23] == 2500 and #seen == 23)
tz.expect(sim:run { until_time = "2 ms" }.steps == 0) -- reached before
tz.expect(sim:run { until_time = "2250.1 us" }.steps == 1) -- the first step at or after it
sim:rewind()
tz.expect(sim:time() == 0 and sim:run { until_time = "4 µs" }.steps == 10)

-- Refusals.
refuses("known: s, ms, us, µs, ns, min, h", sim.run, sim, { until_time = "2 parsec" })
refuses("has no unit", sim.run, sim, { until_time = "2" })
refuses("not a time", sim.run, sim, { until_time = "soon" })
refuses("must be finite and not negative", sim.run, sim, { until_time = "-2 ms" })
refuses("must be finite and not negative", sim.run, sim, { until_time = 0 / 0 })
refuses("too many steps", sim.run, sim, { until_time = 1e300 })
refuses("must be a text such as \"2 ms\" or a number in s", sim.run, sim, { until_time = {} })
refuses("give 'steps' or 'until_time'", sim.run, sim, { until_time = 1, steps = 3 })
refuses("give 'steps' or 'until_time'", sim.run, sim, { until_time = 1, until_residual = 3 })
refuses("known: s, ms", sim.every, sim, "1 m", function() end)
refuses("must be positive", sim.every, sim, "0 s", function() end)
refuses("unexpected argument 1", sim.time, sim, "ms")
refuses("did you mean 'step'?", tz.png, "temperature", { caption = "{stp}" })
refuses("closing brace", tz.png, "temperature", { caption = "{step" })
refuses("has a placeholder", tz.png, "temperature", { name = "t-{step}" })
refuses("has a placeholder", tz.simulation, { plugin = "hotspot", grid = { 4, 4 }, name = "{time}" })

-- A stencil without a time step.
local life = tz.simulation { plugin = "life", grid = { 16, 8 }, name = "life" }
refuses("life has no time step", life.time, life)
refuses("life has no time step", life.run, life, { until_time = "1 s" })
refuses("life has no time step", life.every, life, "1 s", function() end)
refuses("life has none", life.every, life, 1, tz.table { "time" })
refuses("life has none", life.every, life, 1, tz.png("alive", { caption = "{time}" }))
life:every(4, tz.png("alive", { caption = "step {step}" }))
life:run(4)

-- Pictures of arrays: a simulation has a step, an array has none.
tz.picture { data = sim, field = "power", file = "p.png", caption = "{field} at {time}" }
refuses("{step} is of a simulation", tz.picture,
        { data = sim:array "power", file = "q.png", caption = "{step}" })
refuses("life has none", tz.picture, { data = life, file = "q.png", caption = "{time}" })
