-- One measurement for scripts/multi-gpu.sh: a stencil on random data, the median of rounds, and a hash of the field
-- after a number of iterations that does not depend on the machine.
--
--   trapeze run scripts/scaling.lua --quiet [--devices all] [--set plugin=star2d1r] [--set grid=4096,4096]
--     [--set rounds=5] [--set seconds=0.5] [--set height=8] [--set exchange=16]
--
-- Prints one line: stencil, grid, seconds of an iteration, GCells/s, lowest and highest of the rounds, hash, plan.
local tz = require "trapeze"
local args = tz.args
local plugin, rounds, least_seconds = args.plugin or "star2d1r", args.rounds or 5, args.seconds or 0.5
local grid = {}
for item in tostring(args.grid or "1024,1024"):gmatch "[^,]+" do grid[#grid + 1] = math.tointeger(item) end

local real = tz.random { seed = 1, range = { 0, 1 } }
local warm = tz.random { seed = 1, range = { 318.15, 319.15 } } -- hotspot keeps what is above 318.15 K
local fields = plugin == "hotspot" and { temperature = warm, power = real } or
  plugin == "poisson" and { u = real, f = real } or { u = real }
local sim = tz.simulation { plugin = plugin, grid = grid, fields = fields, policy = args.height and "fixed" or "predicted",
  height = args.height, exchange = args.exchange }

local CHECKED = 24
sim:run(CHECKED)
local hash = sim:hash()
sim:run(8 * sim.height)
local exchange = sim:plan().exchange or 0
local cycle = math.max(sim.height, exchange)
local seconds = sim:run(4 * cycle).seconds
local steps = math.max(4, math.ceil(least_seconds / math.max(seconds, 1e-9) * 4)) * cycle
local times = {}
for round = 1, rounds do
  local result = sim:run(steps)
  times[round] = result.seconds / result.steps
end
table.sort(times)
local median = times[(#times + 1) // 2]
print(("%s %s %.6g %.4g %.4g %.4g %s h%d,exchange%d"):format(plugin, table.concat(grid, "x"), median,
  sim.cells / median * 1e-9, sim.cells / times[#times] * 1e-9, sim.cells / times[1] * 1e-9, hash, sim.height, exchange))
sim:close()
