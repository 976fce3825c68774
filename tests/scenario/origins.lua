-- Fields with an origin: scripts and files see values, in every precision.
local tz = require "trapeze"
local c = require "checks"
local near = c.near
if tz.checking then return end

-- Poisson between sides at 1000: the same solution with any origin, and in mixed precision.
local height
for _, precision in ipairs { "double", "mixed", "single" } do
    for _, origin in ipairs { false, 990 } do
        local s <close> = tz.simulation { plugin = "poisson", grid = { 15, 15 }, precision = precision, boundary = "fixed",
            boundary_values = { u = 1000 }, params = origin and { origin = origin } or {}, fields = { u = 1000, f = -1 },
            name = precision .. tostring(origin) }
        tz.expect(s:param "origin" == (origin or 1000))
        s:run { steps = 1500 }
        height = height or s:max "u" - 1000
        near(s:max "u" - 1000, height, precision == "single" and (origin and 5e-5 or 3e-7) or 1e-9)
        near(height, 0.0736, 3e-4)
    end
end

-- Arrays keep more than a float's digits of a value, and set the same cells again.
local function warm(x, y) return 318.15 + 1e-7 * (x + 16 * y) end
local chip = c.chip { fields = { temperature = warm }, boundary = "fixed", name = "warm" }
local box = { x = { 4, 6 }, y = { 0, 8 } }
near(chip:get("temperature", 5, 6), warm(5, 6), 1e-12)
near(chip:max("temperature", box), warm(5, 7), 1e-12)
near(chip:mean("temperature", box), warm(4.5, 3.5), 1e-12)
near(chip:mean "temperature", warm(7.5, 3.5), 1e-12)
local again = c.chip { fields = { temperature = chip:array "temperature" }, boundary = "fixed", name = "again" }
tz.expect(again:hash "temperature" == chip:hash "temperature")

-- The ambient temperature is kept to the last bit.
local cold = tz.simulation { plugin = "hotspot", grid = { 200, 30 }, fields = { temperature = 318.15 }, name = "cold" }
cold:run(500)
tz.expect(cold:min "temperature" == 318.15 and cold:max "temperature" == 318.15)

-- The default time step is stable on any grid; Rodinia's is not.
for _, n in ipairs { 1, 64, 512, 2048 } do
    local s <close> = tz.simulation { plugin = "hotspot", grid = { n, 2 }, name = "n" .. n, params = { chip_height_m = 0.032 / n } }
    near(s:param "dt_s", math.min(2.1875e-6, 0.9 * 0.5 * 1.75e6 * (0.016 / n) ^ 2 / (800 + 100 * (0.016 / n / 0.0005) ^ 2)), 1e-12)
end
c.refuses("leave dt and dt_s out", tz.simulation, { plugin = "hotspot", grid = { 2048, 2048 }, params = { dt = "rodinia" } })
c.refuses("it can be accurate|stable|rodinia", c.chip, { params = { dt = "rodina" } })
