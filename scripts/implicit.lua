-- Implicit steps against explicit ones: how far a chip's temperatures are from those of small steps (docs/steady.md).
--
--   trapeze run scripts/implicit.lua
--
-- 8 ms after the power of a block is switched on; the error is the largest of all cells, as a part of the largest rise.
local tz = require "trapeze"

local n, time, ambient = 64, 8e-3, 318.15
local function chip()
  return tz.simulation { plugin = "hotspot", grid = { n, n }, precision = "double", params = { dt_s = 5e-8 },
    fields = { temperature = ambient, power = function(x, y) return x >= 8 and x < 24 and y >= 16 and y < 48 and 0.004 or 0 end } }
end

local exact = chip()
local steps = exact:run { until_time = time }.steps
local highest = exact:max "temperature" - ambient
print(("%d explicit steps; the largest rise is %.4g K"):format(steps, highest))
print "step, ms | order 1 | order 2"
for _, ms in ipairs { 4, 2, 1, 0.5, 0.25, 0.125 } do
  local errors = {}
  for order = 1, 2 do
    local sim, off = chip(), 0
    sim:run { until_time = time, implicit = ms * 1e-3, order = order }
    for y = 0, n - 1 do
      for x = 0, n - 1 do off = math.max(off, math.abs(sim:get("temperature", x, y) - exact:get("temperature", x, y))) end
    end
    errors[order] = off / highest
    sim:close()
  end
  print(("%8g | %.1e | %.1e"):format(ms, errors[1], errors[2]))
end
