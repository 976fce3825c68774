-- How hot a chip gets: a hot spot of different powers and widths, side by side.
--
--     trapeze sweep sweep.lua                                (runs all, then open runs/sweep-sweep/index.html)
--     trapeze sweep sweep.lua --jobs 4 --set power=1,2,3     (other values, four runs at once)
--     trapeze run sweep.lua                                  (one run, with the first values)
local tz = require "trapeze"

local p = tz.sweep { power = { 5, 10, 20 }, width = { 0.1, 0.2, 0.4 } } -- watt; part of the chip's length
local n = 96

local sim = tz.simulation {
    plugin = "hotspot", grid = { n, n }, params = { ambient_k = 318.15 },
    fields = {
        temperature = 318.15,
        power = function(x, y) -- watt in each cell
            local near = math.max(math.abs(x - n / 2), math.abs(y - n / 2)) < p.width * n / 2
            return near and p.power / (p.width * n) ^ 2 or 0
        end,
    },
}
-- All runs have the same range, so that their colours can be compared.
sim:every("2 ms", tz.png("temperature", { map = "inferno", range = { 318, 336 }, zoom = 3, bar = true }))
sim:every("0.5 ms", tz.table { "step", "time", "max(temperature)", "mean(temperature)" })
sim:run { until_time = "4 ms" }
