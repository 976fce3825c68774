-- ok
-- Definitions of stencils that nobody should write, and from where nobody should write them.
local tz = require "trapeze"
local h = require "calm"
local function refused(text, options) h.refuses(text, tz.stencil, options) end

-- Formulas without end, of any bytes, nested too deeply.
refused("", { dims = 1, update = ("u+"):rep(2000000) .. "u" })
refused("", { dims = 1, update = ("("):rep(1000000) .. "u" .. (")"):rep(1000000) })
refused("", { dims = 1, update = ("-"):rep(1000000) .. "u" })
refused("", { dims = 1, update = "u" .. ("^2"):rep(100000) })
refused("", { dims = 1, update = "sum(i,-1000000000,1000000000,u[i])" })
refused("", { dims = 3, update = "sum(i,-8,8,sum(j,-8,8,sum(k,-8,8,sum(l,-99,99,u[i,j,k]))))" })
refused("", { dims = 1, update = "u[99999999999999999999]" })
refused("", { dims = 1, update = "u\0 + u" })
for byte = 0, 255 do
    h.calm(tz.stencil, { dims = 1, update = "u " .. string.char(byte) })
end
-- None of these gets into C as it is.
for _, text in ipairs { '"', "*/ int x; /*", "u; }", "#include \"/etc/passwd\"", "u\n#error", "??/\n", "TZ_K(x)", "__asm__", "\\" } do
    refused("", { dims = 1, update = text })
    refused("", { dims = 1, name = text, update = "u" })
    refused("", { dims = 1, fields = { text }, update = { [text] = "1" } })
    refused("", { dims = 1, params = { [text] = 1 }, update = "u" })
    h.calm(tz.stencil, { name = "calm", dims = 1, doc = text, fields = { u = { unit = text, doc = text } }, update = "u" })
end
for _, name in ipairs { "int", "real", "double", "main", "while", "x", "TZ_AT", "tz_c", "step", "NULL", "u", ("u"):rep(40), "_", "é" } do
    h.calm(tz.stencil, { name = "n" .. name, dims = 1, fields = { name }, update = { [name] = name } })
    h.calm(tz.stencil, { name = name, dims = 1, update = "u[-1]" })
end

-- Numbers.
for _, value in ipairs { 0 / 0, 1 / 0, -1 / 0, 1e308, -0.0, math.mininteger } do
    h.calm(tz.stencil, { dims = 1, params = { k = value }, update = "k*u" })
    h.calm(tz.stencil, { coefficients = { value, 1, value } })
    h.calm(tz.stencil, { coefficients = { 1, 1, 1 }, scale = value })
    h.calm(tz.stencil, { dims = 1, fields = { u = { initial = value, boundary_value = value } }, update = "u" })
    h.calm(tz.stencil, { dims = 1, params = { k = { value = 1, min = value, max = value } }, update = "k*u" })
end

-- Tables that contain themselves, that hold other things, that are too large.
local loop = {}
loop[1] = loop
refused("nested more than 3 deep", { coefficients = loop })
refused("", { dims = 1, fields = loop, update = "u" })
refused("", { dims = 1, passes = loop })
local many, wide = {}, {}
for i = 1, 70 do many["f" .. i] = "real" end
for i = 1, 17 do wide[i] = {} for j = 1, 17 do wide[i][j] = {} for k = 1, 17 do wide[i][j][k] = 1 end end end
refused("more than", { dims = 1, fields = many, update = { f1 = "f2" } })
refused("more than", { dims = 1, params = many, update = "u" })
refused("more than", { dims = 1, update = many })
refused("", { coefficients = { { 1 }, { 1 }, { {} } } })
h.calm(tz.stencil, { name = "sparse", coefficients = { [1] = 1, [3] = 1 } })
h.calm(tz.stencil, { name = "sparse2", coefficients = { 1, nil, 1, n = 3 } })

-- From a finalizer in the middle of another definition, from tostring, in thousands of values.
for i = 1, 20 do
    setmetatable({}, { __gc = function() h.calm(tz.stencil, { dims = 1, update = "u[" .. i % 3 .. "]" }) end })
end
collectgarbage()
for _ = 1, 200 do
    h.calm(tz.stencil, { dims = 1, update = "u[1]" })
end
local s = tz.stencil { dims = 1, update = "u[1]" }
h.calm(tz.simulation, { plugin = s, grid = { 8 }, fields = { u = s } })
h.calm(tz.simulation, { plugin = setmetatable({}, { __tostring = function() return "hotspot" end }), grid = { 8 } })
h.calm(s.text, io)
h.calm(getmetatable, s)
h.calm(setmetatable, s, {})
tz.stencil = nil
collectgarbage()
