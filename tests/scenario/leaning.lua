-- Tiles of the family "stream" lean in three dimensions. Stencils of several passes, of which each computes one field or
-- two, and each field is final after another pass: all plans leave the bits of the reference backend.
local tz = require "trapeze"
if tz.args.backend == "reference" then return end -- nothing to compare

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

local function hashes(stencil, grid, boundary, steps, options)
  options.plugin, options.grid, options.boundary = stencil, grid, boundary
  local sim = tz.simulation(options)
  sim:set("p", tz.random { seed = 1, range = { 0, 1 } })
  sim:set("q", tz.random { seed = 2, range = { 0, 1 } })
  sim:run(steps)
  local text = sim:hash "p" .. sim:hash "q"
  sim:close()
  return text
end

-- Grid, height, rows of a tile, planes of a chunk, threads, sides of y.
local cases = {
  { { 20, 100, 12 }, 1, 20, 12, 1, "clamp" },
  { { 20, 100, 12 }, 2, 16, 5, 1, "mirror" },
  { { 9, 140, 30 }, 3, 30, 30, 2, "fixed" },
  { { 9, 140, 31 }, 4, 1, 16, 3, "clamp" },
  { { 33, 70, 20 }, 2, 24, 20, 4, "clamp" },
}
for _, stencil in ipairs { two, three, back } do
  for i, case in ipairs(cases) do
    local grid, height, rows, planes, threads, side = table.unpack(case)
    local boundary = { x = "clamp", y = side, z = i % 2 == 0 and "periodic" or "clamp" }
    local steps = 2 * height + 1
    local want = hashes(stencil, grid, boundary, steps, { backend = "reference" })
    local got = hashes(stencil, grid, boundary, steps,
      { backend = "cpu", family = "stream", height = height, threads = threads, tile = { grid[1], rows, planes } })
    tz.expect(got == want, "case " .. i .. ": other bits than those of the reference backend")
  end
end
