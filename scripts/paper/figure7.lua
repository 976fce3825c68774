-- Figure 7 of Meng and Skadron (2009): wider halos. The speedup over height 1 against the height, for halo widths
-- from 2 on (both sides together), by the paper's model.
--
--   trapeze run scripts/paper/figure7.lua [--set device=gtx-titan] [--set model=meng2011]
local tz = require "trapeze"
local paper = require "paper"

paper.each(function(isl)
  local series, last_peak = {}, math.huge
  for _, halo in ipairs(isl.dims == 3 and { 1, 2, 3 } or { 2, 4, 6, 8 }) do
    local answer = paper.gtx280(isl, { halo = halo, device = tz.args.device or "gtx280",
      model = tz.args.model or "meng2009" })
    local x, y = paper.speedups(answer, isl.dims == 1 and 40 or 9)
    local peak = math.max(table.unpack(y))
    series[#series + 1] = { title = "halo width " .. halo, x = x, y = y }
    tz.log(("%-10s halo width %d: best height %d, %.3f times height 1"):format(isl.plugin, halo, answer.best.height,
      peak))
    -- "Smaller stencils with smaller halo width can benefit more."
    tz.expect(peak <= last_peak, "a wider halo gains more")
    last_peak = peak
  end
  paper.plot { file = "figure7-" .. isl.plugin .. ".png", title = isl.title .. ": wider halos",
    subtitle = (tz.args.device or "gtx280") .. " by " .. (tz.args.model or "meng2009") .. ", blocks of " ..
      paper.grid_text(isl.block),
    x_label = "height: iterations between two exchanges", y_label = "speedup over height 1", zero = true,
    series = series }
end)
