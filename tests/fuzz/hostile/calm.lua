-- What the hostile scripts share.
local tz = require "trapeze"
local M = {}

-- Whatever the call does, it returns or raises a text.
function M.calm(f, ...)
    local ok, message = pcall(f, ...)
    if not ok and type(message) ~= "string" then error("an error is a " .. type(message)) end
    return ok, message
end

-- The call raises a text.
function M.refused(f, ...)
    local ok, message = M.calm(f, ...)
    tz.expect(not ok, "not refused")
    return message
end

-- The call raises a text that holds `pattern`, also with --check.
function M.refuses(pattern, f, ...)
    local ok, message = M.calm(f, ...)
    M.expect(not ok and message:find(pattern, 1, true), ("wanted '%s', got '%s'"):format(pattern, tostring(message)))
end

-- tz.expect, also with --check.
function M.expect(condition, message)
    if not condition then error(message or "the condition is false", 2) end
end

-- Numbers that nobody means.
M.numbers = { 0, -1, -0.0, 0.5, 1e-320, 1e308, -1e308, 1 / 0, -1 / 0, 0 / 0, math.maxinteger, math.mininteger, 2 ^ 31,
              2 ^ 31 - 1, 2 ^ 53, 2 ^ 62, 2 ^ 63, 2 ^ 64, 65536, 1 << 40 }

-- A small simulation, with further keys.
function M.chip(more)
    local given = { plugin = "hotspot", grid = { 8, 8 }, backend = "cpu", threads = 1,
                    fields = { temperature = 320, power = 0.01 } }
    for key, value in pairs(more or {}) do given[key] = value end
    return tz.simulation(given)
end
return M
