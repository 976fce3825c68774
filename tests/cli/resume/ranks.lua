-- For several ranks: stops at a time limit, and goes on alone.
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 96, 90 }, fields = { temperature = tz.random { seed = 1, range = { 300, 320 } } } }
local life = tz.simulation { plugin = "life", grid = { 96, 64 }, fields = { alive = tz.random { seed = 1, density = 0.3 } }, name = "life" }
local sum = 0
sim:every(500, tz.npy())
sim:every(200, tz.table { "step", "max", "hash", sum = function() return sum end })
sim:every(300, function(s)
    life:run(3)
    sum = sum + s:max()
end)
for _ = 1, 20 do sim:run(100) end
print(sim:hash(), life:hash(), sum, os.time() > 0)
