-- ok
-- Every number of every option, one at a time.
local tz = require "trapeze"
local c = require "calm"
local image = { size = 1, zoom = 1, range = 2, bits = 1, montage = 1, slice = 1, map = 1, unit = 1 }
local sim = c.chip()
for _, n in ipairs(c.numbers) do
    for _, key in ipairs { "height", "vector", "ahead", "warps", "blocks", "start" } do c.calm(c.chip, { [key] = n }) end
    if n ~= 65536 then c.calm(c.chip, { threads = n }) end
    c.calm(c.chip, { tile = { n, 8 } })
    c.calm(c.chip, { tile = { 8, n } })
    c.calm(c.chip, { fields = { temperature = n, power = n } })
    c.calm(c.chip, { boundary_values = { temperature = n }, boundary = "fixed" })
    for _, key in ipairs { "dt", "ambient_k", "chip_width_m", "chip_height_m", "t_chip_m", "allow_unstable" } do
        c.calm(c.chip, { params = { [key] = n } })
    end
    c.calm(tz.random, { seed = n })
    c.calm(tz.random, { seed = 1, range = { n, n } })
    c.calm(tz.random, { seed = 1, range = { 0, n } })
    c.calm(tz.random, { seed = 1, density = n })
    c.calm(tz.array, { shape = 2, fill = n })
    for _, dtype in ipairs { "bool", "int8", "uint16", "int64", "uint64", "float32" } do
        c.calm(tz.array, { shape = 2, dtype = dtype, data = { n, n } })
        local ok, array = pcall(tz.array, { shape = 2, dtype = dtype })
        if ok then
            c.calm(array.set, array, 0, n)
            c.calm(array.get, array, n)
        end
    end
    for key, count in pairs(image) do
        local output = { "temperature", [key] = count == 1 and n or { n, n } }
        c.calm(tz.png, output)
        c.calm(function() sim:every(n, tz.png(output)) end)
    end
    c.calm(sim.every, sim, n, function() end)
    c.calm(sim.get, sim, "temperature", n, n)
    c.calm(sim.set, sim, "temperature", n)
    c.calm(sim.set, sim, "temperature", 1, { x = { n, 2 }, y = { 0, n } })
    c.calm(sim.mean, sim, "temperature", { x = { n, n }, y = { n, n } })
    for _, key in ipairs { "until_time", "until_residual", "until_update", "check_every" } do
        c.calm(sim.run, sim, { steps = 2, max_steps = 2, [key] = n })
        c.calm(sim.run, sim, { max_steps = 2, [key] = n })
    end
    if n < 100 or n ~= n then c.calm(sim.run, sim, { steps = n }) end
    c.calm(sim.plan, sim, { height = n })
    c.calm(sim.policy, sim, { policy = "adaptive", start = n })
    c.calm(tz.picture, { data = tz.array { shape = { 2, 2 } }, file = "p.png", zoom = n, size = n })
    c.calm(tz.floorplan, { flp = "none.flp", ptrace = "none.ptrace", row = n, width_m = n, height_m = n })
end
