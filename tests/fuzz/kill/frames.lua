-- Writes files of every kind all the time.
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 96, 64 }, name = "chip", backend = "cpu", threads = 1, height = 1,
                            fields = { temperature = 320, power = tz.random { seed = 1, range = { 0, 0.01 } } } }
local life = tz.simulation { plugin = "life", grid = { 64, 48 }, name = "life", backend = "cpu", threads = 1, height = 1,
                             fields = { alive = tz.random { seed = 1, density = 0.3 } } }
sim:every(1, tz.png "temperature")
sim:every(1, tz.npy "temperature")
sim:every(1, tz.movie "temperature")
sim:every(2, tz.vti "temperature")
sim:every(3, tz.xdmf { "temperature", "power", name = "pair" })
pcall(sim.every, sim, 4, tz.hdf5 { name = "held" }) -- refused without libhdf5
sim:every(1, tz.table { "step", "min(temperature)", "mean(temperature)", "max(temperature)" })
life:every(1, tz.rle "alive")
for step = 1, 24 do
    sim:run { steps = 1 }
    life:run { steps = 1 }
end
