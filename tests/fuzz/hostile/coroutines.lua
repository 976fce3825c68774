-- ok
local tz = require "trapeze"
local c = require "calm"
local sim = c.chip()
local run = coroutine.wrap(function() sim:run { steps = 2 } coroutine.yield() sim:run { steps = 2 } end)
run()
sim:every(1, function() c.calm(coroutine.yield) end)
c.calm(sim.run, sim, { steps = 1 })
c.calm(run)
c.calm(run)
local threads = {}
for i = 1, 2000 do
    threads[i] = coroutine.create(function() local s <close> = setmetatable({}, { __close = function() error "closing" end }) coroutine.yield() end)
    coroutine.resume(threads[i])
end
for i = 1, 1000 do c.calm(coroutine.close, threads[i]) end
-- In a fill function, in the middle of the grid.
local fill = coroutine.create(function()
    return c.chip { fields = { temperature = function(x, y) if x == 3 then coroutine.yield() end return 300 end } }
end)
c.calm(coroutine.resume, fill)
c.calm(coroutine.resume, fill)
