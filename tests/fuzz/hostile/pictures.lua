-- ok
local tz = require "trapeze"
local c = require "calm"
local sim = c.chip { grid = { 64, 3 } }
for _, options in ipairs {
    { zoom = 1e9 }, { size = 1e9 }, { zoom = 32768 }, { size = { 1 << 31, 1 << 31 } }, { range = { 0 / 0, 1 } }, { range = { 1 / 0, 1 / 0 } }, { range = { 2, 1 } },
    { caption = ("x"):rep(100000) }, { caption = "a\n\0b\27[0m" }, { caption = "{" }, { caption = ("{step}"):rep(1000) },
    { map = ("m"):rep(10000) }, { name = "a\nb" }, { name = "../x" }, { name = ("n"):rep(300) }, { name = "" }, { name = "\0" },
    { name = ".hidden" }, { bar = "x" }, { unit = ("u"):rep(5000) }, { caption = "\xff\xfe" },
} do
    options[1] = "temperature"
    c.calm(function() sim:write(tz.png(options)) end)
end
for _, shape in ipairs { { 1, 100000 }, { 100000, 1 }, { 40000, 4000 } } do
    local ok, array = pcall(tz.array, { shape = shape, dtype = "uint8" })
    if ok then
        c.calm(tz.picture, { data = array, file = ("wide-%d.png"):format(shape[1]) })
        array:close()
    end
end
