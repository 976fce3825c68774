-- ok
-- Memory that runs out is an error like others: what was open still works.
local tz = require "trapeze"
local c = require "calm"
local sim = c.chip()
for _ = 1, 3 do
    local message = c.refused(string.rep, "x", 1 << 40)
    c.refused(string.rep, "xxxxxxxx", 1 << 61)
end
c.refused(table.concat, setmetatable({}, { __len = function() return 1 << 60 end }))
c.refused(table.unpack, {}, 1, 1e8)
c.refused(string.pack, "!16 i17", 1)
c.refused(string.format, "%99999d", 1)
c.refused(string.format, "%.500f", 1)
c.refused(utf8.char, -1)
c.refused(tz.array, { shape = { 1 << 40 } })
c.refused(tz.array, { shape = { 1 << 31, 1 << 31 }, dtype = "int8" })
c.refused(tz.array, { shape = { 1 << 31, 1 << 31, 1 << 31 }, dtype = "int8" })
sim:run { steps = 2 }
tz.expect(sim.step == (tz.checking and sim.step or 2))
