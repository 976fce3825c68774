-- Numbers that a cell or an element cannot hold are refused, and 64-bit integers are exact.
local tz = require "trapeze"
local c = require "checks"

local function life(options)
    options.plugin, options.grid, options.boundary = "life", { 40, 8 }, "fixed"
    return tz.simulation(options)
end
local function integers(options)
    options.plugin, options.grid = "pathfinder", { 8 }
    options.fields = options.fields or {}
    options.fields.weights = tz.random { seed = 1, range = { 1, 9 } }
    return tz.simulation(options)
end

-- Boundary values.
for _, value in ipairs { 2, -1, 255, 0.5, 1e300 } do
    c.refuses("must be 0 or 1", life, { boundary_values = { alive = value } })
end
for _, value in ipairs { 0, 1, true, false } do
    life({ name = "b" .. tostring(value), boundary_values = { alive = value } }):close()
end
c.refuses("boundary_values", c.chip, { boundary_values = { temperature = 1e300 } })
c.refuses("single precision", c.chip, { boundary_values = { temperature = 1e39 } })
c.chip({ precision = "double", boundary_values = { temperature = 1e39 } }):close()
c.refuses("must be finite", c.chip, { boundary_values = { temperature = 0 / 0 } })
c.refuses("must be a number, not a string", c.chip, { boundary_values = { temperature = "300" } })
c.refuses("did you mean 'temperature'?", c.chip, { boundary_values = { temprature = 300 } })
c.refuses("must be an integer from -2147483648", integers, { boundary_values = { cost = 0.5 } })
c.refuses("must be an integer from -2147483648", integers, { boundary_values = { cost = 1 << 31 } })
integers({ name = "low", boundary_values = { cost = -(1 << 31) } }):close()

-- Values of fields: initial ones, sets, functions, arrays, random numbers.
-- (also when a scenario is only checked).
c.refuses("must be 0 or 1", life, { fields = { alive = 2 } })
c.refuses("must be 0 or 1", life, { fields = { alive = function() return -1 end } })
c.refuses("must be 0 or 1", life, { fields = { alive = tz.array { shape = { 40, 8 }, fill = 0.5 } } })
c.refuses("single precision", c.chip, { fields = { power = 1e300 } })
c.refuses("must be an integer", integers, { fields = { cost = 1.5 } })
c.refuses("must be an integer", integers, { fields = { cost = tz.random { seed = 1, range = { 0, 1 << 31 } } } })
c.refuses("must be an integer", integers, { fields = { cost = tz.array { shape = 8, dtype = "int64", fill = 1 << 31 } } })
local set = integers { name = "set" }
c.refuses("it must be an integer from -2147483648 to 2147483647", set.set, set, "cost", 1 << 31, { x = { 1, 2 } })
tz.expect(set:max "cost" == 0)
set:set("cost", (1 << 31) - 1)
tz.expect(set:min "cost" == (1 << 31) - 1)
c.refuses("is wider than a number can say", tz.random, { seed = 1, range = { -1e308, 1e308 } })

-- Elements of arrays.
local bounds = { bool = { 0, 1 }, int8 = { -128, 127 }, uint8 = { 0, 255 }, int16 = { -32768, 32767 },
                 uint16 = { 0, 65535 }, int32 = { -(1 << 31), (1 << 31) - 1 }, uint32 = { 0, (1 << 32) - 1 },
                 int64 = { math.mininteger, math.maxinteger }, uint64 = { 0, math.maxinteger } }
for dtype, range in pairs(bounds) do
    local a = tz.array { shape = 3, dtype = dtype, data = { range[1], range[2], 0 } }
    tz.expect(a:get(0) == range[1] and a:get(1) == range[2] and math.type(a:get(1)) == "integer")
    tz.expect(a:min() == range[1] and a:max() == range[2], dtype)
    tz.expect(a:sum() == range[1] + range[2] and math.type(a:sum()) == "integer", dtype)
    if dtype:sub(-2) ~= "64" then
        for _, value in ipairs { range[1] - 1, range[2] + 1, 0.5, 0 / 0, 1 / 0, 1e300 } do
            c.refuses("is not a number of type " .. dtype, a.set, a, 0, value)
            c.refuses("is not a number of type " .. dtype, tz.array, { shape = 3, dtype = dtype, fill = value })
        end
        if math.abs(range[2]) < 1 << 31 then
            c.refuses("is not a number of type " .. dtype, tz.array,
                      { shape = 9, dtype = dtype, fill = tz.random { seed = 1, range = { 0, range[2] + 1 } } })
        end
    else
        for _, value in ipairs { 0.5, 0 / 0, -1 / 0, 2 ^ 64 } do
            c.refuses("is not a number of type " .. dtype, a.set, a, 0, value)
        end
    end
end
c.refuses("-1 is not a number of type uint64", tz.array, { shape = 3, dtype = "uint64", fill = -1 })
c.refuses("is not a number of type float32", tz.array, { shape = 3, dtype = "float32", fill = 1e300 })
c.refuses("is not a number of type float32", tz.array,
          { shape = 3, dtype = "float32", fill = tz.random { seed = 1, range = { 0, 1e300 } } })
tz.expect(tz.array { shape = 3, dtype = "float32", fill = 1 / 0 }:max() == 1 / 0)
local small = tz.array { shape = 1000, dtype = "int8", fill = tz.random { seed = 1, range = { -128, 127 } } }
tz.expect(small:min() >= -128 and small:max() <= 127 and small:max() > 100)

-- Integers of 64 bits: neighbours at the end of the range, which are one number in a double.
local big = tz.array { shape = 4, dtype = "int64", data = { math.maxinteger - 1, math.maxinteger, math.maxinteger - 2, 0 } }
tz.expect(big:max() == math.maxinteger and big:min() == 0)
big:set(3, math.maxinteger)
tz.expect(big:min() == math.maxinteger - 2)
c.refuses("the sum does not fit an integer of 64 bits", big.sum, big)
big:set(1, math.mininteger)
tz.expect(tz.array({ shape = 2, dtype = "int64", data = { math.mininteger, math.maxinteger } }):sum() == -1)

-- Beyond Lua's integers: a file of uint64 with 2^64 - 1, 2^63 and 7, which run_scenario_tests.sh writes.
local wide = tz.read(assert(tz.args.data, "give the test's folder: --set data=FOLDER") .. "/wide.npy")
tz.expect(wide.dtype == "uint64" and wide:get(2) == 7 and wide:min() == 7)
c.refuses("the element is 18446744073709551615; Lua's integers end at 9223372036854775807", wide.get, wide, 0)
c.refuses("the element is 18446744073709551615", wide.max, wide)
c.refuses("does not fit", wide.sum, wide)
tz.expect(tz.array({ shape = 1, dtype = "uint64", fill = 2 ^ 53 }):get(0) == 1 << 53)
