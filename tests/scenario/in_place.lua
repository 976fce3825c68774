-- Stencils that read far to one side, or in several passes, in three dimensions: diamonds leave the bits of the reference backend.
local tz = require "trapeze"
local c = require "checks"
if tz.args.backend == "reference" then return end -- nothing to compare

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

-- Each pass reads further to the low side, from what the last iteration has left.
local back = tz.stencil { name = "lean_back", dims = 3, fields = { p = "real", q = "real", w = "real" },
  passes = {
    { update = { w = "-0.138*q + 0.164*q[-1,0,-1] + 0.033*q[0,-1,0]" } },
    { update = { w = "0.024*q - 0.154*q[0,-1,0] - 0.171*w[-1,0,0] + 0.154*p[-1,-1,-1]", p = "-0.165*p[0,0,-1] + 0.132*p[0,-1,-1]" } },
    { update = { q = "-0.164*q[-1,-1,0] + 0.140*w[0,0,-1]" } },
  } }

-- Static fields that are read further than others, and reads only ahead.
local static = tz.stencil { name = "group_static", dims = 3, fields = { p = "real", q = { type = "real", role = "static" } },
  update = { p = "0.5*p + 0.1*p[0,-1,1] - 0.1*p[-1,0,0] + 0.2*q[0,2,-1] - 0.1*q[1,-2,0]" } }
local ahead = tz.stencil { name = "group_ahead", dims = 3, fields = { p = "real", q = "real" },
  update = { p = "0.4*p + 0.2*p[0,-1,2] - 0.3*q[-2,0,1]", q = "0.9*q + 0.1*p[2,0,0]" } }

local leaning, grouped = { two, three, back }, { static, ahead, two }
-- Stencils, grid, precision, sides of x, y and z, iterations, height, threads.
local cases = {
  { leaning, { 20, 100, 12 }, "single", "clamp", "clamp", "clamp", 3, 1, 1 },
  { leaning, { 20, 100, 12 }, "single", "clamp", "mirror", "periodic", 5, 2, 1 },
  { leaning, { 9, 140, 30 }, "single", "clamp", "fixed", "clamp", 7, 3, 2 },
  { leaning, { 9, 140, 31 }, "single", "clamp", "clamp", "periodic", 9, 4, 3 },
  { leaning, { 33, 70, 20 }, "single", "clamp", "clamp", "clamp", 5, 2, 4 },
  { grouped, { 1500, 24, 6 }, "double", "clamp", "mirror", "clamp", 3, 3, 2 },
  { grouped, { 1500, 24, 6 }, "double", "fixed", "clamp", "periodic", 2, 2, 2 },
  { grouped, { 1500, 24, 6 }, "double", "periodic", "periodic", "clamp", 3, 3, 2 },
}
for _, case in ipairs(cases) do
  local stencils, grid, precision, x, y, z, steps, height, threads = table.unpack(case)
  for _, stencil in ipairs(stencils) do
    c.same_bits(stencil, { grid = grid, precision = precision, boundary = { x = x, y = y, z = z }, fields = { p = c.noise(1), q = c.noise(2) } },
      steps, { { backend = "reference" }, { backend = "cpu", family = "diamond", height = height, threads = threads } })
  end
end
