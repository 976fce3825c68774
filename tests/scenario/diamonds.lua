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
-- Several passes, of which each computes one field or two, and each field is final after another pass.
local two = tz.stencil { name = "lean_two", dims = 3, fields = { p = "real", q = "real" },
  passes = {
    { update = { p = "p + 0.1*(q[0,1,0] - q[0,-1,0]) + 0.05*q[1,0,1]" } },
    { update = { q = "q - 0.1*(p[0,0,1] - p[0,-1,-1]) + 0.03*p[-1,1,0]" } },
  } }
local three = tz.stencil { name = "lean_three", dims = 3, fields = { p = "real", q = "real", w = "real" },
  passes = {
    { update = { p = "0.9*p + 0.1*(q[0,1,0] - w[0,-1,0])", w = "0.5*w + 0.2*w[0,1,1] + 0.1*p" } },
    { update = { q = "q - 0.1*(p[0,0,1] - w[0,-1,-1])" } },
    { update = { w = "w - 0.1*(p[0,-1,1] - q[0,1,-1])" } },
  } }
-- Static fields that are read further than others, and reads only ahead.
local static = tz.stencil { name = "group_static", dims = 3, fields = { p = "real", q = { type = "real", role = "static" } },
  update = { p = "0.5*p + 0.1*p[0,-1,1] - 0.1*p[-1,0,0] + 0.2*q[0,2,-1] - 0.1*q[1,-2,0]" } }
local ahead = tz.stencil { name = "group_ahead", dims = 3, fields = { p = "real", q = "real" },
  update = { p = "0.4*p + 0.2*p[0,-1,2] - 0.3*q[-2,0,1]", q = "0.9*q + 0.1*p[2,0,0]" } }
-- A field that takes over what another one was, and one that is read further than all others.
local wave = tz.stencil { name = "diamond_wave", dims = 3,
  fields = { p = "real", q = "real", k = { type = "real", role = "static" } },
  update = { p = "1.9*p - 0.95*q + 0.1*k[0,2,-1]*(p[0,1,0] + p[0,-1,0] + p[1,0,1] - 3*p)", q = "p" } }
-- Rows that do not read each other.
local columns = tz.stencil { name = "diamond_columns", dims = 3, fields = { p = "real", q = "real" },
  update = { p = "0.5*p + 0.2*p[0,0,1] - 0.1*q[1,0,-2]", q = "0.9*q + 0.1*p[2,0,0]" } }

local narrow, leaning, grouped = { back, wave, columns }, { two, three, back }, { static, ahead, two }
-- Stencils, grid, precision, sides of x, y and z, iterations, height, rows of a diamond (0: as it likes), threads.
local cases = {
  { narrow, { 20, 60, 12 }, "single", "clamp", "clamp", "clamp", 9, 9, 12, 2 },
  { narrow, { 33, 45, 20 }, "double", "periodic", "mirror", "fixed", 13, 6, 8, 3 },
  { narrow, { 9, 100, 11 }, "single", "mirror", "fixed", "mirror", 25, 20, 200, 4 },
  { narrow, { 40, 21, 9 }, "single", "fixed", "clamp", "clamp", 5, 2, 1, 1 },
  { leaning, { 20, 100, 12 }, "single", "clamp", "mirror", "periodic", 5, 2, 0, 1 },
  { leaning, { 9, 140, 30 }, "single", "clamp", "fixed", "clamp", 7, 3, 0, 2 },
  { leaning, { 9, 140, 31 }, "single", "clamp", "clamp", "periodic", 9, 4, 0, 3 },
  { grouped, { 1500, 24, 6 }, "double", "clamp", "mirror", "clamp", 3, 3, 0, 2 },
  { grouped, { 1500, 24, 6 }, "double", "periodic", "clamp", "periodic", 2, 2, 0, 2 },
}
for _, case in ipairs(cases) do
  local stencils, grid, precision, x, y, z, steps, height, rows, threads = table.unpack(case)
  for _, stencil in ipairs(stencils) do
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
