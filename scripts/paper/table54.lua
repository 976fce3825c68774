-- Section 5.4 of Meng and Skadron (2009) as a table: speedups over height 1 in a run of 30 iterations, with the best
-- height, the predicted one, adaptive from the prediction and adaptive from height 1; on this machine, with the
-- GTX 280's figures beside them. Then the same over 30 stages, where probing has time to pay off.
--
--   trapeze run scripts/paper/table54.lua [--backend cpu] [--set only=hotspot] [--set rounds=5] [--set scale=4]
--
-- --set scale=N makes grids N times as long an axis: a GPU of today is hardly busy with the paper's sizes.
local tz = require "trapeze"
local paper = require "paper"
local ROUNDS, ITERATIONS, STAGES = tz.args.rounds or 5, 30, 30
local HEIGHTS = { 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16 }

-- Median over rounds of seconds an iteration; the policy begins anew each round.
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
tz.log(("%-10s %-15s %-9s %12s %12s %12s %12s   %s"):format("", "grid", "length", "best", "predicted", "adaptive",
  "adaptive 1", "GTX 280: best, adaptive, adaptive from 1"))
paper.each(function(isl)
  local grid = {}
  for axis, n in ipairs(isl.grid) do grid[axis] = n * (tz.args.scale or 1) end
  local sim = paper.simulation(isl, grid)
  local gtx = ("%.2f, %.2f, %.2f"):format(isl.paper.best, isl.paper.adaptive, isl.paper.from_1)
  for _, length in ipairs { "iterations", "stages" } do
    local best, best_height, one = math.huge, 1, nil
    for _, height in ipairs(HEIGHTS) do
      local steps = length == "stages" and STAGES * height or ITERATIONS
      if isl.plugin == "pathfinder" then steps = math.min(steps, 120) end
      local time = attempt(run, sim, isl, { height = height, policy = "fixed" }, steps)
      one = one or time
      if time and time < best then best, best_height = time, height end
    end
    local predicted, predicted_height = attempt(run, sim, isl, { policy = "predicted" }, ITERATIONS)
    local why = not predicted and predicted_height
    local steps = length == "stages" and STAGES * (predicted and predicted_height or best_height) or ITERATIONS
    if isl.plugin == "pathfinder" then steps = math.min(steps, 120) end
    if length == "stages" and predicted then
      predicted, predicted_height = attempt(run, sim, isl, { policy = "predicted" }, steps)
    end
    local adaptive, adaptive_height = attempt(run, sim, isl, { policy = "adaptive", start = "predicted" }, steps)
    local from_1, from_1_height = attempt(run, sim, isl, { policy = "adaptive", start = 1 }, steps)
    tz.log(("%-10s %-15s 30 %-10s %s %s %s %s   %s"):format(isl.plugin, paper.grid_text(grid), length,
      cell(one, best, best_height), cell(one, predicted, predicted_height), cell(one, adaptive, adaptive_height),
      cell(one, from_1, from_1_height), length == "iterations" and gtx or ""))
    if why then tz.log("           no prediction: " .. why) end
    if predicted and adaptive and length == "stages" then
      tz.log(("           adaptive from the prediction: %.3f of fixed at the prediction; adaptive from 1: %.3f"):format(
        predicted / adaptive, from_1 and predicted / from_1 or 0 / 0))
    end
  end
  sim:close()
end)
