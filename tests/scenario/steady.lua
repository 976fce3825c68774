-- sim:steady with coefficients that differ from cell to cell, several fields and different sides: against closed forms and
-- a dense solution in this script.
local tz = require "trapeze"
local c = require "checks"
local backend = tz.args.backend

local function steady(sim, options)
  options = options or {}
  options.by = options.by or "solver"
  local residual, result = sim:steady(options)
  tz.expect(residual == result.residual or tz.checking)
  return result
end
local function make(options)
  options.precision = options.precision or "double"
  -- What is compiled already, or what needs it: others would wait for the compiler.
  local cpu = type(options.plugin) == "string" or options.threads or options.devices
  options.backend = options.backend or backend or (cpu and "cpu" or "reference")
  return tz.simulation(options)
end

c.refuses("sim:steady: needs a table of options", c.chip().steady, c.chip(), 3)
c.refuses("sim:steady: 'tolerance' must not be negative", c.chip().steady, c.chip(), { tolerance = -1 })
c.refuses("sim:steady: unknown by 'hand'", c.chip().steady, c.chip(), { by = "hand" })
c.refuses("field 'alive' holds no real numbers", function() tz.simulation { plugin = "life", grid = { 32, 32 } }:steady() end)
c.refuses("iterations differ", function()
  make { plugin = tz.stencil { dims = 1, update = "step > 3 ? 0.5*u : u" }, grid = { 8 } }:steady()
end)
if tz.checking then return end
c.refuses("it cannot be solved, because it is not linear", function()
  make { plugin = tz.stencil { dims = 1, update = "0.5*max(u[-1], u[1])" }, grid = { 9 }, boundary = "mirror", fields = { u = 1 } }:steady()
end)
c.refuses("it cannot be solved, because it is not linear", function()
  make { plugin = "grayscott", grid = { 16, 16 }, fields = { u = 1 } }:steady { by = "solver" }
end)

-- ---- Closed forms ------------------------------------------------------------------------------------------

-- Heat through two layers, 1000 times as conductive one as the other: the flux is the same in both.
local layers = tz.stencil { dims = 2, fields = { t = {}, g = { role = "static" } }, -- g: between a cell and the next in x
  update = { t = "t + 0.2*(g*(t[1,0] - t) + g[-1,0]*(t[-1,0] - t))" } }
for _, precision in ipairs { "double", "single" } do
  local n, m = 20, 5 -- cells 0 to m - 1 conduct badly
  local wall = make { plugin = layers, grid = { n, 6 }, boundary = { x = { "fixed", "fixed" }, y = { "clamp", "mirror" } },
    precision = precision, boundary_values = { t = { x = { 1, 3 }, y = 0 }, g = { x = { 0.001, 1 }, y = 1 } },
    fields = { g = function(x) return x < m and 0.001 or 1 end } }
  local result = steady(wall)
  tz.expect(result.status == "converged" and result.solver == "conjugate gradients")
  local resistance = (m + 1) / 0.001 + (n - m)
  for x = 0, n - 1 do
    local passed = x < m and (x + 1) / 0.001 or (m + 1) / 0.001 + (x - m)
    c.near(wall:get("t", x, 3), 1 + 2 * passed / resistance, precision == "double" and 1e-9 or 3e-7)
  end
end

-- A fin: u'' = q u, held at 1 at its foot, insulated at its end. As differences: cosh of an angle a cell.
local fin = make { plugin = tz.stencil { dims = 1, update = "u + 0.3*(u[-1] - 2*u + u[1] - 0.01*u)" }, grid = { 50 },
  boundary = { x = { "fixed", "clamp" } }, boundary_values = { u = 1 } }
steady(fin)
local cosh = function(a) return (math.exp(a) + math.exp(-a)) / 2 end
local y = 1 + 0.01 / 2
local angle = math.log(y + math.sqrt(y * y - 1))
for x = 0, 49 do c.near(fin:get("u", x), cosh(angle * (49.5 - x)) / cosh(angle * 50.5), 1e-12) end

-- ---- Random coefficients against a dense solution ----------------------------------------------------------

