-- Maxwell's equations in three dimensions on Yee's staggered grid: a dipole sends waves through a ball of glass, which
-- bends them to a focus. Layers at all sides absorb what gets there (CPML, Roden and Gedney 2000). Before that, two checks: the field
-- beside a dipole in empty space is Hertz's, and what the layers reflect is small.
--
--   trapeze run dipole.lua [--set n=112] [--set layer=10] [--set checks=no]
--
-- Units: cells are 1 wide, light moves one cell in a time of 1, and an iteration takes half of that.
local tz = require "trapeze"

local n, layer = math.tointeger(tz.args.n or 112), math.tointeger(tz.args.layer or 10)
tz.expect(n and layer and layer > 0 and n >= 3 * layer, "n must be three times the layer or more, and the layer 1 or more")
local dt = 0.5

-- ---- The stencil ---------------------------------------------------------------------------------------------------

-- An absorbing layer adds to a difference along an axis a memory m of what it was: m = keep*m + add*difference. `keep` and
-- `add` follow from the depth in the layer, from 0 at its surface to 1 at the side, where the difference lies.
local let = {}
for _, axis in ipairs { "x", "y", "z" } do
  for kind, at in pairs { e = axis, h = "(" .. axis .. " + 0.5)" } do -- differences that change E lie at cells
    local name = kind .. axis
    let["depth_" .. name] = ("min(1, max(0, max(layer - %s, %s - (n%s - 1 - layer))/layer))"):format(at, at, axis)
    let["loss_" .. name] = ("absorb*depth_%s^3"):format(name)
    let["all_" .. name] = ("loss_%s + 0.05*(1.01 - depth_%s)"):format(name, name)
    let["keep_" .. name] = ("exp(-dt*(all_%s))"):format(name)
    let["add_" .. name] = ("loss_%s/(all_%s)*(keep_%s - 1)"):format(name, name, name)
  end
end

-- The memory of the difference of `field` along an axis, and the difference with it.
local function memory(kind, axis, field)
  local m = "m" .. field .. axis
  let["new_" .. m] = ("keep_%s*%s + add_%s*d%s%s(%s)"):format(kind .. axis, m, kind .. axis, axis, kind == "e" and "m" or "p", field)
  let["d_" .. m] = ("(d%s%s(%s) + new_%s)"):format(axis, kind == "e" and "m" or "p", field, m)
  return m, "d_" .. m
end

-- Each component of a curl: with a, b, c = x, y, z and so on, that along a is the difference of field c along b less that
-- of field b along c.
local fields = { "ez", "ex", "ey", "hx", "hy", "hz", glass = { role = "static", initial = 1 } }
local function half(kind, other, formula)
  local pass = {}
  for a, axis in ipairs { "x", "y", "z" } do
    local b, c = ("xyz"):sub(a % 3 + 1, a % 3 + 1), ("xyz"):sub((a + 1) % 3 + 1, (a + 1) % 3 + 1)
    local m1, d1 = memory(kind, b, other .. c)
    local m2, d2 = memory(kind, c, other .. b)
    pass[kind .. axis] = formula:format(kind .. axis, d1, d2)
    for _, m in ipairs { m1, m2 } do
      pass[m], fields[m] = "new_" .. m, "real"
    end
  end
  return pass
end
local maxwell = tz.stencil {
  name = "yee", doc = "Maxwell's equations with absorbing layers.", dims = 3, fields = fields, let = let, dt = dt, spacing = 1,
  params = { layer = layer, absorb = 3.2 },
  passes = { half("h", "e", "%s - dt*(%s - %s)"), half("e", "h", "%s + dt/glass*(%s - %s)") },
  outputs = { energy = "glass*(ex^2 + ey^2 + ez^2) + hx^2 + hy^2 + hz^2" },
}

-- A dipole along z in the cell `at`, whose moment changes at the rate `rate`, a formula of t: a current.
local function dipole(name, grid, at, rate, glass)
  local sim = tz.simulation { plugin = maxwell, name = name, grid = grid, boundary = "fixed", fields = { glass = glass } }
  sim:sources { field = "ez", points = { at }, values = "-dt*(" .. rate:gsub("%f[%w]t%f[%W]", "(t + dt/2)") .. ")" }
  return sim
end

-- ---- Checks --------------------------------------------------------------------------------------------------------

-- The moment p = exp(-((t - 20)/6)^2): beside the dipole its field is -(p/r^3 + p'/r^2 + p''/r)/(4 pi) at the time t - r.
-- When that is over, what is left has come back from the layers.
local function check()
  local m, over = 64, 60
  local sim = dipole("empty", { m, m, m }, { m // 2, m // 2, m // 2 }, "-2*(t - 20)/36*exp(-((t - 20)/6)^2)")
  local points = {}
  for i, r in ipairs { 8, 10, 12 } do points[i] = { m // 2 + r, m // 2, m // 2 } end
  local heard = sim:receivers { field = "ez", points = points }
  sim:run { until_time = over + 40 }
  if tz.checking then return end
  local values, back, all = heard:array(), 0, 0
  for i, point in ipairs(points) do
    local r, off, sum = point[1] - m // 2, 0, 0
    for k = 0, heard.rows - 1 do
      local t, got = (k + 1) * dt, values:get(i - 1, k)
      local s = (t - r - 20) / 6
      local exact = -math.exp(-s * s) / (4 * math.pi) * (1 / r ^ 3 - s / 3 / r ^ 2 + (4 * s * s - 2) / 36 / r)
      off, sum, all = off + (got - exact) ^ 2, sum + exact ^ 2, math.max(all, math.abs(got))
      if t > over then back = math.max(back, math.abs(got)) end
    end
    local wrong = math.sqrt(off / sum)
    tz.log(("%d cells beside the dipole: %.1f %% off Hertz's field"):format(r, 100 * wrong))
    tz.expect(wrong < 0.06, "the dipole's field is wrong")
  end
  local db = 20 * math.log(back / all, 10)
  tz.log(("what absorbing layers of %d cells send back: %.1f dB"):format(layer, db))
  tz.expect(db < -40, "the layers reflect")
  sim:close()
end
if tz.args.checks ~= "no" then check() end

-- ---- The picture ---------------------------------------------------------------------------------------------------

local across, radius, period = 5 * n // 7, 0.2 * n, 0.14 * n
local middle = across // 2
local function glass(x, y, z) return (x - n // 2) ^ 2 + (y - middle) ^ 2 + (z - middle) ^ 2 < radius ^ 2 and 2.25 or 1 end
local sim = dipole("lens", { n, across, across }, { layer + 5, middle, middle },
  ("sin(2*pi*t/%g)*(1 - exp(-(t/%g)^2))"):format(period, 2 * period), glass)
local rim = {}
for k = 0, 90 do
  rim[k + 1] = { n // 2 + radius * math.cos(k * math.pi / 45), across - 1 - middle + radius * math.sin(k * math.pi / 45) }
end
sim:run { until_time = 2.5 * n }
local function draw(field, options)
  local all = sim:array(field)
  options.data = tz.array { shape = { n, across }, fill = function(x, y) return all:get(x, middle, across - 1 - y) end }
  options.file, options.zoom, options.path = "lens-" .. field .. ".png", 6, rim
  tz.picture(options)
end
draw("ez", { map = "balance", range = { -0.005, 0.005 }, path_rgb = { 90, 90, 90 }, caption = "electric field of a dipole, and a ball of glass" })
draw("energy", { map = "inferno", log = true, range = { 1e-7, 1e-3 }, caption = "energy" })
