-- stopped
local c = require "calm"
c.chip { fields = { temperature = function() repeat until false end } }
