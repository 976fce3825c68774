-- The three ways to compute a trapezoid of Meng and Skadron (2009, section 3.3), by the model of the second, which is the
-- one that the paper models and measures:
--
--   1 shrinking    an iteration computes only the elements that are still valid
--   2 whole tiles  an iteration computes the whole tile; only valid elements are stored (eq. 1 to 15)
--   3 several      as 2, with several elements a thread, so that a block of the same threads has a larger tile
--
-- The paper says that 2 was the fastest and 3 the slowest, because 1 tests boundaries and 3 has more instructions; it gives
-- no numbers. So here 1 and 3 have the instructions of 2, and the script prints how many more an iteration may have
-- before the variant is no faster than 2, each at its best height.
--
--   trapeze run scripts/paper/variants.lua [--set model=meng2011] [--set only=hotspot]
local tz = require "trapeze"
local paper = require "paper"
local model, ELEMENTS = tz.args.model or "meng2009", { 2, 4, 8 }

local function elements_of(block, isl, halos)
  local product = 1
  for axis = 1, isl.dims do product = product * (block[axis] - 2 * halos) end -- halo width 2, as in table 2
  return product
end

-- Rows with time_s and iter_comp of each height. `shrinks`: an iteration k computes and loads only what is valid after it.
local function rows_of(isl, block, shrinks)
  local rows = {}
  for height, row in ipairs(paper.gtx280(isl, { block = block, model = model }).rows) do
    local share = 0
    for k = 1, height do share = share + elements_of(block, isl, k) / elements_of(block, isl, 1) / height end
    local computed = row.components.iter_comp
    -- Of iter_mem, the elements shrink; the latency of its rounds stays. One array each is loaded, stored and read by
    -- iterations, where there is any: PathFinder.
    local read = row.components.iter_mem
    local latency = read > 0 and row.details.latency * height / (2 + height) or 0
    rows[height] = { time_s = row.time_s, iter_comp = computed }
    if shrinks then
      rows[height].iter_comp = computed * share
      rows[height].time_s = row.time_s - (computed + read - latency) * (1 - share)
    end
  end
  return rows
end

local function best_of(rows, more)
  local best = 1
  for height, row in ipairs(rows) do
    if row.time_s + more * row.iter_comp < rows[best].time_s + more * rows[best].iter_comp then best = height end
  end
  return best, rows[best].time_s + more * rows[best].iter_comp
end

-- The share of additional instructions at which the best time is `time`; nil: more than 100 times as many.
local function break_even(rows, time)
  local low, high = 0, 100
  if select(2, best_of(rows, high)) < time then return nil end
  for _ = 1, 60 do
    local middle = (low + high) / 2
    if select(2, best_of(rows, middle)) < time then low = middle else high = middle end
  end
  return low
end

local table_rows, more, fastest = {}, {}, {}
paper.each(function(isl)
  local whole = rows_of(isl, isl.block)
  local _, least = best_of(whole, 0)
  local variants = { { "1 shrinking", rows_of(isl, isl.block, true) }, { "2 whole tiles", whole } }
  for _, elements in ipairs(ELEMENTS) do
    local block = {}
    for axis, length in ipairs(isl.block) do block[axis] = length * elements ^ (1 / isl.dims) end
    variants[#variants + 1] = { ("3 with %d elements a thread"):format(elements), rows_of(isl, block) }
  end
  local series = {}
  for _, variant in ipairs(variants) do
    local name, rows = table.unpack(variant)
    local height, time = best_of(rows, 0)
    local most = break_even(rows, least)
    local x, y = {}, {}
    for h = 1, math.min(#rows, isl.dims == 1 and 40 or isl.dims == 2 and 8 or 4) do
      if rows[h].time_s < 3 * rows[1].time_s then x[h], y[h] = h, rows[h].time_s * 1e6 end
    end
    series[#series + 1] = { title = name, x = x, y = y }
    if rows ~= whole then
      table_rows[name] = (table_rows[name] or name) .. (" | %.3f"):format(time / least)
      more[name] = (more[name] and more[name] .. ", " or "") .. ("%.0f"):format(100 * most)
      fastest[#fastest + 1] = time < least
    end
    tz.expect(time <= least * (1 + 1e-12), name .. " is slower with the same instructions")
  end
  paper.plot { file = "variants-" .. isl.plugin .. ".png", title = isl.title .. ": three ways to compute a trapezoid",
    subtitle = "gtx280 by " .. model .. ", all with the instructions of variant 2",
    x_label = "height: iterations between two exchanges", y_label = "time of an iteration (us)", zero = true,
    series = series }
end)
local lines = { paper.row("time over variant 2's, each at its best height", "PathFinder", "HotSpot", "Poisson", "Cell",
  "more instructions up to which it wins, %"), "|---|---|---|---|---|---|" }
for _, name in ipairs { "1 shrinking", "3 with 2 elements a thread", "3 with 4 elements a thread", "3 with 8 elements a thread" } do
  lines[#lines + 1] = ("| %s | %s |"):format(table_rows[name], more[name])
end
paper.page("variants", lines)
