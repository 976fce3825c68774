-- Figure 6 of Meng and Skadron (2009): how each component reacts to the height, normalised to height 1: HotSpot with
-- one element loaded for every operation, by the paper's model.
--
--   trapeze run scripts/paper/figure6.lua
local tz = require "trapeze"
local paper = require "paper"

local isl = paper.isls[2]
local answer = paper.gtx280(isl, { streamed = 1 })
local names = { "glb_sync", "load_sten", "misc_comp", "commit", "iter_comp", "iter_mem" }
local titles = { glb_sync = "GlbSync′", load_sten = "LoadSten′", misc_comp = "MiscComp′", commit = "Commit′",
  iter_comp = "IterComp′", iter_mem = "IterMem′" }
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
    same.title = same.title .. ", " .. titles[name]
  else
    series[#series + 1] = { title = titles[name], x = x, y = y }
  end
end
local lines = { paper.row("height", 1, 2, 3, 4, 5, 6, 7), "|---|---|---|---|---|---|---|---|" }
for _, curve in ipairs(series) do
  local cells = { curve.title }
  for i, value in ipairs(curve.y) do cells[i + 1] = ("%.2f"):format(value) end
  lines[#lines + 1] = paper.row(table.unpack(cells))
end
paper.page("figure6", lines)
-- Section 6.1: computation in the loop and memory grow with every height, synchronisation falls.
local behave = true
for height = 2, 7 do
  local before, now = answer.rows[height - 1].components, answer.rows[height].components
  behave = behave and now.iter_comp > before.iter_comp and now.iter_mem > before.iter_mem and now.glb_sync < before.glb_sync
end
paper.claim("2009, figure 6", "IterComp′ and IterMem′ grow with the height, GlbSync′ falls", "heights 1 to 7", behave)
-- Its order of importance, at height 1 with table 2.
local first, greatest = true, {}
paper.each(function(one)
  local parts = paper.gtx280(one).rows[1].components
  local most = "iter_comp"
  for _, name in ipairs(names) do
    if parts[name] > parts[most] then most = name end
  end
  first = first and most == "iter_comp"
  greatest[#greatest + 1] = ("%s %s"):format(one.title, titles[most])
end)
paper.claim("2009, section 6.1", "IterComp′ dominates, LoadSten′ is second", table.concat(greatest, ", "), first,
  "the instructions of table 2 once a stage are more than those of an iteration")
paper.plot { file = "figure6.png", title = "Components of an iteration against height",
  subtitle = "HotSpot with one element loaded an operation, 20 x 20 blocks; GTX 280 by meng2009",
  x_label = "height: iterations between two exchanges", y_label = "time over the time at height 1", zero = true,
  series = series }
