-- The family "diamond": all plans leave the bits of the reference backend, and what it cannot do is said.
local tz = require "trapeze"
local c = require "checks"
if tz.args.backend == "reference" then return end -- nothing to compare

-- Passes that each compute another field, and read further to one side.
local back = tz.stencil { name = "diamond_back", dims = 3, fields = { p = "real", q = "real", w = "real" },
  passes = {
    { update = { w = "-0.138*q + 0.164*q[-1,0,-1] + 0.033*q[0,-1,0]" } },
    { update = { p = "-0.165*p[0,0,-1] + 0.132*w[0,-1,-1]" } },
    { update = { q = "-0.164*q[-1,-2,0] + 0.140*w[0,0,-1]" } },
  } }
-- A field that takes over what another one was, and one that is read further than all others.
local wave = tz.stencil { name = "diamond_wave", dims = 3,
  fields = { p = "real", q = "real", k = { type = "real", role = "static" } },
  update = { p = "1.9*p - 0.95*q + 0.1*k[0,2,-1]*(p[0,1,0] + p[0,-1,0] + p[1,0,1] - 3*p)", q = "p" } }
-- Rows that do not read each other.
local columns = tz.stencil { name = "diamond_columns", dims = 3, fields = { p = "real", q = "real" },
  update = { p = "0.5*p + 0.2*p[0,0,1] - 0.1*q[1,0,-2]", q = "0.9*q + 0.1*p[2,0,0]" } }

-- Grid, precision, sides of x, y and z, iterations, height, rows of a diamond, threads.
local cases = {
  { { 20, 60, 12 }, "single", "clamp", "clamp", "clamp", 9, 9, 12, 2 },
  { { 33, 45, 20 }, "double", "periodic", "mirror", "fixed", 13, 6, 8, 3 },
  { { 9, 100, 11 }, "single", "mirror", "fixed", "mirror", 25, 20, 200, 4 },
  { { 40, 21, 9 }, "single", "fixed", "clamp", "clamp", 5, 2, 1, 1 },
}
for _, case in ipairs(cases) do
  local grid, precision, x, y, z, steps, height, rows, threads = table.unpack(case)
  for _, stencil in ipairs { back, wave, columns } do
    c.same_bits(stencil, { grid = grid, precision = precision, boundary = { x = x, y = y, z = z }, fields = { p = c.noise(1), q = c.noise(2) } },
      steps, { { backend = "reference" },
               { backend = "cpu", threads = threads, plan = { family = "diamond", height = height, tile = { 0, rows, 0 } } } })
  end
end

local function refused(grid, boundary, plan, pattern)
  local sim = tz.simulation { plugin = #grid == 3 and "star3d1r" or "star2d1r", grid = grid, boundary = boundary, backend = "cpu" }
  c.refuses(pattern, sim.plan, sim, plan)
end
refused({ 20, 20, 20 }, "clamp", { family = "diamond", tile = { 20, 8, 10 } }, "does not cut this grid along z")
refused({ 20, 20, 20 }, "clamp", { family = "diamond", tile = { 10, 8, 20 } }, "does not cut this grid along x")
