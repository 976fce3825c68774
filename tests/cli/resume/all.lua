-- Much of what a scenario can do, for runs that are stopped and go on: several simulations, runs within functions,
-- functions in tables, errors that are caught, random numbers, reductions and arrays that decide what comes next.
local tz = require "trapeze"
local chip = tz.simulation {
    plugin = "hotspot",
    grid = { 96, 90 },
    name = "chip",
    storage = { temperature = { "half", origin = 300, scale = 0.5 } },
    fields = {
        temperature = function(x, y) return 300 + (x * 7 + y * 3) % 11 end,
        power = tz.random { seed = 3, range = { 0, 1e-3 } },
    },
}
local life = tz.simulation { plugin = "life", grid = { 96, 64 }, fields = { alive = tz.random { seed = 1, density = 0.3 } }, name = "life" }
local plate = tz.simulation { plugin = "poisson", grid = { 40, 30 }, precision = "double", name = "plate",
    fields = { f = function(x, y) return (x * y) % 7 - 3 end } }
local calls, sum = 0, 0
chip:sources { points = { { 30.5, 20 }, { 8, 70.25 } }, interpolate = "linear", values = "1e-3*sin(0.1*step + t)" }
chip:receivers { points = { { 5, 5 }, { 90, 80 } }, file = "heat.npy" }
local heard = chip:receivers { points = { { 40.25, 33.5 } }, interpolate = "sinc", every = 7 }
life:receivers { points = { { 0, 0 }, { 50, 60 } }, file = "alive.csv" }
math.randomseed(5)

chip:every(20, tz.table {
    "step", "time", "max", "mean(temperature)",
    name = "course",
    calls = function(sim)
        calls = calls + 1
        return calls + sim.step
    end,
})
chip:every(50, tz.npy())
chip:every(100, tz.png())
chip:every(100, tz.png { name = "told", caption = function(sim)
    calls = calls + 1
    return ("%d calls, {time}, at most %.2f K"):format(calls, sim:max())
end })
chip:every(10, tz.movie { name = "film", range = "auto", caption = "{step}" })
chip:every(40, tz.vti { "temperature", "power", name = "v" })
chip:every(60, tz.xdmf { name = "x" })
life:every(7, tz.table { "step", "population", "hash" })
chip:every(30, function(sim)
    sum = sum + sim:max("temperature")
    life:run(3)
end)
chip:every(90, tz.checkpoint())
plate:every(100, tz.table { "step", "max", "hash", "residual" })
plate:every(150, function(sim) sum = sum + sim:max("u") end)
chip:write(tz.npy { name = "first" })

local thread = coroutine.wrap(function()
    for i = 1, 4 do
        local result = chip:run(100 + i)
        local ok, why = pcall(chip.set, chip, "temperature", -1 / 0)
        local field = chip:array("temperature")
        local warmer = chip:get("temperature", i, i) + math.random(1000) * 1e-3
        chip:set("temperature", warmer, { x = { i, i + 8 }, y = { 2, 4 } })
        tz.log("round", i, result.status, ok, why, chip:hash(), field:max())
        if i == 2 then chip:rewind() end
        plate:run(20)
        local jumps, whole = pcall(plate.jump, plate, { steps = 330, every = 45 }) -- needs libfftw3
        if i == 3 then jumps, whole = pcall(plate.steady, plate) end
        tz.log("plate", jumps, plate.step, plate:hash(), type(whole) == "number" and whole)
        if i == 3 then chip:params { ambient_k = chip:param("ambient_k") + 1 } end
        field:save("round" .. i .. ".npy")
        heard:save("heard" .. i .. ".csv")
        sum = sum + heard:array():max() + heard.rows
        local small <close> = tz.simulation { plugin = "wave2d", grid = { 20 + i, 20 } }
        small:run(50)
        coroutine.yield(small:hash())
    end
end)
local hashes = {}
for i = 1, 4 do hashes[i] = thread() end

local last = chip:run { until_residual = 1e-9, max_steps = 700 }
local again = life:run { until_update = 0, max_steps = 40, check_every = 4 }
local cool <close> = tz.simulation { plugin = "hotspot", grid = { 48, 40 }, name = "cool", fields = { power = 1e-2 } }
local asked = 0
cool:every(60, tz.npy { name = "cooling" })
cool:every(25, function(sim) if sim.step >= 300 then sim:stop("after " .. asked) end end)
local warm = cool:run { until_true = function(sim)
    asked = asked + 1
    return sim:max() > 360 or sim.step > 210
end, check_every = 8 }
local stopped = cool:run(200)
print(warm.status, warm.steps, warm.why, stopped.status, stopped.steps, stopped.why, cool:hash(), asked)
print(last.status, last.steps, again.status, chip:hash(), life:hash(), plate:hash(), calls, sum, table.unpack(hashes))
chip:write(tz.table { "hash", name = "end", text = function() return hashes[1] .. hashes[4] end })
