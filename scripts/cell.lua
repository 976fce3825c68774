-- Life in three dimensions: a crystal that grows from one cell, and a soup of Bays' 4555.
--
--   trapeze run cell.lua [--set rule=4555] [--set steps=24]
local tz = require "trapeze"

-- A cell is born next to exactly one living cell and never dies: the crystal keeps the symmetry of
-- the cube. One picture shows it from a corner, another one a plane near its middle.
local n, steps = 63, math.tointeger(tz.args.steps or 28)
local crystal = tz.simulation {
  plugin = "cell", grid = { n, n, n }, name = "crystal",
  params = { rule = "B1,/S0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26" },
  fields = { alive = function(x, y, z) return x == n // 2 and y == n // 2 and z == n // 2 and 1 or 0 end },
}
local function told(sim) return ("generation {step}: %d cells live"):format(sim:population "alive") end
local bits = { "#12131c", "#ffc857" }
crystal:every(7, tz.png("alive", { name = "plane", slice = { y = n // 2 + 7 }, axes = true, grid_lines = true, zoom = 10, colours = bits,
  caption = "a plane of the crystal, 7 cells from its middle, generation {step}" }))
crystal:every(7, tz.png("alive", { name = "crystal", view = "isometric", map = "inferno", caption = told }))
crystal:every(1, tz.table { "step", "population(alive)" })
crystal:run(steps)
-- The same after a rotation: x, y and z are equivalent.
local alive = crystal:array "alive"
for z = 0, n - 1, 3 do
  for y = 0, n - 1, 3 do
    for x = 0, n - 1, 3 do
      tz.expect(alive:get(x, y, z) == alive:get(z, x, y), "the crystal has lost its symmetry")
    end
  end
end

-- A cube of random cells. Under 4555 most die; the rest moves in small groups or stands still. A montage shows planes
-- of it, each with its z.
local soup = tz.simulation {
  plugin = "cell", grid = { 64, 64, 64 }, name = "soup",
  params = { rule = tz.args.rule or "4555" },
  fields = { alive = tz.random { seed = 3, density = 0.16 } },
}
soup:every(10, tz.png("alive", { montage = true, colours = bits, zoom = 2,
  caption = "slices of a soup, generation {step}" }))
soup:every(10, tz.png("alive", { name = "soup", view = "isometric", map = "viridis", caption = told }))
soup:every(1, tz.table { "step", "population(alive)" })
soup:run(40)
tz.log(("soup: %d of %d cells live after %d generations"):format(soup:population "alive", soup.cells, soup.step))
