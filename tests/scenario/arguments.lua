-- Every function refuses arguments that it does not take.
local tz = require "trapeze"
local c = require "checks"

local sim = c.chip {}
local array = tz.array { shape = { 3, 2 } }
local plan = tz.floorplan { flp = "plan.flp", ptrace = "plan.ptrace" }
local random = tz.random { seed = 1 }

-- Functions of the module: more arguments than any has. tz.log takes any number.
local count = 0
for name, value in pairs(tz) do
    if type(value) == "function" and name ~= "log" then
        count = count + 1
        c.refuses("tz." .. name .. ": unexpected argument", value, "a", "b", "c", "d", "e", "f", "g", "h")
    end
end
tz.expect(count >= 16)
tz.log("one", 2, nil, "four")

-- Methods. The object itself is not counted.
local methods = {
    sim = { "get", "set", "min", "max", "sum", "mean", "population", "hash", "residual", "array", "slabs", "params",
            "param", "plan", "kernel", "analyse", "every", "write", "run", "rewind", "policy", "close" },
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
c.refuses("tz.array: unexpected argument 2 (a nil)", tz.array, { shape = 3 }, nil)
-- A name that a table of options would also give.
c.refuses("tz.png: give the field before the options or among them, not both", tz.png, "temperature",
          { field = "power" })
c.refuses("tz.npy: unexpected argument 2 (a table) after the options", tz.npy, { name = "a" }, { name = "b" })
-- Nothing of this has changed anything.
tz.expect(sim.step == 0 and array:get(0, 0) == 0 and #plan.units == 2 and random)
