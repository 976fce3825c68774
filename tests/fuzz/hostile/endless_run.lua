-- stopped
local c = require "calm"
while true do c.chip():run { steps = 10 } end
