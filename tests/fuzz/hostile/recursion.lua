-- refused: stack overflow
local function deeper(n) return 1 + deeper(n + 1) end
local ok, message = pcall(deeper, 1)
assert(not ok and message:find "stack overflow")
-- Through metamethods, patterns, sorting, loading and coroutines.
local object = setmetatable({}, {})
getmetatable(object).__index = function(t, k) return t[k .. "x"] end
assert(not pcall(function() return object.a end))
local function replace(s) return (s:gsub(".", replace)) end
assert(not pcall(replace, "a"))
local chain = {}
for _ = 1, 3000 do chain = setmetatable({}, { __index = chain }) end
assert(not pcall(function() return chain.a end))
local function nest() return coroutine.wrap(nest)() end
assert(not pcall(nest))
assert(not load(("("):rep(100000)))
assert(not load("return " .. ("{"):rep(100000)))
assert(not load(("do "):rep(100000)))
assert(not pcall(table.sort, { 3, 2, 1, 5, 4 }, function() return true end) or true)
deeper(1)
