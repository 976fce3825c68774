-- What a scenario cannot reach, and what it can.
local tz = require "trapeze"
local c = require "checks"

tz.expect(debug == nil and package == nil)
for _, name in ipairs { "execute", "remove", "rename", "exit", "getenv", "tmpname", "setlocale" } do
    c.refuses("os." .. name .. " is closed to scenarios", os[name], "x")
end
for _, name in ipairs { "open", "close", "input", "lines", "output", "popen", "read", "tmpfile", "type", "write" } do
    c.refuses("io." .. name .. " is closed to scenarios", io[name], "x")
end
tz.expect(require "trapeze" == tz and not pcall(require, "io"))
c.refuses("dofile is closed to scenarios", dofile, "x")
c.refuses("io.write is closed to scenarios: print writes a line", io.write, "x")
c.refuses("os.getenv is closed to scenarios, which must not depend on the environment: tz.args.NAME is", os.getenv, "HOME")
c.refuses("trapeze run --unsafe", loadfile, "x")
tz.expect(os.time() > 0 and os.clock() >= 0 and type(os.date()) == "string")
tz.expect(load "return 1 + 1"() == 2)
local f = load(string.dump(function() end))
tz.expect(f == nil, "compiled code was loaded")
local env = {}
load("x = 5", "chunk", "bt", env)()
tz.expect(env.x == 5)

c.refuses("not a module name", require, "../secret")
c.refuses("not a module name", require, "/etc/passwd")
c.refuses("there is no nosuch.lua", require, "nosuch")
tz.expect(require "trapeze" == tz and require "checks" == c)

local sim = c.chip {}
for _, name in ipairs { "../x", "a/b", "/tmp/x", ".hidden", "a\nb" } do
    c.refuses("file name", tz.png, { name = name })
    c.refuses("file name", tz.table, { "step", name = name })
    c.refuses("file name", c.chip, { name = name })
    local a = tz.array { shape = 2 }
    c.refuses("file name", a.save, a, name .. ".npy")
end
c.refuses("cannot be changed", function() tz.args.x = 1 end)
c.refuses("trapeze has no 'simulaton'; did you mean 'simulation'?", function() return tz.simulaton end)

-- Coroutines behave as in plain Lua.
local co = coroutine.create(function(a, b)
    local d = coroutine.yield(a + b)
    error("bang " .. d)
end)
local ok, v = coroutine.resume(co, 1, 2)
tz.expect(ok and v == 3)
ok, v = coroutine.resume(co, "x")
tz.expect(not ok and v:find "bang x")
ok, v = coroutine.resume(co)
tz.expect(not ok and v:find "dead")
tz.expect(coroutine.status(co) == "dead")
local gen = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
tz.expect(gen() == 1 and gen() == 2 and gen() == 3 and gen() == nil)
c.refuses("dead", gen)
