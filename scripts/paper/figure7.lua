-- Figure 7 of Meng and Skadron (2009): wider halos. The speedup over height 1 against the height, for halo widths
-- from 2 on (both sides together), by the paper's model.
--
--   trapeze run scripts/paper/figure7.lua [--set device=gtx-titan] [--set model=meng2011]
local tz = require "trapeze"
local paper = require "paper"

local lines = { paper.row("halo width", 2, 4, 6, 8), "|---|---|---|---|---|" }
local narrower, cell_gains = true, false
paper.each(function(isl)
  local series, last_peak, cells = {}, math.huge, { isl.title }
  for _, halo in ipairs(isl.dims == 3 and { 1, 2, 3 } or { 2, 4, 6, 8 }) do
    local answer = paper.gtx280(isl, { halo = halo, device = tz.args.device or "gtx280",
      model = tz.args.model or "meng2009" })
    local x, y = paper.speedups(answer, isl.dims == 1 and 40 or 9)
    local peak = math.max(table.unpack(y))
    series[#series + 1] = { title = "halo width " .. halo, x = x, y = y }
    cells[#cells + 1] = answer.best.height == 1 and "h 1" or ("h %d, %.3f"):format(answer.best.height, peak)
    narrower = narrower and peak <= last_peak
    cell_gains = cell_gains or isl.dims == 3 and peak > 1
    last_peak = peak
  end
  if isl.dims < 3 then lines[#lines + 1] = paper.row(table.unpack(cells)) end
  paper.plot { file = "figure7-" .. isl.plugin .. ".png", title = isl.title .. ": wider halos",
    subtitle = (tz.args.device or "gtx280") .. " by " .. (tz.args.model or "meng2009") .. ", blocks of " ..
      paper.grid_text(isl.block),
    x_label = "height: iterations between two exchanges", y_label = "speedup over height 1", zero = true,
    series = series }
end)
paper.page("figure7", lines)
paper.claim("2009, figure 7", "smaller halo widths gain more", "all four", narrower)
paper.claim("2009, figure 7", "Cell gains at no halo width", "1, 2 and 3", not cell_gains)
