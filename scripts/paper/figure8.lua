-- Figure 8 of Meng and Skadron (2009): larger blocks, beyond what the GPU allows. The speedup over height 1 against
-- the height, by the paper's model.
--
--   trapeze run scripts/paper/figure8.lua [--set device=gtx-titan] [--set model=meng2011]
local tz = require "trapeze"
local paper = require "paper"

local lines = { "| | blocks |" .. (" |"):rep(7), ("|---"):rep(9) .. "|" }
local larger, cell_gains = true, false
paper.each(function(isl)
  local series, last_peak, last_height, cells = {}, 0, 0, {}
  for _, block in ipairs(isl.blocks) do
    local answer = paper.gtx280(isl, { block = block, device = tz.args.device or "gtx280",
      model = tz.args.model or "meng2009" })
    local x, y = paper.speedups(answer, isl.dims == 1 and 40 or 9)
    local peak = math.max(table.unpack(y))
    series[#series + 1] = { title = "block " .. paper.grid_text(paper.grid_of(isl, block)), x = x, y = y }
    cells[#cells + 1] = ("%d%s: %s"):format(block, ({ "", "²", "³" })[isl.dims], answer.best.height == 1 and "h 1" or
      ("h %d, %.3f"):format(answer.best.height, peak))
    larger = larger and peak >= last_peak and answer.best.height >= last_height
    cell_gains = cell_gains or isl.dims == 3 and peak > 1
    last_peak, last_height = peak, answer.best.height
  end
  lines[#lines + 1] = paper.row(isl.title, table.concat(cells, " | "))
  paper.plot { file = "figure8-" .. isl.plugin .. ".png", title = isl.title .. ": larger blocks",
    subtitle = (tz.args.device or "gtx280") .. " by " .. (tz.args.model or "meng2009"),
    x_label = "height: iterations between two exchanges", y_label = "speedup over height 1", zero = true,
    series = series }
end)
paper.page("figure8", lines)
paper.claim("2009, figure 8", "larger blocks gain more, at greater heights", "all four", larger)
paper.claim("2009, figure 8", "Cell gains if blocks may be larger", "from 44³ on", cell_gains)
