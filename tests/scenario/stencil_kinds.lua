-- Stencils of many kinds, as scenarios define them: every backend and height computes the same bits.
local tz = require "trapeze"
local c = require "checks"
local noise = c.noise

local function same(stencil, options, steps)
  c.same_bits(stencil, options, steps, { { backend = "reference", height = 1 }, { backend = "cpu", height = 1 }, { backend = "cpu", height = 3 } })
end

-- Two fields that react.
same(tz.stencil { name = "gray_scott", dims = 2, fields = { "a", "b" },
  params = { feed = 0.035, kill = 0.06, spread_a = 0.16, spread_b = 0.08 },
  update = { a = "a + spread_a*lap(a) - a*b^2 + feed*(1 - a)", b = "b + spread_b*lap(b) + a*b^2 - (feed + kill)*b" } },
  { grid = { 67, 45 }, boundary = "periodic", fields = { a = noise(1), b = noise(2) } }, 7)

-- Staggered: each pass reads to one side.
same(tz.stencil { name = "maxwell", dims = 2, fields = { "ez", "hx", "hy", eps = { role = "static", initial = 0.5 } },
  passes = { { hx = "hx - 0.5*(ez[0,1] - ez)", hy = "hy + 0.5*(ez[1,0] - ez)" },
    { ez = "ez + eps*((hy - hy[-1,0]) - (hx - hx[0,-1]))" } } },
  { grid = { 64, 50 }, boundary = "fixed", fields = { ez = noise(3) } }, 7)

-- Lattice Boltzmann: nine fields, each pulled from another side.
local cx, cy = { 0, 1, 0, -1, 0, 1, -1, -1, 1 }, { 0, 0, 1, 0, -1, 1, 1, -1, -1 }
local w = { 4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36 }
local names, pulled, update, start = {}, {}, {}, {}
for i = 1, 9 do
  names[i], pulled[i] = "f" .. i, ("f%d[%d,%d]"):format(i, -cx[i], -cy[i])
  start["f" .. i] = noise(i)
end
for i = 1, 9 do
  update["f" .. i] = ("%s + omega*(%.17g*(%s) - %s)"):format(pulled[i], w[i], table.concat(pulled, " + "), pulled[i])
end
same(tz.stencil { name = "d2q9", dims = 2, fields = names, params = { omega = 1.2 }, update = update },
  { grid = { 40, 33 }, boundary = "periodic", fields = start }, 6)

-- Integers with conditions and an integer parameter.
local after = "(s + 1 >= n ? 0 : s + 1)"
same(tz.stencil { name = "cycle", dims = 2, fields = { s = "int" }, params = { n = { value = 14, integer = true } },
  update = ("(s[-1,0] == %s or s[1,0] == %s or s[0,-1] == %s or s[0,1] == %s) ? %s : s"):gsub("%%s", after) },
  { grid = { 65, 40 }, boundary = "periodic", fields = { s = tz.random { seed = 1, range = { 0, 13 } } } }, 9)

-- Coefficients by cell in 3-D; a large radius in 3-D; one bit a cell.
local o = { { 0, 0, 0 }, { 0, "w", 0 }, { 0, 0, 0 } }
same(tz.stencil { name = "seven",
  fields = { "u", c = { role = "static", initial = 0.4 }, w = { role = "static", initial = 0.1 } },
  coefficients = { o, { { 0, "w", 0 }, { "w", "c", "w" }, { 0, "w", 0 } }, o } },
  { grid = { 33, 20, 17 }, boundary = "mirror", precision = "double", fields = { u = noise(5) } }, 5)
same(tz.stencil { name = "far", dims = 3, update = "0.5*u + 0.02*sum(i,1,4,u[i,0,0] + u[-i,0,0] + u[0,i,0] + u[0,-i,0] + u[0,0,i] + u[0,0,-i])" },
  { grid = { 30, 22, 19 }, fields = { u = noise(6) } }, 4)
same(tz.stencil { name = "rule90", dims = 2, fields = { a = "bits" }, update = "a[-1,0] != a[1,0]" },
  { grid = { 100, 20 }, fields = { a = tz.random { seed = 1 } } }, 5)

-- Functions, coordinates and a constant that changes with the iteration.
same(tz.stencil { name = "functions", dims = 1, fields = { "u", "v" }, scalars = { pulse = "exp(-(step - 3)^2/4)" },
  update = { u = "sin(u) + 0.1*exp(-v^2) + tanh(u[-1]) + pulse",
    v = "max(min(v, 1), -1) + sqrt(abs(u[1]))*cos(x*0.1) + log(1 + abs(v)) + step*1e-3" } },
  { grid = { 300 }, fields = { u = noise(1), v = noise(2) } }, 6)

-- As many fields as there may be.
names, update, start = {}, {}, {}
for i = 1, 32 do
  names[i], update["q" .. i] = "q" .. i, ("0.5*(q%d[-1,0] + q%d[0,1])"):format(i % 32 + 1, i)
  start["q" .. i] = noise(i)
end
local many = tz.stencil { name = "many", dims = 2, fields = names, update = update }
tz.expect(#many.fields == 32)
same(many, { grid = { 40, 33 }, fields = start }, 5)
