-- Arrays, random numbers, streamed fields.
local tz = require "trapeze"
local c = require "checks"

local a = tz.array { shape = { 3, 2 }, fill = function(x, y) return 10 * y + x end }
tz.expect(a:get(2, 1) == 12 and #a == 6 and a.count == 6 and a.dtype == "float64")
tz.expect(a.shape[1] == 3 and a.shape[2] == 2 and #a.shape == 2)
tz.expect(a:min() == 0 and a:max() == 12 and a:sum() == 36)
a:set(0, 0, -1)
tz.expect(a:get(0, 0) == -1)
c.refuses("'x' must be from 0 to 2", a.get, a, 3, 0)
c.refuses("2 coordinates", a.get, a, 1)
c.refuses("unknown dtype 'float65'; did you mean 'float64'?", tz.array, { shape = 3, dtype = "float65" })
c.refuses("not a number of type uint8", tz.array, { shape = 3, dtype = "uint8", fill = 300 })
c.refuses("'data' holds 2 numbers", tz.array, { shape = 3, data = { 1, 2 } })
c.refuses("unknown key 'shap'; did you mean 'shape'?", tz.array, { shap = 3 })
c.refuses("must be at least 1", tz.array, { shape = { 0 } })
c.refuses("has no 'gett'", function() return a.gett end)

local i = tz.array { shape = 4, dtype = "int32", data = { 1, 2, 3, 4 } }
tz.expect(i:get(3) == 4 and math.type(i:get(3)) == "integer")

-- Text in another order, and the channels of pictures.
local layers = tz.read("layers.txt", { shape = { 3, 2, 2 }, order = "zxy" })
tz.expect(layers:get(2, 1, 0) == 12 and layers:get(2, 1, 1) == 112 and layers:get(0, 1, 1) == 110)
tz.expect(tz.read("layers.txt", { shape = { 3, 2, 2 } }):get(1, 0, 0) == 100)
tz.expect(tz.read("layers.txt", { shape = { 2, 6 }, order = "xy" }):get(1, 0) == 100)
c.refuses("the order 'zx' must name each of the 3 axes once, such as \"xyz\"", tz.read, "layers.txt",
          { shape = { 3, 2, 2 }, order = "zx" })
c.refuses("'order' needs a 'shape'", tz.read, "layers.txt", { order = "x" })
c.refuses("'order' is for .csv or .txt, not for", tz.read, "mask.png", { shape = { 2, 2 }, order = "yx" })
tz.expect(tz.read("mask.png"):sum() == 0 and tz.read("mask.png", { channel = "a" }):sum() == 383)
local r, g = tz.read("heights.png", { channel = "r" }), tz.read("heights.png", { channel = "g" })
tz.expect(256 * r:get(1, 0) + g:get(1, 0) == 1300 and tz.read("heights.png"):get(0, 0) == 137)
c.refuses("heights.png: the picture has no alpha channel", tz.read, "heights.png", { channel = "a" })
c.refuses("unknown channel 'alpha'; known: grey, r, g, b, a", tz.read, "mask.png", { channel = "alpha" })
c.refuses("'channel' is for .png", tz.read, "layers.txt", { shape = { 3, 2, 2 }, channel = "r" })

-- Elements in a row, and lists of lists.
local sixth = 0
for n, value in ipairs(i) do sixth = sixth + n * value end
tz.expect(sixth == 30 and i[4] == 4 and i.dims == 1 and a.dims == 2 and a[6] == 12 and i[5] == nil)
a[6] = 13
tz.expect(a:get(2, 1) == 13)
c.refuses("'i' must be from 1 to 4, not 0", function() return i[0] end)
c.refuses("'i' must be from 1 to 4, not 5", function() i[5] = 1 end)
c.refuses("not a number of type int32", function() i[1] = 0.5 end)
c.refuses("'i' must be a number from 1, not a string", function() i.x = 1 end)
local rows = tz.array { data = { { 1, 2, 3 }, { 4, 5, 6 } } }
tz.expect(rows.shape[1] == 3 and rows.shape[2] == 2 and rows:get(2, 0) == 3 and rows:get(0, 1) == 4)
local planes = tz.array { dtype = "uint8", data = { { { 1, 2 } }, { { 3, 4 } }, { { 5, 6 } } } }
tz.expect(planes.dims == 3 and planes.shape[3] == 3 and planes:get(1, 0, 2) == 6)
c.refuses("a table along x holds 1, the first one 2", tz.array, { data = { { 1, 2 }, { 3 } } })
c.refuses("holds a number between tables", tz.array, { data = { { 1, 2 }, 3 } })
c.refuses("holds 2 x 3 numbers, the shape needs 3 x 2: the innermost tables lie along x", tz.array,
          { shape = { 3, 2 }, data = { { 1, 2 }, { 3, 4 }, { 5, 6 } } })
c.refuses("an array has at most 3 axes", tz.array, { data = { { { { 1 } } } } })
c.refuses("'shape' is missing", tz.array, {})

-- Raw numbers: those of a .npy file behind its header.
local raw = { type = "uint64", shape = { 3 }, offset = 128 }
c.refuses("Lua's integers end at", function() return tz.read(tz.args.data .. "/wide.npy", raw)[1] end)
tz.expect(tz.read(tz.args.data .. "/wide.npy", raw)[3] == 7)
raw.endian = "big"
tz.expect(tz.read(tz.args.data .. "/wide.npy", raw)[2] == 128)
c.refuses("'offset' is for raw numbers", tz.read, "layers.txt", { offset = 4 })
c.refuses("'skip' is not for raw numbers", tz.read, "layers.txt", { type = "uint8", skip = 1, offset = 0 })
c.refuses("layers.txt has a format that is read without 'type'", tz.read, "layers.txt", { type = "uint8" })
c.refuses("'field' is for .npz, .vti or .h5, not for", tz.read, "layers.txt", { field = "u" })

-- What has another shape than the grid.
local function pixels(fit)
    local s <close> = tz.simulation { plugin = "hotspot", grid = { 4, 3 }, fields = { power = tz.read("heights.png", fit) } }
    local t = {}
    for y = 0, 2 do for x = 0, 3 do t[#t + 1] = s:get("power", x, y) end end
    return table.concat(t, " ")
end
local h = tz.read "heights.png"
tz.expect(h.shape[1] == 3 and h.shape[2] == 1)
c.refuses("has 3 x 1 numbers, the grid needs 4 x 3: tz.read's fit = \"pad\" or \"scale\" makes it fit, 'at' places it",
          pixels, { channel = "grey" })
c.refuses("fit = \"pad\"", pixels, { channel = "grey", fit = "crop" })
tz.expect(pixels { channel = "grey", fit = "pad" } == ("0.0 0.0 0.0 0.0 %.1f %.1f %.1f 0.0 0.0 0.0 0.0 0.0"):format(h[1], h[2], h[3]))
local row = ("%.1f %.1f %.1f %.1f"):format(h[1], h[2], h[2], h[3])
tz.expect(pixels { channel = "grey", fit = "scale" } == row .. " " .. row .. " " .. row)
c.refuses("give 'at' or 'fit', not both", tz.read, "heights.png", { at = { 0, 0 }, fit = "pad" })

-- Fields from arrays, and back.
local sim = c.chip { precision = "double",
                     fields = { temperature = tz.array { shape = { 16, 8 }, fill = function(x, y) return 300 + x + y end } } }
tz.expect(sim:get("temperature", 5, 6) == 311)
local back = sim:array "temperature"
tz.expect(back.shape[1] == 16 and back.shape[2] == 8 and back:get(5, 6) == 311 and back.dtype == "float64")
local flat = c.chip { fields = { temperature = tz.array { shape = 128, fill = 301 }, power = 0.5 } }
tz.expect(flat:min "power" == 0.5 and flat:array("power").dtype == "float32")
-- Single precision holds a temperature as its difference from the ambient one: less rounding, and more than a
-- float's digits.
tz.expect(math.abs(flat:min() - 301) < 1e-6 and flat:array().dtype == "float64")
flat:set("temperature", 318.15 + 1e-6)
tz.expect(math.abs(flat:max() - 318.15 - 1e-6) < 1e-12 and math.abs(flat:mean() - flat:get("temperature", 3, 3)) < 1e-12)
c.refuses("the grid needs 16 x 8", c.chip, { fields = { power = tz.array { shape = { 8, 16 } } } })

-- Random numbers depend on seed and cell alone.
local function random(seed)
    local s <close> = c.chip { fields = { temperature = tz.random { seed = seed, range = { 310, 330 } } } }
    tz.expect(s:min() >= 310 and s:max() <= 330)
    return s:hash()
end
tz.expect(random(1) == random(1) and random(1) ~= random(2))
c.refuses("'seed' is missing", tz.random, {})
c.refuses("low <= high", tz.random, { seed = 1, range = { 2, 1 } })
c.refuses("'density' must be from 0 to 1", tz.random, { seed = 1, density = 2 })
c.refuses("not a 'density'", c.chip, { fields = { power = tz.random { seed = 1, density = 0.5 } } })

-- Life: bits.
local life = tz.simulation { plugin = "life", grid = { 40, 30 }, name = "life",
                             fields = { alive = tz.random { seed = 1, density = 0.3 } } }
tz.expect(life:population() > 200 and life:population() < 520)
life:set("alive", 0)
tz.expect(life:population() == 0)
life:set("alive", 1, { x = { 10, 13 }, y = { 10, 11 } })
life:run(2)
tz.expect(life:population() == 3 and life:get("alive", 11, 10) == 1)
c.refuses("give tz.random a 'density'", life.set, life, "alive", tz.random { seed = 1, range = { 0, 1 } })

-- PathFinder: streamed rows.
local rows = tz.array { shape = { 4, 3 }, dtype = "int32", data = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 9 } }
local field
local path
do
    path = tz.simulation { plugin = "pathfinder", grid = { 4 }, name = "path",
                           fields = { weights = rows } }
end
local slabs = path:slabs("weights", 1, 2)
tz.expect(slabs.shape[1] == 4 and slabs.shape[2] == 2 and slabs:get(0, 0) == 5 and slabs:get(3, 1) == 9)
tz.expect(path:slabs("weights", 0, 1, 1, 2):get(1, 0) == 3)
rows:close()
c.refuses("is closed", rows.get, rows, 0, 0)
path:run(2) -- streams on: the simulation keeps the rows alive
c.refuses("has 3 slabs", path.slabs, path, "weights", 2, 2)
c.refuses("streamed", path.get, path, "weights", 0)
c.refuses("slabs", path.run, path, 9)
c.refuses("needs 4 x slabs", tz.simulation, { plugin = "pathfinder", grid = { 4 }, name = "p2",
    fields = { weights = tz.array { shape = { 3, 4 }, dtype = "int32" } } })
c.refuses("not a 32-bit integer", tz.simulation, { plugin = "pathfinder", grid = { 4 }, name = "p3",
    fields = { weights = tz.array { shape = { 4, 4 }, fill = 0.5 } } })
