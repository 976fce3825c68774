-- A coefficient of its own for each cell and neighbour: noise that spreads along the lines of a flow alone, which draws
-- them. An array of names of static fields takes the place of numbers.
--
--   trapeze run streaks.lua
local tz = require "trapeze"

local n = 300
local rising, falling = "rising", "falling" -- neighbours on the diagonals
local streaks = tz.stencil {
  name = "streaks", doc = "Spreads along one direction in each cell.",
  fields = { "u", here = { role = "static" }, across = { role = "static" }, along = { role = "static" },
    rising = { role = "static" }, falling = { role = "static" } },
  coefficients = {
    { rising, "along", falling },
    { "across", "here", "across" },
    { falling, "along", rising },
  },
}

-- The direction of the flow: vortices that turn against each other.
local function direction(x, y)
  local a, b = (x + 0.5) * 2.6 * math.pi / n, (y + 0.3 * x + 0.5) * 2 * math.pi / n
  local dx, dy = math.sin(a) * math.cos(b), -math.cos(a) * math.sin(b)
  local length = math.sqrt(dx * dx + dy * dy)
  if length < 1e-9 then return 0, 0 end
  return dx / length, dy / length
end
-- div (D grad u) with D = 0.24 d d^T, from the nine cells around.
local function tensor(part)
  return function(x, y)
    local dx, dy = direction(x, y)
    local xx, yy, xy = 0.24 * dx * dx, 0.24 * dy * dy, 0.24 * dx * dy
    if part == "here" then return 1 - 2 * (xx + yy) end
    return part == "across" and xx or part == "along" and yy or part == "rising" and xy / 2 or -xy / 2
  end
end
local fields = { u = tz.random { seed = 7, range = { 0, 1 } } }
for _, part in ipairs { "here", "across", "along", "rising", "falling" } do
  fields[part] = tensor(part)
end
local flow = tz.simulation { plugin = streaks, grid = { n, n }, boundary = "mirror", fields = fields }
flow:run(160)
flow:write(tz.png("u", { map = "gray", range = { 0.3, 0.7 }, zoom = 3, caption = "Noise, spread along a flow" }))
tz.expect(math.abs(flow:mean "u" - 0.5) < 0.05, "the mean moved away")
