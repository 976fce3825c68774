-- Conway's Game of Life: a glider gun, and a soup on a torus.
--
--   trapeze run life.lua [--set rule=B36/S23] [--set density=0.35] [--set generations=1200]
local tz = require "trapeze"

-- Gosper's gun fires a glider every 30 generations. The trail shows where cells lived recently.
local nx, ny = 100, 80
local gun = tz.simulation {
  plugin = "life", grid = { nx, ny }, name = "gun",
  fields = { alive = tz.read("patterns/gosper-gun.rle", { at = { 4, 6 } }) },
}
local trail = tz.array { shape = { nx, ny }, dtype = "float32", fill = 0 }
gun:every(1, function(s)
  local alive = s:array "alive"
  for y = 0, ny - 1 do
    for x = 0, nx - 1 do
      local old = trail:get(x, y)
      if alive:get(x, y) == 1 then trail:set(x, y, 1)
      elseif old > 0 then trail:set(x, y, old > 0.1 and 0.93 * old or 0) end
    end
  end
end)
gun:every(30, tz.table { "step", "population(alive)" })
tz.expect(gun:population "alive" == 36)
for shot = 1, 8 do
  gun:run(30)
  tz.expect(gun:population "alive" == 36 + 5 * shot, "each period adds one glider")
end
tz.picture { data = trail, file = "gun.png", map = "inferno", range = { 0, 1 }, zoom = 10, grid_lines = true,
  caption = "Gosper's gun after 240 generations, and where its gliders were" }

-- A random soup on a torus settles into blinkers, blocks and gliders.
local soup = tz.simulation {
  plugin = "life", grid = { 400, 300 }, boundary = "periodic", name = "soup",
  params = { rule = tz.args.rule or "B3/S23" },
  fields = { alive = tz.random { seed = 2026, density = tonumber(tz.args.density or 0.3) } },
}
local generations = math.tointeger(tz.args.generations or 1200)
local look = { colours = { "#12131c", "#ffe27a" }, zoom = 2,
  caption = function(s) return ("generation {step}: %d cells live"):format(s:population "alive") end }
soup:every(generations // 4, tz.png("alive", look))
soup:every(8, tz.movie("alive", look))
soup:every(20, tz.table { "step", "population(alive)" })
soup:run(generations)
soup:write(tz.rle "alive")
tz.log(("soup: %d of %d cells live after %d generations"):format(soup:population "alive", soup.cells, soup.step))
