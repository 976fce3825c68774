-- Shared by the scenarios in this folder. Each checks itself and fails with exit code 1.
local tz = require "trapeze"
local checks = {}

-- f(...) must fail with a message that holds `pattern` (plain text).
function checks.refuses(pattern, f, ...)
    local ok, message = pcall(f, ...)
    tz.expect(not ok, "nothing was refused; wanted: " .. pattern)
    tz.expect(tostring(message):find(pattern, 1, true),
              ("wanted '%s', got '%s'"):format(pattern, tostring(message)))
end

function checks.near(got, wanted, tolerance)
    tz.expect(math.abs(got - wanted) <= tolerance, ("wanted %.17g, got %.17g"):format(wanted, got))
end

-- A HotSpot simulation with options of our own.
function checks.chip(options)
    local all = { plugin = "hotspot", grid = { 16, 8 } }
    for key, value in pairs(options or {}) do
        all[key] = value
    end
    return tz.simulation(all)
end

return checks
