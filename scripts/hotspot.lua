-- Which parts of a chip run hot when the work moves from one core to all cores, to the GPU and to the NPU.
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

-- The default step is 1.5e-7 s at any size; the chip settles within about 30000 steps (4.4 ms).
local phase_steps = 12000
sim:every(phase_steps // 2, tz.png("temperature", {
  map = "inferno", range = { 318, 328 }, bar = true, unit = "K",
  caption = "die temperature: one picture every 0.9 ms",
}))
sim:every(phase_steps // 8, tz.table { "step", "min(temperature)", "max(temperature)", "mean(temperature)" })

for row, phase in ipairs(phases) do
  sim:set("power", tz.floorplan { flp = chip.flp, ptrace = chip.ptrace, row = row })
  sim:run { steps = phase_steps }
  tz.log(("%-14s %6.1f W, hottest %.2f K"):format(phase, sim:sum "power", sim:max "temperature"))
end

-- No cell can be hotter than a uniform chip at the highest power density would get: T_amb + P Rz.
tz.expect(sim:max "temperature" < 318.15 + 15, "hotter than physics allows")
tz.expect(sim:min "temperature" > 318.14, "colder than its surroundings")
