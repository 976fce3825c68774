-- Figure 4 of Meng and Skadron (2009): the time of an iteration against the size of the input, at height 2;
-- measured on this machine, predicted for it, and predicted by the paper's model for the paper's GPU.
--
--   trapeze run scripts/paper/figure4.lua [--backend cpu] [--set only=hotspot]
local tz = require "trapeze"
local paper = require "paper"
local HEIGHT = 2

local here_row = {}
paper.each(function(isl)
  local cells, measured, low, high, predicted, gtx, seen = {}, {}, {}, {}, {}, {}, {}
  local errors = { math.huge, 0 } -- least and largest, in percent
  local where, missing
  for _, size in ipairs(isl.sizes) do
    local grid = paper.grid_of(isl, size)
    local sim = paper.simulation(isl, grid)
    local count = size ^ isl.dims
    local time, least, most = paper.time(sim, isl, HEIGHT, 5)
    local here, why = paper.predict { plugin = isl.plugin, grid = grid, height = HEIGHT, backend = sim.backend,
      family = sim:plan().family }
    local old = paper.gtx280(isl, { grid = grid, height = HEIGHT, block = isl.verified.block })
    cells[#cells + 1] = count / 1e6
    measured[#cells], low[#cells], high[#cells] = time * 1e6, least * 1e6, most * 1e6
    gtx[#cells] = old.best.time_s * 1e6
    if here then
      seen[#seen + 1], predicted[#predicted + 1] = count / 1e6, here.best.time_s * 1e6
      where = here.title
      local off = 100 * math.abs(here.best.time_s / time - 1)
      errors = { math.min(errors[1], off), math.max(errors[2], off) }
    end
    missing = missing or why
    tz.log(("%-10s %-16s height %d: measured %9.2f us, %s; GTX 280 predicted %9.1f us"):format(isl.plugin,
      paper.grid_text(grid), HEIGHT, time * 1e6, here and ("predicted %9.2f us (%+.0f %%)"):format(here.best.time_s * 1e6,
        100 * (here.best.time_s / time - 1)) or "not predicted", gtx[#cells]))
    sim:close()
  end
  here_row[#here_row + 1] = missing or ("%.0f to %.0f %%"):format(errors[1], errors[2])
  local series = {
    { title = "measured here", style = "points", x = cells, y = measured, low = low, high = high, colour = 1 },
    { title = "GTX 280, predicted", style = "thin", x = cells, y = gtx, colour = 8 },
  }
  if #seen > 0 then
    series[#series + 1] = { title = "predicted here", x = seen, y = predicted, colour = 1 }
  end
  paper.plot { file = "figure4-" .. isl.plugin .. ".png", title = isl.title .. ": time against size",
    subtitle = "height 2; " .. (where or "this machine") .. " and the paper's GTX 280, blocks of " ..
      paper.grid_text(isl.verified.block),
    x_label = "millions of cells", y_label = "time of an iteration (us)", log_y = true, series = series }
end)
local lines = { paper.row("", "PathFinder", "HotSpot", "Poisson", "Cell"), "|---|---|---|---|---|" }
lines[3] = paper.row("errors of `roofs` here", table.unpack(here_row))
paper.page("figure4-" .. paper.kind(), lines, true)
