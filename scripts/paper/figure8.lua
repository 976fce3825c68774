-- Figure 8 of Meng and Skadron (2009): larger blocks, beyond what the GPU allows. The speedup over height 1 against
-- the height, by the paper's model.
--
--   trapeze run scripts/paper/figure8.lua [--set device=gtx-titan] [--set model=meng2011]
local tz = require "trapeze"
local paper = require "paper"

paper.each(function(isl)
  local series, last_peak, last_height = {}, 0, 0
  for _, block in ipairs(isl.blocks) do
    local answer = paper.gtx280(isl, { block = block, device = tz.args.device or "gtx280",
      model = tz.args.model or "meng2009" })
    local x, y = paper.speedups(answer, isl.dims == 1 and 40 or 9)
    local peak = math.max(table.unpack(y))
    series[#series + 1] = { title = "block " .. paper.grid_text(paper.grid_of(isl, block)), x = x, y = y }
    tz.log(("%-10s block %s: best height %d, %.3f times height 1"):format(isl.plugin,
      paper.grid_text(paper.grid_of(isl, block)), answer.best.height, peak))
    -- "A larger block size increases the peak and shifts the best towards taller trapezoids."
    tz.expect(peak >= last_peak and answer.best.height >= last_height, "a larger block gains less")
    last_peak, last_height = peak, answer.best.height
  end
  paper.plot { file = "figure8-" .. isl.plugin .. ".png", title = isl.title .. ": larger blocks",
    subtitle = (tz.args.device or "gtx280") .. " by " .. (tz.args.model or "meng2009"),
    x_label = "height: iterations between two exchanges", y_label = "speedup over height 1", zero = true,
    series = series }
end)
