-- How runs end by a function of the script; methods of Runge and Kutta; time steps that adapt.
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

-- The order of methods, with all kinds of sides, against solutions of the cells' own equations.
local function cosine(k) return function(x) return math.cos(k * math.pi * (x + 0.5) / 40) end end
local function decay(k, x, t) return math.exp(-2 * (1 - math.cos(k * math.pi / 40)) * t) * cosine(k)(x) end
local cases = {
  { 20, { fields = { "u" }, rate = "lap(u)" }, { fields = { u = cosine(3) } }, function(x, t) return decay(3, x, t) end },
  { 20, { fields = { "u" }, rate = { u = "lap(u)" } }, { fields = { u = cosine(4) }, boundary = "periodic" }, function(x, t) return decay(4, x, t) end },
  { 2, { fields = { "p", "v" }, rate = { p = "v", v = "-p" } }, { fields = { p = 1 } }, function(x, t) return math.cos(t) end },
  { 4, { fields = { "u" }, let = { f = "cos(t)" }, rate = { u = "f - 0.5*u" } }, { fields = { u = 0 } },
    function(x, t) return (0.5 * math.cos(t) + math.sin(t) - 0.5 * math.exp(-0.5 * t)) / 1.25 end },
  { 2, { fields = { "u" }, outside = { u = { x = { { value = "-0.5*t^3" }, { flux = "t^3" } } } }, rate = { u = "lap(u) + 3*x*t^2" } },
    { fields = { u = 0 } }, function(x, t) return x * t ^ 3 end },
  { 20, { fields = { "u" }, rate = { u = "lap(u)" } }, { fields = { u = function(x) return 3 + math.sin(3 * math.pi * (x + 1) / 41) end },
    boundary = "fixed", boundary_values = { u = 3 } },
    function(x, t) return 3 + math.exp(-2 * (1 - math.cos(3 * math.pi / 41)) * t) * math.sin(3 * math.pi * (x + 1) / 41) end },
}
local function error_of(case, method, steps)
  local sim = tz.simulation { plugin = tz.stencil { dims = 1, dt = case[1] / steps, method = method, fields = case[2].fields,
    let = case[2].let, outside = case[2].outside, rate = case[2].rate }, grid = { 40 }, precision = "double",
    fields = case[3].fields, boundary = case[3].boundary, boundary_values = case[3].boundary_values, backend = "reference" }
  sim:run { until_time = case[1] }
  local worst = 0
  for x = 0, tz.checking and 0 or 39 do worst = math.max(worst, math.abs(sim:get(case[2].fields[1], x) - case[4](x, case[1]))) end
  return worst
end
for method, order in pairs { euler = 1, rk2 = 2, rk4 = 4 } do
  for i, case in ipairs(tz.args.backend and cases or {}) do
    local coarse, fine = error_of(case, method, 60), error_of(case, method, 120)
    c.near(math.log(coarse / fine, 2), order, 0.05)
    tz.expect(coarse < (order == 1 and 8 or order == 2 and 0.12 or 5e-5), ("case %d, %s: %g"):format(i, method, coarse))
  end
end

-- The same bits in every way, also with sides, noise and half.
local rk = tz.stencil { name = "rk", dims = 2, fields = { "u", "v" }, spacing = 0.5, dt = 0.01, method = "rk4",
  let = { f = "u - u^3 - v" }, outside = { u = { y = { { value = "sin(t + x/nx)" }, { flux = "v" } } } },
  rate = { u = "lap(u) + f", v = "0.3*lap(v, 4) + f[1,0] - v + 0.1*normal(3)" } }
local bits_ways = { { backend = "reference", height = 1 }, { height = 1 }, { height = 3 }, { family = "stream", height = 2 },
  { height = 1, devices = "cpu:3" } }
if tz.args.backend then bits_ways = { bits_ways[1] } end
for _, precision in ipairs { "double", "single" } do
  c.same_bits(rk, { grid = { 40, 37 }, precision = precision, fields = { u = c.noise(1, 0.9), v = c.noise(2, 0.9) } }, 7, bits_ways)
end
c.same_bits(rk, { grid = { 40, 37 }, storage = { u = "half" }, fields = { u = c.noise(1, 0.9) } }, 7, bits_ways)

-- What is refused.
local function refuses(pattern, options)
  options.dims, options.fields = 1, options.fields or { "u" }
  c.refuses(pattern, tz.stencil, options)
end
refuses("'rate' needs a time step: dt = 0.01", { rate = "lap(u)" })
refuses("'method' goes with 'rate'", { dt = 0.1, method = "rk4", update = "lap(u)" })
refuses("unknown method 'rk3'", { dt = 0.1, method = "rk3", rate = "lap(u)" })
refuses("give 'rate' or 'update' or 'passes'", { dt = 0.1, rate = "lap(u)", update = "u" })
refuses("'v' is no state field of real numbers: name it in 'fields'", { dt = 0.1, rate = { v = "u" } })
refuses("rate of 'u': unknown name 'w'; known: u, dt, pi, step, x;", { dt = 0.1, method = "rk4", rate = "u + w" })
refuses("'u' is no state field of real numbers", { dt = 0.1, fields = { u = "int" }, rate = "u" })
refuses("there is no parameter 'tau'", { dt = "tau", rate = "u" })
refuses("'dt' is a parameter already", { dt = 0.1, params = { dt = 1 }, rate = "u" })
refuses("name parts of it in 'let'", { dt = 0.1, fields = { u = "real", m = { role = "temporary" } }, rate = { u = "m" } })
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
