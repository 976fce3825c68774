-- ok
-- Many simulations that are not closed, and arrays that are left to the collector.
local tz = require "trapeze"
local c = require "calm"
local kept = {}
for n = 1, 300 do kept[n] = c.chip { name = "n" .. n } end
for n = 1, 300 do kept[n]:run { steps = 1 } end
kept = nil
for _ = 1, 3000 do tz.array { shape = { 64, 64 } } end
