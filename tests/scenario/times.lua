-- How runs end by a function of the script.
local tz = require "trapeze"
local c = require "checks"

local ways = { {}, { plan = { height = 1 } }, { plan = { height = 7 } }, { backend = "cpu", threads = 1, plan = { family = "diamond", height = 16 } } }
if tz.args.backend then ways = { {} } end

-- A function ends a run at the same step with every plan, and says why.
local grow = tz.stencil { name = "grow", dims = 2, fields = { "u" }, params = { dt = { value = 0.1, role = "time_step" } },
  update = "u + dt*(0.4*lap(u) + 0.05)" }
for i, way in ipairs(ways) do
  local given = { plugin = grow, grid = { 40, 36 }, fields = { u = function(x, y) return (x * y) % 3 * 0.01 end } }
  for k, v in pairs(way) do if k ~= "plan" then given[k] = v end end
  local sim = tz.simulation(given)
  if way.plan then sim:plan(way.plan) end
  local steps, rows = {}, 0
  sim:every(11, function(s) rows = rows + 1 end)
  local r = sim:run { until_true = function(s) steps[#steps + 1] = s.step return s:mean("u") > 0.3 end, check_every = 20, max_steps = 500 }
  tz.expect(tz.checking or (r.status == "until" and r.steps == 60 and table.concat(steps, " ") == "0 20 40 60" and not r.converged and rows == 6),
    ("%s after %d steps, asked at %s"):format(r.status, r.steps, table.concat(steps, " ")))
  tz.expect(tz.checking or r.why:find("^function at .*times.lua:%d+ is true$"), tostring(r.why))
  steps = {}
  r = sim:run { until_true = function(s) steps[#steps + 1] = s.step return false end, check_every = 64, max_steps = 100 }
  tz.expect(tz.checking or (r.status == "max_steps" and r.steps == 100 and table.concat(steps, " ") == "60 64 128 160"), table.concat(steps, " "))
  r = sim:run { until_true = function(s) return true end }
  tz.expect(tz.checking or (r.status == "until" and r.steps == 0 and sim.step == 160))
  -- sim:stop ends a run of any kind after all that is due there.
  local seen
  sim:every(50, function(s) if s.step == 250 then s:stop("enough") end end)
  sim:every(50, function(s) seen = s.step end)
  for _, options in ipairs { 300, { until_time = 100 }, { until_update = 0, max_steps = 400 } } do
    r = sim:run(options)
    tz.expect(tz.checking or (r.status == "stopped" and r.why == "enough" and sim.step == 250 and seen == 250), r.status)
    sim:rewind()
    sim:run(160)
  end
end

-- What is refused.
local sim = tz.simulation { plugin = grow, grid = { 8, 8 } }
local function never() return false end
c.refuses("'until_true' must be a function(sim) that returns true or false", sim.run, sim, { until_true = 3 })
c.refuses("give 'steps' or 'until_time' or", sim.run, sim, { until_true = never, steps = 4 })
c.refuses("give 'steps' or 'until_time' or", sim.run, sim, { until_true = never, until_residual = 1 })
c.refuses("'check_every' must be at least 1", sim.run, sim, { until_true = never, check_every = 0 })
c.refuses("'accept_stagnation' goes with", sim.run, sim, { until_true = never, accept_stagnation = true })
c.refuses("'implicit' goes with 'until_time' or 'steps'", sim.run, sim, { until_true = never, implicit = 1 })
if not tz.checking then
  c.refuses("must return true or false, not a number: compare it", sim.run, sim, { until_true = function() return 3 end })
  c.refuses("must return true or false, not nil: does it end with return?", sim.run, sim, { until_true = function() end })
  c.refuses("of its own", sim.run, sim, { until_true = function() error("of its own") end })
  c.refuses("not from within", sim.run, sim, { until_true = function(s) s:run(3) end })
  c.refuses("sim:stop: no run is under way", sim.stop, sim)
end
