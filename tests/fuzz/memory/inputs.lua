-- Every reader, and errors that are caught.
local tz = require "trapeze"
local function file(name) return tz.read("data/" .. name) end
local picture, array, pattern, text = file "temperature-000000.png", file "a.npy", file "a.rle", file "a.txt"
tz.log(("%d %d %d %d"):format(#picture, #array, #pattern, #text))
tz.expect(not pcall(tz.read, "data/none.npy"))
tz.expect(not pcall(tz.simulation, { plugin = "hotpsot", grid = { 8, 8 } }))
local plan = tz.floorplan { flp = "data/a.flp", ptrace = "data/a.ptrace" }
local sim = tz.simulation { plugin = "hotspot", grid = { 16, 16 }, backend = "reference",
                            params = { chip_width_m = 0.016, chip_height_m = 0.0124 },
                            fields = { temperature = 318.15, power = plan } }
sim:run(2)
local words = {}
for i = 1, 200 do words[i] = ("%d:%s"):format(i, ("x"):rep(i)) end
tz.log(#table.concat(words))
sim:write(tz.png "temperature")
local _, predictions = pcall(tz.predict, { plugin = "hotspot", grid = { 512, 512 }, device = "gtx280" })
tz.log(type(predictions))
local rows = tz.array { shape = { 16, 8 }, dtype = "int32", fill = function(x, y) return x * y % 7 end }
local path <close> = tz.simulation { plugin = "pathfinder", grid = { 16 }, backend = "cpu", threads = 1, fields = { weights = rows } }
path:run { steps = 4 }
