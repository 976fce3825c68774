-- Poisson's equation by Jacobi iterations: first a problem with a known solution, to check that the
-- error falls with the square of the mesh width; then the potential of charges in a grounded box.
--
--   trapeze run poisson.lua [--set n=191] [--set tolerance=1e-4]
local tz = require "trapeze"

local n = math.tointeger(tz.args.n or 191)
local tolerance = tonumber(tz.args.tolerance or 1e-4)
local sin, pi = math.sin, math.pi

-- u = sin(2 pi x) sin(3 pi y) solves lap(u) = -13 pi^2 u and is 0 on the sides of the unit square.
-- Cell i is at (i + 1) / (m + 1): the nodes of the boundary are the first cells outside the grid.
local function exact(m)
  return function(i, j) return sin(2 * pi * (i + 1) / (m + 1)) * sin(3 * pi * (j + 1) / (m + 1)) end
end

local errors = {}
for level, m in ipairs { 31, 63, 127 } do
  local u = exact(m)
  local sim = tz.simulation {
    plugin = "poisson", grid = { m, m }, precision = "double", boundary = "fixed", name = "known" .. m,
    fields = { f = function(i, j) return -13 * pi ^ 2 * u(i, j) end },
  }
  sim:run { until_residual = 1e-6, max_steps = 200000, check_every = 500 }
  local worst = 0
  local solution = sim:array "u"
  local difference = tz.array { shape = { m, m }, dtype = "float64", fill = function(i, j)
    local e = solution:get(i, j) - u(i, j)
    worst = math.max(worst, math.abs(e))
    return e
  end }
  errors[level] = worst
  tz.log(("%3d x %-3d  largest error %.3e"):format(m, m, worst))
  if m == 127 then
    tz.picture { data = solution, file = "known.png", map = "balance", range = { -1, 1 }, zoom = 4, bar = true,
      caption = "u = sin(2 pi x) sin(3 pi y), solved" }
    tz.picture { data = difference, file = "known-error.png", map = "balance", range = { -worst, worst },
      zoom = 4, bar = true, caption = "Its error: second order in the mesh width" }
  end
  sim:close()
end
for level = 2, #errors do
  local order = math.log(errors[level - 1] / errors[level], 2)
  tz.expect(math.abs(order - 2) < 0.1, ("order %.3f is not 2"):format(order))
end

-- Charged discs in a grounded box.
local discs = { -- x, y, radius, charge density
  { 0.30, 0.35, 0.07, 60 }, { 0.68, 0.30, 0.05, -100 }, { 0.55, 0.72, 0.09, 35 }, { 0.20, 0.78, 0.04, -130 },
  { 0.84, 0.80, 0.03, 150 },
}
local box = tz.simulation {
  plugin = "poisson", grid = { n, n }, precision = "double", boundary = "fixed", name = "box",
  fields = { f = function(i, j)
    local x, y, f = (i + 1) / (n + 1), (j + 1) / (n + 1), 0
    for _, d in ipairs(discs) do
      if (x - d[1]) ^ 2 + (y - d[2]) ^ 2 < d[3] ^ 2 then f = f - d[4] end
    end
    return f
  end },
}
box:every(20000, tz.png("u", { map = "balance", range = { -0.4, 0.4 }, bar = true, zoom = 4,
  caption = "potential after {step} iterations" }))
box:every(1000, tz.table { "step", "min(u)", "max(u)", "residual" })
local result = box:run { until_residual = tolerance, max_steps = 400000, check_every = 1000 }
box:write(tz.png("u", { name = "potential", map = "balance", range = { -0.4, 0.4 }, bar = true, zoom = 4, contours = 15,
  caption = "Potential of charged discs in a grounded box" }))
tz.expect(result.converged, "no convergence")
tz.log(("box: residual %.2e after %d iterations"):format(result.residual, result.steps))
