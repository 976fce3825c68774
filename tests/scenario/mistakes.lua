-- Mistakes that newcomers make, and the words that the answer must have: what is wrong, and what to write. `sim` is a
-- simulation of hotspot on 8 x 8 cells; `hot` makes one with options of its own; `own` makes a stencil of a field u.
local tz = require "trapeze"

local mistakes = {
    -- What a simulation is made of.
    { [[tz.simulation { plugin = "heat", grid = { 8, 8 } }]], "did you mean 'hotspot'?" },
    { [[tz.simulation { plugin = "conway", grid = { 8, 8 } }]], "did you mean 'life'?" },
    { [[tz.simulation { grid = { 8, 8 } }]], "'plugin' is missing; `trapeze plugins` lists them" },
    { [[tz.simulation("hotspot", { 8, 8 })]], "it is tz.simulation(options)" },
    { [[tz.simulation { stencil = "hotspot", grid = { 8, 8 } }]], "did you mean 'plugin'?" },
    { [[tz.simulation { plugin = "hotspot", shape = { 8, 8 } }]], "did you mean 'grid'?" },
    { [[hot { grid = 8 }]], "the grid is {nx, ny}, not 1 number" },
    { [[hot { grid = { 8, 8, 8 } }]], "2-dimensional" },
    { [[hot { grid = "8x8" }]], "must be a list of integers, not a string" },
    { [[hot { grid = { 8.5, 8 } }]], "must be an integer, not 8.5" },
    { [[hot { bc = "periodic" }]], "did you mean 'boundary'?" },
    { [[hot { boundary = "reflect" }]], "did you mean 'mirror'?" },
    { [[hot { boundary = "neumann" }]], "did you mean 'clamp'?" },
    { [[hot { boundary = "dirichlet" }]], "did you mean 'fixed'?" },
    { [[hot { boundary = "wrap" }]], "did you mean 'periodic'?" },
    { [[hot { boundary = { top = "fixed" } }]], "known: x, y" },
    { [[hot { precision = "float32" }]], "did you mean 'single'?" },
    { [[hot { precision = "float64" }]], "did you mean 'double'?" },
    { [[hot { precision = "half" }]], [[storage = "half"]] },
    { [[hot { backend = "gpu" }]], "did you mean 'cuda'?" },
    { [[hot { backend = "openmp" }]], "did you mean 'cpu'?" },
    { [[hot { parameters = {} }]], "did you mean 'params'?" },
    { [[hot { params = { dt_s = 1 } }]], "the largest stable step is" },
    { [[hot { initial = {} }]], "did you mean 'fields'?" },
    { [[hot { ambient_k = 300 }]], "is a parameter of hotspot: write params = { ambient_k = … }" },
    { [[hot { temperature = 300 }]], "is a field of hotspot: write fields = { temperature = … }" },
    { [[hot { fields = { T = 300 } }]], "known: temperature, power" },
    { [[hot { fields = { power = "p.npy" } }]], "tz.read" },
    { [[hot { fields = { power = { 1, 2 } } }]], "tz.array" },
    { [[hot { fields = { power = tz.read "nosuch.npy" } }]], "nosuch.npy: cannot open: No such file" },
    { [[hot { height = -1 }]], "must be from 1" },
    { [[hot { policy = "best" }]], "did you mean 'exhaustive'?" },
    { [[hot { threads = 0 }]], "must be from 1" },
    { [[tz.simulation { plugin = "life", grid = { 8, 8 }, fields = { alive = 2 } }]], "must be 0 or 1" },
    { [[tz.random { density = 0.5 }]], "'seed' is missing" },
    -- What is done with it.
    { [[sim.run(10)]], "call methods with a colon: sim:run" },
    { [[sim:run()]], "{ until_time = \"2 ms\" }" },
    { [[sim:run("10")]], "needs a number of steps" },
    { [[sim:run { until_time = "1 parsec" }]], "known: s, ms, us" },
    { [[sim:run { time = "1 ms" }]], "did you mean 'until_time'?" },
    { [[sim:run { eps = 1e-3 }]], "did you mean 'until_residual'?" },
    { [[sim:run { until_residual = 1e-3, steps = 5 }]], "max_steps" },
    { [[sim:evry(10, tz.png())]], "did you mean 'every'?" },
    { [[sim:every(tz.png(), 10)]], "the interval comes first" },
    { [[sim:every(0, tz.png())]], "must be at least 1, not 0" },
    { [[sim:every("10 steps", tz.png())]], "is a number: sim:every(10" },
    { [[sim:every(10, "frame.png")]], "needs an output (tz.png" },
    { [[sim:every(10, tz.png "temprature")]], "did you mean 'temperature'?" },
    { [[sim:every(10, tz.png { map = "jet" })]], "did you mean 'viridis'?" },
    { [[sim:every(10, tz.png { map = "coolwarm" })]], "did you mean 'balance'?" },
    { [[sim:every(10, tz.png { cmap = "viridis" })]], "did you mean 'map'?" },
    { [[sim:every(10, tz.png { range = { 10, 5 } })]], "low < high" },
    { [[sim:every(10, tz.png { range = 5 })]], "{low, high}" },
    { [[sim:every(10, tz.png { slice = 3 })]], "is for 3-D grids" },
    { [[sim:every(10, tz.png { name = "out/frame" })]], "outputs go into the run folder" },
    { [[sim:every(10, tz.png { caption = "{tme}" })]], "did you mean 'time'?" },
    { [[sim:every(10, tz.gif())]], "did you mean 'movie'?" },
    { [[sim:every(10, tz.csv())]], "did you mean 'table'?" },
    { [[sim:every(10, tz.table { "stp" })]], "did you mean 'step'?" },
    { [[sim:every(10, tz.table { "std(temperature)" })]], "sim:array(field)" },
    { [[sim:every(10, tz.table { "avg(temperature)" })]], "mean" },
    { [[sim:every(10, tz.table { "probe(temperature)" })]], "probe(FIELD, x, y)" },
    { [[sim:every(10, tz.table { "probe(temperature, 900, 0)" })]], "x is 0 to 7" },
    { [[sim:get("temperature")]], "needs a field and 2 coordinates" },
    { [[sim:get("temperature", 8, 0)]], "must be from 0 to 7, not 8" },
    { [[sim:get(0, 0)]], "'field' must be a string" },
    { [[sim:set("power")]], "needs a number, a function(x, y, z)" },
    { [[sim:set("power", 1, { 0, 4 })]], "named options such as x" },
    { [[sim:set("power", 1, { x = { 4, 2 } })]], "0 <= low < high <= 8" },
    { [[sim:set("power", function(x) end)]], "returned nil, not a number" },
    { [[return sim:average()]], "did you mean 'mean'?" },
    { [[return sim:std()]], "min, max, sum, mean" },
    { [[sim:params { ambient = 3 }]], "did you mean 'ambient_k'?" },
    { [[sim.step = 5]], "cannot be set" },
    { [[sim:close() sim:run(1)]], "the simulation is closed" },
    { [[sim:plan { height = 3, tiles = 4 }]], "did you mean 'tile'?" },
    -- Stencils of formulas.
    { [[tz.stencil { fields = { "u" }, update = { u = "u" } }]], "'dims' is missing: 1, 2 or 3" },
    { [[tz.stencil { dims = 2, fields = { "u" } }]], "needs 'update'" },
    { [[own "u + laplacian(u)"]], "write lap(u)" },
    { [[own "u + lap(v)"]], "unknown name 'v'" },
    { [[own "D * lap(u)"]], "declared in 'params'" },
    { [[own "u +"]], "a value is missing" },
    { [[own "u[1]"]], "write u[-1, 0]" },
    { [[own "u(1,0)"]], "write u[...] for a neighbour" },
    { [[own "ln(u)"]], "write log(a)" },
    { [[own "if u > 0 then 1 else 0"]], "condition ? value : value" },
    { [[own "math.sin(u)"]], "cannot be in a formula" },
    { [[tz.stencil { dims = 2, fields = { "u" }, update = { v = "u" } }]], "unknown field 'v'; known: u" },
    { [[tz.stencil { dims = 2, fields = { "u" }, params = { "D" }, update = { u = "u" } }]], "needs NAME = value" },
    -- Lua.
    { [[tz.Simulation {}]], "did you mean 'simulation'?" },
    { [[tz.plot()]], "tz.plot { file = \"NAME.png\"" },
    { [[require "numpy"]], "there is no numpy.lua in the script's folder" },
    { [[trapeze.simulation {}]], "global 'trapeze'" },
    { [[io.open("x")]], "--unsafe" },
}

local function hot(options)
    local all = { plugin = "hotspot", grid = { 8, 8 } }
    for key, value in pairs(options) do all[key] = value end
    return tz.simulation(all)
end
local function own(formula)
    return tz.stencil { dims = 2, fields = { "u" }, update = { u = formula } }
end

for _, mistake in ipairs(mistakes) do
    local text, words = mistake[1], mistake[2]
    local sim = hot {}
    local backend = sim.backend
    local names = setmetatable({ tz = tz, sim = sim, hot = hot, own = own }, { __index = _G })
    local f = load(text, "=mistake", "t", names)
    tz.expect(f, text .. ": is no Lua")
    local ok, message = pcall(f)
    if backend ~= "reference" or not text:find("backend =", 1, true) then -- which the command line may replace
        tz.expect(not ok, text .. ": was accepted")
        tz.expect(tostring(message):find(words, 1, true), ("%s: wanted '%s', got '%s'"):format(text, words, tostring(message)))
    end
    pcall(sim.close, sim)
end
