-- ok
-- Option tables with metamethods that close what the call works on, and whose texts nothing else refers to.
local tz = require "trapeze"
local h = require "calm"
local plain = "plain table"

local function closing(object)
    return setmetatable({}, { __index = function() object:close() end })
end

local sim = h.chip()
for _, method in ipairs { "plan", "run", "params", "policy" } do
    h.refuses(plain, sim[method], sim, closing(sim))
end
h.refuses(plain, sim.set, sim, "power", 1, closing(sim))

-- Every text is new, and the collector takes it as soon as nothing refers to it.
local values = { plugin = "hotspot", grid = { 16, 8 }, backend = "cpu", device = "gtx280", height = 1 }
local fresh = { __index = function(_, key)
    collectgarbage()
    local value = values[key]
    return type(value) == "string" and value:sub(1, 1) .. value:sub(2) or value
end }
local a = tz.array { shape = { 8, 8 } }
for _ = 1, 3 do
    h.refuses(plain, tz.simulation, setmetatable({}, fresh))
    h.refuses(plain, tz.predict, setmetatable({}, fresh))
    h.refuses(plain, tz.simulation, { plugin = "hotspot", grid = { 8, 8 }, params = setmetatable({}, fresh) })
    h.refuses(plain, tz.simulation, { plugin = "hotspot", grid = { 8, 8 }, boundary = setmetatable({}, fresh) })
    h.refuses(plain, tz.simulation, { plugin = "hotspot", grid = { 8, 8 }, fields = setmetatable({}, fresh) })
    h.refuses(plain, tz.picture, setmetatable({ data = a }, fresh))
    h.refuses(plain, tz.plot, setmetatable({}, fresh))
    h.refuses(plain, tz.table, setmetatable({ "step" }, fresh))
    h.refuses(plain, tz.array, setmetatable({}, fresh))
    h.refuses(plain, tz.random, setmetatable({}, fresh))
    h.refuses(plain, tz.png, setmetatable({}, fresh))
    h.refuses(plain, tz.read, "x.npy", setmetatable({}, fresh))
    h.refuses(plain, tz.floorplan, setmetatable({}, fresh))
end

-- A finalizer takes the texts out of the table while it is read.
collectgarbage "generational"
for round = 1, 50 do
    local options = { plugin = "hot" .. "spot", grid = { 16, 8 }, backend = ("c"):rep(1) .. "pu",
                      name = ("n"):rep(40) .. round, params = { ["ambient" .. "_k"] = 300 + round } }
    for _ = 1, 20 do
        setmetatable({}, { __gc = function()
            for key in pairs(options) do
                options[key] = nil
            end
        end })
    end
    pcall(tz.simulation, options)
    local picture = { data = a, file = ("p"):rep(30) .. round .. ".png", caption = ("c"):rep(30) .. round }
    setmetatable({}, { __gc = function() picture.file, picture.data = nil, nil end })
    pcall(tz.picture, picture)
end

-- A list whose length is no number of elements.
local long = { { x = { 1, 2 }, y = { 1, 2 } } }
for k = 1, 45 do
    long[1 << k] = true
end
for _, list in ipairs { long, setmetatable(long, { __len = function() return 1 << 40 end }) } do
    h.expect(not pcall(tz.plot, { file = "long.png", series = list }))
    h.expect(not pcall(tz.plot, { file = "long.png", series = { { x = list, y = list } } }))
    h.expect(not pcall(tz.array, { shape = 3, data = list }))
    h.expect(not pcall(tz.picture, { file = "long.png", data = tz.array { shape = { 4, 4 } }, path = list }) or tz.checking)
    h.expect(not pcall(tz.table, list))
    h.expect(not pcall(tz.vti, list))
end