local function dense(a, b)
  local n = #b
  for k = 1, n do
    local best = k
    for i = k + 1, n do if math.abs(a[i][k]) > math.abs(a[best][k]) then best = i end end
    a[k], a[best], b[k], b[best] = a[best], a[k], b[best], b[k]
    for i = k + 1, n do
      local f = a[i][k] / a[k][k]
      if f ~= 0 then
        for j = k, n do a[i][j] = a[i][j] - f * a[k][j] end
        b[i] = b[i] - f * b[k]
      end
    end
  end
  for i = n, 1, -1 do
    for j = i + 1, n do b[i] = b[i] - a[i][j] * b[j] end
    b[i] = b[i] / a[i][i]
  end
  return b
end

-- Two fields that exchange, each with coefficients of its own, between four kinds of sides.
local nx, ny = 7, 5
local function random(seed, x, y) return (math.sin(12.9898 * x + 78.233 * y + seed) * 43758.5453) % 1 end
local function k(x, y) return 10 ^ (3 * random(1, x, y) - 3) end
local function exchange(x, y) return 0.1 * random(2, x, y) end
local function f(x, y) return random(3, x, y) - 0.5 end
local pair = tz.stencil { dims = 2, fields = { u = {}, v = {}, k = { role = "static" }, h = { role = "static" }, f = { role = "static" } },
  update = { u = "u + k*(0.4*(u[1,0] - u) + 0.3*(u[-1,0] - u) + 0.1*(u[0,1] - 2*u + u[0,-1])) + h*(v - u) + f",
             v = "v + 0.1*lap(v) + 2*h*(u - v)" } }
local sides = { x = { "fixed", "mirror" }, y = { "clamp", "mirror" } }
local function coupled(options)
  options.plugin, options.grid, options.boundary, options.fields = pair, { nx, ny }, sides, { k = k, h = exchange, f = f }
  options.boundary_values = { u = { x = { 2, 0 }, y = 0 }, v = { x = { -1, 0 }, y = 0 }, k = 1, h = 0, f = 0 }
  return make(options)
end
local function index(field, x, y)
  if x == nx then x = nx - 2 end
  if y < 0 then y = 0 elseif y == ny then y = ny - 2 end
  return x >= 0 and field * nx * ny + y * nx + x + 1 or nil
end
local a, b = {}, {}
for i = 1, 2 * nx * ny do
  a[i], b[i] = {}, 0
  for j = 1, 2 * nx * ny do a[i][j] = 0 end
end
for y = 0, ny - 1 do
  for x = 0, nx - 1 do
    local function add(row, field, x, y, weight)
      local to = index(field, x, y)
      if to then a[row][to] = a[row][to] - weight else b[row] = b[row] + weight * (field == 0 and 2 or -1) end
    end
    local u, v, kk, h = index(0, x, y), index(1, x, y), k(x, y), exchange(x, y)
    add(u, 0, x + 1, y, 0.4 * kk)
    add(u, 0, x - 1, y, 0.3 * kk)
    add(u, 0, x, y - 1, 0.1 * kk)
    add(u, 0, x, y + 1, 0.1 * kk)
    add(u, 0, x, y, -0.9 * kk - h)
    add(u, 1, x, y, h)
    b[u] = b[u] + f(x, y)
    for _, o in ipairs { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } } do add(v, 1, x + o[1], y + o[2], 0.1) end
    add(v, 1, x, y, -0.4 - 2 * h)
    add(v, 0, x, y, 2 * h)
  end
end
local exact = dense(a, b)
local largest = 0
for _, value in ipairs(exact) do largest = math.max(largest, math.abs(value)) end
local factors, why = pcall(function() coupled {}:steady { by = "direct" } end)
tz.expect(factors or why:find("apt-get install libumfpack5", 1, true), why)
if not factors then print "skipped: no libumfpack on this machine" end
for _, way in ipairs { {}, { threads = 1 }, { devices = "cpu:2" }, factors and { by = "direct" } or nil } do
  if not (way.devices and backend) then
    local by = way.by
    way.by = nil
    local sim = coupled(way)
    local result = steady(sim, { by = by })
    tz.expect(result.solver == (by and "UMFPACK" or "conjugate residuals"), result.solver)
    for y = 0, ny - 1 do
      for x = 0, nx - 1 do
        c.near(sim:get("u", x, y), exact[index(0, x, y)], 1e-11 * largest)
        c.near(sim:get("v", x, y), exact[index(1, x, y)], 1e-11 * largest)
      end
    end
  end
