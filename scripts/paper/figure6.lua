-- Figure 6 of Meng and Skadron (2009): how each component reacts to the height, normalised to height 1: HotSpot with
-- one element loaded for every operation, by the paper's model.
--
--   trapeze run scripts/paper/figure6.lua
local tz = require "trapeze"
local paper = require "paper"

local isl = paper.isls[2]
local answer = paper.gtx280(isl, { streamed = 1 })
local names = { "glb_sync", "load_sten", "commit", "misc_comp", "iter_comp", "iter_mem" }
local series = {}
for _, name in ipairs(names) do
  local x, y = {}, {}
  for i, row in ipairs(answer.rows) do
    if row.height <= 7 then
      x[i], y[i] = row.height, row.components[name] / answer.rows[1].components[name]
    end
  end
  -- Curves that are the same are drawn once.
  local same
  for _, other in ipairs(series) do
    local differs = false
    for i, value in ipairs(y) do differs = differs or math.abs(other.y[i] / value - 1) > 0.005 end
    if not differs then same = other end
  end
  if same then
    same.title = same.title .. ", " .. name
  else
    series[#series + 1] = { title = name, x = x, y = y }
  end
  tz.log(("%-10s at heights 1 to 7, over height 1: %s"):format(name,
    table.concat((function() local t = {} for i, v in ipairs(y) do t[i] = ("%.2f"):format(v) end return t end)(), " ")))
end
-- Section 6.1: computation in the loop and memory grow with every height, synchronisation falls.
for height = 2, 7 do
  local before, now = answer.rows[height - 1].components, answer.rows[height].components
  tz.expect(now.iter_comp > before.iter_comp and now.iter_mem > before.iter_mem and now.glb_sync < before.glb_sync,
    "components do not behave as in section 6.1 at height " .. height)
end
paper.plot { file = "figure6.png", title = "Components of an iteration against height",
  subtitle = "HotSpot with one element loaded an operation, 20 x 20 blocks; GTX 280 by meng2009",
  x_label = "height: iterations between two exchanges", y_label = "time over the time at height 1", zero = true,
  series = series }
