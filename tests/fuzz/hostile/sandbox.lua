-- ok
-- Nothing of the sandbox's outside, and no compiled code.
local tz = require "trapeze"
local c = require "calm"
tz.expect(debug == nil and package == nil)
c.refused(dofile, "sandbox.lua")
c.refused(loadfile, "sandbox.lua")
for _, name in ipairs { "execute", "remove", "rename", "tmpname", "exit", "getenv", "setlocale" } do
    c.refused(os[name], "x")
end
for name, value in pairs(io) do
    tz.expect(type(value) == "function", name)
    c.refused(value, "x")
end
for name in pairs(os) do
    tz.expect(("execute remove rename tmpname exit getenv setlocale clock date difftime time"):find(name, 1, true), name)
end
tz.expect(not load("\27Lua\x54\0\x19\x93\r\n\x1a\n", "x", "b"))
tz.expect(not load("\27LuaS"))
local chunk = load(function() return "\27Lua" end)
tz.expect(not chunk)
tz.expect(require "os" == os)
c.refused(require, "..calm")
c.refused(setmetatable, "", {})
tz.expect(type(getmetatable(tz)) ~= "table" and type(getmetatable(tz.args)) ~= "table")
tz.expect(type(getmetatable(tz.array { shape = 2 })) ~= "table", "an array's metatable is open")
tz.expect(type(getmetatable(c.chip())) ~= "table", "a simulation's metatable is open")
local own = getmetatable ""
if type(own) == "table" then own.__index = nil own.__len = error end
tz.array { shape = 2, dtype = "int8" }
c.chip():run { steps = 1 }
