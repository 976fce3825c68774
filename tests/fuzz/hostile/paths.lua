-- ok
local tz = require "trapeze"
local c = require "calm"
local names = { "", ".", "..", "/", "../../../../etc/passwd", "/etc/passwd", "/dev/zero", "/dev/stdin", "/proc/self/mem", "a\nb",
                "a\0b", "\0", "\27[2J", "\xff\xfe", ("x"):rep(10000), ("x/"):rep(3000), "~", "~root/x", "%s%n", "{step}", ".npy",
                "x.npy/", "/dev/full", "con", "a b", "-rf", "run.json", "log.txt", "scenario.lua", "none.png", "none.rle", "none.npy" }
local array = tz.array { shape = 2 }
local sim = c.chip()
for _, name in ipairs(names) do
    c.refused(tz.read, name)
    c.refused(require, name)
    c.calm(array.save, array, name)
    c.calm(tz.floorplan, { flp = name, ptrace = name })
    c.calm(tz.picture, { data = tz.array { shape = { 2, 2 } }, file = name })
    c.calm(function() sim:write(tz.png { "temperature", name = name }) end)
    c.calm(function() sim:write(tz.table { "step", name = name }) end)
    c.calm(c.chip, { name = name })
    c.calm(c.chip, { plugin = name })
    c.calm(c.chip, { params = { [name] = 1 } })
    c.calm(c.chip, { fields = { [name] = 1 } })
    c.calm(c.chip, { fields = { temperature = name } })
    c.calm(c.chip, { backend = name })
    c.calm(c.chip, { policy = name })
    c.calm(c.chip, { family = name })
    c.calm(tz.predict, { plugin = name, grid = { 8, 8 }, device = name })
    c.calm(tz.predict, { plugin = "hotspot", grid = { 8, 8 }, device = name })
    c.calm(function() return tz.args[name] end)
    c.calm(function() return tz[name], sim[name], array[name] end)
end
