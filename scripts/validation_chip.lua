-- The units of a chip in HotSpot's files, for scripts/validation.sh: writes ours.steady or, with transient=1, ours.ttrace.
-- package=nodes: spreader and sink are HotSpot's nodes.
local tz = require "trapeze"

local options = { config = tz.args.config, flp = tz.args.flp, lcf = tz.args.lcf, ptrace = tz.args.ptrace, materials = tz.args.materials,
  package = tz.args.package, grid_rows = tz.args.n or 64, grid_cols = tz.args.n or 64, detailed_3D = tz.args.detailed == "on" }
local chip = tz.chip(options)
chip.simulation.precision = tz.args.precision or "double"
local sim = tz.simulation(chip.simulation)
if tz.args.transient then
  chip.powered.name = "ours"
  local trace = tz.ttrace(chip.powered)
  for row = 1, chip.samples do
    for _, plan in ipairs(chip.powered) do sim:set("power", plan:row(row)) end
    sim:run { until_time = row * chip.sampling_intvl, implicit = chip.sampling_intvl / 20 }
    sim:write(trace)
  end
else
  sim:steady()
  chip.plans.name = "ours"
  sim:write(tz.steady(chip.plans))
end
