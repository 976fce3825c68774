-- sim:jump and sim:steady. tests/jump compares them with exact iterations.
local tz = require "trapeze"
local c = require "checks"

local function largest_difference(a, b, field)
  local most, n = 0, a.grid
  for z = 0, (n[3] or 1) - 1 do
    for y = 0, n[2] - 1 do
      for x = 0, n[1] - 1 do
        local at = n[3] and { x, y, z } or { x, y }
        most = math.max(most, math.abs(a:get(field, table.unpack(at)) - b:get(field, table.unpack(at))))
      end
    end
  end
  return most
end

-- ---- What cannot be jumped, and why ----------------------------------------------------------------------

local function refuses(pattern, options, before)
  options.grid = options.grid or { 24, 20 }
  local sim = tz.simulation(options)
  if before then before(sim) end
  c.refuses("it cannot be jumped, because " .. pattern, sim.jump, sim, 10)
  sim:close()
end
refuses("field 'alive' holds bits", { plugin = "life", grid = { 64, 64 } })
refuses("field 'state' holds integers", { plugin = "cyclic" })
refuses("field 'cost' holds integers", { plugin = "pathfinder", grid = { 64 }, fields = { weights = tz.random { seed = 1, range = { 0, 9 } } } })
refuses("it has 9 coupled state fields: at most 2 can be", { plugin = "lbm" })
refuses("it has scalars that vary", { plugin = "wave2d" })
refuses("the sides of axis y differ (clamp:fixed)", { plugin = "star2d1r", boundary = { x = "clamp", y = { "clamp", "fixed" } } })
c.refuses("sim:jump: needs a number of steps", c.chip().jump, c.chip())
c.refuses("sim:jump: unknown key 'stepss'; did you mean 'steps'?", c.chip().jump, c.chip(), { stepss = 3 })
c.refuses("sim:jump: give 'steps' or 'until_time'", c.chip().jump, c.chip(), { every = 3 })
c.refuses("sim:jump: 'steps' must be", c.chip().jump, c.chip(), -1)

-- In check mode nothing is tried.
local probe = tz.simulation { plugin = "star2d1r", grid = { 16, 12 } }
local works, why = pcall(probe.jump, probe, 5)
if not works and why:find("libfftw3, which is not found", 1, true) then
  print "skipped: no libfftw3 on this machine"
  return
end
tz.expect(works, why)
tz.expect(probe.step == 5)
if tz.checking then return end

refuses("it reads 2 cells past the clamp sides of axis x", { plugin = "star2d2r", boundary = "clamp" })
refuses("it reads 2 cells past the fixed sides of axis x", { plugin = "star2d2r", boundary = "fixed" })
refuses("it is not linear: of values between", { plugin = "grayscott" })
local viscous = tz.stencil { coefficients = { { 0, 0.25, 0 }, { 0.25, 0, 0.25 }, { 0, 0.25, 0 } }, v = "v",
  fields = { u = {}, v = { role = "static", initial = 0.5 } } }
refuses("its coefficients follow field 'v', which differs from cell to cell (from 0.5 to 0.6)",
  { plugin = viscous, fields = { v = function(x, y) return x == 3 and y == 4 and 0.6 or 0.5 end } })
refuses("its coefficients vary from cell to cell: in cell (17, 11, 0)",
  { plugin = tz.stencil { dims = 2, update = "0.5*u + 0.125*(u[-1,0] + u[1,0]) + (x == 17 and y == 11 ? 0.1 : 0)*u" } })
refuses("it is not linear", { plugin = tz.stencil { dims = 2, update = "min(0.5*(u[-1,0] + u[1,0]), 3)" } })
refuses("it is not linear", { plugin = tz.stencil { dims = 2, update = "abs(u)" } })
refuses("iterations differ", { plugin = tz.stencil { dims = 2, update = "step > 100 ? 0.5*u : 0.25*u" } })
refuses("it is not even along axis x, whose sides are clamp",
  { plugin = tz.stencil { dims = 2, update = "u + 0.25*(u[-1,0] - u)" }, boundary = "clamp" })

-- ---- The same as sim:run -----------------------------------------------------------------------------------

local function start(x, y) return math.sin(0.7 * x + 0.3 * y) + 0.2 * x + (x * y) % 5 end
local function both(options, steps, tolerance)
  options.grid = options.grid or { 21, 16 }
  options.precision = options.precision or "double"
  options.backend = tz.args.backend
  local jumped, stepped = tz.simulation(options), tz.simulation(options)
  jumped:jump(steps)
  stepped:run(steps)
  tz.expect(jumped.step == steps)
  local off = largest_difference(jumped, stepped, options.field or "u")
  tz.expect(off <= tolerance, ("%s: %g"):format(tostring(options.plugin), off))
  jumped:close()
  stepped:close()
end
-- A coefficient field that is the same everywhere is none.
both({ plugin = viscous, fields = { u = start, v = 0.9 } }, 200, 1e-13)
-- Form 2: two levels, waves.
local waves = tz.stencil { coefficients = { { 0, 0.2, 0 }, { 0.2, 1.2, 0.2 }, { 0, 0.2, 0 } }, a = -1, old = "before",
  fields = { u = {}, before = {} } }
for _, sides in ipairs { "clamp", "periodic", "fixed", "mirror" } do
  both({ plugin = waves, boundary = sides, fields = { u = start, before = start } }, 300, 1e-11)
end
-- Upwind: complex symbols. Two passes, of which each reflects at its sides.
both({ plugin = tz.stencil { dims = 2, update = "u + 0.25*(u[-1,0] - u) + 0.125*(u[0,1] - u)" }, boundary = "periodic",
  fields = { u = start } }, 100, 1e-13)
