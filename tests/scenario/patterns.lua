-- Life patterns: the rule and the universe that a .rle file names are those of the simulation.
local tz = require "trapeze"
local c = require "checks"

local count = 0
local function life(file, options)
    local all = { plugin = "life", grid = { 40, 30 }, fields = { alive = file } }
    for key, value in pairs(options or {}) do
        all[key] = value
    end
    count = count + 1
    all.name = "life" .. count
    return tz.simulation(all)
end
local function read(name, options)
    options = options or {}
    options.at = options.at or { 5, 5 }
    return tz.read(name, options)
end

-- Taken by a simulation without a rule of its own; refused by one with another.
tz.expect(read("highlife.rle").rule == "B36/S23")
tz.expect(life(read "highlife.rle"):param "rule" == "B36/S23")
tz.expect(life(read "highlife.rle", { params = { rule = "b36s23" } }):param "rule" == "b36s23")
c.refuses("is a pattern of rule B36/S23, and the simulation's is B3/S23: give it params = { rule = \"B36/S23\" }",
          life, read "highlife.rle", { params = { rule = "B3/S23" } })
tz.expect(life(read("highlife.rle", { rule = "23/3" }), { params = { rule = "B3/S23" } }):param "rule" == "B3/S23")
local first = life(read "highlife.rle")
c.refuses("is a pattern of rule B3/S23, and the simulation's is B36/S23", first.set, first, "alive",
          read("highlife.rle", { rule = "B3/S23" }))
local late = life(0)
late:run(1)
c.refuses("is a pattern of rule B36/S23, and the simulation's is B3/S23", late.set, late, "alive", read "highlife.rle")
-- A file without a rule fits any.
tz.expect(life(read "plain.rle", { params = { rule = "B36/S23" } }):param "rule" == "B36/S23")
c.refuses("unknown rule", read, "plain.rle", { rule = "B3/S2q" })
c.refuses("is for Life patterns", read, "corner.txt", { rule = "B3/S23" })

-- A torus, a plane with dead cells around it.
c.refuses("give the simulation grid = { 40, 30 } and boundary = \"periodic\"", life, read "torus.rle")
c.refuses("is a pattern on a torus of 40 x 30 cells", life, read "torus.rle", { grid = { 41, 30 }, boundary = "periodic" })
c.refuses("is a pattern on a torus of 40 x 30 cells", life, read "torus.rle", { boundary = { x = "periodic" } })
life(read "torus.rle", { boundary = "periodic" })
life(read("torus.rle", { rule = "B3/S23" }))
life(read("torus.rle", { rule = "B3/S23:P40,30" }))
c.refuses("is a pattern on a plane of 40 x 30 cells", life, read("torus.rle", { rule = "B3/S23:P40,30" }),
          { boundary_values = { alive = 1 } })

-- What is written says so, too.
tz.expect(life(0, { boundary = "periodic" }):array().rule == "B3/S23:T40,30")
tz.expect(life(0):array().rule == "B3/S23:P40,30")
tz.expect(life(0, { boundary_values = { alive = 1 } }):array().rule == "B3/S23")
tz.expect(life(0, { boundary = { x = "periodic" }, params = { rule = "36/125" } }):array().rule == "B125/S36")

-- Cells of a pattern are dead or alive.
local chip = c.chip { name = "chip" }
c.refuses("'temperature' is real; use tz.npy", chip.write, chip, tz.rle "temperature")
c.refuses("'power' is real; use tz.npy", chip.every, chip, 1, tz.rle "power")
if not tz.checking then
    local numbers = tz.array { shape = { 3, 2 }, data = { 0, 1, 0, 1, 0.5, 1 } }
    c.refuses("cell (1, 1) is 0.5", numbers.save, numbers, "numbers.rle")
    numbers:set(1, 1, 1)
    numbers:save "numbers.rle"
end

-- Rules have names.
tz.expect(life(0, { params = { rule = "high life" } }):array().rule:find "^B36/S23")
