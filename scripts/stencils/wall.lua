-- Heat through the wall of a house in winter, and where a concrete floor runs through its insulation. Both sides of the wall
-- exchange heat with air: the flow is a coefficient times the difference of temperatures, which is a Robin side.
--
--   trapeze run wall.lua [--set room=20] [--set winter=-10]
local tz = require "trapeze"

local nx, ny, dx = 72, 200, 0.005
local room, winter = tonumber(tz.args.room or 20), tonumber(tz.args.winter or -10)
local brick, insulation, concrete = 0.8, 0.04, 2.0 -- W/(m K)
local inner, outer = 8, 25 -- W/(m2 K), to the air

local wall = tz.stencil {
  name = "wall", doc = "Heat in a wall between two rooms.", dims = 2, spacing = dx,
  fields = { T = { unit = "°C" }, k = { role = "static", unit = "W/(m K)" } },
  params = { inner = inner, outer = outer, room = room, winter = winter },
  outside = { T = { x = { { robin = { "inner", "k", "inner*room" } }, { robin = { "outer", "k", "outer*winter" } } } } },
  update = { T = ("T + %g*div(k, T)"):format(0.1 * dx ^ 2) },
}
local sim = tz.simulation { plugin = wall, grid = { nx, ny }, precision = "double", fields = {
  T = function(x) return room + (winter - room) * x / nx end,
  k = function(x, y) return math.abs(y - ny / 2) < 18 and concrete or x < 48 and brick or insulation end,
} }
sim:steady { tolerance = 1e-9 }
sim:write(tz.png("T", { map = "balance", range = { winter, room }, zoom = 3, axes = true, bar = true,
  caption = "Heat in a wall" }))
if not tz.checking then
  local function flow(x) -- through the faces between the cells x and x + 1, W for each metre of the wall's depth
    local sum = 0
    for y = 0, ny - 1 do
      sum = sum + (sim:get("k", x, y) + sim:get("k", x + 1, y)) / 2 * (sim:get("T", x, y) - sim:get("T", x + 1, y))
    end
    return sum
  end
  local layers = (room - winter) / (1 / inner + 48 * dx / brick + 24 * dx / insulation + 1 / outer) * ny * dx
  print(("%.1f W/m of wall, %.1f without the floor; in the room the floor has %.1f degrees, the wall %.1f"):format(flow(4),
    layers, sim:get("T", 0, ny // 2), sim:get("T", 0, 0)))
  tz.expect(math.abs(flow(4) / flow(67) - 1) < 1e-5, "what flows in flows out")
end
