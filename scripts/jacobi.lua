-- What averaging stencils do to waves. The start is a zone plate: rings that get finer outwards, so that
-- each place has one wavelength and direction. After a few iterations the contrast shows the stencil's
-- frequency response: an ideal blur leaves a round disc; the stencil causes every deviation from it.
--
--   trapeze run jacobi.lua [--set steps=3]
local tz = require "trapeze"

local n, steps = 384, math.tointeger(tz.args.steps or 3)
local function plate(x, y)
  local dx, dy = x - (n - 1) / 2, y - (n - 1) / 2
  return 0.5 + 0.5 * math.cos(math.pi * (dx * dx + dy * dy) / n)
end
for _, stencil in ipairs { "star2d1r", "star2d2r", "box2d1r", "box2d2r" } do
  local sim = tz.simulation { plugin = stencil, grid = { n, n }, boundary = "mirror", name = stencil,
    fields = { u = plate } }
  sim:every(steps, tz.png("u", { map = "viridis", range = { 0, 1 }, zoom = 2, bar = true,
    caption = ("%s, %d iterations"):format(stencil, steps) }))
  sim:run(steps)
  tz.expect(sim:max "u" <= 1 and sim:min "u" >= 0, "an average is between its terms")
  sim:close()
end

-- In three dimensions: a hollow ball, drawn without the eighth of the volume that is nearest. What is below 0.2 is not drawn.
for _, stencil in ipairs { "star3d1r", "star3d2r", "box3d1r" } do
  local m = 96
  local sim = tz.simulation {
    plugin = stencil, grid = { m, m, m }, boundary = "clamp", name = stencil,
    fields = { u = function(x, y, z)
      local r = math.sqrt((x - m / 2) ^ 2 + (y - m / 2) ^ 2 + (z - m / 2) ^ 2) / m
      return r > 0.3 and r < 0.42 and 1 or 0
    end },
  }
  local before = sim:sum "u"
  sim:every(20, tz.png("u", { view = "isometric", cut = true, level = 0.2, map = "inferno", range = { 0, 1 }, bar = true,
    caption = stencil .. " after {step} iterations" }))
  sim:run(20)
  -- Nothing leaves through clamped sides, so the sum stays the same.
  tz.expect(math.abs(sim:sum "u" - before) < 1e-4 * before, "the sum has changed")
  sim:close()
end
