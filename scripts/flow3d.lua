-- Flow past a ball, in three dimensions: what the ball takes from the stream rolls up behind it.
--
--   trapeze run flow3d.lua [--set cells=16] [--set reynolds=300] [--set steps=1200]
--
-- `cells` are the ball's diameter. The sides are mirrors, the stream enters at x = 0 and leaves at the end.
local tz = require "trapeze"

local d, reynolds = math.tointeger(tz.args.cells or 16), tonumber(tz.args.reynolds or 300)
local steps, velocity = math.tointeger(tz.args.steps or 1200), 0.08
local nx, ny, nz = 8 * d, 3 * d + 2, 3 * d + 2
-- A little off the middle, so that the wake begins to swing.
local x0, y0, z0 = 1.7 * d, (ny - 1) / 2 + 0.05 * d, (nz - 1) / 2
-- What a cell is, as the field `solid` says.
local FLUID, OBSTACLE, INLET, OUTLET, MIRROR_Y, MIRROR_Z = 0, 1, 3, 4, 6, 7

-- All of the fluid moves at first, or the stream would push a wave of pressure ahead: the equilibrium of lbm3d.cell.h.
local fields = {}
for i = 0, 18 do
  local cx = (i == 1 or i >= 7 and i <= 14 and i % 2 == 1) and 1 or (i == 2 or i >= 7 and i <= 14) and -1 or 0
  local weight, c = i == 0 and 1 / 3 or i <= 6 and 1 / 18 or 1 / 36, 3 * cx * velocity
  fields["f" .. i] = weight * (1 + c + c * c / 2 - 1.5 * velocity * velocity)
end
fields.solid = function(x, y, z)
  return (y == 0 or y == ny - 1) and MIRROR_Y or (z == 0 or z == nz - 1) and MIRROR_Z or
    x == 0 and INLET or x == nx - 1 and OUTLET or
    (x - x0) ^ 2 + (y - y0) ^ 2 + (z - z0) ^ 2 < (d / 2) ^ 2 and OBSTACLE or FLUID
end
fields.wall_x = function(x) return x == 0 and velocity or 0 end
local sim = tz.simulation {
  plugin = "lbm3d", grid = { nx, ny, nz }, boundary = "clamp",
  params = { viscosity = velocity * d / reynolds, magic = 1 / 4 }, fields = fields,
}
-- The drag coefficient: the force over the ball's section times half the square of the velocity. Waves of pressure run
-- to and fro at first, so the mean of the second half.
local scale, drags, count = 8 / (math.pi * d * d * velocity * velocity), 0, 0
sim:every(20, tz.table { "step", "force_x(solid)" })
sim:every(20, function(sim)
  if sim.step > steps // 2 then drags, count = drags + scale * sim:sum("force_x", "solid"), count + 1 end
end)
sim:run(steps)
sim:write(tz.png("speed", { name = "wake", slice = { y = ny // 2 }, map = "viridis", range = { 0, 1.4 * velocity }, zoom = 5,
                            caption = "speed in the middle after {step}" }))
tz.log(("drag coefficient %.2f; 0.65 in a stream without sides, more between them"):format(drags / count))
tz.expect(drags / count > 0.5 and drags / count < 1, "the drag is wrong")
