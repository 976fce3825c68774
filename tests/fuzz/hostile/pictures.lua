-- ok
local tz = require "trapeze"
local c = require "calm"
local sim = c.chip { grid = { 64, 3 } }
for i, options in ipairs {
    { zoom = 1e9 }, { size = 1e9 }, { zoom = 32768 }, { size = { 1 << 31, 1 << 31 } }, { range = { 0 / 0, 1 } }, { range = { 1 / 0, 1 / 0 } }, { range = { 2, 1 } },
    { caption = ("x"):rep(100000) }, { caption = "a\n\0b\27[0m" }, { caption = "{" }, { caption = ("{step}"):rep(1000) },
    { map = ("m"):rep(10000) }, { name = "a\nb" }, { name = "../x" }, { name = ("n"):rep(300) }, { name = "" }, { name = "\0" },
    { axes = { spacing = 1e308, unit = ("u"):rep(31) } }, { axes = { spacing = 5e-324 } }, { axes = { spacing = 1, unit = ("µ"):rep(500) } },
    { axes = { spacing = 1e-9, unit = "m" } }, { log = true }, { log = true, range = { 5e-324, 1.7e308 }, bar = true }, { log = true, contours = { -1, 0, 1e300 } },
    { path = { { 1e308, 1e308 } } }, { path = { { -0.0, 0 }, { 63, 2 } } }, { path = (function() local t = {} for i = 1, 70000 do t[i] = { i % 64, i % 3 } end return t end)() },
    { path = setmetatable({}, { __index = function() error "no" end, __len = function() return 1e9 end }) }, { path = { { { 1 }, 2 } } },
    { slice = math.maxinteger }, { slice = { x = math.maxinteger } }, { montage = "\0" }, { grid_lines = true, zoom = 64 },
    { caption = function() return ("x"):rep(1e6) end }, { caption = function() return "a\0b" end }, { caption = function() return "\xff{" end },
    { caption = function(s) s:run(1) return "x" end }, { caption = function(s) s:close() return "x" end }, { caption = function(s) s:write(tz.png "temperature") return "x" end },
    { caption = function() error {} end }, { caption = coroutine.wrap(function() coroutine.yield "once" end) },
    { name = ".hidden" }, { bar = "x" }, { unit = ("u"):rep(5000) }, { caption = "\xff\xfe" },
} do
    options.field = "temperature"
    options.name = options.name or "p" .. i
    c.calm(function() sim:write(tz.png(options)) end)
    options.name = options.name .. "m"
    c.calm(function() sim:write(tz.movie(options)) end)
end
for _, shape in ipairs { { 1, 100000 }, { 100000, 1 }, { 16000, 1600 } } do
    local ok, array = pcall(tz.array, { shape = shape, dtype = "uint8" })
    if ok then
        c.calm(tz.picture, { data = array, file = ("wide-%d.png"):format(shape[1]) })
        array:close()
    end
end
