-- The headline of Meng and Skadron: the predicted height is nearly as fast as the best (2009: 98 % or more, 2011: 95 %), for
-- their four applications at their sizes, in runs of 30 iterations (2009, section 5.4); and the adaptive selection in such a
-- run, by Trapeze's policy "adaptive" and the paper's own, "meng". Speeds over height 1 on this machine.
--
--   trapeze run scripts/paper/table54.lua [--backend cpu] [--set only=hotspot] [--set rounds=9] [--set scale=4]
--
-- --set scale=N makes grids N times as long an axis: the paper's sizes are too small for a GPU of today. "predicted" knows
-- the length of the run. "best" is the fastest of the plans of each height (on a GPU the predicted one) and the predicted plan.
local tz = require "trapeze"
local paper = require "paper"
local ROUNDS, ITERATIONS, scale = paper.count("rounds", 9), 30, paper.count("scale", 1)
local HEIGHTS = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 20, 24, 30 }
local HIGHEST = { 30, 16, 8 } -- of a grid of so many dimensions on a GPU: compilers take minutes for higher ones

-- Seconds of a run of 30 iterations: on a GPU the median of the rounds, on a CPU, which others may use, the least; nil and the
-- reason if the policy is refused. A searching policy begins anew in each round.
local function run(sim, isl, policy, again)
  local ok, why = pcall(sim.policy, sim, policy)
  if not ok then return nil, paper.reason(why) end
  paper.run(sim, isl, ITERATIONS) -- compiles
  local times = {}
  for round = 1, ROUNDS do
    if again then sim:policy(policy) end
    times[round] = paper.run(sim, isl, ITERATIONS)
  end
  local middle = paper.median(times) -- sorts
  return sim.backend == "cuda" and middle or times[1], sim:plan().height
end

local lines = { paper.row("", "grid", "best, over height 1", "predicted", "predicted / best", "`adaptive` from it, from 1",
  "`meng` from it, from 1"), "|---|---|---|---|---|---|---|" }
paper.each(function(isl)
  local grid = {}
  for axis, n in ipairs(isl.grid) do grid[axis] = n * scale end
  local sim = paper.simulation(isl, grid)
  local least, best, one = math.huge, 1, nil
  local function try(time, height)
    if time and time < least then least, best = time, height end
  end
  for _, height in ipairs(HEIGHTS) do
    if sim.backend ~= "cuda" or height <= HIGHEST[isl.dims] then
      local time = run(sim, isl, { height = height, policy = "fixed" })
      one = one or time
      try(time, height)
    end
  end
  local predicted, height = run(sim, isl, { policy = "predicted" })
  local missing = paper.not_predicted(sim)
  if missing then
    tz.log(isl.plugin .. " skipped: not predicted: " .. missing)
  else
    try(predicted, height)
    local share = least / predicted
    local function search(policy)
      local from, from_1 = run(sim, isl, { policy = policy }, true), run(sim, isl, { policy = policy, start = 1 }, true)
      return ("%.2f, %.2f"):format(one / from, one / from_1)
    end
    local where = table.concat(grid, " × ")
    lines[#lines + 1] = paper.row(isl.title, where, ("%.2f (h %d)"):format(one / least, best),
      ("%.2f (h %d)"):format(one / predicted, height), ("%.1f %%"):format(100 * share), search "adaptive", search "meng")
    paper.claim(("2009, abstract: %s, %s, %s"):format(isl.title, where, paper.kind():upper()),
      "the predicted height reaches 98 % of the best", ("%.1f %%"):format(100 * share), share >= 0.98,
      share < 0.98 and (best == height and "the same height is faster in the backend's own tile" or
      ("the best height is %d, runs of %.3g ms"):format(best, 1e3 * least)) or nil, true)
  end
  sim:close()
end)
if #lines > 2 then paper.page(("headline-%s%s"):format(paper.kind(), scale > 1 and "-" .. scale or ""), lines, true) end
