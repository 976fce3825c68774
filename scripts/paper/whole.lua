-- The kernel that Meng and Skadron model and measure (2009, section 3.3, the second way): a tile in shared memory, a thread an
-- element, each iteration computes the whole tile, a launch a stage; blocks as in their figure 4. Times on this machine's GPU
-- (family whole) beside the equations of 2009 and 2011 with its record; and the first and third way, which the family tile
-- joins (it shrinks, and a thread has several elements), in the same blocks and in its own larger ones.
--
--   trapeze run scripts/paper/whole.lua [--set only=hotspot] [--set scale=4]
--
-- scale: grids of two dimensions are so many times as long an axis as the paper's.
local tz = require "trapeze"
local paper = require "paper"
local scale = paper.count("scale", 4)

local possible, why = paper.has_gpu()
if not possible then
  tz.log("skipped: " .. why)
  return
end

local lines = { paper.row("", "grid", "block", "measured best", "predicted by 2009: share of it", "by 2011: share of it",
  "`tile` in these blocks", "in its own"), "|---|---|---|---|---|---|---|---|" }
local second = true
paper.each(function(isl)
  local grid, block = {}, isl.verified.block
  for axis, n in ipairs(isl.grid) do grid[axis] = isl.dims == 2 and n * scale or n end
  local sim = paper.simulation(isl, grid)
  -- The fastest height of a family in those blocks; seconds of an iteration by height.
  local function heights_of(family, blocks)
    local times, best = {}, nil
    for height = 1, isl.dims == 1 and 40 or 8 do
      local plan, fits = { family = family, height = height }, true
      if blocks then
        plan.tile = {}
        for axis = 1, isl.dims do
          plan.tile[axis] = block[axis] - 2 * height
          fits = fits and plan.tile[axis] > 0
        end
      end
      local time = fits and (isl.dims > 1 or height < 8 or height % 4 == 0) and paper.time(sim, isl, plan, 3)
      if time then
        times[height] = time
        if not best or time < times[best] then best = height end
      end
    end
    return times, best
  end
  local times, best = heights_of("whole", true)
  local function share(model)
    local answer, reason = paper.predict { plugin = isl.plugin, grid = grid, backend = "cuda", model = model, block = block }
    if not answer then return reason end
    local height = answer.best.height
    -- Heights that were not measured: the nearest below.
    local near = height
    while not times[near] do near = near - 1 end
    return ("h %d: %.1f %%"):format(height, 100 * times[best] / times[near]), times[best] / times[near]
  end
  local by_2009, share_2009 = share "meng2009"
  local by_2011, share_2011 = share "meng2011"
  local function against(family, blocks)
    local other, at = heights_of(family, blocks)
    if not at then return "-" end
    second = second and times[best] <= other[at]
    return ("%.2f times (h %d)"):format(other[at] / times[best], at)
  end
  lines[#lines + 1] = paper.row(isl.title, table.concat(grid, " × "), table.concat(block, " × "),
    ("h %d, %.2f times h 1"):format(best, times[1] / times[best]), by_2009, by_2011, against("tile", true), against("tile", false))
  for model, value in pairs { ["2009"] = share_2009 or 0, ["2011"] = share_2011 or 0 } do
    local least = model == "2009" and 0.98 or 0.95
    paper.claim(("%s, its own kernel: %s"):format(model, isl.title), ("the predicted height reaches %.0f %%"):format(100 * least),
      ("%.1f %%"):format(100 * value), value >= least, value < least and
      ("the best height is %d: memory and instructions of this GPU are not in the proportion of a GTX 280's"):format(best) or nil, true)
  end
  sim:close()
end)
paper.page("whole", lines, true)
paper.claim("2009, section 3.3", "the second way is the fastest of three", second and "it is, of two kernels" or
  "the first and third, joined, are faster", second, not second and
  "a test of a boundary costs less than a computed cell, and registers hold several elements" or nil, true)
