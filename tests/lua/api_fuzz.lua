-- Calls every function of the API with likely and unlikely arguments, from callbacks, metamethods, finalizers and
-- coroutines that in turn call the API. No call may do worse than raise an error.
--
-- test_api_fuzz.c runs this with --set seed=N, actions=N, cells=FILE (numbers as text), and the names of all functions
-- and methods with the most arguments that each takes: functions="array/1,log/9,…", methods="simulation:run/2,…". It
-- reads them from the API itself.
local tz = require "trapeze"
local random = math.random
math.randomseed(tz.args.seed)
local budget = tz.args.actions -- calls that are left
local nesting = 0              -- of callbacks
local pool = {}                -- objects by type, a few of each
local busy = {}                -- objects that a call which has not returned works on
local divided = setmetatable({}, { __mode = "k" }) -- simulations with outputs or functions that are due every few steps
local hostile, callback, act   -- functions
local likely                   -- functions that make arguments

local function chance(n) return random(n) == 1 end
local function pick(list) return list[random(#list)] end

local function split(text)
    local list = {}
    for word in text:gmatch "[^,]+" do
        list[#list + 1] = word
    end
    return list
end

local functions, methods = split(tz.args.functions), split(tz.args.methods)

-- ---- Objects ---------------------------------------------------------------------------------------------------

local function keep(object)
    if type(object) == "userdata" then
        local kind = getmetatable(object):match "trapeze%.(%a+)"
        pool[kind] = pool[kind] or {}
        pool[kind][random(4)] = object
    end
end

local function object(kind)
    local list = pool[kind] or {}
    local found = list[random(4)] or list[1]
    -- A closed one is of little use.
    if kind == "simulation" and not (found and (chance(8) or not tostring(found):find "closed")) then
        local ok, made = pcall(function() return tz.simulation(likely.simulation()) end)
        found = ok and made or found
        keep(found)
    end
    return found
end

local function any_object()
    return object(pick { "simulation", "simulation", "array", "floorplan", "output", "random", "unit", "stencil", "receivers" })
end

-- ---- Arguments -------------------------------------------------------------------------------------------------

local fields = { hotspot = { "temperature", "power" }, life = { "alive" }, poisson = { "u", "f" }, star2d1r = { "u" },
                 pathfinder = { "cost", "weights" }, cell = { "alive" } }
local words = { "auto", "cpu", "reference", "predicted", "fixed", "single", "double", "clamp", "periodic", "path",
                "stream", "tile", "a.png", "a.npy", "a.rle", "a.vti", "a.h5", "a.xdmf", "h200", "x", "", "\0", "a\0b", "%s%n", "../x",
                ("long"):rep(200), "plugin", "grid", "fields", "step", "max(u)", "residual", "prediction" }
local numbers = { 0, 1, 2, 3, 8, -1, 0.5, 1e300, 0 / 0, 1 / 0, 2 ^ 53, 1 << 31, 1 << 46, math.maxinteger,
                  math.mininteger }
local stencils = { { "hotspot", 2, "temperature" }, { "life", 2, "alive" }, { "poisson", 2, "f" },
                   { "star2d1r", 2, "u" }, { "pathfinder", 1, "weights" }, { "cell", 3, "alive" } }

local function small() return random(0, 9) end

local function field(sim)
    local ok, plugin = pcall(function() return sim.plugin end)
    return pick(ok and fields[plugin] or pick { fields.hotspot, fields.life, { "nosuch" } })
end

-- Coordinates of a simulation or an array.
local function place(o)
    local ok, extent = pcall(function() return getmetatable(o) == "trapeze.array" and o.shape or o.grid end)
    local at = {}
    for axis = 1, ok and #extent or random(3) do
        at[axis] = random(0, 3)
    end
    return table.unpack(at)
end

local function shape(dims)
    local list = {}
    for axis = 1, dims or random(3) do
        list[axis] = pick { 4, 8, 33 }
    end
    return list
end

local function box()
    return chance(2) and {} or { x = { small(), small() }, y = { small(), small() } }
end

local function value()
    return pick { small(), true, callback(), object "array" or 1, object "random" or 2, object "floorplan" or 3 }
end

local function plan()
    return { height = random(4), policy = pick { "fixed", "predicted", "adaptive", callback() }, start = random(4) }
end

-- Options of a picture: a few of those that change how it is drawn.
local function look(options)
    local more = {
        log = chance(2), axes = chance(2) and { spacing = pick { 1, { 1, 2 }, 0 }, unit = "m" } or true, grid_lines = true,
        slice = pick { 1, { y = small() }, { x = 40 }, {} }, montage = pick { true, "x", "z" }, view = "isometric", cut = true, level = small(),
        path = pick { { 1, 2 }, { { 0, 0 }, { 3.5, 2 } }, { { 1 } } }, path_rgb = { 9, 9, 9 }, zoom = small(), bar = true, contours = 3,
        caption = pick { "{step}", "{time}", callback(), function(sim) return sim.name .. " {step}" end },
    }
    for key, option in pairs(more) do
        if chance(6) then
            options[key] = option
        end
    end
    return options
end

-- Likely arguments of functions and methods; one that is not here gets any.
likely = {
    array = function(self)
        if self then
            return field(self)
        end
        return { shape = shape(), dtype = pick { "int32", "float64", "uint8", "bool" },
                 fill = pick { 1, callback(), object "random" or 0 } }
    end,
    random = function() return chance(2) and { seed = small(), density = 0.5 } or { seed = 1, range = { 0, 9 } } end,
    floorplan = function() return { flp = "../scenario/plan.flp", ptrace = "../scenario/plan.ptrace" } end,
    chip = function() return { flp = "../scenario/plan.flp", ptrace = "../scenario/plan.ptrace", grid_cols = random(1, 9), grid_rows = random(1, 9) } end,
    ttrace = function() return { object "floorplan" or 1 } end,
    steady = function() return chance(2) and { object "floorplan" or 1 } or chance(2) and { tolerance = 1e-3 } or nil end,
    read = function() return tz.args.cells, chance(2) and { at = shape(2) } or nil end,
    png = function() return look { range = "auto", name = chance(3) and pick(words) or nil } end,
    profile = function(self)
        return field(self), { place(self) }, { place(self) }, chance(2) and random(0, 20) or nil
    end,
    histogram = function(self)
        return field(self), chance(2) and { bins = small(), range = chance(2) and { 0, small() } or nil } or nil
    end,
    npy = function() return chance(2) and pick { "u", "alive" } or nil end,
    vti = function() return { "u", spacing = pick { 1, { 1, 2 }, 0.5 }, origin = pick { 0, { 1, 2 }, { 1, 2, 3 } },
                                  y = pick { "up", "down", "left" } } end,
    xdmf = function() return { "alive", spacing = chance(2) and 2 or nil } end,
    movie = function() return { colours = chance(3) and { "#000", pick { "#fff", "#f80040", "x" } } or nil, range = chance(2) and "auto" or { 0, 1 }, caption = chance(2) and "{step}" or callback(), fps = random(100), name = chance(3) and pick(words) or nil } end,
    hdf5 = function() return chance(2) and pick { "u", "alive" } or nil end,
    units = function(self) return object "floorplan", chance(2) and field(self) or nil end,
    unit = function() return pick { "left", "right", "lift" } end,
    table = function() return { "step", object "floorplan" or "residual", "probe(" .. pick { "u", "alive" } .. ", 1, " .. random(0, 9) .. ")", cost = callback(), name = chance(3) and pick(words) or nil } end,
    picture = function()
        local sim = object "simulation"
        return look { data = sim and chance(2) and sim or object "array", field = sim and chance(2) and field(sim) or nil,
                 file = pick(words) .. random(1000) .. ".png", path = chance(4) and { 1, 2 } or nil }
    end,
    plot = function() return { file = "plot.png", series = { { x = { 1, 2 }, y = { 1, 2 }, title = "t" } } } end,
    predict = function()
        return { plugin = "hotspot", grid = { 64, 64 }, device = "gtx280", model = "meng2009", height = 1 }
    end,
    tune = function() return { plugin = "hotspot", grid = { 64, 64 }, device = "gtx280", rounds = 1 } end,
    stencil = function()
        local formula = pick { "u[-1]", "0.5*(u[-1] + u[1])", "u +", "nosuch", "k*u" }
        return pick { "life", { dims = 1, params = { k = 1 }, update = formula }, { coefficients = { 1, 2, 1 }, scale = 0.25 } }
    end,
    simulation = function()
        local own = object "stencil"
        if own and chance(5) then
            return { plugin = own, grid = shape(own.dims) }
        end
        local stencil = pick(stencils)
        local options = { plugin = stencil[1], grid = shape(stencil[2]), fields = { [stencil[3]] = value() } }
        if chance(3) then
            options.policy = callback()
        end
        if stencil[1] == "pathfinder" then
            options.fields.weights = pick { tz.random { seed = 1, range = { 0, 9 } },
                                            tz.array { shape = { options.grid[1], 5 }, dtype = "int32" } }
        end
        return options
    end,
    get = function(self)
        if getmetatable(self) == "trapeze.array" then
            return place(self)
        end
        return field(self), place(self)
    end,
    set = function(self)
        if getmetatable(self) == "trapeze.array" then
            local at = table.pack(place(self))
            at[at.n + 1] = 1
            return table.unpack(at, 1, at.n + 1)
        end
        return field(self), value(), chance(3) and box() or nil
    end,
    slabs = function() return "weights", 0, 2 end,
    params = function()
        return chance(2) and pick { { omega = 0.5 }, { ambient_k = 300 }, { rule = "B3/S23" }, { center = 1 } } or nil
    end,
    param = function() return pick { "omega", "ambient_k", "rule", "center" } end,
    plan = function() return chance(2) and { height = random(4) } or nil end,
    policy = function() return pick { "fixed", "adaptive", callback(), plan() } end,
    run = function() return chance(2) and small() or { until_residual = 0, max_steps = small(), check_every = 1 } end,
    every = function() return random(3), chance(2) and callback() or object "output" end,
    write = function() return chance(2) and callback() or object "output" end,
    save = function() return random(1000) .. pick { ".npy", ".rle", ".vti", ".h5", ".xdmf" } end,
    analyse = function() return "path" end,
    receivers = function(self)
        return { field = field(self), points = { { place(self) } }, interpolate = pick { "grid", "linear", "sinc" },
                 every = random(3), file = chance(3) and random(1000) .. pick { ".npy", ".csv", ".h5" } or nil }
    end,
    sources = function(self)
        return { field = field(self), points = { { place(self) } }, values = pick { "0.1*step", "t", { 1, 2, 3 }, { { 1 } } },
                 scale = chance(3) and pick { "volume", 2 } or nil }
    end,
}
for _, name in ipairs { "population", "hash" } do
    likely[name] = function(self)
        if chance(2) then
            return field(self)
        end
    end
end
for _, name in ipairs { "min", "max", "sum", "mean" } do
    likely[name] = function(self)
        if getmetatable(self) == "trapeze.simulation" and chance(2) then
            return field(self), pick { box() or {}, field(self), object "array" or {}, object "unit" or {} }
        end
    end
end

local events = { "__index", "__newindex", "__call", "__tostring", "__len", "__eq", "__lt", "__le", "__concat", "__unm",
                 "__gc", "__close", "__pairs", "__name" }

local function metatable()
    local result = {}
    for _ = 1, random(4) do
        result[pick(events)] = callback()
    end
    result.__index = chance(2) and callback() or nil
    result.__gc = chance(3) and callback() or nil
    return result
end

local shared = { [_G] = true, [string] = true, [tz] = true, [tz.args] = true }

-- A table that keeps its keys, but for one or two.
local function spoil(t, levels)
    if shared[t] then
        return t
    end
    for key, inner in pairs(t) do
        if type(inner) == "table" and levels > 0 and chance(3) then
            spoil(inner, levels - 1)
        end
    end
    if chance(3) then
        local keys = {}
        for key in pairs(t) do
            keys[#keys + 1] = key
        end
        t[chance(4) and pick(words) or #keys > 0 and pick(keys) or 1] = hostile()
    end
    return chance(8) and setmetatable(t, metatable()) or t
end

function hostile()
    local kind = random(10)
    if kind <= 2 then return pick(numbers) end
    if kind <= 4 then return pick(words) end
    if kind == 5 then return any_object() end
    if kind == 6 then return callback() end
    if kind == 7 then return spoil(box(), 1) end
    if kind == 8 then return setmetatable({ small(), small(), small() }, metatable()) end
    if kind == 9 then return pick { tz, tz.args, _G, coroutine.create(callback()), string, true } end
    return nil
end

-- Runs and jumps must end. A jump takes as long for any number of steps, unless outputs, functions or its own `every`
-- divide it.
local function is_endless(name, arguments)
    local first = arguments[2]
    if name ~= "run" and name ~= "jump" then
        return false
    end
    if type(first) == "table" then
        local most = rawget(first, "max_steps") or rawget(first, "steps")
        return type(most) ~= "number" or not (most < 100)
    end
    return type(first) == "number" and first > 100 and (name == "run" or divided[arguments[1]] ~= nil)
end

-- `most`: how many arguments the function takes, with the object.
local function arguments_of(name, first, most)
    local n = first and 1 or 0
    local result = table.pack(first)
    if likely[name] and not chance(20) then
        local given = table.pack(likely[name](first))
        table.move(given, 1, given.n, n + 1, result)
        n = n + given.n
    else
        for _ = n + 1, random(n, math.min(most, 5)) do
            n = n + 1
            result[n] = hostile()
        end
    end
    for i = first and 2 or 1, n do
        if chance(3) then
            if type(result[i]) == "table" then
                result[i] = spoil(result[i], 2)
            elseif chance(2) then
                result[i] = hostile()
            end
        end
    end
    if first and chance(40) then
        result[1] = hostile()
    end
    if chance(40) then
        n = n + 1
        result[n] = hostile()
    end
    return result, n
end

-- ---- Calls -----------------------------------------------------------------------------------------------------

local calls, returned = 0, 0 -- those that raised no error
local next_function, next_method = random(#functions), random(#methods)

-- The function, its name, its most arguments, and the object if it is a method.
local function choose()
    if #busy > 0 and chance(2) then
        local first = busy[#busy]
        local own = getmetatable(first):match "trapeze%.(.+)"
        if chance(2) then
            return first.close, "close", 1, first
        end
        for _ = 1, 50 do
            local kind, name, most = pick(methods):match "(.+):(.+)/(.+)"
            if kind == own then
                return first[name], name, tonumber(most), first
            end
        end
    end
    if chance(3) then
        next_function = next_function % #functions + 1
        local name, most = functions[next_function]:match "(.+)/(.+)"
        return tz[name], name, tonumber(most)
    end
    next_method = next_method % #methods + 1
    local kind, name, most = methods[next_method]:match "(.+):(.+)/(.+)"
    local first = object(kind) or any_object()
    if first and (name ~= "close" or chance(8)) then
        return first[name], name, tonumber(most), first
    end
end

local function call_one()
    local f, name, most, first = choose()
    if not f then
        return
    end
    local arguments, n = arguments_of(name, first, most)
    if is_endless(name, arguments) then
        return
    end
    if name == "every" and type(arguments[1]) == "userdata" then
        divided[arguments[1]] = true
    end
    local idle = #busy
    for i = 1, n do
        local argument = arguments[i]
        local inner = type(argument) == "table" and rawget(argument, "data")
        for _, o in ipairs { inner or false, argument or false } do
            busy[#busy + 1] = type(o) == "userdata" and o or nil
        end
    end
    calls = calls + 1
    local results = table.pack(pcall(f, table.unpack(arguments, 1, n)))
    for i = #busy, idle + 1, -1 do
        busy[i] = nil
    end
    if not results[1] then
        error(results[2], 0)
    end
    returned = returned + 1
    for _, result in pairs(results) do
        keep(result)
    end
end

-- What operators do with an object.
local function operate()
    local o, p = any_object() or {}, hostile()
    local operation = random(9)
    if operation == 1 then return tostring(o) end
    if operation == 2 then return #o end
    if operation == 3 then return o[pick { "step", "shape", "units", "name", "prediction", "nosuch", p or 1 }] end
    if operation == 4 then o[p] = p end
    if operation == 5 then return o == p, o < p end
    if operation == 6 then return o .. p end
    if operation == 7 then return o(p) end
    if operation == 8 and chance(4) then
        local scoped <close> = o
        call_one()
    end
    for _ in pairs(o) do end
end

function act()
    budget = budget - 1
    if budget < 0 then
        return
    end
    local kind = random(12)
    if kind == 1 then
        local thread = coroutine.create(call_one)
        coroutine.resume(thread)
        return chance(2) and coroutine.close(thread)
    elseif kind == 2 then
        pcall(coroutine.wrap(call_one))
    elseif kind == 3 then
        pcall(function()
            local scoped <close> = setmetatable({}, { __close = callback() })
            call_one()
        end)
    elseif kind == 4 then
        setmetatable({ any_object() }, { __gc = callback() })
    elseif kind == 5 then
        collectgarbage(pick { "generational", "incremental", "collect", "step" })
    elseif kind == 6 then
        pcall(operate)
    elseif kind == 7 then
        xpcall(call_one, callback())
    else
        pcall(call_one)
    end
end

function callback()
    return function(...)
        for _, object in pairs { ... } do
            keep(object)
        end
        if nesting < 5 then
            nesting = nesting + 1
            for _ = 1, random(2) do
                act()
            end
            nesting = nesting - 1
        end
        local ending = random(20)
        if ending == 1 then error "thrown" end
        if ending == 2 then error(setmetatable({}, metatable())) end
        if ending == 3 then coroutine.yield(1) end
        if ending == 4 then return hostile() end
        if ending == 5 then return { height = 2 } end
        if ending == 6 then return end
        return small()
    end
end

while budget > 0 do
    act()
end
-- If nearly every call is refused, what is likely above has become wrong, and nothing else is tested.
assert(calls < 50 or returned * 10 > calls, ("only %d of %d calls did not raise an error"):format(returned, calls))
left = setmetatable({ any_object() }, { __gc = callback(), __close = callback() })
