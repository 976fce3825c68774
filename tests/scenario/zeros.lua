-- A zero byte ends a text for C: names, keys, rules and files that hold one are refused, not cut.
local tz = require "trapeze"
local c = require "checks"

local sim = c.chip {}
local array = tz.array { shape = 3 }
local plan = tz.floorplan { flp = "plan.flp" }
local zero = "holds a zero byte"
local function with(key, value)
    local options = { plugin = "life", grid = { 8, 8 } }
    options[key] = value
    return options
end

c.refuses(zero, tz.simulation, with("plugin", "life\0x"))
c.refuses(zero, tz.simulation, with("boundary", "fixed\0x"))
c.refuses(zero, tz.simulation, with("boundary", { x = "fixed\0x" }))
c.refuses(zero, tz.simulation, with("params", { rule = "B3/S23\0x" }))
c.refuses(zero, tz.simulation, with("params", { ["rule\0x"] = "B3/S23" }))
c.refuses(zero, tz.simulation, with("boundary_values", { ["alive\0x"] = 1 }))
c.refuses(zero, tz.simulation, with("fields", { ["alive\0x"] = 1 }))
c.refuses(zero, tz.simulation, with("height\0x", 3))
c.refuses(zero, tz.simulation, with("height", "auto\0x"))
c.refuses(zero, tz.simulation, with("policy", "fixed\0x"))
c.refuses(zero, tz.simulation, with("start", "predicted\0x"))
c.refuses(zero, tz.simulation, with("backend", "cpu\0x"))
c.refuses(zero, tz.simulation, with("name", "a\0x"))
for _, method in ipairs { "get", "set", "min", "max", "sum", "mean", "population", "hash", "array" } do
    c.refuses(zero, sim[method], sim, "temperature\0x")
end
c.refuses(zero, sim.mean, sim, "temperature", "power\0x")
c.refuses(zero, sim.param, sim, "dt_s\0x")
c.refuses(zero, sim.params, sim, { ["dt_s\0x"] = 1 })
c.refuses(zero, sim.policy, sim, "fixed\0x")
c.refuses(zero, sim.analyse, sim, "path\0x")
c.refuses(zero, function() return sim["step\0x"] end)
c.refuses(zero, function() return array["count\0x"] end)
c.refuses(zero, function() return plan["units\0x"] end)
c.refuses(zero, plan.unit, plan, "left\0x")
c.refuses(zero, array.save, array, "a.npy\0.txt")
c.refuses(zero, tz.read, "corner.txt\0x")
c.refuses(zero, tz.png, "temperature\0x")
c.refuses(zero, tz.png, "temperature", { map = "viridis\0x" })
c.refuses(zero, tz.png, "temperature", { range = "auto\0x" })
c.refuses(zero, tz.vti, { "temperature\0x" })
c.refuses(zero, tz.table, { "step\0x" })
c.refuses(zero, tz.table, { "step", ["name\0x"] = "a" })
c.refuses(zero, tz.table, { "step", ["a\0x"] = function() end })
c.refuses(zero, tz.log, "a\0x")
c.refuses(zero, function() return tz.args["n\0x"] end)
c.refuses(zero, require, "checks\0x")
if not tz.checking then
    local function row(text)
        return function()
            sim:every(1, tz.table { "step", text = function() return text end, name = "t" .. #text })
            sim:run(1)
        end
    end
    c.refuses(zero, row "a\0x")
    sim = c.chip { name = "long" }
    c.refuses("gave a text of 70 bytes; a cell holds 63", row(("x"):rep(70)))
end
