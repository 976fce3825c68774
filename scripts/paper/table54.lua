-- Section 5.4 of Meng and Skadron (2009) as a table: speedups over height 1 in a run of 30 iterations, with the best
-- height, the predicted one, adaptive from the prediction and adaptive from height 1; on this machine, with the
-- GTX 280's figures. Then the same over 30 stages, in which probing can pay off.
--
--   trapeze run scripts/paper/table54.lua [--backend cpu] [--set only=hotspot] [--set rounds=5] [--set scale=4]
--
-- --set scale=N makes grids N times as long an axis: the paper's sizes are too small for a GPU of today.
local tz = require "trapeze"
local paper = require "paper"
local ROUNDS, ITERATIONS, STAGES = tz.args.rounds or 3, 30, 30
local HEIGHTS = { 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16 }

-- Median over rounds of seconds an iteration; the policy starts again in each round.
local function run(sim, isl, policy, steps)
  local times, last = {}, nil
  for round = 0, ROUNDS do
    sim:policy(policy)
    local seconds = paper.run(sim, isl, steps)
    if round > 0 then times[round] = seconds / steps end -- the first one compiles
    last = sim:plan().height
  end
  return paper.median(times), last
end

local function attempt(f, ...)
  local ok, time, height = pcall(f, ...)
  if ok then return time, height end
  return nil, tostring(time)
end

local function cell(one, time, height)
  return time and ("%5.2f (h %2d)"):format(one / time, height) or "     -      "
end

tz.log("speedups over height 1, here; (h: height at the end); then the paper's on the GTX 280")
tz.log(("%-10s %-15s %12s %12s %12s %12s   %s"):format("", "grid", "best", "predicted", "adaptive",
  "adaptive 1", "GTX 280: best, adaptive, adaptive from 1"))
paper.each(function(isl)
  local grid = {}
  for axis, n in ipairs(isl.grid) do grid[axis] = n * (tz.args.scale or 1) end
  local sim = paper.simulation(isl, grid)
  local most = isl.plugin == "pathfinder" and 120 or math.huge -- rows of weights
  local best, best_height, one = math.huge, 1, nil
  for _, height in ipairs(HEIGHTS) do
    local time = attempt(run, sim, isl, { height = height, policy = "fixed" }, ITERATIONS)
    one = one or time
    if time and time < best then best, best_height = time, height end
  end
  local predicted, height = attempt(run, sim, isl, { policy = "predicted" }, ITERATIONS)
  local adaptive, adaptive_height = attempt(run, sim, isl, { policy = "adaptive" }, ITERATIONS)
  local from_1, from_1_height = attempt(run, sim, isl, { policy = "adaptive", start = 1 }, ITERATIONS)
  tz.log(("%-10s %-15s %s %s %s %s   %.2f, %.2f, %.2f"):format(isl.plugin, paper.grid_text(grid),
    cell(one, best, best_height), cell(one, predicted, height), cell(one, adaptive, adaptive_height),
    cell(one, from_1, from_1_height), isl.paper.best, isl.paper.adaptive, isl.paper.from_1))
  if predicted then
    local steps = math.min(most, STAGES * height)
    local fixed = attempt(run, sim, isl, { policy = "predicted" }, steps)
    local times = { attempt(run, sim, isl, { policy = "adaptive" }, steps),
      attempt(run, sim, isl, { policy = "adaptive", start = 1 }, steps) }
    tz.log(("           over %d stages of the prediction, as parts of its speed: adaptive %.3f, adaptive from 1 %.3f"):format(
      steps // height, fixed / times[1], fixed / times[2]))
  else
    tz.log("           no prediction: " .. height)
  end
  sim:close()
end)
