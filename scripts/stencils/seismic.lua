-- The form that contains all others, D+ = a D- + b D + v (sum of c D): a shot above layers of rock. v is the square of
-- the speed of sound in cells an iteration; a = -1, b = 2 and the Laplacian of order 8 make it the wave equation.
--
--   trapeze run seismic.lua [--set steps=900]
local tz = require "trapeze"

local steps = math.tointeger(tz.args.steps or 690)
local nx, ny = 400, 280

-- The second derivative of order 8, from the cell itself outwards.
local d = { [0] = -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560 }
local star = {}
for j = -4, 4 do
  star[j + 5] = {}
  for i = -4, 4 do
    star[j + 5][i + 5] = i == 0 and j == 0 and 2 * d[0] or j == 0 and d[math.abs(i)] or i == 0 and d[math.abs(j)] or 0
  end
end
local seismic = tz.stencil {
  name = "seismic", doc = "Sound in rock, of order 8 in space.",
  fields = { "p", "before", v = { role = "static", required = true } },
  field = "p", old = "before", a = -1, b = 2, v = "v", coefficients = star,
}

-- Layers with a fault at x = 230, and a dome of salt.
local speeds = { 0.30, 0.40, 0.33, 0.45, 0.50 }
local function speed(x, y)
  local depth = y + (x > 230 + 0.3 * y and -28 or 0) + 14 * math.sin(x / 55)
  local dome = (x - 120) ^ 2 / 55 ^ 2 + (y - 230) ^ 2 / 70 ^ 2 < 1
  return dome and 0.54 or speeds[math.max(1, math.min(5, 1 + math.floor((depth - 40) / 48)))]
end
local function shot(x, y)
  local r = ((x - 200) ^ 2 + (y - 22) ^ 2) / 12
  return (1 - r) * math.exp(-r)
end
local rock = tz.simulation {
  plugin = seismic, grid = { nx, ny }, boundary = "clamp",
  fields = { p = shot, before = shot, v = function(x, y) return speed(x, y) ^ 2 end },
}
rock:write(tz.png("v", { map = "viridis", zoom = 2, bar = true, caption = "Squares of speeds" }))
rock:every(math.max(1, steps // 3), tz.png("p", { map = "balance", range = { -0.012, 0.012 }, zoom = 2, bar = true,
  caption = "Pressure, iteration {step}" }))
rock:run(steps)
tz.expect(rock:max "p" < 1 and rock:max "p" > 1e-3, "the waves grow or are gone")
