-- Numbers about a part of a field: a box, a mask, a unit of a floorplan.
local tz = require "trapeze"
local c = require "checks"

-- min, max, mean and sum over the cells that `inside` selects, by get() alone.
local function count(sim, field, nx, ny, nz, inside)
    local r = { min = math.huge, max = -math.huge, sum = 0, cells = 0 }
    for z = 0, nz - 1 do
        for y = 0, ny - 1 do
            for x = 0, nx - 1 do
                if inside(x, y, z) then
                    local v = sim:get(field, table.unpack({ x, y, z }, 1, nz > 1 and 3 or ny > 1 and 2 or 1))
                    r.min, r.max = math.min(r.min, v), math.max(r.max, v)
                    r.sum, r.cells = r.sum + v, r.cells + 1
                end
            end
        end
    end
    r.mean = r.sum / r.cells
    return r
end

local function same(sim, field, region, wanted)
    tz.expect(sim:min(field, region) == wanted.min and sim:max(field, region) == wanted.max)
    c.near(sim:sum(field, region), wanted.sum, 1e-12 * math.abs(wanted.sum))
    c.near(sim:mean(field, region), wanted.mean, 1e-12 * math.abs(wanted.mean))
end

local chip = c.chip { name = "chip", grid = { 16, 8 }, precision = "double",
                      fields = { temperature = function(x, y) return 300 + 10 * x + y / 7 end,
                                 power = function(x, y) return x >= 5 and y == 3 and 0.5 or 0 end } }
local plan = tz.floorplan { flp = "plan.flp" }

-- A check computes nothing, but refuses what a run refuses.
c.refuses("not a number", chip.mean, chip, "temperature", 3)
c.refuses("a unit (plan:unit \"NAME\"), not a userdata", chip.mean, chip, "temperature", plan)
c.refuses("the box's x must be {low, high}", chip.max, chip, "temperature", { x = { 3, 17 } })
c.refuses("unknown key 'z'", chip.max, chip, "temperature", { z = { 0, 1 } })
c.refuses("has no field 'powr'; did you mean 'power'?", chip.sum, chip, "temperature", "powr")
c.refuses("has 3 x 2 elements, the grid 16 x 8", chip.sum, chip, "temperature", tz.array { shape = { 3, 2 } })
c.refuses("has no unit 'lift'; did you mean 'left'?", plan.unit, plan, "lift")
c.refuses("sim:population: unexpected argument 2", chip.population, chip, "power", { x = { 0, 1 } })
c.refuses("needs a floorplan", chip.units, chip, "temperature")
c.refuses("has no powers", chip.set, chip, "power", plan)
c.refuses("'row' is of a 'ptrace'", tz.floorplan, { flp = "plan.flp", row = 1 })
if tz.checking then
    tz.expect(chip:mean("temperature", plan:unit "left") == 0 and chip:units(plan).left.max == 0)
    return
end

-- Boxes, in all dimensions and for every type of field.
same(chip, "temperature", { x = { 2, 7 }, y = { 1, 8 } },
     count(chip, "temperature", 16, 8, 1, function(x, y) return x >= 2 and x < 7 and y >= 1 end))
same(chip, "power", { x = { 4, 6 }, y = { 3, 4 } },
     count(chip, "power", 16, 8, 1, function(x, y) return x >= 4 and x < 6 and y == 3 end))
same(chip, "temperature", {}, count(chip, "temperature", 16, 8, 1, function() return true end))
tz.expect(chip:sum("temperature", {}) == chip:sum "temperature")

local solid = tz.simulation { plugin = "star3d1r", name = "solid", grid = { 9, 7, 5 }, fields = {
    u = function(x, y, z) return math.sin(x + 3 * y + 17 * z) end } }
same(solid, "u", { y = { 2, 6 }, z = { 1, 2 } },
     count(solid, "u", 9, 7, 5, function(x, y, z) return y >= 2 and y < 6 and z == 1 end))