end

-- Coolant in channels between slow and quick cells: BiCGSTAB grew beyond all bounds.
local channels = tz.stencil {
  dims = 2, fields = { u = {}, heat = { role = "static" }, flow = { role = "static" } },
  update = { u = "u + 2e-4/heat * (u[1,0] + u[-1,0] + 1e3*(u[0,1] + u[0,-1]) - 2002*u + flow*((x == 0 ? 1 : u[-1,0]) - u))" },
}
local cooled = make {
  plugin = channels, grid = { 64, 32 }, boundary = "clamp",
  fields = { heat = function(_, y) return y % 8 < 4 and 1 or 1e3 end, flow = function(_, y) return y % 8 == 2 and 2500 or 0 end, u = function(_, y) return y % 3 end },
}
steady(cooled)
tz.expect(tz.checking or cooled:sum "u" > 2048 * (1 - 1e-9) and cooled:max "u" < 1 + 1e-9)

-- ---- The same state whatever computes it -------------------------------------------------------------------

local hash
for _, way in ipairs { { threads = 1 }, { threads = 2 }, { height = 2, threads = 2 } } do
  local sim = make { plugin = layers, grid = { 90, 110 }, boundary = { x = { "fixed", "clamp" }, y = "clamp" }, threads = way.threads,
    height = way.height, boundary_values = { t = { x = { 1, 0 }, y = 0 }, g = 1 }, fields = { g = function(x, y) return 1 + (x * y) % 7 end, t = 3 } }
  steady(sim)
  hash = hash or sim:hash "t"
  tz.expect(sim:hash "t" == hash)
end

-- A chip's stack: cells of every second layer, of glue, are coupled with those below and above alone. Unless coarser levels join
-- them with these there are hardly fewer cells on each, and 117 iterations.
local stack = tz.stencil { dims = 3,
  fields = { t = {}, g = { role = "static" }, sink = { role = "static" }, power = { role = "static" } },
  update = { t = [[t + 0.05*(g*(t[-1,0,0] + t[1,0,0] + t[0,-1,0] + t[0,1,0] - 4*t)
    + 0.05*(t[0,0,-1] + t[0,0,1] - 2*t) + power - sink*t)]] } }
local cooled = make { plugin = stack, grid = { 48, 48, 6 }, boundary = "clamp", fields = {
  g = function(_, _, z) return z % 2 == 0 and 1 or 0.001 end, sink = function(_, _, z) return z == 5 and 0.0001 or 0 end,
  power = function(x, y) return x < 8 and y < 8 and 1 or 0 end } }
local result = steady(cooled)
tz.expect(result.solver == "conjugate gradients" and result.iterations <= 40, result.iterations)

-- Transforms give the same where they apply.
local source = function(x, y) return math.sin(x * y) end
local function poisson(boundary)
  return make { plugin = "poisson", grid = { 24, 17 }, boundary = boundary, fields = { f = source, u = function(x) return x end } }
end
for _, boundary in ipairs { "fixed", "clamp", "mirror", "periodic" } do
  local one, other = poisson(boundary), poisson(boundary)
  if boundary ~= "fixed" then
    -- The weighted mean of f must be 0.
    c.refuses("inconsistent: there is no steady state", one.steady, one, { by = "solver" })
    tz.expect(one:get("u", 5, 6) == 5)
    local sum, weights = 0, 0
    local function weight(x, y)
      return boundary == "mirror" and ((x == 0 or x == 23) and 0.5 or 1) * ((y == 0 or y == 16) and 0.5 or 1) or 1
    end
    for y = 0, 16 do
      for x = 0, 23 do
        sum, weights = sum + weight(x, y) * source(x, y), weights + weight(x, y)
      end
    end
    for _, sim in ipairs { one, other } do sim:set("f", function(x, y) return source(x, y) - sum / weights end) end
  end
  tz.expect(steady(one, { tolerance = 1e-9 }).residual <= 1e-9)
  local works, why = pcall(other.steady, other, { by = "transform" })
  tz.expect(works or why:find "libfftw3", why)
  for i = 0, works and 16 or -1 do c.near(one:get("u", i, i), other:get("u", i, i), 1e-11) end
