-- Section 5.4 of Meng and Skadron (2009) as a table: speedups over height 1 in a run of 30 iterations, with the best
-- height, the predicted one, and the policies "adaptive" and "meng" (the paper's own) from the prediction and from height 1;
-- on this machine, with the GTX 280's figures. Then the same over 30 stages, in which probing can pay off, and the paper's
-- policy on its model's own times.
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
  return time and ("%6.2f (h %3d)"):format(one / time, height) or ("%14s"):format "-"
end

-- The paper's policy on the model's own times: the best height's time as a share of a run's of 30 iterations. A second
-- implementation of what the policy "meng" does, in the terms of section 5.4: two iterations at least at each height.
local function share_of_model(isl, start)
  local times = {}
  for height, row in ipairs(paper.gtx280(isl).rows) do times[height] = row.time_s end
  local best = math.min(table.unpack(times))
  local known, at, spent, direction, left = {}, start, 0, 1, ITERATIONS
  local base = start
  local function run_at(height)
    local count = math.min(left, math.ceil(2 / height) * height)
    spent, left, known[height] = spent + count * times[height], left - count, true
  end
  while left > 0 do
    run_at(at)
    if at ~= base and times[at] < times[base] then base, direction = at, at - base end
    if at ~= base then
      at = base
    else
      for _, side in ipairs { direction, -direction } do
        if times[base + side] and not known[base + side] then at = base + side break end
      end
    end
  end
  return ITERATIONS * best / spent
end

tz.log("speedups over height 1, here (h: height at the end); then the paper's on the GTX 280")
tz.log(("%-10s %-15s %14s %14s %14s %14s %14s %14s   %s"):format("", "grid", "best", "predicted", "adaptive", "adaptive 1",
  "meng", "meng 1", "GTX 280: best, adaptive, adaptive from 1"))
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
  local cells, missing, start = { cell(one, best, best_height) }, nil, nil
  for _, policy in ipairs { { policy = "predicted" }, { policy = "adaptive" }, { policy = "adaptive", start = 1 },
    { policy = "meng" }, { policy = "meng", start = 1 } } do
    local time, height = attempt(run, sim, isl, policy, ITERATIONS)
    if not policy.start and time then missing = paper.not_predicted(sim) end
    if missing and not policy.start then time = nil end -- it began at the backend's default
    if policy.policy == "predicted" then start = time and height end
    cells[#cells + 1] = cell(one, time, height)
  end
  tz.log(("%-10s %-15s %s   %.2f, %.2f, %.2f"):format(isl.plugin, paper.grid_text(grid), table.concat(cells, " "), isl.paper.best,
    isl.paper.adaptive, isl.paper.from_1))
  if missing then
    tz.log("           not predicted: " .. missing)
  elseif start then
    local steps = math.min(most, STAGES * start)
    local fixed, shares = attempt(run, sim, isl, { policy = "predicted" }, steps), {}
    for _, policy in ipairs { "adaptive", "meng" } do
      shares[#shares + 1] = ("%s %.3f, %s from 1 %.3f"):format(policy, fixed / run(sim, isl, { policy = policy }, steps), policy,
        fixed / run(sim, isl, { policy = policy, start = 1 }, steps))
    end
    tz.log(("           over %d stages of the prediction, as parts of its speed: %s"):format(steps // start,
      table.concat(shares, ", ")))
  end
  sim:close()
end)

tz.log "the paper's policy on its model's own times, as shares of the best: from the prediction, from 1; measured there"
paper.each(function(isl)
  tz.log(("%-10s %.3f, %.3f; %.3f, %.3f"):format(isl.plugin, share_of_model(isl, isl.equations), share_of_model(isl, 1),
    isl.paper.adaptive / isl.paper.best, isl.paper.from_1 / isl.paper.best))
end)