local life = tz.simulation { plugin = "life", name = "life", grid = { 77, 9 },
                             fields = { alive = tz.random { seed = 3, density = 0.4 } } }
local box = { x = { 30, 70 }, y = { 2, 5 } }
same(life, "alive", box, count(life, "alive", 77, 9, 1, function(x, y)
    return x >= 30 and x < 70 and y >= 2 and y < 5
end))
tz.expect(math.type(life:max("alive", box)) == "integer")

local path = tz.simulation { plugin = "pathfinder", name = "path", grid = { 40 },
                             fields = { weights = tz.random { seed = 2, range = { 1, 9 } } } }
path:run(5)
same(path, "cost", { x = { 3, 39 } }, count(path, "cost", 40, 1, 1, function(x) return x >= 3 and x < 39 end))
-- A row of several pieces.
local long = tz.simulation { plugin = "pathfinder", name = "long", grid = { 200001 },
                             fields = { cost = tz.random { seed = 4, range = { -3, 900 } },
                                        weights = tz.random { seed = 2, range = { 1, 9 } } } }
same(long, "cost", { x = { 60000, 140001 } }, count(long, "cost", 200001, 1, 1, function(x) return x >= 60000 and x < 140001 end))
c.refuses("'weights' is streamed", path.sum, path, "weights", { x = { 3, 39 } })
c.refuses("the mask 'weights' is streamed", path.sum, path, "cost", "weights")

-- Masks: a field, an array, an array at its place.
local hot = count(chip, "temperature", 16, 8, 1, function(x, y) return x >= 5 and y == 3 end)
same(chip, "temperature", "power", hot)
same(chip, "temperature", tz.array { shape = { 16, 8 }, fill = function(x, y) return x >= 5 and y == 3 end }, hot)
same(chip, "temperature", tz.read("corner.txt", { shape = { 2, 2 }, at = { 3, 4 } }),
     count(chip, "temperature", 16, 8, 1, function(x, y) return x == 4 and (y == 4 or y == 5) end))
c.refuses("the mask selects no cell", chip.mean, chip, "temperature", tz.array { shape = { 16, 8 } })
same(life, "alive", "alive", count(life, "alive", 77, 9, 1, function(x, y) return life:get("alive", x, y) == 1 end))

-- Units: the cells whose centres lie in them. Row 0 is at the top.
local left, right = plan:unit "left", plan:unit "right"
same(chip, "temperature", left, count(chip, "temperature", 16, 8, 1, function(x) return x < 4 end))
same(chip, "temperature", right, count(chip, "temperature", 16, 8, 1, function(x) return x >= 4 end))
local units = chip:units(plan)
tz.expect(units.left.max == chip:max("temperature", left) and units.right.mean == chip:mean("temperature", right))
tz.expect(chip:units(plan, "power").left.max == 0)

-- Every unit of a chip lies where its power is: the same in all of its cells, and nothing is left over.
local real = tz.floorplan { flp = "../../scripts/chip.flp", ptrace = "../../scripts/chip.ptrace", row = 1 }
local fine = c.chip { name = "fine", grid = { 160, 160 }, precision = "double", fields = { power = real } }
local total = 0
for _, unit in ipairs(real.units) do
    local part = real:unit(unit.name)
    c.near(fine:min("power", part), fine:max("power", part), 1e-12)
    total = total + fine:sum("power", part)
end
c.near(total, fine:sum "power", 1e-9)

-- A unit that is smaller than a cell is the cell at its place.
local coarse = c.chip { name = "coarse", grid = { 2, 2 }, fields = { temperature = function(x, y) return 300 + x + 2 * y end } }
c.near(coarse:units(plan).left.max, 302, 1e-5)
c.near(coarse:units(plan).right.max, 303, 1e-5)

-- A plan of another size than the chip.
local small = c.chip { name = "small", params = { chip_width_m = 0.008, chip_height_m = 0.016 } }
c.refuses("give the simulation params = { chip_width_m = 0.016, chip_height_m = 0.016 }", small.units, small, plan)
c.refuses("is of a chip of 0.016 m x 0.016 m, the simulation's is 0.008 m x 0.016 m", small.mean, small,
          "temperature", left)
