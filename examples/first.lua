-- A first scenario: a part of a chip dissipates power, and its heat spreads.
--
--     trapeze run first.lua
--     trapeze run first.lua --set size=512 --set steps=5000
--     trapeze run first.lua --check          (prints the plan, and runs nothing)
--
-- Frames, the table and a record of the run appear in runs/first-001/.
local tz = require "trapeze"

local size = tz.args.size or 128    -- from --set size=…, else 128
local steps = tz.args.steps or 2000 -- by default 4.4 ms: the time step follows the grid (sim:param "dt_s")

local sim = tz.simulation {
    plugin = "hotspot",              -- `trapeze plugins hotspot` lists its fields and parameters
    grid = { size, size },           -- {nx, ny}; cells are numbered from 0
    precision = "single",
    params = { ambient_k = 318.15 },
    fields = {
        -- A number, a function of the cell, tz.random, tz.read "file" or tz.array.
        temperature = 318.15,
        power = function(x, y)
            local inside = x >= size / 4 and x < size / 2 and y >= size / 3 and y < size / 2
            return inside and 20.0 / size ^ 2 or 0 -- watt in each cell
        end,
    },
    boundary = "clamp",              -- no heat leaves through the edges
}

-- What to write, and how often.
sim:every(steps // 10, tz.png("temperature", { map = "inferno", range = "auto", bar = true, axes = true,
                                               caption = "Temperature of the chip after {time}" }))
sim:every(steps // 100, tz.table { "step", "time", "min(temperature)", "max(temperature)",
                                   "mean(temperature)", "residual" })

local result = sim:run { steps = steps }
tz.log(("%d steps, %.2f GCells/s, hottest cell %.3f K"):format(result.steps, result.gcells_per_s,
                                                               sim:max "temperature"))

-- A scenario can check itself: this exits with 1 if it does not hold.
tz.expect(sim:max "temperature" > 318.15, "the chip did not warm up")
