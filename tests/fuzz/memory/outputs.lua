-- Every output, a policy, a callback: memory runs out at each allocation of this.
local tz = require "trapeze"
local sim = tz.simulation {
    plugin = "hotspot", grid = { 24, 16 }, name = "chip", backend = "cpu", threads = 1, policy = "adaptive",
    boundary = { x = "clamp", y = "periodic" }, params = { ambient_k = 300 },
    fields = { temperature = function(x, y) return 310 + x + y end, power = tz.random { seed = 1, range = { 0, 0.1 } } },
}
sim:every(4, tz.png("temperature", { map = "inferno", range = "auto", bar = true, caption = "step {step}" }))
sim:every(4, tz.npy "temperature")
sim:every(8, tz.vti "temperature")
sim:every(8, tz.xdmf { "temperature", "power" })
sim:every(2, tz.table { "step", "min(temperature)", "mean(temperature)" })
sim:every(8, function(s) tz.log(("at %d"):format(s.step)) end)
sim:run { steps = 16 }
sim:array("temperature"):save "last.npy"
sim:close()

local life <close> = tz.simulation { plugin = "life", grid = { 40, 30 }, name = "life", backend = "cpu", threads = 1,
                                     height = 2, fields = { alive = tz.random { seed = 1, density = 0.3 } } }
life:every(4, tz.rle "alive")
life:run(8)
