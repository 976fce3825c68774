-- Fields stored as half: the same bits every way, values as of single precision, and what is refused.
local tz = require "trapeze"
local c = require "checks"
local near = c.near

-- Every plan and backend, an origin and a scale, two fields of which one is stored as computed.
local function bump(x, y) return math.exp(-((x - 40) ^ 2 + (y - 30) ^ 2) / 60) end
local own = tz.stencil {
    dims = 2, fields = { a = { initial = 0 }, b = { initial = 1 } }, params = { d = 0.2 },
    update = { a = "a + d * lap(a) - 0.01 * a * b", b = "b + d * lap(b) + 0.01 * a" },
    outputs = { speed = "a * a + dx(b)" },
}
local ways = { { backend = "reference" } }
for _, height in ipairs { 1, 4, 7 } do
    for _, family in ipairs { "stream", "diamond" } do
        ways[#ways + 1] = { backend = "cpu", threads = 2, family = family, height = height }
    end
end
ways[#ways + 1] = { backend = "cpu", devices = "cpu:3" }
for _, storage in ipairs(tz.args.backend == "reference" and {} or { "half", { "half", origin = 0.5, scale = 0.25 }, { a = "half" }, { a = "single", b = { "half", origin = 1 } } }) do
    c.same_bits(own, { grid = { 90, 70 }, boundary = { x = "periodic", y = { "fixed", "mirror" } }, storage = storage,
                       fields = { a = bump, b = c.noise(5) } }, 31, ways)
end

-- A stencil may have a storage: its simulations', unless they give another. It is a copy of what the script gave.
local given = { a = "half", b = { "half", origin = 1 } }
local stored = tz.stencil {
    dims = 2, fields = { a = { initial = 0 }, b = { initial = 1 } }, params = { d = 0.2 }, storage = given,
    update = { a = "a + d * lap(a) - 0.01 * a * b", b = "b + d * lap(b) + 0.01 * a" },
    outputs = { speed = "a * a + dx(b)" },
}
given.a = "single"
local function hash_of(plugin, storage)
    local sim = tz.simulation { plugin = plugin, grid = { 40, 30 }, name = "hash", storage = storage, fields = { a = bump, b = c.noise(5) } }
    sim:run(9)
    return sim:hash "a" .. " " .. sim:hash "b"
end
tz.expect(hash_of(stored) == hash_of(own, { a = "half", b = { "half", origin = 1 } }))
tz.expect(hash_of(stored, "single") == hash_of(own))
tz.expect(tz.checking or hash_of(stored) ~= hash_of(own))
c.refuses("tz.stencil: 'storage': unknown storage 'halve'", tz.stencil, { fields = { u = "real" }, update = "u", dims = 1, storage = "halve" })
c.refuses("tz.stencil: 'storage': unknown key 'w'", tz.stencil, { fields = { u = "real" }, update = "u", dims = 1, storage = { w = "half" } })

-- What scripts and files see are values.
local function chip(storage, name)
    return c.chip { grid = { 32, 16 }, storage = storage, name = name, fields = { power = 0.01 } }
end
local single, half = chip(nil, "single"), chip("half", "half")
tz.expect(half:array("temperature").dtype == single:array("temperature").dtype)
for _, sim in ipairs { single, half } do sim:run(500) end
near(half:max "temperature", single:max "temperature", 0.05)
near(half:mean "temperature", half:array("temperature"):sum() / 512, 1e-9)
near(half:get("temperature", 3, 4), single:get("temperature", 3, 4), 0.05)
local again = c.chip { grid = { 32, 16 }, storage = "half", name = "again", fields = { temperature = half:array "temperature" } }
tz.expect(again:hash "temperature" == half:hash "temperature")
-- Near 318 a half has steps of 0.25: without the stencil's origin it would stay at the ambient temperature.
local far = chip({ temperature = { "half", origin = 0 } }, "far")
far:run(500)
tz.expect(tz.checking or math.abs(far:max "temperature" - single:max "temperature") > 0.2)

-- A derived field and the residual are computed from the values.
local d = tz.simulation { plugin = own, grid = { 20, 20 }, storage = "half", name = "derived", fields = { a = 2, b = 1 } }
near(d:mean "speed", 4, 0)
local told = d:receivers { field = "speed", points = { { 3, 4 } }, every = 1 }
d:run(1)
tz.expect(tz.checking or told:array():get(0, 0) == d:get("speed", 3, 4))
tz.expect(tz.checking or d:residual() > 0)

-- Points are added to the stored value, and recorded as values.
local p = tz.simulation { plugin = "grayscott", grid = { 12, 12 }, storage = "half", name = "points", fields = { u = 1, v = 0 } }
p:sources { field = "v", points = { { 5, 5 } }, values = "0.125" }
local heard = p:receivers { field = "v", points = { { 5, 5 } }, every = 1 }
p:run(3)
tz.expect(tz.checking or heard:array():get(0, 0) == 0.125)

-- What storage cannot hold.
c.refuses("becomes infinite in half", function() p:set("u", 1e6) end)
c.refuses("unknown storage 'halve'", tz.simulation, { plugin = "grayscott", grid = { 8, 8 }, storage = "halve" })
c.refuses("must be a power of two, such as 4", tz.simulation, { plugin = "grayscott", grid = { 8, 8 }, storage = { u = { "half", scale = 3 } } })
c.refuses("unknown key 'w'", tz.simulation, { plugin = "grayscott", grid = { 8, 8 }, storage = { w = "half" } })
c.refuses("leave precision or storage out", tz.simulation, { plugin = "grayscott", grid = { 8, 8 }, storage = "half", precision = "double" })
if tz.checking then return end
local wild = tz.stencil { dims = 1, fields = { a = { initial = 1 } }, update = { a = "2 * a" } }
local s = tz.simulation { plugin = wild, grid = { 40 }, storage = "half", name = "wild" }
c.refuses("field 'a' is not finite at cell (0, 0, 0) at step 17", function() s:run(17) end)
local w = tz.simulation { plugin = wild, grid = { 40 }, storage = { "half", scale = 16 }, name = "scaled" }
w:run(17)
tz.expect(w:max "a" == 2 ^ 17)
c.refuses("leave storage out", function() tz.simulation { plugin = "poisson", grid = { 8, 8 }, storage = "half", boundary = "fixed" }:steady() end)
