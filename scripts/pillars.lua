-- A channel with three pillars: the vortices of the first one hit the two behind it, which shed their own.
--
--   trapeze run pillars.lua [--set cells=20] [--set reynolds=120] [--set steps=12000]
--
-- `cells` are a pillar's diameter. Fluid enters at the left, faster in the middle than at the walls, and leaves at the right.
local tz = require "trapeze"

local d, reynolds = math.tointeger(tz.args.cells or 20), tonumber(tz.args.reynolds or 120)
local steps, velocity = math.tointeger(tz.args.steps or 12000), 0.08
local nx, ny = 24 * d, 7 * d + 2
local pillars = { { 4 * d, 3.45 * d }, { 9 * d, 2.1 * d }, { 9 * d, 4.9 * d } }
-- What a cell is, as the field `solid` says.
local FLUID, OBSTACLE, WALL, INLET, OUTLET = 0, 1, 2, 3, 4

-- Cells to the nearest surface, negative within a pillar.
local function distance(x, y)
  local nearest = math.huge
  for _, p in ipairs(pillars) do
    nearest = math.min(nearest, math.sqrt((x - p[1]) ^ 2 + (y - p[2]) ^ 2) - d / 2)
  end
  return nearest
end
local function enters(y)
  local share = (y - 0.5) / (ny - 2)
  return math.max(0, 4 * velocity * share * (1 - share))
end
-- The fluid moves at first as it enters: the equilibrium of channel.cell.h.
local cx = { [0] = 0, 1, 0, -1, 0, 1, -1, -1, 1 }
local weights = { [0] = 4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36 }
local fields = { distance = distance }
for i = 0, 8 do
  fields["f" .. i] = function(x, y)
    local u = enters(y)
    return weights[i] * (1 + 3 * cx[i] * u + 4.5 * (cx[i] * u) ^ 2 - 1.5 * u * u)
  end
end
fields.solid = function(x, y)
  return (y == 0 or y == ny - 1) and WALL or x == 0 and INLET or x == nx - 1 and OUTLET or
    distance(x, y) < 0 and OBSTACLE or FLUID
end
fields.wall_x = function(x, y) return x == 0 and enters(y) or 0 end

local sim = tz.simulation {
  plugin = "lbm_curved", grid = { nx, ny }, boundary = "clamp",
  params = { viscosity = velocity * d / reynolds, magic = 1 / 4 }, fields = fields,
}
sim:every(steps // 60, tz.table { "step", "force_x(solid)", "force_y(solid)" })
sim:every(steps // 3, tz.png("vorticity", { map = "balance", range = { -0.02, 0.02 }, zoom = 2, caption = "vorticity after {step}" }))
sim:run(steps)
local function flux(x)
  return sim:sum("velocity_x", { x = { x, x + 1 }, y = { 0, ny } })
end
tz.expect(math.abs(flux(nx - 2) / flux(0) - 1) < 0.03, "what enters leaves")
