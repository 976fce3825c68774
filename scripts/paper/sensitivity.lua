-- Sensitivity studies of Meng and Skadron by their models: how the best height, and what it gains over height 1,
-- react to one number of the device or of the model (2009, section 6.3; 2011, section 4), and to the size of the
-- input (2009, section 6.2).
--
--   trapeze run scripts/paper/sensitivity.lua [--set device=h200] [--set only=hotspot]
local tz = require "trapeze"
local paper = require "paper"
local device = tz.args.device or "gtx280"

local function record(key, unit)
  return function(value) return { record = { [key] = unit and ("%.17g %s"):format(value, unit) or value } } end
end
local function times(base, factors)
  local values = {}
  for i, factor in ipairs(factors) do values[i] = base * factor end
  return values
end

local function sized(value, isl)
  local grid = {}
  for axis, n in ipairs(isl.grid) do grid[axis] = math.floor(n * value ^ (1 / isl.dims) + 0.5) end
  return { grid = grid }
end

-- from, to: values for which `most`, the most that the best height may move, is checked.
-- rises: what the paper says of the gain as the number grows: 1 more, -1 less; nil: it says nothing, or that nothing changes.
local sweeps = {
  { name = "synchronisation", says = { "2009, section 6.3", "costlier synchronisation gains more" }, title = "the cost of synchronisation", label = "GlbSync (cycles)", values = times(3350, { 0.25, 1, 4, 16, 64 }),
    change = record("launch", "cycles"), rises = 1 },
  { name = "latency", says = { "2009, section 6.3", "longer memory latency gains more" }, title = "memory latency", label = "UncontendedLat (cycles)", values = times(300, { 0.25, 0.5, 1, 2, 4, 8, 16 }),
    change = record("memory_latency", "cycles"), rises = 1 },
  { name = "bandwidth", says = { "2009, section 6.3", "a higher demand for bandwidth gains more" }, title = "memory bandwidth", label = "MemBandwidth (GB/s)", values = times(141.7, { 0.125, 0.25, 0.5, 1, 2, 4 }),
    change = record("memory_bandwidth", "GB/s"), rises = -1 },
  { name = "cpi", says = { "2009, section 6.3", "a smaller CPI gains more" }, title = "cycles an instruction", label = "CPI (cycles)", values = { 0.25, 0.5, 1, 2, 4, 8 }, change = record "cpi", rises = -1 },
  { name = "multiprocessors", title = "the number of multiprocessors", label = "M: multiprocessors", values = { 8, 15, 30, 60, 120, 240 },
    change = record "sm_count" },
  { name = "size", says = { "2009, section 6.2", "the size of the input hardly matters" },
    from = 1 / 16, to = 1, most = 2, title = "the size of the input", label = "cells over those of section 5.4", values = { 1 / 64, 1 / 16, 1 / 4, 1, 4, 16, 64 },
    change = sized },
  { name = "size-2011", title = "the size of the input", model = "meng2011", label = "cells over those of section 5.4",
    values = { 1 / 64, 1 / 16, 1 / 4, 1, 4, 16, 64 }, change = sized, says = { "2011, introduction", "the size of the input rarely affects the best height" }, from = 1 / 16, to = 1, most = 2 },
  { name = "latency-2011", title = "memory latency", model = "meng2011", label = "UncontendedLat (cycles)",
    values = times(300, { 0.25, 0.5, 1, 2, 4, 8, 16 }), change = record("memory_latency", "cycles"),
    says = { "2011, introduction", "the model is insensitive to memory latency" }, most = 1 },
  { name = "sigma", says = { "2011, section 4.2", "the trend is not sensitive to \u{3c3}" }, most = 2, title = "sigma", model = "meng2011", label = "sigma", values = { 1, 2, 3, 5, 8, 12 },
    change = record "memory_conflict_base" },
  { name = "beta", title = "beta", model = "meng2011", label = "beta: share of hidden instructions", values = { 0, 0.25, 0.5, 0.75, 0.9 },
    change = record "hidden_share", linear = true },
  { name = "conflicts", title = "bank conflicts", model = "meng2011", label = "BankConflictRate (conflicts an instruction)",
    values = { 0, 0.25, 0.5, 1, 2 }, linear = true,
    change = function(value) return { bank_conflicts = value } end },
  -- tau = (1 - beta)(1 + BankConflictRate): below 1 by beta alone, above 1 by conflicts alone.
  { name = "tau", title = "tau", model = "meng2011", label = "tau", values = { 0.1, 0.25, 0.5, 1, 1.5, 2 }, linear = true,
    change = function(value)
      return { record = { hidden_share = math.max(0, 1 - value) }, bank_conflicts = math.max(0, value - 1) }
    end },
}

local head = { paper.row("", "PathFinder", "HotSpot", "Poisson", "Cell"), "|---|---|---|---|---|" }
local pages = { meng2009 = { table.unpack(head) }, meng2011 = { table.unpack(head) } }
for _, sweep in ipairs(sweeps) do
  local model = sweep.model or "meng2009"
  local series, rows, agrees, moves = {}, {}, true, 0
  paper.each(function(isl)
    local x, y, cells = {}, {}, {}
    for i, value in ipairs(sweep.values) do
      local options = sweep.change(value, isl)
      options.device, options.model = device, model
      local answer = paper.gtx280(isl, options)
      x[i], y[i] = value, answer.rows[1].time_s / answer.best.time_s
      local height = answer.best.height
      rows[i] = (rows[i] or ("%.6g"):format(value)) .. (height == 1 and " | h 1" or (" | h %d, %.3f"):format(height, y[i]))
      if value >= (sweep.from or 0) and value <= (sweep.to or math.huge) then
        cells.least, cells.most = math.min(cells.least or height, height), math.max(cells.most or height, height)
      end
      agrees = agrees and not (sweep.rises and i > 1 and (y[i] - y[i - 1]) * sweep.rises < -1e-9)
    end
    series[#series + 1] = { title = isl.title, x = x, y = y }
    moves = math.max(moves, cells.most - cells.least)
  end)
  -- The page has both ends of a sweep.
  local page = pages[model]
  page[#page + 1] = ("| %s = %s |"):format(sweep.label, rows[1])
  page[#page + 1] = ("| %s = %s |"):format(sweep.label, rows[#rows])
  if sweep.says then
    local ours = ("the best height moves by %d at most%s"):format(moves, sweep.from and ", from a sixteenth of the paper's cells on" or "")
    local holds = not sweep.rises or agrees
    if sweep.most then holds = holds and moves <= sweep.most end
    paper.claim(sweep.says[1], sweep.says[2], ours, holds, sweep.why)
  end
  paper.plot { file = "sensitivity-" .. sweep.name .. ".png", title = "What the best height gains, against " .. sweep.title,
    subtitle = device .. " by " .. model .. ", one number changed, grids and blocks of section 5.4",
    x_label = sweep.label, y_label = "speedup of the best height over height 1", log_x = not sweep.linear, zero = true,
    series = series }
end
paper.page("sensitivity-2009", pages.meng2009)
paper.page("sensitivity-2011", pages.meng2011)
