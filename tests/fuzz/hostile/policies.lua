-- ok
-- Policies that return nonsense, raise errors, or do what they must not.
local tz = require "trapeze"
local c = require "calm"
local sim
local answers = { nil, false, 0, -1, 1e9, 0 / 0, 1 / 0, "x", {}, { height = -1 }, { height = 1e300 }, { tile = {} }, { tile = { -1, 0 } },
                  { family = "none" }, { height = 0, tile = { 0, 0 } }, { vector = 3 }, setmetatable({}, { __index = error }), print,
                  coroutine.create(print) }
for i = 1, 19 do
    c.calm(function()
        local s <close> = c.chip { policy = function() return answers[i] end }
        s:run { steps = 4 }
    end)
end
for _, f in ipairs {
    function() error {} end, function() error(nil) end, function() sim:run { steps = 1 } end, function() sim:close() end,
    function() sim:set("temperature", 0 / 0) end, function() coroutine.yield() end, function() return coroutine.wrap(function() return 2 end)() end,
    function() for _ = 1, 100 do c.chip() end return 2 end, function() sim:policy { policy = "adaptive" } return 2 end,
    function() sim:plan { height = 2 } return 2 end, function() sim:every(1, print) return 2 end, function() collectgarbage() return 2 end,
} do
    sim = c.chip { policy = f }
    c.calm(sim.run, sim, { steps = 6 })
    c.calm(sim.close, sim)
end
