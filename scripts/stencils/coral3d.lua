-- Gray and Scott's reaction in three dimensions, seven points: a drop of V becomes a coral of tubes and walls.
--
--   trapeze run coral3d.lua [--set n=96] [--set steps=1800] [--set points=27]
local tz = require "trapeze"

local n, steps = math.tointeger(tz.args.n or 96), math.tointeger(tz.args.steps or 1800)
local points = math.tointeger(tz.args.points or 7)
tz.expect(n and n >= 24, "n must be 24 or more")
tz.expect(points == 7 or points == 27, "points: 7 or 27")

-- The Laplacian of 27 points is nearly the same along all directions: cells beside one count 14, at edges 3, at corners 1.
local function laplacian(field)
  if points == 7 then return ("lap(%s)"):format(field) end
  local kinds = { {}, {}, {} }
  for z = -1, 1 do
    for y = -1, 1 do
      for x = -1, 1 do
        local far = math.abs(x) + math.abs(y) + math.abs(z)
        if far > 0 then table.insert(kinds[far], ("%s[%d,%d,%d]"):format(field, x, y, z)) end
      end
    end
  end
  return ("(14*(%s) + 3*(%s) + (%s) - 128*%s)/30"):format(table.concat(kinds[1], " + "), table.concat(kinds[2], " + "),
    table.concat(kinds[3], " + "), field)
end
local reaction = tz.stencil {
  name = "coral3d", doc = "Gray and Scott's reaction in three dimensions.", dims = 3,
  fields = { v = "real", u = { initial = 1 } }, params = { du = 0.14, dv = 0.07, feed = 0.03, kill = 0.06 },
  let = { reacts = "u*v^2", spread_u = laplacian "u", spread_v = laplacian "v" },
  update = { u = "u + du*spread_u - reacts + feed*(1 - u)", v = "v + dv*spread_v + reacts - (feed + kill)*v" },
}
local sim = tz.simulation { plugin = reaction, grid = { n, n, n }, boundary = "periodic" }
local low, high = n // 2 - 5, n // 2 + 5
for k, at in ipairs { { low, low, low }, { low + 4, high, low + 7 }, { high, low + 3, high } } do
  local box = { x = { at[1] - 4, at[1] + 4 }, y = { at[2] - 4, at[2] + 3 + k }, z = { at[3] - 3, at[3] + 4 } }
  sim:set("u", 0.5, box)
  sim:set("v", 0.25, box)
end
sim:every(math.max(1, steps // 4), tz.png("v", { slice = n // 2, map = "inferno", range = { 0, 0.4 }, zoom = 5, name = "slice" }))
sim:run(steps)
for _, cut in ipairs { false, true } do
  sim:write(tz.png("v", { name = cut and "inside" or "coral", view = "isometric", cut = cut, level = 0.2, map = "inferno", range = { -0.2, 0.42 },
    caption = "where v is above 0.2, step {step}" }))
end
tz.expect(sim:max "v" > 0.2, "the coral is gone")
