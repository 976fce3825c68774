-- Which parts of a chip run hot when the work moves from one core to all cores, to the GPU and to its other units.
-- chip.flp has the places of the units, each row of chip.ptrace the power that they take in one phase.
--
--   trapeze run hotspot.lua [--set n=512] [--set flp=FILE --set ptrace=FILE] [--height 8]
local tz = require "trapeze"

local n = tz.args.n or 512
local chip = { flp = tz.args.flp or "chip.flp", ptrace = tz.args.ptrace or "chip.ptrace" }
local phases = { "one core", "all cores", "GPU", "NPU and media" }

local sim = tz.simulation {
  plugin = "hotspot",
  grid = { n, n },
  precision = "single",
  params = { ambient_k = 318.15 },
  fields = { temperature = 318.15 }, -- power comes below, phase by phase
  boundary = "clamp",
}

-- The default time step follows the grid: 0.96 us for 512 x 512 cells. The chip settles within about 5 ms.
local phase_s = 1.75e-3
sim:every("0.875 ms", tz.png("temperature", {
  map = "inferno", range = { 318, 328 }, bar = true, unit = "K", axes = true, outline = tz.floorplan(chip), mark = "max",
  caption = "die temperature after {time}",
}))
sim:every("0.21875 ms", tz.table { "step", "time", "min(temperature)", "max(temperature)", "mean(temperature)" })

-- The hottest unit, and the highest temperature in it.
local function hottest(plan)
  local units, name, most = sim:units(plan), "", 0
  for _, unit in ipairs(plan.units) do
    if units[unit.name].max > most then name, most = unit.name, units[unit.name].max end
  end
  return name, most
end

local profiles = {} -- of each phase, along a line through the cores
for row, phase in ipairs(phases) do
  local plan = tz.floorplan { flp = chip.flp, ptrace = chip.ptrace, row = row }
  sim:set("power", plan)
  sim:run { until_time = row * phase_s }
  profiles[row] = sim:profile("temperature", { 0, n * 0.3 }, { n - 1, n * 0.3 })
  profiles[row].title = phase
  tz.log(("%-14s %6.1f W, hottest %-10s %.2f K"):format(phase, sim:sum "power", hottest(plan)))
end

if tz.can_plot() then -- gnuplot is there
  tz.plot { file = "profiles.png", title = "Temperature along the cores at the end of each phase", x_label = "cells", y_label = "K",
    series = profiles }
end

-- No cell can be hotter than a uniform chip at the highest power density would get: T_amb + P Rz.
tz.expect(sim:max "temperature" < 318.15 + 15, "hotter than physics allows")
tz.expect(sim:min "temperature" > 318.14, "colder than its surroundings")
