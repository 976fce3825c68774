-- One measurement for scripts/jump.sh: jumps of a stencil, and stepping it.
--
--   trapeze run scripts/jump_rate.lua --quiet [--backend cuda] [--set plugin=star2d1r] [--set grid=4096,4096]
--     [--set boundary=periodic] [--set precision=single] [--set steps=10000,1000000] [--set rounds=5] [--set seconds=0.5]
--     [--set steady=true]
--
-- Prints a line for each number of steps: stencil, grid, sides, precision, steps, seconds of one jump, lowest, highest,
-- seconds of an iteration of sim:run with the plan that the policy chose, its plan. The first jump, which makes the
-- plans of the library, is not counted. With steady=true one more line: "steady", the residual after sim:steady(), how
-- often it was called, and the seconds of all jumps: run.json has them with those of the steady states.
local tz = require "trapeze"
local args = tz.args
local plugin, rounds, least_seconds = args.plugin or "star2d1r", args.rounds or 5, args.seconds or 0.5
local function list(text)
  local items = {}
  for item in tostring(text):gmatch "[^,]+" do items[#items + 1] = math.tointeger(tonumber(item)) end
  return items
end
local grid, counts = list(args.grid or "1024,1024"), list(args.steps or "10000,1000000")

local real = tz.random { seed = 1, range = { 0, 1 } }
local warm = tz.random { seed = 1, range = { 318.15, 319.15 } }
local fields = plugin == "hotspot" and { temperature = warm, power = tz.random { seed = 2, range = { 0, 1e-4 } } } or
  plugin == "poisson" and { u = real, f = real } or { u = real }
local sim = tz.simulation { plugin = plugin, grid = grid, fields = fields, boundary = args.boundary,
  precision = args.precision or "single", policy = "predicted" }

local function median(times)
  table.sort(times)
  return times[(#times + 1) // 2], times[1], times[#times]
end

-- Stepping.
sim:run(8 * sim.height)
local seconds = math.max(sim:run(4 * sim.height).seconds, 1e-9)
local many = math.max(4, math.ceil(least_seconds / seconds * 4)) * sim.height
local stepping = {}
for round = 1, rounds do
  local result = sim:run(many)
  stepping[round] = result.seconds / result.steps
end
local iteration, plan = median(stepping), ("%s,h%d"):format(sim:plan().family, sim.height)

-- Jumps.
local sides = args.boundary or "default"
local all = sim:jump(counts[1]).seconds
for _, steps in ipairs(counts) do
  local times = {}
  for round = 1, rounds do
    times[round] = sim:jump(steps).seconds
    all = all + times[round]
  end
  print(("%s %s %s %s %d %.6g %.6g %.6g %.6g %s"):format(plugin, table.concat(grid, "x"), sides, sim.precision, steps,
    median(times), select(2, median(times)), select(3, median(times)), iteration, plan))
end
if args.steady then
  local residual
  for _ = 1, rounds do residual = sim:steady() end
  print(("steady %.3g %d %.9g"):format(residual, rounds, all))
end
sim:close()
