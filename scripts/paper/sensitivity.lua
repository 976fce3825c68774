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

-- rises: what the paper says of the gain as the number grows: 1 more, -1 less; nil: it says nothing, or that nothing changes.
local sweeps = {
  { name = "synchronisation", title = "the cost of synchronisation", label = "GlbSync (cycles)", values = times(3350, { 0.25, 1, 4, 16, 64 }),
    change = record("launch", "cycles"), rises = 1 },
  { name = "latency", title = "memory latency", label = "UncontendedLat (cycles)", values = times(300, { 0.25, 0.5, 1, 2, 4, 8, 16 }),
    change = record("memory_latency", "cycles"), rises = 1 },
  { name = "bandwidth", title = "memory bandwidth", label = "MemBandwidth (GB/s)", values = times(141.7, { 0.125, 0.25, 0.5, 1, 2, 4 }),
    change = record("memory_bandwidth", "GB/s"), rises = -1 },
  { name = "cpi", title = "cycles an instruction", label = "CPI (cycles)", values = { 0.25, 0.5, 1, 2, 4, 8 }, change = record "cpi", rises = -1 },
  { name = "multiprocessors", title = "the number of multiprocessors", label = "M: multiprocessors", values = { 8, 15, 30, 60, 120, 240 },
    change = record "sm_count" },
  { name = "size", title = "the size of the input", label = "cells over those of section 5.4", values = { 1 / 64, 1 / 16, 1 / 4, 1, 4, 16, 64 },
    change = function(value, isl)
      local grid = {}
      for axis, n in ipairs(isl.grid) do grid[axis] = math.floor(n * value ^ (1 / isl.dims) + 0.5) end
      return { grid = grid }
    end },
  { name = "sigma", title = "sigma", model = "meng2011", label = "sigma", values = { 1, 2, 3, 5, 8, 12 },
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

tz.log(("best height and its speedup over height 1, %s; blocks of section 5.4"):format(device))
for _, sweep in ipairs(sweeps) do
  local model = sweep.model or "meng2009"
  local series = {}
  tz.log(("%s, by %s"):format(sweep.label, model))
  paper.each(function(isl)
    local x, y, cells = {}, {}, {}
    for i, value in ipairs(sweep.values) do
      local options = sweep.change(value, isl)
      options.device, options.model = device, model
      local answer = paper.gtx280(isl, options)
      x[i], y[i] = value, answer.rows[1].time_s / answer.best.time_s
      cells[i] = ("%.4g: h %d %.3f"):format(value, answer.best.height, y[i])
      if sweep.rises and i > 1 then
        tz.expect((y[i] - y[i - 1]) * sweep.rises >= -1e-9, sweep.name .. ": " .. isl.plugin .. " does not do what section 6.3 says")
      end
    end
    series[#series + 1] = { title = isl.title, x = x, y = y }
    tz.log(("  %-10s %s"):format(isl.plugin, table.concat(cells, "  ")))
  end)
  paper.plot { file = "sensitivity-" .. sweep.name .. ".png", title = "What the best height gains, against " .. sweep.title,
    subtitle = device .. " by " .. model .. ", one number changed, grids and blocks of section 5.4",
    x_label = sweep.label, y_label = "speedup of the best height over height 1", log_x = not sweep.linear, zero = true,
    series = series }
end