local smooth = "0.5*u + 0.125*(u[-1,0] + u[1,0] + u[0,-1] + u[0,1])"
both({ plugin = tz.stencil { dims = 2, fields = { u = {} }, passes = { { u = smooth }, { u = smooth } } },
  boundary = "clamp", fields = { u = start } }, 50, 1e-13)
-- Other values past each fixed side, and single precision.
both({ plugin = "star2d1r", boundary = "fixed", boundary_values = { u = { x = { 1, 2 }, y = { 3, -4 } } },
  fields = { u = start } }, 500, 1e-13)
both({ plugin = "star2d1r", precision = "single", fields = { u = start } }, 500, 2e-5)
both({ plugin = "box3d1r", grid = { 7, 6, 9 }, fields = { u = start } }, 20, 1e-13)
if tz.args.backend ~= "reference" then
  both({ plugin = "star2d1r", devices = "cpu:2", fields = { u = start } }, 100, 1e-13)
end

-- ---- With outputs, in parts, mixed with sim:run -------------------------------------------------------------

local sim = tz.simulation { plugin = "star2d1r", grid = { 20, 20 }, precision = "double", fields = { u = start },
  name = "parts" }
local seen = {}
sim:every(30, function(s) seen[#seen + 1] = s.step end)
local before = sim:mean "u"
sim:run(10)
local result = sim:jump { steps = 1000, every = 7 }
tz.expect(result.status == "done" and result.steps == 1000 and result.seconds > 0)
sim:run(5)
tz.expect(sim.step == 1015 and #seen == 34 and seen[2] == 30 and seen[34] == 990)
c.near(sim:mean "u", before, 1e-14 * before)
local once = tz.simulation { plugin = "star2d1r", grid = { 20, 20 }, precision = "double", fields = { u = start } }
once:jump(1015)
tz.expect(largest_difference(sim, once, "u") < 1e-14 * sim:max "u")
tz.expect(sim:jump(0).steps == 0 and sim.step == 1015)

-- What it found is forgotten when parameters or static fields change.
local chip = c.chip { precision = "double" }
chip:jump { until_time = "1 ms" }
c.near(chip:time(), 1e-3, 1e-5)
chip:set("power", 0.01)
chip:params { ambient_k = 300 }
local other = c.chip { precision = "double", fields = { temperature = chip:array "temperature" } }
other:set("power", 0.01)
other:params { ambient_k = 300 }
chip:jump(100)
other:run(100)
tz.expect(largest_difference(chip, other, "temperature") < 1e-10)

-- What was tried on small values is tried again on large ones.
local bent = tz.simulation { plugin = tz.stencil { dims = 1, update = "min(0.5*u + 0.25*(u[-1] + u[1]), 1e12)" },
  grid = { 32 }, precision = "double", fields = { u = function(x) return x % 3 end } }
bent:jump(10)
bent:set("u", 2e12)
c.refuses("it is not linear", bent.jump, bent, 10)

-- ---- Steady states ------------------------------------------------------------------------------------------

local hot = c.chip { precision = "double", fields = { power = function(x, y) return 1e-3 * (x + y) end } }
local step = hot.step
local residual = hot:steady()
tz.expect(residual == hot:residual() and residual < 1e-12 and hot.step == step)
local again = c.chip { precision = "double", fields = { temperature = hot:array "temperature" } }
hot:run(10)
tz.expect(largest_difference(hot, again, "temperature") < 1e-10)
-- Nothing takes the mean away: it stays, or feeds for ever.
probe:set("u", function(x, y) return x end)
probe:steady()
c.near(probe:min "u", 7.5, 1e-6)
c.near(probe:max "u", 7.5, 1e-6)
local fed = tz.simulation { plugin = "poisson", boundary = "periodic", grid = { 16, 16 }, precision = "double",
  fields = { f = 1, u = start } }
local hash = fed:hash "u"
c.refuses("there is no steady state: what the source adds has a mean", fed.steady, fed)
tz.expect(fed:hash "u" == hash)
fed:set("f", function(x) return math.cos(2 * math.pi * x / 16) end)
tz.expect(fed:steady() < 1e-9)
-- Between mirror sides a corner counts a quarter, and a side half.
local nodes = tz.simulation { plugin = "poisson", boundary = "mirror", grid = { 12, 12 }, precision = "double" }
local function charges(side)
  nodes:set("f", function(x, y) return x == 0 and y == 0 and 4 or x == 5 and y == 11 and side or 0 end)
end
charges(-4) -- their plain sum is 0
c.refuses("at a mirror side count half", nodes.steady, nodes)
local hopeless = nodes:run { until_residual = 1e-9 }
tz.expect(hopeless.status == "inconsistent" and hopeless.steps == 0 and not hopeless.converged)
charges(-2)
tz.expect(nodes:steady() < 1e-9)
tz.expect(nodes:run { until_residual = 1e-9, max_steps = 10 }.converged)
local wave = tz.simulation { plugin = waves, grid = { 16, 16 }, boundary = "fixed", fields = { u = start } }
c.refuses("there is no steady state: some waves move for ever", wave.steady, wave)
local growing = tz.simulation { plugin = tz.stencil { dims = 1, update = "1.01*u" }, grid = { 16 }, fields = { u = 1 } }
c.refuses("there is no steady state: an iteration makes some waves larger", growing.steady, growing)
growing:jump(100)
c.near(growing:get("u", 3), 1.01 ^ 100, 1e-6)
c.refuses("is not finite", growing.jump, growing, 1000000)
