-- ok
local tz = require "trapeze"
local c = require "calm"
local plugins = { hotspot = 2, life = 2, cell = 3, pathfinder = 1, poisson = 2, star2d1r = 2, star3d1r = 3 }
local bad = { 0, -1, 0.5, 1 / 0, 0 / 0, 2 ^ 40, 2 ^ 62, 2 ^ 63, math.mininteger, math.maxinteger, "8", true, {}, 1e300 }
for plugin, dims in pairs(plugins) do
    for _, extent in ipairs(bad) do
        for axis = 1, dims do
            local grid = { 8, 8, 8 }
            for further = dims + 1, 3 do grid[further] = nil end
            grid[axis] = extent
            if extent ~= "8" then c.refused(tz.simulation, { plugin = plugin, grid = grid }) end
            c.calm(tz.simulation, { plugin = plugin, grid = grid, precision = "double" })
            if dims > 1 or extent ~= 2 ^ 40 then
                c.calm(tz.predict, { plugin = plugin, grid = grid, device = "./cpu.txt" })
            end
        end
        c.calm(tz.simulation, { plugin = plugin, grid = extent })
        local most = 2 ^ 31 - 1
        c.calm(tz.simulation, { plugin = plugin, grid = { most, most, dims == 3 and most or nil } })
        c.calm(tz.predict, { plugin = plugin, grid = { most, most, dims == 3 and most or nil }, device = "./cpu.txt" })
    end
    for _, grid in ipairs { {}, { 8, 8, 8, 8 }, { x = 8 }, { [0] = 8, 8 }, { 1 << 31, 1 << 31, 1 << 31 } } do
        c.calm(tz.simulation, { plugin = plugin, grid = grid, backend = "reference" })
    end
end
-- Predictions do not count every tile.
local forecast = tz.predict { plugin = "star2d1r", grid = { 1000000000, 64 }, device = "./cpu.txt", height = 2 }
tz.expect(#forecast.rows > 1)
for _, grid in ipairs { { 1000000000, 64 }, { 64, 1000000000 } } do
    for _, block in ipairs { { 1, 1 }, { 64, 1 }, { 1, 64 } } do
        tz.predict { plugin = "star2d1r", grid = grid, block = block, family = "diamond", device = "./cpu.txt", height = 4 }
    end
end
