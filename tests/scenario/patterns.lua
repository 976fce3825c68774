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
c.refuses("unknown rule", read, "plain.rle", { rule = "B3/S2x" })
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

c.refuses("on a torus that is endless along x (B3/S23:T0,30): give the simulation 30 cells along y, boundary = { y = \"periodic\" }",
          life, read "tube.rle")
life(read "tube.rle", { boundary = { y = "periodic" } })
c.refuses("whose empty part comes alive (B0): give the simulation boundary = \"periodic\"", life, read "b0.rle")
life(read "b0.rle", { boundary = "periodic" })
tz.expect(read("b0.rle").generation == 12)

-- A torus of 30 x 20 cells whose sides meet with a shift is one of 30 x 60: 3 copies of what Golly has.
local shifted = tz.read "shifted.rle"
local covered = life(shifted, { grid = shifted.shape, boundary = "periodic" })
for _, row in ipairs { { 0, 7 }, { 40, 99 }, { 60, 49 } } do
    covered:run(row[1])
    tz.expect(tz.checking or covered:population() == 3 * row[2])
end
c.refuses("those that are joined otherwise", read, "plain.rle", { rule = "B3/S23:K40*,30" })

-- Rules of several states have a plugin of their own; those that nothing has are refused by what they are, unless
-- another rule takes their place.
c.refuses("the rule '345/2/4' has more than two states: the plugin \"generations\" computes it", life, read "states.rle")
local wars = life(0, { plugin = "generations", fields = { state = read "states.rle" } })
tz.expect(wars:param "rule" == "345/2/4" and wars:max "state" == 3)
tz.expect(wars:array "state".rule == "345/2/4:P40,30")
c.refuses("it is a Larger-than-Life rule: a tz.stencil sums cells up to 8 away", read, "bug.rle", { rule = "R10,C2,S9,B9" })
tz.expect(read("bug.rle", { rule = "B3/S23" }):sum() == 16)
local cells = read("bug.rle", { rule = "none" })
tz.expect(cells.rule == nil and cells:sum() == 16)
life(cells)

-- The message has the stencil of a Larger-than-Life rule: populations after 10 and 20 generations are Golly's.
for _, row in ipairs { { nil, 4, 4, 36, 28 }, { "R2,C0,M1,S5..9,B6..8,NM", 8, 7, 20, 20 } } do
    local _, message = pcall(read, "bug.rle", { rule = row[1] })
    local options = load("return " .. message:match "tz%.stencil (%b{})")()
    options.name = options.name .. row[2]
    local larger = life(0, { plugin = tz.stencil(options), grid = { 60, 50 }, boundary = "periodic" })
    larger:set("alive", 1, { x = { 20, 20 + row[2] }, y = { 20, 20 + row[3] } })
    for k = 4, 5 do
        larger:run(10)
        tz.expect(tz.checking or larger:population() == row[k])
    end
end

-- What is written says so, too.
tz.expect(life(0, { boundary = "periodic" }):array().rule == "B3/S23:T40,30")
tz.expect(life(0):array().rule == "B3/S23:P40,30")
tz.expect(life(0, { boundary_values = { alive = 1 } }):array().rule == "B3/S23")
tz.expect(life(0, { boundary = { x = "periodic" }, params = { rule = "36/125" } }):array().rule == "B125/S36")

-- Pictures of a part, which may follow, and of single cells of large grids.
local part = life(read "plain.rle")
part:write(tz.png("alive", { region = { x = { 0, 10 }, y = { 0, 10 }, follow = true }, reduce = "max" }))
c.refuses("'region' ends at x = 50, and the grid at 40", part.write, part, tz.png("alive", { region = { x = { 0, 50 } } }))
c.refuses("region: 'x' must be {first, end}, and the end is above the first", tz.png, "alive", { region = { x = { 5, 5 } } })
c.refuses("a 'region' has no 'axes'", tz.png, "alive", { region = { x = { 5, 9 } }, axes = true })

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

-- Populations after 100 and 1,000 generations of two patterns in the middle of a grid, as Golly 4.3 (bgolly) counts them.
local pentomino = { ".OO", "OO.", ".O." }
local block = { "O..OO.O.", ".OOO..OO", "OO.O.O..", "..O.OOO.", "O.OO...O" }
for _, row in ipairs {
    { "B3/S23", true, pentomino, 120, 196 },
    { "/2/3", true, block, 14, 6 },
    { "2367/3457/5", false, pentomino, 14, 10 },
    { "B2ik3aeikr4ceijqry78/S23-a4city78", true, pentomino, 90, 56 },
    { "B2-a5678/S125678", false, block, 126, 29 },
    { "B24/S345H", true, block, 1214, 1229 },
    { "12/13/4V", false, block, 1160, 1160 },
} do
    local rule, rows = row[1], row[3]
    local plugin = rule:find "^B%d+/S%d*$" and "life" or "generations"
    local field = plugin == "life" and "alive" or "state"
    local cells = {}
    for cell in table.concat(rows):gmatch "." do
        cells[#cells + 1] = cell == "O" and 1 or 0
    end
    local sim = life(nil, { plugin = plugin, grid = { 46, 36 }, boundary = row[2] and "periodic" or "fixed",
        params = { rule = rule }, fields = {} })
    local x, y = 23 - #rows[1] // 2, 18 - #rows // 2
    sim:set(field, tz.array { shape = { #rows[1], #rows }, dtype = "uint8", data = cells },
        { x = { x, x + #rows[1] }, y = { y, y + #rows } })
    for k, generations in ipairs { 100, 1000 } do
        sim:run(generations - sim.step)
        local living = sim:population(field)
        tz.expect(tz.checking or living == row[3 + k],
            ("%s: %d cells live after %d generations, and %d in Golly"):format(rule, living, generations, row[3 + k]))
    end
    sim:close()
end
