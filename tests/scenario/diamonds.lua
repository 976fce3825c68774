-- The family "diamond": all plans leave the bits of the reference backend, and what it cannot do is said.
local tz = require "trapeze"
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

local function hashes(stencil, boundary, steps, options, plan)
  options.plugin, options.boundary = stencil, boundary
  local sim = tz.simulation(options)
  sim:set("p", tz.random { seed = 1, range = { 0, 1 } })
  sim:set("q", tz.random { seed = 2, range = { 0, 1 } })
  if plan then sim:plan(plan) end
  sim:run(steps)
  local text = sim:hash "p" .. sim:hash "q"
  sim:close()
  return text
end

-- Grid, precision, sides of x, y and z, iterations, height, rows of a diamond, threads.
local cases = {
  { { 20, 60, 12 }, "single", "clamp", "clamp", "clamp", 9, 9, 12, 2 },
  { { 33, 45, 20 }, "double", "periodic", "mirror", "fixed", 13, 6, 8, 3 },
  { { 9, 100, 11 }, "single", "mirror", "fixed", "mirror", 25, 20, 200, 4 },
  { { 40, 21, 9 }, "single", "fixed", "clamp", "clamp", 5, 2, 1, 1 },
}
for i, case in ipairs(cases) do
  local grid, precision, x, y, z, steps, height, rows, threads = table.unpack(case)
  for _, stencil in ipairs { back, wave, columns } do
    local boundary = { x = x, y = y, z = z }
    local want = hashes(stencil, boundary, steps, { grid = grid, precision = precision, backend = "reference" })
    local got = hashes(stencil, boundary, steps, { grid = grid, precision = precision, backend = "cpu", threads = threads },
      { family = "diamond", height = height, tile = { 0, rows, 0 } })
    tz.expect(tz.checking or got == want, ("case %d: %s leaves other bits"):format(i, tostring(stencil)))
  end
end

local function refused(grid, boundary, plan, pattern)
  local sim = tz.simulation { plugin = #grid == 3 and "star3d1r" or "star2d1r", grid = grid, boundary = boundary, backend = "cpu" }
  local ok, message = pcall(sim.plan, sim, plan)
  sim:close()
  tz.expect(not ok and tostring(message):find(pattern, 1, true), "refused otherwise: " .. tostring(message))
end
refused({ 20, 20 }, "clamp", { family = "diamond" }, "does not compute grids of one or two dimensions")
refused({ 20, 20, 20 }, { x = "clamp", y = "periodic", z = "clamp" }, { family = "diamond" }, "whose y or z is periodic")
refused({ 20, 20, 20 }, "clamp", { family = "diamond", tile = { 20, 8, 10 } }, "does not cut the grid along z")
refused({ 20, 20, 20 }, "clamp", { family = "diamond", tile = { 10, 8, 20 } }, "does not cut the grid along x")