end

-- Cells that never change are held, and others settle around them.
local held = make { plugin = tz.stencil { dims = 2, fields = { u = {}, solid = { role = "static" } },
  update = { u = "solid > 0 ? u : 0.25*(u[-1,0] + u[1,0] + u[0,-1] + u[0,1])" } }, grid = { 21, 5 }, boundary = "clamp",
  fields = { solid = function(x) return (x == 0 or x == 20) and 1 or 0 end, u = function(x) return x == 20 and 4 or 0 end } }
steady(held)
for x = 0, 20 do c.near(held:get("u", x, 2), 0.2 * x, 1e-12) end
-- What is set anew is taken as it is.
held:set("solid", function(x) return (x == 0 or x == 10 or x == 20) and 1 or 0 end)
held:set("u", function(x) return x == 10 and -1 or 0 end)
steady(held)
for x = 0, 10 do c.near(held:get("u", x, 4), -0.1 * x, 1e-12) end

-- ---- Sides against solutions that are known ----------------------------------------------------------------

-- lap(u) = f with u = 1 + X(x) Y(y). Of each axis: its sides, where its first cell lies, how many widths of a cell the walls
-- are apart, the factor, and the root of -X''/X. The error falls with the square of the width.
local pi = math.pi
local kinds = {
  { sides = { "fixed", "fixed" }, first = 1, apart = 1, f = function(s) return math.sin(pi * s) end, k = pi },
  { sides = { "clamp", "clamp" }, first = 0.5, apart = 0, f = function(s) return math.cos(pi * s) end, k = pi },
  { sides = { "mirror", "mirror" }, first = 0, apart = -1, f = function(s) return math.cos(pi * s) end, k = pi },
  { sides = { "periodic", "periodic" }, first = 0, apart = 0, f = function(s) return math.sin(2 * pi * s) end, k = 2 * pi },
  { sides = { "fixed", "clamp" }, first = 1, apart = 0.5, f = function(s) return math.sin(pi / 2 * s) end, k = pi / 2 },
  { sides = { "fixed", "mirror" }, first = 1, apart = 0, f = function(s) return math.sin(pi / 2 * s) end, k = pi / 2 },
  { sides = { "mirror", "clamp" }, first = 0, apart = -0.5, f = function(s) return math.cos(pi * s) end, k = pi },
}
local function error_between(x, y, n)
  local h = { 1 / (n + x.apart), 1 / (n + y.apart) }
  local function exact(i, j) return x.f((i + x.first) * h[1]) * y.f((j + y.first) * h[2]) end
  local sim = make { plugin = "poisson", grid = { n, n }, params = { hx = h[1], hy = h[2] }, boundary = { x = x.sides, y = y.sides },
    boundary_values = { u = 1 }, fields = { u = 1, f = function(i, j) return -(x.k ^ 2 + y.k ^ 2) * exact(i, j) end } }
  sim:steady { by = "solver" }
  local off = 0
  for j = 0, n - 1 do
    for i = 0, n - 1 do off = math.max(off, math.abs(sim:get("u", i, j) - 1 - exact(i, j))) end
  end
  return off, math.max(h[1], h[2])
