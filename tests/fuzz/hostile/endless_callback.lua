-- stopped
local c = require "calm"
local sim = c.chip()
sim:every(1, function() while true do pcall(coroutine.wrap(function() while true do end end)) end end)
sim:run { steps = 1 }
while true do end
