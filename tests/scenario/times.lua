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

-- Time steps that adapt: the same bits and times in every way; the end exactly; the error near the tolerance, and smaller
-- with a smaller one; formulas know the time.
local function spike(x, y) return math.exp(-((x - 20) ^ 2 + (y - 18) ^ 2) / 9) end
local heat = tz.stencil { name = "heat", dims = 2, fields = { "u" }, dt = 0.01, method = "rk2",
  rate = "lap(u) + 0.1*sin(t)*u" }
local sharp = tz.stencil { name = "sharp", dims = 2, fields = { "u" }, dt = 1e-3, outside = { u = { x = { { value = "sin(t)" }, false } } },
  update = "u + dt*(0.5*lap(u) - u*dxm(u))", outputs = { largest_dt = "0.4/(1 + abs(u))" } }
for _, precision in ipairs { "double", "single" } do
  local wanted
  for i, way in ipairs(bits_ways) do
    local seen = {}
    for _, case in ipairs { { heat, { dt = "adaptive", tolerance = 1e-3, check_every = 3 } }, { sharp, { dt = "adaptive" } } } do
      local given = { plugin = case[1], grid = { 40, 37 }, precision = precision, fields = { u = spike } }
      for k, v in pairs(way) do given[k] = v end
      local sim = tz.simulation(given)
      local times = {}
      sim:every("0.5", function(s) times[#times + 1] = ("%.17g"):format(s:time()) end)
      case[2].until_time = 4.25
      local r = sim:run(case[2])
      tz.expect(tz.checking or sim:time() == 4.25, ("%.17g"):format(sim:time()))
      tz.expect(tz.checking or #times == 9, #times)
      seen[#seen + 1] = table.concat { sim:hash(), " ", r.steps, " ", ("%.17g "):format(sim:param "dt"), table.concat(times, " ") }
      tz.expect(tz.checking or sim:param "dt" > 0.1, sim:param "dt")
      sim:close()
    end
    local all = table.concat(seen, "\n")
    wanted = wanted or all
    tz.expect(tz.checking or all == wanted, ("way %d, %s:\n%s\n%s"):format(i, precision, wanted, all))
  end
end
local falls = tz.stencil { name = "falls", dims = 1, fields = { "u" }, dt = 0.05, rate = "-u*(1 + cos(t))" }
local before = 1
for _, tolerance in ipairs { 1e-3, 1e-5, 1e-7 } do
  local sim = tz.simulation { plugin = falls, grid = { 8 }, precision = "double", fields = { u = 1 } }
  sim:run { until_time = 1, dt = "adaptive", tolerance = tolerance }
  sim:run { until_time = 2, dt = "adaptive", tolerance = tolerance }
  if not tz.checking then
    local wrong = math.abs(sim:get("u", 3) - math.exp(-(2 + math.sin(2))))
    tz.expect(wrong < before / 4 and wrong < math.sqrt(tolerance), ("%g: %g"):format(tolerance, wrong))
    before = wrong
  end
end

-- A time step that is set on the way: t goes on.
local clock = tz.stencil { name = "clock", dims = 1, fields = { "u" }, dt = 0.5, update = "t + dt" }
local watch = tz.simulation { plugin = clock, grid = { 4 }, precision = "double" }
watch:run(3)
watch:params { dt = 0.125 }
watch:run(2)
tz.expect(tz.checking or (watch:get("u", 0) == 1.75 and watch:time() == 1.75))
watch:rewind()
watch:run(2)
tz.expect(tz.checking or (watch:get("u", 0) == 0.25 and watch:time() == 0.25))

-- What is refused.
local function fails(pattern, stencil, run, options)
  options = options or {}
  options.plugin, options.grid = stencil, { 12 }
  c.refuses(pattern, function() tz.simulation(options):run(run) end)
end
fails("needs 'tolerance', the error of a step, or a stencil with outputs = { largest_dt", falls, { steps = 3, dt = "adaptive" })
fails("'tolerance' goes with dt = \"adaptive\"", falls, { steps = 3, tolerance = 1 })
fails("'tolerance' must be above 0", falls, { steps = 3, dt = "adaptive", tolerance = 0 })
fails("goes with 'until_time', 'steps' or 'until_true'", falls, { until_residual = 3, dt = "adaptive", tolerance = 1 })
fails("give 'implicit' or dt", falls, { steps = 3, dt = "adaptive", tolerance = 1, implicit = 1 })
fails("sim:params { dt = 0.5 } sets the time step", falls, { steps = 3, dt = 0.5 })
fails("unknown dt 'adaptiv'; did you mean 'adaptive'", falls, { steps = 3, dt = "adaptiv" })
local noisy = tz.stencil { name = "noisy", dims = 1, fields = { "u" }, dt = 0.1, rate = "normal(1)" }
fails("two half steps have other random numbers", noisy, { steps = 3, dt = "adaptive", tolerance = 1 })
local timeless = tz.stencil { name = "timeless", dims = 1, fields = { "u" }, update = "u" }
fails("the stencil has no time step", timeless, { steps = 3, dt = "adaptive", tolerance = 1 })
local waves = tz.stencil { name = "waves", dims = 1, fields = { "u", "old" }, dt = 0.1, update = { u = "2*u - old + dt^2*lap(u)", old = "u" } }
fails("'old' has the values of the iteration before", waves, { steps = 3, dt = "adaptive", tolerance = 1 })
local whole = tz.stencil { name = "whole", dims = 1, fields = { u = "int" }, params = { dt = { value = 0.1, role = "time_step" } }, update = "u + 1" }
fails("no field that changes is of real numbers", whole, { steps = 3, dt = "adaptive", tolerance = 1 })
if not tz.checking then
  local soon = tz.stencil { name = "soon", dims = 1, fields = { "u" }, dt = 0.1, rate = "u^3" }
  fails("the fields grow without end", soon, { until_time = 10, dt = "adaptive", tolerance = 0.02 }, { precision = "double", fields = { u = 2 } })
  local none = tz.stencil { name = "none", dims = 1, fields = { "u" }, dt = 0.1, update = "u", outputs = { largest_dt = "u" } }
  fails("largest_dt is 0 in a cell at step 0", none, { steps = 3, dt = "adaptive" })
  fails("below what single precision can tell of values up to 1", falls, { steps = 3, dt = "adaptive", tolerance = 1e-8 }, { fields = { u = 1 } })
  local burst = tz.stencil { name = "burst", dims = 1, fields = { "u" }, dt = 0.1, rate = "exp(800 - u)" }
  fails("no time step down to", burst, { steps = 3, dt = "adaptive", tolerance = 1 }, { precision = "double" })
end
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
refuses("sim:run { dt = \"adaptive\", tolerance = 1e-5, ... } lets it change", { dt = "adaptive", rate = "u" })
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
