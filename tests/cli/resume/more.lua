-- A run to a time, with all kinds of files.
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 64, 64 }, precision = tz.args.precision,
    fields = { power = tz.random { seed = 3, range = { 0, 0.01 } } }, params = { dt_s = tonumber(tz.args.dt) } }
sim:every(100, tz.npy())
sim:every(150, tz.movie())
sim:every("0.1 ms", tz.table { "step", "time", "max" })
sim:run { until_time = tz.args.time or "1 ms" }
sim:write(tz.png { name = "end" })
print(sim.step, sim:time(), sim:max(), sim:hash())
sim:close()
