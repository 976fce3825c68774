-- How hot a chip with its package becomes: die, interface, spreader, sink and air, from HotSpot's files, beside what HotSpot's own
-- program says. chip.flp has the places of the units, chip.ptrace their power, chip.config the package.
--
--   trapeze run chip.lua [--set n=64] [--set flp=FILE --set ptrace=FILE --set config=FILE]
local tz = require "trapeze"

-- HotSpot 7.0: hotspot -c chip.config -f chip.flp -p chip.ptrace -model_type grid -steady_file FILE, files without comments.
local hotspot = {
  npu0 = 335.48,  npu1 = 335.54,  mem_ctrl = 336.23,  media = 335.20,  soc = 333.38,
  l3_0 = 334.47,  l3_1 = 335.17,  l3_2 = 334.73,  l3_3 = 333.56,  core0_l1 = 336.45,
  core0_l2 = 336.41,  core0_alu = 339.13,  core0_fpu = 338.18,  core0_regs = 340.85,  core1_l1 = 338.32,
  core1_l2 = 337.34,  core1_alu = 341.95,  core1_fpu = 340.19,  core1_regs = 342.32,  core2_l1 = 337.08,
  core2_l2 = 335.88,  core2_alu = 340.15,  core2_fpu = 338.03,  core2_regs = 339.29,  core3_l1 = 335.77,
  core3_l2 = 334.21,  core3_alu = 338.37,  core3_fpu = 336.35,  core3_regs = 337.37,  gpu0 = 335.90,
  gpu1 = 336.41,  gpu2 = 335.67,  io = 333.06,
}
local n = tz.args.n or 64
local own = not tz.args.flp
local chip = tz.chip {
  config = tz.args.config or "chip.config", flp = tz.args.flp or "chip.flp", ptrace = tz.args.ptrace or "chip.ptrace",
  grid_rows = n, grid_cols = n,
}
local die = chip.plans[1]
local sim = tz.simulation(chip.simulation) -- the power is the mean of the trace

sim:steady()
-- Around the die there is air in its layer; cells grow towards the sides of the sink.
sim:write(tz.png("temperature", { name = "die", slice = 0, map = "inferno", range = { 328, 344 }, zoom = 7, bar = true, outline = die, mark = "max" }))
sim:write(tz.png("temperature", { name = "sink", slice = 3, map = "inferno", range = "auto", zoom = 7, bar = true, outline = die }))
sim:write(tz.steady { die, name = "chip" })

local units, worst, most, hottest = sim:units(die), 0, 0, ""
for _, unit in ipairs(die.units) do
  local mean = units[unit.name].mean
  if mean > most then most, hottest = mean, unit.name end
  if own then worst = math.max(worst, math.abs(mean - hotspot[unit.name])) end
end
tz.log(("%.1f W; hottest %s: %.2f K"):format(sim:sum "power", hottest, most))
if own then tz.log(("farthest from HotSpot's program: %.2f K"):format(worst)) end
tz.expect(tz.checking or not own or worst < 1, "other temperatures than HotSpot's")
tz.expect(sim:min "temperature" > 318.14, "colder than its surroundings")
