local tz = require "trapeze"
local value = tz.read("value.txt", { shape = { 1 } })
local sim = tz.simulation { plugin = "hotspot", grid = { 40, 40 } }
sim:every(20, tz.checkpoint())
local stop = value:get(0)
sim:every(50, function()
    print(stop)
    error("stops here")
end)
sim:run(100)
