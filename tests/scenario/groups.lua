-- Planes of long rows pass through the levels of the family "stream" in groups of rows. One pass and several, static fields that
-- are read further than others, and reads only ahead: all plans leave the bits of the reference backend.
local tz = require "trapeze"
if tz.args.backend == "reference" then return end -- nothing to compare

local stencils = {
  tz.stencil { name = "group_static", dims = 3, fields = { p = "real", s = { type = "real", role = "static" } },
    update = { p = "0.5*p + 0.1*p[0,-1,1] - 0.1*p[-1,0,0] + 0.2*s[0,2,-1] - 0.1*s[1,-2,0]" } },
  tz.stencil { name = "group_ahead", dims = 3, fields = { p = "real", s = "real" },
    update = { p = "0.4*p + 0.2*p[0,-1,2] - 0.3*s[-2,0,1]", s = "0.9*s + 0.1*p[2,0,0]" } },
  tz.stencil { name = "group_passes", dims = 3, fields = { p = "real", s = "real" },
    passes = {
      { update = { p = "p + 0.1*(s[0,1,0] - s[0,-1,0]) + 0.05*s[1,0,1]" } },
      { update = { s = "s - 0.1*(p[0,0,1] - p[0,-1,-1]) + 0.03*p[-1,1,0]" } },
    } },
}

local function hashes(stencil, boundary, steps, options)
  options.plugin, options.grid, options.boundary, options.precision = stencil, { 1500, 60, 9 }, boundary, "double"
  local sim = tz.simulation(options)
  sim:set("p", tz.random { seed = 1, range = { 0, 1 } })
  sim:set("s", tz.random { seed = 2, range = { 0, 1 } })
  sim:run(steps)
  local text = sim:hash "p" .. sim:hash "s"
  sim:close()
  return text
end

-- Sides of x and y, height, tile.
local cases = {
  { "clamp", "mirror", 3, { 1500, 60, 9 } },
  { "fixed", "clamp", 2, { 1500, 30, 5 } },
  { "periodic", "periodic", 3, { 752, 30, 9 } },
}
for _, stencil in ipairs(stencils) do
  for i, case in ipairs(cases) do
    local boundary = { x = case[1], y = case[2], z = i == 2 and "periodic" or "clamp" }
    local want = hashes(stencil, boundary, case[3], { backend = "reference" })
    local got = hashes(stencil, boundary, case[3],
      { backend = "cpu", family = "stream", height = case[3], threads = 2, tile = case[4] })
    tz.expect(got == want, "case " .. i .. ": other bits than those of the reference backend")
  end
end
