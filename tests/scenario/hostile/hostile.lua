-- Shared by the scenarios in this folder: scripts that try to break Trapeze, and may get errors alone.
local tz = require "trapeze"
local hostile = {}

function hostile.chip(options)
    local all = { plugin = "hotspot", grid = { 16, 8 } }
    for key, value in pairs(options or {}) do
        all[key] = value
    end
    return tz.simulation(all)
end

-- f(...) must fail with a message that holds `pattern` (plain text).
function hostile.refuses(pattern, f, ...)
    local ok, message = pcall(f, ...)
    hostile.expect(not ok and tostring(message):find(pattern, 1, true),
                   ("wanted '%s', got '%s'"):format(pattern, tostring(message)))
end

-- Also with --check, which skips tz.expect.
function hostile.expect(condition, message)
    if not condition then
        error(message or "the condition is false", 2)
    end
end

return hostile
