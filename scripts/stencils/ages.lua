-- Life with ages: each cell counts for how many generations in a row it has been alive, the present one included. The
-- stencil counts in every generation, so ages are exact however seldom a picture is drawn.
--
--   trapeze run ages.lua [--set generations=1200] [--set density=0.3]
local tz = require "trapeze"

local generations = math.tointeger(tz.args.generations or 1200)
local nx, ny = 400, 300

-- 0: dead. Three living neighbours make a cell live, two keep it alive.
local ages = tz.stencil {
  name = "ages", doc = "Life by Conway's rule, with the age of each cell.",
  dims = 2, fields = { age = "int" },
  update = {
    age = [[sum(i, -1, 1, sum(j, -1, 1, age[i, j] > 0)) - (age > 0) == 3
            or (age > 0 and sum(i, -1, 1, sum(j, -1, 1, age[i, j] > 0)) - (age > 0) == 2) ? age + 1 : 0]],
  },
}
local soup = tz.random { seed = 2026, density = tonumber(tz.args.density or 0.3) }
local life = tz.simulation { plugin = "life", grid = { nx, ny }, boundary = "periodic", name = "life", fields = { alive = soup } }
local sim = tz.simulation {
  plugin = ages, grid = { nx, ny }, boundary = "periodic", name = "ages",
  fields = { age = life:array "alive" },
}

-- Dead cells are below the range and have the first colour, newborn ones the second; what lasts turns blue.
local look = {
  log = true, range = { 0.5, 1000 }, zoom = 2,
  colours = { "#0c0c16", "#fffbd0", "#ffe27a", "#ffbe3d", "#ff8f2e", "#f2613a", "#d33f5c", "#a6347c", "#76379a", "#4f49b4", "#3767c9", "#2f8bd8" },
  caption = function(s) return ("generation {step}: %d cells live, the oldest for %d generations"):format(s:population "age", s:max "age") end,
}
sim:every(math.max(1, generations // 4), tz.png("age", look))
look.name = "ages"
sim:every(8, tz.movie("age", look))
sim:every(20, tz.table { "step", "population(age)", "max(age)", "mean(age)" })
sim:run(generations)

-- Cells with an age are those that live by the plugin's rule, and none is older than the run.
life:run(generations)
tz.expect(sim:population "age" == life:population "alive", "other cells live than in Life")
tz.expect(sim:max "age" <= generations + 1, "a cell is older than the run")
local age, alive = sim:array "age", life:array "alive"
for y = 0, ny - 1, 7 do
  for x = 0, nx - 1 do
    tz.expect((age:get(x, y) > 0) == (alive:get(x, y) == 1), "a cell lives in one of the two only")
  end
end
local h = sim:histogram("age", { bins = 24, range = { 0.5, 24.5 } })
tz.log(("%d cells were born in the last generation, %d are older than 24 generations"):format(h.y[1], h.above))
if tz.can_plot() then -- gnuplot is there
  tz.plot { file = "how-old.png", title = ("Ages after %d generations"):format(generations), x_label = "generations in a row", y_label = "cells",
    subtitle = ("and %d cells that are older"):format(h.above), series = { { x = h.x, y = h.y, style = "bars" } } }
end
