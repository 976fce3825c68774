-- ok
-- Finalizers that are left at the end of a script do not run: run.json is written by then.
local tz = require "trapeze"
local h = require "calm"

local sim = h.chip()
sim:every(10, tz.png())
sim:run(20)
left = setmetatable({}, { __gc = function()
    local late = h.chip { name = "late" }
    late:every(10, tz.png())
    late:run(20)
    tz.picture { data = late, file = "late.png" }
    while true do end
end })
later = setmetatable({}, { __gc = true })
getmetatable(later).__gc = function() while true do end end
