-- Figure 5 of Meng and Skadron (2009): the speedup over height 1 against the height; measured and predicted on
-- this machine, and by the paper's model for the paper's GPU, with the speedup that the paper measured there.
--
--   trapeze run scripts/paper/figure5.lua [--backend cpu] [--set only=hotspot] [--set rounds=5]
local tz = require "trapeze"
local paper = require "paper"
local HEIGHTS = { 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20 }

local cells = {}
paper.each(function(isl)
  local sim = paper.simulation(isl, isl.grid)
  local x, y, low, high, one = {}, {}, {}, {}, nil
  for _, height in ipairs(HEIGHTS) do
    local time, least, most = paper.time(sim, isl, height, paper.count("rounds", 5))
    if time then
      one = one or time
      x[#x + 1], y[#y + 1], low[#low + 1], high[#high + 1] = height, one / time, one / most, one / least
    end
  end
  local backend = sim.backend
  sim:close()
  local best = 1
  for i = 2, #x do if y[i] > y[best] then best = i end end
  local here, why = paper.predict { plugin = isl.plugin, grid = isl.grid, backend = backend }
  local old = paper.gtx280(isl)
  local old_x, old_y = paper.speedups(old, 20)
  local series = {
    { title = "measured here", style = "points", x = x, y = y, low = low, high = high, colour = 1 },
    { title = "GTX 280, predicted", style = "thin", x = old_x, y = old_y, colour = 8 },
    { title = "GTX 280, measured (paper)", style = "mark", x = { isl.paper.measured }, y = { isl.paper.best },
      colour = 8 },
  }
  if here then
    local px, py = paper.speedups(here, 20)
    table.insert(series, 2, { title = "predicted here", x = px, y = py, colour = 1 })
  else
    tz.log(isl.plugin .. ": no prediction of this machine: " .. why)
  end
  cells[#cells + 1] = ("%.2f (h %d)%s"):format(y[best], x[best], here and ("; h %d"):format(here.best.height) or "")
  paper.plot { file = "figure5-" .. isl.plugin .. ".png", title = isl.title .. ": speedup against height",
    subtitle = paper.grid_text(isl.grid) .. " cells; " .. (here and here.title or "this machine") ..
      " and the paper's GTX 280",
    x_label = "height: iterations between two exchanges", y_label = "speedup over height 1", zero = true,
    series = series }
end)
paper.page("figure5-" .. paper.kind(), { paper.row("", "PathFinder", "HotSpot", "Poisson", "Cell"), "|---|---|---|---|---|",
  paper.row("measured gain (best height); predicted height of a long run", table.unpack(cells)) }, true)
