-- div(k, u): what it conserves, its order, and the bits of a flux formula by hand.
local tz = require "trapeze"
local c = require "checks"

-- Heat in a medium that varies: no heat is lost with clamp or periodic sides.
local spread = tz.stencil { dims = 2, fields = { "u", k = { role = "static" } }, update = { u = "u + 0.1*div(k, u)" } }
local by_hand = tz.stencil { dims = 2, fields = { "u", k = { role = "static" } }, update = { u = [[u + 0.1*(
  ((k + k[1,0])/2*(u[1,0] - u) - (k[-1,0] + k)/2*(u - u[-1,0])) +
  ((k + k[0,1])/2*(u[0,1] - u) - (k[0,-1] + k)/2*(u - u[0,-1])))]] } }
local function start(plugin, boundary)
  local sim = tz.simulation { plugin = plugin, grid = { 40, 30 }, precision = "double", boundary = boundary,
    fields = { u = function(x, y) return x == 20 and y == 15 and 1 or 0 end,
      k = function(x, y) return 1 + (x * 7 + y * 3) % 11 / 11 end } }
  sim:run(100)
  return sim
end
for _, boundary in ipairs { "clamp", "periodic" } do
  local flux, hand = start(spread, boundary), start(by_hand, boundary)
  if not tz.checking then
    c.near(flux:sum "u", 1, 1e-13)
    for x = 0, 39 do
      for y = 0, 29 do
        tz.expect(flux:get("u", x, y) == hand:get("u", x, y))
      end
    end
    -- No checkerboard: between neighbours the values hardly differ.
    tz.expect(math.abs(flux:get("u", 20, 15) - flux:get("u", 21, 15)) < 0.1 * flux:get("u", 20, 15))
  end
end

-- Half the spacing, a quarter of the error: k = 2 + cos x, u = sin x, so (k u')' = -2 sin x - sin 2x.
local order = tz.stencil { dims = 1, params = { h = 1 },
  fields = { u = {}, r = { role = "derived" } }, update = { u = "u" },
  outputs = { r = "div(2 + cos(x*h), u)/h^2 + 2*sin(x*h) + sin(2*x*h)" } }
local function error_of(n)
  local h = 2 * math.pi / n
  local sim = tz.simulation { plugin = order, grid = { n }, precision = "double", boundary = "periodic",
    params = { h = h }, fields = { u = function(x) return math.sin(x * h) end } }
  local worst = 0
  for x = 1, n - 2 do -- cos(x*h) of a neighbour past a side is that of the cell there
    worst = math.max(worst, math.abs(sim:get("r", x)))
  end
  return worst
end
if not tz.checking then
  local coarse, fine = error_of(40), error_of(80)
  c.near(coarse / fine, 4, 0.05)
  tz.expect(coarse < 0.02, coarse)
end