c.refuses("is of a chip of", small.set, small, "power", tz.floorplan { flp = "plan.flp", ptrace = "plan.ptrace" })
local large = c.chip { name = "large", params = { chip_width_m = 0.032, chip_height_m = 0.016 } }
c.refuses("is of a chip of", large.set, large, "power", tz.floorplan { flp = "plan.flp", ptrace = "plan.ptrace" })
c.refuses("is of a chip of", large.every, large, 1, tz.png("temperature", { outline = tz.floorplan { flp = "plan.flp" } }))
c.refuses("is of a chip of", tz.picture, { data = large, file = "chip.png", outline = tz.floorplan { flp = "plan.flp" } })
c.refuses("is of a chip of", large.set, large, "power",
          tz.floorplan { flp = "plan.flp", ptrace = "plan.ptrace", width_m = 0.016, height_m = 0.016 })
-- The units may leave a rim of the chip free, if the script says how large the chip is.
large:set("power", tz.floorplan { flp = "plan.flp", ptrace = "plan.ptrace", width_m = 0.032, height_m = 0.016 })
c.near(large:sum "power", 10, 1e-5)
tz.expect(large:sum("power", { x = { 8, 16 } }) == 0)

-- A plan away from the origin is moved there. A trace may be that of a stack, whose units are those of several plans.
local moved = tz.floorplan { flp = "moved.flp", ptrace = "stack.ptrace", overlap = 0.01 }
c.near(moved.units[2].left_m, 0.00399, 1e-15)
c.near(moved.width_m, 0.016, 1e-15)
tz.expect(moved.units[1].left_m == 0 and moved.units[1].bottom_m == 0)
c.refuses("by 0.25 % of that; 'overlap' of tz.floorplan", tz.floorplan, { flp = "moved.flp" })
chip:set("power", moved)
c.near(chip:sum "power", 8, 1e-12)

-- A unit as a box; floorplans in a box, in 3-D, and in a layer.
chip:set("temperature", 400, plan:unit "left")
tz.expect(chip:min("temperature", left) == 400 and chip:max("temperature", left) == 400 and chip:min("temperature", right) < 350)
local deep = tz.simulation { plugin = "hotspot3d", name = "deep", grid = { 16, 8, 4 }, precision = "double" }
deep:set("power", tz.floorplan { flp = "plan.flp", ptrace = "plan.ptrace" }, { z = { 1, 3 } })
c.near(deep:sum "power", 10, 1e-12)
c.near(deep:sum("power", { z = { 1, 2 } }), 5, 1e-12)
local part = tz.floorplan { flp = "plan.flp", ptrace = "plan.ptrace", box = { x = { 4, 12 }, z = { 3, 4 } } }
deep:set("power", 0)
deep:set("power", part)
same(deep, "power", part:unit "left", count(deep, "power", 16, 8, 4, function(x, y, z) return x >= 4 and x < 6 and z == 3 end))
c.near(deep:units(part, "power").left.mean * 16 + deep:sum("power", part:unit "right"), 10, 1e-12)
c.refuses("x of the floorplan's 'box' ends at 17, and the grid at 16", deep.set, deep, "power",
          tz.floorplan { flp = "plan.flp", ptrace = "plan.ptrace", box = { x = { 4, 17 } } })
c.refuses("x of 'box' must be {low, high}", tz.floorplan, { flp = "plan.flp", box = { x = { 4, 4 } } })
c.refuses("in 2-D or 3-D", path.set, path, "cost", tz.floorplan { flp = "plan.flp", ptrace = "plan.ptrace" })

-- A table's columns.
chip:every(1, tz.table { "step", plan, "max(temperature)", name = "units", power = function(s) return s:sum "power" end })
chip:run(2)
plan:close()
c.refuses("closed", chip.units, chip, plan)
tz.expect(chip:mean("temperature", left) > 0)
chip:run(1)
