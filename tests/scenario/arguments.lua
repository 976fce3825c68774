-- Every function refuses arguments that it does not take.
local tz = require "trapeze"
local c = require "checks"

-- It returns its condition, also where nothing is expected: under --check.
assert(tz.expect(5) == 5)

local sim = c.chip {}
local array = tz.array { shape = { 3, 2 } }
local plan = tz.floorplan { flp = "plan.flp", ptrace = "plan.ptrace" }
local random = tz.random { seed = 1 }

-- Functions of the module: more arguments than any has. Some take any number.
local any = { log = true, union = true, intersection = true, difference = true }
local count = 0
for name, value in pairs(tz) do
    if type(value) == "function" and not any[name] then
        count = count + 1
        c.refuses("tz." .. name .. ": unexpected argument", value, "a", "b", "c", "d", "e", "f", "g", "h")
    end
end
tz.expect(count >= 16)
tz.log("one", 2, nil, "four")

-- Methods. The object itself is not counted.
local methods = {
    sim = { "get", "set", "min", "max", "sum", "mean", "population", "hash", "residual", "array", "slabs", "params",
            "param", "plan", "kernel", "analyse", "every", "write", "run", "rewind", "policy", "close",
            "receivers", "sources" },
    array = { "get", "set", "min", "max", "sum", "save", "close" },
    floorplan = { "close" },
}
for kind, object in pairs { sim = sim, array = array, floorplan = plan } do
    for _, method in ipairs(methods[kind]) do
        c.refuses(kind .. ":" .. method .. ": unexpected argument", object[method], object,
                  "a", "b", "c", "d", "e", "f", "g", "h")
    end
end
c.refuses('sim:residual: unexpected argument 1 (a string); it is sim:residual()', sim.residual, sim, "temperature")
c.refuses('sim:hash: unexpected argument 2 (a table); it is sim:hash([field])', sim.hash, sim, "power", { x = { 0, 1 } })
c.refuses("sim:run: unexpected argument 2 (a number)", sim.run, sim, 1, 2)
c.refuses("tz.array: unexpected argument 2 (nil)", tz.array, { shape = 3 }, nil)
-- A name that a table of options would also give.
c.refuses("tz.png: give the field before the options or among them, not both", tz.png, "temperature",
          { field = "power" })
c.refuses("tz.npy: unexpected argument 2 (a table) after the options", tz.npy, { name = "a" }, { name = "b" })
c.refuses("'at' of corner.txt has 1 number, the grid 2 axes", sim.set, sim, "power",
          tz.read("corner.txt", { shape = { 2, 2 }, at = 1 }))
c.refuses("'at' of corner.txt has 3 numbers", sim.set, sim, "power",
          tz.read("corner.txt", { shape = { 2, 2 }, at = { 1, 1, 1 } }))

-- Lists are lists.
c.refuses("'grid' must be a plain list; 'z' is no index", c.chip, { grid = { 16, 8, z = 3 } })
c.refuses("'range' must be a plain list; 'step' is no index", tz.png, "temperature", { range = { 1, 2, step = 1 } })
c.refuses("'tile' must hold 1 to 2 numbers, not 3", c.chip, { tile = { 8, 8, 8 } })
c.refuses("'block' must be a positive number or a list of 2", tz.predict,
          { plugin = "hotspot", grid = { 16, 8 }, block = { 8, 8, 8 } })
c.refuses("'block' must be a positive number or a list of 2", tz.predict,
          { plugin = "hotspot", grid = { 16, 8 }, block = { "8", 8 } })

c.refuses("'families' must be a list of names, not a string", tz.tune, { plugin = "hotspot", grid = { 16, 8 }, families = "tile" })

-- Measuring needs a device that is here, and refuses before it measures.
c.refuses("tz.tune: needs a table", tz.tune)
c.refuses("did you mean 'rounds'?", tz.tune, { plugin = "hotspot", grid = { 16, 8 }, round = 3 })
c.refuses("did you mean 'stream'?", tz.tune, { plugin = "hotspot", grid = { 16, 8 }, families = { "tile", "strem" } })
c.refuses("did you mean 'stream'?", tz.tune, { plugin = "hotspot", grid = { 16, 8 }, family = "strem" })
c.refuses("did you mean 'stream'?", tz.predict, { plugin = "hotspot", grid = { 16, 8 }, family = "strem" })
c.refuses("'rounds' must be", tz.tune, { plugin = "hotspot", grid = { 16, 8 }, rounds = 33 })
c.refuses("'seconds' must be from 0.0001", tz.tune, { plugin = "hotspot", grid = { 16, 8 }, seconds = 0 })
c.refuses("is not this machine's device", tz.tune, { plugin = "hotspot", grid = { 16, 8 }, device = "gtx280" })

-- Options that have no effect without another.
c.refuses("'field' goes with a simulation as 'data'", tz.picture, { data = array, field = "power", file = "a.png" })
c.refuses("'path_rgb' goes with 'path'", tz.picture, { data = array, path_rgb = { 1, 2, 3 }, file = "a.png" })
c.refuses("'weights' is streamed: it has no boundary value", tz.simulation,
          { plugin = "pathfinder", grid = { 8 }, boundary_values = { weights = 1 } })

-- Wrong types: the function and the argument are named.
c.refuses("sim:get: 'field' must be a string, not no value", sim.get, sim)
c.refuses("sim:set: 'field' must be a string, not a number", sim.set, sim, 3)
c.refuses("sim:plan: needs a table of options, not a number", sim.plan, sim, 3)
c.refuses("tz.array: needs a table of options, not a number", tz.array, 3)
c.refuses("tz.random: needs a table of options, not no value", tz.random)
c.refuses("tz.read: needs a table of options, not a number", tz.read, "corner.txt", 3)
c.refuses("tz.expect: needs a condition", tz.expect)
-- Nothing of this has changed anything.
tz.expect(sim.step == 0 and array:get(0, 0) == 0 and #plan.units == 2 and random)
