-- ok
-- Calls that nest until C's stack would end, and the functions behind metatables.
local tz = require "trapeze"
local h = require "calm"

-- Each coroutine closes the next one when it is closed: Lua counts no nested calls here.
local threads = {}
for i = 1, 30000 do
    threads[i] = coroutine.create(function()
        local scoped <close> = setmetatable({}, { __close = function()
            if threads[i + 1] then
                coroutine.close(threads[i + 1])
            end
        end })
        coroutine.yield()
    end)
    coroutine.resume(threads[i])
end
coroutine.close(threads[1])
threads = nil

local function deeper(n)
    return tz.array { shape = 1, fill = function() return deeper(n + 1) and 0 end }
end
h.expect(not pcall(deeper, 1))
local function wrapped() return coroutine.wrap(wrapped)() end
h.expect(not pcall(wrapped))
local function simulations() return h.chip { fields = { power = function() return simulations() and 0 end } } end
h.expect(not pcall(simulations))
local sim = h.chip { name = "written" }
local function again(s) s:write(tz.table { "step", name = "t", again = again }) end
pcall(again, sim)
collectgarbage()

local function recurse(n) return n == 0 and sim:set("power", 1) or 1 + recurse(n - 1) end
pcall(recurse, 30000)

-- Metatables are hidden, and their functions take what they get.
h.expect(getmetatable(tz) == "trapeze" and getmetatable(sim) == "trapeze.simulation")
h.refuses("cannot change a protected metatable", setmetatable, tz, {})
h.expect(not pcall(setmetatable, sim, {}))
h.expect(not pcall(setmetatable, {}, 1))
