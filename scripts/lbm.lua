-- A vortex street: flow past a cylinder sheds vortices, first from one side, then from the other.
--
--   trapeze run lbm.lua [--set nx=480] [--set ny=160] [--set reynolds=150] [--set steps=16000]
local tz = require "trapeze"

local nx, ny = math.tointeger(tz.args.nx or 480), math.tointeger(tz.args.ny or 160)
local steps = math.tointeger(tz.args.steps or 16000)
local reynolds = tonumber(tz.args.reynolds or 150)
local velocity, size = 0.08, ny // 8

-- The equilibrium of a fluid of density 1 that moves along x: the populations of lbm.cell.h.
local cx = { [0] = 0, 1, 0, -1, 0, 1, -1, -1, 1 }
local weights = { [0] = 4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36 }
local fields, outside = {}, {}
for i = 0, 8 do
  local c = 3 * cx[i] * velocity
  local value = weights[i] * (1 + c + c * c / 2 - 1.5 * velocity * velocity)
  fields["f" .. i], outside["f" .. i] = value, value
end
-- A little off the middle, so that the street begins soon.
fields.solid = function(x, y)
  return (x - nx // 5) ^ 2 + (y - ny // 2 - 0.7) ^ 2 < (size / 2) ^ 2 and 1 or 0
end

local sim = tz.simulation {
  plugin = "lbm", grid = { nx, ny }, params = { viscosity = velocity * size / reynolds },
  boundary = { x = { "fixed", "clamp" }, y = "periodic" }, boundary_values = outside, fields = fields,
}
sim:every(steps // 8, tz.png("vorticity", { map = "balance", range = { -0.02, 0.02 }, zoom = 2, caption = "vorticity after {step}" }))
sim:every(steps // 4, tz.png("speed", { map = "viridis", range = { 0, 0.14 }, zoom = 2, caption = "speed after {step}" }))
sim:run(steps)

-- A film of one period, in which both sides shed a vortex. Played in a circle, it does not jump.
local strouhal, frames = 0.195, 32
local every = size / (strouhal * velocity) // frames
sim:every(every, tz.movie("vorticity", { name = "street", fps = 15, map = "balance", range = { -0.02, 0.02 } }))
sim:run((frames - 1) * every)
tz.expect(sim:max "speed" < 3 * velocity and sim:max "speed" > velocity, "the flow goes round the cylinder")