end
for i, x in ipairs(backend and {} or kinds) do
  local y = kinds[(i + 1) % #kinds + 1]
  local coarse, h = error_between(x, y, 12)
  local fine, half = error_between(x, y, 24)
  local order = math.log(coarse / fine) / math.log(h / half)
  tz.expect(order > 1.85 and order < 2.15, ("%s:%s and %s:%s: order %.3f"):format(x.sides[1], x.sides[2], y.sides[1], y.sides[2], order))
end

-- A second pass reads past a side what the first one has made of cells within, or the boundary value of the field.
local twice = tz.stencil { dims = 1, fields = { u = { role = "static" }, v = {}, w = {} }, passes = { { v = "10*u" }, { w = "v[-1]" } } }
for boundary, wanted in pairs { clamp = 10, mirror = 20, fixed = 7, periodic = 40 } do
  local sim = make { plugin = twice, grid = { 4 }, boundary = boundary, boundary_values = { u = 5, v = 7, w = 9 }, fields = { u = function(x) return x + 1 end } }
  sim:run(1)
  tz.expect(sim:get("w", 0) == wanted, boundary)
end

-- ---- Implicit steps ----------------------------------------------------------------------------------------

-- A slow and a fast wave between insulated sides: with half the step the error is a half, or a quarter.
local bar = tz.stencil { dims = 1, fields = { u = {}, p = { role = "static" } },
  params = { dt = { value = 0.01, role = "time_step", unit = "s" } }, update = { u = "u + dt*(u[-1] - 2*u + u[1] + p)" } }
local cells = 32
local function mode(m, x) return math.cos(math.pi * m * (x + 0.5) / cells) end
local rate = 4 * math.sin(math.pi / 2 / cells) ^ 2
local function error_of(order, step, by)
  local sim = make { plugin = bar, grid = { cells }, fields = { u = function(x) return mode(1, x) + mode(cells - 1, x) end } }
  local result = sim:run { until_time = 80, implicit = step, order = order, by = by }
  tz.expect(result.status == "done" and result.steps == 8000 and sim:time() == 80)
  local off = 0
  for x = 0, cells - 1 do off = math.max(off, math.abs(sim:get("u", x) - math.exp(-80 * rate) * mode(1, x))) end
  return off
end
for order, range in ipairs { { 1.8, 2.05 }, { 3.9, 4.3 } } do
  local before = error_of(order, 20)
  for _, step in ipairs { 10, 5 } do
    local off = error_of(order, step)
    tz.expect(before / off > range[1] and before / off < range[2], ("order %d: %g"):format(order, before / off))
    before = off
  end
end

if factors then c.near(error_of(2, 20, "direct"), error_of(2, 20), 1e-9) end

-- Power that changes between runs, a step that does not divide them, outputs in between: near what small steps give.
local function heated(step)
  local sim = make { plugin = bar, grid = { cells }, precision = "single", boundary = { x = { "fixed", "clamp" } }, boundary_values = { u = 0, p = 0 } }
  local seen = {}
  sim:every("7 s", function(s) seen[#seen + 1] = s:get("u", 20) end)
  for _, power in ipairs { 1, 0, 2 } do
    sim:set("p", function(x) return x > 10 and power or 0 end)
    sim:run { until_time = sim:time() + 30, implicit = step }
  end
  return seen
end
local small, large = heated(nil), heated(1.3)
tz.expect(#small == 13 and #large == 13)
for i = 1, 13 do c.near(large[i], small[i], 0.01 * small[13]) end

local function implicit(plugin, options)
  return function() make { plugin = plugin, grid = { 16 } }:run(options) end
end
c.refuses("implicit steps need a time step", implicit(tz.stencil { dims = 1, update = "0.5*u" }, { steps = 10, implicit = 3 }))
c.refuses("with half the dt one does not change half as much",
  implicit(tz.stencil { dims = 1, fields = { u = { initial = 1 } }, params = { dt = { value = 0.1, role = "time_step", unit = "s" } },
    update = { u = "u*exp(-dt)" } }, { steps = 10, implicit = 3 }))
c.refuses("'order' goes with 'implicit'", implicit(bar, { steps = 10, order = 1 }))
c.refuses("'by' goes with 'implicit'", implicit(bar, { steps = 10, by = "direct" }))
c.refuses("'implicit' goes with 'until_time' or 'steps'", implicit(bar, { until_residual = 1, implicit = 1 }))
